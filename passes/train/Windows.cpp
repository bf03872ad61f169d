//===-- Windows.cpp - sliding windows as slices ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Windows.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

Windows::Windows(ArrayRef<int64_t> input, ArrayRef<int64_t> output, ArrayRef<int64_t> kernel,
                 ArrayRef<int64_t> strides, ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations)
    : input(input), output(output), kernel(kernel), strides(strides), pads(pads),
      dilations(dilations) {
  for (int64_t size : kernel)
    kernelSize *= size;
  for (int64_t size : output)
    outputSize *= size;
}

bool Windows::partition() const {
  for (size_t dim = 0; dim < kernel.size(); ++dim)
    if (kernel[dim] != strides[dim] || (dilations[dim] != 1 && kernel[dim] != 1) ||
        pads[dim] != 0 || output[dim] * kernel[dim] != input[dim])
      return false;
  return true;
}

bool Windows::isIdentity() const { return kernelSize == 1 && partition(); }

SmallVector<int64_t> Windows::offsetOf(int64_t element) const {
  SmallVector<int64_t> offset(kernel.size());
  for (size_t dim = kernel.size(); dim-- > 0; element /= kernel[dim])
    offset[dim] = element % kernel[dim] * dilations[dim];
  return offset;
}

SmallVector<Value> Windows::gather(const GraphMath &g, Value value, double fill) const {
  SmallVector<int64_t> low(1, 0), high(1, 0), steps(1, 1), sizes(1, shapeOf(value)[0]);
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    const int64_t read = (output[dim] - 1) * strides[dim] + (kernel[dim] - 1) * dilations[dim] + 1;
    low.push_back(pads[dim]);
    high.push_back(std::max<int64_t>(0, read - pads[dim] - input[dim]));
    steps.push_back(strides[dim]);
    sizes.push_back(output[dim]);
  }
  low.push_back(0);
  high.push_back(0);
  steps.push_back(1);
  sizes.push_back(shapeOf(value).back());
  Value padded = g.pad(value, low, high, fill);
  SmallVector<Value> elements;
  for (int64_t element = 0; element < kernelSize; ++element) {
    SmallVector<int64_t> starts(1, 0);
    llvm::append_range(starts, offsetOf(element));
    starts.push_back(0);
    elements.push_back(g.slice(padded, starts, sizes, steps));
  }
  return elements;
}

/// Interleaves the parts of windows that do not overlap, from the last spatial dim to the first.
static Value joinParts(const GraphMath &g, SmallVector<Value> parts, ArrayRef<int64_t> kernel) {
  for (size_t dim = kernel.size(); dim-- > 0;) {
    SmallVector<Value> joined;
    for (size_t first = 0; first < parts.size(); first += kernel[dim]) {
      SmallVector<int64_t> shape(shapeOf(parts[first]));
      SmallVector<int64_t> split = shape;
      split.insert(split.begin() + dim + 2, 1);
      auto reshaped = llvm::map_to_vector(ArrayRef(parts).slice(first, kernel[dim]),
                                          [&](Value part) { return g.reshape(part, split); });
      shape[dim + 1] *= kernel[dim];
      joined.push_back(g.reshape(g.concat(reshaped, dim + 2), shape));
    }
    parts = std::move(joined);
  }
  return parts.front();
}

Value Windows::scatter(const GraphMath &g, ArrayRef<Value> values) const {
  if (partition())
    return joinParts(g, llvm::to_vector(values), kernel);
  SmallVector<int64_t> steps(1, 1);
  llvm::append_range(steps, strides);
  steps.push_back(1);
  Value sum;
  for (auto [element, value] : llvm::enumerate(values)) {
    SmallVector<int64_t> low(1, 0), high(1, 0);
    for (auto [dim, offset] : llvm::enumerate(offsetOf(element))) {
      low.push_back(offset - pads[dim]);
      high.push_back(input[dim] - low.back() - output[dim] * strides[dim]);
    }
    low.push_back(0);
    high.push_back(0);
    Value part = g.pad(g.spread(value, steps), low, high);
    sum = sum ? g.add(sum, part) : part;
  }
  return sum;
}

Value Windows::columns(const GraphMath &g, Value value, int64_t groups) const {
  const int64_t batch = shapeOf(value)[0], channels = shapeOf(value).back() / groups;
  SmallVector<int64_t> image = {batch};
  llvm::append_range(image, output);
  image.append({groups, channels});
  // The slices are views: elements are moved by the concat only.
  if (!isIdentity()) {
    auto parts =
        llvm::map_to_vector(gather(g, value), [&](Value part) { return g.reshape(part, image); });
    value = g.concat(parts, static_cast<int64_t>(image.size()) - 1);
  }
  const int64_t inner = channels * kernelSize;
  if (groups == 1)
    return g.reshape(value, {batch, outputSize, inner});
  return g.transpose(g.reshape(value, {batch, outputSize, groups, inner}), {0, 2, 1, 3});
}

Value Windows::counts(const GraphMath &g, Value like, bool withPads) const {
  Value all;
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    SmallVector<double> numbers;
    const int64_t end = input[dim] + (withPads ? pads[kernel.size() + dim] : 0);
    for (int64_t at = 0; at < output[dim]; ++at) {
      int64_t inside = 0;
      for (int64_t k = 0; k < kernel[dim]; ++k) {
        const int64_t position = at * strides[dim] - pads[dim] + k * dilations[dim];
        inside += position < end && (withPads || position >= 0);
      }
      numbers.push_back(std::max<int64_t>(1, inside));
    }
    SmallVector<int64_t> shape(kernel.size() + 1, 1);
    shape[dim] = output[dim];
    Value count = g.floats(like, shape, numbers);
    all = all ? g.mul(all, count) : count;
  }
  return all;
}

/// Returns the gradient [C, window] of the filter of a depthwise convolution: a sum of products per
/// element of the window.
static Value depthwiseGradient(const GraphMath &g, const Windows &windows, Value input,
                               Value gradient) {
  const int64_t channels = shapeOf(input).back();
  const auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(input) - 1));
  auto parts = llvm::map_to_vector(windows.gather(g, input), [&](Value part) {
    return g.reshape(g.sum(g.mul(part, gradient), axes), {1, channels});
  });
  return g.transpose(g.concat(parts, 0), {1, 0});
}

Value filterGradient(const GraphMath &g, const Windows &windows, Value input, Value gradient,
                     int64_t groups) {
  const int64_t batch = shapeOf(input)[0], channels = shapeOf(input).back() / groups,
                results = shapeOf(gradient).back() / groups, positions = windows.positions();
  SmallVector<int64_t> shape = {results * groups, channels};
  llvm::append_range(shape, windows.kernelShape());
  if (channels == 1 && results == 1)
    return g.reshape(depthwiseGradient(g, windows, input, gradient), shape);
  const int64_t inner = channels * windows.size();
  Value columns = windows.columns(g, input, groups), product;
  if (groups == 1) {
    Value rows = g.reshape(gradient, {batch, positions, results});
    // One product sums over the batch, too, where a product per sample would write more than both
    // factors have.
    if (results * inner > positions * (results + inner)) {
      rows = g.reshape(rows, {batch * positions, results});
      columns = g.reshape(columns, {batch * positions, inner});
    }
    product = g.matmul(g.transposeMatrix(rows), columns);
  } else {
    Value rows = g.reshape(gradient, {batch, positions, groups, results});
    product = g.matmul(g.transpose(rows, {0, 2, 3, 1}), columns);
  }
  if (rankOf(product) > (groups == 1 ? 2 : 3))
    product = g.sum(product, {0});
  product = g.reshape(product, {results * groups, windows.size(), channels});
  return g.reshape(g.transpose(product, {0, 2, 1}), shape);
}

/// Returns the order of dims that moves dim `from` to `to`.
static SmallVector<int64_t> movedDim(int64_t rank, int64_t from, int64_t to) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

Value channelsLast(const GraphMath &g, Value value) {
  return g.transpose(value, movedDim(rankOf(value), 1, rankOf(value) - 1));
}

Value channelsFirst(const GraphMath &g, Value value) {
  return g.transpose(value, movedDim(rankOf(value), rankOf(value) - 1, 1));
}

Value perChannel(const GraphMath &g, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = typeOf(vector).getNumElements();
  return g.reshape(vector, shape);
}

//===----------------------------------------------------------------------===//
// What is fused into contractions
//===----------------------------------------------------------------------===//

static Value activate(const GraphMath &g, ActivationAttr activation, Value x, Value slope) {
  const double alpha = static_cast<double>(activation.getAlpha()),
               beta = static_cast<double>(activation.getBeta());
  switch (activation.getKind()) {
  case ActivationKind::Relu:
    return g.make<ReluOp>(x);
  case ActivationKind::Clip:
    return g.make<ClipOp>(x, APFloat(alpha), APFloat(beta));
  case ActivationKind::LeakyRelu:
    return g.make<LeakyReluOp>(x, APFloat(alpha));
  case ActivationKind::PRelu:
    return g.make<PReluOp>(x, perChannel(g, slope, rankOf(x)));
  case ActivationKind::HardSwish:
    return g.make<HardSwishOp>(x);
  case ActivationKind::HardSigmoid:
    return g.make<HardSigmoidOp>(x, APFloat(alpha), APFloat(beta));
  case ActivationKind::Sigmoid:
    return g.make<SigmoidOp>(x);
  case ActivationKind::Silu:
    return g.make<SiluOp>(x);
  case ActivationKind::Mish:
    return g.make<MishOp>(x);
  case ActivationKind::Tanh:
    return g.make<TanhOp>(x);
  case ActivationKind::Gelu:
    return g.make<GeluOp>(x, alpha != 0);
  }
  return {};
}

bool splitFusedParts(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  GraphMath g(builder, op->getLoc());
  Value result = op->getResult(0), replaced = result, slope, residual;
  Value bias;
  ActivationAttr activation;
  bool residualLast = false;
  if (auto conv = dyn_cast<ConvOp>(op)) {
    bias = conv.getBias(), slope = conv.getSlope(), residual = conv.getResidual();
    activation = conv.getActivationAttr();
    residualLast = conv.getResidualLast();
  } else if (auto full = dyn_cast<FullyConnectedOp>(op)) {
    bias = full.getBias(), activation = full.getActivationAttr();
  } else if (auto up = dyn_cast<ConvTransposeOp>(op)) {
    bias = up.getBias();
  }
  if (!bias && !residual && !activation)
    return false;
  const bool channelsLast = isa<FullyConnectedOp>(op);
  SmallPtrSet<Operation *, 4> made;
  auto set = [&](Value value) {
    replaced = value;
    made.insert(value.getDefiningOp());
  };
  if (bias)
    set(g.add(replaced, channelsLast ? bias : perChannel(g, bias, rankOf(result))));
  if (residual && !residualLast)
    set(g.add(replaced, residual));
  if (activation)
    set(activate(g, activation, replaced, slope));
  if (residual && residualLast)
    set(g.add(replaced, residual));
  result.replaceAllUsesExcept(replaced, made);
  if (auto conv = dyn_cast<ConvOp>(op)) {
    conv.getBiasMutable().clear();
    conv.getResidualMutable().clear();
    conv.getSlopeMutable().clear();
    conv.removeActivationAttr();
    conv.setResidualLast(false);
  } else if (auto full = dyn_cast<FullyConnectedOp>(op)) {
    full.getBiasMutable().clear();
    full.removeActivationAttr();
  } else if (auto up = dyn_cast<ConvTransposeOp>(op)) {
    up.getBiasMutable().clear();
  }
  return true;
}

} // namespace atc::train
