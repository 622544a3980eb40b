/* What a warp-specialised kernel has beside its parameters: descriptors of the tensors it copies, the
** grid it walks, and shared memory. */
#include "codegen/pipe.h"

enum { AXES = 3 };

/* One panel of the tile at a time, with all its lines. */
static GpImageMap map_of(const GpEmit *e, const GpInst *access, uint32_t panel_bytes) {
    const GpShape *shape = gp_tile_shape(access);
    GpPipeTensor t;
    (void)gp_pipe_tensor(e, access, &t);
    GpImageMap m = {.arg = t.param->arg,
                    .elem = access->operands[0]->type->elem,
                    .rank = (uint8_t)shape->rank,
                    .slices = (uint8_t)(t.slice ? t.axis + 1 : 0),
                    .swizzle = (uint8_t)panel_bytes};
    for (int a = 0; a < shape->rank; a++)
        m.box[a] = (uint32_t)shape->dim[a];
    m.box[shape->rank - 1] = panel_bytes / gp_elem_info[m.elem].bytes;
    return m;
}

static bool is_same_map(const GpImageMap *a, const GpImageMap *b) {
    return a->arg == b->arg && a->swizzle == b->swizzle && a->slices == b->slices &&
           memcmp(a->box, b->box, sizeof a->box) == 0;
}

static uint32_t add_map(GpPipe *p, const GpImageMap *m) {
    uint32_t k = 0;
    while (k < p->map_count && !is_same_map(&p->maps[k], m))
        k++;
    p->maps[k] = *m;
    p->map_count = GP_MAX(p->map_count, k + 1);
    return k;
}

void gp_pipe_add_maps(GpEmit *e, GpPipe *p) {
    p->maps = GP_NEW_ARRAY(e->arena, GpImageMap, p->feeds.count + p->store_count + 1);
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        GpImageMap m = map_of(e, p->feeds.at[i].load, p->feeds.at[i].panel_bytes);
        int a[2];
        (void)gp_feed_axes(gp_tile_shape(p->feeds.at[i].load), a);
        m.box[a[0]] /= p->feeds.at[i].is_shared ? p->cluster : 1;
        p->feeds.at[i].map = add_map(p, &m);
    }
    for (uint32_t i = 0; i < p->store_count; i++) {
        GpImageMap m = map_of(e, p->stores[i].inst, p->stores[i].panel_bytes);
        m.box[m.rank - 1 - p->stores[i].row_axis] = GP_PIPE_BLOCK_ROWS;
        p->stores[i].map = add_map(p, &m);
    }
    if (p->fetch.load) {
        GpImageMap m = map_of(e, p->fetch.load, p->fetch.panel_bytes);
        m.box[m.rank - 2] = GP_PIPE_BLOCK_ROWS;
        p->fetch.map = add_map(p, &m);
    }
}

void gp_pipe_extend_abi(GpEmit *e, GpPipe *p) {
    bool has_mailbox = e->fn->site_count > 0;
    uint32_t count = e->abi_count - has_mailbox;
    GpImageParam *abi = GP_NEW_ARRAY(e->arena, GpImageParam, e->abi_count + p->map_count + AXES);
    memcpy(abi, e->abi, count * sizeof *abi);
    uint64_t offset = gp_align_up((uint64_t)abi[count - 1].offset + abi[count - 1].bytes, 4);
    for (uint8_t a = 0; a < AXES && p->is_persistent; a++, offset += 4)
        abi[count++] = (GpImageParam){GpParam_Grid, 0, a, 4, (uint16_t)offset};
    offset = gp_align_up(offset, GP_TENSOR_MAP_ALIGN);
    p->first_map = count;
    for (uint32_t i = 0; i < p->map_count; i++, offset += GP_TENSOR_MAP_BYTES)
        abi[count++] = (GpImageParam){GpParam_TensorMap, p->maps[i].arg, (uint8_t)i,
                                      GP_TENSOR_MAP_BYTES, (uint16_t)offset};
    /* ptxas orders a whole function by where its parameters lie: those that kernels without checks have
    ** too keep their places. */
    if (has_mailbox)
        abi[count++] = (GpImageParam){GpParam_Mailbox, 0, 0, 8, (uint16_t)offset};
    e->abi = abi;
    e->abi_count = count;
}

uint32_t gp_pipe_params(GpEmit *e, LLVMValueRef *args) {
    GpPipe *p = e->pipe;
    uint32_t count = p->is_persistent ? AXES : 0;
    memcpy(p->grid, args, count * sizeof *args);
    p->map_params = GP_NEW_ARRAY(e->arena, LLVMValueRef, p->map_count);
    memcpy(p->map_params, args + count, p->map_count * sizeof *args);
    return count + p->map_count;
}

/* Without grid_constant LLVM copies the descriptor to local memory, where the copy unit cannot
** read it. */
void gp_pipe_attributes(GpEmit *e) {
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), GP_TENSOR_MAP_BYTES);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    for (uint32_t i = 0; i < e->pipe->map_count; i++) {
        LLVMAttributeIndex at = e->pipe->first_map + i + 1;
        LLVMAddAttributeAtIndex(e->func, at, LLVMCreateTypeAttribute(e->ctx, byval, type));
        LLVMAddAttributeAtIndex(e->func, at,
                                gp_llvm_attr(e->llvm, "align", GP_TENSOR_MAP_ALIGN));
        LLVMAddAttributeAtIndex(
            e->func, at, LLVMCreateStringAttribute(e->ctx, "nvvm.grid_constant", 18, "", 0));
    }
}

LLVMValueRef gp_pipe_exchange(GpEmit *e, uint64_t bytes) {
    GpPipe *p = e->pipe;
    p->exchange_bytes = bytes;
    p->shared_bytes = p->exchange_at + bytes;
    LLVMValueRef at = gp_emit_i32(e, (int64_t)p->exchange_at);
    return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(e->ctx), p->shared, &at, 1);
}

bool gp_pipe_wants_more(const GpEmit *e, uint64_t *exchange) {
    if (!e->pipe || e->pipe->exchange_bytes <= e->pipe->exchange_room)
        return false;
    *exchange = e->pipe->keeps_layouts ? gp_target_shared(e->target) : e->pipe->exchange_bytes;
    return true;
}

void gp_pipe_describe(const GpEmit *e, GpImage *image) {
    const GpPipe *p = e->pipe;
    const GpImageParam *last = &e->abi[e->abi_count - 1];
    image->params = e->abi;
    image->param_count = e->abi_count;
    image->param_bytes = (uint32_t)last->offset + last->bytes;
    image->maps = p->maps;
    image->map_count = p->map_count;
    image->shared_bytes = (uint32_t)p->shared_bytes;
    image->is_persistent = p->is_persistent;
    image->schedule.warps = (uint8_t)(gp_pipe_tile_threads(p) / GP_GPU_LANES);
    image->schedule.persistent = p->is_persistent ? 2 : 1;
    image->schedule.cluster = (uint8_t)p->cluster;
    image->cluster[0] = p->cluster;
    for (uint32_t i = 0; i < p->channel_count; i++)
        image->schedule.stages = (uint8_t)GP_MAX(image->schedule.stages, p->channels[i].stages);
}
