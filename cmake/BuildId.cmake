# Writes OUT: a header with GPULUA_BUILD_ID, a hash of the files in SOURCES. Part of the cache key
# of compiled kernels, so it changes with anything that changes generated code.
set(all "")
foreach(source ${SOURCES})
  file(SHA256 ${source} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 id "${all}")
file(WRITE ${OUT} "#define GPULUA_BUILD_ID \"${id}\"\n")
