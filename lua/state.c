/* Life cycle of gpulua_state: the hooks between a host, its Lua and the engine. */
#include "lua/state.h"

#include <stdio.h>
#include <stdlib.h>

#include <lualib.h>

#include "core/include/gpulua_lua.h"

/* ---- Hooks the engine calls ---------------------------------------------------------------- */

static void hook_write(void *ud, const char *text, size_t len) {
    gpulua_state *g = ud;
    if (g->config.write) g->config.write(g->config.hook_ud, text, len);
}

static void hook_log(void *ud, const char *text, size_t len) {
    gpulua_state *g = ud;
    if (g->config.log) g->config.log(g->config.hook_ud, text, len);
}

static bool hook_interrupted(void *ud) {
    gpulua_state *g = ud;
    if (g->interrupted) {
        g->interrupted = 0;
        return true;
    }
    return g->config.interrupted && g->config.interrupted(g->config.hook_ud) != 0;
}

/* Two collections: the first runs finalisers, the second frees what they resurrected. */
static void hook_collect(void *ud) {
    gpulua_state *g = ud;
    if (g->is_closed) return;
    lua_gc(g->running, LUA_GCCOLLECT);
    lua_gc(g->running, LUA_GCCOLLECT);
}

static bool hook_name(void *ud, const void *value, GpText *out) {
    gpulua_state *g = ud;
    return !g->is_closed && gp_lua_name(g->running, value, out);
}

/* ---- Opening and closing ------------------------------------------------------------------- */

gpulua_state *gp_state_retain(gpulua_state *g) {
    g->refs++;
    return g;
}

void gp_state_release(gpulua_state *g) {
    if (--g->refs > 0) return;
    gp_diags_release(g->diags);
    gp_diags_release(g->last);
    gp_engine_free(g->engine);
    free(g);
}

static GpEngineConfig engine_config(gpulua_state *g) {
    const gpulua_config *c = &g->config;
    GpEngineConfig e = {
        .alloc = c->alloc,
        .alloc_ud = c->alloc_ud,
        .hooks = {hook_log, hook_write, hook_interrupted, g},
        .device = c->device,
        .runtime = {.hooks = {.collect = hook_collect, .name = hook_name, .ud = g},
                    .libcuda = c->libcuda,
                    .cache_dir = c->cache_dir,
                    .cpu_threads = c->cpu_threads,
                    .cuda_context = c->cuda_context,
                    .ignore_env = c->ignore_environment != 0},
    };
    return e;
}

/* package.preload.gpulua = the module's opener, with the state as upvalue. */
static int preload(lua_State *L) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, luaopen_gpulua, 1);
    lua_setfield(L, -2, "gpulua");
    return 0;
}

static int open_libraries(lua_State *L) {
    luaL_openlibs(L);
    return 0;
}

static gpulua_status prepare_lua(gpulua_state *g) {
    if (g->owns_lua) {
        lua_pushcfunction(g->L, open_libraries);
        if (lua_pcall(g->L, 0, 0, 0) != LUA_OK) return GPULUA_E_NO_MEMORY;
    }
    if (!lua_checkstack(g->L, 4)) return GPULUA_E_NO_MEMORY;
    lua_pushcfunction(g->L, preload);
    lua_pushlightuserdata(g->L, g);
    if (lua_pcall(g->L, 1, 0, 0) != LUA_OK) {
        lua_pop(g->L, 1);
        return GPULUA_E_NO_MEMORY;
    }
    return GPULUA_OK;
}

gpulua_status gp_state_open(lua_State *L, const gpulua_config *config, gpulua_state **out) {
    gpulua_state *g = calloc(1, sizeof(*g));
    *out = NULL;
    if (!g) return GPULUA_E_NO_MEMORY;
    g->refs = 1;
    if (config) memcpy(&g->config, config, GP_MIN(config->size, sizeof(g->config)));
    g->owns_lua = L == NULL;
    if (!L)
        L = g->config.alloc ? lua_newstate(g->config.alloc, g->config.alloc_ud) : luaL_newstate();
    g->L = g->running = L;
    GpEngineConfig e = engine_config(g);
    GpStatus status = L ? gp_engine_new(&e, &g->engine) : GpStatus_NoMemory;
    if (status == GpStatus_Ok) {
        g->diags = gp_diags_new(gp_engine_session(g->engine));
        status = g->diags ? (GpStatus)prepare_lua(g) : GpStatus_NoMemory;
    }
    if (status != GpStatus_Ok) {
        gpulua_close(g);
        return (gpulua_status)status;
    }
    *out = g;
    return GPULUA_OK;
}

GP_API gpulua_status gpulua_open(const gpulua_config *config, gpulua_state **out) {
    return out ? gp_state_open(NULL, config, out) : GPULUA_E_ARGUMENT;
}

GP_API gpulua_status gpulua_open_on(struct lua_State *L, const gpulua_config *config,
                                    gpulua_state **out) {
    return L && out ? gp_state_open(L, config, out) : GPULUA_E_ARGUMENT;
}

GP_API void gpulua_close(gpulua_state *g) {
    if (!g) return;
    if (g->owns_lua && g->L) lua_close(g->L);
    g->is_closed = true;
    gp_state_release(g);
}

GP_API struct lua_State *gpulua_lua(gpulua_state *g) { return g->L; }

GP_API void gpulua_interrupt(gpulua_state *g) { g->interrupted = 1; }

/* ---- Sites and names of the calling Lua code ------------------------------------------------ */

gpulua_state *gp_lua_state(lua_State *L) {
    gpulua_state *g = lua_touserdata(L, lua_upvalueindex(1));
    if (g->is_closed) luaL_error(L, "the gpulua state was closed");
    g->running = L;
    return g;
}

/* The nearest Lua function on the stack: level 0 is the running C function. */
static bool find_caller(lua_State *L, lua_Debug *ar) {
    for (int level = 1; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "S", ar);
        if (*ar->what != 'C') return true;
    }
    return false;
}

GpSite gp_lua_site(lua_State *L) {
    gpulua_state *g = lua_touserdata(L, lua_upvalueindex(1));
    lua_Debug ar;
    if (!find_caller(L, &ar)) return (GpSite){0, 0};
    lua_getinfo(L, "l", &ar);
    return gp_engine_site(g->engine, ar.source, ar.currentline);
}

static bool is_box_of(lua_State *L, int index, const void *object) {
    if (lua_type(L, index) != LUA_TUSERDATA) return false;
    GpBox *box = gp_box_test(L, index, GP_TENSOR);
    if (!box) box = gp_box_test(L, index, GP_PARTITION);
    return box && box->object == object;
}

/* The field of the table at the top of the stack that holds the object. */
static bool find_field(lua_State *L, const char *table, const void *object, GpText *out) {
    if (!lua_istable(L, -1)) return false;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        if (is_box_of(L, -1, object) && lua_type(L, -2) == LUA_TSTRING) {
            if (table) gp_text_printf(out, "%s.", table);
            gp_text_puts(out, lua_tostring(L, -2));
            lua_pop(L, 2);
            return true;
        }
        lua_pop(L, 1);
    }
    return false;
}

typedef const char *(*GpNext)(lua_State *L, lua_Debug *ar, int n);

static const char *next_local(lua_State *L, lua_Debug *ar, int n) { return lua_getlocal(L, ar, n); }
/* The function is at the top of the stack. */
static const char *next_upvalue(lua_State *L, lua_Debug *ar, int n) {
    (void)ar;
    return lua_getupvalue(L, -1, n);
}

/* The last of the variables that is the object (inner ones shadow), else the first table among
** them with a field that is. */
static bool find_variable(lua_State *L, lua_Debug *ar, GpNext next, const void *object, GpText *out) {
    char found[128] = "";
    GpText field = {.session = out->session};
    const char *name;
    for (int n = 1; (name = next(L, ar, n)) != NULL; n++) {
        bool is_named = *name != '(' && *name != '\0' && strcmp(name, "_ENV") != 0;
        if (is_named && is_box_of(L, -1, object)) snprintf(found, sizeof(found), "%s", name);
        else if (is_named && field.len == 0) find_field(L, name, object, &field);
        lua_pop(L, 1);
    }
    if (*found) gp_text_puts(out, found);
    else if (field.len) gp_text_puts(out, gp_text_cstr(&field));
    bool is_found = *found || field.len;
    gp_text_free(&field);
    return is_found;
}

bool gp_lua_name(lua_State *L, const void *object, GpText *out) {
    lua_Debug ar;
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 8) || !find_caller(L, &ar)) return false;
    bool is_found = find_variable(L, &ar, next_local, object, out);
    if (!is_found && lua_getinfo(L, "f", &ar))
        is_found = find_variable(L, &ar, next_upvalue, object, out);
    if (!is_found) {
        lua_pushglobaltable(L);
        is_found = find_field(L, NULL, object, out);
    }
    lua_settop(L, top);
    return is_found;
}
