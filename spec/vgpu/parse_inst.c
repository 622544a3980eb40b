/* Instructions: the name is looked up word by word in inst.def, type.def and modifier.def, the
** operands are decoded to places. */
#include "spec/vgpu/parse.h"

const VgInstInfo vg_insts[VgInst_count] = {
#define C(class) (UINT64_C(1) << VgClass_##class)
#define VG_INST(id, spelling, shape, types, classes, run)                                          \
    {spelling, sizeof(spelling) - 1, shape, types, (classes), vg_run_##run},
#include "spec/vgpu/inst.def"
};

const VgTypeInfo vg_types[VgType_count] = {
#define VG_TYPE(id, spelling, bytes, kind) {spelling, bytes, VgKind_##kind},
#include "spec/vgpu/type.def"
};

static const struct {
    const char *name;
    VgClass cls;
} mods[] = {
    {"", VgClass_count},
#define VG_MOD(id, spelling, class) {spelling, VgClass_##class},
#include "spec/vgpu/modifier.def"
};

static const struct {
    const char *name;
    uint8_t bytes;
} specials[VgSpecial_count] = {
#define VG_SPECIAL(id, spelling, bytes, value) {spelling, bytes},
#include "spec/vgpu/special.def"
};

/* ---- Operands ----------------------------------------------------------------------------- */

static VgOperand vector(VgParse *p, const char *close) {
    VgOperand parts[256];
    uint32_t count = 0;
    if (!vg_accept(p, close)) {
        do {
            if (count == GP_COUNT(parts))
                vg_parse_fail(p, "a vector of more than %zu parts", GP_COUNT(parts));
            parts[count++] = vg_operand(p);
        } while (vg_accept(p, ","));
        vg_expect(p, close);
    }
    VgOperand o = {.kind = VgOperand_Vector, .part_count = count};
    o.parts = GP_NEW_ARRAY(p->arena, VgOperand, count + 1);
    memcpy(o.parts, parts, count * sizeof *parts);
    return o;
}

/* [a], [a+4], [a, {x, y}] */
static VgOperand address(VgParse *p) {
    VgOperand o = {.kind = VgOperand_Address, .part_count = 1};
    o.parts = GP_NEW_ARRAY(p->arena, VgOperand, 2);
    o.parts[0] = vg_operand(p);
    if (o.parts[0].kind != VgOperand_Reg && o.parts[0].kind != VgOperand_Const)
        vg_parse_fail(p, "an address is a register, a variable or a number");
    if (vg_accept(p, "+"))
        o.imm = vg_integer(p);
    else if (vg_accept(p, "-"))
        o.imm = 0 - vg_integer(p);
    if (vg_accept(p, ",")) {
        o.parts[1] = vg_operand(p);
        o.part_count = 2;
    }
    vg_expect(p, "]");
    if (o.parts[0].kind == VgOperand_Const) {
        o.parts[0].imm += o.imm;
        o.imm = 0;
    }
    return o;
}

static bool special(VgParse *p, GpStr name, VgOperand *o) {
    size_t len = name.len;
    while (name.at[len] == '.' && name.at[len + 1] >= 'a' && name.at[len + 1] <= 'z')
        len += 2;
    GpStr whole = {name.at, len};
    for (VgSpecial i = 0; i < VgSpecial_count; i++) {
        if (gp_str_eq(whole, gp_str_from(specials[i].name))) {
            p->at = name.at + len;
            *o = (VgOperand){.kind = VgOperand_Special, .bytes = specials[i].bytes, .at = i};
            return true;
        }
    }
    return false;
}

static VgOperand named(VgParse *p) {
    GpStr name = vg_name(p);
    VgOperand o = {0};
    if (name.len == 0)
        vg_parse_fail(p, "expected an operand before `%.16s`", p->at);
    if (name.len == 1 && name.at[0] == '_')
        return o;
    if (special(p, name, &o))
        return o;
    VgSymbol *s = vg_find(p, name);
    if (!s || s->kind == VgSymbol_Func || s->kind == VgSymbol_Label)
        vg_parse_fail(p, "`%.*s` is not declared", (int)name.len, name.at);
    return s->operand;
}

VgOperand vg_operand(VgParse *p) {
    uint64_t bits;
    if (vg_accept(p, "{"))
        return vector(p, "}");
    if (vg_accept(p, "("))
        return vector(p, ")");
    if (vg_accept(p, "["))
        return address(p);
    if (vg_number(p, &bits))
        return (VgOperand){.kind = VgOperand_Const, .imm = bits};
    bool is_negated = vg_accept(p, "!");
    VgOperand o = named(p);
    o.is_negated = is_negated;
    if (is_negated && o.kind != VgOperand_Pred)
        vg_parse_fail(p, "`!` is for predicates");
    if (vg_accept(p, "|")) { /* two destinations: p|q */
        VgOperand both = {.kind = VgOperand_Vector, .part_count = 2};
        both.parts = GP_NEW_ARRAY(p->arena, VgOperand, 2);
        both.parts[0] = o;
        both.parts[1] = named(p);
        return both;
    }
    return o;
}

/* The label as a symbol, resolved at the function's end. */
static VgOperand label(VgParse *p) {
    VgSymbol *s = vg_label(p, vg_name(p));
    return (VgOperand){.kind = VgOperand_Label, .imm = (uint64_t)(uintptr_t)s};
}

/* call (results), f, (arguments); results and arguments are .param variables. */
static void call(VgParse *p, VgInst *in) {
    vg_skip_space(p);
    if (*p->at == '(') {
        in->ops[0] = vg_operand(p);
        vg_expect(p, ",");
    }
    GpStr name = vg_name(p);
    VgSymbol *s = vg_find(p, name);
    if (!s || s->kind != VgSymbol_Func)
        vg_parse_fail(p, "no function `%.*s`; calls through registers are not run", (int)name.len,
                      name.at);
    in->callee = s->func;
    if (vg_accept(p, ","))
        in->ops[1] = vg_operand(p);
    in->op_count = 2;
    if (in->ops[0].part_count != s->func->results.len ||
        in->ops[1].part_count != s->func->params.len)
        vg_parse_fail(p, "`%.*s` has other parameters", (int)name.len, name.at);
}

/* ---- Shapes ------------------------------------------------------------------------------- */

static bool fits(char shape, const VgOperand *o) {
    bool is_value = o->kind == VgOperand_Reg || o->kind == VgOperand_Const ||
                    o->kind == VgOperand_Special || o->kind == VgOperand_Pred;
    switch (shape) {
    case 'd':
        return o->kind == VgOperand_Reg || o->kind == VgOperand_Pred || o->kind == VgOperand_None;
    case 's':
        return is_value;
    case 'p':
        return o->kind == VgOperand_Pred || o->kind == VgOperand_Const;
    case 'm':
        return o->kind == VgOperand_Address;
    case 'v':
        return o->kind == VgOperand_Vector || o->kind == VgOperand_Reg || o->kind == VgOperand_Pred;
    case 'w':
        return o->kind == VgOperand_Vector || is_value;
    case 'x':
        return true;
    }
    return false;
}

static void operands(VgParse *p, VgInst *in) {
    const char *shape = vg_insts[in->id].shape;
    bool is_optional = false;
    for (; *shape; shape++) {
        if (*shape == '?') {
            is_optional = true;
            continue;
        }
        vg_skip_space(p);
        if (is_optional && *p->at == ';')
            return;
        if (in->op_count > 0)
            vg_expect(p, ",");
        VgOperand *o = &in->ops[in->op_count++];
        *o = *shape == 'l' ? label(p) : vg_operand(p);
        if (*shape != 'l' && !fits(*shape, o))
            vg_parse_fail(p, "operand %u of `%s` is of the wrong kind", in->op_count,
                          vg_insts[in->id].name);
    }
}

/* ---- Names -------------------------------------------------------------------------------- */

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '.';
}

/* The longest row whose words begin the name. */
static VgInstId find_row(VgParse *p, GpStr name) {
    VgInstId best = VgInst_count;
    for (VgInstId i = 0; i < VgInst_count; i++) {
        const VgInstInfo *row = &vg_insts[i];
        bool is_prefix = row->len <= name.len && memcmp(row->name, name.at, row->len) == 0 &&
                         (row->len == name.len || name.at[row->len] == '.');
        if (is_prefix && (best == VgInst_count || row->len > vg_insts[best].len))
            best = i;
    }
    if (best == VgInst_count)
        vg_parse_fail(p, "unknown instruction `%.*s`", (int)name.len, name.at);
    return best;
}

static bool type_word(VgParse *p, VgInst *in, GpStr word) {
    for (VgType t = 0; t < VgType_count; t++) {
        if (!gp_str_eq(word, gp_str_from(vg_types[t].name)))
            continue;
        if (in->type_count == GP_COUNT(in->types))
            vg_parse_fail(p, "too many types");
        in->types[in->type_count++] = t;
        return true;
    }
    return false;
}

static void set_mod(VgParse *p, VgInst *in, VgMod mod) {
    VgClass cls = mods[mod].cls;
    if (!(vg_insts[in->id].classes >> cls & 1))
        vg_parse_fail(p, "`%s` takes no `.%s`", vg_insts[in->id].name, mods[mod].name);
    if (in->mod[cls] && cls != VgClass_Space && cls != VgClass_Layout)
        vg_parse_fail(p, "`.%s` beside another of its kind", mods[mod].name);
    if (cls == VgClass_Space)
        in->spaces[in->mod[cls] ? 1 : 0] = (uint8_t)mod;
    if (cls == VgClass_Layout && in->mod[cls] && (in->mod[cls] != VgMod_Row || mod != VgMod_Col))
        vg_parse_fail(p, "layouts other than .row.col are not run");
    if (cls != VgClass_Layout || !in->mod[cls])
        in->mod[cls] = (uint8_t)mod;
}

static bool mod_word(VgParse *p, VgInst *in, GpStr word) {
    for (VgMod i = 1; i < GP_COUNT(mods); i++) {
        if (gp_str_eq(word, gp_str_from(mods[i].name))) {
            set_mod(p, in, i);
            return true;
        }
    }
    return false;
}

static void word(VgParse *p, VgInst *in, GpStr w) {
    unsigned m, n, k;
    char text[32];
    if (type_word(p, in, w) || mod_word(p, in, w))
        return;
    snprintf(text, sizeof text, "%.*s", (int)w.len, w.at);
    if ((vg_insts[in->id].classes >> VgClass_Shape & 1) &&
        sscanf(text, "m%un%uk%u", &m, &n, &k) == 3) {
        in->shape[0] = (uint16_t)m;
        in->shape[1] = (uint16_t)n;
        in->shape[2] = (uint16_t)k;
        return;
    }
    vg_parse_fail(p, "`%s` takes no `.%s`", vg_insts[in->id].name, text);
}

static void opcode(VgParse *p, VgInst *in) {
    vg_skip_space(p);
    GpStr name = {p->at, 0};
    while (is_word_char(*p->at))
        p->at++;
    name.len = (size_t)(p->at - name.at);
    in->id = find_row(p, name);
    const VgInstInfo *row = &vg_insts[in->id];
    in->run = row->run;
    const char *at = name.at + row->len, *end = name.at + name.len;
    while (at < end) {
        const char *start = ++at; /* behind the dot */
        while (at < end && *at != '.')
            at++;
        word(p, in, (GpStr){start, (size_t)(at - start)});
    }
    bool is_mixed = (row->classes >> VgClass_Mixed & 1) && in->type_count == 2 && in->types[0] == VgType_F32 &&
                    (in->types[1] == VgType_F16 || in->types[1] == VgType_BF16);
    if (in->type_count != row->types && !is_mixed)
        vg_parse_fail(p, "`%.*s` has %u types instead of %u", (int)name.len, name.at,
                      in->type_count, row->types);
}

void vg_instruction(VgParse *p, VgOperand guard) {
    if (!p->func)
        vg_parse_fail(p, "an instruction outside a function");
    vg_skip_space(p);
    VgInst in = {
        .guard = guard, .line = p->line, .kernel_line = p->kernel_line, .text = {p->at, 0}};
    opcode(p, &in);
    if (in.id == VgInst_Call)
        call(p, &in);
    else
        operands(p, &in);
    vg_expect(p, ";");
    in.text.len = (size_t)(p->at - in.text.at);
    if (in.run == vg_run_alu) {
        in.alu = vg_alu_find(in.id, in.types[0]);
        if (!in.alu)
            vg_parse_fail(p, "`%s` is not defined on .%s", vg_insts[in.id].name,
                          vg_types[in.types[0]].name);
    }
    GP_PUSH(p->arena, &p->func->insts, in);
}
