//===-- NpuDialect.cpp - the npu dialect, its types and attributes --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/npu/Npu.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::npu::ir;

#include "dialects/npu/NpuDialect.cpp.inc"
#include "dialects/npu/NpuEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/npu/NpuAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/npu/NpuTypes.cpp.inc"

void NpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/npu/NpuTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/npu/NpuAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/npu/NpuOps.cpp.inc"
      >();
}

void atc::npu::ir::registerNpuDialect(DialectRegistry &registry) { registry.insert<NpuDialect>(); }

std::optional<atc::npu::DataType> atc::npu::ir::dataTypeOf(Type type) {
  if (type.isF32())
    return DataType::F32;
  if (type.isF16())
    return DataType::F16;
  if (type.isBF16())
    return DataType::BF16;
  if (type.isInteger(32) && !type.isUnsignedInteger())
    return DataType::S32;
  if (type.isInteger(64) && !type.isUnsignedInteger())
    return DataType::S64;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? DataType::U8 : DataType::S8;
  return std::nullopt;
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, MemoryKind,
                                 int64_t bytes) {
  if (bytes <= 0)
    return emitError() << "a buffer has at least one byte, not " << bytes;
  return success();
}

LogicalResult RangeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t length,
                                AffineAttr, int64_t limit) {
  if (length <= 0)
    return emitError() << "a range has at least one position, not " << length;
  if (limit < 0)
    return emitError() << "the limit " << limit << " of a range is negative";
  return success();
}
