//===-- LowerConvolutions.cpp - convolutions by computed filters ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Functions.h"
#include "passes/train/Passes.h"
#include "passes/train/Windows.h"

#include "llvm/ADT/STLExtras.h"

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

/// Returns the products of [rows, inner] matrices, one per group, with [N, groups, inner, P]; the
/// result has the given shape.
Value multiplyGroups(const GraphMath &g, Value matrices, Value columns, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> left = shapeOf(matrices), right = shapeOf(columns);
  if (left[0] == 1) {
    matrices = g.reshape(matrices, left.drop_front());
    columns = g.reshape(columns, {right[0], right[2], right[3]});
  }
  return g.reshape(g.matmul(matrices, columns), shape);
}

/// Returns a convolution as a product per element of the window or as one matrix product.
Value convolve(const GraphMath &g, const Windows &windows, Value input, const Filter &filter) {
  SmallVector<int64_t> shape = {shapeOf(input)[0], filter.groups * filter.results};
  llvm::append_range(shape, windows.outputShape());
  if (!filter.isDepthwise()) {
    const int64_t inner = filter.channels * filter.size;
    Value matrices = g.reshape(filter.value, {filter.groups, filter.results, inner});
    return multiplyGroups(g, matrices, windows.columns(g, input, filter.groups), shape);
  }
  Value sum, taps = g.reshape(filter.value, {filter.groups, filter.size});
  for (auto [index, element] : llvm::enumerate(windows.gather(g, input))) {
    Value tap = g.slice(taps, {0, int64_t(index)}, {filter.groups, 1}, {1, 1});
    Value product = g.mul(element, perChannel(g, tap, rankOf(input)));
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
  return convolve(g, windowsOf(op, op.getInput(), op.getResult(), filter.kernel), op.getInput(),
                  filter);
}

/// A transposed convolution of stride 1 is a convolution by the reversed filter, and so is a
/// depthwise one behind zeros between its inputs. Otherwise the product comes first and its parts
/// are summed.
Value lower(const GraphMath &g, ConvTransposeOp op) {
  Value input = op.getInput(), filter = op.getFilter();
  const int64_t groups = op.getGroups();
  ArrayRef<int64_t> shape = shapeOf(input), kernel = shapeOf(filter).drop_front(2),
                    output = shapeOf(op.getResult());
  const bool strided = llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
  Filter reversed(reverseFilter(g, filter, groups), groups);
  if (strided && !reversed.isDepthwise()) {
    // The convolution whose gradient this is.
    Windows windows = windowsOf(op, op.getResult(), input, kernel);
    const int64_t results = shapeOf(filter)[1], positions = windows.positions();
    Value matrices = g.reshape(filter, {groups, shape[1] / groups, results * windows.size()});
    Value columns = g.reshape(input, {shape[0], groups, shape[1] / groups, positions});
    Value products = multiplyGroups(g, g.transposeMatrix(matrices), columns,
                                    {shape[0], groups * results, windows.size(), positions});
    SmallVector<Value> parts;
    SmallVector<int64_t> part = {shape[0], groups * results};
    llvm::append_range(part, windows.outputShape());
    for (int64_t element = 0; element < windows.size(); ++element)
      parts.push_back(g.reshape(g.slice(products, {0, 0, element, 0},
                                        {shape[0], groups * results, 1, positions}, {1, 1, 1, 1}),
                                part));
    return windows.scatter(g, parts);
  }
  SmallVector<int64_t> steps(2, 1), low(2, 0), high(2, 0), ones(kernel.size(), 1),
      zeros(2 * kernel.size(), 0), padded;
  for (auto [dim, size] : llvm::enumerate(kernel)) {
    const int64_t reach = (size - 1) * op.getDilations()[dim], length = output[dim + 2] + reach;
    steps.push_back(op.getStrides()[dim]);
    low.push_back(reach - op.getPads()[dim]);
    high.push_back(length - low.back() - shape[dim + 2] * op.getStrides()[dim]);
    padded.push_back(length);
  }
  Value spread = g.pad(g.spread(input, steps), low, high);
  Windows windows(padded, output.drop_front(2), kernel, ones, zeros, op.getDilations());
  return convolve(g, windows, spread, reversed);
}

class LowerConvolutions : public train::impl::TrainLowerConvolutionsBase<LowerConvolutions> {
public:
  using TrainLowerConvolutionsBase::TrainLowerConvolutionsBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->hasTrait<AddsBias>())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (llvm::any_of(op->getOperands().drop_front(), isComputed))
        lowerOp(op);
  }

private:
  void lowerOp(Operation *op) {
    splitFusedParts(op);
    if (!isComputed(op->getOperand(1)))
      return;
    OpBuilder builder(op);
    GraphMath g(builder, op->getLoc());
    Value result;
    if (auto conv = dyn_cast<ConvOp>(op))
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
