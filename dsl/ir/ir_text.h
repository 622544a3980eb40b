/* The words that IR text uses for enumerators; shared by the printer and the parser.
**
** function  fn @name track {, attribute} ( params ) { {site} {inst} }
** site      site kind axis "what" [at "file" line column]
** param     %name : type kind argument {fact}
** inst      [%r {, %r} =] op [[attr {, attr}]] [^label] [%operand {, %operand}] [: type {, type}] regions
** attr      as attr.def says, in its order
** region    [( %p : type {, ..} )] { {inst} }
** Regions of `if` are joined by `else`. Names of values are unique in the text: `%name`, or
** `%name.2` where the source used a name again, or `%7` for values without a name, counted in
** program order. Labels name what break and continue leave. `//` starts a comment. Spans are not
** printed; everything else is. */
#ifndef GP_IR_TEXT_H
#define GP_IR_TEXT_H

#include "dsl/ir/ir.h"

extern const char *const gp_ir_pred_words[GP_PRED_COUNT];
enum { GP_SPACE_COUNT = GpSpace_Local + 1, GP_CHECK_COUNT = GpCheck_Require + 1 };
extern const char *const gp_ir_space_words[GP_SPACE_COUNT];
extern const char *const gp_ir_check_words[GP_CHECK_COUNT];
enum { GP_TRACK_COUNT = GpTrack_Simt + 1 };
extern const char *const gp_ir_track_words[GP_TRACK_COUNT];
enum { GP_PARAM_COUNT = GpParam_Mailbox + 1 };
extern const char *const gp_ir_param_words[GP_PARAM_COUNT];
extern const char *const gp_ir_atomic_words[GpAtomic_count];
extern const char *const gp_ir_ordering_words[GpOrdering_count];
extern const char *const gp_ir_scope_words[GpMemScope_count];

/* A fact of GpIrParam. */
typedef struct GpIrFactWord {
    const char *word;
    size_t offset; /* of the bool in GpIrParam */
} GpIrFactWord;
enum { GP_FACT_COUNT = 6 };
extern const GpIrFactWord gp_ir_fact_words[GP_FACT_COUNT];

/* How an attribute is held and written (attr.def). */
typedef enum GpIrForm {
    GpIrForm_Value, GpIrForm_Pad, GpIrForm_Count, GpIrForm_Choice, GpIrForm_Byte, GpIrForm_Index,
    GpIrForm_Perm, GpIrForm_Flag, GpIrForm_Text, GpIrForm_Label
} GpIrForm;

typedef struct GpIrAttrInfo {
    GpIrForm form;
    size_t offset; /* in GpInst */
    const char *word;
    const char *const *words;
    uint32_t word_count;
} GpIrAttrInfo;
extern const GpIrAttrInfo gp_ir_attr_info[GpIrAttr_count];

/* The attribute's place in an instruction, by its form. A Choice is some enumeration, all of
** which have the size and the representation of unsigned. */
static inline const void *gp_ir_attr_at(const GpInst *inst, GpIrAttr attr) {
    return (const char *)inst + gp_ir_attr_info[attr].offset;
}
static inline uint32_t gp_ir_choice(const GpInst *inst, GpIrAttr attr) {
    uint32_t v;
    memcpy(&v, gp_ir_attr_at(inst, attr), sizeof v);
    return v;
}
static inline bool gp_ir_carries(const GpInst *inst, GpIrAttr attr) {
    return gp_sig_info[gp_op_info[inst->op].sig].attrs >> attr & 1;
}
/* True when text leaves the attribute out. */
bool gp_ir_attr_is_silent(const GpInst *inst, GpIrAttr attr);

#endif
