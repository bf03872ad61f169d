# What `cmake --install` puts where. Components: runtime (library, headers, schema, the two tools and
# the CMake package and the pkg-config files that find them).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a C program links beside the simulator, which is C++.
set(OPENATC_CXX_LIBRARY stdc++)
if("c++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  set(OPENATC_CXX_LIBRARY c++)
endif()

set(OPENATC_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/OpenATC")

install(TARGETS openatc_runtime openatc_runtime_shared EXPORT OpenATCRuntimeTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime-lite/include/openatc"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/runtime-lite/schema/om.fbs"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/openatc" COMPONENT runtime)
if(TARGET om-run)
  install(TARGETS om-run om-dump RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()

# The simulated NPU, a library of its own. A runtime that is built alone has it only
# where the tools do.
if(OPENATC_BUILD_COMPILER OR TARGET om-run)
  install(TARGETS openatc_npu EXPORT OpenATCRuntimeTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
          INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/npu/device/include/openatc"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
endif()

# AscendCL, with a folder that looks like the vendor's toolkit to scripts and CMake files.
if(TARGET ascendcl)
  include(InstallAscend)
endif()

# Signatures, where libsodium was there to build them.
if(TARGET openatc_trust)
  install(TARGETS openatc_trust EXPORT OpenATCRuntimeTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
          INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime-lite/trust/include/openatc"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
endif()
if(TARGET om-sign)
  install(TARGETS om-sign RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
endif()

install(EXPORT OpenATCRuntimeTargets NAMESPACE OpenATC:: DESTINATION "${OPENATC_CMAKE_DIR}"
        COMPONENT runtime)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/OpenATCConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/OpenATCConfig.cmake"
                              INSTALL_DESTINATION "${OPENATC_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/OpenATCConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/OpenATCConfig.cmake"
              "${PROJECT_BINARY_DIR}/OpenATCConfigVersion.cmake"
        DESTINATION "${OPENATC_CMAKE_DIR}" COMPONENT runtime)

# The same for pkg-config. Paths are told from the file's own place, so that the
# tree can be installed with --prefix, or moved.
set(OPENATC_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
foreach(place LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${place}}")
    set(OPENATC_PC_${place} "${CMAKE_INSTALL_${place}}")
  else()
    set(OPENATC_PC_${place} "\${prefix}/${CMAKE_INSTALL_${place}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(OPENATC_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${OPENATC_PKGCONFIG_DIR}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(OPENATC_PC_PREFIX "\${pcfiledir}/${up}")
endif()
set(packages openatc)
if(OPENATC_BUILD_COMPILER OR TARGET om-run)
  list(APPEND packages openatc-npu)
endif()
if(TARGET ascendcl)
  list(APPEND packages ascendcl)
endif()
foreach(package ${packages})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in"
                 "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${OPENATC_PKGCONFIG_DIR}"
          COMPONENT runtime)
endforeach()
