/* Functions that the compiler expands itself: the table from intrinsic.def, and what the
** expansions share. They stand in lower_intrinsic_tile.c, _simt.c and _core.c. */
#include "dsl/lower.h"

typedef GpVal (*Expand)(GpLower *lo, const GpLowerCall *call);

static GpVal expand_none(GpLower *lo, const GpLowerCall *call) {
    (void)lo;
    (void)call;
    gp_unreachable();
}

static const Expand expansions[] = {
    [GpIntrinsic_None] = expand_none,
#define GP_INTRINSIC(id, track, doc) [GpIntrinsic_##id] = gp_lower_##id,
#include "dsl/intrinsic.def"
};

/* Whether the type of a call's result can be: impossible extents are reported here, before an
** expansion builds on them. */
static bool check_result(GpLower *lo, const GpType *t) {
    bool had_failed = lo->has_failed;
    lo->has_failed = false;
    for (uint32_t k = 0; k < gp_lower_leaf_count(lo, t); k++)
        gp_lower_leaf_type(lo, t, k);
    bool is_fine = !lo->has_failed;
    lo->has_failed |= had_failed;
    return is_fine;
}

GpVal gp_lower_intrinsic(GpLower *lo, const GpLowerCall *call) {
    if (!check_result(lo, call->type))
        return gp_lower_undef(lo, call->type);
    GpVal v = expansions[call->def->intrinsic](lo, call);
    v.type = call->type;
    return v.count == gp_lower_leaf_count(lo, call->type) ? v : gp_lower_undef(lo, call->type);
}

const char *gp_call_sister(const GpLowerCall *call) {
    return call->def->intrinsic_arg ? call->def->intrinsic_arg->name : call->def->name->name;
}

bool gp_call_is(const GpLowerCall *call, const char *sister) {
    return !strcmp(gp_call_sister(call), sister);
}

bool gp_call_ends(const GpLowerCall *call, const char *tail) {
    const char *name = gp_call_sister(call);
    size_t n = strlen(name), k = strlen(tail);
    return n >= k && !strcmp(name + n - k, tail);
}

GpSpot gp_call_spot(GpLower *lo, const GpLowerCall *call, uint32_t i) {
    gp_assert(i < call->arg_count);
    return gp_spot_auto_deref(lo, gp_spot_value(call->args[i]), call->span);
}

GpVal gp_call_arg(GpLower *lo, const GpLowerCall *call, uint32_t i) {
    GpSpot s = gp_call_spot(lo, call, i);
    return gp_spot_read(lo, &s, call->span);
}

GpValue *gp_call_scalar(GpLower *lo, const GpLowerCall *call, uint32_t i) {
    GpVal v = gp_call_arg(lo, call, i);
    if (v.count)
        return gp_lower_get(lo, &v, 0);
    if (!lo->is_dead)
        gp_lower_refuse(lo, call->span, "this argument of `%s`", call->def->name->name);
    return gp_build_int(&lo->b, GpElem_I32, 0);
}

GpVal gp_call_result(GpLower *lo, const GpLowerCall *call, GpValue *v) {
    return gp_lower_one(lo, call->type, v);
}
