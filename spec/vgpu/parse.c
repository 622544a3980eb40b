/* The PTX parser's words, directives and functions. What is not known is an error: no directive
** and no word of an instruction is passed over. */
#include <stdarg.h>
#include <stdlib.h>

#include "spec/vgpu/parse.h"

void vg_parse_fail(VgParse *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int used = snprintf(p->error, p->error_bytes, "vgpu: PTX line %u: ", p->line);
    if (used > 0 && (size_t)used < p->error_bytes)
        vsnprintf(p->error + used, p->error_bytes - (size_t)used, fmt, args);
    va_end(args);
    gp_throw(gp_arena_session(p->arena), GpStatus_Argument);
}

/* ---- Words -------------------------------------------------------------------------------- */

void vg_skip_space(VgParse *p) {
    for (;;) {
        if (*p->at == '\n') {
            p->line++;
            p->at++;
        } else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') {
            p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '/') {
            p->at += strcspn(p->at, "\n");
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && (p->at[0] != '*' || p->at[1] != '/'); p->at++)
                p->line += *p->at == '\n';
            p->at += *p->at ? 2 : 0;
        } else {
            return;
        }
    }
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

bool vg_accept(VgParse *p, const char *what) {
    vg_skip_space(p);
    size_t len = strlen(what);
    if (strncmp(p->at, what, len) != 0)
        return false;
    if (is_name_char(what[len - 1]) && is_name_char(p->at[len]))
        return false;
    p->at += len;
    return true;
}

void vg_expect(VgParse *p, const char *what) {
    if (!vg_accept(p, what))
        vg_parse_fail(p, "expected `%s` before `%.16s`", what, p->at);
}

GpStr vg_name(VgParse *p) {
    vg_skip_space(p);
    const char *start = p->at;
    while (is_name_char(*p->at))
        p->at++;
    return (GpStr){start, (size_t)(p->at - start)};
}

GpSym vg_symbol_name(VgParse *p, GpStr name) { return gp_intern(p->m->names, name.at, name.len); }

VgSymbol *vg_find(const VgParse *p, GpStr name) {
    GpSym sym = gp_intern(p->m->names, name.at, name.len);
    for (uint32_t i = p->depth + 1; i-- > 0;) {
        VgSymbol *found = gp_map_get(&p->scopes[i], sym);
        if (found)
            return found;
    }
    return NULL;
}

static VgSymbol *define(VgParse *p, GpStr name, VgSymbolKind kind) {
    GpSym sym = vg_symbol_name(p, name);
    if (gp_map_has(&p->scopes[p->depth], sym))
        vg_parse_fail(p, "`%s` is declared twice", sym->name);
    VgSymbol *s = GP_NEW(p->arena, VgSymbol);
    s->kind = kind;
    gp_map_set(p->arena, &p->scopes[p->depth], sym, s);
    return s;
}

bool vg_number(VgParse *p, uint64_t *bits) {
    vg_skip_space(p);
    bool is_negative = *p->at == '-';
    const char *at = p->at + is_negative;
    char *end;
    if (*at < '0' || *at > '9')
        return false;
    if (at[0] == '0' && strchr("fFdD", at[1]) && at[1]) {
        *bits = strtoull(at + 2, &end, 16);
        if (end - at != (at[1] == 'f' || at[1] == 'F' ? 10 : 18))
            vg_parse_fail(p, "a float wants 8 digits, a double 16");
    } else if (at[0] == '0' && (at[1] == 'b' || at[1] == 'B')) {
        *bits = strtoull(at + 2, &end, 2);
    } else {
        *bits = strtoull(at, &end, 0);
    }
    *bits = is_negative ? 0 - *bits : *bits;
    p->at = end + (*end == 'U');
    return true;
}

uint64_t vg_integer(VgParse *p) {
    uint64_t bits = 0;
    if (!vg_number(p, &bits))
        vg_parse_fail(p, "expected a number before `%.16s`", p->at);
    return bits;
}

static bool accept_type(VgParse *p, VgType *type) {
    vg_skip_space(p);
    const char *start = p->at;
    if (*p->at != '.')
        return false;
    p->at++;
    GpStr word = vg_name(p);
    for (VgType t = 0; t < VgType_count; t++) {
        if (gp_str_eq(word, gp_str_from(vg_types[t].name))) {
            *type = t;
            return true;
        }
    }
    p->at = start;
    return false;
}

/* ---- Declarations ------------------------------------------------------------------------- */

static VgOperand new_reg(VgParse *p, VgType type) {
    uint32_t bytes = vg_types[type].bytes;
    VgOperand o = {.kind = type == VgType_Pred ? VgOperand_Pred : VgOperand_Reg,
                   .bytes = (uint8_t)bytes,
                   .at = (uint32_t)gp_align_up(p->func->file_bytes, 64),
                   .reg = p->func->reg_count++};
    p->func->file_bytes = o.at + (bytes ? bytes * VG_LANES : 4);
    return o;
}

/* .reg .b32 %r<8>, a; */
static void registers(VgParse *p) {
    VgType type;
    if (!accept_type(p, &type))
        vg_parse_fail(p, "expected a register's type");
    do {
        GpStr name = vg_name(p);
        if (!vg_accept(p, "<")) {
            define(p, name, VgSymbol_Reg)->operand = new_reg(p, type);
            continue;
        }
        uint64_t count = vg_integer(p);
        vg_expect(p, ">");
        for (uint64_t i = 0; i < count; i++) {
            char text[128];
            int len = snprintf(text, sizeof text, "%.*s%llu", (int)name.len, name.at,
                               (unsigned long long)i);
            GpStr numbered = {text, (size_t)len};
            define(p, numbered, VgSymbol_Reg)->operand = new_reg(p, type);
        }
    } while (vg_accept(p, ","));
    vg_expect(p, ";");
}

static void place(VgParse *p, VgVar *v) {
    uint64_t align = GP_MAX(v->align, 1u);
    switch (v->space) {
    case VgMod_Shared:
        v->at = gp_align_up(VG_SHARED_START + p->m->shared_bytes, align);
        p->m->shared_bytes = (uint32_t)(v->at + v->bytes) - VG_SHARED_START;
        return;
    case VgMod_Param:
        if (p->func->is_entry && p->depth == 1) {
            v->at = gp_align_up(p->func->param_bytes, align);
            p->func->param_bytes = (uint32_t)(v->at + v->bytes);
            return;
        }
        break;
    case VgMod_Local:
        break;
    default: /* global, const */ {
        void *memory = calloc(1, v->bytes + 1);
        GP_PUSH(p->arena, &p->m->globals, memory);
        vg_memory_add(memory, v->bytes);
        v->at = (uint64_t)(uintptr_t)memory;
        return;
    }
    }
    v->at = gp_align_up(p->func->lane_bytes, align);
    p->func->lane_bytes = (uint32_t)(v->at + v->bytes);
}

static void initialise(VgParse *p, VgVar *v, uint32_t bytes) {
    uint64_t at = v->at;
    bool is_list = vg_accept(p, "{");
    do {
        uint64_t value = vg_integer(p);
        if (at + bytes > v->at + v->bytes)
            vg_parse_fail(p, "`%s` has more values than elements", v->name->name);
        memcpy((void *)(uintptr_t)at, &value, bytes); /* little-endian */
        at += bytes;
    } while (is_list && vg_accept(p, ","));
    if (is_list)
        vg_expect(p, "}");
}

/* [.align n] .type [.ptr ..] name [\[n\]] [= ..]: behind the space. */
static VgVar *variable(VgParse *p, VgMod space) {
    VgVar *v = GP_NEW(p->arena, VgVar);
    v->space = (uint8_t)space;
    if (vg_accept(p, ".align"))
        v->align = vg_integer(p);
    VgType type;
    if (!accept_type(p, &type))
        vg_parse_fail(p, "expected a type before `%.16s`", p->at);
    if (vg_accept(p, ".ptr")) {
        static const char *const words[] = {".global", ".shared", ".const", ".local"};
        for (size_t i = 0; i < GP_COUNT(words) && !vg_accept(p, words[i]); i++)
            continue;
        if (vg_accept(p, ".align"))
            (void)vg_integer(p);
    }
    GpStr name = vg_name(p);
    v->name = vg_symbol_name(p, name);
    v->bytes = vg_types[type].bytes;
    v->align = GP_MAX(v->align, v->bytes);
    bool is_array = vg_accept(p, "["), is_open = false;
    if (is_array) {
        uint64_t count = 0;
        is_open = !vg_number(p, &count);
        v->bytes *= count;
        vg_expect(p, "]");
    }
    if (is_open) { /* the launch's dynamic shared memory, behind all other */
        p->m->dynamic_align = (uint32_t)GP_MAX(p->m->dynamic_align, v->align);
    } else {
        place(p, v);
    }
    VgSymbol *s = define(p, name, VgSymbol_Var);
    s->var = v;
    bool is_lane =
        space == VgMod_Local || (space == VgMod_Param && !(p->func->is_entry && p->depth == 1));
    s->operand = (VgOperand){.kind = VgOperand_Const,
                             .imm = v->at,
                             .is_lane_space = is_lane,
                             .is_dynamic = is_open,
                             .is_param = space == VgMod_Param && !is_lane};
    if (vg_accept(p, "="))
        initialise(p, v, vg_types[type].bytes);
    return v;
}

static bool declaration(VgParse *p) {
    static const struct {
        const char *word;
        VgMod space;
    } spaces[] = {{".shared", VgMod_Shared},
                  {".global", VgMod_Global},
                  {".const", VgMod_Const},
                  {".local", VgMod_Local},
                  {".param", VgMod_Param}};
    for (size_t i = 0; i < GP_COUNT(spaces); i++) {
        if (!vg_accept(p, spaces[i].word))
            continue;
        do {
            (void)variable(p, spaces[i].space);
        } while (vg_accept(p, ","));
        vg_expect(p, ";");
        return true;
    }
    return false;
}

/* What says nothing to us: line tables, hints. */
static bool remark(VgParse *p) {
    if (vg_accept(p, ".loc")) { /* .loc file line column [, ..] */
        (void)vg_integer(p);
        p->kernel_line = (uint32_t)vg_integer(p);
        p->at += strcspn(p->at, "\n");
        return true;
    }
    if (vg_accept(p, ".file")) {
        p->at += strcspn(p->at, "\n");
        return true;
    }
    if (vg_accept(p, ".pragma")) {
        p->at += strcspn(p->at, ";");
        vg_expect(p, ";");
        return true;
    }
    if (vg_accept(p, ".section")) {
        while (*p->at && *p->at != '}') {
            p->line += *p->at == '\n';
            p->at++;
        }
        vg_expect(p, "}");
        return true;
    }
    return false;
}

/* ---- Functions ---------------------------------------------------------------------------- */

VgSymbol *vg_label(VgParse *p, GpStr name) {
    GpSym sym = vg_symbol_name(p, name);
    VgSymbol *s = gp_map_get(&p->labels, sym);
    if (!s) {
        s = GP_NEW(p->arena, VgSymbol);
        s->kind = VgSymbol_Label;
        gp_map_set(p->arena, &p->labels, sym, s);
    }
    return s;
}

/* name: [.branchtargets a, b, ..;] */
static void place_label(VgParse *p, GpStr name) {
    VgSymbol *s = vg_label(p, name);
    if (s->is_placed)
        vg_parse_fail(p, "label `%.*s` stands twice", (int)name.len, name.at);
    s->is_placed = true;
    s->pc = p->func->insts.len;
    if (!vg_accept(p, ".branchtargets"))
        return;
    do {
        GP_PUSH(p->arena, &s->targets, vg_label(p, vg_name(p)));
    } while (vg_accept(p, ","));
    vg_expect(p, ";");
}

static VgOperand guard(VgParse *p) {
    if (!vg_accept(p, "@"))
        return (VgOperand){0};
    VgOperand o = vg_operand(p);
    if (o.kind != VgOperand_Pred)
        vg_parse_fail(p, "a guard is a predicate register");
    return o;
}

static void statement(VgParse *p) {
    if (vg_accept(p, "{")) {
        if (++p->depth == VG_MAX_SCOPES)
            vg_parse_fail(p, "scopes nest too deep");
        p->scopes[p->depth] = (GpMap){0};
        return;
    }
    if (vg_accept(p, "}")) {
        p->depth--;
        return;
    }
    if (vg_accept(p, ".reg")) {
        registers(p);
        return;
    }
    if (vg_accept(p, ";") || declaration(p) || remark(p))
        return;
    const char *start = p->at;
    GpStr name = vg_name(p);
    if (name.len && p->at[0] == ':' && p->at[1] != ':') {
        p->at++;
        place_label(p, name);
        return;
    }
    p->at = start;
    vg_instruction(p, guard(p));
}

static uint32_t placed(VgParse *p, const VgSymbol *s) {
    if (!s->is_placed)
        vg_parse_fail(p, "a branch to a label that does not stand anywhere");
    return s->pc;
}

static void resolve_labels(VgParse *p) {
    for (uint32_t i = 0; i < p->func->insts.len; i++) {
        VgInst *in = &p->func->insts.at[i];
        if (in->id != VgInst_Bra && in->id != VgInst_Brx)
            continue;
        const VgSymbol *s = (const VgSymbol *)(uintptr_t)in->ops[in->op_count - 1].imm;
        p->line = in->line;
        in->target_count = in->id == VgInst_Brx ? s->targets.len : 1;
        in->targets = GP_NEW_ARRAY(p->arena, uint32_t, in->target_count);
        for (uint32_t t = 0; t < in->target_count; t++)
            in->targets[t] = placed(p, in->id == VgInst_Brx ? s->targets.at[t] : s);
    }
}

static bool names_any(const VgOperand *o, const bool *is_used) {
    if (o->kind == VgOperand_Reg)
        return is_used[o->reg];
    for (uint32_t i = 0; i < o->part_count; i++) {
        if (names_any(&o->parts[i], is_used))
            return true;
    }
    return false;
}

/* Finds the instructions that touch registers of a wgmma's result or operand. */
static void mark_wgmma(VgParse *p) {
    VgFunc *f = p->func;
    bool *is_used = GP_NEW_ARRAY(p->arena, bool, f->reg_count + 1);
    for (uint32_t i = 0; i < f->insts.len; i++) {
        const VgInst *in = &f->insts.at[i];
        f->has_wgmma |= in->id == VgInst_Wgmma;
        for (uint32_t o = 0; in->id == VgInst_Wgmma && o < 2; o++) {
            for (uint32_t r = 0; r < in->ops[o].part_count; r++)
                is_used[in->ops[o].parts[r].reg] = true;
        }
    }
    for (uint32_t i = 0; f->has_wgmma && i < f->insts.len; i++) {
        VgInst *in = &f->insts.at[i];
        for (uint32_t o = 0; in->id != VgInst_Wgmma && o < in->op_count; o++)
            in->is_near_wgmma |= names_any(&in->ops[o], is_used);
    }
}

static void body(VgParse *p) {
    p->labels = (GpMap){0};
    p->kernel_line = 0;
    uint32_t outer = p->depth;
    vg_expect(p, "{");
    p->scopes[++p->depth] = (GpMap){0};
    while (p->depth > outer) {
        vg_skip_space(p);
        if (!*p->at)
            vg_parse_fail(p, "the text ends inside a function");
        statement(p);
    }
    VgInstId last = p->func->is_entry ? VgInst_Exit : VgInst_Ret;
    VgInst end = {.id = last, .run = vg_insts[last].run, .line = p->line, .text = GP_STR("(end)")};
    GP_PUSH(p->arena, &p->func->insts, end);
    resolve_labels(p);
    mark_wgmma(p);
    vg_flow(p->arena, p->func);
}

static void three(VgParse *p, uint32_t *to) {
    for (int i = 0; i < 3; i++) {
        to[i] = i == 0 || vg_accept(p, ",") ? (uint32_t)vg_integer(p) : 1;
    }
}

static void performance(VgParse *p) {
    for (;;) {
        if (vg_accept(p, ".maxntid")) {
            three(p, p->func->max_threads);
        } else if (vg_accept(p, ".reqntid")) {
            three(p, p->func->required);
        } else if (vg_accept(p, ".reqnctapercluster")) {
            three(p, p->func->cluster);
        } else if (vg_accept(p, ".minnctapersm") || vg_accept(p, ".maxnreg") ||
                   vg_accept(p, ".maxclusterrank")) {
            (void)vg_integer(p);
        } else if (!vg_accept(p, ".explicitcluster") && !vg_accept(p, ".noreturn")) {
            return;
        }
    }
}

static void parameters(VgParse *p, bool are_results) {
    vg_expect(p, "(");
    if (vg_accept(p, ")"))
        return;
    do {
        vg_expect(p, ".param");
        VgVar *v = variable(p, VgMod_Param);
        if (are_results) {
            GP_PUSH(p->arena, &p->func->results, v);
        } else {
            GP_PUSH(p->arena, &p->func->params, v);
        }
    } while (vg_accept(p, ","));
    vg_expect(p, ")");
}

/* A declaration before the definition is filled in by it. */
static void function(VgParse *p, bool is_entry) {
    VgFunc *f = GP_NEW(p->arena, VgFunc);
    f->is_entry = is_entry;
    f->module = p->m;
    p->func = f;
    p->scopes[++p->depth] = (GpMap){0};
    vg_skip_space(p);
    if (*p->at == '(')
        parameters(p, true);
    GpStr name = vg_name(p);
    f->name = vg_symbol_name(p, name);
    vg_skip_space(p);
    if (*p->at == '(')
        parameters(p, false);
    performance(p);
    VgSymbol *before = gp_map_get(&p->scopes[0], f->name);
    if (before && before->kind == VgSymbol_Func && before->func->insts.len == 0) {
        *before->func = *f;
        p->func = before->func;
    } else {
        uint32_t depth = p->depth;
        p->depth = 0;
        define(p, name, VgSymbol_Func)->func = f;
        p->depth = depth;
        GP_PUSH(p->arena, &p->m->funcs, f);
    }
    if (!vg_accept(p, ";"))
        body(p);
    p->func = NULL;
    p->depth = 0;
}

static void top(VgParse *p) {
    static const char *const linking[] = {".visible", ".weak", ".extern", ".common"};
    for (size_t i = 0; i < GP_COUNT(linking); i++) {
        if (vg_accept(p, linking[i]))
            return;
    }
    if (vg_accept(p, ".version")) {
        (void)vg_integer(p);
        p->at += strspn(p->at, ".0123456789");
    } else if (vg_accept(p, ".target")) {
        p->at += strcspn(p->at, "\n");
    } else if (vg_accept(p, ".address_size")) {
        if (vg_integer(p) != 64)
            vg_parse_fail(p, "addresses have 64 bits");
    } else if (vg_accept(p, ".entry")) {
        function(p, true);
    } else if (vg_accept(p, ".func")) {
        function(p, false);
    } else if (!declaration(p) && !remark(p)) {
        vg_parse_fail(p, "unknown directive `%.24s`", p->at);
    }
}

/* ---- Modules ------------------------------------------------------------------------------ */

/* The external array begins behind all static shared memory, which is known only now. */
static void place_dynamic(VgModule *m) {
    uint64_t align = GP_MAX(m->dynamic_align, 16u);
    m->dynamic_at = (uint32_t)gp_align_up(VG_SHARED_START + m->shared_bytes, align);
    m->shared_bytes = m->dynamic_at - VG_SHARED_START;
}

static void parse(GpSession *s, void *ud) {
    (void)s;
    VgParse *p = ud;
    p->m->names = gp_interner_make(p->arena);
    vg_skip_space(p);
    while (*p->at) {
        top(p);
        vg_skip_space(p);
    }
    place_dynamic(p->m);
}

VgModule *vg_module_new(const char *text, char *error, size_t error_bytes) {
    VgModule *m = calloc(1, sizeof *m);
    gp_session_init(&m->session, NULL, NULL, NULL);
    m->arena = gp_arena_new(&m->session);
    VgParse *p = calloc(1, sizeof *p);
    *p =
        (VgParse){.m = m, .arena = m->arena, .line = 1, .error = error, .error_bytes = error_bytes};
    size_t len = strlen(text);
    char *copy = malloc(len + 1);
    memcpy(copy, text, len + 1);
    m->text = copy;
    p->at = copy;
    bool is_right = gp_protect(&m->session, parse, p) == GpStatus_Ok;
    free(p);
    if (is_right)
        return m;
    vg_module_free(m);
    return NULL;
}

void vg_module_free(VgModule *m) {
    for (uint32_t i = 0; i < m->globals.len; i++) {
        vg_memory_remove(m->globals.at[i]);
        free(m->globals.at[i]);
    }
    gp_arena_free(m->arena);
    free(m->text);
    free(m);
}

VgFunc *vg_module_entry(const VgModule *m, const char *name) {
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        if (m->funcs.at[i]->is_entry && strcmp(m->funcs.at[i]->name->name, name) == 0)
            return m->funcs.at[i];
    }
    return NULL;
}
