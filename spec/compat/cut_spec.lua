-- The cutter of kernels, on a file of our own: what looks like a brace or an entry and is none.
package.path = "spec/compat/?.lua;" .. package.path
local cut = require "cut"

local FILE = [==[
//! #[cutile::module] mod nothing { }
use host::Tensor; /* a /* nested */ { comment */

#[cutile::module]
mod helpers {
    pub fn brace() -> &'static str { "}" }
}

/// The kernels.
#[cutile::module(tile_rust_crate = true)]
pub mod kernels {
    use super::helpers::brace;

    fn plain<'a>(c: char) -> bool { c == '}' || c == '\'' || r#"{"# == "\"{" }

    /// Not `#[cutile::entry()] fn shadow()`.
    #[cutile::entry(print_ir = true)]
    #[allow(unused)]
    unsafe fn first<T: ElementType, const B: i32, const S: [i32; 2]>(x: &Tensor<T, { [B, -1] }>) {
        let y = [0; { 3 }];
    }

    #[cutile::entry]
    fn second() {}
}

fn main() { kernels::first(); }
]==]

describe("cut", function()
  local modules = cut.modules(FILE)
  local entries = cut.entries(FILE, modules[2])

  it("finds modules, and no comment or string", function()
    assert.are.equal(2, #modules)
    assert.are.equal("helpers", modules[1].name)
    assert.are.equal("kernels", modules[2].name)
  end)

  it("finds entries with their generics", function()
    assert.are.equal(2, #entries)
    assert.are.equal("first", entries[1].name)
    assert.are.equal("<T: ElementType, const B: i32, const S: [i32; 2]>", entries[1].generics)
    assert.are.equal("second", entries[2].name)
    assert.are.equal("", entries[2].generics)
    assert.are.same({ "T: ElementType", "const B: i32", "const S: [i32; 2]" }, cut.list(entries[1].generics:sub(2, -2)))
  end)

  it("keeps lines and columns, and the modules that are named", function()
    local text = cut.source(FILE, modules, 2)
    local function lines_of(s)
      local t = {}
      for line in (s .. "\n"):gmatch "(.-)\n" do t[#t + 1] = line end
      return t
    end
    local was, is = lines_of(FILE), lines_of(text)
    for i, line in ipairs(is) do assert(line == was[i] or line:find "^%s*$", line) end
    assert.is_truthy(text:find("mod helpers", 1, true))
    assert.is_nil(text:find("fn main", 1, true))
    assert.is_nil(cut.source(FILE, modules, 1):find("mod kernels", 1, true))
  end)

  it("takes an entry out whole", function()
    local text = cut.without(FILE, entries[1])
    assert.is_nil(text:find("first<", 1, true))
    assert.is_nil(text:find("allow", 1, true))
    assert.is_nil(text:find("shadow", 1, true))
    assert.is_truthy(text:find("fn plain", 1, true))
    assert.is_truthy(text:find("fn second", 1, true))
    assert.are.equal(#FILE, #text)
  end)
end)
