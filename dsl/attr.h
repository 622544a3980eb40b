/* Between attr.c and attr_entry.c. */
#ifndef GP_ATTR_H
#define GP_ATTR_H

#include "dsl/resolve.h"

/* An attribute being read. */
typedef struct GpAttr {
    GpCollect *k;
    GpDef *def;
    GpAstAttr *node;
    const char *name;
} GpAttr;

void gp_attr_refuse(const GpAttr *a, GpSpan span, const char *what); /* G0201 */
void gp_attr_malformed(const GpAttr *a, GpSpan span, const char *expected); /* G0202 */
/* The name that n is; NULL when it is something else. */
GpSym gp_attr_name(GpNode *n);
/* The key of `key = value`; NULL when n is something else. */
GpSym gp_attr_key(GpNode *n, GpNode **value);
/* Literals; anything else is reported. */
bool gp_attr_bool(const GpAttr *a, GpNode *n);
bool gp_attr_int(const GpAttr *a, GpNode *n, uint32_t least, uint32_t *out);
void gp_attr_set_kernel(const GpAttr *a, GpTrack track);

/* ---- attr_entry.c: #[cutile::entry(..)] */
void gp_attr_read_schedule(const GpAttr *a, GpScheduleKey key, GpNode *arg, GpNode *value,
                           GpSchedule *out);
void gp_attr_read_entry(const GpAttr *a);

#endif
