# The precompiled headers of the compiler: those of MLIR that nearly every file includes with the graph
# dialect but for its ops (1.5 s instead of 10 s per file): a change of an op rebuilds what names its family. And three that add what the
# files of some libraries include besides: the dialects of kernels, or the messages of ONNX or TensorFlow.

set(OPENATC_MLIR_HEADERS
  <optional> <string> <vector>
  <llvm/ADT/DenseMap.h> <llvm/ADT/SmallVector.h> <llvm/ADT/StringRef.h> <llvm/ADT/TypeSwitch.h>
  <llvm/Support/Error.h> <llvm/Support/raw_ostream.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/AsmState.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/DialectImplementation.h>
  <mlir/IR/Matchers.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/IR/Remarks.h>
  <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h> <mlir/Transforms/GreedyPatternRewriteDriver.h>
  "${PROJECT_SOURCE_DIR}/dialects/graph/GraphDialect.h")

# openatc_add_headers(<name> HEADERS ... [DEPENDS tablegen targets] [LINK libs])
# A precompiled header of MLIR's headers and the given ones, for the PCH argument of openatc_add_library.
# Worth it for forty sources and more.
function(openatc_add_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS;LINK" ${ARGN})
  file(WRITE "${PROJECT_BINARY_DIR}/pch/${name}.cpp" "// Carries the precompiled header.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/pch/${name}.cpp")
  target_link_libraries(${name} PRIVATE openatc_mlir ${ARG_LINK})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  if(OPENATC_PCH)
    target_precompile_headers(${name} PRIVATE ${OPENATC_MLIR_HEADERS} ${ARG_HEADERS})
  endif()
  add_dependencies(${name} OpenATCGraphIncGen ${ARG_DEPENDS})
endfunction()

# Arguments of openatc_add_headers.
set(OPENATC_KERNEL_HEADERS
  HEADERS <mlir/Dialect/LLVMIR/LLVMDialect.h> "${PROJECT_SOURCE_DIR}/dialects/cpu/Cpu.h"
          "${PROJECT_SOURCE_DIR}/dialects/om/Om.h"
  DEPENDS OpenATCKernelIncGen OpenATCKernelEnumsIncGen OpenATCKernelInterfacesIncGen OpenATCCpuIncGen OpenATCOmIncGen)
openatc_add_headers(openatc_pch)
openatc_add_headers(openatc_kernel_pch ${OPENATC_KERNEL_HEADERS})
openatc_add_headers(openatc_onnx_pch HEADERS <onnx/onnx_pb.h> LINK openatc_onnx_schema)
openatc_add_headers(openatc_tf_pch HEADERS "${PROJECT_BINARY_DIR}/frontends/tf/schema/tensorflow.pb.h" LINK openatc_tf_schema)

# What a folder and those inside it use without naming another: a precompiled header is of use only
# where the level of optimization is that of its target.
set(OPENATC_HEADERS openatc_pch)

# openatc_use_headers(<target> [header]): compiles the target with a precompiled header of openatc_add_headers.
function(openatc_use_headers name)
  set(header ${OPENATC_HEADERS})
  if(ARGC GREATER 1)
    set(header ${ARGV1})
  endif()
  if(OPENATC_PCH)
    target_precompile_headers(${name} REUSE_FROM ${header})
  else()
    add_dependencies(${name} OpenATCGraphIncGen)
  endif()
  # Each access through a handle of MLIR is four checks of a pointer, twice the time of compilation; the
  # libraries that read files (importers, runtime, simulator) keep them.
  if(OPENATC_SANITIZE AND NOT OPENATC_SANITIZE STREQUAL "thread" AND header MATCHES "^openatc_(kernel_)?pch$")
    target_compile_options(${name} PRIVATE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
endfunction()

# openatc_add_library(<name> SOURCES ... [DEPENDS tablegen targets] [LINK libs] [PCH header])
# A compiler library: static, with the project's include folders and a precompiled header: that of
# MLIR, or the one that is named.
function(openatc_add_library name)
  cmake_parse_arguments(ARG "" "PCH" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  target_link_libraries(${name} PUBLIC openatc_mlir ${ARG_LINK})
  openatc_use_headers(${name} ${ARG_PCH})
  openatc_join_sources(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# openatc_add_tool(<name> SOURCES ... LINK ...): a compiler-side executable.
function(openatc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE openatc_mlir ${ARG_LINK})
  # The precompiled header was made as PIC, not PIE.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  openatc_use_headers(${name})
endfunction()
