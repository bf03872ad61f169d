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

get_property(info GLOBAL PROPERTY OPENATC_PYTHON_INFO)
openatc_install_python_files("${OPENATC_PYTHON_DIR}" COMPONENT python)
install(DIRECTORY "${info}" DESTINATION "${OPENATC_PYTHON_DIR}" COMPONENT python)
install(TARGETS ${modules} LIBRARY DESTINATION "${OPENATC_PYTHON_DIR}/openatc" COMPONENT python)
openatc_install_pc(openatc-python python)
if(OPENATC_BUILD_COMPILER)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/npu-sweep/npu-sweep" DESTINATION "${CMAKE_INSTALL_BINDIR}"
          COMPONENT python)
endif()

openatc_install_python_files("" COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS _runtime LIBRARY DESTINATION openatc COMPONENT wheel EXCLUDE_FROM_ALL)
if(TARGET _compiler_whole)
  install(TARGETS _compiler_whole LIBRARY DESTINATION openatc COMPONENT wheel EXCLUDE_FROM_ALL)
  install(TARGETS om-run-whole RUNTIME DESTINATION openatc/bin COMPONENT wheel EXCLUDE_FROM_ALL)
  # Libraries that PEP 600 does not expect on every Linux go along. A wheel has no links: each goes
  # under the name that others load it by.
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES
      RESOLVED_DEPENDENCIES_VAR found
      UNRESOLVED_DEPENDENCIES_VAR missing
      EXECUTABLES \"$<TARGET_FILE:om-run-whole>\"
      MODULES \"$<TARGET_FILE:_compiler_whole>\"
      PRE_EXCLUDE_REGEXES [[^ld-linux]] [[^lib(c|m|dl|rt|pthread|stdc[+][+]|gcc_s|z)[.]so]])
    if(missing)
      message(FATAL_ERROR \"Not found: \${missing}\")
    endif()
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/openatc/lib\")
    file(MAKE_DIRECTORY \"\${folder}\")
    foreach(library IN LISTS found)
      get_filename_component(name \"\${library}\" NAME)
      file(REAL_PATH \"\${library}\" source)
      file(COPY_FILE \"\${source}\" \"\${folder}/\${name}\" ONLY_IF_DIFFERENT)
    endforeach()"
    COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
