# Installs the compiler (component `compiler`), and what passes and tools outside of this tree
# are built with: headers, generated files and archives (component `compiler-dev`).

foreach(tool atc amct aoe npu-sim atc-opt atc-translate atc-lsp-server)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT compiler)
    # libMLIR is in LLVM's own folder, where the loader does not look by itself.
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  endif()
endforeach()

if(TARGET amct)
  foreach(name amct_onnx amct_caffe amct_tensorflow)
    install(FILES "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}" DESTINATION "${CMAKE_INSTALL_BINDIR}"
            COMPONENT compiler)
  endforeach()
endif()

# openatc_link_closure(<out> <targets>...): the project's libraries that these link, in the order
# of a linker's command line.
function(openatc_link_closure out)
  set(todo ${ARGN})
  set(found)
  while(todo)
    list(POP_FRONT todo library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    if(NOT TARGET "${library}")
      continue()
    endif()
    get_target_property(imported ${library} IMPORTED)
    if(imported)
      continue()
    endif()
    list(REMOVE_ITEM found ${library})
    list(APPEND found ${library})
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(APPEND todo ${links})
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

openatc_link_closure(libraries OpenATCDriver OpenATCQuantize)
list(REMOVE_ITEM libraries openatc_runtime openatc_npu)
set(OPENATC_PC_COMPILER_LIBS)
foreach(library IN LISTS libraries)
  string(REGEX REPLACE "^(OpenATC|openatc_)" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    string(APPEND OPENATC_PC_COMPILER_LIBS " -l${library}")
  endif()
endforeach()
install(TARGETS ${libraries} EXPORT OpenATCCompilerTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/openatc/compiler" COMPONENT compiler-dev
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/openatc/compiler"
                             "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT OpenATCCompilerTargets NAMESPACE OpenATC:: DESTINATION "${OPENATC_CMAKE_DIR}"
        COMPONENT compiler-dev)
openatc_install_pc(openatc-compiler compiler-dev)

# Headers are included by the path that they have in the project.
foreach(root "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  foreach(folder dialects passes driver support quantize frontends backends npu kernels)
    install(DIRECTORY "${root}/${folder}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/openatc/compiler" COMPONENT compiler-dev
            FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.h.inc"
            PATTERN "CMakeFiles" EXCLUDE PATTERN "include" EXCLUDE)
  endforeach()
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/runtime-lite/src/PrintableText.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/openatc/compiler/runtime-lite/src"
        COMPONENT compiler-dev)
