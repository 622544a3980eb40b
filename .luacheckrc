std = "lua54"
max_line_length = 120
exclude_files = { "build/**" }
files["spec/**/*_spec.lua"] = { std = "+busted" }
files[".busted"] = { std = "lua54" }
