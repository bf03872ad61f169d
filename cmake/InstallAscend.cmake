# Installs the libraries of AscendCL, their headers, and <libdir>/openatc/toolkit: a folder
# for DDK_PATH, NPU_HOST_LIB and ASCEND_TOOLKIT_HOME, with set_env.sh that sets them.

get_property(ascend_libraries GLOBAL PROPERTY OPENATC_ASCEND_LIBRARIES)
get_property(ascend_aliases GLOBAL PROPERTY OPENATC_ASCEND_ALIASES)
foreach(alias ${ascend_aliases})
  install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${alias}.so"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ascend)
endforeach()
openatc_install_part(Ascend ascend ${ascend_libraries})
openatc_install_pc(ascendcl ascend)
get_property(aclnn_headers GLOBAL PROPERTY OPENATC_ACLNN_HEADERS)
# Older programs include them from aclnnop/level2.
foreach(folder aclnnop aclnnop/level2)
  install(FILES ${aclnn_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}"
          COMPONENT ascend)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/ascend/include/aclnnop/aclnn_rotary_position_embedding.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/aclnnop/level2" COMPONENT ascend)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ascend/include/acl" "${PROJECT_SOURCE_DIR}/ascend/include/aclnn"
        "${PROJECT_SOURCE_DIR}/ascend/include/aclnnop" "${PROJECT_SOURCE_DIR}/ascend/include/ge"
        "${PROJECT_SOURCE_DIR}/ascend/include/graph" "${PROJECT_SOURCE_DIR}/ascend/include/op_proto"
        "${PROJECT_SOURCE_DIR}/ascend/include/mstx" "${PROJECT_SOURCE_DIR}/ascend/include/parser"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT ascend)

# The folders that build scripts of samples name; all lead to the same two. `install` copies
# links as they are, so the tree can be moved.
set(toolkit "${PROJECT_BINARY_DIR}/install-toolkit")
file(REMOVE_RECURSE "${toolkit}")
file(RELATIVE_PATH to_include "/${CMAKE_INSTALL_LIBDIR}/openatc/toolkit/runtime"
     "/${CMAKE_INSTALL_INCLUDEDIR}")
file(RELATIVE_PATH to_lib "/${CMAKE_INSTALL_LIBDIR}/openatc/toolkit/runtime/lib64"
     "/${CMAKE_INSTALL_LIBDIR}")
foreach(folder runtime acllib fwkacllib)
  file(MAKE_DIRECTORY "${toolkit}/${folder}/lib64")
  file(CREATE_LINK "${to_include}" "${toolkit}/${folder}/include" SYMBOLIC)
  file(CREATE_LINK "${to_lib}" "${toolkit}/${folder}/lib64/stub" SYMBOLIC)
  foreach(library ${ascend_libraries} ${ascend_aliases})
    file(CREATE_LINK "${to_lib}/lib${library}.so" "${toolkit}/${folder}/lib64/lib${library}.so"
         SYMBOLIC)
  endforeach()
endforeach()
file(CREATE_LINK runtime/include "${toolkit}/include" SYMBOLIC)
file(CREATE_LINK runtime/lib64 "${toolkit}/lib64" SYMBOLIC)
# Older toolkits name the processor, and newer ones keep what programs link apart.
file(CREATE_LINK . "${toolkit}/${CMAKE_SYSTEM_PROCESSOR}-linux" SYMBOLIC)
file(CREATE_LINK runtime/lib64/stub "${toolkit}/devlib" SYMBOLIC)
file(RELATIVE_PATH to_bin "/${CMAKE_INSTALL_LIBDIR}/openatc/toolkit/atc" "/${CMAKE_INSTALL_BINDIR}")
foreach(folder atc compiler)
  file(MAKE_DIRECTORY "${toolkit}/${folder}")
  file(CREATE_LINK "${to_bin}" "${toolkit}/${folder}/bin" SYMBOLIC)
  # Programs that build graphs take their headers and libraries from here.
  file(CREATE_LINK ../runtime/include "${toolkit}/${folder}/include" SYMBOLIC)
  file(CREATE_LINK ../runtime/lib64 "${toolkit}/${folder}/lib64" SYMBOLIC)
endforeach()
file(MAKE_DIRECTORY "${toolkit}/opp/built-in/op_proto")
file(CREATE_LINK ../../../runtime/include/op_proto "${toolkit}/opp/built-in/op_proto/inc" SYMBOLIC)
# Where older releases have the same headers.
file(MAKE_DIRECTORY "${toolkit}/opp/op_proto/built-in")
file(CREATE_LINK ../../../runtime/include/op_proto "${toolkit}/opp/op_proto/built-in/inc" SYMBOLIC)
configure_file("${PROJECT_SOURCE_DIR}/cmake/set_env.sh.in" "${toolkit}/set_env.sh" @ONLY)
install(DIRECTORY "${toolkit}/" DESTINATION "${CMAKE_INSTALL_LIBDIR}/openatc/toolkit"
        COMPONENT ascend)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ascend/python/acl" "${PROJECT_SOURCE_DIR}/ascend/python/aclruntime"
        "${PROJECT_SOURCE_DIR}/ascend/python/ais_bench"
        "${PROJECT_SOURCE_DIR}/ascend/python/amct_onnx" "${PROJECT_SOURCE_DIR}/ascend/python/mstx"
        "${PROJECT_SOURCE_DIR}/ascend/python/msopst_tool" "${PROJECT_SOURCE_DIR}/ascend/python/openatc_toolkit"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/openatc/toolkit/python" COMPONENT ascend
        PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/ascend/python/benchmark" DESTINATION "${CMAKE_INSTALL_BINDIR}"
        RENAME "benchmark.${CMAKE_SYSTEM_PROCESSOR}" COMPONENT ascend)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/ascend/python/msame" "${PROJECT_SOURCE_DIR}/ascend/python/msopgen"
        "${PROJECT_SOURCE_DIR}/ascend/python/msopst"
        "${PROJECT_SOURCE_DIR}/ascend/python/msprof" "${PROJECT_SOURCE_DIR}/ascend/python/npu-smi" DESTINATION "${CMAKE_INSTALL_BINDIR}"
        COMPONENT ascend)
