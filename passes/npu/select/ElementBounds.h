//===-- ElementBounds.h - between which numbers elements are ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interval analysis of graphs: what constants, element types and functions with finite ranges
// prove about the elements of a tensor, whatever the inputs are.

#ifndef OPENATC_PASSES_NPU_SELECT_ELEMENTBOUNDS_H
#define OPENATC_PASSES_NPU_SELECT_ELEMENTBOUNDS_H

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/StructureOps.h"

#include "llvm/ADT/DenseMap.h"

#include <limits>

namespace atc::npu {

/// Numbers from `min` to `max`, which may be infinite.
struct Interval {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double min = -kInfinity, max = kInfinity;
};

/// Bounds of the elements of a tensor that are no NaN.
struct ElementBounds {
  Interval all;                        ///< has every element
  double top = -Interval::kInfinity;   ///< some element is this large
  double bottom = Interval::kInfinity; ///< some element is this small

  ElementBounds() = default;
  /// Every element is in `all`, and nothing else is known.
  ElementBounds(Interval all) : all(all), top(all.min), bottom(all.max) {}

  /// Returns an interval that has the element which `top` (`bottom`) tells of.
  Interval topPart() const { return {std::max(top, all.min), all.max}; }
  Interval bottomPart() const { return {all.min, std::min(bottom, all.max)}; }
};

/// The bounds of the tensors of a function, of which note() is told op by op, in their order.
class BoundsAnalysis {
public:
  /// Finds the bounds of the result of `op`.
  void note(mlir::Operation &op);
  /// Forgets what is known of a tensor: what is computed of it has no bounds.
  void forget(mlir::Value tensor) { known[tensor] = ElementBounds(); }
  ElementBounds of(mlir::Value tensor);
  /// Returns the bounds of a number that the body of a map computes.
  ElementBounds inBody(graph::MapOp map, mlir::Value number);

private:
  ElementBounds ofResult(mlir::Operation &op);
  ElementBounds ofReduce(graph::ReduceOp op);
  ElementBounds ofConv(graph::ConvOp op);
  ElementBounds ofFullyConnected(graph::FullyConnectedOp op);
  /// Returns the bounds of sums of `input` times the rows of `weights`, plus a bias per row.
  ElementBounds ofRows(mlir::Value weights, mlir::Value bias, Interval input);
  ElementBounds activated(mlir::Operation *op, graph::ActivationAttr activation,
                          const ElementBounds &bounds);

  llvm::DenseMap<mlir::Value, ElementBounds> known;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_ELEMENTBOUNDS_H
