/* Compiled kernels on the heap. A copy is one block: the image, its tables, its strings. */
#include "core/image.h"

typedef struct HeapImage {
    GpImage image; /* first: users hold a pointer to it */
    size_t bytes;  /* of the block */
} HeapImage;

/* Hands out pieces of the block; with no block yet it only measures. Tables come before
** strings, so that every table is aligned. */
typedef struct Packer {
    char *block;
    size_t used;
} Packer;

static void *pack(Packer *p, const void *from, size_t bytes, size_t align) {
    p->used = (size_t)gp_align_up(p->used, align);
    void *to = p->block ? p->block + p->used : NULL;
    if (to && bytes)
        memcpy(to, from, bytes);
    p->used += bytes;
    return to;
}

static const char *pack_cstr(Packer *p, const char *from) {
    return from ? pack(p, from, strlen(from) + 1, 1) : NULL;
}

static void pack_image(Packer *p, GpImage *to, const GpImage *from) {
    *to = *from;
    pack(p, NULL, 0, 16);
    to->params = pack(p, from->params, from->param_count * sizeof *from->params, 16);
    to->sites = pack(p, from->sites, from->site_count * sizeof *from->sites, 16);
    to->maps = pack(p, from->maps, from->map_count * sizeof *from->maps, 16);
    to->name = pack_cstr(p, from->name);
    to->entry = pack_cstr(p, from->entry);
    to->ptx = from->ptx ? pack(p, from->ptx, from->ptx_len + 1, 1) : NULL;
    for (uint32_t i = 0; i < from->site_count; i++) {
        const char *file = pack_cstr(p, from->sites[i].place.file);
        const char *what = pack_cstr(p, from->sites[i].what);
        if (!p->block)
            continue;
        to->sites[i].place.file = file;
        to->sites[i].what = what;
    }
}

GpImage *gp_image_copy(GpSession *s, const GpImage *from) {
    GpImage scratch;
    Packer measure = {.used = sizeof(HeapImage)};
    pack_image(&measure, &scratch, from);
    HeapImage *heap = gp_try_calloc(s, measure.used);
    if (!heap)
        return NULL;
    Packer packer = {(char *)heap, sizeof(HeapImage)};
    pack_image(&packer, &heap->image, from);
    gp_assert(packer.used == measure.used);
    heap->bytes = measure.used;
    heap->image.session = s;
    heap->image.refs = 1;
    return &heap->image;
}

GpImage *gp_image_retain(GpImage *image) {
    image->refs++;
    return image;
}

void gp_image_release(GpImage *image) {
    if (!image || --image->refs != 0)
        return;
    if (image->release)
        image->release(image->cpu_self);
    HeapImage *heap = (HeapImage *)(void *)image;
    gp_free(image->session, heap, heap->bytes);
}
