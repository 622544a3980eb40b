/* Launches as data: the parameter block of an image, and records that gpu_vectors.py runs on a GPU:
** little-endian words, texts and blocks with their length before them. */
#include "spec/codegen/gp_codegen_tool.h"

static void put_block(FILE *f, const void *at, size_t len) {
    uint32_t n = (uint32_t)len;
    fwrite(&n, sizeof n, 1, f);
    fwrite(at, 1, len, f);
}

void pack_launch(const GpImage *image, const Launch *l, uint8_t *const *memory,
                 uint8_t *block, GpMailbox *mailbox) {
    for (uint32_t i = 0; i < image->param_count; i++) {
        const GpImageParam *p = &image->params[i];
        const GpShape *shape = &l->shape[p->arg];
        int64_t value = 0, count = 1;
        switch (p->kind) {
        case GpParam_Base:
            value = (int64_t)(uintptr_t)memory[p->arg];
            break;
        case GpParam_Dim:
            value = shape->dim[p->axis];
            break;
        case GpParam_Len:
            value = shape->dim[0];
            break;
        case GpParam_Stride:
            for (int a = p->axis + 1; a < shape->rank; a++)
                count *= shape->dim[a];
            value = count;
            break;
        case GpParam_Scalar:
            memcpy(&value, memory[p->arg], p->bytes);
            break;
        case GpParam_Mailbox:
            value = (int64_t)(uintptr_t)mailbox;
            break;
        case GpParam_Grid:
        case GpParam_TensorMap:
            gp_unreachable(); /* kernels for GPUs have them */
        }
        memcpy(block + p->offset, &value, p->bytes);
    }
}

void write_record(Tool *t, const Launch *l) {
    GpTarget target;
    GpImage *image = NULL;
    if (!t->records)
        return;
    if (gp_target_parse(GP_STR("sm_90a"), &target) != GpStatus_Ok ||
        gp_codegen_compile(t->cg, l->fn, &target, t->diags, &image) != GpStatus_Ok) {
        print_diags(t);
        return;
    }
    static uint64_t block[64];
    pack_launch(image, l, l->before, (uint8_t *)block, NULL);
    GpGrid grid = l->grid;
    if (image->threads)
        grid.block[0] = image->threads;
    put_block(t->records, l->name, strlen(l->name));
    put_block(t->records, image->ptx, image->ptx_len + 1);
    put_block(t->records, image->entry, strlen(image->entry) + 1);
    fwrite(&grid, sizeof grid, 1, t->records);
    put_block(t->records, block, image->param_bytes);
    uint32_t fixes = 0;
    for (uint32_t i = 0; i < image->param_count; i++)
        fixes += image->params[i].kind == GpParam_Base || image->params[i].kind == GpParam_Mailbox;
    fwrite(&fixes, sizeof fixes, 1, t->records);
    for (uint32_t i = 0; i < image->param_count; i++) {
        const GpImageParam *p = &image->params[i];
        bool is_mailbox = p->kind == GpParam_Mailbox;
        if (p->kind != GpParam_Base && !is_mailbox)
            continue;
        uint32_t fix[] = {p->offset, is_mailbox ? UINT32_MAX : p->arg};
        fwrite(fix, sizeof fix, 1, t->records);
    }
    fwrite(&l->args, sizeof l->args, 1, t->records);
    for (uint32_t i = 0; i < l->args; i++) {
        const char *elem = gp_elem_info[l->elem[i]].name;
        put_block(t->records, elem, strlen(elem));
        put_block(t->records, l->before[i], l->bytes[i]);
        put_block(t->records, l->after[i], l->bytes[i]);
    }
    fwrite(&l->bound, sizeof l->bound, 1, t->records);
    gp_image_release(image);
}
