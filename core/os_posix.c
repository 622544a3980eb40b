/* POSIX files and clock. */
#include "core/os_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t gp_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void close_keeping_errno(int fd) {
    int saved = errno;
    close(fd);
    errno = saved;
}

GpStatus gp_file_read(const char *path, GpText *out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return GpStatus_Io;
    char buffer[16384];
    ssize_t got;
    do {
        got = read(fd, buffer, sizeof buffer);
        if (got > 0)
            gp_text_add(out, buffer, (size_t)got);
    } while ((got > 0 && !out->failed) || (got < 0 && errno == EINTR));
    close_keeping_errno(fd);
    if (out->failed)
        return GpStatus_NoMemory;
    return got < 0 ? GpStatus_Io : GpStatus_Ok;
}

static bool write_all(int fd, const char *at, size_t len) {
    while (len > 0) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        len -= (size_t)put;
    }
    return true;
}

/* A name that no other writer has: process and time, checked by O_EXCL. */
static int open_beside(const char *path, GpText *name) {
    gp_text_printf(name, "%s.%ld-%llx.tmp", path, (long)getpid(),
                   (unsigned long long)gp_clock_ns());
    if (name->failed) {
        errno = ENOMEM;
        return -1;
    }
    return open(name->at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

GpStatus gp_file_write(GpSession *s, const char *path, const void *data, size_t len) {
    GpText temp = {.session = s};
    bool is_written = false;
    int fd = open_beside(path, &temp);
    if (fd >= 0) {
        is_written = write_all(fd, data, len);
        close_keeping_errno(fd);
        is_written = is_written && rename(temp.at, path) == 0;
        int saved = errno;
        if (!is_written)
            unlink(temp.at);
        errno = saved;
    }
    GpStatus status = temp.failed ? GpStatus_NoMemory : is_written ? GpStatus_Ok : GpStatus_Io;
    gp_text_free(&temp);
    return status;
}
