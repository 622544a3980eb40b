/* gpulua inside an application that has a Lua already: scripts of that Lua require "gpulua", the
** application calls the C API, and both work on one state.
**
**   cc existing_state.c $(pkg-config --cflags --libs gpulua lua5.4) && ./a.out
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#endif

#include <gpulua_lua.h>

static const char script[] =
    "local gpu = require 'gpulua'\n"
    "local k = gpu.kernels [[\n"
    "  #[kernel]\n"
    "  fn square(mut x: DisjointSlice<i32>) {\n"
    "      let idx = thread::index_1d();\n"
    "      if let Some(e) = x.get_mut(idx) { *e = *e * *e; }\n"
    "  }\n"
    "]]\n"
    "function squares(n)\n"
    "  local x = gpu.arange(n, 'i32')\n"
    "  k.square(x):sync()\n"
    "  return x:to_table()\n"
    "end\n"
    "application.report('from the script', squares(5))\n";

static const char kernels[] =
    "#[kernel]\n"
    "fn triple(mut x: DisjointSlice<i32>) {\n"
    "    let idx = thread::index_1d();\n"
    "    if let Some(e) = x.get_mut(idx) { *e = 3 * *e; }\n"
    "}\n";

static void write_to(void *file, const char *text, size_t len) {
    fwrite(text, 1, len, (FILE *)file);
}

static int is_ok(gpulua_state *g, gpulua_status status, const char *what) {
    if (status == GPULUA_OK) return 1;
    fprintf(stderr, "%s: %s\n", what, gpulua_status_name(status));
    gpulua_diag_render(g, 0, write_to, stderr);
    return 0;
}

/* The application's own function for scripts: prints a title and a table of integers. */
static int report(lua_State *L) {
    lua_Integer count = luaL_len(L, 2);
    printf("%s:", luaL_checkstring(L, 1));
    for (lua_Integer i = 1; i <= count; i++) {
        lua_geti(L, 2, i);
        printf(" %d", (int)lua_tointeger(L, -1));
        lua_pop(L, 1);
    }
    printf("\n");
    return 0;
}

static void add_application(lua_State *L) {
    lua_newtable(L);
    lua_pushcfunction(L, report);
    lua_setfield(L, -2, "report");
    lua_setglobal(L, "application");
}

static int launch_from_c(gpulua_state *g) {
    int32_t values[5] = {1, 2, 3, 4, 5};
    const int64_t shape[1] = {5};
    gpulua_module *module = NULL;
    gpulua_tensor *x = NULL;
    int ok = is_ok(g, gpulua_compile(g, "triple.rs", kernels, strlen(kernels), &module), "compile") &&
             is_ok(g, gpulua_tensor_new(g, "i32", shape, 1, &x), "tensor") &&
             is_ok(g, gpulua_tensor_write(x, values, sizeof values), "write");
    if (ok) {
        gpulua_arg args[1];
        args[0] = gpulua_arg_tensor(x);
        ok = is_ok(g, gpulua_launch(module, "triple", args, 1, NULL), "launch") &&
             is_ok(g, gpulua_tensor_read(x, values, sizeof values), "read");
    }
    if (ok) {
        printf("from the application:");
        for (int i = 0; i < 5; i++) printf(" %d", (int)values[i]);
        printf("\n");
    }
    gpulua_tensor_free(x);
    gpulua_module_free(module);
    return ok;
}

int main(void) {
    gpulua_state *g = NULL;
    gpulua_config config;
    lua_State *L = luaL_newstate();
    if (!L) return EXIT_FAILURE;
    luaL_openlibs(L);
    add_application(L);
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.write = write_to; /* what scripts print through gpulua */
    config.hook_ud = stdout;
    gpulua_status status = gpulua_open_on(L, &config, &g);
    int ok = status == GPULUA_OK;
    if (!ok) fprintf(stderr, "open: %s\n", gpulua_status_name(status));
    ok = ok && is_ok(g, gpulua_run_string(g, script, strlen(script), "=script"), "script");
    ok = ok && launch_from_c(g);
    /* A Lua error of a script comes back as a status and a diagnostic. */
    if (ok) {
        gpulua_diag diag;
        const char wrong[] = "squares(nil)";
        ok = gpulua_run_string(g, wrong, strlen(wrong), "=wrong") == GPULUA_E_LUA &&
             gpulua_diag_at(g, 0, &diag);
        if (ok) printf("an error: %.*s\n", (int)strcspn(diag.title, "\n"), diag.title);
    }
    gpulua_close(g); /* leaves L open */
    lua_close(L);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
