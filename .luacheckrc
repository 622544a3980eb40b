std = "lua54"
max_line_length = 140
max_string_line_length = false -- kernels and expected outputs
unused_args = false
ignore = { "581" } -- `not (x <= y)` is true of NaN, `x > y` is not
exclude_files = { "build/**", "spec/ui/**" } -- programs with mistakes are what spec/ui is about
files["spec/**/*_spec.lua"] = { std = "+busted" }
files["spec/**"] = { max_line_length = 240 } -- a case a line
files["examples/borrow_errors.lua"] = { ignore = { "211/p" } } -- the move is what it is about
