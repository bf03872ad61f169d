//===-- LowerConvolutions.cpp - convolutions by computed filters ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/train/Passes.h"
#include "passes/train/Windows.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>

namespace atc::train {
#define GEN_PASS_DEF_TRAINLOWERCONVOLUTIONS
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;
using namespace atc::graph;

namespace {

/// Returns whether a value depends on arguments of the function.
bool isComputed(Value value) {
  if (!value)
    return false;
  Operation *op = value.getDefiningOp();
  return !op || (!isa<ConstantOp>(op) &&
                 (op->getNumOperands() == 0 || llvm::any_of(op->getOperands(), isComputed)));
}

/// A filter [M, C / groups, kernel...] on its way to matrices.
struct Filter {
  Filter(Value value, int64_t groups)
      : value(value), groups(groups), results(shapeOf(value)[0] / groups),
        channels(shapeOf(value)[1]), kernel(shapeOf(value).drop_front(2)) {
    for (int64_t dim : kernel)
      size *= dim;
  }
  /// Returns whether each channel has a filter of its own.
  bool isDepthwise() const { return channels == 1 && results == 1; }

  Value value;
  int64_t groups, results, channels;
  ArrayRef<int64_t> kernel;
  int64_t size = 1;
};

/// Returns a filter as matrices [groups, window * channels, results], without the first dim for one
/// group.
Value matricesOf(const GraphMath &g, const Filter &filter) {
  const int64_t inner = filter.channels * filter.size;
  if (filter.groups == 1) {
    Value split = g.reshape(filter.value, {filter.results, filter.channels, filter.size});
    return g.reshape(g.transpose(split, {2, 1, 0}), {inner, filter.results});
  }
  Value split =
      g.reshape(filter.value, {filter.groups, filter.results, filter.channels, filter.size});
  return g.reshape(g.transpose(split, {0, 3, 2, 1}), {filter.groups, inner, filter.results});
}

/// Returns rows [N, groups, P, columns], or [N, P, columns] of one group, as [N, spatial..., groups
/// * columns].
Value asImage(const GraphMath &g, Value rows, ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> shape = {shapeOf(rows)[0]};
  llvm::append_range(shape, spatial);
  shape.push_back(shapeOf(rows).back());
  if (rankOf(rows) == 4) {
    shape.back() *= shapeOf(rows)[1];
    rows = g.transpose(rows, {0, 2, 1, 3});
  }
  return g.reshape(rows, shape);
}

/// Returns a convolution of [N, spatial..., C] as a product per element of the window or as one
/// matrix product: [N, output..., M].
Value convolve(const GraphMath &g, const Windows &windows, Value input, const Filter &filter) {
  if (!filter.isDepthwise())
    return asImage(g, g.matmul(windows.columns(g, input, filter.groups), matricesOf(g, filter)),
                   windows.outputShape());
  Value taps = g.transpose(g.reshape(filter.value, {filter.groups, filter.size}), {1, 0}), sum;
  for (auto [index, element] : llvm::enumerate(windows.gather(g, input))) {
    Value tap = g.slice(taps, {int64_t(index), 0}, {1, filter.groups}, {1, 1});
    Value product = g.mul(element, g.reshape(tap, {filter.groups}));
    sum = sum ? g.add(sum, product) : product;
  }
  return sum;
}

/// Exchanges channels and results of a filter [C, M / groups, kernel...], whose groups are those of
/// C: returns [M, C / groups, kernel...] with the kernel reversed.
Value reverseFilter(const GraphMath &g, Value filter, int64_t groups) {
  ArrayRef<int64_t> shape = shapeOf(filter);
  SmallVector<int64_t> split = {groups, shape[0] / groups}, order = {0, 2, 1},
                       joined = {groups * shape[1], shape[0] / groups};
  llvm::append_range(split, shape.drop_front(1));
  llvm::append_range(order, llvm::seq<int64_t>(3, split.size()));
  llvm::append_range(joined, shape.drop_front(2));
  Value exchanged = g.reshape(g.transpose(g.reshape(filter, split), order), joined);
  SmallVector<int64_t> starts(2, 0), steps(2, 1);
  for (int64_t size : shape.drop_front(2)) {
    starts.push_back(size - 1);
    steps.push_back(size == 1 ? 1 : -1);
  }
  return g.slice(exchanged, starts, joined, steps);
}

Value lower(const GraphMath &g, ConvOp op) {
  Filter filter(op.getFilter(), op.getGroups());
  Windows windows = windowsOf(op, op.getInput(), op.getResult(), filter.kernel);
  return channelsFirst(g, convolve(g, windows, channelsLast(g, op.getInput()), filter));
}

/// Returns the sum of the products of inputs [N, spatial..., C] and a filter [C, M / groups,
/// kernel...], each in the windows of the result.
Value scatterProducts(const GraphMath &g, const Windows &windows, Value input, Value filter,
                      int64_t groups) {
  const int64_t batch = shapeOf(input)[0], channels = shapeOf(input).back() / groups,
                results = shapeOf(filter)[1], positions = windows.positions();
  Value rows = g.reshape(input, {batch, positions, groups, channels}), matrices;
  if (groups == 1) {
    rows = g.reshape(rows, {batch, positions, channels});
    matrices = g.reshape(filter, {channels, results, windows.size()});
    matrices = g.reshape(g.transpose(matrices, {0, 2, 1}), {channels, windows.size() * results});
  } else {
    rows = g.transpose(rows, {0, 2, 1, 3});
    matrices = g.reshape(filter, {groups, channels, results, windows.size()});
    matrices = g.reshape(g.transpose(matrices, {0, 1, 3, 2}),
                         {groups, channels, windows.size() * results});
  }
  Value products = g.matmul(rows, matrices);
  SmallVector<int64_t> shape = {batch};
  llvm::append_range(shape, windows.outputShape());
  SmallVector<int64_t> image = shape;
  image.push_back(groups * results);
  if (groups > 1)
    products = g.transpose(products, {0, 2, 1, 3});
  shape.append({groups, windows.size(), results});
  products = g.reshape(products, shape);
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1), sizes = shape;
  sizes[shape.size() - 2] = 1;
  SmallVector<Value> parts;
  for (int64_t element = 0; element < windows.size(); ++element) {
    starts[shape.size() - 2] = element;
    parts.push_back(g.reshape(g.slice(products, starts, sizes, steps), image));
  }
  return windows.scatter(g, parts);
}

/// A transposed convolution of stride 1 is a convolution by the reversed filter, and so is a
/// depthwise one behind zeros between its inputs. Otherwise the product comes first and its parts
/// are summed.
Value lower(const GraphMath &g, ConvTransposeOp op) {
  Value filter = op.getFilter(), input = channelsLast(g, op.getInput());
  const int64_t groups = op.getGroups();
  ArrayRef<int64_t> spatial = shapeOf(op.getInput()).drop_front(2),
                    kernel = shapeOf(filter).drop_front(2),
                    output = shapeOf(op.getResult()).drop_front(2);
  const bool strided = llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
  Filter reversed(reverseFilter(g, filter, groups), groups);
  if (strided && !reversed.isDepthwise()) {
    // The windows of the convolution whose gradient this is.
    Windows windows = windowsOf(op, op.getResult(), op.getInput(), kernel);
    return channelsFirst(g, scatterProducts(g, windows, input, filter, groups));
  }
  SmallVector<int64_t> steps(1, 1), low(1, 0), high(1, 0), ones(kernel.size(), 1),
      zeros(2 * kernel.size(), 0), padded;
  for (auto [dim, size] : llvm::enumerate(kernel)) {
    const int64_t reach = (size - 1) * op.getDilations()[dim], length = output[dim] + reach;
    steps.push_back(op.getStrides()[dim]);
    low.push_back(reach - op.getPads()[dim]);
    high.push_back(length - low.back() - spatial[dim] * op.getStrides()[dim]);
    padded.push_back(length);
  }
  steps.push_back(1);
  low.push_back(0);
  high.push_back(0);
  Value spread = g.pad(g.spread(input, steps), low, high);
  Windows windows(padded, output, kernel, ones, zeros, op.getDilations());
  return channelsFirst(g, convolve(g, windows, spread, reversed));
}

/// Returns whether an op is a pool over more than the two dims for which pools have kernels.
bool isDeepPool(Operation *op) {
  return isa<MaxPoolOp, AveragePoolOp>(op) && rankOf(op->getOperand(0)) > 4;
}

/// Returns the value of a pool by the elements of its windows.
Value lowerPool(const GraphMath &g, Operation *op) {
  Value value, input = channelsLast(g, op->getOperand(0));
  if (auto pool = dyn_cast<MaxPoolOp>(op)) {
    Windows windows = windowsOf(pool, pool.getInput(), pool.getResult(), pool.getKernel());
    for (Value each : windows.gather(g, input, -std::numeric_limits<double>::infinity()))
      value = value ? g.make<MaxOp>(value, each) : each;
  } else {
    auto mean = cast<AveragePoolOp>(op);
    Windows windows = windowsOf(mean, mean.getInput(), mean.getResult(), mean.getKernel());
    for (Value each : windows.gather(g, input))
      value = value ? g.add(value, each) : each;
    value = g.div(value, windows.counts(g, value, mean.getCountIncludePad()));
  }
  return channelsFirst(g, value);
}

class LowerConvolutions : public train::impl::TrainLowerConvolutionsBase<LowerConvolutions> {
public:
  using TrainLowerConvolutionsBase::TrainLowerConvolutionsBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->hasTrait<AddsBias>() || isDeepPool(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (isDeepPool(op) || llvm::any_of(op->getOperands().drop_front(), isComputed))
        lowerOp(op);
  }

private:
  void lowerOp(Operation *op) {
    splitFusedParts(op);
    if (!isDeepPool(op) && !isComputed(op->getOperand(1)))
      return;
    OpBuilder builder(op);
    GraphMath g(builder, op->getLoc());
    Value result;
    if (isDeepPool(op))
      result = lowerPool(g, op);
    else if (auto conv = dyn_cast<ConvOp>(op))
      result = lower(g, conv);
    else if (auto up = dyn_cast<ConvTransposeOp>(op))
      result = lower(g, up);
    else
      result = g.matmul(op->getOperand(0), g.transposeMatrix(op->getOperand(1)));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    ++numLowered;
  }
};

} // namespace
