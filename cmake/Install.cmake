# What `cmake --install` puts where. Components: runtime (library, headers, schema, the two tools and
# the CMake package that finds them).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(OPENATC_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/OpenATC")

install(TARGETS openatc_runtime openatc_runtime_shared EXPORT OpenATCRuntimeTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime-lite/include/openatc"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/runtime-lite/schema/om.fbs"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/openatc" COMPONENT runtime)
install(TARGETS om-run om-dump RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)

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
