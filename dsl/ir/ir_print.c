/* IR to text. The grammar is in ir_text.h; the text depends on the structure alone (not on value
** ids), so printing what was parsed from a print gives the same bytes. */
#include "dsl/ir/ir_text.h"

const char *const gp_ir_pred_words[GP_PRED_COUNT] = {
    [GpPred_Eq] = "eq", [GpPred_Ne] = "ne", [GpPred_Lt] = "lt",
    [GpPred_Le] = "le", [GpPred_Gt] = "gt", [GpPred_Ge] = "ge",
};
const char *const gp_ir_space_words[GP_SPACE_COUNT] = {
    [GpSpace_Global] = "global", [GpSpace_Shared] = "shared", [GpSpace_Local] = "local"};
const char *const gp_ir_check_words[GP_CHECK_COUNT] = {
    [GpCheck_Index] = "index", [GpCheck_Tile] = "tile", [GpCheck_Divide] = "divide",
    [GpCheck_Assert] = "assert", [GpCheck_Require] = "require"};
const char *const gp_ir_track_words[GP_TRACK_COUNT] = {
    [GpTrack_None] = "helper", [GpTrack_Tile] = "tile", [GpTrack_Simt] = "simt"};
const char *const gp_ir_param_words[GP_PARAM_COUNT] = {
    [GpParam_Base] = "base", [GpParam_Dim] = "dim", [GpParam_Stride] = "stride",
    [GpParam_Len] = "len", [GpParam_Scalar] = "scalar", [GpParam_Grid] = "grid",
    [GpParam_TensorMap] = "tensor_map", [GpParam_Mailbox] = "mailbox"};
const GpIrFactWord gp_ir_fact_words[GP_FACT_COUNT] = {
    {"written", offsetof(GpIrParam, is_written)},
    {"unique", offsetof(GpIrParam, is_unique)},
    {"aligned16", offsetof(GpIrParam, aligned16)},
    {"unit_stride", offsetof(GpIrParam, unit_stride)},
    {"small", offsetof(GpIrParam, small)},
    {"splits_lines", offsetof(GpIrParam, splits_lines)},
};

typedef struct Printer {
    GpText *out;
    GpArena *scratch;
    GpInterner *names;
    GpMap name_counts; /* symbol -> how often it was used */
    GpMap value_names; /* value -> its name in the text */
    GpMap labels;      /* targeted instruction -> its label */
    uint32_t value_count;
} Printer;

static void print_type(const GpIrType *t, GpText *out) {
    const char *elem = gp_elem_info[t->elem].name;
    if (t->kind == GpIrType_Scalar) {
        gp_text_puts(out, elem);
        return;
    }
    if (t->kind == GpIrType_Ptr) {
        gp_text_printf(out, "ptr<%s, %s>", elem, gp_ir_space_words[t->space]);
        return;
    }
    gp_text_printf(out, "%s<", t->kind == GpIrType_Tile ? "tile" : "tensor");
    for (int i = 0; i < t->shape.rank; i++) {
        if (t->shape.dim[i] == GP_DYNAMIC) gp_text_puts(out, "? x ");
        else gp_text_printf(out, "%lld x ", (long long)t->shape.dim[i]);
    }
    gp_text_puts(out, elem);
    gp_text_puts(out, ">");
}

/* Names are given where values are defined, in program order. */
static const char *define_name(Printer *p, const GpValue *v) {
    const char *name;
    if (v->name) {
        GpSym sym = gp_intern_cstr(p->names, v->name);
        uintptr_t count = (uintptr_t)gp_map_get(&p->name_counts, sym) + 1;
        gp_map_set(p->scratch, &p->name_counts, sym, (void *)count);
        name = count == 1 ? v->name
                          : gp_arena_printf(p->scratch, "%s.%llu", v->name,
                                            (unsigned long long)count);
    } else {
        name = gp_arena_printf(p->scratch, "%u", p->value_count);
    }
    p->value_count++;
    gp_map_set(p->scratch, &p->value_names, v, (void *)(uintptr_t)name);
    return name;
}

static const char *value_name(const Printer *p, const GpValue *v) {
    const char *name = gp_map_get(&p->value_names, v);
    return name ? name : "undefined";
}

static void print_string(const char *text, GpText *out) {
    gp_text_puts(out, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') gp_text_printf(out, "\\%c", *c);
        else if (*c == '\n') gp_text_puts(out, "\\n");
        else gp_text_add(out, c, 1);
    }
    gp_text_puts(out, "\"");
}

/* A function's name, quoted where it is no plain word ("add::<128>"). */
static void print_fn_name(const char *name, GpText *out) {
    gp_text_puts(out, "@");
    bool is_word = *name != '\0';
    for (const char *c = name; *c; c++)
        is_word = is_word && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                              (*c >= '0' && *c <= '9'));
    if (is_word) gp_text_puts(out, name);
    else print_string(name, out);
}

static void indent(Printer *p, int depth) { gp_text_pad(p->out, ' ', 2 * depth); }

static void print_region(Printer *p, const GpRegion *r, int depth);

static void print_attr(Printer *p, const GpInst *inst, GpIrAttr attr) {
    const GpIrAttrInfo *info = &gp_ir_attr_info[attr];
    const void *at = gp_ir_attr_at(inst, attr);
    switch (info->form) {
    case GpIrForm_Value: gp_scalar_print(inst->imm, p->out); return;
    case GpIrForm_Pad:
        gp_text_printf(p->out, "%s ", info->word);
        gp_scalar_print(inst->imm, p->out);
        return;
    case GpIrForm_Count: gp_text_printf(p->out, "%lld", (long long)inst->imm.i); return;
    case GpIrForm_Choice: gp_text_puts(p->out, info->words[gp_ir_choice(inst, attr)]); return;
    case GpIrForm_Byte: gp_text_printf(p->out, "%u", (unsigned)*(const uint8_t *)at); return;
    case GpIrForm_Index:
        gp_text_printf(p->out, "%s %u", info->word, *(const uint32_t *)at);
        return;
    case GpIrForm_Perm:
        for (int i = 0; i < inst->perm.rank; i++)
            gp_text_printf(p->out, "%s%u", i ? " " : "", (unsigned)inst->perm.axis[i]);
        return;
    case GpIrForm_Flag: gp_text_puts(p->out, info->word); return;
    case GpIrForm_Text: print_string(inst->text, p->out); return;
    case GpIrForm_Label: return;
    }
}

static void print_attrs(Printer *p, const GpInst *inst) {
    uint32_t count = 0;
    for (unsigned attr = 0; attr < GpIrAttr_count; attr++) {
        if (!gp_ir_carries(inst, (GpIrAttr)attr) || gp_ir_attr_is_silent(inst, (GpIrAttr)attr))
            continue;
        gp_text_puts(p->out, count++ ? ", " : "[");
        print_attr(p, inst, (GpIrAttr)attr);
    }
    if (count) gp_text_puts(p->out, "]");
}

static void print_label(Printer *p, const GpInst *labelled) {
    const char *label = gp_map_get(&p->labels, labelled);
    if (label) gp_text_printf(p->out, " ^%s", label);
}

static void print_types(Printer *p, GpValue *const *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        gp_text_puts(p->out, i ? ", " : " : ");
        print_type(values[i]->type, p->out);
    }
}

static void print_inst(Printer *p, const GpInst *inst, int depth) {
    indent(p, depth);
    for (uint32_t i = 0; i < inst->result_count; i++)
        gp_text_printf(p->out, "%s%%%s", i ? ", " : "", define_name(p, inst->results[i]));
    if (inst->result_count) gp_text_puts(p->out, " = ");
    gp_text_puts(p->out, gp_op_info[inst->op].name);
    print_attrs(p, inst);
    if (inst->target) print_label(p, inst->target);
    print_label(p, inst);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        gp_text_printf(p->out, "%s%%%s", i ? ", " : " ", value_name(p, inst->operands[i]));
    print_types(p, inst->results, inst->result_count);
    for (uint32_t i = 0; i < inst->region_count; i++) {
        gp_text_puts(p->out, i ? " else " : " ");
        print_region(p, inst->regions[i], depth);
    }
    gp_text_puts(p->out, "\n");
}

static void print_region(Printer *p, const GpRegion *r, int depth) {
    for (uint32_t i = 0; i < r->param_count; i++) {
        gp_text_printf(p->out, "%s%%%s: ", i ? ", " : "(", define_name(p, r->params[i]));
        print_type(r->params[i]->type, p->out);
    }
    gp_text_puts(p->out, r->param_count ? ") {\n" : "{\n");
    for (const GpInst *inst = r->first; inst; inst = inst->next) print_inst(p, inst, depth + 1);
    indent(p, depth);
    gp_text_puts(p->out, "}");
}

/* Gives a label to every target. */
static void label_targets(Printer *p, const GpRegion *r) {
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        if (inst->target && !gp_map_has(&p->labels, inst->target))
            gp_map_set(p->scratch, &p->labels, inst->target,
                       gp_arena_printf(p->scratch, "%u", p->labels.count));
        for (uint32_t i = 0; i < inst->region_count; i++) label_targets(p, inst->regions[i]);
    }
}

static void print_sites(const GpIrFn *fn, GpText *out) {
    for (uint32_t i = 0; i < fn->site_count; i++) {
        const GpCheckSite *s = &fn->sites[i];
        gp_text_printf(out, "  site %s %u ", gp_ir_check_words[s->kind], (unsigned)s->axis);
        print_string(s->what, out);
        gp_text_puts(out, " at ");
        print_string(s->place.file, out);
        gp_text_printf(out, " %u %u\n", s->place.line, s->place.column);
    }
}

static void print_header(Printer *p, const GpIrFn *fn) {
    GpText *out = p->out;
    gp_text_puts(out, "fn ");
    print_fn_name(fn->name, out);
    gp_text_printf(out, " %s, symbol ", gp_ir_track_words[fn->track]);
    print_string(fn->symbol, out);
    if (fn->block[0] || fn->block[1] || fn->block[2])
        gp_text_printf(out, ", block %u %u %u", fn->block[0], fn->block[1], fn->block[2]);
    if (fn->max_threads) gp_text_printf(out, ", max_threads %u", fn->max_threads);
    if (fn->min_blocks) gp_text_printf(out, ", min_blocks %u", fn->min_blocks);
    for (int i = 0; i < GpScheduleKey_count; i++) {
        GpSchedule schedule = fn->schedule;
        uint8_t value = *gp_schedule_at(&schedule, (GpScheduleKey)i);
        if (value) gp_text_printf(out, ", %s %u", gp_schedule_info[i].name, value);
    }
    if (fn->equal_lens) gp_text_puts(out, ", equal_lens");
    gp_text_puts(out, " (");
    for (uint32_t i = 0; i < fn->param_count; i++) {
        const GpIrParam *param = &fn->params[i];
        gp_text_printf(out, "%s\n    %%%s: ", i ? "," : "", define_name(p, fn->body->params[i]));
        print_type(fn->body->params[i]->type, out);
        gp_text_printf(out, " %s %u", gp_ir_param_words[param->kind], (unsigned)param->arg);
        for (int f = 0; f < GP_FACT_COUNT; f++) {
            const bool *fact = (const bool *)((const char *)param + gp_ir_fact_words[f].offset);
            if (*fact) gp_text_printf(out, " %s", gp_ir_fact_words[f].word);
        }
    }
    gp_text_puts(out, ") {\n");
}

void gp_ir_print(const GpIrFn *fn, GpText *out) {
    GpMark mark = gp_arena_mark(fn->arena);
    Printer p = {.out = out, .scratch = fn->arena, .names = gp_interner_make(fn->arena)};
    label_targets(&p, fn->body);
    print_header(&p, fn);
    print_sites(fn, out);
    for (const GpInst *inst = fn->body->first; inst; inst = inst->next) print_inst(&p, inst, 1);
    gp_text_puts(out, "}\n");
    gp_arena_restore(fn->arena, mark);
}
