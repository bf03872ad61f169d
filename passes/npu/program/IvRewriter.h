//===-- IvRewriter.h - ivs as sums of other ivs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_IVREWRITER_H
#define OPENATC_PASSES_NPU_PROGRAM_IVREWRITER_H

#include "dialects/npu/Npu.h"

#include "llvm/ADT/DenseMap.h"

namespace atc::npu {

/// Replaces ivs of instructions by sums of other ivs.
class IvRewriter {
public:
  using Terms = llvm::SmallVector<std::pair<mlir::Value, int64_t>, 3>;

  /// Makes `iv` the sum of `terms`, whose values are new ivs.
  void replace(mlir::Value iv, Terms terms) { replaced[iv] = std::move(terms); }

  /// Rewrites all instructions in a program.
  void run(ir::ProgramOp program);

private:
  void rewrite(ir::InstructionOpInterface op);
  int64_t numberOf(mlir::Value iv) const { return llvm::find(newIvs, iv) - newIvs.begin(); }
  /// An iv is 0 where all that it is the sum of are.
  llvm::SmallVector<int64_t> mask(mlir::DenseI64ArrayAttr first) const;
  /// Returns an attribute for the new ivs; null where it does not speak of any.
  mlir::Attribute converted(mlir::Attribute attribute) const;

  llvm::DenseMap<mlir::Value, Terms> replaced;
  llvm::SmallVector<Terms> sums; ///< for each of the old ivs of an instruction
  llvm::SmallVector<mlir::Value> newIvs;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_IVREWRITER_H
