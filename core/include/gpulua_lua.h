/* For hosts that load gpulua as a Lua module: lua_CFunctions only. Include lua.h before. */
#ifndef GPULUA_LUA_H
#define GPULUA_LUA_H

#include <lua.h>

#include "gpulua.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `require "gpulua"`: pushes the module's table. Opens a state with default configuration on L
** unless gpulua_open_on did before. */
GPULUA_API int luaopen_gpulua(lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
