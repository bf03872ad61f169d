//===-- HostCallGradients.cpp - gradients of host kernels on indices ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "passes/train/Gradients.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// Returns the number of elements of dims.
static int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

/// Returns the distance in elements between two indices of each dim.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Returns indices in 0 to size - 1: negative ones count from the end.
static Value fromStart(const GraphMath &g, Value indices, int64_t size) {
  Value isNegative = g.compare(indices, ComparePredicate::Lt, 0.0);
  return g.select(isNegative, g.add(indices, static_cast<double>(size)), indices);
}

/// Returns the position in a tensor of `shape`, counted in elements, of what each of the i64
/// indices along `axis` selects.
static Value positionsAlong(const GraphMath &g, Value indices, ArrayRef<int64_t> shape,
                            int64_t axis) {
  const auto strides = stridesOf(shape);
  Value positions = g.mul(fromStart(g, indices, shape[axis]), static_cast<double>(strides[axis]));
  for (auto [dim, size] : llvm::enumerate(shapeOf(indices))) {
    if (int64_t(dim) == axis || size == 1)
      continue;
    SmallVector<int64_t> along(shape.size(), 1);
    along[dim] = size;
    Value range = g.range(g.builder.getI64Type(), along);
    positions = g.add(positions, g.mul(range, static_cast<double>(strides[dim])));
  }
  return g.reshape(positions, {countOf(shapeOf(indices))});
}

/// Returns the position in a tensor of `shape`, counted in its slices behind the dims that are
/// indexed, of what each row of the i64 indices [..., dims] selects.
static Value positionsOfRows(const GraphMath &g, Value indices, ArrayRef<int64_t> shape) {
  const int64_t dims = shapeOf(indices).back(), rows = countOf(shapeOf(indices).drop_back());
  const auto strides = stridesOf(shape.take_front(dims));
  Value table = g.reshape(indices, {rows, dims}), positions;
  for (int64_t dim = 0; dim < dims; ++dim) {
    Value column = g.slice(table, {0, dim}, {rows, 1}, {1, 1});
    Value own = g.mul(fromStart(g, column, shape[dim]), static_cast<double>(strides[dim]));
    positions = positions ? g.add(positions, own) : own;
  }
  return g.reshape(positions, {rows});
}

/// Returns a tensor of `shape`, seen as rows of `width` elements, with the sums of the `values` at
/// each row's position.
static Value scatterRows(const GraphMath &g, ArrayRef<int64_t> shape, Value positions, Value values,
                         int64_t width) {
  auto type =
      RankedTensorType::get({1, countOf(shape) / width, width}, typeOf(values).getElementType());
  Value updates = g.reshape(values, {1, typeOf(positions).getNumElements(), width});
  return g.reshape(g.make<ScatterAddOp>(type, positions, updates), shape);
}

static int64_t axisOf(HostCallOp call, int64_t otherwise, int64_t rank) {
  auto list = call.getParameters().getAs<DenseI64ArrayAttr>("axis");
  const int64_t axis = list && list.size() == 1 ? list[0] : otherwise;
  return axis < 0 ? axis + rank : axis;
}

static Value asI64(const GraphMath &g, Value value) {
  return g.cast(value, g.builder.getI64Type());
}

static bool isI64(Value value) { return typeOf(value).getElementType().isInteger(64); }

/// The gradient of each value goes to the element that it is.
static void topK(HostCallOp op, OpGradient &g) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  const int64_t axis = axisOf(op, -1, shape.size());
  g.give(0, scatterRows(g, shape, positionsAlong(g, op->getResult(1), shape, axis), g.result, 1));
}

static void gatherElements(HostCallOp op, OpGradient &g) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Value indices = asI64(g, op->getOperand(1));
  const int64_t axis = axisOf(op, 0, shape.size());
  g.give(0, scatterRows(g, shape, positionsAlong(g, indices, shape, axis), g.result, 1));
}

/// Adds the gradients of a scatter: the updates receive that of the elements they are written or
/// added to, the data that of the elements that are not written.
static void giveScatter(HostCallOp op, OpGradient &g, Value positions, int64_t width) {
  ArrayRef<int64_t> shape = shapeOf(g.result);
  auto reduction = op.getParameters().getAs<StringAttr>("reduction");
  if (g.wants(0)) {
    Value kept = g.result;
    if (!reduction || reduction.getValue() == "none") {
      Value ones = g.splat(RankedTensorType::get({1, typeOf(positions).getNumElements(), width},
                                                 typeOf(g.result).getElementType()),
                           1);
      Value hits = scatterRows(g, shape, positions, ones, width);
      kept = g.keepWhere(g.compare(hits, ComparePredicate::Eq, 0.0), kept);
    }
    g.give(0, kept);
  }
  if (g.wants(2)) {
    Value rows = g.reshape(g.result, {countOf(shape) / width, width});
    g.give(2, g.reshape(g.make<GatherOp>(rows, positions, /*axis=*/0), shapeOf(op->getOperand(2))));
  }
}

static void scatterElements(HostCallOp op, OpGradient &g) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Value indices = asI64(g, op->getOperand(1));
  giveScatter(op, g, positionsAlong(g, indices, shape, axisOf(op, 0, shape.size())), 1);
}

static void scatterNd(HostCallOp op, OpGradient &g) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Value indices = asI64(g, op->getOperand(1));
  giveScatter(op, g, positionsOfRows(g, indices, shape),
              countOf(shape.drop_front(shapeOf(indices).back())));
}

/// Returns whether updates are written or added, each of which is linear.
static bool isLinearScatter(HostCallOp op) {
  auto reduction = op.getParameters().getAs<StringAttr>("reduction");
  return !reduction || reduction.getValue() == "none" || reduction.getValue() == "add";
}

void addHostCallGradients(GradientRules &rules) {
  rules.addKernel("TopK", topK, [](HostCallOp op) {
    return op->getNumResults() == 2 && isI64(op->getResult(1));
  });
  rules.addKernel("GatherElements", gatherElements);
  rules.addKernel("ScatterElements", scatterElements, isLinearScatter);
  rules.addKernel("ScatterND", scatterNd, isLinearScatter);
}

} // namespace atc::train
