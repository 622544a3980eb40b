/* What a statically linked LLVM and libgcc want from a C library newer than the oldest one that we
** run on: arc4random (glibc 2.36), with which LLVM names temporary files, and _dl_find_object
** (2.35), with which libgcc's unwinder finds tables. The symbols are hidden, so that the host's own
** are never replaced. Nothing else calls them. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

/* <stdlib.h> of an older C library has no prototype of it. */
uint32_t arc4random(void);

uint32_t arc4random(void) {
    uint32_t value = 0;
    struct timespec now;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) == (ssize_t)sizeof value)
        return value;
    /* No entropy yet, early in boot: names need to differ, not to be secret. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)now.tv_sec;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
typedef struct Search {
    ElfW(Addr) pc;
    struct dl_find_object *found;
} Search;

/* One loaded file: 1 ends the search. */
static int visit_file(struct dl_phdr_info *file, size_t size, void *ud) {
    Search *search = ud;
    ElfW(Addr) first = UINTPTR_MAX, end = 0, table = 0;
    bool holds_pc = false;
    (void)size;
    for (ElfW(Half) i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        ElfW(Addr) start = file->dlpi_addr + part->p_vaddr, stop = start + part->p_memsz;
        if (part->p_type == PT_GNU_EH_FRAME)
            table = start;
        if (part->p_type != PT_LOAD)
            continue;
        first = start < first ? start : first;
        end = stop > end ? stop : end;
        holds_pc = holds_pc || (start <= search->pc && search->pc < stop);
    }
    if (!holds_pc || !table)
        return 0;
    *search->found = (struct dl_find_object){
        .dlfo_map_start = (void *)first, .dlfo_map_end = (void *)end, .dlfo_eh_frame = (void *)table};
    return 1;
}

int _dl_find_object(void *pc, struct dl_find_object *result) {
    Search search = {(ElfW(Addr))pc, result};
    return dl_iterate_phdr(visit_file, &search) == 1 ? 0 : -1;
}
#endif
