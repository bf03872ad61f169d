//===-- DynamicBlocks.cpp - blocks of pixels of tensors of dynamic size ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SpaceToBatchND moves the pixels of blocks into the batch, BatchToSpaceND moves them back; a
// dilated convolution stands between the two. The rank and the number of blocked axes are known,
// dims, pads and crops perhaps only when the model runs.

#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "frontends/tf/ops/ResizeMatrices.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The parts of a 64-bit shape vector, from which shapes are put together.
class ShapeParts {
public:
  explicit ShapeParts(NodeContext &n) : n(n) {}
  /// Adds elements [first, last) of a vector.
  void take(Value vector, int64_t first, int64_t last) {
    if (first < last)
      parts.push_back(slice(vector, first, last));
  }
  void add(Value part) { parts.push_back(part); }
  Value join() {
    return parts.size() == 1 ? parts.front()
                             : n.callHost("Concat", parts, {n.hostInts("axis", {0})});
  }
  Value slice(Value vector, int64_t first, int64_t last) {
    return n.callHost("Slice", {vector, n.intList({first}), n.intList({last})});
  }

private:
  NodeContext &n;
  SmallVector<Value> parts;
};

/// Returns input 2, [[low, high], ...], as low and high ends: vectors of 64-bit integers.
std::pair<Value, Value> readEdges(NodeContext &n, int64_t dims) {
  Value pairs = n.cast(n.input(2), n.builder().getI64Type());
  Value sides =
      n.callHost("Reshape", {n.callHost("Transpose", {pairs}, {n.hostInts("perm", {1, 0})}),
                             n.intList({2 * dims})});
  ShapeParts parts(n);
  return {parts.slice(sides, 0, dims), parts.slice(sides, dims, 2 * dims)};
}

/// Returns the block sizes; empty after an error.
SmallVector<int64_t> readBlockSizes(NodeContext &n) {
  Value image = n.input(0);
  SmallVector<int64_t> sizes = n.constantInts(1);
  n.requireRank(2, 2, 2);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(image)) {
    n.failInput(0, "has no known rank");
    return {};
  }
  constexpr int64_t max = 1 << 20;
  for (int64_t size : sizes)
    if (size < 1 || size > max)
      n.failInput(1, "has the block size " + Twine(size) + ", which is out of range");
  if (sizes.empty() || static_cast<int64_t>(sizes.size()) + 1 > n.rank(image))
    n.failNode("its " + Twine(sizes.size()) + " blocks do not fit a tensor of rank " +
               Twine(n.rank(image)));
  return n.failed() ? SmallVector<int64_t>() : sizes;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product = std::min(product * size, maxElements);
  return product;
}

Value transposeCall(NodeContext &n, Value value, ArrayRef<int64_t> permutation) {
  return n.callHost("Transpose", {value}, {n.hostInts("perm", permutation)});
}

void importSpaceToBatch(NodeContext &n) {
  SmallVector<int64_t> sizes = readBlockSizes(n);
  if (n.failed())
    return;
  Value image = n.input(0);
  const int64_t dims = sizes.size(), rank = n.rank(image);
  auto [low, high] = readEdges(n, dims);
  SmallVector<int64_t> padded = llvm::to_vector(llvm::seq<int64_t>(1, dims + 1));
  ShapeParts pads(n);
  pads.add(low);
  pads.add(high);
  image = n.callHost("Pad", {image, pads.join(), n.scalarLike(0, image), n.intList(padded)},
                     {n.hostText("mode", "constant")});
  Value shape = shapeVector(n, image);
  Value blocks = n.intList(sizes);
  ShapeParts parts(n);
  Value outer = n.callHost("Div", {parts.slice(shape, 1, dims + 1), blocks});
  // [N, H, W, rest] -> [N, H/b, b, W/b, b, rest] -> [b, b, N, H/b, W/b, rest].
  ShapeParts inner(n), result(n);
  inner.take(shape, 0, 1);
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < dims; ++dim) {
    inner.take(outer, dim, dim + 1);
    inner.add(n.intList({sizes[dim]}));
    permutation.push_back(2 * dim + 2);
  }
  inner.take(shape, dims + 1, rank);
  permutation.push_back(0);
  for (int64_t dim = 0; dim < dims; ++dim)
    permutation.push_back(2 * dim + 1);
  for (int64_t axis = dims + 1; axis < rank; ++axis)
    permutation.push_back(axis + dims);
  Value batch = n.callHost("Mul", {parts.slice(shape, 0, 1), n.intList({productOf(sizes)})});
  result.add(batch);
  result.add(outer);
  result.take(shape, dims + 1, rank);
  Value split = n.callHost("Reshape", {image, inner.join()}, {n.hostInts("allowzero", {1})});
  n.setOutput(
      withKnownDims(n,
                    n.callHost("Reshape", {transposeCall(n, split, permutation), result.join()},
                               {n.hostInts("allowzero", {1})}),
                    n.shape(n.input(0)), dims + 1));
}

void importBatchToSpace(NodeContext &n) {
  SmallVector<int64_t> sizes = readBlockSizes(n);
  if (n.failed())
    return;
  Value image = n.input(0);
  const int64_t dims = sizes.size(), rank = n.rank(image);
  auto [low, high] = readEdges(n, dims);
  Value shape = shapeVector(n, image), blocks = n.intList(sizes);
  ShapeParts parts(n), inner(n), whole(n);
  Value batch = n.callHost("Div", {parts.slice(shape, 0, 1), n.intList({productOf(sizes)})});
  Value extents = n.callHost("Mul", {parts.slice(shape, 1, dims + 1), blocks});
  // [b, b, N, H, W, rest] -> [N, H, b, W, b, rest].
  inner.add(blocks);
  inner.add(batch);
  inner.take(shape, 1, rank);
  SmallVector<int64_t> permutation{dims};
  for (int64_t axis = 1; axis < rank; ++axis) {
    permutation.push_back(dims + axis);
    if (axis <= dims)
      permutation.push_back(axis - 1);
  }
  whole.add(batch);
  whole.add(extents);
  whole.take(shape, dims + 1, rank);
  Value split = n.callHost("Reshape", {image, inner.join()}, {n.hostInts("allowzero", {1})});
  Value joined = n.callHost("Reshape", {transposeCall(n, split, permutation), whole.join()},
                            {n.hostInts("allowzero", {1})});
  SmallVector<int64_t> cropped = llvm::to_vector(llvm::seq<int64_t>(1, dims + 1));
  n.setOutput(withKnownDims(
      n, n.callHost("Slice", {joined, low, n.callHost("Sub", {extents, high}), n.intList(cropped)}),
      n.shape(n.input(0)), dims + 1));
}

} // namespace

ArrayRef<OpRow> dynamicBlockRows() {
  static const OpRow rows[] = {
      {"BatchToSpaceND", importBatchToSpace},
      {"DenseBincount", importDenseBincount},
      {"Dilation2D", importDynamicDilation},
      {"ExtractImagePatches", importDynamicPatches},
      {"LRN", importDynamicLrn},
      {"ResizeArea", importResizeArea},
      {"ResizeBicubic", importResizeBicubic},
      {"SpaceToBatchND", importSpaceToBatch},
  };
  return rows;
}

} // namespace atc::tf_import
