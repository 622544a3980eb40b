/* The disk cache of compiled kernels.
**
** An entry is one file that holds everything: magic, key, checksum, image. It is written beside
** its place and renamed there, so readers see a whole entry or none, from any number of
** processes. Whatever looks wrong (short, long, another key, a checksum, a value out of range)
** is a miss, and nothing that goes wrong here is more than a line in the log. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/os_posix.h"
#include "runtime/internal.h"

#define MAGIC "gpuLua\6" /* with its final NUL 8 bytes; the digit is the format */
#define SUFFIX ".gpc"
#define NAME_LEN (64 + sizeof SUFFIX - 1)
#define MAX_ENTRY ((off_t)64 << 20)
#define MAX_BYTES ((uint64_t)2 << 30)
#define KEEP_BYTES (MAX_BYTES / 4 * 3) /* what is left after a cleaning */
#define PUTS_PER_CLEANING 64
#define STALE_SECONDS 3600 /* a temporary file this old belongs to nobody */
#define TOUCH_SECONDS 3600 /* how exact "recently used" is */

typedef struct Header {
    char magic[8];
    uint8_t key[32];
    uint64_t bytes;    /* of what follows */
    uint64_t checksum; /* of what follows */
} Header;

static uint64_t checksum(const void *at, size_t len) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const uint8_t *)at)[i]) * UINT64_C(0x100000001b3);
    return hash ^ len;
}

/* ---- An image as bytes ------------------------------------------------------------------ */

static void put_u32(GpText *t, uint32_t v) { gp_text_add(t, (const char *)&v, sizeof v); }

/* Length, bytes and a NUL; length UINT32_MAX is NULL. */
static void put_text(GpText *t, const char *text, size_t len) {
    put_u32(t, text ? (uint32_t)len : UINT32_MAX);
    if (text)
        gp_text_add(t, text, len);
    gp_text_add(t, "", 1);
}

static void put_cstr(GpText *t, const char *text) { put_text(t, text, text ? strlen(text) : 0); }

static void put_image(GpText *t, const GpImage *m) {
    put_cstr(t, m->name);
    put_cstr(t, m->entry);
    put_text(t, m->ptx, m->ptx_len);
    const uint32_t numbers[] = {m->threads,    m->shared_bytes, m->cluster[0],  m->cluster[1],
                                m->cluster[2], m->ptx_version,  m->min_sm,      m->param_bytes,
                                m->param_count, m->site_count,  m->map_count,  m->is_persistent,
                                m->is_dependent,
                                (uint32_t)m->written, (uint32_t)(m->written >> 32),
                                (uint32_t)m->overwrites, (uint32_t)(m->overwrites >> 32),
                                (uint32_t)m->unpiped};
    for (size_t i = 0; i < GP_COUNT(numbers); i++)
        put_u32(t, numbers[i]);
    gp_text_add(t, (const char *)&m->schedule, sizeof m->schedule);
    for (uint32_t i = 0; i < m->map_count; i++) {
        const GpImageMap *map = &m->maps[i];
        put_u32(t, (uint32_t)map->elem);
        put_u32(t, (uint32_t)(map->arg | map->rank << 8 | map->swizzle << 16 | map->slices << 24));
        for (int a = 0; a < map->rank; a++)
            put_u32(t, map->box[a]);
    }
    for (uint32_t i = 0; i < m->param_count; i++) {
        const GpImageParam *p = &m->params[i];
        put_u32(t, (uint32_t)p->kind);
        put_u32(t, (uint32_t)(p->arg | p->axis << 8 | p->bytes << 16));
        put_u32(t, p->offset);
    }
    for (uint32_t i = 0; i < m->site_count; i++) {
        const GpCheckSite *site = &m->sites[i];
        put_u32(t, (uint32_t)site->kind);
        put_u32(t, site->axis);
        put_cstr(t, site->place.file);
        put_u32(t, site->place.line);
        put_u32(t, site->place.column);
        put_cstr(t, site->what);
    }
}

typedef struct Reader {
    const char *at, *end;
    bool is_bad;
} Reader;

static uint32_t get_u32(Reader *r) {
    uint32_t v = 0;
    if (r->is_bad || (size_t)(r->end - r->at) < sizeof v) {
        r->is_bad = true;
        return 0;
    }
    memcpy(&v, r->at, sizeof v);
    r->at += sizeof v;
    return v;
}

static uint32_t get_below(Reader *r, uint32_t limit) {
    uint32_t v = get_u32(r);
    if (v < limit)
        return v;
    r->is_bad = true;
    return 0;
}

/* Points into the entry. */
static const char *get_text(Reader *r, size_t *len) {
    uint32_t count = get_u32(r);
    size_t bytes = count == UINT32_MAX ? 0 : count;
    *len = bytes;
    if (r->is_bad || (size_t)(r->end - r->at) < bytes + 1 || r->at[bytes] != '\0') {
        r->is_bad = true;
        return NULL;
    }
    const char *text = r->at;
    r->at += bytes + 1;
    return count == UINT32_MAX ? NULL : text;
}

static const char *get_cstr(Reader *r) {
    size_t len;
    const char *text = get_text(r, &len);
    if (text && strlen(text) != len)
        r->is_bad = true;
    return text;
}

static bool is_param_sound(const GpImageParam *p, const GpImage *m) {
    if ((uint32_t)p->offset + p->bytes > m->param_bytes)
        return false;
    if (p->kind == GpParam_TensorMap)
        return p->bytes == GP_TENSOR_MAP_BYTES && m->maps && p->axis < m->map_count &&
               m->maps[p->axis].arg == p->arg;
    bool is_size = p->bytes == 1 || p->bytes == 2 || p->bytes == 4 || p->bytes == 8;
    return is_size && p->axis < (p->kind == GpParam_Grid ? 3 : GP_MAX_RANK);
}

static void get_param(Reader *r, GpImageParam *p, const GpImage *m) {
    p->kind = (GpParamKind)get_below(r, GpParam_Mailbox + 1);
    uint32_t packed = get_u32(r);
    p->arg = (uint8_t)packed;
    p->axis = (uint8_t)(packed >> 8);
    p->bytes = (uint8_t)(packed >> 16);
    p->offset = (uint16_t)get_below(r, UINT16_MAX + 1);
    r->is_bad |= !is_param_sound(p, m);
}

static void get_map(Reader *r, GpImageMap *map) {
    map->elem = (GpElem)get_below(r, GpElem_count);
    uint32_t packed = get_u32(r);
    map->arg = (uint8_t)packed;
    map->rank = (uint8_t)(packed >> 8);
    map->swizzle = (uint8_t)(packed >> 16);
    map->slices = (uint8_t)(packed >> 24);
    r->is_bad |= map->rank > GP_MAX_RANK || map->slices >= GP_MAX(map->rank, 1);
    for (int a = 0; a < map->rank && !r->is_bad; a++)
        map->box[a] = get_u32(r);
}

static void get_site(Reader *r, GpCheckSite *site) {
    site->kind = (GpCheckKind)get_below(r, GpCheck_Require + 1);
    site->axis = (uint8_t)get_below(r, GP_MAX_RANK + 1);
    site->place.file = get_cstr(r);
    site->place.line = get_u32(r);
    site->place.column = get_u32(r);
    site->what = get_cstr(r);
}

static void get_scalars(Reader *r, GpImage *m) {
    m->kind = GpImage_Ptx;
    m->name = get_cstr(r);
    m->entry = get_cstr(r);
    m->ptx = get_text(r, &m->ptx_len);
    m->threads = get_below(r, 1025);
    m->shared_bytes = get_u32(r);
    for (int i = 0; i < 3; i++)
        m->cluster[i] = get_below(r, 65);
    m->ptx_version = (uint16_t)get_below(r, UINT16_MAX + 1);
    m->min_sm = (uint16_t)get_below(r, UINT16_MAX + 1);
    m->param_bytes = get_below(r, UINT16_MAX + 1);
    m->param_count = get_below(r, UINT16_MAX);
    m->site_count = get_below(r, 1 << 20);
    m->map_count = get_below(r, UINT8_MAX);
    m->is_persistent = get_below(r, 2);
    m->is_dependent = get_below(r, 2);
    m->written = get_u32(r);
    m->written |= (uint64_t)get_u32(r) << 32;
    m->overwrites = get_u32(r);
    m->overwrites |= (uint64_t)get_u32(r) << 32;
    m->unpiped = (GpUnpiped)get_below(r, GpUnpiped_count);
    _Static_assert(sizeof m->schedule == sizeof(uint32_t), "bytes without gaps");
    uint32_t schedule = get_u32(r);
    memcpy(&m->schedule, &schedule, sizeof schedule);
    if (!m->name || !m->entry || !m->ptx)
        r->is_bad = true;
}

/* NULL when anything is wrong. */
static GpImage *get_image(GpSession *s, const char *at, size_t len) {
    Reader r = {at, at + len, false};
    GpImage m = {.session = s, .refs = 1};
    get_scalars(&r, &m);
    if (r.is_bad)
        return NULL;
    size_t params = sizeof *m.params * m.param_count, sites = sizeof *m.sites * m.site_count;
    size_t maps = sizeof *m.maps * m.map_count;
    m.params = params ? gp_try_calloc(s, params) : NULL;
    m.sites = sites ? gp_try_calloc(s, sites) : NULL;
    m.maps = maps ? gp_try_calloc(s, maps) : NULL;
    r.is_bad = (params && !m.params) || (sites && !m.sites) || (maps && !m.maps);
    for (uint32_t i = 0; m.maps && i < m.map_count && !r.is_bad; i++)
        get_map(&r, &m.maps[i]);
    for (uint32_t i = 0; m.params && i < m.param_count && !r.is_bad; i++)
        get_param(&r, &m.params[i], &m);
    for (uint32_t i = 0; m.sites && i < m.site_count && !r.is_bad; i++)
        get_site(&r, &m.sites[i]);
    GpImage *image = !r.is_bad && r.at == r.end ? gp_image_copy(s, &m) : NULL;
    gp_free(s, m.params, params);
    gp_free(s, m.sites, sites);
    gp_free(s, m.maps, maps);
    return image;
}

/* ---- Files ------------------------------------------------------------------------------ */

static void name_entry(const GpRuntime *rt, const uint8_t key[32], GpText *path) {
    gp_text_printf(path, "%s/", rt->cache_dir);
    for (int i = 0; i < 32; i++)
        gp_text_printf(path, "%02x", key[i]);
    gp_text_puts(path, SUFFIX);
}

/* Like mkdir -p; only the user may look in. */
static bool make_dir(GpSession *s, const char *dir) {
    if (mkdir(dir, 0700) == 0 || errno == EEXIST)
        return true;
    if (errno != ENOENT)
        return false;
    GpText path = {.session = s};
    gp_text_puts(&path, dir);
    for (char *slash = path.failed ? NULL : strchr(path.at + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path.at, 0700);
        *slash = '/';
    }
    gp_text_free(&path);
    return mkdir(dir, 0700) == 0 || errno == EEXIST;
}

static bool is_entry(const char *name) {
    size_t len = strlen(name);
    return len == NAME_LEN && strcmp(name + 64, SUFFIX) == 0;
}

/* A temporary file of a writer: an entry's name with more after it. */
static bool is_temporary(const char *name) {
    return strlen(name) > NAME_LEN && strncmp(name + 64, SUFFIX, sizeof SUFFIX - 1) == 0;
}

static bool read_entry(const char *path, GpText *data) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_ENTRY)
        return false;
    if (gp_file_read(path, data) != GpStatus_Ok)
        return false;
    if (time(NULL) - st.st_mtime > TOUCH_SECONDS)
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* recently used; on a read-only disk not */
    return true;
}

static bool is_sound(const GpText *data, const uint8_t key[32]) {
    Header h;
    memcpy(&h, data->at, sizeof h);
    size_t bytes = data->len - sizeof h;
    return memcmp(h.magic, MAGIC, sizeof h.magic) == 0 &&
           memcmp(h.key, key, sizeof h.key) == 0 && h.bytes == bytes &&
           h.checksum == checksum(data->at + sizeof h, bytes);
}

/* Reads the entry of a key and lets `take` have what is after its header; what that refuses is
** damaged too. */
static bool get_entry(GpRuntime *rt, const uint8_t key[32],
                      bool (*take)(GpSession *s, const char *at, size_t len, void *ud), void *ud) {
    if (!rt->cache_dir)
        return false;
    GpText path = {.session = rt->session}, data = path;
    bool is_taken = false;
    name_entry(rt, key, &path);
    if (!path.failed && read_entry(path.at, &data) && data.len >= sizeof(Header)) {
        is_taken = is_sound(&data, key) &&
                   take(rt->session, data.at + sizeof(Header), data.len - sizeof(Header), ud);
        if (!is_taken)
            gp_log(rt->session, "cache: %s is damaged and counts as absent", path.at);
    }
    gp_text_free(&path);
    gp_text_free(&data);
    return is_taken;
}

static bool take_image(GpSession *s, const char *at, size_t len, void *ud) {
    GpImage **image = ud;
    *image = get_image(s, at, len);
    return *image != NULL;
}

static bool take_text(GpSession *s, const char *at, size_t len, void *ud) {
    (void)s;
    gp_text_add(ud, at, len);
    return true;
}

GpImage *gp_cache_get(GpRuntime *rt, const uint8_t key[32]) {
    GpImage *image = NULL;
    (void)get_entry(rt, key, take_image, &image);
    return image;
}

bool gp_cache_get_text(GpRuntime *rt, const uint8_t key[32], GpText *out) {
    return get_entry(rt, key, take_text, out) && !out->failed;
}

/* ---- Cleaning --------------------------------------------------------------------------- */

typedef struct Entry {
    char name[NAME_LEN + 1];
    uint64_t bytes;
    int64_t used;
} Entry;

typedef struct Listing {
    Entry *at;
    size_t len, cap;
    uint64_t bytes;
} Listing;

static bool add_entry(GpSession *s, Listing *list, const char *name, const struct stat *st) {
    if (list->len == list->cap) {
        size_t cap = GP_MAX(list->cap * 2, (size_t)64);
        Entry *at = gp_try_realloc(s, list->at, list->cap * sizeof *at, cap * sizeof *at);
        if (!at)
            return false;
        list->at = at;
        list->cap = cap;
    }
    Entry *e = &list->at[list->len++];
    memcpy(e->name, name, NAME_LEN + 1);
    e->bytes = (uint64_t)st->st_size;
    e->used = (int64_t)st->st_mtime;
    list->bytes += e->bytes;
    return true;
}

/* Files of the cache in its directory; others are not ours. `is_cleaning` removes temporary
** files that a killed process left. */
static void list_entries(const GpRuntime *rt, Listing *list, bool is_cleaning) {
    DIR *dir = opendir(rt->cache_dir);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        bool is_kept = is_entry(e->d_name);
        if ((!is_kept && !is_temporary(e->d_name)) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (!is_kept) {
            if (is_cleaning && time(NULL) - st.st_mtime > STALE_SECONDS)
                (void)unlinkat(dirfd(dir), e->d_name, 0);
            continue;
        }
        if (!add_entry(rt->session, list, e->d_name, &st))
            break;
    }
    closedir(dir);
}

static void free_listing(const GpRuntime *rt, Listing *list) {
    if (list->at)
        gp_free(rt->session, list->at, list->cap * sizeof *list->at);
}

static void remove_entry(const GpRuntime *rt, const Entry *e) {
    GpText path = {.session = rt->session};
    gp_text_printf(&path, "%s/%s", rt->cache_dir, e->name);
    if (!path.failed)
        (void)unlink(path.at); /* another process may have been faster */
    gp_text_free(&path);
}

static int compare_use(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Removes the entries that were not used for longest. */
static void clean(GpRuntime *rt) {
    Listing list = {0};
    list_entries(rt, &list, true);
    if (list.bytes > MAX_BYTES) {
        qsort(list.at, list.len, sizeof *list.at, compare_use);
        for (size_t i = 0; i < list.len && list.bytes > KEEP_BYTES; i++) {
            remove_entry(rt, &list.at[i]);
            list.bytes -= list.at[i].bytes;
        }
    }
    free_listing(rt, &list);
}

/* `data` begins with room for the header. */
static void put_entry(GpRuntime *rt, const uint8_t key[32], GpText *data) {
    GpSession *s = rt->session;
    GpText path = {.session = s};
    Header h = {.magic = MAGIC};
    memcpy(h.key, key, sizeof h.key);
    name_entry(rt, key, &path);
    if (!data->failed && !path.failed) {
        h.bytes = data->len - sizeof h;
        h.checksum = checksum(data->at + sizeof h, (size_t)h.bytes);
        memcpy(data->at, &h, sizeof h);
        if (!make_dir(s, rt->cache_dir) ||
            gp_file_write(s, path.at, data->at, data->len) != GpStatus_Ok)
            gp_log(s, "cache: cannot write %s: %s", path.at, strerror(errno));
        if (rt->cache_puts++ % PUTS_PER_CLEANING == 0)
            clean(rt);
    }
    gp_text_free(data);
    gp_text_free(&path);
}

void gp_cache_put(GpRuntime *rt, const uint8_t key[32], const GpImage *image) {
    if (!rt->cache_dir || image->kind != GpImage_Ptx)
        return;
    GpText data = {.session = rt->session};
    gp_text_add(&data, (const char *)&(Header){.bytes = 0}, sizeof(Header));
    put_image(&data, image);
    put_entry(rt, key, &data);
}

void gp_cache_put_text(GpRuntime *rt, const uint8_t key[32], GpStr text) {
    if (!rt->cache_dir)
        return;
    GpText data = {.session = rt->session};
    gp_text_add(&data, (const char *)&(Header){.bytes = 0}, sizeof(Header));
    gp_text_add(&data, text.at, text.len);
    put_entry(rt, key, &data);
}

const char *gp_cache_dir(GpRuntime *rt) { return rt->cache_dir; }

void gp_cache_info(GpRuntime *rt, GpCacheInfo *out) {
    *out = (GpCacheInfo){0};
    if (!rt->cache_dir)
        return;
    Listing list = {0};
    list_entries(rt, &list, false);
    out->entries = list.len;
    out->bytes = list.bytes;
    out->writable = make_dir(rt->session, rt->cache_dir) && access(rt->cache_dir, W_OK) == 0;
    free_listing(rt, &list);
}

void gp_cache_clear(GpRuntime *rt) {
    if (!rt->cache_dir)
        return;
    Listing list = {0};
    list_entries(rt, &list, true);
    for (size_t i = 0; i < list.len; i++)
        remove_entry(rt, &list.at[i]);
    free_listing(rt, &list);
}
