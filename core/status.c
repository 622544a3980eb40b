/* Names and texts of status codes, from status.def. */
#include "core/status.h"

const char *gp_status_name(GpStatus status) {
    switch (status) {
#define GP_STATUS(id, name, value, text)                                                           \
    case GpStatus_##id:                                                                            \
        return name;
#include "core/status.def"
    }
    return "unknown";
}

const char *gp_status_text(GpStatus status) {
    switch (status) {
#define GP_STATUS(id, name, value, text)                                                           \
    case GpStatus_##id:                                                                            \
        return text;
#include "core/status.def"
    }
    return "unknown status";
}
