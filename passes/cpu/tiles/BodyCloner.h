//===-- BodyCloner.h - clones scalar bodies for vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_BODYCLONER_H
#define OPENATC_PASSES_CPU_TILES_BODYCLONER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "passes/cpu/tiles/LaneBuffer.h"

namespace atc::cpu {

/// Clones the body of a map, or of a similar op, with vectors in place of scalars.
class BodyCloner {
public:
  /// With `exact`, no product and sum are contracted to an FMA: results are the same on all
  /// processors.
  BodyCloner(KernelBuilder &builder, mlir::Block &body, bool exact = false)
      : b(builder), block(body), isExact(exact) {
    for (mlir::Operation &inner : block.without_terminator()) {
      if (mlir::isa<mlir::arith::ConstantOp>(inner))
        continue;
      (mlir::isa<mlir::math::MathDialect>(inner.getDialect()) ? mathOps : plainOps) += 1;
      hasTables |= mlir::isa<LookupOp>(inner);
      vectorizes &= inner.hasTrait<mlir::OpTrait::Vectorizable>();
    }
  }

  bool canVectorize() const { return vectorizes; }
  /// Returns whether the body looks bytes up in tables.
  bool looksUp() const { return hasTables; }

  /// Returns the time per element, expressed as bytes that memory moves meanwhile.
  int64_t costInBytes() const { return plainOps + 10 * mathOps; }

  /// Returns the number of vectors per step: enough to hide the loop, with bounded code size.
  int64_t unroll() const {
    if (mathOps > 0)
      return plainOps + mathOps < 8 ? 2 : 1;
    return plainOps <= 6 ? 4 : plainOps <= 16 ? 2 : 1;
  }

  /// Clones the body for vectors of `width` lanes and returns the result; `args` are its arguments.
  mlir::Value clone(mlir::ValueRange args, int64_t width) { return cloneAll(args, width).front(); }

  /// Clones the body and returns all values that it yields.
  llvm::SmallVector<mlir::Value> cloneAll(mlir::ValueRange args, int64_t width) {
    mlir::IRMapping mapping;
    mapping.map(block.getArguments(), args);
    // Constants may have been hoisted out of the body.
    auto lanesOf = [&](mlir::Value value) {
      if (mlir::Value own = mapping.lookupOrNull(value))
        return own;
      mlir::Value wide = spread(b, value, width);
      mapping.map(value, wide);
      return wide;
    };
    for (mlir::Operation &inner : block.without_terminator()) {
      auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(inner);
      if (constant && width > 1) {
        auto type = mlir::VectorType::get({width}, constant.getType());
        auto splat = mlir::DenseElementsAttr::get(type, mlir::Attribute(constant.getValue()));
        mapping.map(constant.getResult(), mlir::arith::ConstantOp::create(b, splat).getResult());
        continue;
      }
      for (mlir::Value operand : inner.getOperands())
        lanesOf(operand);
      mlir::Operation *copy = b.clone(inner, mapping);
      for (mlir::OpResult result : copy->getResults())
        result.setType(laneType(result.getType(), width));
      if (isExact && mlir::isa<mlir::arith::MulFOp>(copy))
        mapping.map(inner.getResult(0), fence(copy->getResult(0)));
    }
    return llvm::map_to_vector(block.getTerminator()->getOperands(), lanesOf);
  }

private:
  mlir::Value fence(mlir::Value value) {
    return mlir::LLVM::CallIntrinsicOp::create(b, value.getType(),
                                               b.getStringAttr("llvm.arithmetic.fence"), value)
        .getResult(0);
  }

  KernelBuilder &b;
  mlir::Block &block;
  bool isExact;
  int64_t plainOps = 0, mathOps = 0;
  bool vectorizes = true, hasTables = false;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_BODYCLONER_H
