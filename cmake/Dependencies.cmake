# What the compiler links: LLVM, MLIR and LLD 22, protobuf with the ONNX schema, CLI11, nlohmann-json.

set(OPENATC_LLVM_VERSION 22)
list(APPEND CMAKE_PREFIX_PATH "/usr/lib/llvm-${OPENATC_LLVM_VERSION}")
find_package(MLIR REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL OPENATC_LLVM_VERSION)
  message(FATAL_ERROR "OpenATC needs LLVM ${OPENATC_LLVM_VERSION}, found ${LLVM_PACKAGE_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH "${LLVM_CMAKE_DIR}" "${MLIR_CMAKE_DIR}")

find_package(Protobuf REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_library(OPENATC_ONNX_PROTO onnx_proto REQUIRED)

add_library(openatc_onnx_schema INTERFACE)
target_compile_definitions(openatc_onnx_schema INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(openatc_onnx_schema INTERFACE ${OPENATC_ONNX_PROTO} protobuf::libprotobuf)

# Everything of MLIR and LLVM comes from the two shared libraries; linking any
# of their static parts beside them would give two copies of every type id.
add_library(openatc_mlir INTERFACE)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "-DNDEBUG")
  # A header whose classes depend on NDEBUG, as the libraries were compiled.
  target_include_directories(openatc_mlir SYSTEM BEFORE INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmake/release-abi>")
endif()
target_include_directories(openatc_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(openatc_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(openatc_mlir INTERFACE MLIR LLVM)
target_link_options(openatc_mlir INTERFACE -fuse-ld=lld-22)
