/* Text to IR, for tests. The grammar is in ir_text.h. The first mistake ends the parse; what is
** well-formed here may still be refused by the verifier. */
#include <stdlib.h>

#include "dsl/ir/ir_lex.h"
#include "dsl/ir/ir_text.h"

enum { MAX_DEPTH = 100, MAX_LIST = 64 };

typedef struct Parser {
    GpSource *src;
    GpDiags *diags;
    GpArena *arena;
    GpIrFn *fn;
    GpInterner *names;
    GpMap values; /* symbol -> value */
    GpMap labels; /* symbol -> instruction */
    GpIrToken now;
    uint32_t at;
    int depth;
    bool failed;
} Parser;

static void advance(Parser *p) {
    if (!p->failed) p->now = gp_ir_lex(p->src, &p->at);
}

static void expected(Parser *p, const char *what) {
    if (p->failed) return;
    const char *found = "the end";
    if (p->now.tok != GpIrTok_End)
        found = gp_arena_printf(p->arena, "`%.*s`", (int)p->now.text.len, p->now.text.at);
    gp_diag(p->diags, GpDiag_G0001, p->now.span, what, found);
    p->failed = true;
    p->now = (GpIrToken){GpIrTok_End, {"", 0}, p->now.span};
}

static bool is_text(const Parser *p, GpIrTok tok, const char *text) {
    return p->now.tok == tok && gp_str_eq(p->now.text, gp_str_from(text));
}

static bool take(Parser *p, GpIrTok tok, const char *text) {
    if (!is_text(p, tok, text)) return false;
    advance(p);
    return true;
}

static bool take_punct(Parser *p, const char *text) { return take(p, GpIrTok_Punct, text); }
static bool take_word(Parser *p, const char *text) { return take(p, GpIrTok_Word, text); }

static void need_punct(Parser *p, const char *text) {
    if (!take_punct(p, text)) expected(p, gp_arena_printf(p->arena, "`%s`", text));
}

static void need_word(Parser *p, const char *text) {
    if (!take_word(p, text)) expected(p, gp_arena_printf(p->arena, "`%s`", text));
}

/* The text of a token of this kind. */
static GpStr need_token(Parser *p, GpIrTok tok, const char *what) {
    GpStr text = p->now.text;
    if (p->now.tok == tok) {
        advance(p);
        return text;
    }
    expected(p, what);
    return (GpStr){"", 0};
}

static int64_t need_int(Parser *p, int64_t low, int64_t high) {
    char *end = NULL;
    long long v = p->now.tok == GpIrTok_Word ? strtoll(p->now.text.at, &end, 10) : 0;
    if (!end || end != p->now.text.at + p->now.text.len || v < low || v > high) {
        expected(p, gp_arena_printf(p->arena, "a number in %lld..%lld", (long long)low,
                                    (long long)high));
        return low;
    }
    advance(p);
    return v;
}

static int need_choice(Parser *p, const char *const *words, int count, const char *what) {
    for (int i = 0; i < count; i++)
        if (take_word(p, words[i])) return i;
    expected(p, what);
    return 0;
}

static const char *need_string(Parser *p) {
    GpStr raw = need_token(p, GpIrTok_String, "a string");
    char *text = gp_arena_alloc(p->arena, raw.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        bool is_escape = raw.at[i] == '\\' && i + 1 < raw.len;
        if (is_escape) i++;
        text[n] = raw.at[i];
        if (is_escape && text[n] == 'n') text[n] = '\n';
        n++;
    }
    return text;
}

static GpElem need_elem(Parser *p) {
    GpElem elem = GpElem_I32;
    if (p->now.tok != GpIrTok_Word || !gp_elem_find(p->now.text, &elem))
        expected(p, "an element type");
    else advance(p);
    return elem;
}

/* Extents, each followed by `x`, then the element. */
static GpElem parse_shape(Parser *p, GpShape *shape) {
    GpElem elem;
    while (!p->failed && !(p->now.tok == GpIrTok_Word && gp_elem_find(p->now.text, &elem))) {
        if (shape->rank == GP_MAX_RANK) {
            expected(p, "an element type");
            break;
        }
        shape->dim[shape->rank++] = take_word(p, "?") ? GP_DYNAMIC : need_int(p, 0, INT32_MAX);
        need_word(p, "x");
    }
    return need_elem(p);
}

static const GpIrType *parse_type(Parser *p) {
    GpShape shape = {.rank = 0};
    if (take_word(p, "ptr")) {
        need_punct(p, "<");
        GpElem elem = need_elem(p);
        need_punct(p, ",");
        int space = need_choice(p, gp_ir_space_words, GP_SPACE_COUNT, "a memory space");
        need_punct(p, ">");
        return gp_ir_ptr(p->fn, elem, (GpSpace)space);
    }
    bool is_tile = is_text(p, GpIrTok_Word, "tile");
    if (!is_tile && !is_text(p, GpIrTok_Word, "tensor")) return gp_ir_scalar(p->fn, need_elem(p));
    advance(p);
    need_punct(p, "<");
    GpElem elem = parse_shape(p, &shape);
    need_punct(p, ">");
    return is_tile ? gp_ir_tile(p->fn, elem, &shape) : gp_ir_tensor(p->fn, elem, &shape);
}

static GpSym text_symbol(Parser *p, GpStr text) { return gp_intern(p->names, text.at, text.len); }

/* The source's name: without the count that makes a name unique; NULL when all digits. */
static const char *source_name(Parser *p, GpStr text) {
    size_t len = text.len, digits = len;
    while (digits > 0 && text.at[digits - 1] >= '0' && text.at[digits - 1] <= '9') digits--;
    if (digits == 0) return NULL;
    if (digits < len && digits > 1 && text.at[digits - 1] == '.') len = digits - 1;
    return gp_arena_copy(p->arena, text.at, len);
}

static void define_value(Parser *p, GpStr text, GpValue *v) {
    GpSym sym = text_symbol(p, text);
    if (gp_map_has(&p->values, sym)) expected(p, "a new value name before this");
    gp_map_set(p->arena, &p->values, sym, v);
    v->name = source_name(p, text);
}

static GpValue *need_value(Parser *p) {
    GpValue *v = NULL;
    if (p->now.tok == GpIrTok_Value) v = gp_map_get(&p->values, text_symbol(p, p->now.text));
    if (v) advance(p);
    else expected(p, "a value defined above");
    return v;
}

static GpScalar parse_scalar(Parser *p, GpElem elem, GpStr text) {
    GpScalar v = {.elem = elem};
    char *end = NULL;
    const char *copy = gp_arena_copy(p->arena, text.at, text.len);
    if (gp_str_eq(text, GP_STR("true")) || gp_str_eq(text, GP_STR("false"))) {
        v.u = text.at[0] == 't';
        return v;
    }
    if (gp_elem_is_float(elem)) v.f = strtod(copy, &end);
    else if (elem == GpElem_U64) v.u = strtoull(copy, &end, 10);
    else v.i = strtoll(copy, &end, 10);
    if (!text.len || *end) expected(p, "a constant before this");
    GpScalar wrapped = gp_scalar_wrap(v);
    if (!gp_elem_is_float(elem) && wrapped.u != v.u)
        expected(p, "a constant in range of its type before this");
    return wrapped;
}

/* The attributes, in an instruction that is not made yet; a number whose type comes later in the
** text is kept as `imm`. */
typedef struct Attrs {
    GpInst holder;
    GpStr imm;
} Attrs;

static void parse_perm(Parser *p, GpPerm *perm) {
    while (p->now.tok == GpIrTok_Word) {
        if (perm->rank == GP_MAX_RANK) {
            expected(p, "fewer axes");
            return;
        }
        perm->axis[perm->rank++] = (uint8_t)need_int(p, 0, UINT8_MAX);
    }
}

static void parse_attr(Parser *p, GpIrAttr attr, Attrs *to) {
    const GpIrAttrInfo *info = &gp_ir_attr_info[attr];
    char *at = (char *)&to->holder + info->offset;
    switch (info->form) {
    case GpIrForm_Pad:
        need_word(p, info->word);
        to->imm = need_token(p, GpIrTok_Word, "a constant");
        return;
    case GpIrForm_Value: to->imm = need_token(p, GpIrTok_Word, "a constant"); return;
    case GpIrForm_Count:
        to->holder.imm =
            (GpScalar){.elem = GpElem_I64, .i = need_int(p, INT64_MIN, INT64_MAX)};
        return;
    case GpIrForm_Choice: {
        const char *what = gp_arena_printf(p->arena, "%s or another of its kind", info->words[0]);
        uint32_t choice =
            (uint32_t)need_choice(p, info->words, (int)info->word_count, what);
        memcpy(at, &choice, sizeof choice);
        return;
    }
    case GpIrForm_Byte: *(uint8_t *)at = (uint8_t)need_int(p, 0, UINT8_MAX); return;
    case GpIrForm_Index:
        need_word(p, info->word);
        *(uint32_t *)(void *)at = (uint32_t)need_int(p, 0, UINT32_MAX);
        return;
    case GpIrForm_Perm: parse_perm(p, &to->holder.perm); return;
    case GpIrForm_Flag:
        need_word(p, info->word);
        *(bool *)at = true;
        return;
    case GpIrForm_Text: to->holder.text = need_string(p); return;
    case GpIrForm_Label: return;
    }
}

static bool may_be_silent(GpIrForm form) {
    return form == GpIrForm_Pad || form == GpIrForm_Flag || form == GpIrForm_Label;
}

/* In the table's order, with commas; no brackets when there is nothing to say. */
static void parse_attrs(Parser *p, GpOp op, Attrs *to) {
    bool is_open = false;
    for (unsigned i = 0; i < GpIrAttr_count && !p->failed; i++) {
        const GpIrAttrInfo *info = &gp_ir_attr_info[i];
        if (!(gp_sig_info[gp_op_info[op].sig].attrs >> i & 1) || info->form == GpIrForm_Label)
            continue;
        const char *before = is_open ? "," : "[";
        if (may_be_silent(info->form) && !is_text(p, GpIrTok_Punct, before)) continue;
        uint32_t at = p->at;
        GpIrToken next = gp_ir_lex(p->src, &at);
        bool is_here = next.tok == GpIrTok_Word && gp_str_eq(next.text, gp_str_from(info->word));
        if (may_be_silent(info->form) && !is_here) continue;
        need_punct(p, before);
        is_open = true;
        parse_attr(p, (GpIrAttr)i, to);
    }
    if (is_open) need_punct(p, "]");
}

static void set_attrs(Parser *p, GpInst *inst, const Attrs *from) {
    const GpInst *h = &from->holder;
    inst->imm = h->imm;
    if (from->imm.len && inst->result_count)
        inst->imm = parse_scalar(p, inst->results[0]->type->elem, from->imm);
    inst->pred = h->pred;
    inst->axis = h->axis;
    inst->site = h->site;
    inst->perm = h->perm;
    inst->atomic = h->atomic;
    inst->ordering = h->ordering;
    inst->scope = h->scope;
    inst->is_reverse = h->is_reverse;
    inst->by_element = h->by_element;
    inst->is_whole = h->is_whole;
    inst->text = h->text;
}

static GpInst *need_label(Parser *p) {
    GpInst *inst = NULL;
    if (p->now.tok == GpIrTok_Label) inst = gp_map_get(&p->labels, text_symbol(p, p->now.text));
    if (inst) advance(p);
    else expected(p, "a label defined above");
    return inst;
}

static void parse_region(Parser *p, GpRegion *r);

static void parse_regions(Parser *p, GpInst *inst, uint32_t count) {
    GpRegion *regions[2];
    gp_assert(count <= GP_COUNT(regions));
    for (uint32_t i = 0; i < count; i++) regions[i] = gp_ir_region(p->fn);
    gp_ir_set_regions(p->fn, inst, regions, count);
    for (uint32_t i = 0; i < count && !p->failed; i++) {
        if (i) need_word(p, "else");
        parse_region(p, regions[i]);
    }
}

/* Everything of an instruction between its results and its regions. */
typedef struct Head {
    GpOp op;
    Attrs attrs;
    GpStr label; /* one that it defines; empty without */
    GpInst *target;
    GpValue *operands[MAX_LIST];
    const GpIrType *types[MAX_LIST];
    uint32_t operand_count, type_count;
} Head;

/* The values that stand here are results of the next instruction, no operands. */
static bool is_at_results(const Parser *p) {
    uint32_t at = p->at;
    GpIrToken next = p->now;
    while (next.tok == GpIrTok_Value) {
        next = gp_ir_lex(p->src, &at);
        if (next.tok != GpIrTok_Punct || *next.text.at != ',') break;
        next = gp_ir_lex(p->src, &at);
    }
    return next.tok == GpIrTok_Punct && *next.text.at == '=';
}

static void parse_head(Parser *p, Head *h) {
    if (p->now.tok != GpIrTok_Word || !gp_op_find(p->now.text, &h->op)) {
        expected(p, "an operation");
        return;
    }
    advance(p);
    parse_attrs(p, h->op, &h->attrs);
    if (p->now.tok == GpIrTok_Label) {
        bool has_target = gp_sig_info[gp_op_info[h->op].sig].attrs & GP_HAS(Target);
        if (has_target) h->target = need_label(p);
        else h->label = need_token(p, GpIrTok_Label, "a label");
    }
    if (p->now.tok == GpIrTok_Value && !is_at_results(p)) {
        do {
            if (h->operand_count == MAX_LIST) expected(p, "fewer operands");
            else h->operands[h->operand_count++] = need_value(p);
        } while (take_punct(p, ","));
    }
    if (!take_punct(p, ":")) return;
    do {
        if (h->type_count == MAX_LIST) expected(p, "fewer types");
        else h->types[h->type_count++] = parse_type(p);
    } while (take_punct(p, ","));
}

static void parse_inst(Parser *p, GpRegion *r) {
    GpStr results[MAX_LIST];
    uint32_t result_count = 0;
    GpSpan span = p->now.span;
    if (p->now.tok == GpIrTok_Value) {
        do {
            if (result_count == MAX_LIST) expected(p, "fewer results");
            else results[result_count++] = need_token(p, GpIrTok_Value, "a value");
        } while (take_punct(p, ","));
        need_punct(p, "=");
    }
    Head h = {.label = {"", 0}};
    parse_head(p, &h);
    if (!p->failed && h.type_count != result_count)
        expected(p, "as many result types as results before this");
    if (p->failed) return;
    GpBuilder b = {.fn = p->fn, .region = r, .span = gp_span_join(span, p->now.span)};
    GpInst *inst = gp_build(&b, h.op, h.operands, h.operand_count, h.types, h.type_count);
    set_attrs(p, inst, &h.attrs);
    inst->target = h.target;
    for (uint32_t i = 0; i < result_count; i++) define_value(p, results[i], inst->results[i]);
    if (h.label.len) gp_map_set(p->arena, &p->labels, text_symbol(p, h.label), inst);
    parse_regions(p, inst, gp_sig_info[gp_op_info[h.op].sig].regions);
}

static void parse_insts(Parser *p, GpRegion *r) {
    while (!p->failed && !is_text(p, GpIrTok_Punct, "}")) parse_inst(p, r);
    need_punct(p, "}");
}

static void parse_region(Parser *p, GpRegion *r) {
    if (p->depth == MAX_DEPTH) {
        expected(p, "fewer nested regions");
        return;
    }
    p->depth++;
    if (take_punct(p, "(")) {
        do {
            GpStr name = need_token(p, GpIrTok_Value, "a value");
            need_punct(p, ":");
            const GpIrType *type = parse_type(p);
            define_value(p, name, gp_ir_region_param(p->fn, r, type, NULL));
        } while (take_punct(p, ","));
        need_punct(p, ")");
    }
    need_punct(p, "{");
    parse_insts(p, r);
    p->depth--;
}

static void parse_param(Parser *p) {
    GpIrParam param = {.arg = 0};
    GpStr name = need_token(p, GpIrTok_Value, "a parameter");
    need_punct(p, ":");
    const GpIrType *type = parse_type(p);
    param.kind = (GpParamKind)need_choice(p, gp_ir_param_words, GP_PARAM_COUNT, "a parameter kind");
    param.arg = (uint8_t)need_int(p, 0, UINT8_MAX);
    for (int f = 0; f < GP_FACT_COUNT; f++)
        if (take_word(p, gp_ir_fact_words[f].word))
            *(bool *)((char *)&param + gp_ir_fact_words[f].offset) = true;
    define_value(p, name, gp_ir_add_param(p->fn, type, param, NULL));
}

static bool parse_schedule(Parser *p) {
    for (int i = 0; i < GpScheduleKey_count; i++) {
        if (!take_word(p, gp_schedule_info[i].name)) continue;
        int64_t value = need_int(p, 0, UINT8_MAX);
        *gp_schedule_at(&p->fn->schedule, (GpScheduleKey)i) = (uint8_t)value;
        return true;
    }
    return false;
}

static void parse_header(Parser *p) {
    while (take_punct(p, ",")) {
        if (take_word(p, "symbol")) p->fn->symbol = need_string(p);
        else if (take_word(p, "max_threads"))
            p->fn->max_threads = (uint32_t)need_int(p, 0, UINT32_MAX);
        else if (take_word(p, "min_blocks"))
            p->fn->min_blocks = (uint32_t)need_int(p, 0, UINT32_MAX);
        else if (take_word(p, "equal_lens")) p->fn->equal_lens = true;
        else if (take_word(p, "block"))
            for (int i = 0; i < 3; i++) p->fn->block[i] = (uint32_t)need_int(p, 0, UINT32_MAX);
        else if (!parse_schedule(p)) expected(p, "an attribute of the function");
    }
    need_punct(p, "(");
    if (!is_text(p, GpIrTok_Punct, ")")) {
        do parse_param(p);
        while (take_punct(p, ","));
    }
    need_punct(p, ")");
    need_punct(p, "{");
}

static void parse_sites(Parser *p) {
    while (take_word(p, "site")) {
        int kind = need_choice(p, gp_ir_check_words, GP_CHECK_COUNT, "a kind of check");
        uint8_t axis = (uint8_t)need_int(p, 0, UINT8_MAX);
        GpSpan span = p->now.span;
        uint32_t site = gp_ir_add_site(p->fn, (GpCheckKind)kind, axis, span, need_string(p));
        if (!take_word(p, "at")) continue;
        GpPlaceInFile *place = &p->fn->sites[site].place;
        place->file = need_string(p);
        place->line = (uint32_t)need_int(p, 0, UINT32_MAX);
        place->column = (uint32_t)need_int(p, 0, UINT32_MAX);
    }
}

GpIrFn *gp_ir_parse(GpArena *arena, GpSource *src, GpDiags *diags) {
    Parser p = {.src = src, .diags = diags, .arena = arena, .names = gp_interner_make(arena)};
    advance(&p);
    need_word(&p, "fn");
    GpSpan span = p.now.span;
    bool is_quoted = take_punct(&p, "@");
    GpStr bare = is_quoted ? (GpStr){"", 0} : need_token(&p, GpIrTok_Name, "the function's @name");
    const char *name = is_quoted ? need_string(&p) : gp_arena_copy(arena, bare.at, bare.len);
    int track = need_choice(&p, gp_ir_track_words, GP_TRACK_COUNT, "a track");
    p.fn = gp_ir_fn_make(arena, name, (GpTrack)track, span);
    parse_header(&p);
    parse_sites(&p);
    parse_insts(&p, p.fn->body);
    if (p.now.tok != GpIrTok_End) expected(&p, "the end");
    gp_ir_place_globals(p.fn);
    return p.failed ? NULL : p.fn;
}
