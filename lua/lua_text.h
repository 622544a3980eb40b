/* Lua source text as the messages need it: the calls that stand on a line, their arguments and
** receivers. It reads tokens, not grammar: what it cannot tell, it does not find. */
#ifndef GP_LUA_TEXT_H
#define GP_LUA_TEXT_H

#include "core/source.h"

/* All take a span that is one line of its source; what they return begins there and may end on a
** later line. No span where there is no such thing, or more than one. */

/* Argument `arg` (from 0) of the call of `callee`: of `k.add(x, y)` and `k.add:with{..}(x, y)`. */
GpSpan gp_lua_text_arg(GpSpan line, const char *callee, uint32_t arg);
/* What `method` is called on: `z` of `z:tiles{8}`, `a.b` of `a.b:run()`. */
GpSpan gp_lua_text_receiver(GpSpan line, const char *method);
/* The variable or field in an expression that stands for it: the expression itself, or what it
** begins with when the rest only makes a view (`z` of `z:slice{1, 4}:tiles{2}`). */
GpSpan gp_lua_text_name(GpSpan expression);
/* The place of a name (`z`, `t.z`, `t[1]`) on the line. */
GpSpan gp_lua_text_find(GpSpan line, const char *name);
/* How often it stands there, and where first. */
int gp_lua_text_count(GpSpan line, const char *name, GpSpan *first);
/* The place of a field's name: `add` of `k.add`. */
GpSpan gp_lua_text_field(GpSpan line, const char *name);

#endif
