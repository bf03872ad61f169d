//===-- ImportNorm.cpp - normalizations, most of them decomposed ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h" // IWYU pragma: keep
#include "frontends/onnx/ops/Window.h" // IWYU pragma: keep

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

using graph::ReduceKind;

SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

struct Normalized {
  Value value, mean, inverseDeviation;
};

/// (x - mean) / sqrt(variance + epsilon) over `axes`.
Normalized normalize(NodeContext &n, Value input, ArrayRef<int64_t> axes, double epsilon) {
  Value mean = n.reduce(ReduceKind::Mean, input, axes);
  Value centered = n.sub(input, mean);
  Value variance = n.reduce(ReduceKind::Mean, n.mul(centered, centered), axes);
  Value inverse = n.create<graph::RsqrtOp>(n.add(variance, n.scalarLike(epsilon, variance)));
  return {n.mul(centered, inverse), mean, inverse};
}

/// Returns a vector over the channels, reshaped so that it broadcasts over [N, C, ...].
Value perChannel(NodeContext &n, unsigned index, int64_t rank) {
  Value vector = n.input(index);
  n.requireRank(index, 1, 1);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = n.shape(vector)[0];
  return n.reshape(vector, shape);
}

/// The type to compute in: that of stash_type where the input is narrower.
Type stashType(NodeContext &n, Value input) {
  int64_t stash = n.intAttr("stash_type", onnx::TensorProto::FLOAT);
  Type own = n.elementType(input);
  bool isNarrow = own && own.isFloat() && own.getIntOrFloatBitWidth() < 32;
  if (stash == onnx::TensorProto::FLOAT && isNarrow)
    return Float32Type::get(n.builder().getContext());
  return own;
}

/// Mean and variance are those of the batch; the further outputs move towards them.
void batchNormByOwnStatistics(NodeContext &n, double epsilon) {
  n.requireRank(0, 2, INT64_MAX);
  Value input = n.input(0);
  double momentum = n.floatAttr("momentum", 0.9f);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  SmallVector<int64_t> axes = axesFrom(1, rank);
  axes.front() = 0;
  Value mean = n.reduce(ReduceKind::Mean, input, axes);
  Value centered = n.sub(input, mean);
  Value variance = n.reduce(ReduceKind::Mean, n.mul(centered, centered), axes);
  Value inverse = n.create<graph::RsqrtOp>(n.add(variance, n.scalarLike(epsilon, variance)));
  Type element = n.elementType(input);
  auto parameter = [&](unsigned index) { return n.cast(perChannel(n, index, rank), element); };
  n.setOutput(n.add(n.mul(n.mul(centered, inverse), parameter(1)), parameter(2)));
  auto moved = [&](unsigned index, Value to) {
    Value from = n.input(index);
    if (n.failed())
      return Value();
    Value now = n.cast(n.reshape(to, n.shape(from)), n.elementType(from));
    return n.add(n.mul(from, n.scalarLike(momentum, from)),
                 n.mul(now, n.scalarLike(1 - momentum, from)));
  };
  n.setOutput(1, moved(3, mean));
  n.setOutput(2, moved(4, variance));
}

void importBatchNormalization(NodeContext &n) {
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  n.ignoreAttr("momentum");
  if (!n.boolAttr("spatial", true))
    n.failAttribute("spatial", "0 is not supported");
  if (n.boolAttr("training_mode", false))
    return batchNormByOwnStatistics(n, epsilon);
  if (n.opset() < firstTableOpset && !n.boolAttr("is_test", false))
    n.failAttribute("is_test", "0 is not supported: export the model for inference");
  for (unsigned index = 1; index < n.numOutputs(); ++index)
    n.refuseOutput(index, "a statistic of training");
  Value input = n.input(0), scale = n.input(1), bias = n.input(2);
  Value mean = n.input(3), variance = n.input(4);
  if (n.failed())
    return;
  // From opset 15 on the parameters may be wider than the input.
  Type element = n.elementType(input);
  bool areKnown = true;
  for (unsigned index = 1; index < 5; ++index)
    areKnown &= n.isConstantInput(index);
  if (!areKnown && n.rank(input) >= 2) {
    int64_t rank = n.rank(input);
    auto parameter = [&](unsigned index) { return n.cast(perChannel(n, index, rank), element); };
    Value spread = parameter(4);
    Value inverse = n.create<graph::RsqrtOp>(n.add(spread, n.scalarLike(epsilon, input)));
    Value value = n.mul(n.sub(input, parameter(3)), n.mul(inverse, parameter(1)));
    return n.setOutput(n.add(value, parameter(2)));
  }
  n.setOutput(n.create<graph::BatchNormOp>(input, n.cast(scale, element), n.cast(bias, element),
                                           n.cast(mean, element), n.cast(variance, element),
                                           APFloat(epsilon)));
}

void importInstanceNormalization(NodeContext &n) {
  n.requireRank(0, 3, INT64_MAX);
  Value input = n.input(0);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  Value value = normalize(n, input, axesFrom(2, rank), epsilon).value;
  n.setOutput(n.add(n.mul(value, perChannel(n, 1, rank)), perChannel(n, 2, rank)));
}

void importLayerNormalization(NodeContext &n) {
  Value input = n.input(0), scale = n.input(1), bias = n.optionalInput(2);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  int64_t axis = n.normalizeAxis(n.intAttr("axis", -1), rank);
  Normalized result =
      normalize(n, n.cast(input, stashType(n, input)), axesFrom(axis, rank), epsilon);
  Value value = n.mul(n.cast(result.value, n.elementType(input)), scale);
  n.setOutput(0, bias ? n.add(value, bias) : value);
  // These have the type that is stated, also where it is narrower than what computes.
  const bool isFloat32 =
      n.intAttr("stash_type", onnx::TensorProto::FLOAT) == onnx::TensorProto::FLOAT;
  const Value statistics[] = {result.mean, result.inverseDeviation};
  for (auto [i, statistic] : llvm::enumerate(statistics))
    if (n.wantsOutput(i + 1))
      n.setOutput(i + 1, isFloat32 ? n.cast(statistic, Float32Type::get(n.builder().getContext()))
                                   : statistic);
}

void importRmsNormalization(NodeContext &n) {
  Value input = n.input(0), scale = n.input(1);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  int64_t axis = n.normalizeAxis(n.intAttr("axis", -1), rank);
  Value wide = n.cast(input, stashType(n, input));
  Value square = n.reduce(ReduceKind::Mean, n.mul(wide, wide), axesFrom(axis, rank));
  Value inverse = n.create<graph::RsqrtOp>(n.add(square, n.scalarLike(epsilon, square)));
  n.setOutput(n.mul(n.cast(n.mul(wide, inverse), n.elementType(input)), scale));
}

/// Imports GroupNormalization: scale and bias have one value per group up to opset 20, one per
/// channel later.
void importGroupNormalization(NodeContext &n) {
  n.requireRank(0, 3, INT64_MAX);
  Value input = n.input(0);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  int64_t groups = n.requiredInt("num_groups");
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  if (groups < 1 || shape[1] % groups != 0)
    return n.failAttribute("num_groups",
                           Twine(groups) + " does not divide the " + Twine(shape[1]) + " channels");
  int64_t groupSize = shape[1] / groups;
  for (int64_t dim : shape.drop_front(2))
    groupSize *= dim;
  Value grouped = n.reshape(n.cast(input, stashType(n, input)), {shape[0], groups, groupSize});
  Value value = n.cast(normalize(n, grouped, {2}, epsilon).value, n.elementType(input));
  auto scaleAndBias = [&](Value to) {
    int64_t rank = n.rank(to);
    return n.add(n.mul(to, perChannel(n, 1, rank)), perChannel(n, 2, rank));
  };
  if (n.opset() < 21)
    return n.setOutput(n.reshape(scaleAndBias(value), shape));
  n.setOutput(scaleAndBias(n.reshape(value, shape)));
}

/// (x - mean) / (deviation + 1e-9).
void importMeanVarianceNormalization(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes =
      n.normalizeAxes(n.intsAttr("axes").value_or(SmallVector<int64_t>{0, 2, 3}), n.rank(input));
  if (n.failed())
    return;
  Value centered = n.sub(input, n.reduce(ReduceKind::Mean, input, axes));
  Value variance = n.reduce(ReduceKind::Mean, n.mul(centered, centered), axes);
  Value deviation = n.create<graph::SqrtOp>(variance);
  n.setOutput(n.div(centered, n.add(deviation, n.scalarLike(1e-9, deviation))));
}

void importLpNormalization(NodeContext &n) {
  Value input = n.input(0);
  n.requireFloats(0);
  int64_t p = n.intAttr("p", 2);
  if (p != 1 && p != 2)
    n.failAttribute("p", "is " + Twine(p) + ", expected 1 or 2");
  if (n.failed())
    return;
  int64_t axis = n.normalizeAxis(n.intAttr("axis", -1), n.rank(input));
  Value norm = n.reduce(p == 1 ? ReduceKind::L1 : ReduceKind::L2, input, {axis});
  if (n.failed())
    return;
  // Zeros stay zeros.
  auto floatType = cast<FloatType>(n.elementType(input));
  double min = APFloat::getSmallestNormalized(floatType.getFloatSemantics()).convertToDouble();
  n.setOutput(n.div(input, n.create<graph::MaxOp>(norm, n.scalarLike(min, norm))));
}

/// Builds x / (bias + alpha / size * sum of x^2 over adjacent channels)^beta. The sum is an average
/// pool with the channels as its height.
void importLrn(NodeContext &n) {
  n.requireRank(0, 3, INT64_MAX);
  n.requireFloats(0);
  Value input = n.input(0);
  double alpha = n.floatAttr("alpha", 1e-4f), beta = n.floatAttr("beta", 0.75);
  double bias = n.floatAttr("bias", 1.0);
  int64_t size = n.requiredInt("size");
  if (!n.failed() && (size < 1 || size > maxWindow))
    n.failAttribute("size", Twine(size) + " is out of range");
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  int64_t plane = 1;
  for (int64_t dim : shape.drop_front(2))
    plane *= dim;
  Value square = n.reshape(n.mul(input, input), {shape[0], 1, shape[1], plane});
  int64_t before = (size - 1) / 2;
  Value mean = n.create<graph::AveragePoolOp>(
      square, ArrayRef<int64_t>{size, 1}, ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{before, 0, size - 1 - before, 0}, ArrayRef<int64_t>{1, 1},
      /*ceil_mode=*/false, /*count_include_pad=*/true);
  mean = n.reshape(mean, shape);
  Value base = n.add(n.mul(mean, n.scalarLike(alpha, mean)), n.scalarLike(bias, mean));
  n.setOutput(n.div(input, n.create<graph::PowOp>(base, n.scalarLike(beta, base))));
}

} // namespace

ArrayRef<OpRow> normRows() {
  static const OpRow rows[] = {
      {"BatchNormalization", 7, latestOpset, importBatchNormalization},
      {"GroupNormalization", 18, latestOpset, importGroupNormalization},
      {"InstanceNormalization", 7, latestOpset, importInstanceNormalization},
      {"LRN", 7, latestOpset, importLrn},
      {"LayerNormalization", 17, latestOpset, importLayerNormalization},
      {"LpNormalization", 7, latestOpset, importLpNormalization},
      {"MeanVarianceNormalization", 9, latestOpset, importMeanVarianceNormalization},
      {"RMSNormalization", 23, latestOpset, importRmsNormalization},
  };
  return rows;
}

} // namespace atc::onnx_import
