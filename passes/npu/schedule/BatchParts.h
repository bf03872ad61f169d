//===-- BatchParts.h - kernels on a part of the batch ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SCHEDULE_BATCHPARTS_H
#define OPENATC_PASSES_NPU_SCHEDULE_BATCHPARTS_H

#include "dialects/kernel/Kernel.h"
#include "dialects/om/Om.h"
#include "llvm/ADT/DenseMap.h"

namespace atc::npu {

/// The dims along which the operands of a kernel are divided so that it can run on `parts` equal
/// parts of the batch one after the other; -1 for operands that every part uses as a whole
/// (weights). A part of an operand occupies the same part of its buffer's bytes, so parts of
/// several kernels can follow each other.
using OperandDims = llvm::SmallVector<int>;

/// Returns the dims; nothing when the kernel's results depend on other parts of its inputs, or the
/// parts of an operand are not contiguous.
std::optional<OperandDims> batchDimsOf(kernel::KernelOpInterface op, int64_t parts);

/// Writes kernels for one part. `memory` has the memory to use for a buffer of the whole batch: the
/// buffer itself, or a smaller one that holds only this part.
class PartWriter {
public:
  PartWriter(mlir::OpBuilder &builder, int64_t parts) : b(builder), parts(parts) {}
  /// Writes `op` for part number `part`.
  void write(kernel::KernelOpInterface op, const OperandDims &dims, int64_t part);

  struct Memory {
    mlir::Value buffer;
    bool onlyPart; ///< holds one part instead of all
  };
  llvm::DenseMap<mlir::Value, Memory> memory;

private:
  mlir::Value slice(mlir::Value operand, int dim, int64_t part);
  mlir::OpBuilder &b;
  int64_t parts;
};

/// Returns the bytes of a whole buffer.
int64_t bytesOf(mlir::Value root);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_BATCHPARTS_H
