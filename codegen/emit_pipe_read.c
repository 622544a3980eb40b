/* Tiles that consumers read from their stages into registers: first operands of products that are held, and what is read
** beside products. Both are as a product's sums lie, elements of 16 bits by ldmatrix. */
#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"
#include "codegen/pipe.h"


static LLVMValueRef first_row(GpEmit *e) {
    return gp_i32_scale(e, gp_i32_shift(e, gp_gpu_thread(e), GP_GPU_LANE_BITS), GP_FRAGMENT_ROWS);
}

/* Two elements of 16 bits a word, in the order of products. */
static GpBound read_words(GpEmit *e, const GpFeed *f, bool is_swapped) {
    GpFeedView view = {(GpFeed *)(uintptr_t)f, is_swapped};
    uint32_t height = is_swapped ? f->width : f->lines, depth = is_swapped ? f->lines : f->width;
    uint32_t steps = depth / GP_FRAGMENT_ROWS, rows_each = gp_pipe_rows(e->pipe), count = 0;
    LLVMValueRef base = gp_pipe_at(e, gp_pipe_tile(e, f));
    GpFragment fragment = gp_fragment_open(e, &view, f->load->results[0]->type->elem, false, base, first_row(e));
    GpBound words = gp_emit_bound_make(e, height / rows_each * steps * GP_FRAGMENT_WORDS);
    for (uint32_t row = 0; row < height; row += rows_each)
        for (uint32_t step = 0; step < steps; step++, count += GP_FRAGMENT_WORDS)
            gp_fragment_read(e, &fragment, row, step, words.at + count);
    return words;
}

void gp_pipe_hold(GpEmit *e, GpFeed *f) {
    f->words = read_words(e, f, f->is_swapped);
    gp_pipe_release(e, f->group->channel);
}

/* `at`: the places of elements in the order of products. */
static void unpack_words(GpEmit *e, const GpFeed *f, const uint32_t *at, GpBound *out) {
    GpElem elem = f->load->results[0]->type->elem;
    GpBound words = read_words(e, f, false);
    for (uint32_t i = 0; i < out->count; i++) {
        LLVMValueRef word = gp_i32_shift(e, words.at[i / 2], INT64_C(16) * (i % 2));
        out->at[at[i]] = gp_emit_from_mem(e, elem, LLVMBuildTrunc(e->b, word, gp_emit_mem_type(e, elem), ""));
    }
}

static void read_pairs(GpEmit *e, const GpFeed *f, const uint32_t *at, GpBound *out) {
    GpElem elem = f->load->results[0]->type->elem;
    GpFragment fragment = gp_fragment_open_pairs(e, f, elem, gp_pipe_at(e, gp_pipe_tile(e, f)), first_row(e));
    uint32_t rows_each = gp_pipe_rows(e->pipe), count = 0;
    LLVMValueRef two[2];
    GpBound pair = {two, 2};
    for (uint32_t row = 0; row < f->lines; row += rows_each)
        for (uint32_t half = 0; half < f->width / 4; half++, count += 2) {
            LLVMValueRef ptr = gp_fragment_pair(e, &fragment, row + half % 2 * 8, half / 2 * 8);
            gp_gpu_take_run(e, elem, ptr, &pair, 0, 2);
            out->at[at[count]] = two[0];
            out->at[at[count + 1]] = two[1];
        }
}

void gp_pipe_read(GpEmit *e, GpFeed *f) {
    const GpValue *v = f->load->results[0];
    GpShape matrix = {.rank = 2, .dim = {f->lines, f->width}};
    const GpShapeLayout *layout = gp_wgmma_layout(e, &v->type->shape);
    const uint32_t *at = gp_wgmma_places(e, gp_wgmma_layout(e, &matrix));
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(layout->layout));
    if (gp_elem_info[v->type->elem].bytes == 2)
        unpack_words(e, f, at, &out);
    else
        read_pairs(e, f, at, &out);
    gp_gpu_bind(e, v, out, layout);
}
