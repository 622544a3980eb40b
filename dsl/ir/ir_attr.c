/* The table of attributes (attr.def), and what follows from it alone. */
#include "dsl/ir/ir_text.h"

_Static_assert(sizeof(GpPred) == sizeof(uint32_t) && sizeof(GpAtomic) == sizeof(uint32_t) &&
                   sizeof(GpOrdering) == sizeof(uint32_t) && sizeof(GpMemScope) == sizeof(uint32_t),
               "a Choice is read as a uint32_t");

const char *const gp_ir_atomic_words[GpAtomic_count] = {
#define GP_ATOMIC(id, word, elems, op) [GpAtomic_##id] = (word),
#include "dsl/ir/access.def"
};
const char *const gp_ir_ordering_words[GpOrdering_count] = {
#define GP_ORDERING(id, word, loads, stores, updates) [GpOrdering_##id] = (word),
#include "dsl/ir/access.def"
};
const char *const gp_ir_scope_words[GpMemScope_count] = {
#define GP_SCOPE(id, word) [GpMemScope_##id] = (word),
#include "dsl/ir/access.def"
};

const GpIrAttrInfo gp_ir_attr_info[GpIrAttr_count] = {
#define GP_IR_ATTR(id, form_, field, word_, words_, count_, doc)                                   \
    [GpIrAttr_##id] = {.form = GpIrForm_##form_,                                                   \
                       .offset = offsetof(GpInst, field),                                          \
                       .word = (word_),                                                            \
                       .words = (words_),                                                          \
                       .word_count = (count_)},
#include "dsl/ir/attr.def"
};

static bool is_same_attr(const GpInst *a, const GpInst *b, GpIrAttr attr) {
    const void *x = gp_ir_attr_at(a, attr), *y = gp_ir_attr_at(b, attr);
    switch (gp_ir_attr_info[attr].form) {
    case GpIrForm_Value:
    case GpIrForm_Count: return a->imm.u == b->imm.u && a->imm.elem == b->imm.elem;
    case GpIrForm_Pad: return a->imm.u == b->imm.u;
    case GpIrForm_Choice: return gp_ir_choice(a, attr) == gp_ir_choice(b, attr);
    case GpIrForm_Byte: return *(const uint8_t *)x == *(const uint8_t *)y;
    case GpIrForm_Index: return *(const uint32_t *)x == *(const uint32_t *)y;
    case GpIrForm_Perm:
        return a->perm.rank == b->perm.rank &&
               memcmp(a->perm.axis, b->perm.axis, a->perm.rank) == 0;
    case GpIrForm_Flag: return *(const bool *)x == *(const bool *)y;
    case GpIrForm_Text: return strcmp(a->text, b->text) == 0;
    case GpIrForm_Label: return a->target == b->target;
    }
    gp_unreachable();
}

bool gp_ir_same_attrs(const GpInst *a, const GpInst *b) {
    for (unsigned attr = 0; attr < GpIrAttr_count; attr++)
        if (gp_ir_carries(a, (GpIrAttr)attr) && !is_same_attr(a, b, (GpIrAttr)attr)) return false;
    return true;
}

bool gp_ir_attr_is_silent(const GpInst *inst, GpIrAttr attr) {
    GpIrForm form = gp_ir_attr_info[attr].form;
    if (form == GpIrForm_Label) return true;
    if (form == GpIrForm_Pad) return inst->imm.u == 0;
    return form == GpIrForm_Flag && !*(const bool *)gp_ir_attr_at(inst, attr);
}

bool gp_ir_is_window(const GpValue *v) { return v->inst && v->inst->op == GpOp_Window; }

static const GpValue *root_of(const GpValue *tensor) {
    while (gp_ir_is_window(tensor))
        tensor = tensor->inst->operands[0];
    return tensor;
}

const GpIrParam *gp_ir_root_param(const GpIrFn *fn, const GpValue *tensor) {
    tensor = root_of(tensor);
    bool is_argument = tensor->type->kind == GpIrType_Tensor && !tensor->inst && tensor->region == fn->body;
    return is_argument ? &fn->params[tensor->index] : NULL;
}

static bool is_unique(const GpIrFn *fn, const GpValue *v) {
    return v->region == fn->body && !v->inst && fn->params[v->index].is_unique;
}

bool gp_ir_may_alias(const GpIrFn *fn, const GpValue *a, const GpValue *b) {
    a = root_of(a), b = root_of(b);
    return a == b || (!is_unique(fn, a) && !is_unique(fn, b));
}

GpScalar gp_ir_pad(const GpInst *inst) {
    return inst->imm.u ? inst->imm : (GpScalar){.elem = inst->results[0]->type->elem};
}

GpEffect gp_ir_effect(const GpInst *inst) {
    if (inst->op == GpOp_Gather && inst->ordering != GpOrdering_Weak) return GpEffect_Write;
    return gp_op_info[inst->op].effect;
}
