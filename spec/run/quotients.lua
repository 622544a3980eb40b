-- Numbers of f32 that divisions are tested with.
local quotients = {}

-- Ends of ranges: of the type, and of what is divided without the hardware's way (codegen/emit_divide.c).
quotients.special = {
  0.0, -0.0, 1, -3, 7, 0.1, math.huge, -math.huge, 0 / 0, 0x1p-149, 0x1p-148, -0x1.4p-130, 0x1.fffffcp-127, 0x1p-126, -0x1p-124, 0x1.8p-99,
  0x1p-90, 0x1.fffffep-91, 0x1.8p-91, 0x1p-62, 0x1.fffffep-63, -0x1p-63, -1e-30, 1e-40, 0x1.fffffep0, -0x1.fffffep40, 0x1p62, 0x1.000002p62, 6.5e10,
  0x1p124, 0x1p125, 0x1.000002p125, 0x1.fffffep125, 0x1p126, -0x1.8p126, 0x1p127, 0x1.fffffep127, -0x1.fffffep127,
}

function quotients.f32(x) return (string.unpack("<f", string.pack("<f", x))) end
for i, x in ipairs(quotients.special) do quotients.special[i] = quotients.f32(x) end

-- What is compared: NaN is NaN.
function quotients.bits(x) return x ~= x and "nan" or string.pack("<f", x) end

-- A divisor from 1 to 2 with an odd last bit.
function quotients.odd() return 1 + (math.random(0, 2 ^ 22 - 1) * 2 + 1) * 2.0 ^ -23 end

-- Dividends whose quotients by `b`, which is as above, are as near to the middle of two numbers as a quotient can be: with
-- whole A, B and odd M of 24, 24 and 25 bits, A 2^width - B M = off.
function quotients.hard(b)
  local B, inverse, out = math.tointeger(b * 2 ^ 23), 1, {}
  for _ = 1, 5 do inverse = inverse * (2 - B * inverse) end
  for width = 24, 25 do
    for off = -3, 3, 2 do
      local M = -off * inverse & (1 << width) - 1
      if width == 24 then M = M | 1 << 24 end
      local A = B * M + off >> width
      if M >> 24 == 1 and A >> 23 == 1 then out[#out + 1] = A * 2.0 ^ -23 end
    end
  end
  return out
end

return quotients
