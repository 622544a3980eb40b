/* Error objects: diagnostics that travel as Lua values. tostring gives the rendered report and
** the traceback, because the stand-alone interpreter prints no traceback of its own for objects. */
#include <stdlib.h>
#include <unistd.h>

#include "lua/state.h"

GpDiags *gp_lua_diags(lua_State *L) { return gp_state_diags(gp_lua_state(L), L); }

GpDiags *gp_state_diags(gpulua_state *g, lua_State *L) {
    if (gp_diags_count(g->diags) > 0) { /* warnings of an earlier call that nobody took */
        GpDiags *old = gp_diags_take(g->diags);
        if (!old) luaL_error(L, "not enough memory");
        gp_diags_release(old);
    }
    return g->diags;
}

/* What push_error hands to make_error; upvalues would have to be allocated. */
typedef struct Report {
    gpulua_state *state;
    GpDiags *diags; /* NULL once the box has them */
    GpStatus status;
} Report;

/* Upvalues of the raising function are out of reach here. Level 1 is that function. */
static int make_error(lua_State *L) {
    Report *r = lua_touserdata(L, 1);
    GpBox *box = gp_box_push(L, GP_ERROR, 1);
    luaL_traceback(L, L, NULL, 2);
    lua_setiuservalue(L, -2, 1);
    gp_box_give(r->state, box, r->diags);
    box->written = (uint32_t)-(int)r->status;
    r->diags = NULL;
    return 1;
}

/* The diagnostics leave the state before anything allocates in Lua, as finalisers that run then
** may report to it. */
void gp_lua_push_error(lua_State *L, GpStatus status) {
    gpulua_state *g = gp_lua_state(L);
    luaL_checkstack(L, 4, NULL);
    if (gp_diags_errors(g->diags) == 0)
        gp_diag(g->diags, GpDiag_G0900, gp_engine_resolve(g->engine, gp_lua_site(L)),
                gp_status_text(status));
    Report r = {g, gp_diags_take(g->diags), status};
    if (!r.diags) luaL_error(L, "not enough memory");
    gp_diags_sort(r.diags);
    lua_pushcfunction(L, make_error);
    lua_pushlightuserdata(L, &r);
    int failed = lua_pcall(L, 1, 1, 0);
    gp_diags_release(r.diags);
    if (failed) lua_error(L);
}

void gp_lua_check(lua_State *L, GpStatus status) {
    if (GP_LIKELY(status == GpStatus_Ok)) return;
    gp_lua_push_error(L, status);
    lua_error(L);
}

int gp_lua_fail(lua_State *L, GpStatus status) {
    if (status == GpStatus_Diagnostics) gp_lua_check(L, status);
    lua_pushnil(L);
    gp_lua_push_error(L, status);
    return 2;
}

/* ---- Methods ------------------------------------------------------------------------------- */

static const GpDiags *check_error(lua_State *L) { return gp_box_check(L, 1, GP_ERROR)->diags; }

static void push_text(lua_State *L, GpText *text) {
    lua_pushlstring(L, gp_text_cstr(text), text->len);
    gp_text_free(text);
}

static bool wants_color(void) {
    return isatty(STDERR_FILENO) && !getenv("NO_COLOR");
}

static int error_tostring(lua_State *L) {
    const GpDiags *diags = check_error(L);
    gpulua_state *g = gp_lua_state(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_diags_render(diags, (GpRenderStyle){.color = wants_color()}, &text);
    push_text(L, &text);
    if (lua_getiuservalue(L, 1, 1) == LUA_TSTRING) {
        lua_pushliteral(L, "\n");
        lua_insert(L, -2);
        lua_concat(L, 3);
    } else {
        lua_pop(L, 1);
    }
    return 1;
}

static int error_render(lua_State *L) {
    const GpDiags *diags = check_error(L);
    gpulua_state *g = gp_lua_state(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_diags_render(diags, (GpRenderStyle){.color = lua_toboolean(L, 2)}, &text);
    push_text(L, &text);
    return 1;
}

static int error_json(lua_State *L) {
    const GpDiags *diags = check_error(L);
    gpulua_state *g = gp_lua_state(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_diags_json(diags, &text);
    push_text(L, &text);
    return 1;
}

/* Pushes the field `name` of diagnostic d; false when it has none of that name. */
static bool push_field(lua_State *L, const GpDiag *d, const char *name) {
    GpPlaceInFile place = gp_span_start(gp_diag_span(d));
    bool has_place = gp_diag_span(d).src != NULL;
    if (strcmp(name, "code") == 0) lua_pushstring(L, gp_diag_row(gp_diag_code(d))->code);
    else if (strcmp(name, "message") == 0) lua_pushstring(L, gp_diag_title(d));
    else if (strcmp(name, "file") == 0 && has_place) lua_pushstring(L, place.file);
    else if (strcmp(name, "line") == 0 && has_place) lua_pushinteger(L, place.line);
    else if (strcmp(name, "column") == 0 && has_place) lua_pushinteger(L, place.column);
    else return false;
    return true;
}

static void push_diagnostics(lua_State *L, const GpDiags *diags) {
    static const char *const names[] = {"code", "message", "file", "line", "column"};
    lua_createtable(L, (int)gp_diags_count(diags), 0);
    for (uint32_t i = 0; i < gp_diags_count(diags); i++) {
        lua_createtable(L, 0, (int)GP_COUNT(names));
        for (size_t n = 0; n < GP_COUNT(names); n++)
            if (push_field(L, gp_diags_at(diags, i), names[n])) lua_setfield(L, -2, names[n]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Methods first (upvalue 2), then the fields of the first diagnostic. */
static int error_index(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_ERROR);
    const char *name = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    if (strcmp(name, "traceback") == 0) {
        lua_getiuservalue(L, 1, 1);
    } else if (strcmp(name, "status") == 0) {
        lua_pushstring(L, gp_status_name((GpStatus)(-(int)box->written)));
    } else if (strcmp(name, "diagnostics") == 0) {
        push_diagnostics(L, box->diags);
    } else if (gp_diags_count(box->diags) == 0 ||
               !push_field(L, gp_diags_at(box->diags, 0), name)) {
        lua_pushnil(L);
    }
    return 1;
}

const GpLuaFn gp_lua_error_methods[] = {
    {"__tostring", error_tostring, "tostring(err) -> string",
     "The report as a person reads it, with the traceback."},
    {"__index", error_index, "err.code, .message, .file, .line, .column, .status, .traceback, .diagnostics",
     "Fields of the first diagnostic, and all of them as a list."},
    {"render", error_render, "err:render([color]) -> string",
     "The report without the traceback, in ANSI colours if asked."},
    {"json", error_json, "err:json() -> string", "One JSON object a line for each diagnostic."},
    {NULL, NULL, NULL, NULL},
};
