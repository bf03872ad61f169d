//===-- Windows.cpp - sliding windows as slices ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Windows.h"

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
  SmallVector<int64_t> low(2, 0), high(2, 0), steps(2, 1), sizes(shapeOf(value).take_front(2));
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    const int64_t read = (output[dim] - 1) * strides[dim] + (kernel[dim] - 1) * dilations[dim] + 1;
    low.push_back(pads[dim]);
    high.push_back(std::max<int64_t>(0, read - pads[dim] - input[dim]));
    steps.push_back(strides[dim]);
    sizes.push_back(output[dim]);
  }
  Value padded = g.pad(value, low, high, fill);
  SmallVector<Value> elements;
  for (int64_t element = 0; element < kernelSize; ++element) {
    SmallVector<int64_t> starts(2, 0);
    llvm::append_range(starts, offsetOf(element));
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
      split.insert(split.begin() + dim + 3, 1);
      auto reshaped = llvm::map_to_vector(ArrayRef(parts).slice(first, kernel[dim]),
                                          [&](Value part) { return g.reshape(part, split); });
      shape[dim + 2] *= kernel[dim];
      joined.push_back(g.reshape(g.concat(reshaped, dim + 3), shape));
    }
    parts = std::move(joined);
  }
  return parts.front();
}

Value Windows::scatter(const GraphMath &g, ArrayRef<Value> values) const {
  if (partition())
    return joinParts(g, llvm::to_vector(values), kernel);
  SmallVector<int64_t> steps(2, 1);
  llvm::append_range(steps, strides);
  Value sum;
  for (auto [element, value] : llvm::enumerate(values)) {
    SmallVector<int64_t> low(2, 0), high(2, 0);
    for (auto [dim, offset] : llvm::enumerate(offsetOf(element))) {
      low.push_back(offset - pads[dim]);
      high.push_back(input[dim] - low.back() - output[dim] * strides[dim]);
    }
    Value part = g.pad(g.spread(value, steps), low, high);
    sum = sum ? g.add(sum, part) : part;
  }
  return sum;
}

Value Windows::columns(const GraphMath &g, Value value, int64_t groups) const {
  const int64_t batch = shapeOf(value)[0], channels = shapeOf(value)[1] / groups;
  SmallVector<int64_t> shape = {batch, groups, channels * kernelSize, outputSize};
  if (isIdentity())
    return g.reshape(value, shape);
  auto parts = llvm::map_to_vector(gather(g, value), [&](Value part) {
    return g.reshape(part, {batch, groups, channels, 1, outputSize});
  });
  return g.reshape(g.concat(parts, 3), shape);
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
    SmallVector<int64_t> shape(kernel.size(), 1);
    shape[dim] = output[dim];
    Value count = g.floats(like, shape, numbers);
    all = all ? g.mul(all, count) : count;
  }
  return all;
}

/// The filter of a depthwise convolution: a sum of products per element of the window.
static Value depthwiseGradient(const GraphMath &g, const Windows &windows, Value input,
                               Value gradient) {
  SmallVector<int64_t> axes = {0};
  llvm::append_range(axes, llvm::seq<int64_t>(2, rankOf(input)));
  const int64_t channels = shapeOf(input)[1];
  auto parts = llvm::map_to_vector(windows.gather(g, input), [&](Value part) {
    return g.reshape(g.sum(g.mul(part, gradient), axes), {channels, 1});
  });
  return g.concat(parts, 1);
}

Value filterGradient(const GraphMath &g, const Windows &windows, Value input, Value gradient,
                     int64_t groups) {
  const int64_t batch = shapeOf(input)[0], channels = shapeOf(input)[1] / groups,
                results = shapeOf(gradient)[1] / groups, positions = windows.positions();
  SmallVector<int64_t> shape = {results * groups, channels};
  llvm::append_range(shape, windows.kernelShape());
  if (channels == 1 && results == 1)
    return g.reshape(depthwiseGradient(g, windows, input, gradient), shape);
  const int64_t inner = channels * windows.size();
  Value columns = windows.columns(g, input, groups);
  Value rows = g.reshape(gradient, {batch, groups, results, positions});
  // The sum over the batch is made by the product where that moves fewer elements than a product
  // per sample has.
  if (results * inner > positions * (results + inner)) {
    rows = g.reshape(g.transpose(rows, {1, 2, 0, 3}), {groups, results, batch * positions});
    columns = g.reshape(g.transpose(columns, {1, 0, 3, 2}), {groups, batch * positions, inner});
    return g.reshape(g.matmul(rows, columns), shape);
  }
  Value perSample = g.matmul(rows, g.transposeMatrix(columns));
  return g.reshape(g.sum(perSample, {0}), shape);
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
