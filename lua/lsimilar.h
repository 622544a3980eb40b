/* Names that are looked up and not there (lsimilar.c). */
#ifndef GP_LSIMILAR_H
#define GP_LSIMILAR_H

#include "lua/state.h"

/* The known name that is nearest to `wanted`, by the measure of the kernels' messages: at most a
** third of the letters differ. */
typedef struct GpLuaSimilar {
    const char *wanted;
    const char *name; /* NULL: none is near */
    size_t len;
    uint32_t distance;
} GpLuaSimilar;

void gp_lua_consider(GpLuaSimilar *s, const char *name, size_t len);
/* Raises "`what` has no `wanted`; did you mean `name`?", or pushes nil and returns 1. */
int gp_lua_refuse_similar(lua_State *L, const GpLuaSimilar *s, const char *what);
/* All of it for the name at index 2, which is a string. */
int gp_lua_missing_field(lua_State *L, const char *type, const GpLuaFn *fns);
/* The table at the top of the stack, the methods of a type or (NULL) the module, gets it for what
** is not in it. */
void gp_lua_watch(lua_State *L, const GpLuaType *type);

#endif
