//===-- Im2Col.cpp - windows as slices of an image ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/Im2Col.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/Tensors.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace atc::tf_import {

SmallVector<Value> slicesOfWindow(NodeContext &n, Value image, const Window &window,
                                  double padding) {
  if (n.failed())
    return {};
  int64_t rank = n.rank(image), dims = window.numDims();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), starts(rank, 0), steps(rank, 1);
  for (int64_t dim = 0; dim < dims; ++dim) {
    low[dim + 1] = window.pads[dim];
    high[dim + 1] = window.pads[dims + dim];
    steps[dim + 1] = window.strides[dim];
  }
  if (llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; }))
    image =
        n.create<graph::PadOp>(image, low, high, graph::PadMode::Constant, llvm::APFloat(padding));
  if (n.failed())
    return {};
  SmallVector<int64_t> sizes(n.shape(image));
  int64_t positions = 1;
  for (int64_t dim = 0; dim < dims; ++dim) {
    int64_t room = sizes[dim + 1] - window.extent(dim);
    if (room < 0) {
      n.failNode("its window is larger than the image");
      return {};
    }
    sizes[dim + 1] = room / window.strides[dim] + 1;
    positions *= window.kernel[dim];
    if (positions > (1 << 12)) {
      n.failNode("has a window of more than 4096 pixels, which is not supported here");
      return {};
    }
  }
  SmallVector<Value> slices;
  for (int64_t position = 0; position < positions && !n.failed(); ++position) {
    int64_t rest = position;
    for (int64_t dim = dims - 1; dim >= 0; --dim) {
      starts[dim + 1] = rest % window.kernel[dim] * window.dilations[dim];
      rest /= window.kernel[dim];
    }
    // A step over one element is none.
    SmallVector<int64_t> by(steps);
    for (int64_t axis = 0; axis < rank; ++axis)
      if (sizes[axis] == 1)
        by[axis] = 1;
    slices.push_back(n.create<graph::SliceOp>(image, starts, sizes, by));
  }
  return slices;
}

Value matrixProduct(NodeContext &n, Value lhs, Value rhs) {
  if (n.failed())
    return {};
  Type element = n.elementType(lhs);
  if (isa<FloatType>(element) && !element.isF64())
    return n.create<graph::MatMulOp>(lhs, rhs);
  if (std::min(n.rank(lhs), n.rank(rhs)) < 2 || std::max(n.rank(lhs), n.rank(rhs)) >= maxRank) {
    n.failNode("multiplies tensors of the ranks " + Twine(n.rank(lhs)) + " and " +
               Twine(n.rank(rhs)));
    return {};
  }
  // [..., M, K, 1] * [..., 1, K, N].
  SmallVector<int64_t> left(n.shape(lhs)), right(n.shape(rhs));
  if (left.back() != right[right.size() - 2]) {
    n.failNode("its inputs " + printDims(left) + " and " + printDims(right) +
               " are no matrices that can be multiplied");
    return {};
  }
  left.push_back(1);
  right.insert(right.end() - 2, 1);
  Value products = n.mul(n.reshape(lhs, left), n.reshape(rhs, right));
  return n.reduce(graph::ReduceKind::Sum, products, {n.rank(products) - 2}, /*keepdims=*/false);
}

Value convByPatches(NodeContext &n, Value image, Value filter, const Window &window) {
  SmallVector<Value> slices = slicesOfWindow(n, image, window, 0.0);
  if (n.failed())
    return {};
  int64_t rank = n.rank(image), pixels = 1;
  SmallVector<int64_t> shape(n.shape(slices.front()));
  for (int64_t dim : ArrayRef(shape).drop_back())
    pixels *= dim;
  Value patches =
      slices.size() == 1 ? slices.front() : n.create<graph::ConcatOp>(ValueRange(slices), rank - 1);
  int64_t depth = shape.back() * static_cast<int64_t>(slices.size());
  shape.back() = n.shape(filter).back();
  Value product = matrixProduct(n, n.reshape(patches, {pixels, depth}),
                                n.reshape(filter, {depth, shape.back()}));
  return n.reshape(product, shape);
}

Value depthwiseByPatches(NodeContext &n, Value image, Value filter, const Window &window) {
  SmallVector<Value> slices = slicesOfWindow(n, image, window, 0.0);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(slices.front())), spread(shape);
  int64_t channels = shape.back(), multiplier = n.shape(filter).back();
  spread.push_back(1);
  shape.back() *= multiplier;
  Value positions = n.reshape(filter, {static_cast<int64_t>(slices.size()), channels, multiplier});
  Value sum;
  for (auto [index, slice] : llvm::enumerate(slices)) {
    Value weights = n.create<graph::SliceOp>(
        positions, ArrayRef<int64_t>{static_cast<int64_t>(index), 0, 0},
        ArrayRef<int64_t>{1, channels, multiplier}, ArrayRef<int64_t>{1, 1, 1});
    Value product = n.mul(n.reshape(slice, spread), n.reshape(weights, {channels, multiplier}));
    sum = sum ? n.add(sum, product) : product;
  }
  return n.reshape(sum, shape);
}

bool dependsOnInputs(Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op)
      return true;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

Type typeOfSums(NodeContext &n) {
  const auto &attributes = n.proto().attr();
  return attributes.find("Tout") == attributes.end() ? NodeContext::elementType(n.input(0))
                                                     : n.typeAttr("Tout", pb::DT_FLOAT);
}

bool isProductOfBytes(Value lhs, Value rhs, Type sums) {
  return NodeContext::elementType(lhs).isInteger(8) && NodeContext::elementType(rhs).isInteger(8) &&
         sums.isInteger(32);
}

} // namespace atc::tf_import
