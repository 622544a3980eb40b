/* gpu.kernels, and kernels as callable values. */
#include "lua/lsimilar.h"
#include "lua/lua_text.h"
#include "lua/state.h"

/* ---- Modules -------------------------------------------------------------------------------- */

/* Finds `text` in the script that the caller runs, at or after the caller's line: a kernel string
** in long brackets stands there verbatim, and then diagnostics point into the script itself. */
static GpSource *find_in_script(lua_State *L, gpulua_state *g, const char *text, size_t len) {
    GpSpan line = gp_engine_resolve(g->engine, gp_lua_site(L));
    if (!line.src || len == 0) return NULL;
    const char *from = line.src->text + line.off;
    const char *at = memmem(from, line.src->len - line.off, text, len);
    if (!at) return NULL;
    GpPlaceInFile place =
        gp_span_start((GpSpan){line.src, (uint32_t)(at - line.src->text), 0});
    return gp_source_new(gp_engine_session(g->engine), line.src->name, text, len, place.line,
                         place.column);
}

static GpSource *make_source(lua_State *L, gpulua_state *g, const char *text, size_t len,
                             const char *name) {
    GpSource *src = name ? NULL : find_in_script(L, g, text, len);
    if (src) return src;
    if (!name) {
        lua_Debug ar;
        name = gp_lua_caller(L, &ar) ? lua_pushfstring(L, "[kernels at %s:%d]", ar.short_src, ar.currentline) : "[kernels]";
    }
    return gp_source_new(gp_engine_session(g->engine), name, text, len, 1, 1);
}

/* Lints go where Lua's own warnings go: nowhere, unless the host turned them on. */
static void warn(lua_State *L, gpulua_state *g) {
    if (gp_diags_count(g->diags) == 0) return;
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_diags_render(g->diags, (GpRenderStyle){0}, &text);
    lua_warning(L, gp_text_cstr(&text), 0);
    gp_text_free(&text);
}

/* Leaves the module at index 3 on success. */
static GpStatus compile(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    const char *name = luaL_optstring(L, 2, NULL);
    if (len > 3 && strcmp(text + len - 3, ".rs") == 0 && !strpbrk(text, " \n"))
        luaL_argerror(L, 1, "kernels are given as text: assert(io.open(path)):read 'a' is that of a file");
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_MODULE, 1);
    GpSource *src = make_source(L, g, text, len, name);
    GpModule *module = NULL;
    if (!src) return GpStatus_NoMemory;
    GpStatus status = gp_module_new(gp_engine_std(g->engine), src, diags, &module);
    gp_source_release(src);
    if (status == GpStatus_Ok && gp_diags_errors(diags) > 0) status = GpStatus_Diagnostics;
    if (status != GpStatus_Ok) {
        gp_module_release(module);
        return status;
    }
    gp_box_fill(L, box, module);
    warn(L, g);
    return status;
}

static int kernels(lua_State *L) {
    lua_settop(L, 2);
    gp_lua_check(L, compile(L));
    lua_settop(L, 3);
    return 1;
}

static int gpu_try_kernels(lua_State *L) {
    lua_settop(L, 2);
    GpStatus status = compile(L);
    if (status == GpStatus_Ok) {
        lua_settop(L, 3);
        return 1;
    }
    lua_pushnil(L);
    gp_lua_push_error(L, status);
    return 2;
}

/* The name at index 2 is no kernel's: nil, or an error when it is near one, or another function's. */
static int missing_kernel(lua_State *L, gpulua_state *g, const GpModule *m) {
    GpLuaSimilar s = {.wanted = lua_tostring(L, 2)};
    if (gp_module_find_fn(m, gp_str_from(s.wanted))) {
        GpSpan line = gp_engine_resolve(g->engine, gp_lua_site(L));
        GpSpan field = gp_lua_text_field(line, s.wanted);
        gp_module_report_no_kernel(m, s.wanted, field.src ? field : line, gp_lua_diags(L));
        gp_lua_check(L, GpStatus_Diagnostics);
    }
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
        GpSym name = gp_module_kernel_at(m, i)->name;
        gp_lua_consider(&s, name->name, name->len);
    }
    return gp_lua_refuse_similar(L, &s, GP_MODULE);
}

/* One kernel value per name, kept in the module's user value: each remembers the plan of its last
** call. */
static int module_index(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_MODULE);
    gpulua_state *g = gp_lua_state(L);
    size_t len;
    const char *name = luaL_checklstring(L, 2, &len);
    lua_settop(L, 2);
    if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) {
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, 1, 1);
        lua_replace(L, 3);
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 3) != LUA_TNIL) return 1;
    const GpDef *def = gp_module_find_kernel(box->module, (GpStr){name, len});
    if (!def) return missing_kernel(L, g, box->module);
    GpBox *made = gp_box_push(L, GP_KERNEL, 0);
    GpKernel *kernel = NULL;
    gp_lua_check(L, gp_kernel_new(g->engine, box->module, def, &kernel));
    gp_box_fill(L, made, kernel);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 3);
    return 1;
}

static int next_kernel(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_MODULE);
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    if (i >= (lua_Integer)gp_module_kernel_count(box->module)) return 0;
    lua_pushinteger(L, i + 1);
    lua_replace(L, lua_upvalueindex(2));
    lua_pushstring(L, gp_module_kernel_at(box->module, (uint32_t)i)->name->name);
    lua_pushvalue(L, -1);
    lua_gettable(L, 1);
    return 2;
}

static int module_pairs(lua_State *L) {
    gp_box_check(L, 1, GP_MODULE);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_kernel, 2);
    lua_pushvalue(L, 1);
    return 2;
}

static int module_tostring(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_MODULE);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addstring(&b, "kernels {");
    for (uint32_t i = 0; i < gp_module_kernel_count(box->module); i++) {
        luaL_addstring(&b, i ? ", " : " ");
        luaL_addstring(&b, gp_module_kernel_at(box->module, i)->name->name);
    }
    luaL_addstring(&b, " }");
    luaL_pushresult(&b);
    return 1;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

enum { GP_MAX_ARGS = GP_LUA_MAX_ARGS };

/* What binding calls a value that no parameter takes; stays on the stack. */
static const char *describe_other(lua_State *L, int index) {
    if (lua_isnoneornil(L, index)) return "`nil`";
    luaL_checkstack(L, 2, "too many arguments");
    bool has_name = luaL_getmetafield(L, index, "__name") == LUA_TSTRING;
    if (has_name) return lua_pushfstring(L, "a `%s`", lua_tostring(L, -1));
    return lua_pushfstring(L, "a %s", luaL_typename(L, index));
}

static void read_arg(lua_State *L, int index, GpCallArg *arg) {
    const GpBox *box = gp_box_at(L, index);
    const char *boxed = box && box->object ? box->type : NULL;
    int type = boxed ? LUA_TUSERDATA : lua_type(L, index);
    if (boxed == GP_TENSOR)
        *arg = (GpCallArg){.kind = GpArg_Tensor, .tensor = box->tensor};
    else if (boxed == GP_PARTITION)
        *arg = (GpCallArg){.kind = GpArg_Partition, .partition = box->partition};
    else if (type == LUA_TNUMBER && lua_isinteger(L, index))
        *arg = (GpCallArg){.kind = GpArg_Int, .i = lua_tointeger(L, index)};
    else if (type == LUA_TNUMBER)
        *arg = (GpCallArg){.kind = GpArg_Float, .f = lua_tonumber(L, index)};
    else if (type == LUA_TBOOLEAN)
        *arg = (GpCallArg){.kind = GpArg_Bool, .i = lua_toboolean(L, index)};
    else if (gp_box_test(L, index, GP_MODULE))
        luaL_error(L, "a module is no argument: kernels are called with a dot, `k.name(..)`");
    else
        *arg = (GpCallArg){.kind = GpArg_Other, .other = describe_other(L, index)};
}

/* Bit i: the kernel writes argument i. */
static uint64_t find_written(const GpRunRequest *request) {
    uint64_t written = 0;
    for (uint32_t i = 0; i < request->arg_count; i++)
        if (request->args[i].tensor && request->args[i].access != GpAccess_Read)
            written |= UINT64_C(1) << i;
    return written;
}

/* The number of the first of them, and leaves it out of the rest. */
static int take_written(uint64_t *written) {
    int i = __builtin_ctzll(*written);
    *written &= *written - 1;
    return i;
}

/* Stores those as the op's user values, in parameter order. */
static uint32_t keep_written(lua_State *L, int op, uint64_t written) {
    uint32_t count = 0;
    while (written) {
        lua_pushvalue(L, take_written(&written) + 2);
        lua_setiuservalue(L, op, (int)++count);
    }
    return count;
}

uint32_t gp_lua_read_args(lua_State *L, int first, int last, GpCallArg *args) {
    int count = last - first + 1;
    if (count > GP_MAX_ARGS) luaL_error(L, "more than %d kernel arguments", GP_MAX_ARGS);
    for (int i = 0; i < count; i++) read_arg(L, first + i, &args[i]);
    return (uint32_t)count;
}

static uint32_t read_args(lua_State *L, GpCallArg *args) {
    return gp_lua_read_args(L, 2, lua_gettop(L), args);
}

static int count_tensors(const GpCallArg *args, uint32_t count) {
    int tensors = 0;
    for (uint32_t i = 0; i < count; i++)
        tensors += args[i].kind == GpArg_Tensor || args[i].kind == GpArg_Partition;
    return tensors;
}

static int kernel_call(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_KERNEL);
    gpulua_state *g = gp_lua_state(L);
    GpCallArg args[GP_MAX_ARGS];
    GpRunRequest request;
    GpRunOp *op = NULL;
    uint32_t count = read_args(L, args);
    /* First: a finaliser that runs now may call this kernel, and the request is its last call's. */
    GpBox *made = gp_box_push(L, GP_RUN_OP, count_tensors(args, count));
    GpDiags *diags = gp_state_diags(g, L);
    GpSite site = gp_state_site(g, L);
    gp_lua_check(L, gp_kernel_prepare(box->kernel, args, count, site, diags, &request));
    uint64_t written = find_written(&request);
    gp_lua_check(L, gp_op_make(gp_engine_runtime(g->engine), &request, diags, &op));
    gp_box_fill(L, made, op);
    made->written = keep_written(L, lua_gettop(L), written);
    return 1;
}

/* The launch without an op; `written` (may be NULL) gets the bits of the written arguments. */
static void launch(lua_State *L, GpKernel *kernel, uint64_t *written) {
    gpulua_state *g = gp_lua_state(L);
    GpCallArg args[GP_MAX_ARGS];
    GpRunRequest request;
    uint32_t count = read_args(L, args);
    GpDiags *diags = gp_state_diags(g, L);
    gp_lua_check(L, gp_kernel_prepare(kernel, args, count, gp_state_site(g, L), diags, &request));
    if (written) *written = find_written(&request);
    gp_lua_check(L, gp_launch_now(gp_engine_runtime(g->engine), &request, NULL, diags));
}

static GpTensor *tensor_of(lua_State *L, int index) {
    GpBox *box = gp_box_test(L, index, GP_TENSOR);
    return box ? box->tensor : gp_partition_tensor(gp_box_check(L, index, GP_PARTITION)->partition);
}

static int kernel_run(lua_State *L) {
    launch(L, gp_box_check(L, 1, GP_KERNEL)->kernel, NULL);
    return 0;
}

static int kernel_sync(lua_State *L) {
    GpKernel *kernel = gp_box_check(L, 1, GP_KERNEL)->kernel;
    int top = lua_gettop(L);
    uint64_t written = 0;
    launch(L, kernel, &written);
    luaL_checkstack(L, GP_MAX_ARGS, "too many results");
    while (written) {
        int at = take_written(&written) + 2;
        gp_lua_check(L, gp_tensor_sync(tensor_of(L, at), gp_lua_site(L), gp_lua_diags(L)));
        lua_pushvalue(L, at);
    }
    return lua_gettop(L) - top;
}

/* ---- Options -------------------------------------------------------------------------------- */

/* The number at the top, also one like 64 / 2. */
static lua_Integer read_integer(lua_State *L, const char *name) {
    int is_integer;
    lua_Integer value = lua_tointegerx(L, -1, &is_integer);
    bool is_text = lua_type(L, -1) == LUA_TSTRING;
    if (!is_integer || is_text)
        luaL_error(L, is_text ? "`%s` wants an integer, got \"%s\"" : "`%s` wants an integer, got %s", name, luaL_tolstring(L, -1, NULL));
    return value;
}

/* Reads {8}, {8, 4} or 8 as up to three positive extents; the rest are 1. */
static void read_extents(lua_State *L, int index, const char *name, uint32_t out[3]) {
    lua_Integer given[3] = {1, 1, 1};
    int count = 1;
    if (lua_istable(L, index)) {
        count = (int)luaL_len(L, index);
        if (count < 1 || count > 3) luaL_error(L, "`%s` wants one to three extents", name);
        for (int i = 0; i < count; i++) {
            lua_geti(L, index, i + 1);
            given[i] = read_integer(L, name);
            lua_pop(L, 1);
        }
    } else {
        given[0] = read_integer(L, name);
    }
    for (int i = 0; i < 3; i++) {
        if (given[i] < 1 || given[i] > UINT32_MAX)
            luaL_error(L, "`%s` wants extents from 1 to %I, got %I", name, (LUAI_UACINT)UINT32_MAX, (LUAI_UACINT)given[i]);
        out[i] = (uint32_t)given[i];
    }
}

/* {128, 64}, the value of a generic of type [i32; N]. */
static void read_list(lua_State *L, int index, const char *name, GpShape *out) {
    lua_Integer count = luaL_len(L, index);
    if (count < 1 || count > GP_MAX_RANK)
        luaL_error(L, "`%s` wants one to %d integers", name, GP_MAX_RANK);
    for (out->rank = 0; out->rank < count; out->rank++) {
        lua_geti(L, index, out->rank + 1);
        out->dim[out->rank] = read_integer(L, name);
        lua_pop(L, 1);
    }
}

/* An integer; `persistent` also is a boolean, and `cluster` also {2}. */
static int64_t read_schedule(lua_State *L, const char *name, GpScheduleKey key) {
    if (key == GpScheduleKey_persistent) {
        if (!lua_isboolean(L, -1)) luaL_error(L, "`%s` wants a boolean", name);
        return lua_toboolean(L, -1) ? 2 : 1;
    }
    bool is_list = key == GpScheduleKey_cluster && lua_istable(L, -1) && luaL_len(L, -1) == 1;
    if (is_list) lua_geti(L, -1, 1);
    lua_Integer value = read_integer(L, name);
    if (is_list) lua_pop(L, 1);
    return value;
}

static void read_option(lua_State *L, GpKernelOptions *options, GpNamedArg *named) {
    if (lua_type(L, -2) != LUA_TSTRING) luaL_error(L, "options are given by name");
    const char *name = lua_tostring(L, -2);
    GpScheduleKey key;
    if (strcmp(name, "grid") == 0) {
        read_extents(L, lua_gettop(L), name, options->grid);
    } else if (strcmp(name, "block") == 0) {
        read_extents(L, lua_gettop(L), name, options->block);
    } else if (strcmp(name, "shared") == 0) {
        lua_Integer bytes = read_integer(L, name);
        if (bytes < 0 || bytes > UINT32_MAX) luaL_error(L, "`shared` wants a number of bytes");
        options->shared_bytes = (uint32_t)bytes;
    } else if (strcmp(name, "stream") == 0) {
        options->stream = gp_box_check(L, lua_gettop(L), GP_STREAM)->stream;
    } else if (gp_schedule_find(gp_str_from(name), &key)) {
        options->schedule[key] = read_schedule(L, name, key);
    } else {
        GpNamedArg *arg = &named[options->named_count++];
        memset(arg, 0, sizeof(*arg));
        arg->name = gp_str_from(name);
        if (lua_isboolean(L, -1)) {
            arg->value = lua_toboolean(L, -1);
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            arg->value = read_integer(L, name);
        } else if (lua_type(L, -1) == LUA_TSTRING) {
            arg->kind = GpNamed_Text;
            arg->text.at = lua_tolstring(L, -1, &arg->text.len);
        } else if (lua_istable(L, -1)) {
            arg->kind = GpNamed_Shape;
            read_list(L, lua_gettop(L), name, &arg->shape);
        } else {
            luaL_error(L, "option `%s` wants an integer, a boolean, a type name or a list of integers, got %s", name,
                       luaL_tolstring(L, -1, NULL));
        }
    }
}

static int kernel_with(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_KERNEL);
    GpNamedArg named[GP_MAX_ARGS];
    GpKernelOptions options = {.named = named};
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    lua_pushnil(L);
    while (lua_next(L, 2)) {
        if (options.named_count == GP_MAX_ARGS) luaL_error(L, "too many options");
        read_option(L, &options, named);
        lua_settop(L, 3);
    }
    GpDiags *diags = gp_lua_diags(L);
    GpBox *made = gp_box_push(L, GP_KERNEL, 0);
    GpKernel *kernel = NULL;
    gp_lua_check(L, gp_kernel_with(box->kernel, &options, gp_lua_site(L), diags, &kernel));
    gp_box_fill(L, made, kernel);
    return 1;
}

/* ---- Inspection ----------------------------------------------------------------------------- */

static GpStage check_stage(lua_State *L, int index) {
    const char *name = luaL_optstring(L, index, "ir");
    GpStage stage = GpStage_Ir;
    if (!gp_engine_stage(name, &stage))
        luaL_argerror(L, index, lua_pushfstring(L, "invalid option '%s'", name));
    return stage;
}

static int refuse_target(lua_State *L, const char *name) {
    GpText known = {.session = gp_engine_session(gp_lua_state(L)->engine)};
    gp_target_print_all(&known);
    lua_pushstring(L, gp_text_cstr(&known));
    gp_text_free(&known);
    return luaL_error(L, "unknown target '%s'; targets are %s", name, lua_tostring(L, -1));
}

static int kernel_inspect(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_KERNEL);
    gpulua_state *g = gp_lua_state(L);
    GpStage stage = check_stage(L, 2);
    const char *target_name = luaL_optstring(L, 3, NULL);
    GpTarget target = {.kind = GpTarget_Cpu};
    GpDiags *diags = gp_lua_diags(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    if (target_name) {
        if (gp_target_parse(gp_str_from(target_name), &target) != GpStatus_Ok)
            return refuse_target(L, target_name);
    } else {
        gp_lua_check(L, gp_engine_stage_target(g->engine, stage, diags, &target));
    }
    GpStatus status = gp_kernel_emit(box->kernel, stage, &target, diags, &text);
    if (status == GpStatus_Ok) lua_pushlstring(L, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    gp_lua_check(L, status);
    return 1;
}

static void set_number(lua_State *L, const char *name, uint32_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void push_schedule(lua_State *L, GpSchedule schedule) {
    for (int i = 0; i < GpScheduleKey_count; i++)
        set_number(L, gp_schedule_info[i].name, *gp_schedule_at(&schedule, (GpScheduleKey)i));
    lua_pushboolean(L, schedule.persistent == 2);
    lua_setfield(L, -2, gp_schedule_info[GpScheduleKey_persistent].name);
}

static int kernel_info(lua_State *L) {
    GpKernel *kernel = gp_box_check(L, 1, GP_KERNEL)->kernel;
    GpCallArg args[GP_MAX_ARGS];
    GpRunRequest request;
    gpulua_launch_info info;
    uint32_t count = read_args(L, args);
    gp_lua_check(L, gp_kernel_prepare(kernel, args, count, gp_lua_site(L), gp_lua_diags(L), &request));
    gp_lua_check(L, gp_kernel_info(kernel, &request, &info));
    lua_newtable(L);
    lua_pushstring(L, info.device);
    lua_setfield(L, -2, "device");
    if (!info.threads) return 1;
    set_number(L, "threads", info.threads);
    set_number(L, "registers", info.registers);
    set_number(L, "local_bytes", info.local_bytes);
    set_number(L, "shared_bytes", info.shared_bytes);
    set_number(L, "blocks", info.blocks);
    lua_pushnumber(L, info.occupancy);
    lua_setfield(L, -2, "occupancy");
    if (info.warps) push_schedule(L, gp_exec_image(request.exec)->schedule);
    if (!info.unpiped) return 1;
    lua_pushstring(L, info.unpiped);
    lua_setfield(L, -2, "unpiped");
    return 1;
}

static int kernel_tostring(lua_State *L) {
    GpBox *box = gp_box_check(L, 1, GP_KERNEL);
    lua_pushfstring(L, "kernel %s", gp_kernel_name(box->kernel));
    return 1;
}

const GpLuaFn gp_lua_kernel_functions[] = {
    {"kernels", kernels, "kernels(source [, name]) -> Module",
     "Checks the kernels of a source text. Raises the report when it is refused. `name` is shown "
     "in diagnostics; without it they point into the script."},
    {"try_kernels", gpu_try_kernels, "try_kernels(source [, name]) -> Module | nil, err",
     "As kernels, but returns nil and the error."},
    {NULL, NULL, NULL, NULL},
};

const GpLuaFn gp_lua_module_methods[] = {
    {"__index", module_index, "module.NAME -> Kernel | nil", "The kernel of that name; an error when the name is near a kernel's."},
    {"__pairs", module_pairs, "pairs(module) -> name, Kernel", "The kernels in source order."},
    {"__tostring", module_tostring, "tostring(module) -> string", "The kernels' names."},
    {NULL, NULL, NULL, NULL},
};

const GpLuaFn gp_lua_kernel_methods[] = {
    {"__call", kernel_call, "kernel(args..) -> Op",
     "Checks the arguments, infers generics and grid, and makes an op that is not run yet."},
    {"run", kernel_run, "kernel:run(args..)",
     "Checks the arguments and enqueues the launch at once, with no op to hold: the cheapest launch."},
    {"sync", kernel_sync, "kernel:sync(args..) -> written arguments..",
     "The same, and waits for what it wrote; raises its failed check if there is one."},
    {"with", kernel_with, "kernel:with{T = dtype, N = n, S = {n, ..}, grid = {..}, block = {..}, shared = bytes, stream = s} -> Kernel",
     "The kernel with generics and launch options fixed; reusable, and the fast path. `warps`, "
     "`stages`, `cluster` and `persistent` override what the compiler chooses on a GPU; `info` tells "
     "what it granted."},
    {"inspect", kernel_inspect, "kernel:inspect(stage [, target]) -> string",
     "The text of a stage, \"ir\", \"llvm\", \"ptx\" or \"asm\", of what was launched last or of "
     "what its options give."},
    {"info", kernel_info,
     "kernel:info(args..) -> {device, threads, registers, local_bytes, shared_bytes, blocks, occupancy, warps, stages, cluster, persistent, unpiped}",
     "What such a launch takes of a GPU: threads a block, registers and bytes of local memory (spills) a "
     "thread, shared memory a block, blocks a multiprocessor holds at once and the part of its threads "
     "that they are; and the schedule that the compiler chose for a tile kernel. `unpiped` says why a "
     "kernel with products is not warp-specialised, where it is not. On the CPU only `device`. Compiles, and does not launch."},
    {"__tostring", kernel_tostring, "tostring(kernel) -> string", "Its name."},
    {NULL, NULL, NULL, NULL},
};
