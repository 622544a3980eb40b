/* The keys of a schedule, from their table. */
#include "core/schedule.h"

const GpScheduleInfo gp_schedule_info[GpScheduleKey_count] = {
#define GP_SCHEDULE(field, least, most, powers, doc)                                               \
    {#field, offsetof(GpSchedule, field), least, most, powers},
#include "core/schedule.def"
};

const char *const gp_unpiped_text[GpUnpiped_count] = {
#define GP_UNPIPED(id, text) text,
#include "core/unpiped.def"
};

bool gp_schedule_find(GpStr name, GpScheduleKey *out) {
    for (int i = 0; i < GpScheduleKey_count; i++) {
        if (!gp_str_eq(name, gp_str_from(gp_schedule_info[i].name)))
            continue;
        *out = (GpScheduleKey)i;
        return true;
    }
    return false;
}

bool gp_schedule_allows(GpScheduleKey key, int64_t value) {
    const GpScheduleInfo *info = &gp_schedule_info[key];
    return value >= info->least && value <= info->most &&
           (!info->is_power || (value & (value - 1)) == 0);
}

void gp_schedule_print_values(GpScheduleKey key, GpText *out) {
    const GpScheduleInfo *info = &gp_schedule_info[key];
    if (!info->is_power) {
        gp_text_printf(out, "%u to %u", info->least, info->most);
        return;
    }
    for (uint32_t v = info->least; v <= info->most; v *= 2)
        gp_text_printf(out, "%s%u", v == info->least ? "" : v == info->most ? " or " : ", ", v);
}

GpSchedule gp_schedule_merge(GpSchedule over, GpSchedule under) {
    for (int i = 0; i < GpScheduleKey_count; i++) {
        uint8_t *v = gp_schedule_at(&over, (GpScheduleKey)i);
        if (!*v)
            *v = *gp_schedule_at(&under, (GpScheduleKey)i);
    }
    return over;
}
