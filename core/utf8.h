/* UTF-8 from untrusted text: decoding and the width of a character on a terminal. */
#ifndef GP_UTF8_H
#define GP_UTF8_H

#include "core/str.h"

#define GP_UTF8_BAD UINT32_C(0xfffd) /* also what stands for a byte that is no UTF-8 */

/* The character at text.at[*at]; moves *at past it. Requires *at < text.len. A byte that starts
** no well-formed sequence gives GP_UTF8_BAD and is one byte long. */
uint32_t gp_utf8_next(GpStr text, size_t *at);
/* Columns: 0 for combining marks, 2 for East Asian wide and emoji, else 1. */
int gp_utf8_width(uint32_t character);

#endif
