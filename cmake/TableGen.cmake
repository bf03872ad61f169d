# mlir-tblgen for dialects and passes.

set(OPENATC_TBLGEN "${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen")

# openatc_tablegen(<target> <td file> [-gen-x output]... [DEPENDS <generated td file>...])
# Each pair makes one file in the binary folder that mirrors the source folder;
# <target> builds them all. Includes are written from the project's root, those of
# generated .td files as well. A file whose text stays the same is not written, so that
# a new sentence of a description rebuilds nothing.
function(openatc_tablegen target td)
  set(outputs)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  set(args ${ARG_UNPARSED_ARGUMENTS})
  while(args)
    list(POP_FRONT args generator output)
    separate_arguments(generator)
    add_custom_command(
      OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${output}"
      COMMAND "${OPENATC_TBLGEN}" ${generator} "${CMAKE_CURRENT_SOURCE_DIR}/${td}"
              -I "${PROJECT_SOURCE_DIR}" -I "${PROJECT_BINARY_DIR}" -I "${MLIR_INCLUDE_DIRS}"
              --write-if-changed -o "${CMAKE_CURRENT_BINARY_DIR}/${output}"
              -d "${CMAKE_CURRENT_BINARY_DIR}/${output}.d"
      DEPFILE "${CMAKE_CURRENT_BINARY_DIR}/${output}.d"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${td}" ${ARG_DEPENDS}
      COMMENT "TableGen ${output}")
    list(APPEND outputs "${CMAKE_CURRENT_BINARY_DIR}/${output}")
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
endfunction()
