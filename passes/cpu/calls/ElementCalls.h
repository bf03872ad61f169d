//===-- ElementCalls.h - graph ops of elementwise host calls --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_ELEMENTCALLS_H
#define OPENATC_PASSES_CPU_CALLS_ELEMENTCALLS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace atc::cpu {

/// Builds the graph ops that compute a call elementwise, with NumPy broadcasting among its
/// operands, and returns their result; null where the call computes in another way. `operands` are
/// its inputs by position, as tensors of equal static shapes (null: omitted). Ops may have been
/// created where null is returned.
mlir::Value buildElementOps(mlir::OpBuilder &builder, graph::HostCallOp call,
                            llvm::ArrayRef<mlir::Value> operands);

/// Returns the body of a function that computes one element from `arguments` by the ops of `ops`
/// up to the value `result`, with arith and math ops: `arguments` are those of the block `ops`, as
/// scalars. Constants must be splats.
mlir::Value buildScalarOps(mlir::OpBuilder &builder, mlir::Block &ops, mlir::Value result,
                           mlir::ValueRange arguments);

/// Builds a map that computes `output` by the ops of `ops` up to the value `result` from `inputs`,
/// buffers for the arguments of the block; all of one static shape.
void buildMap(mlir::OpBuilder &builder, mlir::Block &ops, mlir::Value result,
              mlir::ValueRange inputs, mlir::Value output);

/// States that the first `count` arguments of a kernel function, its buffers, do not overlap.
void setAliasing(mlir::func::FuncOp function, unsigned count);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_ELEMENTCALLS_H
