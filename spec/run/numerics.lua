-- Prints docs/numerics.md: what bounds.lua says, in words. BLESS=1 of numerics_spec.lua writes it.
package.path = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/?.lua;" .. package.path
local bounds = require "bounds"

local out = {}
local function line(text, ...) out[#out + 1] = text:format(...) end

line "# Numerics"
line ""
line "What a kernel's numbers are, on every device. `spec/run` checks it: each operation on each element type,"
line "on both tracks, against plain Lua, and the functions of this table and directed rounding against MPFR. This page is made from"
line "`spec/run/bounds.lua`."
line ""
line "- **Integers** wrap. `/` and `%%` truncate toward zero; `MIN / -1` is `MIN`; division by zero is a failed check."
line "  Shift counts are taken modulo the width."
line "- **f32 and f64** `+ - * /`, `%%`, `sqrt`, `fma`, `abs`, `min`, `max`, `floor`, `ceil`, `trunc`, `round` and"
line "  comparisons are exact to the last bit, and equal on CPU, GPU and interpreter. Subnormal numbers are kept."
line "- **Contraction**: `a * b + c` is one `fma` wherever the compiler's own pass says so, the same on every device;"
line "  the backend never contracts. So is `mma(a, b, zeros) + c`: it is `mma(a, b, c)`. A product by one value of which only the"
line "  greatest or the least along an axis and arguments of exponentials are made is one in those, also behind a mask that ends"
line "  in late or in early turns of a loop: with `s = x * c` and a maximum `m` of `s`, `exp(s - m)` is `exp(fma(x, c, -m))`,"
line "  which of the greatest `s` is 1 but for what rounding `s` left out."
line "- **What is rounded away**: functions of f32 in a tile kernel are no more exact than what is made of their results needs. It"
line "  follows from the program alone and is the same on every device; `exp(x, rounding::Full)` and `tanh(x, rounding::Full)` have"
line "  their bounds wherever they are used. \"Rounded\" means to 16 bits or fewer or to tf32, and on the way at most multiplied,"
line "  divided and chosen from."
line "  - `exp` whose results are only rounded or added up by `reduce_sum`, and on the way added to a positive constant, is"
line "    `exp(x, rounding::Approx)`: its argument is rounded once more, and below 2^-126 it is 0."
line "  - A quotient by one value, or by one of its row, that is only rounded, or is the argument of `tanh(x, rounding::Approx)`, is"
line "    the product with the reciprocal: within 2 ULP before it is rounded, where the reciprocal is a number; `x * (1 / y)` is"
line "    `x / y`."
line "  - A quotient by a positive constant and a power that is rounded is a product with the reciprocal, within 2^-21, and 0 where"
line "    that divisor is 2^126 or more."
line "  - Such powers and quotients may be added to others (`+`) before they are rounded, as to a residual: all that is relative to"
line "    the sum of what is added then. The following may not."
line "  - `a + a * tanh(x)` and `1 - tanh(x)` that are rounded are such quotients, within 2^-16, relative to the result; the logarithm"
line "    of 1 or more and a power, `log(1.0 + exp(x))`, is within 2^-15; `tanh(x)` is `tanh(x, rounding::Approx)`, for f16 and tf32"
line "    within 2^-14 of its value."
line "  - The factor log2 e of such exponentials, and of `exp` of what they are made of, goes into a factor that the arguments have:"
line "    `exp(x * c - m)` with a maximum `m` of `x * c` is `exp2(x * (c * log2 e) - m')`, as with a `c` that is within 2^-24. Equal"
line "    values stay equal. What is stored of them besides, as `m + log(sum)`, is within 2^-22 where it is below 2^126."
line "  - In such arguments `c * tanh(x)` is off by up to |c| 2^-21, with all powers made of it. Where everything that becomes of the"
line "    powers is rounded to 8 bits (bf16) in the end, no argument is stored, at most two such terms are added up and `c` is a"
line "    constant of at most 64, it is `c * tanh(x, rounding::Approx)`, and a power is off by |c| 2^-16.4, a fifth of bf16's rounding."
line "- **f16, bf16, tf32, f8e4m3fn, f8e5m2** are computed in f32 and rounded once to the format. That is the correctly"
line "  rounded result for `+ - * /` and `sqrt`; `fma` is rounded to f32 first."
line "- **Conversions** are Rust's `as`: float to integer truncates and saturates, NaN becomes 0; to a float rounds to"
line "  nearest, ties to even. f8e4m3fn has no infinity: what is too large becomes 448."
line "- **Rounding in a direction** (`addf`, `subf`, `mulf`, `divf`, `fma`, `sqrt`, `ftof`, `itof` with `rounding::PositiveInf`,"
line "  `NegativeInf` or `Zero`) is correct for every float type, and equal on every device; `fma` of f64 alone is refused."
line "  `ftz::Enabled` takes subnormal operands and results of f32 as zeros of their sign, and changes nothing elsewhere."
line "- **f8e8m0fnu** holds the powers of two from 2^-127 to 2^127 and NaN, **f8e5m3fnu** 0, numbers of four bits from 2^-17"
line "  to 114688, and NaN, which negative numbers become in both, **f4e2m1fn** 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their"
line "  negatives, one in a byte (`unpack` takes two out of one). They are moved and converted, saturating, and have no"
line "  arithmetic. `mmaf_scaled` multiplies each by its scale, exactly, and sums in f32; it runs on every device."
line "- **i4** holds -8 to 7, one in a byte (`unpack` takes two out of one); its arithmetic wraps, as that of all integers."
line "- **min and max** of a number and NaN are the number; -0 is less than 0."
line "- **NaN**: any NaN may become any other quiet NaN. The interpreter quiets signaling NaNs."
line ""
line "## Functions"
line ""
line "Largest error in units in the last place (ULP), from the value's nearest number; special values as in C's `<math.h>`. Over every f32"
line "`exp` of an H200 has 2, and is 2.07 off from the exact value where that is most."
line ""
line "| function | f32 | f64 | narrower |"
line "|---|---|---|---|"
local names = {}
for name in pairs(bounds.f32) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do line("| `%s` | %g | %g | %g |", name, bounds.f32[name], bounds.f64[name], bounds.of(name, "f16")) end
line ""
line "`tanh(x, rounding::Approx)` is the row `tanh_approx`: on a GPU one instruction, within 2^-11 of the value, relative to it (8192 ULP"
line "of f32 where that is most; over every f32 an H200 is at most 1.113e-5 off, 2^-16.4); on the CPU, in the interpreter and in f64"
line "it is `tanh`. `exp(x, rounding::Approx)` is the row `exp_approx`: in f32 a product and one instruction, within 2^-17, and 0 below"
line "2^-126; else `exp`. `exp2(x, ftz::Enabled)` is one instruction with `exp2`'s bound."
line ""
line "CPU kernels compute `exp`, `exp2`, `log`, `ln`, `log2`, `log10` and `tanh` in f32 and narrower types by polynomials (at most 1.4 ULP,"
line "`codegen/poly.def`) where the machine has fused multiply-add, and call the C library for the others. GPU kernels"
line "compute `exp`, `exp2` and `tanh_approx` in f32 and narrower types by the special function unit (`codegen/special.def`), and use NVIDIA's"
line "libdevice for the others where it is installed, else libclc's functions, for which"
line ""
local function list(set)
  local t = {}
  for name in pairs(set) do t[#t + 1] = "`" .. name .. "`" end
  table.sort(t)
  return table.concat(t, ", ")
end
line("- results below 2^-126 of %s in f32 and narrower types may be 0;", list(bounds.libclc.flushed))
line("- %s in f64 may be wrong where the exponent's magnitude is 2^62 or more.", list(bounds.libclc.exponent))
line ""
line "Atomic sums of f32 on a GPU take subnormal numbers for zeros, and give zeros in their place."
line ""
line "`gpu.device().math` and `gpulua doctor` tell which is used."

io.write(table.concat(out, "\n"), "\n")
