/* Reading operands of products from shared memory: fragment.h says how they lie. */
#include "codegen/emit_i32.h"
#include "codegen/fragment.h"
#include "codegen/emit_tile_gpu.h"

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }

/* Where the lane's words lie in 16 lines of two chunks. ldmatrix takes the addresses of eight lines
** from eight lanes; with words, a lane has its own: a quad of lanes shares a line, or a column. */
static void find_lane(GpEmit *e, const GpFragment *o, LLVMValueRef *line, LLVMValueRef *byte) {
    LLVMValueRef lane = gp_i32_low(e, gp_gpu_thread(e), GP_GPU_LANES);
    if (o->is_along_k && o->bytes == 4) {
        *line = gp_i32_low(e, lane, 4);
        *byte = gp_i32_scale(e, gp_i32_shift(e, lane, 2), 4);
        return;
    }
    LLVMValueRef first = gp_i32_low(e, gp_i32_shift(e, lane, 3), 2), second = gp_i32_shift(e, lane, 4);
    bool is_line_first = o->is_b == o->is_along_k;
    *line = gp_i32_add(e, gp_i32_low(e, lane, GP_SWIZZLE_LINES), gp_i32_scale(e, is_line_first ? first : second, GP_SWIZZLE_LINES));
    *byte = gp_i32_scale(e, is_line_first ? second : first, GP_FEED_CHUNK_BYTES);
}

GpFragment gp_fragment_open(GpEmit *e, const GpFeedView *v, GpElem elem, bool is_b, LLVMValueRef base, LLVMValueRef warp) {
    const GpFeed *f = v->feed;
    GpFragment o = {.feed = f, .base = base, .is_b = is_b, .is_along_k = v->is_swapped != is_b};
    o.bytes = gp_elem_info[elem].bytes;
    LLVMValueRef line, byte, panel = gp_emit_i32(e, 0);
    find_lane(e, &o, &line, &byte);
    LLVMValueRef swizzle = gp_i32_scale(e, gp_i32_shift(e, gp_i32_low(e, line, GP_SWIZZLE_LINES), gp_panel_shift(f->panel_bytes)), GP_FEED_CHUNK_BYTES);
    if (o.is_along_k) {
        warp = gp_i32_scale(e, warp, o.bytes);
        panel = LLVMBuildUDiv(e->b, warp, gp_emit_i32(e, f->panel_bytes), "");
        byte = gp_i32_add(e, byte, gp_i32_low(e, warp, f->panel_bytes));
    } else {
        line = gp_i32_add(e, line, warp);
    }
    o.lines = gp_i32_add(e, gp_i32_scale(e, line, f->panel_bytes), gp_i32_scale(e, panel, (int64_t)f->lines * f->panel_bytes));
    o.across = LLVMBuildXor(e->b, byte, swizzle, "");
    return o;
}

GpFragment gp_fragment_open_pairs(GpEmit *e, const GpFeed *f, GpElem elem, LLVMValueRef base, LLVMValueRef warp) {
    GpFragment o = {.feed = f, .base = base, .bytes = gp_elem_info[elem].bytes};
    LLVMValueRef lane = gp_i32_low(e, gp_gpu_thread(e), GP_GPU_LANES), line = gp_i32_shift(e, lane, 2);
    LLVMValueRef swizzle = gp_i32_scale(e, gp_i32_shift(e, line, gp_panel_shift(f->panel_bytes)), GP_FEED_CHUNK_BYTES);
    o.lines = gp_i32_scale(e, gp_i32_add(e, line, warp), f->panel_bytes);
    o.across = LLVMBuildXor(e->b, gp_i32_scale(e, gp_i32_low(e, lane, 4), (int64_t)2 * o.bytes), swizzle, "");
    return o;
}

/* The place `line` lines and `byte` bytes behind the thread's. Bits of its chunk on a line are not added but exchanged: an
** address for each. In a chunk the thread's place has other bits. */
static LLVMValueRef place(GpEmit *e, GpFragment *o, uint32_t line, uint32_t byte) {
    const GpFeed *f = o->feed;
    uint32_t panel = byte / f->panel_bytes, swizzle = line % GP_SWIZZLE_LINES >> gp_panel_shift(f->panel_bytes);
    uint32_t part = byte % f->panel_bytes / GP_FEED_CHUNK_BYTES ^ swizzle;
    if (!o->at[part]) {
        LLVMValueRef across = LLVMBuildXor(e->b, o->across, gp_emit_i32(e, (int64_t)part * GP_FEED_CHUNK_BYTES), "");
        o->at[part] = gp_emit_gep(e, GpElem_U8, o->base, gp_i32_add(e, o->lines, across));
    }
    int64_t rest = ((int64_t)panel * f->lines + line) * f->panel_bytes + byte % GP_FEED_CHUNK_BYTES;
    return gp_emit_gep(e, GpElem_U8, o->at[part], gp_emit_i32(e, rest));
}

LLVMValueRef gp_fragment_pair(GpEmit *e, GpFragment *o, uint32_t line, uint32_t column) {
    return place(e, o, line, column * o->bytes);
}

void gp_fragment_read(GpEmit *e, GpFragment *o, uint32_t first, uint32_t step, LLVMValueRef *words) {
    uint32_t per_step = GP_FRAGMENT_STEP_BYTES / o->bytes;
    if (o->is_along_k && o->bytes == 4) {
        for (uint32_t i = 0; i < GP_FRAGMENT_WORDS; i++) {
            uint32_t half = o->is_b ? i % 2 : i / 2, eight = o->is_b ? i / 2 : i % 2;
            LLVMValueRef at = place(e, o, step * per_step + half * 4, (first + eight * GP_SWIZZLE_LINES) * o->bytes);
            words[i] = LLVMBuildLoad2(e->b, i32(e), at, "");
        }
        return;
    }
    LLVMValueRef at = o->is_along_k ? place(e, o, step * per_step, first * o->bytes) : place(e, o, first, step * GP_FRAGMENT_STEP_BYTES);
    const char *name = o->is_along_k ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                                     : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16";
    LLVMValueRef all = gp_emit_intrinsic(e, name, gp_emit_ptr_type(e, GpSpace_Shared), &at, 1);
    for (unsigned i = 0; i < GP_FRAGMENT_WORDS; i++)
        words[i] = LLVMBuildExtractValue(e->b, all, i, "");
}
