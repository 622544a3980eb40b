/* The disk cache: round trips, every kind of damage, and many processes at once. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/internal.h"
#include "spec/unit/runtime/support.h"

static char dir[64];

typedef struct Cache {
    GpSession s;
    GpRuntime *rt;
    GpText log;
} Cache;

static void add_log(void *ud, const char *text, size_t len) {
    gp_text_add(&((Cache *)ud)->log, text, len);
}

static void open_cache(Cache *c, const char *at) {
    *c = (Cache){0};
    gp_session_init(&c->s, NULL, NULL, &(GpHooks){.log = add_log, .ud = c});
    c->log.session = &c->s;
    GpRuntimeConfig config = {.cache_dir = at, .ignore_env = true};
    assert_int_equal(gp_runtime_new(&c->s, &config, &c->rt), GpStatus_Ok);
}

static void close_cache(Cache *c) {
    gp_runtime_free(c->rt);
    gp_text_free(&c->log);
    assert_int_equal(c->s.bytes, 0);
}

/* A key, and an image whose PTX is made of it. */
static GpImage *image_of(GpSession *s, uint32_t number, uint8_t key[32]) {
    static char ptx[20000];
    memset(key, 0, 32);
    memcpy(key, &number, sizeof number);
    memset(ptx, 'a' + (int)(number % 26), sizeof ptx - 1);
    GpImage *plain = number % 2 ? make_scale_map(s, 3) : make_scale(s, true);
    GpImage with = *plain;
    with.ptx = ptx;
    with.ptx_len = sizeof ptx - 1 - number % 100;
    ptx[with.ptx_len] = '\0';
    GpImage *image = gp_image_copy(s, &with);
    gp_image_release(plain);
    return image;
}

static bool is_same(const GpImage *a, const GpImage *b) {
    bool is_equal = strcmp(a->name, b->name) == 0 && strcmp(a->entry, b->entry) == 0 &&
                    a->ptx_len == b->ptx_len && memcmp(a->ptx, b->ptx, a->ptx_len + 1) == 0 &&
                    a->param_count == b->param_count && a->site_count == b->site_count &&
                    a->param_bytes == b->param_bytes && a->min_sm == b->min_sm && a->unpiped == b->unpiped &&
                    a->ptx_version == b->ptx_version && a->cluster[2] == b->cluster[2] &&
                    a->is_persistent == b->is_persistent && a->is_dependent == b->is_dependent && a->map_count == b->map_count;
    for (uint32_t i = 0; is_equal && i < a->param_count; i++)
        is_equal = a->params[i].kind == b->params[i].kind && a->params[i].arg == b->params[i].arg &&
                   a->params[i].offset == b->params[i].offset &&
                   a->params[i].bytes == b->params[i].bytes;
    for (uint32_t i = 0; is_equal && i < a->map_count; i++)
        is_equal =
            a->maps[i].arg == b->maps[i].arg && a->maps[i].elem == b->maps[i].elem &&
            a->maps[i].rank == b->maps[i].rank && a->maps[i].swizzle == b->maps[i].swizzle &&
            memcmp(a->maps[i].box, b->maps[i].box, a->maps[i].rank * sizeof *a->maps[i].box) == 0;
    for (uint32_t i = 0; is_equal && i < a->site_count; i++)
        is_equal = strcmp(a->sites[i].place.file, b->sites[i].place.file) == 0 &&
                   a->sites[i].place.line == b->sites[i].place.line &&
                   strcmp(a->sites[i].what, b->sites[i].what) == 0;
    return is_equal;
}

/* Puts image `number` and says whether it comes back equal; a miss is false, wrong is a failure. */
static bool round_trip(Cache *c, uint32_t number) {
    uint8_t key[32];
    GpImage *image = image_of(&c->s, number, key);
    gp_cache_put(c->rt, key, image);
    GpImage *back = gp_cache_get(c->rt, key);
    if (back)
        assert_true(is_same(image, back));
    gp_image_release(image);
    gp_image_release(back);
    return back != NULL;
}

static void test_round_trip(void **state) {
    (void)state;
    Cache c;
    GpCacheInfo info;
    uint8_t key[32] = {9, 9, 9};
    open_cache(&c, dir);
    gp_cache_clear(c.rt);
    for (uint32_t i = 0; i < 150; i++)
        assert_true(round_trip(&c, i));
    assert_null(gp_cache_get(c.rt, key));
    gp_cache_info(c.rt, &info);
    assert_int_equal(info.entries, 150);
    assert_true(info.bytes > UINT64_C(150) * 19000 && info.writable);
    gp_cache_clear(c.rt);
    gp_cache_info(c.rt, &info);
    assert_int_equal(info.entries, 0);
    assert_int_equal(c.log.len, 0);
    close_cache(&c);
    open_cache(&c, "");
    assert_null(gp_cache_dir(c.rt));
    assert_false(round_trip(&c, 1));
    close_cache(&c);
}

static void test_text(void **state) {
    (void)state;
    Cache c;
    uint8_t key[32] = {1, 2, 3};
    open_cache(&c, dir);
    GpText got = {.session = &c.s};
    assert_false(gp_cache_get_text(c.rt, key, &got));
    gp_cache_put_text(c.rt, key, GP_STR("3 of 7"));
    assert_true(gp_cache_get_text(c.rt, key, &got));
    assert_string_equal(gp_text_cstr(&got), "3 of 7");
    assert_int_equal(c.log.len, 0);
    assert_null(gp_cache_get(c.rt, key)); /* no image */
    assert_true(c.log.len > 0);
    gp_text_free(&got);
    gp_cache_clear(c.rt);
    close_cache(&c);
}

static void name_file(char path[256], const uint8_t key[32]) {
    int at = snprintf(path, 256, "%s/", dir);
    for (int i = 0; i < 32; i++)
        at += snprintf(path + at, 256 - (size_t)at, "%02x", key[i]);
    snprintf(path + at, 256 - (size_t)at, ".gpc");
}

static void write_file(const char *path, const char *at, size_t len) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(at, 1, len, f), len);
    fclose(f);
}

/* The checksum is made right again, so that the reader of the image is tested and not it. */
static void sign(char *data, size_t len) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325), bytes = len - 56;
    for (size_t i = 56; i < len; i++)
        hash = (hash ^ (uint8_t)data[i]) * UINT64_C(0x100000001b3);
    hash ^= bytes;
    memcpy(data + 40, &bytes, 8);
    memcpy(data + 48, &hash, 8);
}

/* An entry of the cache, and its file. */
typedef struct Entry {
    Cache c;
    GpImage *image;
    uint8_t key[32];
    char path[256];
    GpText good;
    char *bad; /* room for the file and 16 bytes */
} Entry;

static void open_entry(Entry *e) {
    open_cache(&e->c, dir);
    e->image = make_scale_map(&e->c.s, 3);
    memset(e->key, 7, sizeof e->key);
    gp_cache_put(e->c.rt, e->key, e->image);
    name_file(e->path, e->key);
    e->good = (GpText){.session = &e->c.s};
    assert_int_equal(gp_file_read(e->path, &e->good), GpStatus_Ok);
    e->bad = malloc(e->good.len + 16);
    assert_non_null(e->bad);
    memcpy(e->bad, gp_text_cstr(&e->good), e->good.len);
    memset(e->bad + e->good.len, 0, 16);
}

/* Each time the damage was seen, and said. */
static void close_entry(Entry *e) {
    assert_true(e->c.log.len > 0);
    free(e->bad);
    gp_text_free(&e->good);
    gp_image_release(e->image);
    gp_cache_clear(e->c.rt);
    close_cache(&e->c);
}

static GpImage *get_bad(Entry *e, size_t len) {
    write_file(e->path, e->bad, len);
    return gp_cache_get(e->c.rt, e->key);
}

static void test_cut(void **state) {
    (void)state;
    Entry e;
    open_entry(&e);
    for (size_t len = 0; len < e.good.len; len++) {
        memcpy(e.bad, gp_text_cstr(&e.good), e.good.len);
        assert_null(get_bad(&e, len));
        if (len < 56)
            continue;
        sign(e.bad, len); /* and with a checksum that agrees */
        assert_null(get_bad(&e, len));
    }
    close_entry(&e);
}

static void test_bits(void **state) {
    (void)state;
    Entry e;
    open_entry(&e);
    for (size_t i = 0; i < e.good.len; i++) {
        memcpy(e.bad, gp_text_cstr(&e.good), e.good.len);
        e.bad[i] = (char)(e.bad[i] ^ 1 << i % 8);
        assert_null(get_bad(&e, e.good.len));
        if (i < 56)
            continue;
        sign(e.bad, e.good.len); /* whatever it then means, it must be safe to read */
        gp_image_release(get_bad(&e, e.good.len));
    }
    close_entry(&e);
}

static void test_foreign(void **state) {
    (void)state;
    Entry e;
    open_entry(&e);
    assert_null(get_bad(&e, e.good.len + 16)); /* something follows */
    e.key[0] = 8;                              /* another key's file */
    name_file(e.path, e.key);
    assert_null(get_bad(&e, e.good.len));
    close_entry(&e);
}

/* Sixteen processes put, get and clear the same entries. */
static void test_processes(void **state) {
    (void)state;
    pid_t children[16];
    for (uint32_t i = 0; i < 16; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        Cache c;
        open_cache(&c, dir);
        uint32_t hits = 0;
        for (uint32_t turn = 0; turn < 200; turn++) {
            hits += round_trip(&c, (turn + i) % 10);
            if (turn % 50 == 49 && i == 0)
                gp_cache_clear(c.rt);
        }
        bool is_quiet = !strstr(gp_text_cstr(&c.log), "damaged");
        close_cache(&c);
        _exit(is_quiet && hits > 100 ? 0 : 1);
    }
    for (int i = 0; i < 16; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        assert_null(strstr(e->d_name, ".tmp"));
    closedir(d);
}

/* A place that cannot be written is a cache that is always empty. */
static void test_read_only(void **state) {
    (void)state;
    Cache c;
    GpCacheInfo info;
    open_cache(&c, "/proc/gpulua");
    assert_false(round_trip(&c, 1));
    gp_cache_info(c.rt, &info);
    assert_false(info.writable);
    assert_true(c.log.len > 0);
    close_cache(&c);
    char sub[96];
    snprintf(sub, sizeof sub, "%s/a/b", dir);
    open_cache(&c, sub);
    assert_true(round_trip(&c, 1)); /* folders are made */
    close_cache(&c);
    if (geteuid() == 0) { /* root ignores modes: a child that is not root tries */
        chmod(dir, 0755);
        pid_t child = fork();
        if (child == 0) {
            open_cache(&c, dir);
            bool is_fine = setuid(65534) == 0 && !round_trip(&c, 77);
            close_cache(&c);
            _exit(is_fine ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_full_disk(void **state) {
    (void)state;
    char at[96];
    snprintf(at, sizeof at, "%s/full", dir);
    mkdir(at, 0700);
    if (mount("tmpfs", at, "tmpfs", 0, "size=64k") != 0)
        skip(); /* not allowed to mount */
    Cache c;
    open_cache(&c, at);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < 40; i++)
        hits += round_trip(&c, i);
    bool is_fine = hits >= 1 && hits < 10 && c.log.len > 0;
    close_cache(&c);
    umount(at);
    assert_true(is_fine);
}

/* Files without blocks, in no order: the oldest go until three quarters of what may be are left. */
static void test_cleaning(void **state) {
    (void)state;
    enum { FILES = 3000 };
    const off_t bytes = 1 << 20;
    char at[96], path[192];
    snprintf(at, sizeof at, "%s/clean", dir);
    mkdir(at, 0700);
    for (uint32_t i = 0; i < FILES; i++) {
        uint32_t age = i * 7 % FILES;
        snprintf(path, sizeof path, "%s/%064x.gpc", at, age);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0 && ftruncate(fd, bytes) == 0);
        struct timespec times[2] = {{1000 + age, 0}, {1000 + age, 0}};
        assert_int_equal(futimens(fd, times), 0);
        close(fd);
    }
    Cache c;
    open_cache(&c, at);
    assert_true(round_trip(&c, 1 << 20));
    close_cache(&c);
    for (uint32_t i = 0; i < FILES; i++) { /* 1536 MiB less what was put */
        snprintf(path, sizeof path, "%s/%064x.gpc", at, i);
        assert_int_equal(access(path, F_OK) == 0, i > FILES - 1536);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_text),
    cmocka_unit_test(test_cut),        cmocka_unit_test(test_bits),
    cmocka_unit_test(test_foreign),    cmocka_unit_test(test_processes),
    cmocka_unit_test(test_read_only),  cmocka_unit_test(test_full_disk),
    cmocka_unit_test(test_cleaning),
};

static void remove_dir(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command) != 0)
        print_error("cannot remove %s\n", dir);
}

int main(void) {
    snprintf(dir, sizeof dir, "/tmp/gpulua-cache-XXXXXX");
    if (!mkdtemp(dir))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_dir();
    return failed;
}
