/* vprintf, the driver's only function that kernels call: format and values at two generic
** addresses, each value at a multiple of its size. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

typedef struct Print {
    VgRun *x;
    uint32_t lane;
    uint64_t at; /* the next value */
} Print;

static bool fetch(Print *p, uint32_t bytes, uint64_t *bits) {
    p->at = gp_align_up(p->at, bytes);
    const uint8_t *from = vg_reach(p->x, VgMod_None, p->at, bytes, p->lane, VgAccess_Read);
    *bits = 0;
    if (from)
        memcpy(bits, from, bytes); /* little-endian */
    p->at += bytes;
    return from != NULL;
}

/* The text at an address up to its NUL; NULL: reported. */
static char *text_at(Print *p, uint64_t address) {
    size_t len = 0, cap = 64;
    char *text = malloc(cap);
    for (;; len++) {
        const uint8_t *from = vg_reach(p->x, VgMod_None, address + len, 1, p->lane, VgAccess_Read);
        if (!from || !text) {
            free(text);
            return NULL;
        }
        if (len + 1 == cap)
            text = realloc(text, cap *= 2);
        if (text)
            text[len] = (char)*from;
        if (text && !text[len])
            return text;
    }
}

/* One conversion, `%` to its letter, which is copied to be a format of its own. */
static bool convert(Print *p, const char *spec, size_t len) {
    char format[32];
    uint64_t bits;
    double number;
    bool is_wide = memchr(spec, 'l', len) != NULL;
    char letter = spec[len - 1];
    if (len >= sizeof format)
        return false;
    memcpy(format, spec, len);
    format[len] = '\0';
    if (strchr("diuxXoc", letter)) {
        if (!fetch(p, is_wide ? 8 : 4, &bits))
            return false;
        if (is_wide)
            printf(format, (long long)bits);
        else
            printf(format, (int)bits);
        return true;
    }
    if (!fetch(p, 8, &bits))
        return false;
    if (letter == 's') {
        char *text = text_at(p, bits);
        printf(format, text ? text : "");
        free(text);
        return text != NULL;
    }
    memcpy(&number, &bits, sizeof number);
    printf(format, number);
    return true;
}

static bool print(Print *p, const char *format) {
    for (const char *at = format; *at; at++) {
        if (*at != '%' || at[1] == '%') {
            at += *at == '%';
            putchar(*at);
            continue;
        }
        size_t len = 1 + strcspn(at + 1, "diuxXocsfFgGeEaA") + 1;
        if (len > strlen(at)) {
            (void)vg_fault(p->x, VG_FAILED, (int)p->lane, "vprintf: `%s` is no conversion", at);
            return false;
        }
        if (!convert(p, at, len))
            return false;
        at += len - 1;
    }
    return true;
}

VgOutcome vg_vprintf(VgRun *x, const VgInst *in) {
    const VgOperand *args = &in->ops[1];
    uint32_t base = x->frame->lane_base;
    VG_EACH_LANE(lane, x->mask) {
        uint64_t where[2];
        for (int i = 0; i < 2; i++) {
            uint64_t at = base + args->parts[i].imm;
            const uint8_t *from = vg_reach(x, VgMod_Local, at, 8, lane, VgAccess_Read);
            if (!from)
                return VgOutcome_Fail;
            memcpy(&where[i], from, 8);
        }
        Print p = {x, lane, where[1]};
        char *format = text_at(&p, where[0]);
        bool is_fine = format && print(&p, format);
        free(format);
        if (!is_fine)
            return VgOutcome_Fail;
    }
    fflush(stdout);
    return VgOutcome_Next;
}
