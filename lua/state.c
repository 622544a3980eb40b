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

/* Two collections: the first runs finalisers, the second frees what they resurrected. Finalisers
** in Lua may call us: the call being served keeps its diagnostics. */
static void hook_collect(void *ud) {
    gpulua_state *g = ud;
    lua_State *running = g->running, *L = running ? running : g->L;
    if (g->is_closed) return;
    GpDiags *mine = g->diags, *own = gp_diags_new(gp_engine_session(g->engine));
    g->diags = own ? own : mine;
    if (running) gp_lua_clear_dead(L);
    lua_gc(L, LUA_GCCOLLECT);
    lua_gc(L, LUA_GCCOLLECT);
    gp_diags_release(own);
    g->diags = mine;
    g->running = running;
}

static bool hook_name(void *ud, const void *value, GpText *out, GpSpan *at) {
    gpulua_state *g = ud;
    return !g->is_closed && g->running && gp_lua_name(g->running, g, value, out, at);
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
    gp_text_free(&g->text);
    gp_text_free(&g->typed);
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

/* package.preload.gpulua = the module's opener, with the state as upvalue. The module of an
** earlier state is forgotten. */
static int preload(lua_State *L) {
    gpulua_state *g = lua_touserdata(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    gp_lua_push_anchor(L, g, false);
    lua_pushcclosure(L, luaopen_gpulua, 1);
    lua_setfield(L, -2, "gpulua");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushnil(L);
    lua_setfield(L, -2, "gpulua");
    return 0;
}

/* The coroutine that opens a state may die before it. */
static lua_State *main_thread(lua_State *L) {
    if (!lua_checkstack(L, 1)) return L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *main = lua_tothread(L, -1);
    lua_pop(L, 1);
    return main ? main : L;
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
    g->L = L ? main_thread(L) : NULL;
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
    if (g->is_closed) return;
    if (g->owns_lua && g->L) lua_close(g->L);
    g->is_closed = true;
    g->L = g->running = NULL;
    gp_engine_close(g->engine);
    gp_state_release(g);
}

GP_API struct lua_State *gpulua_lua(gpulua_state *g) { return g ? g->L : NULL; }

GP_API void gpulua_interrupt(gpulua_state *g) {
    if (!g) return;
    g->interrupted = 1;
}

/* ---- The calling Lua code ------------------------------------------------------------------- */

typedef struct Anchor {
    gpulua_state *state;
    bool closes;
} Anchor;

static int drop_anchor(lua_State *L) {
    Anchor *a = lua_touserdata(L, 1);
    Anchor old = *a;
    a->state = NULL;
    if (!old.state) return 0;
    /* Lua finalises nothing that is made while it closes: what finalisers made goes here. */
    if (--old.state->anchors == 0)
        while (old.state->boxes) gp_box_empty(old.state->boxes);
    gp_assert(old.state->is_closed || old.state->refs > 1); /* the opener's, and the anchor's */
    if (old.closes) gpulua_close(old.state);
    gp_state_release(old.state);
    return 0;
}

void gp_lua_push_anchor(lua_State *L, gpulua_state *g, bool closes) {
    Anchor *a = lua_newuserdatauv(L, sizeof(*a), 0);
    a->state = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, drop_anchor);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    *a = (Anchor){gp_state_retain(g), closes};
    g->anchors++;
}

gpulua_state *gp_lua_anchored(lua_State *L, int index) {
    Anchor *a = lua_touserdata(L, index);
    return a ? a->state : NULL;
}

gpulua_state *gp_lua_state(lua_State *L) {
    gpulua_state *g = gp_lua_anchored(L, lua_upvalueindex(1));
    if (!g || g->is_closed) return luaL_error(L, "the gpulua state was closed"), NULL;
    g->running = L;
    return g;
}

bool gp_lua_caller(lua_State *L, lua_Debug *ar) {
    for (int level = 1; lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "Sl", ar);
        if (*ar->what != 'C') return true;
    }
    return false;
}

void gp_state_type(gpulua_state *g, const char *name, const char *text) {
    gp_text_free(&g->typed);
    g->typed = (GpText){.session = gp_engine_session(g->engine)};
    gp_text_printf(&g->typed, "%s\n%s", name, text);
}

/* Functions that were typed before are of a text that is gone. */
const char *gp_state_chunk(const gpulua_state *g, const lua_Debug *ar) {
    size_t len = strlen(ar->source);
    bool is_typed = g->typed.len > len && *ar->what == 'm' && g->typed.at[len] == '\n' &&
                    memcmp(g->typed.at, ar->source, len) == 0;
    return is_typed ? gp_text_cstr(&g->typed) : ar->source;
}

GpSite gp_lua_site(lua_State *L) { return gp_state_site(gp_lua_state(L), L); }

/* The registry keeps the function that called last, so that its address and those in its code stay its
** own. */
GpSite gp_state_site(gpulua_state *g, lua_State *L) {
    lua_Debug ar;
    if (lua_getstack(L, 1, &ar)) {
        GpLuaPlace place = gp_lua_place(&ar);
        bool is_known = place.function == g->caller.function;
        if (is_known && place.pc != g->caller.pc && lua_getinfo(L, "l", &ar)) {
            g->caller.pc = place.pc;
            g->caller_site.line = (uint32_t)GP_MAX(ar.currentline, 0);
        }
        if (is_known) return g->caller_site;
    }
    if (!gp_lua_caller(L, &ar)) return (GpSite){0, 0};
    GpSite site = gp_engine_site(g->engine, gp_state_chunk(g, &ar), ar.currentline);
    if (lua_checkstack(L, 2) && lua_getinfo(L, "f", &ar)) {
        lua_rawsetp(L, LUA_REGISTRYINDEX, &g->caller);
        g->caller = gp_lua_place(&ar);
        g->caller_site = site;
    }
    return site;
}
