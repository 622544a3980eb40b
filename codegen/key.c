/* The cache key of a compile: BLAKE3 of everything that the result depends on. */
#include <llvm-c/blake3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "build_id.h" /* generated: a hash of the sources that decide what code is made */
#include "codegen/emit.h"

static void add_text(llvm_blake3_hasher *h, const char *text) {
    llvm_blake3_hasher_update(h, text, strlen(text) + 1);
}

/* Path, size and time of the library stand for its contents. */
static void add_device_math(llvm_blake3_hasher *h, GpCodegen *cg) {
    const char *path = gp_codegen_device_math(cg);
    struct stat st;
    if (!path || stat(path, &st) != 0)
        return;
    char text[64];
    snprintf(text, sizeof text, "%lld %lld", (long long)st.st_size, (long long)st.st_mtime);
    add_text(h, path);
    add_text(h, text);
}

static void add_host(llvm_blake3_hasher *h) {
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    add_text(h, cpu);
    add_text(h, features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
}

static void add_params(llvm_blake3_hasher *h, const GpIrFn *fn) {
    for (uint32_t i = 0; i < fn->param_count; i++) {
        const GpIrParam *p = &fn->params[i];
        uint8_t facts[] = {(uint8_t)p->kind, p->arg,         p->is_written, p->is_unique,
                           p->aligned16,     p->unit_stride, p->small,      p->splits_lines};
        llvm_blake3_hasher_update(h, facts, sizeof facts);
    }
    for (uint32_t i = 0; i < fn->site_count; i++) {
        char place[32];
        snprintf(place, sizeof place, "%u:%u", fn->sites[i].place.line, fn->sites[i].place.column);
        add_text(h, fn->sites[i].place.file ? fn->sites[i].place.file : "");
        add_text(h, place);
    }
}

static void add_lines(GpInst *inst, void *ud) {
    if (!inst->span.src)
        return;
    GpPlaceInFile at = gp_span_start(inst->span);
    uint32_t place[] = {at.line, at.column};
    llvm_blake3_hasher_update(ud, place, sizeof place);
}

void gp_codegen_hash(GpStr text, uint8_t key[32]) {
    llvm_blake3_hasher h;
    llvm_blake3_hasher_init(&h);
    add_text(&h, GPULUA_BUILD_ID);
    add_text(&h, gp_llvm_version());
    llvm_blake3_hasher_update(&h, text.at, text.len);
    llvm_blake3_hasher_finalize(&h, key, LLVM_BLAKE3_OUT_LEN);
}

typedef struct Key {
    GpCodegen *cg;
    const GpIrFn *fn;
    const GpTarget *target;
    GpText ir, name;
    uint8_t *out;
} Key;

static void hash(GpSession *s, void *ud) {
    Key *k = ud;
    llvm_blake3_hasher h;
    llvm_blake3_hasher_init(&h);
    gp_ir_print(k->fn, &k->ir);
    gp_target_print(k->target, &k->name);
    if (k->ir.failed || k->name.failed)
        gp_throw(s, GpStatus_NoMemory);
    add_text(&h, GPULUA_BUILD_ID);
    add_text(&h, gp_llvm_version());
    add_text(&h, gp_text_cstr(&k->ir));
    add_text(&h, gp_text_cstr(&k->name));
    llvm_blake3_hasher_update(&h, &k->target->ptx, sizeof k->target->ptx);
    add_params(&h, k->fn);
    gp_ir_walk(k->fn, GpWalk_Before, add_lines, &h); /* .loc lines */
    if (k->target->kind == GpTarget_Nvptx)
        add_device_math(&h, k->cg);
    else
        add_host(&h);
    llvm_blake3_hasher_finalize(&h, k->out, LLVM_BLAKE3_OUT_LEN);
}

GpStatus gp_codegen_key(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target, uint8_t key[32]) {
    Key k = {cg, fn, target, {.session = cg->session}, {.session = cg->session}, key};
    GpStatus status = gp_protect(cg->session, hash, &k);
    gp_text_free(&k.ir);
    gp_text_free(&k.name);
    return status;
}
