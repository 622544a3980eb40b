/* The interactive loop. */
#ifndef GP_REPL_H
#define GP_REPL_H

#include "lua/cli.h"

/* Reads, runs and prints until end of input, as lua5.4 does. */
void gp_repl_run(lua_State *L);

/* Completion `index` of a word, from malloc; NULL after the last one (complete.c). Ask from 0. */
char *gp_repl_complete(lua_State *L, const char *text, int index);

/* Shared with cli.c: a protected call with traceback and interrupts; the message of a failed one
** on stderr (pops it; true when there was none). */
int gp_cli_call(lua_State *L, int arg_count, int result_count);
bool gp_cli_complain(lua_State *L, int status);

#endif
