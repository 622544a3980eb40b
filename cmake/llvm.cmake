# LLVM for gp_codegen: headers, and the libraries it is linked with. Static by default, so that a
# process start does not pay for the shared library; GPULUA_STATIC_LLVM=OFF links libLLVM.so.
find_program(LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
set(components nvptx x86 orcjit passes irreader bitreader linker)

function(llvm_config out)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE text
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(text UNIX_COMMAND "${text}")
  set(${out} ${text} PARENT_SCOPE)
endfunction()

llvm_config(llvm_include --includedir)
llvm_config(llvm_libdir --libdir)
target_include_directories(gp_codegen SYSTEM PRIVATE ${llvm_include})
target_link_libraries(gp_codegen PUBLIC gp_dsl gp_core)
if(GPULUA_STATIC_LLVM)
  llvm_config(llvm_libs --link-static --libs ${components})
  target_link_libraries(gp_codegen INTERFACE -L${llvm_libdir} ${llvm_libs} -Wl,-Bstatic -lstdc++
                        -lzstd -lz -Wl,-Bdynamic -static-libgcc m pthread dl rt)
  # Pulls codegen/compat.c in before the C library is asked for the newer symbols that are in it.
  target_link_options(gp_codegen INTERFACE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-u,arc4random)
else()
  target_link_libraries(gp_codegen INTERFACE ${llvm_libdir}/libLLVM.so m pthread dl)
endif()

file(GLOB gp_generating_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/codegen/*.[chd]* ${CMAKE_SOURCE_DIR}/dsl/ir/*.[chd]*
     ${CMAKE_SOURCE_DIR}/core/*.[chd]*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/build_id.h
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/generated/build_id.h
          "-DSOURCES=${gp_generating_sources}" -P ${CMAKE_SOURCE_DIR}/cmake/BuildId.cmake
  DEPENDS ${gp_generating_sources} ${CMAKE_SOURCE_DIR}/cmake/BuildId.cmake
  VERBATIM)
target_sources(gp_codegen PRIVATE ${CMAKE_BINARY_DIR}/generated/build_id.h)
