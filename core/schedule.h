/* The schedule of a tile kernel on a GPU: asked for in a kernel's attribute or by a launch, and
** chosen by the compiler where it is not. */
#ifndef GP_SCHEDULE_H
#define GP_SCHEDULE_H

#include "core/str.h"

/* 0: the compiler's choice. */
typedef struct GpSchedule {
#define GP_SCHEDULE(field, least, most, powers, doc) uint8_t field;
#include "core/schedule.def"
} GpSchedule;

typedef enum GpScheduleKey {
#define GP_SCHEDULE(field, least, most, powers, doc) GpScheduleKey_##field,
#include "core/schedule.def"
    GpScheduleKey_count
} GpScheduleKey;

typedef struct GpScheduleInfo {
    const char *name;
    size_t offset; /* in GpSchedule */
    uint8_t least, most;
    bool is_power; /* of two */
} GpScheduleInfo;
extern const GpScheduleInfo gp_schedule_info[GpScheduleKey_count];

bool gp_schedule_find(GpStr name, GpScheduleKey *out);
static inline uint8_t *gp_schedule_at(GpSchedule *s, GpScheduleKey key) {
    return (uint8_t *)s + gp_schedule_info[key].offset;
}
bool gp_schedule_allows(GpScheduleKey key, int64_t value);
/* "1 to 32", "1, 2, 4 or 8" */
void gp_schedule_print_values(GpScheduleKey key, GpText *out);
/* What `over` says, and for the rest what `under` says. */
GpSchedule gp_schedule_merge(GpSchedule over, GpSchedule under);

/* Why a tile kernel's products run as other operations do. */
typedef enum GpUnpiped {
#define GP_UNPIPED(id, text) GpUnpiped_##id,
#include "core/unpiped.def"
    GpUnpiped_count
} GpUnpiped;
extern const char *const gp_unpiped_text[GpUnpiped_count];

#endif
