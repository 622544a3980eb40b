/* From a call of a kernel to loaded code, and what can be told about it.
**
** A call is described by its arguments' kinds, dtypes, extents, strides and alignment. The last
** call's description is kept: an equal one reuses its code, grid and parameter plan, and only
** addresses and scalars are read again. */
#include <stdio.h>

#include "lua/engine_private.h"

#include "core/os_posix.h"

static GpSchedule asked_schedule(const GpKernel *k) {
    GpSchedule asked = {0};
    for (int i = 0; i < GpScheduleKey_count; i++)
        *gp_schedule_at(&asked, (GpScheduleKey)i) = (uint8_t)k->options.schedule[i];
    return asked;
}

/* Describes the arguments; the device is the first tensor's, NULL without one. */
static GpDevice *describe_args(const GpCallArg *args, uint32_t count, GpArgDesc *descs,
                               uint64_t *handles) {
    GpDevice *device = NULL;
    memset(descs, 0, count * sizeof(*descs)); /* padding too: descriptions are compared as bytes */
    for (uint32_t i = 0; i < count; i++) {
        GpArgDesc *d = &descs[i];
        GpTensor *t = args[i].tensor;
        d->kind = args[i].kind;
        d->i = args[i].i;
        d->f = args[i].f;
        d->other = args[i].other;
        if (args[i].kind == GpArg_Partition) {
            t = gp_partition_tensor(args[i].partition);
            d->tile = *gp_partition_tile(args[i].partition);
            d->share = *gp_partition_share(args[i].partition);
        }
        if (!t) continue;
        d->elem = gp_tensor_elem(t);
        d->shape = *gp_tensor_shape(t);
        memcpy(d->stride, gp_tensor_strides(t), d->shape.rank * sizeof(int64_t));
        d->address = gp_tensor_address(t);
        handles[i] = gp_tensor_number(t);
        if (!device) device = gp_tensor_device(t);
    }
    return device;
}

/* Leaves of a description what decides the code and the grid. */
static void normalise(GpArgDesc *descs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        descs[i].address &= 15;
        descs[i].i = 0;
        descs[i].f = 0;
    }
}

static GpVariant *find_variant(GpKernel *k, const uint64_t key[2], GpDevice *device) {
    GpSchedule schedule = asked_schedule(k);
    for (GpVariant *v = k->variants->first; v; v = v->next)
        if (v->key[0] == key[0] && v->key[1] == key[1] && v->device == device &&
            memcmp(&v->schedule, &schedule, sizeof(schedule)) == 0)
            return v;
    return NULL;
}

typedef struct Bind {
    GpKernel *kernel;
    GpArena *arena;
    const GpCallArg *args;
    uint32_t count;
    GpSite site;
    GpDiags *diags;
    GpArgDesc *descs;
    uint64_t *handles;
    GpRunArg *run_args;
    GpDevice *device;
    GpTarget target;
    GpBindRequest request;
    GpInstance *instance;
    GpIrFn *fn;
    GpText *out; /* describe */
    GpVariant *variant;
    GpStatus status;
} Bind;

static const GpSpan *resolve_args(const Bind *b) {
    GpSpan *spans = GP_NEW_ARRAY(b->arena, GpSpan, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        spans[i] = gp_engine_resolve_arg(b->kernel->engine, b->site, gp_kernel_name(b->kernel), i);
    return spans;
}

static void bind_call(GpSession *s, void *ud) {
    Bind *b = ud;
    const GpKernelOptions *o = &b->kernel->options;
    (void)s;
    b->descs = GP_NEW_ARRAY(b->arena, GpArgDesc, b->count);
    b->handles = GP_NEW_ARRAY(b->arena, uint64_t, b->count);
    b->run_args = GP_NEW_ARRAY(b->arena, GpRunArg, b->count);
    b->device = describe_args(b->args, b->count, b->descs, b->handles);
    b->request = (GpBindRequest){.kernel = b->kernel->def,
                             .args = b->descs,
                             .arg_count = b->count,
                             .named = o->named,
                             .named_count = o->named_count,
                             .site = gp_engine_resolve(b->kernel->engine, b->site),
                             .arg_sites = resolve_args(b)};
    memcpy(b->request.grid, o->grid, sizeof(b->request.grid));
    memcpy(b->request.block, o->block, sizeof(b->request.block));
    b->status = gp_bind(b->kernel->module, b->arena, &b->request, b->diags, &b->instance);
}

static void instantiate(GpSession *s, void *ud) {
    Bind *b = ud;
    (void)s;
    b->status = gp_instantiate(b->kernel->module, b->arena, b->instance, b->diags, &b->fn);
    if (b->status == GpStatus_Ok && b->instance->left == GpLeft_Nothing) gp_launch_mark_whole(b->fn);
    if (b->status == GpStatus_Ok)
        b->fn->schedule = gp_schedule_merge(
            asked_schedule(b->kernel), gp_kernel_schedule(&b->kernel->def->kernel, b->target.sm));
}

static GpStatus protect(Bind *b, void (*fn)(GpSession *, void *)) {
    GpStatus thrown = gp_protect(&b->kernel->engine->session, fn, b);
    return thrown != GpStatus_Ok ? thrown : b->status;
}

/* The image of an instantiated function: from the disk cache where the target has one. */
static GpStatus make_image(GpEngine *e, const GpIrFn *fn, const GpTarget *target, GpDiags *diags,
                           GpImage **out) {
    uint8_t key[32];
    bool is_cached = target->kind == GpTarget_Nvptx;
    if (is_cached) {
        GpStatus status = gp_codegen_key(e->codegen, fn, target, key);
        if (status != GpStatus_Ok) return status;
        *out = gp_cache_get(e->runtime, key);
        if (*out) {
            e->stats.from_disk++;
            return GpStatus_Ok;
        }
    }
    GpStatus status = gp_codegen_compile(e->codegen, fn, target, diags, out);
    if (status != GpStatus_Ok) return status;
    e->stats.compiled++;
    if (is_cached) gp_cache_put(e->runtime, key, *out);
    return GpStatus_Ok;
}

static void copy_checks(GpSession *s, void *ud) {
    Bind *b = ud;
    GpVariant *v = b->variant;
    v->arena = gp_arena_new(s);
    if (!v->arena) gp_throw(s, GpStatus_NoMemory);
    v->check_count = b->fn->launch_check_count;
    v->checks = gp_launch_copy(v->arena, b->fn->launch_checks, v->check_count);
    b->status = GpStatus_Ok;
}

static void free_variant(GpSession *s, GpVariant *v) {
    gp_arena_free(v->arena);
    gp_free(s, v, sizeof(*v));
}

/* A variant without code. */
static GpStatus add_variant(Bind *b) {
    GpKernel *k = b->kernel;
    GpVariant *v = GP_TRY_NEW(&k->engine->session, GpVariant);
    if (!v) return GpStatus_NoMemory;
    *v = (GpVariant){{b->instance->key[0], b->instance->key[1]}, asked_schedule(k), .linear = b->fn->linear, .device = b->device};
    b->variant = v;
    GpStatus status = b->fn->launch_check_count ? protect(b, copy_checks) : GpStatus_Ok;
    if (status != GpStatus_Ok) {
        free_variant(&k->engine->session, v);
        return status;
    }
    v->next = k->variants->first;
    k->variants->first = v;
    return GpStatus_Ok;
}

/* A GPU older than every target, or a driver older than every PTX. */
static GpStatus refuse_device(Bind *b) {
    const GpDeviceInfo *info = gp_device_info(b->device);
    char text[128];
    snprintf(text, sizeof text,
             "no kernels for `%s`, an sm_%u whose driver takes PTX %u.%u: sm_80 and PTX 7.8 are the least",
             info->name, info->sm, info->max_ptx / 10u, info->max_ptx % 10u);
    gp_diag(b->diags, GpDiag_G0900, gp_engine_resolve(b->kernel->engine, b->site), text);
    return GpStatus_Unsupported;
}

static GpStatus make_function(Bind *b) {
    GpStatus status = gp_engine_target(b->kernel->engine, b->device, &b->target);
    if (status == GpStatus_Unsupported) return refuse_device(b);
    if (status == GpStatus_Ok) status = protect(b, instantiate);
    if (status == GpStatus_Ok) b->kernel->engine->stats.instantiated++;
    return status;
}

static GpStatus make_exec(Bind *b, GpExec **out) {
    GpImage *image = NULL;
    GpStatus status = b->fn ? GpStatus_Ok : make_function(b);
    if (status == GpStatus_Ok) status = make_image(b->kernel->engine, b->fn, &b->target, b->diags, &image);
    if (status == GpStatus_Ok) status = gp_exec_new(b->device, image, b->diags, out);
    gp_image_release(image);
    return status;
}

static void ask(GpSession *s, void *ud) {
    Bind *b = ud;
    const GpVariant *v = b->variant;
    (void)s;
    GpLaunchAsk checks = {b->arena, &b->request, b->instance, v->checks, v->check_count};
    bool is_error = b->kernel->def->kernel.denies_checks;
    b->instance->left = gp_bind_ask(b->kernel->module, &checks, is_error ? b->diags : NULL);
    b->status = is_error && b->instance->left == GpLeft_Checks ? GpStatus_Diagnostics : GpStatus_Ok;
}

static GpStatus refuse_axes(Bind *b) {
    const uint32_t *grid = b->instance->grid, *block = b->instance->block;
    GpDiag *d = gp_diag(b->diags, GpDiag_G0322, b->request.site, gp_kernel_name(b->kernel));
    gp_primary_label(d, "a grid of (%u, %u, %u) and blocks of (%u, %u, %u)", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    gp_note_at(d, b->variant->linear, "`thread::index_1d()` tells threads apart only where grid and block have one axis");
    gp_help(d, "launch it on one axis, or take indices of `thread::threadIdx_y()` and its like, in an `unsafe` kernel");
    return GpStatus_Diagnostics;
}

static bool has_axes(const GpInstance *instance) {
    return instance->grid[1] > 1 || instance->grid[2] > 1 || instance->block[1] > 1 || instance->block[2] > 1;
}

/* Code that leaves less to the launch does for one that knows more, but for checks, which cost more than the edges. */
static GpLeft find_left(const GpVariant *v, GpLeft left) {
    return left == GpLeft_Nothing && !v->exec[left] && v->exec[GpLeft_Edges] ? GpLeft_Edges : left;
}

/* The code for a bound call. What its launch knows is not looked after in the kernel; where it knows that an
** index is out of range, the kernel that finds and reports it is compiled then. */
static GpStatus find_exec(Bind *b, GpExec **out) {
    GpInstance *instance = b->instance;
    GpStatus status = GpStatus_Ok;
    uint64_t start = gp_clock_ns();
    b->variant = find_variant(b->kernel, instance->key, b->device);
    instance->left = GpLeft_Edges;
    if (!b->variant) {
        status = make_function(b);
        if (status == GpStatus_Ok) status = add_variant(b);
    }
    if (status == GpStatus_Ok && b->variant->linear.src && has_axes(instance)) status = refuse_axes(b);
    if (status == GpStatus_Ok && b->variant->check_count) status = protect(b, ask);
    if (status != GpStatus_Ok) return status;
    instance->left = find_left(b->variant, instance->left);
    if (b->fn && instance->left == GpLeft_Nothing) gp_launch_mark_whole(b->fn);
    if (instance->left == GpLeft_Checks) b->fn = NULL; /* it is without them */
    GpExec **exec = &b->variant->exec[instance->left];
    if (!*exec) {
        status = make_exec(b, exec);
        b->kernel->engine->stats.compile_ns += gp_clock_ns() - start;
    }
    *out = *exec;
    return status;
}

static const GpAccess access_of_pass[] = {
    [GpPass_Shared] = GpAccess_Read,
    [GpPass_Unique] = GpAccess_Write,
    [GpPass_Moved] = GpAccess_Move,
    [GpPass_Scalar] = GpAccess_Read,
};

static const char *param_name(const GpDef *def, uint32_t i) {
    const GpAstFn *fn = GP_AS(Fn, def->node);
    if (i >= fn->params.len || fn->params.at[i]->kind != GpNode_Param) return "_";
    const GpNode *pat = GP_AS(Param, fn->params.at[i])->pat;
    return pat->kind == GpNode_PatName ? GP_AS(PatName, (GpNode *)pat)->name->name : "_";
}

/* Whether the launch's blocks or threads cover the argument's elements, given its inferred form. */
static bool covers(const GpInstance *in, const GpKernelOptions *o, const GpArgDesc *arg) {
    int64_t count;
    if (arg->kind == GpArg_Partition) return o->grid[0] == 0; /* the partition's own grid */
    if (!gp_shape_numel(&arg->shape, &count)) return false;
    bool is_flat = in->grid[1] == 1 && in->grid[2] == 1 && in->block[1] == 1 && in->block[2] == 1;
    return is_flat && (int64_t)in->grid[0] * in->block[0] >= count;
}

/* What stays the same from call to call of one instance. */
static void plan_args(Bind *b, const GpImage *image) {
    const GpKernelOptions *o = &b->kernel->options;
    for (uint32_t i = 0; i < b->count; i++) {
        bool is_written = i < 64 && (image->written >> i & 1);
        b->run_args[i].access = is_written ? GpAccess_Write : access_of_pass[b->instance->args[i].pass];
        b->run_args[i].param = param_name(b->kernel->def, i);
        b->run_args[i].scalar.elem = b->instance->args[i].elem;
        b->run_args[i].is_overwritten = i < 64 && (image->overwrites >> i & 1) &&
                                        covers(b->instance, o, &b->descs[i]);
    }
}

static bool is_like(const GpArgDesc *last, const GpTensor *t, GpDevice *device) {
    const GpShape *shape = gp_tensor_shape(t);
    const int64_t *stride = gp_tensor_strides(t);
    if (last->elem != gp_tensor_elem(t) || last->shape.rank != shape->rank ||
        gp_tensor_device(t) != device || last->address != (gp_tensor_address(t) & 15))
        return false;
    for (int axis = 0; axis < shape->rank; axis++)
        if (last->shape.dim[axis] != shape->dim[axis] || last->stride[axis] != stride[axis]) return false;
    return true;
}

static bool take_handle(GpKernel *k, uint32_t i, const GpTensor *t) {
    if (!is_like(&k->descs[i], t, k->device)) return false;
    k->handles[i] = gp_tensor_number(t);
    return true;
}

static bool is_same_share(const GpShare *a, const GpShare *b) {
    return gp_shape_eq(&a->map, &b->map) && a->blocks == b->blocks && a->is_prefix == b->is_prefix;
}

static bool is_same_cut(const GpArgDesc *last, const GpPartition *p) {
    return gp_shape_eq(&last->tile, gp_partition_tile(p)) && is_same_share(&last->share, gp_partition_share(p));
}

/* What describes a handle never changes; the share of a partition may. */
static bool take_tensor(GpKernel *k, uint32_t i, const GpCallArg *arg) {
    GpPartition *p = arg->partition;
    GpTensor *t = p ? gp_partition_tensor(p) : arg->tensor;
    k->run_args[i].partition = p;
    k->run_args[i].tensor = t;
    bool is_known = GP_LIKELY(k->handles[i] == gp_tensor_number(t)) || take_handle(k, i, t);
    return is_known && (!p || is_same_cut(&k->descs[i], p));
}

/* Puts an argument into the request; false when it is not described like that of the last call
** (normalise), or no value of the parameter's type. */
static bool take_arg(GpKernel *k, uint32_t i, const GpCallArg *arg) {
    GpRunArg *run = &k->run_args[i];
    if (k->descs[i].kind != arg->kind) return false;
    switch (arg->kind) {
    case GpArg_Tensor:
    case GpArg_Partition:
        return take_tensor(k, i, arg);
    case GpArg_Bool:
        run->scalar = (GpScalar){.elem = GpElem_Bool, .u = arg->i != 0};
        return true;
    case GpArg_Int:
        return gp_scalar_from_int(arg->i, run->scalar.elem, &run->scalar);
    case GpArg_Float:
        return gp_scalar_from_double(arg->f, run->scalar.elem, &run->scalar);
    case GpArg_Other:
        return false; /* no binding takes it */
    }
    gp_unreachable();
}

static bool take_args(GpKernel *k, const GpCallArg *args, uint32_t count) {
    if (!k->request.exec || count != k->request.arg_count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!take_arg(k, i, &args[i])) return false;
    return true;
}

/* Binds a call for its own sake; the arena is the caller's to free. */
static GpStatus bind_anew(Bind *b) {
    b->arena = gp_arena_new(&b->kernel->engine->session);
    if (!b->arena) return GpStatus_NoMemory;
    GpStatus status = protect(b, bind_call);
    if (status == GpStatus_Ok && !b->device)
        status = gp_engine_device(b->kernel->engine, b->diags, &b->device);
    return status;
}

/* What every call like this one asks of the runtime, but for the site and what take_arg fills in. */
static GpRunRequest plan_request(const Bind *b, GpExec *exec) {
    const GpKernel *k = b->kernel;
    GpRunRequest r = {.exec = exec,
                      .is_bound = true,
                      .args = b->run_args,
                      .arg_count = b->count,
                      .shared_bytes = k->options.shared_bytes,
                      .stream = k->options.stream,
                      .kernel = gp_kernel_name(k)};
    memcpy(r.grid.grid, b->instance->grid, sizeof(r.grid.grid));
    memcpy(r.grid.block, b->instance->block, sizeof(r.grid.block));
    return r;
}

static GpStatus prepare_anew(GpKernel *k, const GpCallArg *args, uint32_t count, GpSite site,
                             GpDiags *diags) {
    Bind b = {.kernel = k, .args = args, .count = count, .site = site, .diags = diags};
    GpExec *exec = NULL;
    GpStatus status = bind_anew(&b);
    if (status == GpStatus_Ok) status = find_exec(&b, &exec);
    if (status != GpStatus_Ok) {
        gp_arena_free(b.arena);
        return status;
    }
    normalise(b.descs, count);
    plan_args(&b, gp_exec_image(exec));
    gp_arena_free(k->bound);
    k->bound = b.arena;
    k->instance = b.instance;
    k->descs = b.descs;
    k->handles = b.handles;
    k->run_args = b.run_args;
    k->request = plan_request(&b, exec);
    k->device = b.device;
    return GpStatus_Ok;
}

GpStatus gp_kernel_prepare(GpKernel *k, const GpCallArg *args, uint32_t count, GpSite site,
                           GpDiags *diags, GpRunRequest *out) {
    if (!take_args(k, args, count)) {
        GpStatus status = prepare_anew(k, args, count, site, diags);
        if (status != GpStatus_Ok) return status;
        gp_assert(take_args(k, args, count)); /* gp_bind accepted every scalar */
    }
    *out = k->request;
    out->site = site;
    return GpStatus_Ok;
}

/* ---- Inspection ------------------------------------------------------------------------- */

static void bind_assumed(GpSession *s, void *ud) {
    Bind *b = ud;
    const GpKernelOptions *o = &b->kernel->options;
    (void)s;
    GpBindRequest request = {
        .kernel = b->kernel->def, .named = o->named, .named_count = o->named_count};
    memcpy(request.block, o->block, sizeof request.block);
    b->status = gp_bind_assumed(b->kernel->module, b->arena, &request, b->diags, &b->instance);
    if (b->status == GpStatus_Ok) b->instance->left = GpLeft_Edges;
}

GpStatus gp_kernel_emit(GpKernel *k, GpStage stage, const GpTarget *target, GpDiags *diags,
                        GpText *out) {
    Bind b = {.kernel = k, .diags = diags, .target = *target};
    GpStatus status = GpStatus_Ok;
    b.arena = gp_arena_new(&k->engine->session);
    if (!b.arena) return GpStatus_NoMemory;
    if (k->request.exec) b.instance = (GpInstance *)k->instance;
    else status = protect(&b, bind_assumed);
    if (status == GpStatus_Ok) status = protect(&b, instantiate);
    if (status == GpStatus_Ok)
        status = gp_codegen_emit(k->engine->codegen, b.fn, target, stage, diags, out);
    gp_arena_free(b.arena);
    return status;
}

static void describe(GpSession *s, void *ud) {
    Bind *b = ud;
    const GpDeviceInfo *info = gp_device_info(b->device);
    (void)s;
    gp_ir_print(b->fn, b->out);
    gp_text_printf(b->out, "%s %u %d", info->product, info->processors, info->driver_version);
    for (int axis = 0; axis < 3; axis++)
        gp_text_printf(b->out, " %u %u", b->instance->grid[axis], b->instance->block[axis]);
    for (uint32_t i = 0; i < b->count; i++) {
        gp_text_puts(b->out, "\n");
        for (int axis = 0; axis < b->descs[i].shape.rank; axis++)
            gp_text_printf(b->out, " %lld/%lld", (long long)b->descs[i].shape.dim[axis],
                           (long long)b->descs[i].stride[axis]);
    }
    gp_text_puts(b->out, "\n");
}

GpStatus gp_kernel_describe(GpKernel *k, const GpCallArg *args, uint32_t count, GpSite site,
                            GpDiags *diags, GpText *out) {
    Bind b = {.kernel = k, .args = args, .count = count, .site = site, .diags = diags, .out = out};
    GpStatus status = bind_anew(&b);
    if (status == GpStatus_Ok) status = gp_engine_target(k->engine, b.device, &b.target);
    if (status == GpStatus_Ok) status = protect(&b, instantiate);
    if (status == GpStatus_Ok) status = protect(&b, describe);
    gp_arena_free(b.arena);
    return status;
}
