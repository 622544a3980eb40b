/* Registers of Lua functions that hold nothing live.
**
** The collector marks the whole frame of a Lua function that called a metamethod, also registers
** that the function will write before it reads them; what an earlier call left there then looks
** alive, and a dropped partition or op would stay a reason to refuse `z[1]`. An ordinary call has
** no such registers: the callee's frame covers them. Lua's interface does not tell which register
** the running instruction writes, so this reads the instruction, at the place that CallInfo has in
** all of Lua 5.4. */
#include "lua/state.h"

#if LUA_VERSION_NUM != 504
#error "instructions and CallInfo are those of Lua 5.4"
#endif

/* The head of CallInfo of a Lua function (lstate.h). */
typedef struct CallInfo {
    void *func; /* in the stack: the value's address is its first word */
    void *top;
    struct CallInfo *previous, *next;
    const uint32_t *saved_pc; /* behind the running instruction */
} CallInfo;

/* Opcodes (lopcodes.h) */
enum {
    OP_MOVE = 0,
    OP_SETUPVAL = 10,
    OP_GETTABUP = 11,
    OP_GETFIELD = 14,
    OP_SETTABUP = 15,
    OP_SETTABLE = 16,
    OP_SETFIELD = 18,
};

static uint32_t opcode_of(uint32_t instruction) { return instruction & 0x7f; }
static int register_a(uint32_t instruction) { return (int)(instruction >> 7 & 0xff); }
static int register_b(uint32_t instruction) { return (int)(instruction >> 16 & 0xff); }
/* -1 when bit k makes it a constant */
static int register_c(uint32_t instruction) {
    return instruction >> 15 & 1 ? -1 : (int)(instruction >> 24);
}

static bool is_get(uint32_t op) { return op >= OP_GETTABUP && op <= OP_GETFIELD; }
static bool is_set(uint32_t op) { return op >= OP_SETTABUP && op <= OP_SETFIELD; }

static bool is_temporary(lua_State *L, const lua_Debug *ar, int reg) {
    const char *name = lua_getlocal(L, ar, reg + 1);
    if (name) lua_pop(L, 1);
    return name && strcmp(name, "(temporary)") == 0;
}

/* The last register that a store reads. */
static int last_read(uint32_t store) {
    uint32_t op = opcode_of(store);
    if (op == OP_MOVE) return register_b(store);
    if (op == OP_SETUPVAL) return register_a(store);
    int last = op == OP_SETTABUP ? -1 : register_a(store);
    if (op == OP_SETTABLE) last = GP_MAX(last, register_b(store));
    return GP_MAX(last, register_c(store));
}

GpLuaPlace gp_lua_place(const lua_Debug *ar) {
    const CallInfo *ci = (const CallInfo *)(const void *)ar->i_ci;
    return (GpLuaPlace){*(const void *const *)ci->func, ci->saved_pc};
}

/* The first register from which on temporaries are dead; -1 when that is not known. A read into a
** temporary leaves none from there on. A read into a variable and a write end their statement, but
** for the stores that follow in a multiple assignment. */
static int find_dead(lua_State *L, const lua_Debug *ar) {
    const CallInfo *ci = (const CallInfo *)(const void *)ar->i_ci;
    const uint32_t *pc = ci->saved_pc;
    uint32_t op = opcode_of(pc[-1]);
    int a = register_a(pc[-1]), first = 0;
    if (!is_get(op) && !is_set(op)) return -1;
    if (is_get(op) && is_temporary(L, ar, a)) return a;
    for (op = opcode_of(*pc); op == OP_MOVE || op == OP_SETUPVAL || is_set(op); op = opcode_of(*++pc))
        first = GP_MAX(first, last_read(*pc) + 1);
    return first;
}

static void clear_frame(lua_State *L, const lua_Debug *ar) {
    int reg = find_dead(L, ar);
    const char *name;
    for (; reg >= 0 && (name = lua_getlocal(L, ar, reg + 1)) != NULL; reg++) {
        lua_pop(L, 1);
        if (strcmp(name, "(temporary)") != 0) continue;
        lua_pushnil(L);
        lua_setlocal(L, ar, reg + 1);
    }
}

void gp_lua_clear_dead(lua_State *L) {
    enum { MAX_LEVELS = 64 };
    lua_Debug called, caller;
    if (!lua_checkstack(L, 4)) return;
    for (int level = 0; level < MAX_LEVELS && lua_getstack(L, level, &called); level++) {
        if (!lua_getinfo(L, "n", &called) || strcmp(called.namewhat, "metamethod") != 0) continue;
        if (lua_getstack(L, level + 1, &caller) && lua_getinfo(L, "S", &caller) &&
            *caller.what != 'C')
            clear_frame(L, &caller);
    }
}
