-- Random small programs for oracle.lua: one function over variables of a few types (values that
-- move, copies, references, structs, options), with moves, borrows, reborrows, loops, matches,
-- blocks and closures. They always have right types, so that only moves and borrows are judged.

local prelude = [[
pub struct P(i32);
pub struct W { a: i32, b: P, c: P }
pub struct R<'a> { r: &'a P, n: i32 }
pub struct M<'a> { m: &'a mut P, n: i32 }
pub enum O { N, S(P), T { q: P, n: i32 } }
fn eat(p: P) {}
fn eatw(w: W) {}
fn mk() -> P { P(1) }
fn mkw() -> W { W { a: 1, b: mk(), c: mk() } }
fn look(p: &P) -> i32 { 0 }
fn poke(p: &mut P) -> i32 { 0 }
fn idr<'a>(p: &'a P) -> &'a P { p }
fn idm<'a>(p: &'a mut P) -> &'a mut P { p }
fn mkr<'a>(p: &'a P) -> R<'a> { R { r: p, n: 1 } }
fn mkm<'a>(p: &'a mut P) -> M<'a> { M { m: p, n: 1 } }
fn pick<'a>(p: &'a P, q: &'a P) -> &'a P { p }
fn first<'a, 'b>(p: &'a P, q: &'b P) -> &'a P { p }
fn call<F: Fn(i32) -> i32>(f: F) -> i32 { f(1) }
impl P {
    fn used(self) -> i32 { 0 }
    fn look(&self) -> i32 { 0 }
    fn poke(&mut self) -> i32 { 0 }
    fn get(&mut self) -> &mut i32 { &mut self.0 }
    fn rd(&self) -> &i32 { &self.0 }
    fn add(&mut self, x: i32) {}
}
]]

return function(seed)
    local state = seed * 2654435761 % 4294967296
    local function random(n) -- 1 .. n, the same on every machine
        state = (state * 1664525 + 1013904223) % 4294967296
        return (state >> 8) % n + 1
    end
    local out, vars, next_name, indent, loops = {}, {}, 0, 1, 0

    local function emit(fmt, ...) out[#out + 1] = ("    "):rep(indent) .. fmt:format(...) end
    local function fresh(kind, prefix)
        next_name = next_name + 1
        local name = (prefix or kind:lower()) .. next_name
        return name
    end
    local function declare(name, kind) vars[#vars + 1] = { name = name, kind = kind } end
    local function pick(kind)
        local found = {}
        for _, v in ipairs(vars) do if v.kind == kind then found[#found + 1] = v.name end end
        return #found > 0 and found[random(#found)] or nil
    end

    -- places and values by type; each falls back to something that always exists
    local function owned() -- a place of type P
        local r = random(6)
        if r == 1 and pick "W" then return pick "W" .. (random(2) == 1 and ".b" or ".c") end
        if r == 2 and pick "T" then return pick "T" .. (random(2) == 1 and ".0" or ".1") end
        return pick "P" or "p0"
    end
    local function shared() -- a value of type &P
        local r = random(7)
        if r == 1 and pick "Ref" then return pick "Ref" end
        if r == 2 and pick "R" then return pick "R" .. ".r" end
        if r == 3 then return "idr(&" .. owned() .. ")" end
        if r == 4 and pick "Ref" then return "pick(" .. pick "Ref" .. ", &" .. owned() .. ")" end
        if r == 5 and pick "Mut" then return "&*" .. pick "Mut" end
        return "&" .. owned()
    end
    local function unique() -- a value of type &mut P
        local r = random(6)
        if r == 1 and pick "Mut" then return "&mut *" .. pick "Mut" end
        if r == 2 and pick "Mut" then return pick "Mut" end
        if r == 3 and pick "M" then return "&mut *" .. pick "M" .. ".m" end
        if r == 4 then return "idm(&mut " .. owned() .. ")" end
        return "&mut " .. owned()
    end
    local function int()
        local r = random(9)
        if r == 1 then return owned() .. ".look()" end
        if r == 2 then return "look(" .. shared() .. ")" end
        if r == 3 and pick "Int" then return pick "Int" end
        if r == 4 and pick "W" then return pick "W" .. ".a" end
        if r == 5 and pick "R" then return pick "R" .. ".n" end
        if r == 6 and pick "IRef" then return "*" .. pick "IRef" end
        if r == 7 and pick "IMut" then return "*" .. pick "IMut" end
        return tostring(random(9))
    end
    local function value() return random(3) == 1 and "mk()" or owned() end

    local body
    local function block(head, depth, bind)
        local mark = #vars
        emit("%s {", head)
        indent = indent + 1
        if bind then declare(bind[1], bind[2]) end
        body(depth - 1, random(3))
        indent = indent - 1
        while #vars > mark do vars[#vars] = nil end
    end
    local function let(kind, prefix, text)
        local name = fresh(kind, prefix)
        emit("let mut %s = %s;", name, text)
        declare(name, kind)
    end

    local steps = {
        function() let("P", "p", value()) end,
        function() let("Ref", "r", shared()) end,
        function() let("Mut", "m", unique()) end,
        function() let("W", "w", random(2) == 1 and pick "W" or "mkw()") end,
        function() let("T", "t", ("(%s, %s)"):format(value(), value())) end,
        function() let("R", "s", ("mkr(%s)"):format(shared())) end,
        function() let("M", "n", ("mkm(%s)"):format(unique())) end,
        function() let("O", "o", ("O::S(%s)"):format(value())) end,
        function() let("Opt", "q", ("Some(%s)"):format(value())) end,
        function() let("Int", "i", int()) end,
        function() let("IRef", "j", owned() .. ".rd()") end,
        function() let("IMut", "k", owned() .. ".get()") end,
        function() emit("eat(%s);", value()) end,
        function() emit("look(%s);", shared()) end,
        function() emit("poke(%s);", unique()) end,
        function() emit("%s.poke();", owned()) end,
        function() emit("%s.used();", owned()) end,
        function() emit("%s.add(%s);", owned(), int()) end,
        function() emit("%s = %s;", owned(), value()) end,
        function() if pick "Ref" then emit("%s = %s;", pick "Ref", shared()) end end,
        function() if pick "Mut" then emit("%s = %s;", pick "Mut", unique()) end end,
        function() if pick "Mut" then emit("%s.poke();", pick "Mut") end end,
        function() if pick "Mut" then emit("*%s = %s;", pick "Mut", value()) end end,
        function() if pick "Mut" then emit("eat(*%s);", pick "Mut") end end,
        function() if pick "Ref" then emit("eat(*%s);", pick "Ref") end end,
        function() if pick "Ref" then emit("%s.look();", pick "Ref") end end,
        function() if pick "M" then emit("%s.m.poke();", pick "M") end end,
        function() if pick "R" then emit("look(%s.r);", pick "R") end end,
        function() if pick "W" then emit("eatw(%s);", pick "W") end end,
        function() if pick "IMut" then emit("*%s = %s;", pick "IMut", int()) end end,
        function() if pick "Int" then emit("%s += %s;", pick "Int", int()) end end,
        function()
            local t = pick "T"
            if not t then return end
            local a, b = fresh("P", "p"), fresh("P", "p")
            emit("let (mut %s, mut %s) = %s;", a, b, t)
            declare(a, "P")
            declare(b, "P")
        end,
        function() -- assigned later
            local name = fresh("P", "p")
            emit("let mut %s: P;", name)
            declare(name, "P")
        end,
        function(depth)
            block(("if c > %s"):format(int()), depth)
            if random(2) == 1 then block("} else", depth) end
            emit "}"
        end,
        function(depth)
            loops = loops + 1
            block(random(2) == 1 and "for i in 0..3" or ("while c > %s"):format(int()), depth)
            loops = loops - 1
            emit "}"
        end,
        function(depth)
            loops = loops + 1
            block("loop", depth)
            loops = loops - 1
            emit "    if c == 1 { break; }"
            emit "}"
        end,
        function(depth)
            if depth > 0 then
                block("", depth)
                emit "}"
            end
        end,
        function(depth)
            local o = pick "O"
            if not o then return end
            local how = ({ "", "", "&", "&mut " })[random(4)]
            local kind = how == "" and "P" or how == "&" and "Ref" or "Mut"
            local a, b = fresh(kind, "x"), fresh(kind, "x")
            emit("match %s%s {", how, o)
            indent = indent + 1
            block(("O::S(%s) =>"):format(how == "" and "mut " .. a or a), depth, { a, how == "" and "P" or kind .. "Pat" })
            emit "}"
            block(("O::T { q: %s, .. } =>"):format(b), depth, { b, kind .. "Pat" })
            emit "}"
            emit "_ => {}"
            indent = indent - 1
            emit "}"
        end,
        function(depth)
            local q = pick "Opt"
            if not q then return end
            local how = ({ "", "&", "&mut " })[random(3)]
            local kind = how == "" and "P" or how == "&" and "Ref" or "Mut"
            local a = fresh(kind, "x")
            block(("if let Some(%s) = %s%s"):format(how == "" and "mut " .. a or a, how, q), depth,
                { a, how == "" and "P" or kind .. "Pat" })
            emit "}"
        end,
        function() -- a closure that looks, called at once or later
            local name = fresh("Fn", "f")
            emit("let %s = %s|y: i32| y + %s;", name, random(4) == 1 and "move " or "", int())
            declare(name, "Fn")
        end,
        function() if pick "Fn" then emit("%s(%s);", pick "Fn", int()) end end,
        function() emit("call(|y| y + %s);", int()) end,
        function() if pick "RefPat" then emit("%s.look();", pick "RefPat") end end,
        function() if pick "MutPat" then emit("%s.poke();", pick "MutPat") end end,
        function() if loops > 0 then emit("if c == 2 { %s; }", random(2) == 1 and "break" or "continue") end end,
        function() emit "if c == 3 { return; }" end,
    }

    function body(depth, length)
        for _ = 1, length do
            local step = steps[random(#steps)]
            if depth > 0 or step ~= nil then step(depth) end
            if depth <= -2 then return end
        end
    end

    out[1] = prelude .. "pub fn f(c: i32, mut p0: P, mut p1: P, mut w0: W, mut m0: &mut P, r0: &P) {"
    for _, v in ipairs { { "p0", "P" }, { "p1", "P" }, { "w0", "W" }, { "m0", "Mut" } } do declare(v[1], v[2]) end
    for _ = 1, 4 + random(8) do steps[random(#steps)](2) end
    out[#out + 1] = "}"
    return table.concat(out, "\n") .. "\n"
end
