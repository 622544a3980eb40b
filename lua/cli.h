/* The command line: lua5.4's own, and gpulua's commands as a first word. */
#ifndef GP_CLI_H
#define GP_CLI_H

#include "lua/state.h"

/* Runs the program; returns its exit status. Exported for the program alone. */
GP_API int gpulua_main(int argc, char **argv);

/* A first word that is a command unless a file has that name. argv[0] is the word. Returns the
** exit status: 0 fine, 1 the answer is bad news, 2 the words were wrong. */
typedef struct GpCommand {
    const char *name;
    int (*run)(gpulua_state *g, int argc, char **argv);
    const char *usage;
    const char *doc;
} GpCommand;
extern const GpCommand gp_commands[]; /* NULL name ends it */
/* The command's name that a word nearly is; NULL: none. */
const char *gp_cmd_similar(const char *word);

int gp_cmd_check(gpulua_state *g, int argc, char **argv);
int gp_cmd_emit(gpulua_state *g, int argc, char **argv);
int gp_cmd_doctor(gpulua_state *g, int argc, char **argv);
int gp_cmd_explain(gpulua_state *g, int argc, char **argv);
int gp_cmd_cache(gpulua_state *g, int argc, char **argv);
int gp_cmd_help(gpulua_state *g, int argc, char **argv);

/* Lua's options, one a line, for the usage and for `help`. */
extern const char gp_cli_options[];

/* Runs it, or prints what it is where a word asks for help. */
int gp_cmd_run(const GpCommand *command, gpulua_state *g, int argc, char **argv);

/* Says on stderr that the words were wrong, with the command's usage; returns 2. */
GP_PRINTF(2, 3) int gp_cmd_usage(const char *command, const char *fmt, ...);

/* Renders to stderr as a person reads it, in colour on a terminal. */
void gp_cli_report(gpulua_state *g, const GpDiags *diags);

/* What --with B=128,T=f16,block=16x16 says. It speaks to all kernels of a file. */
enum { GP_WITH_MAX = 32 };
typedef struct GpWith {
    GpNamedArg named[GP_WITH_MAX];
    uint32_t count;
    uint32_t block[3]; /* zeros: none */
    int64_t schedule[GpScheduleKey_count]; /* zeros: none */
    bool is_used[GP_WITH_MAX], is_block_used, is_schedule_used;
} GpWith;
/* False when malformed. The result points into `text`. */
bool gp_cli_with(const char *text, GpWith *out);
/* Those of its parts that this kernel has: its generics, the block of a SIMT kernel, the schedule
** of a tile kernel. Notes in `with` that they are used. */
GpWith gp_cli_select(GpWith *with, const GpDef *kernel);
/* The name of a part that no kernel had; false when there is none. */
bool gp_cli_find_unused(const GpWith *with, GpStr *out);

/* `diags` has what is wrong with the text before kernels are looked at, or nothing; it takes the rest. */
typedef void (*GpSourceFn)(gpulua_state *g, GpSource *src, GpDiags *diags, void *ud);
/* The kernel sources of a file: a .lua file has its kernel strings, any other file is one source.
** Calls fn for each, and for a script that is no Lua; returns false when the file cannot be read, and
** errno tells why. */
bool gp_cli_sources(gpulua_state *g, const char *path, GpSourceFn fn, void *ud);

#endif
