//===-- Npu.h - the npu dialect -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_NPU_NPU_H
#define OPENATC_DIALECTS_NPU_NPU_H

#include "dialects/kernel/Kernel.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "npu/isa/Isa.h"

#include <utility>

#include "dialects/npu/NpuDialect.h.inc"
#include "dialects/npu/NpuEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/npu/NpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/npu/NpuTypes.h.inc"

namespace atc::npu::ir {

/// The buffers and attributes of an op in the order of its instruction's parts.
struct InstructionParts {
  mlir::SmallVector<mlir::Value, 4> buffers; ///< one per address; null where the op lacks it
  mlir::ValueRange ivs;
  mlir::ArrayAttr offsets; ///< an AffineAttr per buffer that is there; null without addresses
  mlir::SmallVector<RangeAttr, 3> ranges;
  /// The name and the value of each field; null for a flag that is not set.
  mlir::SmallVector<std::pair<mlir::StringRef, mlir::Attribute>, 8> fields;
  GuardAttr guard; ///< null if the instruction always runs
};

/// Checks an op that implements InstructionOpInterface: the memories and element types of Isa.def,
/// alignment, ivs, and the rules of its instruction. Reports the first error.
mlir::LogicalResult verifyInstruction(mlir::Operation *op);

} // namespace atc::npu::ir

#include "dialects/npu/NpuInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/npu/NpuOps.h.inc"

namespace atc::npu::ir {

/// Registers the npu dialect.
void registerNpuDialect(mlir::DialectRegistry &registry);

/// Returns the element type of an instruction; nothing for types that the NPU does not have.
std::optional<npu::DataType> dataTypeOf(mlir::Type type);

} // namespace atc::npu::ir

#endif // OPENATC_DIALECTS_NPU_NPU_H
