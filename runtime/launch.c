/* Launches: every check, the parameter block, and the enqueueing.
**
** The path of a launch that is fine allocates nothing, takes no lock and looks nothing up. */
#include <stdio.h>

#include "runtime/internal.h"


static const char *kernel_name(const GpRunRequest *r) {
    return r->kernel ? r->kernel : r->exec->image->name;
}

static GpStatus refuse_launch(const GpRunRequest *r, const char *why, GpDiags *diags) {
    GpDevice *d = r->exec->device;
    GpDiag *diag = gp_diag(diags, GpDiag_G0304, gp_site_span(d->rt, r->site), why);
    gp_note(diag, "launching kernel `%s` with grid (%u, %u, %u) and block (%u, %u, %u) on `%s`",
            kernel_name(r), r->grid.grid[0], r->grid.grid[1], r->grid.grid[2], r->grid.block[0],
            r->grid.block[1], r->grid.block[2], d->info.name);
    return GpStatus_Diagnostics;
}

static void block_of(const GpRunRequest *r, uint32_t block[3]) {
    const GpImage *image = r->exec->image;
    bool is_tile = image->threads != 0;
    block[0] = is_tile ? image->threads : r->grid.block[0];
    block[1] = is_tile ? 1 : r->grid.block[1];
    block[2] = is_tile ? 1 : r->grid.block[2];
}

/* Blocks in all; UINT64_MAX when they do not fit 64 bits. */
static uint64_t count_blocks(const uint32_t grid[3]) {
    uint64_t blocks;
    return __builtin_mul_overflow((uint64_t)grid[0] * grid[1], grid[2], &blocks) ? UINT64_MAX
                                                                                 : blocks;
}

/* The grid of the device: the launch's own, or as many blocks as run at once, in whole clusters, but
** no more than share the work evenly: neighbours then stay in step, and share more of the cache. */
static void hardware_grid(const GpRunRequest *r, uint32_t grid[3]) {
    const GpExec *e = r->exec;
    memcpy(grid, r->grid.grid, sizeof r->grid.grid);
    uint64_t blocks = e->resident ? count_blocks(grid) : 0;
    if (!blocks)
        return;
    const uint32_t *cluster = e->image->cluster;
    uint64_t size = (uint64_t)cluster[0] * cluster[1] * cluster[2];
    uint64_t clusters = blocks / size + (blocks % size != 0), room = e->resident / size;
    uint64_t waves = clusters / room + (clusters % room != 0);
    grid[0] = (uint32_t)((clusters / waves + (clusters % waves != 0)) * size);
    grid[1] = grid[2] = 1;
}

static GpStatus check_blocks(const GpRunRequest *r, GpDiags *diags) {
    const GpDeviceInfo *info = &r->exec->device->info;
    uint32_t grid[3];
    char why[128];
    if (r->exec->resident && count_blocks(r->grid.grid) > INT32_MAX) {
        snprintf(why, sizeof why, "blocks in all, and the limit of a persistent kernel is %d",
                 INT32_MAX);
        return refuse_launch(r, why, diags);
    }
    hardware_grid(r, grid);
    for (int i = 0; i < 3; i++) {
        if (grid[i] <= info->max_grid[i])
            continue;
        snprintf(why, sizeof why, "%u blocks on axis %c, and the limit is %u", grid[i], "xyz"[i],
                 info->max_grid[i]);
        return refuse_launch(r, why, diags);
    }
    return GpStatus_Ok;
}

static GpStatus check_threads(const GpRunRequest *r, GpDiags *diags) {
    const GpDeviceInfo *info = &r->exec->device->info;
    uint32_t block[3];
    char why[128];
    block_of(r, block);
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        const char axis = "xyz"[i];
        if (block[i] == 0 || block[i] > info->max_block[i]) {
            snprintf(why, sizeof why, "%u threads on axis %c of a block, outside of 1..=%u",
                     block[i], axis, info->max_block[i]);
            return refuse_launch(r, why, diags);
        }
        threads *= block[i];
    }
    uint32_t limit = info->max_threads;
    if (r->exec->info.max_threads)
        limit = GP_MIN(limit, r->exec->info.max_threads);
    if (threads > limit) {
        snprintf(why, sizeof why, "%llu threads a block, and the limit for this kernel is %u",
                 (unsigned long long)threads, limit);
        return refuse_launch(r, why, diags);
    }
    return GpStatus_Ok;
}

static GpStatus check_shared(const GpRunRequest *r, GpDiags *diags) {
    const GpDeviceInfo *info = &r->exec->device->info;
    char why[128];
    uint64_t shared = r->exec->image->shared_bytes;
    shared += (uint64_t)r->shared_bytes + r->exec->info.shared_bytes;
    if (info->kind == GpDevice_Cuda && shared > info->max_shared) {
        snprintf(why, sizeof why, "%llu bytes of shared memory a block, and the limit is %u",
                 (unsigned long long)shared, info->max_shared);
        return refuse_launch(r, why, diags);
    }
    return GpStatus_Ok;
}

/* Limits do not change: what they allowed last is not measured again. */
static GpStatus check_limits(const GpRunRequest *r, GpDiags *diags) {
    GpExec *e = r->exec;
    if (GP_LIKELY(e->is_allowed && memcmp(&e->allowed, &r->grid, sizeof r->grid) == 0 &&
                  e->allowed_shared == r->shared_bytes))
        return GpStatus_Ok;
    GpStatus status = check_blocks(r, diags);
    if (status == GpStatus_Ok)
        status = check_threads(r, diags);
    if (status == GpStatus_Ok)
        status = check_shared(r, diags);
    if (status != GpStatus_Ok)
        return status;
    e->is_allowed = true;
    e->allowed = r->grid;
    e->allowed_shared = r->shared_bytes;
    return GpStatus_Ok;
}

static GpStatus refuse_device(const GpRunRequest *r, const GpRunArg *arg, GpDiags *diags) {
    GpDevice *d = r->exec->device;
    char param[96], kernel[96];
    snprintf(param, sizeof param, "parameter `%s`", arg->param ? arg->param : "?");
    snprintf(kernel, sizeof kernel, "kernel `%s`", kernel_name(r));
    GpDiag *diag =
        gp_diag(diags, GpDiag_G0303, gp_site_span(d->rt, r->site), param,
                arg->tensor->storage->device->info.name, kernel, d->info.name);
    gp_help(diag, "copy the tensor to `%s` first", d->info.name);
    return GpStatus_Diagnostics;
}

static GpStatus refuse_args(const GpRunRequest *r, const char *why, GpDiags *diags) {
    char kernel[96];
    snprintf(kernel, sizeof kernel, "`%s`", kernel_name(r));
    gp_diag(diags, GpDiag_G0307, gp_site_span(r->exec->device->rt, r->site), kernel, why);
    return GpStatus_Diagnostics;
}

/* What the compiled kernel asks of the arguments. The caller's compiler promised it; a foreign
** caller may be wrong. */
static GpStatus check_params(const GpRunRequest *r, GpDiags *diags) {
    const GpImage *image = r->exec->image;
    for (uint32_t i = 0; i < image->param_count; i++) {
        const GpImageParam *p = &image->params[i];
        if (p->kind == GpParam_Mailbox || p->kind == GpParam_Grid)
            continue;
        if (p->arg >= r->arg_count)
            return refuse_args(r, "too few arguments", diags);
        const GpRunArg *arg = &r->args[p->arg];
        bool wants_tensor = p->kind != GpParam_Scalar;
        if (wants_tensor != (arg->tensor != NULL))
            return refuse_args(r, wants_tensor ? "a tensor is missing" : "a scalar is missing",
                               diags);
        bool has_axis = p->kind == GpParam_Dim || p->kind == GpParam_Stride;
        if (has_axis && p->axis >= arg->tensor->shape.rank)
            return refuse_args(r, "the rank of a tensor is too small", diags);
        if (p->kind == GpParam_Dim && p->bytes == 4 && arg->tensor->shape.dim[p->axis] > INT32_MAX)
            return refuse_args(r, "an extent does not fit 32 bits", diags);
        const GpImageMap *map = p->kind == GpParam_TensorMap ? &image->maps[p->axis] : NULL;
        if (map && (map->rank != arg->tensor->shape.rank ||
                    gp_elem_info[map->elem].bytes != gp_elem_info[arg->tensor->elem].bytes))
            return refuse_args(r, "a tensor is not of the rank and element type that was compiled for",
                               diags);
    }
    return GpStatus_Ok;
}

static GpRequest request_of(const GpRunRequest *r, const GpRunArg *arg) {
    return (GpRequest){.hint = {.callee = kernel_name(r), .arg = (uint32_t)(arg - r->args)},
                       .tensor = arg->tensor,
                       .via = arg->partition,
                       .verb = gp_verb_of(arg->access),
                       .site = r->site,
                       .param = arg->param ? arg->param : "?"};
}

static GpStatus check_pairs(const GpRunRequest *r, uint32_t last, GpDiags *diags) {
    const GpRunArg *b = &r->args[last];
    for (uint32_t i = 0; i < last; i++) {
        const GpRunArg *a = &r->args[i];
        if (!a->tensor || a->tensor->storage != b->tensor->storage)
            continue;
        if (a->access == GpAccess_Read && b->access == GpAccess_Read)
            continue;
        bool is_move = a->access == GpAccess_Move || b->access == GpAccess_Move;
        if (!is_move && !gp_tensor_overlaps(a->tensor, b->tensor))
            continue;
        GpRequest first = request_of(r, a), second = request_of(r, b);
        return gp_own_report_pair(&first, &second, kernel_name(r), diags);
    }
    return GpStatus_Ok;
}

/* Whether every argument may be used so, at first sight. */
static bool is_clear(const GpRunRequest *r) {
    const GpRunArg *arg = r->args, *end = arg + r->arg_count;
    for (; arg != end; arg++) {
        if (!arg->tensor ||
            GP_LIKELY(gp_own_is_plain(arg->tensor, arg->partition, arg->access == GpAccess_Move)))
            continue;
        GpRequest q = request_of(r, arg);
        if (!gp_own_is_clear(&q))
            return false;
    }
    return true;
}

static GpStatus check_owner(const GpRunRequest *r, const GpRunArg *arg, GpDiags *diags) {
    GpRequest q = request_of(r, arg);
    GpStatus status = gp_own_check(&q, diags);
    return status == GpStatus_Ok ? check_pairs(r, (uint32_t)(arg - r->args), diags) : status;
}

/* `check` numbers the launch's check, so that only storages that it meets twice are compared; 0: their
** owners are to be asked. */
static GpStatus check_arg(const GpRunRequest *r, const GpRunArg *arg, uint64_t check, GpDiags *diags) {
    GpStorage *st = arg->tensor->storage;
    GpDevice *d = r->exec->device;
    if (st->device->rt != d->rt)
        return GpStatus_WrongRuntime;
    if (st->device != d)
        return refuse_device(r, arg, diags);
    if (GP_UNLIKELY(!check))
        return check_owner(r, arg, diags);
    bool is_first = st->checked_by != check;
    st->checked_by = check;
    return GP_LIKELY(is_first) ? GpStatus_Ok : check_pairs(r, (uint32_t)(arg - r->args), diags);
}

static GpStatus check_launch(GpRuntime *rt, const GpRunRequest *r, uint64_t check, GpDiags *diags) {
    GpDevice *d = r->exec->device;
    if (d->rt != rt)
        return GpStatus_WrongRuntime;
    GpStatus status = gp_device_check(d, diags);
    if (status == GpStatus_Ok && r->stream && r->stream->device != d)
        status = refuse_launch(r, "the stream belongs to another device", diags);
    if (status == GpStatus_Ok)
        status = check_limits(r, diags);
    if (status == GpStatus_Ok && !r->is_bound)
        status = check_params(r, diags);
    const GpRunArg *arg = r->args, *end = arg + r->arg_count;
    for (; arg != end && status == GpStatus_Ok; arg++)
        status = arg->tensor ? check_arg(r, arg, check, diags) : GpStatus_Ok;
    return status;
}

GpStatus gp_launch_check(GpRuntime *rt, const GpRunRequest *r, GpDiags *diags) {
    return check_launch(rt, r, is_clear(r) ? ++rt->checks : 0, diags);
}

/* ---- Packing ---------------------------------------------------------------------------- */

static uint64_t param_value(const GpImageParam *p, const GpRunRequest *r, const GpSlot *slot) {
    const GpRunArg *args = r->args;
    switch (p->kind) {
    case GpParam_Base:
        return gp_tensor_address(args[p->arg].tensor);
    case GpParam_Dim:
        return (uint64_t)args[p->arg].tensor->shape.dim[p->axis];
    case GpParam_Stride:
        return (uint64_t)args[p->arg].tensor->stride[p->axis];
    case GpParam_Len:
        return (uint64_t)args[p->arg].tensor->numel;
    case GpParam_Scalar:
        return gp_scalar_bits(args[p->arg].scalar);
    case GpParam_Grid:
        return r->grid.grid[p->axis];
    case GpParam_TensorMap: /* no number: pack_params */
        return 0;
    case GpParam_Mailbox:
        return gp_slot_address(slot);
    }
    gp_unreachable();
}

/* Little-endian: the low bytes of a value are its narrower form. */
static void pack_params(const GpRunRequest *r, const GpSlot *slot, uint8_t *block) {
    const GpImageParam *p = r->exec->image->params, *end = p + r->exec->image->param_count;
    for (; p != end; p++) {
        uint64_t value = param_value(p, r, slot);
        if (GP_LIKELY(p->bytes == 8)) {
            memcpy(block + p->offset, &value, 8);
        } else if (p->kind == GpParam_TensorMap) {
            memcpy(block + p->offset, r->exec->maps[p->axis].bytes, GP_TENSOR_MAP_BYTES);
        } else {
            memcpy(block + p->offset, &value, p->bytes);
        }
    }
}

static GpStatus order_args(const GpRunRequest *r, GpStream *s, GpDiags *diags) {
    GpStatus status = GpStatus_Ok;
    const GpRunArg *arg = r->args, *end = arg + r->arg_count;
    for (; arg != end && status == GpStatus_Ok; arg++) {
        if (arg->tensor && !gp_storage_is_on(arg->tensor->storage, s))
            status = gp_storage_order(arg->tensor->storage, s, arg->access != GpAccess_Read, diags);
    }
    return status;
}

/* The overwritten storages are clean before the launch counts: only its own failure may stick. */
static void note_args(const GpRunRequest *r, GpUse use) {
    const GpRunArg *arg = r->args, *end = arg + r->arg_count;
    for (; arg != end; arg++) {
        if (!arg->tensor)
            continue;
        GpStorage *st = arg->tensor->storage;
        if (arg->is_overwritten && arg->tensor->is_whole && arg->access != GpAccess_Read)
            gp_storage_clean(st);
        gp_storage_used(st, use, arg->access != GpAccess_Read);
        if (arg->access == GpAccess_Move)
            gp_own_take(st, r->site);
    }
    r->exec->device->rt->launches++;
}

/* A launch without a block does nothing, but takes what it is given. */
static GpStatus skip_launch(const GpRunRequest *r) {
    for (uint32_t i = 0; i < r->arg_count; i++) {
        if (r->args[i].tensor && r->args[i].access == GpAccess_Move)
            gp_own_take(r->args[i].tensor->storage, r->site);
    }
    return GpStatus_Ok;
}

static GpStatus take_slot(const GpRunRequest *r, GpStream *s, GpDiags *diags, GpSlot **out) {
    *out = NULL;
    if (!r->exec->has_mailbox)
        return GpStatus_Ok;
    GpSlot *slot = gp_slot_take(s, diags);
    if (!slot)
        return gp_report_no_memory(diags);
    for (uint32_t i = 0; i < r->arg_count; i++) {
        const GpRunArg *arg = &r->args[i];
        if (!arg->tensor || arg->access == GpAccess_Read)
            continue;
        if (!gp_slot_add_written(slot, arg->tensor->storage)) {
            gp_slot_cancel(slot);
            return gp_report_no_memory(diags);
        }
    }
    *out = slot;
    return GpStatus_Ok;
}

/* What is remembered of a launch that the device took. */
static GpUse note_launch(const GpRunRequest *r, GpStream *s, const GpLaunch *launch,
                         GpSlot *slot) {
    GpDevice *d = s->device;
    GpUse use = gp_stream_issue(s);
    r->exec->launches++;
    note_args(r, use);
    gp_ring_add(d, r->exec, &launch->grid, r->site, use);
    if (slot)
        gp_slot_enqueued(slot, r->exec, r->site, use);
    if (d->info.kind != GpDevice_Cuda) {
        s->completed = s->issued;
        gp_stream_reap(s);
    }
    return use;
}

GpStatus gp_launch_pack(const GpRunRequest *r, const GpSlot *slot, uint8_t *block, GpLaunch *out,
                        GpDiags *diags) {
    const GpImage *image = r->exec->image;
    GpStatus status = image->map_count ? gp_cuda_encode_maps(r, diags) : GpStatus_Ok;
    if (status != GpStatus_Ok)
        return status;
    pack_params(r, slot, block);
    *out = (GpLaunch){.exec = r->exec,
                      .grid = r->grid,
                      .shared_bytes = r->shared_bytes + image->shared_bytes,
                      .params = block};
    if (r->exec->device->info.kind == GpDevice_Cuda) {
        block_of(r, out->grid.block);
        hardware_grid(r, out->grid.grid);
    }
    return GpStatus_Ok;
}

/* An interrupted launch ran in part, and so counts. */
static GpStatus start_launch(const GpRunRequest *r, GpStream *s, GpDiags *diags, GpUse *use,
                             GpSlot *slot) {
    _Alignas(GP_TENSOR_MAP_ALIGN) uint8_t block[GP_MAX_PARAM_BYTES];
    GpLaunch launch;
    GpStatus status = gp_launch_pack(r, slot, block, &launch, diags);
    if (status == GpStatus_Ok)
        status = s->device->ops->launch(s, &launch, diags);
    if (status == GpStatus_Ok || status == GpStatus_Interrupted) {
        *use = note_launch(r, s, &launch, slot);
    } else if (slot) {
        gp_slot_cancel(slot);
    }
    return status;
}

GpStatus gp_launch_enqueue(const GpRunRequest *r, GpStream *s, GpDiags *diags, GpUse *use,
                           GpSlot **slot_out) {
    *use = (GpUse){0};
    if (slot_out)
        *slot_out = NULL;
    if (r->grid.grid[0] == 0 || r->grid.grid[1] == 0 || r->grid.grid[2] == 0)
        return skip_launch(r);
    GpStatus status = order_args(r, s, diags);
    GpSlot *slot = NULL;
    if (status == GpStatus_Ok)
        status = take_slot(r, s, diags, &slot);
    if (status != GpStatus_Ok)
        return status;
    status = start_launch(r, s, diags, use, slot);
    if (!slot || !use->stream)
        return status;
    if (slot_out) {
        *slot_out = slot;
    } else {
        gp_slot_release(slot);
    }
    return status;
}

static GpStatus run_checked(GpRuntime *rt, const GpRunRequest *r, GpStream *stream, GpDiags *diags) {
    if (GP_UNLIKELY(rt->recording != NULL))
        return gp_graph_add(rt->recording, r, diags);
    GpStream *s = stream ? stream : r->stream ? r->stream : r->exec->device->main;
    if (s->device != r->exec->device)
        return refuse_launch(r, "the stream belongs to another device", diags);
    GpUse use;
    return gp_launch_enqueue(r, s, diags, &use, NULL);
}

/* Who is in the way may be garbage: it is collected while the arguments are held. */
static GpStatus run_held(GpRuntime *rt, const GpRunRequest *r, GpStream *stream, GpDiags *diags) {
    GpRunOp *op = gp_op_hold(rt, r);
    if (!op)
        return gp_report_no_memory(diags);
    const GpRunRequest *held = gp_op_request(op);
    GpStatus status = gp_launch_check(rt, held, diags);
    if (status == GpStatus_Ok)
        status = run_checked(rt, held, stream, diags);
    gp_op_release(op);
    return status;
}

GpStatus gp_launch_now(GpRuntime *rt, const GpRunRequest *r, GpStream *stream, GpDiags *diags) {
    if (GP_UNLIKELY(!is_clear(r)))
        return run_held(rt, r, stream, diags);
    GpStatus status = check_launch(rt, r, ++rt->checks, diags);
    return GP_LIKELY(status == GpStatus_Ok) ? run_checked(rt, r, stream, diags) : status;
}

/* ---- Kernels on a device ---------------------------------------------------------------- */

static GpStatus refuse_image(GpDevice *d, const GpImage *image, const char *why, GpDiags *diags) {
    char kernel[96];
    snprintf(kernel, sizeof kernel, "`%s`", image->name);
    (void)d;
    gp_diag(diags, GpDiag_G0914, GP_NO_SPAN, kernel, why);
    return GpStatus_Unsupported;
}

static GpStatus check_image(GpDevice *d, const GpImage *image, GpDiags *diags) {
    char why[128];
    bool is_gpu = d->info.kind == GpDevice_Cuda;
    if (is_gpu != (image->kind == GpImage_Ptx)) {
        snprintf(why, sizeof why, "it was compiled for %s, and the device is `%s`",
                 is_gpu ? "the CPU" : "a GPU", d->info.name);
        return refuse_image(d, image, why, diags);
    }
    if (image->param_bytes > GP_MAX_PARAM_BYTES)
        return refuse_image(d, image, "its parameters take more than 4096 bytes", diags);
    if (image->param_count > GP_MAX_PARAMS)
        return refuse_image(d, image, "it has more than 256 parameters", diags);
    if (!is_gpu && image->map_count)
        return refuse_image(d, image, "tensor maps are a GPU's", diags);
    if (is_gpu && image->shared_bytes > d->info.max_shared) {
        snprintf(why, sizeof why, "it needs %u bytes of shared memory a block, and the limit is %u",
                 image->shared_bytes, d->info.max_shared);
        return refuse_image(d, image, why, diags);
    }
    if (is_gpu && image->min_sm > d->info.sm) {
        snprintf(why, sizeof why, "it needs sm_%u, and the device is sm_%u", image->min_sm,
                 d->info.sm);
        return refuse_image(d, image, why, diags);
    }
    if (is_gpu && image->ptx_version > d->info.max_ptx) {
        snprintf(why, sizeof why, "it is PTX %u.%u, and the driver reads up to %u.%u",
                 image->ptx_version / 10, image->ptx_version % 10, d->info.max_ptx / 10,
                 d->info.max_ptx % 10);
        return refuse_image(d, image, why, diags);
    }
    for (uint32_t i = 0; i < image->param_count; i++)
        gp_assert(image->params[i].offset + image->params[i].bytes <= image->param_bytes);
    return GpStatus_Ok;
}

static bool has_mailbox(const GpImage *image) {
    bool found = false;
    for (uint32_t i = 0; i < image->param_count; i++)
        found |= image->params[i].kind == GpParam_Mailbox;
    return found;
}

static void free_exec(GpExec *e) {
    GpSession *s = e->device->rt->session;
    if (e->maps)
        gp_free(s, e->maps, e->image->map_count * sizeof *e->maps);
    gp_image_release(e->image);
    gp_free(s, e, sizeof *e);
}

GpStatus gp_exec_new(GpDevice *d, GpImage *image, GpDiags *diags, GpExec **out) {
    *out = NULL;
    GpStatus status = gp_device_check(d, diags);
    if (status == GpStatus_Ok)
        status = check_image(d, image, diags);
    if (status != GpStatus_Ok)
        return status;
    GpExec *e = GP_TRY_NEW(d->rt->session, GpExec);
    if (!e)
        return gp_report_no_memory(diags);
    size_t map_bytes = image->map_count * sizeof *e->maps;
    *e = (GpExec){
        .device = d, .image = gp_image_retain(image), .refs = 1, .has_mailbox = has_mailbox(image)};
    e->is_clustered = (uint64_t)image->cluster[0] * image->cluster[1] * image->cluster[2] > 1;
    e->maps = map_bytes ? gp_try_calloc(d->rt->session, map_bytes) : NULL;
    status = map_bytes && !e->maps ? gp_report_no_memory(diags) : d->ops->load(e, diags);
    if (status != GpStatus_Ok) {
        free_exec(e);
        return status;
    }
    gp_runtime_retain(d->rt);
    *out = e;
    return GpStatus_Ok;
}

GpExec *gp_exec_retain(GpExec *e) {
    e->refs++;
    return e;
}

void gp_exec_release(GpExec *e) {
    if (!e || --e->refs != 0)
        return;
    GpDevice *d = e->device;
    GpRuntime *rt = d->rt;
    if (e->module)
        gp_device_drain(d); /* a module must not go while its kernels run */
    d->ops->unload(e);
    free_exec(e);
    gp_runtime_release(rt);
}

const GpImage *gp_exec_image(const GpExec *e) { return e->image; }

GpStatus gp_exec_info(GpExec *e, uint32_t threads, GpExecInfo *out) {
    *out = e->info;
    bool is_known = e->image->threads || e->device->info.kind != GpDevice_Cuda;
    GpCuResult result = is_known ? 0 : gp_cuda_occupancy(e, threads, &out->blocks);
    return result == 0 ? GpStatus_Ok : gp_device_fail(e->device, result, "asking for occupancy", NULL);
}
