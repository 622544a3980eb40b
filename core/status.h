/* Status codes of everything that can fail without being a mistake in a kernel. */
#ifndef GP_STATUS_H
#define GP_STATUS_H

#include "core/base.h"

typedef enum GpStatus {
#define GP_STATUS(id, name, value, text) GpStatus_##id = value,
#include "core/status.def"
} GpStatus;

/* "no_driver" for GpStatus_NoDriver: the name users see in Lua and C. Never NULL. */
const char *gp_status_name(GpStatus status);
/* The text of the row. Never NULL. */
const char *gp_status_text(GpStatus status);

#endif
