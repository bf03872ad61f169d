# The component `python`: the package for this machine's Python, which finds Debian's libMLIR where
# that is. The component `wheel` is only installed by name: the package with a compiler that
# contains what it needs of MLIR, LLVM and LLD.

get_property(files GLOBAL PROPERTY OPENATC_PYTHON_FILES)
get_property(modules GLOBAL PROPERTY OPENATC_PYTHON_MODULES)
get_property(OPENATC_PYTHON_MINOR GLOBAL PROPERTY OPENATC_PYTHON_MINOR)
math(EXPR OPENATC_NEXT_PYTHON "${OPENATC_PYTHON_MINOR} + 1")

# Installs the package's files below `destination`, each in its folder.
function(openatc_install_python_files destination)
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_BINARY_DIR}/python" OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(APPEND destination "${folder}" OUTPUT_VARIABLE folder)
    install(FILES "${file}" DESTINATION "${folder}" ${ARGN})
  endforeach()
endfunction()

openatc_install_python_files("${OPENATC_PYTHON_DIR}" COMPONENT python)
install(TARGETS ${modules} LIBRARY DESTINATION "${OPENATC_PYTHON_DIR}/openatc" COMPONENT python)
openatc_install_pc(openatc-python python)

openatc_install_python_files("" COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS _runtime LIBRARY DESTINATION openatc COMPONENT wheel EXCLUDE_FROM_ALL)
if(TARGET _compiler_whole)
  install(TARGETS _compiler_whole LIBRARY DESTINATION openatc COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
