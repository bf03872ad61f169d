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

#include "dialects/npu/NpuDialect.h.inc"
#include "dialects/npu/NpuEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/npu/NpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/npu/NpuTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/npu/NpuOps.h.inc"

namespace atc::npu::ir {

/// Registers the npu dialect.
void registerNpuDialect(mlir::DialectRegistry &registry);

/// Returns the element type of an instruction; nothing for types that the NPU does not have.
std::optional<npu::DataType> dataTypeOf(mlir::Type type);

/// Returns the instruction that an op stands for; nothing for buffers, loops and programs.
std::optional<npu::Opcode> opcodeOf(mlir::Operation *op);

} // namespace atc::npu::ir

#endif // OPENATC_DIALECTS_NPU_NPU_H
