# What `cmake --install` puts where, by component:
#   runtime       the shared library that programs load
#   dev           headers, archives, the schema, the CMake package and the pkg-config files
#   tools         om-run, om-dump, om-sign, npu-cluster
#   mpi           the plug-in that connects ranks over MPI, where the build found MPI
#   ascend        AscendCL (InstallAscend.cmake)
#   compiler, compiler-dev   the compiler; its headers and archives (InstallCompiler.cmake)
#   examples      programs and models to start with
#   python        the Python package; `wheel` is that with its libraries, and only on request
#                 (python-bindings/InstallPython.cmake)
# Packages.cmake makes Debian packages of them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a C program links beside the simulator, which is C++.
set(OPENATC_CXX_LIBRARY stdc++)
if("c++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  set(OPENATC_CXX_LIBRARY c++)
endif()

set(OPENATC_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/OpenATC")
set(OPENATC_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Paths in pkg-config files follow from the file's own location, so that the tree can be
# installed with --prefix, or moved.
foreach(folder LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(OPENATC_PC_${folder} "${CMAKE_INSTALL_${folder}}")
  else()
    set(OPENATC_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(OPENATC_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${OPENATC_PKGCONFIG_DIR}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(OPENATC_PC_PREFIX "\${pcfiledir}/${up}")
endif()

# openatc_install_part(<Part> <component> <targets>...): installs libraries and the file that makes
# them targets of find_package(OpenATC), named OpenATC<Part>Targets.cmake.
function(openatc_install_part part component)
  install(TARGETS ${ARGN} EXPORT OpenATC${part}Targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
          INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT OpenATC${part}Targets NAMESPACE OpenATC:: DESTINATION "${OPENATC_CMAKE_DIR}"
          COMPONENT ${component})
endfunction()

# openatc_install_pc(<name> <component>): installs cmake/<name>.pc.in.
function(openatc_install_pc name component)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${OPENATC_PKGCONFIG_DIR}"
          COMPONENT ${component})
endfunction()

# The runtime.
install(TARGETS openatc_runtime openatc_runtime_shared EXPORT OpenATCRuntimeTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT dev
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT OpenATCRuntimeTargets NAMESPACE OpenATC:: DESTINATION "${OPENATC_CMAKE_DIR}"
        COMPONENT dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime-lite/include/openatc"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
install(FILES "${PROJECT_SOURCE_DIR}/runtime-lite/schema/om.fbs"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/openatc" COMPONENT dev)
openatc_install_pc(openatc dev)

# The runtime for programs without an operating system, a library of its own.
openatc_install_part(Bare dev openatc_bare)

# The simulated NPU, a library of its own. A runtime that is built alone has it only
# where the tools do.
if(OPENATC_BUILD_COMPILER OR TARGET om-run)
  openatc_install_part(Npu dev openatc_npu)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/npu/device/include/openatc"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
  openatc_install_pc(openatc-npu dev)
endif()

# Connections between ranks; the plug-in for MPI where MPI was there to build it.
if(TARGET om-run)
  install(TARGETS openatc_collectives ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/collectives/include/openatc"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
  if(TARGET openatc_mpi)
    install(TARGETS openatc_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi)
  endif()
endif()

# Signatures, where libsodium was there to build them.
if(TARGET openatc_trust)
  openatc_install_part(Trust dev openatc_trust)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime-lite/trust/include/openatc"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
  openatc_install_pc(openatc-trust dev)
endif()

foreach(tool om-run om-dump om-sign npu-cluster)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  endif()
endforeach()

if(TARGET ascendcl)
  include(InstallAscend)
endif()
set(OPENATC_LLVM_PREFIX "")
if(OPENATC_BUILD_COMPILER)
  set(OPENATC_LLVM_PREFIX "${LLVM_INSTALL_PREFIX}")
  include(InstallCompiler)
endif()
set(OPENATC_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING
    "Where the Python package is installed, under the prefix")
if(TARGET _runtime)
  include("${PROJECT_SOURCE_DIR}/python-bindings/InstallPython.cmake")
endif()

include(ManPages)

# Programs and models to start with, as docs/ describes them.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${CMAKE_INSTALL_DATADIR}/openatc/examples"
        COMPONENT examples PATTERN "__pycache__" EXCLUDE PATTERN "heldout.npz" EXCLUDE)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/OpenATCConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/package/OpenATCConfig.cmake"
                              INSTALL_DESTINATION "${OPENATC_CMAKE_DIR}"
                              PATH_VARS OPENATC_PYTHON_DIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/OpenATCConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/OpenATCConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/OpenATCConfigVersion.cmake"
        DESTINATION "${OPENATC_CMAKE_DIR}" COMPONENT dev)

include(Packages)
