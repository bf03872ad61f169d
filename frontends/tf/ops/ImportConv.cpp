//===-- ImportConv.cpp - convolutions and matrix products -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "frontends/Einsum.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/BatchStatistics.h"
#include "frontends/tf/ops/Im2Col.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

Value conv(NodeContext &n, Value input, Value filter, const Window &window, int64_t groups) {
  return n.create<graph::ConvOp>(input, filter, /*bias=*/Value(), /*residual=*/Value(),
                                 /*slope=*/Value(), window.strides, window.pads, window.dilations,
                                 groups, graph::ActivationAttr());
}

/// [spatial..., in, out] becomes [out, in, spatial...].
Value canonicalFilter(NodeContext &n, Value filter) {
  int64_t rank = n.rank(filter);
  SmallVector<int64_t> permutation{rank - 1, rank - 2};
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    permutation.push_back(dim);
  return n.transpose(filter, permutation);
}

/// The filter's kernel; its dims must not be empty.
ArrayRef<int64_t> readKernel(NodeContext &n, unsigned index, int64_t rank) {
  n.requireRank(index, rank, rank);
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = n.shape(n.input(index));
  if (llvm::is_contained(shape, 0))
    n.failInput(index, "is empty");
  return shape.drop_back(2);
}

template <int64_t rank> void importConv(NodeContext &n) {
  n.requireRank(0, rank, rank);
  ArrayRef<int64_t> kernel = readKernel(n, 1, rank);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  Value input = n.input(0), filter = n.input(1);
  int64_t channels = n.shape(input)[layout.channelAxis()];
  int64_t filterChannels = n.shape(filter)[rank - 2];
  if (channels % filterChannels != 0)
    return n.failInput(1, "is for " + Twine(filterChannels) + " channels, the input has " +
                              Twine(channels));
  bool byPatches = rank == 5 || n.elementType(input).isF64() || dependsOnInputs(filter);
  if (byPatches && channels == filterChannels) {
    Value image = layout.toChannelsLast(n, input);
    std::optional<Window> window =
        readWindow(n, layout, kernel, n.shape(image).drop_front().drop_back());
    if (window)
      n.setOutput(layout.fromChannelsLast(n, convByPatches(n, image, filter, *window)));
    return;
  }
  Value image = layout.toCanonical(n, input);
  std::optional<Window> window = readWindow(n, layout, kernel, n.shape(image).drop_front(2));
  if (!window)
    return;
  Value result = conv(n, image, canonicalFilter(n, filter), *window, channels / filterChannels);
  n.setOutput(layout.fromCanonical(n, result));
}

/// The filter is [h, w, channels, multiplier]: output channel c * multiplier + m.
void importDepthwiseConv(NodeContext &n) {
  n.requireRank(0, 4, 4);
  ArrayRef<int64_t> kernel = readKernel(n, 1, 4);
  ImageLayout layout(n, 4);
  if (n.failed())
    return;
  Value image = layout.toCanonical(n, n.input(0)), filter = n.input(1);
  ArrayRef<int64_t> shape = n.shape(filter);
  if (shape[2] != n.shape(image)[1])
    return n.failInput(1, "is for " + Twine(shape[2]) + " channels, the input has " +
                              Twine(n.shape(image)[1]));
  std::optional<Window> window = readWindow(n, layout, kernel, n.shape(image).drop_front(2));
  if (!window)
    return;
  if (n.elementType(filter).isF64() || dependsOnInputs(filter)) {
    Value pixels = layout.toChannelsLast(n, n.input(0));
    return n.setOutput(layout.fromChannelsLast(n, depthwiseByPatches(n, pixels, filter, *window)));
  }
  Value canonical =
      n.reshape(n.transpose(filter, {2, 3, 0, 1}), {shape[2] * shape[3], 1, kernel[0], kernel[1]});
  n.setOutput(layout.fromCanonical(n, conv(n, image, canonical, *window, shape[2])));
}

/// A transposed convolution: inputs are the result's shape, the filter [h, w, out,
/// in] and the image. The pads are those that the convolution would have had. One by channel has a
/// filter [h, w, out, multiplier] and channel out * multiplier + m of the image.
template <int64_t rank, bool isByChannel = false> void importConvTranspose(NodeContext &n) {
  SmallVector<int64_t> wanted = n.constantInts(0);
  ArrayRef<int64_t> kernel = readKernel(n, 1, rank);
  n.requireRank(2, rank, rank);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  Value image = layout.toCanonical(n, n.input(2));
  // The shape may leave out batch and channels.
  if (static_cast<int64_t>(wanted.size()) == rank) {
    SmallVector<int64_t> spatial;
    for (int64_t dim = 0; dim < rank - 2; ++dim)
      spatial.push_back(wanted[layout.spatialAxis(dim)]);
    wanted = spatial;
  }
  if (static_cast<int64_t>(wanted.size()) != rank - 2)
    return n.failInput(0, "has " + Twine(wanted.size()) + " dims, expected " + Twine(rank));
  for (int64_t dim : wanted)
    if (dim < 1 || dim > maxDim)
      return n.failInput(0, "has the dim " + Twine(dim) + ", which is out of range");
  std::optional<Window> window = readWindow(n, layout, kernel, wanted);
  if (!window)
    return;
  SmallVector<int64_t> outputPadding;
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    int64_t in = n.shape(image)[2 + dim], stride = window->strides[dim];
    int64_t pads = window->pads[dim] + window->pads[rank - 2 + dim];
    int64_t rest = wanted[dim] - ((in - 1) * stride + window->extent(dim) - pads);
    if (rest < 0 || rest >= stride)
      return n.failInput(0, "asks for " + Twine(wanted[dim]) + " pixels, which an input of " +
                                Twine(in) + " pixels does not give");
    outputPadding.push_back(rest);
  }
  // [h, w, out, in] becomes [in, out, h, w].
  Value filter = canonicalFilter(n, n.input(1));
  int64_t groups = 1;
  if (isByChannel) {
    ArrayRef<int64_t> shape = n.shape(n.input(1));
    groups = shape[2];
    if (n.shape(image)[1] != groups * shape[3])
      return n.failInput(1, "is for " + Twine(groups * shape[3]) + " channels, the input has " +
                                Twine(n.shape(image)[1]));
    filter = n.reshape(n.transpose(n.input(1), {2, 3, 0, 1}),
                       {groups * shape[3], 1, kernel[0], kernel[1]});
  }
  n.setOutput(layout.fromCanonical(
      n, n.create<graph::ConvTransposeOp>(image, filter, Value(), window->strides, window->pads,
                                          window->dilations, outputPadding, groups)));
}

Value swapLastTwo(NodeContext &n, Value value) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(value)));
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return n.transpose(value, permutation);
}

void importMatMul(NodeContext &n) {
  bool isBatch = n.op() != "MatMul";
  n.requireRank(0, 2, isBatch ? maxRank : 2);
  n.requireRank(1, 2, isBatch ? maxRank : 2);
  bool transposeLhs = n.boolAttr(isBatch ? "adj_x" : "transpose_a", false);
  bool transposeRhs = n.boolAttr(isBatch ? "adj_y" : "transpose_b", false);
  if (n.failed())
    return;
  Value lhs = n.input(0), rhs = n.input(1);
  if (transposeLhs)
    lhs = swapLastTwo(n, lhs);
  if (transposeRhs)
    rhs = swapLastTwo(n, rhs);
  const Type sums = typeOfSums(n);
  if (n.failed())
    return;
  if (isProductOfBytes(lhs, rhs, sums) && n.rank(rhs) == 2 && n.shape(rhs)[0] != 0 &&
      matchPattern(rhs, m_Constant())) {
    SmallVector<int64_t> shape(n.shape(lhs));
    shape.back() = n.shape(rhs)[1];
    return n.setOutput(n.createTyped<graph::IntegerFullyConnectedOp>(
        shape, sums, lhs, n.transpose(rhs, {1, 0}), Value(), ValueRange(), 0,
        SmallVector<int64_t>()));
  }
  n.setOutput(matrixProduct(n, n.cast(lhs, sums), n.cast(rhs, sums)));
}

void importEinsum(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  std::string equation = n.stringAttr("equation", "");
  n.setOutput(makeEinsum(n, equation, inputs));
}

void importFusedBatchNorm(NodeContext &n) {
  n.requireRank(0, 4, 5);
  double epsilon = n.floatAttr("epsilon", 1e-4f);
  bool isTraining = n.boolAttr("is_training", true);
  if (n.failed())
    return;
  Value input = n.input(0);
  if (isTraining)
    return importBatchStatistics(n, input);
  ImageLayout layout(n, n.rank(input));
  Value scale = n.input(1), offset = n.input(2), mean = n.input(3), variance = n.input(4);
  if (n.failed())
    return;
  // The parameters may be wider than the input.
  Type element = n.elementType(input);
  if (!llvm::all_of(ValueRange{scale, offset, mean, variance},
                    [](Value value) { return matchPattern(value, m_Constant()); }))
    return importGivenStatistics(n, input);
  Value result = n.create<graph::BatchNormOp>(layout.toCanonical(n, input), n.cast(scale, element),
                                              n.cast(offset, element), n.cast(mean, element),
                                              n.cast(variance, element), llvm::APFloat(epsilon));
  n.setOutput(0, layout.fromCanonical(n, result));
  n.setOutput(1, mean);
  n.setOutput(2, variance);
}

void importBiasAdd(NodeContext &n) {
  n.requireRank(0, 2, maxRank);
  n.requireRank(1, 1, 1);
  Value input = n.input(0), bias = n.input(1);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  bool channelsFirst = StringRef(n.stringAttr("data_format", "NHWC")).starts_with("NC");
  if (channelsFirst) {
    SmallVector<int64_t> shape(rank - 1, 1);
    shape[0] = n.shape(bias)[0];
    bias = n.reshape(bias, shape);
  }
  int64_t channels = n.shape(input)[channelsFirst ? 1 : rank - 1];
  if (!n.failed() && n.shape(n.input(1))[0] != channels)
    return n.failInput(1, "has " + Twine(n.shape(n.input(1))[0]) + " elements, expected " +
                              Twine(channels));
  n.setOutput(n.add(input, bias));
}

} // namespace

ArrayRef<OpRow> convRows() {
  static const OpRow rows[] = {
      {"BatchMatMul", importMatMul},
      {"BatchMatMulV2", importMatMul},
      {"BatchMatMulV3", importMatMul},
      {"BiasAdd", importBiasAdd},
      {"BiasAddV1", importBiasAdd},
      {"Conv2D", importConv<4>},
      {"Conv2DBackpropInput", importConvTranspose<4>},
      {"Conv3D", importConv<5>},
      {"Conv3DBackpropInputV2", importConvTranspose<5>},
      {"DepthwiseConv2dNative", importDepthwiseConv},
      {"DepthwiseConv2dNativeBackpropInput", importConvTranspose<4, /*isByChannel=*/true>},
      {"Einsum", importEinsum},
      {"FusedBatchNorm", importFusedBatchNorm},
      {"FusedBatchNormV2", importFusedBatchNorm},
      {"FusedBatchNormV3", importFusedBatchNorm},
      {"MatMul", importMatMul},
  };
  return rows;
}

} // namespace atc::tf_import
