/* Finding libcuda, resolving its entry points, and the table of its results. */
#include "runtime/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef GpCuResult (*GetProcV2)(const char *, void **, int, uint64_t, int *);
typedef GpCuResult (*GetProcV1)(const char *, void **, int, uint64_t);

static const GpCudaError errors[] = {
#define GP_CUDA_ERROR(name, value, status, code, sticky, help)                                     \
    {#name, value, GpStatus_##status, GpDiag_##code, sticky, help},
#include "runtime/cuda_errors.def"
};

/* The toolkit's own libcuda.so is a stub, so the bare name comes last. */
static const char *const usual_paths[] = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "libcuda.so",
};

/* {driver version, newest PTX it reads}, from the release notes in NVIDIA's PTX manual. */
static const struct {
    int driver;
    uint16_t ptx;
} ptx_versions[] = {
    {13010, 91}, {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85},
    {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80},
};

uint16_t gp_cuda_max_ptx(int driver_version) {
    for (size_t i = 0; i < GP_COUNT(ptx_versions); i++) {
        if (driver_version >= ptx_versions[i].driver)
            return ptx_versions[i].ptx;
    }
    return 0;
}

const GpCudaError *gp_cuda_error(GpCuResult result) {
    for (size_t i = 0; i < GP_COUNT(errors); i++) {
        if (errors[i].value == result)
            return &errors[i];
    }
    return &errors[GP_COUNT(errors) - 1]; /* the table ends with CUDA_ERROR_UNKNOWN, 999 */
}

GpStatus gp_cuda_report(GpCuResult result, const char *what, GpDiags *diags) {
    const GpCudaError *row = gp_cuda_error(result);
    if (!diags)
        return row->status;
    char detail[512];
    snprintf(detail, sizeof detail, "%s: %s (%d)", what, row->name, (int)result);
    GpDiag *d = gp_diag(diags, row->code, GP_NO_SPAN, detail);
    if (row->help[0])
        gp_help(d, "%s", row->help);
    return row->status;
}

static void *open_library(const char *path) {
    if (path)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; !library && i < GP_COUNT(usual_paths); i++)
        library = dlopen(usual_paths[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* ISO C has no conversion between the two kinds of pointer; POSIX promises that the bits fit. */
static void store_function(void *field, void *symbol) { memcpy(field, &symbol, sizeof symbol); }

typedef struct Resolver {
    void *library;
    GetProcV2 get_v2;
    GetProcV1 get_v1;
} Resolver;

static void *resolve(const Resolver *r, const char *symbol, int version, const char *plain) {
    void *at = NULL;
    int found = 0;
    if (r->get_v2 && r->get_v2(symbol, &at, version, GP_CU_PROC_DEFAULT, &found) == 0 && at)
        return at;
    if (!r->get_v2 && r->get_v1 && r->get_v1(symbol, &at, version, GP_CU_PROC_DEFAULT) == 0 && at)
        return at;
    return dlsym(r->library, plain);
}

static const struct Entry {
    const char *symbol, *plain;
    int version;
    GpCudaNeed need;
    size_t field; /* offset in GpCuda */
} entries[] = {
#define GP_CUDA_FN(field, symbol, version, plain, need, params)                                    \
    {#symbol, plain, version, GpCudaNeed_##need, offsetof(GpCuda, field)},
#include "runtime/cuda_api.def"
};

static void resolve_all(GpCuda *cu) {
    Resolver r = {.library = cu->library};
    store_function(&r.get_v2, dlsym(cu->library, "cuGetProcAddress_v2"));
    store_function(&r.get_v1, dlsym(cu->library, "cuGetProcAddress"));
    for (size_t i = 0; i < GP_COUNT(entries); i++) {
        const struct Entry *e = &entries[i];
        void *at = resolve(&r, e->symbol, e->version, e->plain);
        store_function((char *)cu + e->field, at);
        if (at)
            continue;
        cu->missing |= UINT32_C(1) << e->need;
        if (e->need == GpCudaNeed_Required && !cu->absent)
            cu->absent = e->symbol;
    }
}

static void note_path(GpCuda *cu, const char *path) {
    Dl_info info;
    void *symbol = dlsym(cu->library, "cuInit");
    const char *name = path ? path : "libcuda.so.1";
    if (symbol && dladdr(symbol, &info) && info.dli_fname)
        name = info.dli_fname;
    snprintf(cu->path, sizeof cu->path, "%s", name);
}

void gp_cuda_open(GpCuda *cu, const char *path) {
    if (cu->is_found)
        return;
    cu->library = open_library(path);
    cu->is_found = cu->library != NULL;
    if (!cu->is_found) {
        snprintf(cu->path, sizeof cu->path, "%s", path ? path : "");
        return;
    }
    note_path(cu, path);
    resolve_all(cu);
    if (cu->driver_version)
        (void)cu->driver_version(&cu->version);
}

static GpStatus report_too_old(const GpCuda *cu, GpDiags *diags) {
    char detail[384];
    if (cu->version && cu->version < GP_CUDA_OLDEST) {
        snprintf(detail, sizeof detail, "it supports CUDA %d.%d, and gpulua needs %d.%d",
                 cu->version / 1000, cu->version % 1000 / 10, GP_CUDA_OLDEST / 1000,
                 GP_CUDA_OLDEST % 1000 / 10);
    } else {
        snprintf(detail, sizeof detail, "%s has no `%s`", cu->path, cu->absent);
    }
    GpDiag *d = gp_diag(diags, GpDiag_G0904, GP_NO_SPAN, detail);
    gp_help(d, "update the NVIDIA driver");
    return GpStatus_DriverTooOld;
}

static GpStatus report_absent(const GpCuda *cu, GpDiags *diags) {
    char detail[384] = "";
    if (*cu->path)
        snprintf(detail, sizeof detail, ": `%.300s` cannot be loaded", cu->path);
    GpDiag *d = gp_diag(diags, GpDiag_G0901, GP_NO_SPAN, detail);
    if (*cu->path)
        gp_note(d, "looked nowhere else, as GPULUA_LIBCUDA or the application names that file");
    else
        gp_note(d, "looked for libcuda.so.1 where the loader looks, and in the places of WSL and "
                   "of containers");
    gp_help(d, "install the NVIDIA driver, point GPULUA_LIBCUDA at its libcuda.so.1, or use "
               "the device `cpu`");
    return GpStatus_NoDriver;
}

GpStatus gp_cuda_start(GpCuda *cu, GpDiags *diags) {
    if (!cu->is_found)
        return report_absent(cu, diags);
    /* A stub may lack anything; its own answer explains more than a missing symbol. */
    if (!cu->is_tried && cu->init) {
        cu->outcome = cu->init(0);
        if (cu->outcome == 0 && !cu->absent)
            cu->outcome = cu->device_count(&cu->count);
        if (cu->outcome == 0 && !cu->absent && cu->count == 0)
            cu->outcome = 100;
    }
    cu->is_tried = true;
    if (cu->outcome == 0 && (cu->absent || cu->version < GP_CUDA_OLDEST))
        return report_too_old(cu, diags);
    if (cu->outcome == 0)
        return GpStatus_Ok;
    return gp_cuda_report(cu->outcome, "cuInit", diags);
}
