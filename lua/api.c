/* The C API over the engine: handles, conversions, and the diagnostics of the last call. The Lua
** module goes through the same engine and runtime functions, so the verdicts are the same. */
#include <stdlib.h>

#include "lua/api.h"

GP_API const char *gpulua_version(void) { return GPULUA_VERSION; }

GP_API const char *gpulua_status_name(gpulua_status status) {
    return gp_status_name((GpStatus)status);
}

/* ---- Diagnostics of the last call ----------------------------------------------------------- */

GpDiags *gp_api_begin(gpulua_state *g) {
    g->running = NULL;
    gp_diags_release(g->last);
    gp_text_free(&g->text);
    g->text = (GpText){.session = gp_engine_session(g->engine)};
    g->last = gp_diags_new(gp_engine_session(g->engine));
    return g->last;
}

gpulua_status gp_api_end(gpulua_state *g, GpStatus status) {
    if (status != GpStatus_Ok && g->last && gp_diags_errors(g->last) == 0)
        gp_diag(g->last, GpDiag_G0900, GP_NO_SPAN, gp_status_text(status));
    if (g->last) gp_diags_sort(g->last);
    return (gpulua_status)status;
}

gpulua_status gp_api_missing(gpulua_state *g) {
    if (!g) return GPULUA_E_ARGUMENT;
    return gp_api_begin(g) ? gp_api_end(g, GpStatus_Argument) : GPULUA_E_NO_MEMORY;
}

GP_API size_t gpulua_diag_count(const gpulua_state *g) {
    return g && g->last ? gp_diags_count(g->last) : 0;
}

GP_API int gpulua_diag_at(const gpulua_state *g, size_t i, gpulua_diag *out) {
    if (i >= gpulua_diag_count(g) || !out) return 0;
    const GpDiag *d = gp_diags_at(g->last, (uint32_t)i);
    GpSpan span = gp_diag_span(d);
    GpPlaceInFile place = gp_span_start(span);
    out->code = gp_diag_row(gp_diag_code(d))->code;
    out->severity = (gpulua_severity)gp_diag_severity(d);
    out->title = gp_diag_title(d);
    out->file = span.src ? place.file : NULL;
    out->line = place.line;
    out->column = place.column;
    return 1;
}

static void write_text(GpText *text, void (*write)(void *, const char *, size_t), void *ud) {
    if (text->len) write(ud, gp_text_cstr(text), text->len);
    gp_text_free(text);
}

GP_API void gpulua_diag_render(const gpulua_state *g, int color,
                               void (*write)(void *ud, const char *text, size_t len), void *ud) {
    if (!g) return;
    GpText text = {.session = gp_engine_session(g->engine)};
    if (g->last) gp_diags_render(g->last, (GpRenderStyle){.color = color != 0}, &text);
    write_text(&text, write, ud);
}

GP_API void gpulua_diag_json(const gpulua_state *g,
                             void (*write)(void *ud, const char *text, size_t len), void *ud) {
    if (!g) return;
    GpText text = {.session = gp_engine_session(g->engine)};
    if (g->last) gp_diags_json(g->last, &text);
    write_text(&text, write, ud);
}

/* ---- Scripts -------------------------------------------------------------------------------- */

typedef struct Script {
    const char *path; /* NULL: a text */
    const char *text, *name;
    size_t len;
    int status;
} Script;

static int load_script(lua_State *L) {
    Script *s = lua_touserdata(L, 1);
    s->status = s->path ? luaL_loadfile(L, s->path) : luaL_loadbuffer(L, s->text, s->len, s->name);
    return 1;
}

/* Where errors can be caught, as those of a __tostring. */
static int describe_error(lua_State *L) {
    const char *message = luaL_tolstring(L, 1, NULL);
    if (lua_type(L, 1) == LUA_TSTRING) luaL_traceback(L, L, message, 1);
    return 1;
}

/* Leaves a message on the stack when it fails. */
static int run_loaded(lua_State *L) {
    lua_pushcfunction(L, describe_error);
    lua_insert(L, -2);
    int status = lua_pcall(L, 0, 0, -2);
    lua_remove(L, status == LUA_OK ? -1 : -2);
    return status;
}

static gpulua_status run_script(gpulua_state *g, Script *s) {
    lua_State *L = g->L;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!lua_checkstack(L, 3)) return gp_api_end(g, GpStatus_NoMemory);
    lua_pushcfunction(L, load_script);
    lua_pushlightuserdata(L, s);
    int status = lua_pcall(L, 1, 1, 0);
    if (status == LUA_OK) status = s->status;
    if (status == LUA_OK) status = run_loaded(L);
    if (status == LUA_OK) return gp_api_end(g, GpStatus_Ok);
    bool is_text = lua_type(L, -1) == LUA_TSTRING;
    gp_diag(diags, GpDiag_G0900, GP_NO_SPAN, is_text ? lua_tostring(L, -1) : "an error that cannot be shown");
    lua_pop(L, 1);
    return gp_api_end(g, status == LUA_ERRMEM ? GpStatus_NoMemory : GpStatus_Lua);
}

GP_API gpulua_status gpulua_run_file(gpulua_state *g, const char *path) {
    if (!g || !path) return gp_api_missing(g);
    return run_script(g, &(Script){.path = path});
}

GP_API gpulua_status gpulua_run_string(gpulua_state *g, const char *text, size_t len,
                                       const char *chunk_name) {
    if (!g || (!text && len)) return gp_api_missing(g);
    return run_script(g, &(Script){.text = text, .len = len, .name = chunk_name ? chunk_name : "=(string)"});
}

/* ---- Devices -------------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_gpu_count(gpulua_state *g, uint32_t *count) {
    if (!g || !count) return gp_api_missing(g);
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    *count = gp_device_count(gp_engine_runtime(g->engine), diags);
    return GPULUA_OK;
}

GP_API gpulua_status gpulua_use_device(gpulua_state *g, const char *name) {
    if (!g) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(g, gp_engine_use(g->engine, gp_str_from(name ? name : "auto"), diags));
}

GP_API gpulua_status gpulua_device_name(gpulua_state *g, const char **name) {
    GP_API_NEEDS(g, name);
    GpDevice *device = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    GpStatus status = gp_engine_device(g->engine, diags, &device);
    *name = status == GpStatus_Ok ? gp_device_info(device)->name : NULL;
    return gp_api_end(g, status);
}

GP_API gpulua_status gpulua_sync(gpulua_state *g) {
    if (!g) return GPULUA_E_ARGUMENT;
    GpDevice *device = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    GpStatus status = gp_engine_device(g->engine, diags, &device);
    if (status == GpStatus_Ok) status = gp_device_sync(device, diags);
    return gp_api_end(g, status);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

bool gp_api_refuse(GpDiags *diags, const char *fmt, ...) {
    char text[80];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    gp_diag(diags, GpDiag_G0900, GP_NO_SPAN, text);
    return false;
}

bool gp_api_shape(const int64_t *dims, size_t rank, GpDiags *diags, GpShape *out) {
    memset(out, 0, sizeof(*out));
    if (rank > GP_MAX_RANK) return gp_api_refuse(diags, "rank %zu is more than %d", rank, GP_MAX_RANK);
    if (rank && !dims) return gp_api_refuse(diags, "a shape of rank %zu has no extents", rank);
    out->rank = (uint8_t)rank;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return gp_api_refuse(diags, "extent %lld on axis %zu is negative", (long long)dims[i], i);
        out->dim[i] = dims[i];
    }
    return true;
}

bool gp_api_elem(gpulua_state *g, const char *name, GpElem *out) {
    if (name && gp_elem_find(gp_str_from(name), out)) return true;
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_text_printf(&text, "unknown dtype `%s`; dtypes are ", name ? name : "NULL");
    gp_elem_print_all(&text);
    gp_diag(g->last, GpDiag_G0900, GP_NO_SPAN, gp_text_cstr(&text));
    gp_text_free(&text);
    return false;
}

GpStatus gp_api_wrap_tensor(gpulua_state *g, GpTensor *t, gpulua_tensor **out) {
    gpulua_tensor *handle = malloc(sizeof(*handle));
    if (!handle) {
        gp_tensor_release(t);
        return GpStatus_NoMemory;
    }
    *handle = (gpulua_tensor){gp_state_retain(g), t};
    *out = handle;
    return GpStatus_Ok;
}

static GpStatus make_zeros(gpulua_state *g, GpElem elem, const GpShape *shape, GpTensor **out) {
    GpDevice *device = NULL;
    GpScalar zero = {.elem = elem};
    GpStatus status = gp_engine_device(g->engine, g->last, &device);
    if (status == GpStatus_Ok)
        status = gp_tensor_new(device, elem, shape, gp_api_site(), g->last, out);
    if (status != GpStatus_Ok) return status;
    status = gp_tensor_fill(*out, zero, gp_api_site(), g->last);
    if (status != GpStatus_Ok) gp_tensor_release(*out);
    return status;
}

GP_API gpulua_status gpulua_tensor_new(gpulua_state *g, const char *dtype, const int64_t *shape,
                                       size_t rank, gpulua_tensor **out) {
    GP_API_NEEDS(g, out);
    GpElem elem;
    GpShape dims;
    GpTensor *t = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!gp_api_elem(g, dtype, &elem) || !gp_api_shape(shape, rank, diags, &dims))
        return gp_api_end(g, GpStatus_Argument);
    GpStatus status = make_zeros(g, elem, &dims, &t);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(g, t, out);
    return gp_api_end(g, status);
}

GP_API void gpulua_tensor_free(gpulua_tensor *t) {
    if (!t) return;
    gp_tensor_release(t->tensor);
    gp_state_release(t->state);
    free(t);
}

GP_API const char *gpulua_tensor_dtype(const gpulua_tensor *t) {
    return t ? gp_elem_info[gp_tensor_elem(t->tensor)].name : NULL;
}
GP_API size_t gpulua_tensor_rank(const gpulua_tensor *t) { return t ? gp_tensor_shape(t->tensor)->rank : 0; }
GP_API int64_t gpulua_tensor_extent(const gpulua_tensor *t, size_t axis) {
    if (!t) return 0;
    const GpShape *shape = gp_tensor_shape(t->tensor);
    return axis < shape->rank ? shape->dim[axis] : 0;
}
GP_API size_t gpulua_tensor_bytes(const gpulua_tensor *t) { return t ? (size_t)gp_tensor_bytes(t->tensor) : 0; }
GP_API uint64_t gpulua_tensor_address(const gpulua_tensor *t) { return t ? gp_tensor_address(t->tensor) : 0; }

GP_API gpulua_status gpulua_tensor_write(gpulua_tensor *t, const void *from, size_t bytes) {
    if (!t || (!from && bytes)) return gp_api_missing(GP_API_STATE(t));
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(t->state, gp_tensor_write(t->tensor, from, bytes, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_tensor_read(gpulua_tensor *t, void *to, size_t bytes) {
    if (!t || (!to && bytes)) return gp_api_missing(GP_API_STATE(t));
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(t->state, gp_tensor_read(t->tensor, to, bytes, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_tensor_reshape(gpulua_tensor *t, const int64_t *shape, size_t rank,
                                           gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    GpShape dims;
    GpTensor *view = NULL;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!gp_api_shape(shape, rank, diags, &dims)) return gp_api_end(t->state, GpStatus_Argument);
    GpStatus status = gp_tensor_reshape(t->tensor, &dims, gp_api_site(), diags, &view);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(t->state, view, out);
    return gp_api_end(t->state, status);
}

static gpulua_status cut(gpulua_tensor *t, const int64_t *tile, size_t rank, GpAccess access,
                         gpulua_partition **out) {
    GP_API_NEEDS(t, out);
    GpShape dims;
    GpPartition *p = NULL;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!gp_api_shape(tile, rank, diags, &dims)) return gp_api_end(t->state, GpStatus_Argument);
    gpulua_partition *handle = malloc(sizeof(*handle));
    GpStatus status = GpStatus_NoMemory;
    if (handle) status = gp_partition_new(t->tensor, &dims, access, gp_api_site(), diags, &p);
    if (status != GpStatus_Ok) {
        free(handle);
        return gp_api_end(t->state, status);
    }
    *handle = (gpulua_partition){gp_state_retain(t->state), p};
    *out = handle;
    return gp_api_end(t->state, GpStatus_Ok);
}

GP_API gpulua_status gpulua_tiles(gpulua_tensor *t, const int64_t *tile, size_t rank,
                                  gpulua_partition **out) {
    return cut(t, tile, rank, GpAccess_Write, out);
}

GP_API gpulua_status gpulua_partition_new(gpulua_tensor *t, const int64_t *tile, size_t rank,
                                          gpulua_partition **out) {
    return cut(t, tile, rank, GpAccess_Move, out);
}

GP_API void gpulua_partition_free(gpulua_partition *p) {
    if (!p) return;
    gp_partition_release(p->partition);
    gp_state_release(p->state);
    free(p);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

GP_API void gpulua_module_free(gpulua_module *m) {
    if (!m) return;
    for (size_t i = 0; i < m->kernel_count; i++) gp_kernel_release(m->kernels[i]);
    gp_module_release(m->module);
    gp_state_release(m->state);
    free(m->kernels);
    free(m);
}

static GpStatus wrap_module(gpulua_state *g, GpModule *module, gpulua_module **out) {
    gpulua_module *handle = calloc(1, sizeof(*handle));
    size_t count = gp_module_kernel_count(module);
    GpKernel **kernels = calloc(count + 1, sizeof(*kernels));
    if (!handle || !kernels) {
        free(handle);
        free(kernels);
        gp_module_release(module);
        return GpStatus_NoMemory;
    }
    *handle = (gpulua_module){gp_state_retain(g), module, kernels, count};
    *out = handle;
    return GpStatus_Ok;
}

GP_API gpulua_status gpulua_compile(gpulua_state *g, const char *name, const char *source, size_t len,
                                    gpulua_module **out) {
    GP_API_NEEDS(g, out);
    GpModule *module = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!source && len) return gp_api_end(g, GpStatus_Argument);
    GpSource *src = gp_source_new(gp_engine_session(g->engine), name ? name : "kernels", source, len, 1, 1);
    if (!src) return gp_api_end(g, GpStatus_NoMemory);
    GpStatus status = gp_module_new(gp_engine_std(g->engine), src, diags, &module);
    gp_source_release(src);
    if (status == GpStatus_Ok && gp_diags_errors(diags) > 0) status = GpStatus_Diagnostics;
    if (status == GpStatus_Ok) status = wrap_module(g, module, out);
    else gp_module_release(module);
    return gp_api_end(g, status);
}

GP_API size_t gpulua_module_kernel_count(const gpulua_module *m) { return m ? m->kernel_count : 0; }
GP_API const char *gpulua_module_kernel_name(const gpulua_module *m, size_t i) {
    return m && i < m->kernel_count ? gp_module_kernel_at(m->module, (uint32_t)i)->name->name : NULL;
}

static GpStatus find_kernel(gpulua_module *m, const char *name, GpKernel **out) {
    for (size_t i = 0; i < m->kernel_count; i++) {
        if (strcmp(gpulua_module_kernel_name(m, i), name) != 0) continue;
        GpStatus status = GpStatus_Ok;
        if (!m->kernels[i])
            status = gp_kernel_new(m->state->engine, m->module,
                                   gp_module_kernel_at(m->module, (uint32_t)i), &m->kernels[i]);
        *out = m->kernels[i];
        return status;
    }
    gp_module_report_no_kernel(m->module, name, GP_NO_SPAN, m->state->last);
    return GpStatus_Diagnostics;
}

static GpStatus convert_args(gpulua_state *g, const gpulua_arg *from, size_t count, GpCallArg *to) {
    memset(to, 0, count * sizeof(*to));
    for (size_t i = 0; i < count; i++) {
        gpulua_state *owner = g;
        switch (from[i].kind) {
        case GPULUA_ARG_TENSOR:
            if (!from[i].as.tensor) return GpStatus_Argument;
            owner = from[i].as.tensor->state;
            to[i].kind = GpArg_Tensor;
            to[i].tensor = from[i].as.tensor->tensor;
            break;
        case GPULUA_ARG_PARTITION:
            if (!from[i].as.partition) return GpStatus_Argument;
            owner = from[i].as.partition->state;
            to[i].kind = GpArg_Partition;
            to[i].partition = from[i].as.partition->partition;
            break;
        case GPULUA_ARG_INT:
            to[i].kind = GpArg_Int;
            to[i].i = from[i].as.i;
            break;
        case GPULUA_ARG_FLOAT:
            to[i].kind = GpArg_Float;
            to[i].f = from[i].as.f;
            break;
        case GPULUA_ARG_BOOL:
            to[i].kind = GpArg_Bool;
            to[i].i = from[i].as.i != 0;
            break;
        }
        if (owner != g) return GpStatus_WrongRuntime;
    }
    return GpStatus_Ok;
}

static GpStatus read_named(const gpulua_launch_options *o, GpNamedArg *named) {
    if (o->name_count > GP_API_ARGS || (o->name_count && !o->names)) return GpStatus_Argument;
    for (size_t i = 0; i < o->name_count; i++) {
        const char *text = o->texts ? o->texts[i] : NULL;
        if (!o->names[i] || (!text && !o->values)) return GpStatus_Argument;
        named[i] = (GpNamedArg){.name = gp_str_from(o->names[i]), .kind = text ? GpNamed_Text : GpNamed_Int};
        if (text) named[i].text = gp_str_from(text);
        else named[i].value = o->values[i];
    }
    return GpStatus_Ok;
}

static GpStatus apply_options(GpKernel *k, const gpulua_launch_options *o, GpDiags *diags,
                              GpKernel **out) {
    GpNamedArg named[GP_API_ARGS];
    GpKernelOptions options = {.named = named};
    if (!o) {
        *out = gp_kernel_retain(k);
        return GpStatus_Ok;
    }
    if (o->size != sizeof(*o) || read_named(o, named) != GpStatus_Ok) return GpStatus_Argument;
    options.named_count = (uint32_t)o->name_count;
    options.shared_bytes = o->shared_bytes;
    options.stream = o->stream ? o->stream->stream : NULL;
    options.schedule[GpScheduleKey_warps] = o->warps;
    options.schedule[GpScheduleKey_stages] = o->stages;
    options.schedule[GpScheduleKey_cluster] = o->cluster;
    options.schedule[GpScheduleKey_persistent] = o->persistent;
    for (int axis = 0; axis < 3; axis++) {
        options.grid[axis] = o->grid[0] ? GP_MAX(o->grid[axis], 1) : 0;
        options.block[axis] = o->block[0] ? GP_MAX(o->block[axis], 1) : 0;
    }
    return gp_kernel_with(k, &options, gp_api_site(), diags, out);
}

GpStatus gp_api_kernel(gpulua_module *m, const char *name, const gpulua_launch_options *options,
                       GpKernel **out) {
    GpKernel *found = NULL;
    *out = NULL;
    if (options && options->stream && options->stream->state != m->state) return GpStatus_WrongRuntime;
    GpStatus status = find_kernel(m, name, &found);
    return status == GpStatus_Ok ? apply_options(found, options, m->state->last, out) : status;
}

GpStatus gp_api_prepare(const GpApiCall *call, GpKernel **used, GpRunRequest *request) {
    gpulua_state *g = call->module->state;
    size_t count = call->arg_count;
    GpCallArg args[GP_API_ARGS];
    *used = NULL;
    if (!call->kernel || count > GP_API_ARGS || (count && !call->args)) return GpStatus_Argument;
    GpStatus status = gp_api_kernel(call->module, call->kernel, call->options, used);
    if (status == GpStatus_Ok) status = convert_args(g, call->args, count, args);
    if (status != GpStatus_Ok) return status;
    return gp_kernel_prepare(*used, args, (uint32_t)count, gp_api_site(), g->last, request);
}

GP_API gpulua_status gpulua_launch(gpulua_module *m, const char *kernel, const gpulua_arg *args,
                                   size_t arg_count, const gpulua_launch_options *options) {
    if (!m) return GPULUA_E_ARGUMENT;
    gpulua_state *g = m->state;
    GpRunRequest request;
    GpKernel *used;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    GpStatus status = gp_api_prepare(&(GpApiCall){m, kernel, args, arg_count, options}, &used, &request);
    if (status == GpStatus_Ok)
        status = gp_launch_now(gp_engine_runtime(g->engine), &request, NULL, diags);
    gp_kernel_release(used);
    return gp_api_end(g, status);
}
