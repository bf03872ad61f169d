# Debian packages, one per group of components; scripts/package.sh makes them from a finished build.
#
#   libopenatc0           runtime        libopenatc-dev           dev
#   openatc-tools         tools          openatc-ascendcl         ascend
#   openatc-compiler      compiler       libopenatc-compiler-dev  compiler-dev
#   python3-openatc       python         openatc-examples         examples
#   openatc-mpi           mpi, where the build found MPI

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME openatc)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "OpenATC developers <openatc@localhost>" CACHE STRING
    "The maintainer that packages name")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_OUTPUT_CONFIG_FILE "${PROJECT_BINARY_DIR}/CPackConfig.cmake")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Compressing the compiler takes longer than all else here: all processors share the work.
set(CPACK_THREADS 0)
# What one package needs of the others is written below; shlibdeps finds what is Debian's.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_COMPONENTS_ALL)

# openatc_package(<component> <name> <section> DEPENDS ... RECOMMENDS ... SUMMARY ... TEXT ...)
# A macro, as CPack reads variables of the top level. Every package carries the licences.
macro(openatc_package component name section)
  cmake_parse_arguments(ARG "" "DEPENDS;RECOMMENDS;SUMMARY;TEXT" "" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "share/doc/${name}" RENAME copyright
          COMPONENT ${component})
  install(FILES "${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES.md" DESTINATION "share/doc/${name}"
          COMPONENT ${component})
endmacro()

set(version "${PROJECT_VERSION}")
openatc_package(runtime libopenatc0 libs
  SUMMARY "runs neural networks that OpenATC compiled"
  TEXT "The shared library that loads and runs .om files. It needs no C++ library and no LLVM.")
openatc_package(dev libopenatc-dev libdevel
  DEPENDS "libopenatc0 (= ${version})"
  RECOMMENDS "libsodium-dev"
  SUMMARY "headers and archives of the OpenATC runtime"
  TEXT "For programs that run .om files: runtime, simulated NPU and signatures, with files for CMake and pkg-config.")
if(TARGET om-run)
  openatc_package(tools openatc-tools utils
    SUMMARY "runs, shows and signs .om files"
    TEXT "om-run, om-dump, om-sign and npu-cluster.")
endif()
if(TARGET openatc_mpi)
  openatc_package(mpi openatc-mpi libs
    RECOMMENDS "openatc-tools, openmpi-bin"
    SUMMARY "runs models that OpenATC split over ranks under mpirun"
    TEXT "A plug-in of om-run and of programs that connects the ranks of a model over MPI.")
endif()
if(TARGET ascendcl)
  openatc_package(ascend openatc-ascendcl libs
    RECOMMENDS "python3-numpy"
    SUMMARY "AscendCL on the OpenATC runtime"
    TEXT "libascendcl and libacl_dvpp with their headers, pyACL, ais_bench and msame.")
endif()
if(OPENATC_BUILD_COMPILER)
  set(llvm ${OPENATC_LLVM_VERSION})
  openatc_package(compiler openatc-compiler devel
    RECOMMENDS "openatc-tools, mlir-${llvm}-tools"
    SUMMARY "compiles ONNX, TensorFlow and Caffe models into .om files"
    TEXT "The compiler atc, the quantizer amct, and atc-opt, atc-translate and atc-lsp-server for work on passes.")
  openatc_package(compiler-dev libopenatc-compiler-dev libdevel
    DEPENDS "libopenatc-dev (= ${version}), libmlir-${llvm}-dev, llvm-${llvm}-dev, liblld-${llvm}-dev, lld-${llvm}, libprotobuf-dev, libonnx-dev, nlohmann-json3-dev"
    SUMMARY "headers and archives of the OpenATC compiler"
    TEXT "For passes, plug-ins and tools that are built outside of the OpenATC source.")
endif()
if(TARGET _runtime)
  openatc_package(python python3-openatc python
    DEPENDS "python3 (>= 3.${OPENATC_PYTHON_MINOR}), python3 (<< 3.${OPENATC_NEXT_PYTHON}), python3-numpy"
    SUMMARY "the OpenATC compiler and runtime for Python"
    TEXT "Compiles models, quantizes them and runs .om files on NumPy arrays.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/prerm")
endif()

openatc_package(examples openatc-examples doc
  DEPENDS "libopenatc-dev (= ${version})"
  SUMMARY "examples for OpenATC"
  TEXT "A network that reads digits with its pictures, programs in C and C++, passes and rewrite rules.")

include(CPack)
