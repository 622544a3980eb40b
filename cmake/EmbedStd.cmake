# Writes kernel sources as a C file with the array NAME_sources:
# cmake -DNAME=gp_std -DOUT=file.c -DSOURCES="a.rs;b.rs" -P EmbedStd.cmake
set(arrays "")
set(rows "")
set(count 0)
foreach(source ${SOURCES})
  get_filename_component(crate ${source} NAME_WE)
  file(READ ${source} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR len "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const char ${crate}[] = {${bytes} 0};\n")
  string(APPEND rows "    {\"${crate}\", ${crate}, ${len}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUT}
  "#include \"dsl/std.h\"\n\n${arrays}\nconst GpStdSource ${NAME}_sources[] = {\n${rows}};\nconst size_t ${NAME}_source_count = ${count};\n")
