//===-- DynamicNn.cpp - layers on images and matrices of dynamic size -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/BatchStatistics.h"
#include "frontends/tf/ops/Im2Col.h"
#include "frontends/tf/ops/Window.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {

Value withRank(NodeContext &n, unsigned index, int64_t rank) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  if (NodeContext::hasRank(value)) {
    n.requireRank(index, rank, rank);
    return value;
  }
  // The kernels check it again when the model runs.
  if (value.getDefiningOp<graph::HostCallOp>())
    value.setType(RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic),
                                        n.elementType(value)));
  return value;
}

Value gatherRows(NodeContext &n, Value value, Value indices, int64_t axis) {
  Value result = n.callHost("Gather", {value, indices}, {n.hostInts("axis", {axis})});
  if (!result || !NodeContext::hasRank(value) || !NodeContext::hasRank(indices))
    return result;
  ArrayRef<int64_t> from = n.shape(value), at = n.shape(indices);
  const int64_t along = axis < 0 ? axis + n.rank(value) : axis;
  if (along < 0 || along >= n.rank(value))
    return result; // the kernel says what is wrong
  SmallVector<int64_t> dims(from.take_front(along));
  dims.append(at.begin(), at.end());
  dims.append(from.begin() + along + 1, from.end());
  return withKnownDims(n, result, dims, 0);
}

namespace {

/// Strides, dilations and padding of a window as attributes of a kernel: SAME pads
/// depend on the image and are left to it.
SmallVector<NamedAttribute> windowOf(NodeContext &n, const ImageLayout &layout) {
  SmallVector<NamedAttribute> attributes{n.hostInts("strides", layout.spatial(n, "strides")),
                                         n.hostInts("dilations", layout.spatial(n, "dilations"))};
  std::string padding = n.stringAttr("padding", "VALID");
  if (padding == "SAME") {
    attributes.push_back(n.hostText("auto_pad", "SAME_UPPER"));
  } else if (padding == "EXPLICIT") {
    SmallVector<int64_t> all = n.intsAttr("explicit_paddings"), pads;
    if (static_cast<int64_t>(all.size()) != 2 * layout.rank) {
      n.failAttribute("explicit_paddings",
                      "has " + Twine(all.size()) + " values, expected " + Twine(2 * layout.rank));
      return attributes;
    }
    for (int side : {0, 1})
      for (int64_t dim = 0; dim < layout.rank - 2; ++dim)
        pads.push_back(all[2 * layout.spatialAxis(dim) + side]);
    attributes.push_back(n.hostInts("pads", pads));
  } else if (padding != "VALID") {
    n.failAttribute("padding", "is '" + padding + "', expected SAME, VALID or EXPLICIT");
  }
  return attributes;
}

/// [spatial..., in, out] becomes [out, in, spatial...].
Value canonicalFilter(NodeContext &n, Value filter, int64_t rank) {
  SmallVector<int64_t> permutation{rank - 1, rank - 2};
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    permutation.push_back(dim);
  return n.transpose(filter, permutation);
}

template <int64_t rank> void importConv(NodeContext &n) {
  Value image = withRank(n, 0, rank), filter = withRank(n, 1, rank);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  SmallVector<NamedAttribute> attributes = windowOf(n, layout);
  // Where the channels are not known yet, the kernel computes the groups from them.
  NamedAttribute groups = n.hostInts("groups_by_channels", {1});
  if (NodeContext::hasRank(image) && NodeContext::hasRank(filter)) {
    int64_t channels = n.shape(image)[layout.channelAxis()], depth = n.shape(filter)[rank - 2];
    if (channels > 0 && depth > 0)
      groups = n.hostInts("group", {channels / depth});
    if (channels > 0 && depth > 0 && channels % depth != 0)
      return n.failInput(1,
                         "is for " + Twine(depth) + " channels, the input has " + Twine(channels));
  }
  attributes.push_back(groups);
  Value result = n.callHost(
      "Conv", {layout.toCanonical(n, image), canonicalFilter(n, filter, rank)}, attributes);
  n.setOutput(layout.fromCanonical(n, result));
}

void importDepthwiseConv(NodeContext &n) {
  Value image = withRank(n, 0, 4), filter = n.input(1);
  n.requireRank(1, 4, 4);
  ImageLayout layout(n, 4);
  if (n.failed())
    return;
  SmallVector<NamedAttribute> attributes = windowOf(n, layout);
  Value canonical = n.transpose(filter, {2, 3, 0, 1});
  if (NodeContext::isStatic(filter)) {
    SmallVector<int64_t> shape(n.shape(filter));
    attributes.push_back(n.hostInts("group", {shape[2]}));
    canonical = n.reshape(canonical, {shape[2] * shape[3], 1, shape[0], shape[1]});
  } else {
    // The kernel has as many groups as the image has channels.
    attributes.push_back(n.hostInts("groups_by_channels", {1}));
    TensorMath m(n);
    canonical = m.reshape(canonical, m.concat({n.intList({-1, 1}), m.dims(filter, 0, 2)}, 0));
  }
  Value result = n.callHost("Conv", {layout.toCanonical(n, image), canonical}, attributes);
  n.setOutput(layout.fromCanonical(n, result));
}

/// Strides, dilations and pads of a transposed convolution whose result has the spatial dims
/// `wanted`: the pads are those that the convolution would have had.
SmallVector<NamedAttribute> windowOfResult(NodeContext &n, const ImageLayout &layout,
                                           ArrayRef<int64_t> kernel, ArrayRef<int64_t> wanted) {
  std::optional<Window> window = readWindow(n, layout, kernel, wanted);
  if (!window)
    return {};
  SmallVector<int64_t> behind;
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    int64_t pads = window->pads[dim] + window->pads[kernel.size() + dim];
    int64_t steps = wanted[dim] - window->extent(dim) + pads;
    if (steps < 0) {
      n.failInput(0, "asks for " + Twine(wanted[dim]) + " pixels, fewer than the filter has");
      return {};
    }
    behind.push_back(steps % window->strides[dim]);
  }
  return {n.hostInts("strides", window->strides), n.hostInts("dilations", window->dilations),
          n.hostInts("pads", window->pads), n.hostInts("output_padding", behind)};
}

/// Crops the pixels that pads hide from a transposed convolution [n, c, spatial...] without pads
/// that has `strides` - 1 pixels of zeros behind it. Its spatial dims become `wanted`, or others
/// where a convolution of those dims does not have the dims of the image.
Value cropToSize(NodeContext &n, const ImageLayout &layout, Value whole, Value filter,
                 Value wanted) {
  TensorMath m(n);
  const int64_t dims = layout.rank - 2;
  const SmallVector<int64_t> strides = layout.spatial(n, "strides");
  const std::string padding = n.stringAttr("padding", "VALID");
  auto same = [&](int64_t value) { return n.intList(SmallVector<int64_t>(dims, value)); };
  Value more = m.sub(n.intList(strides), same(1)), size = m.sub(m.dims(whole, 2, 2 + dims), more);
  Value first = same(0), min = size;
  if (padding == "SAME") {
    Value taps = m.sub(m.dims(filter, 0, dims), same(1));
    min = m.sub(size, m.mul(taps, n.intList(layout.spatial(n, "dilations"))));
    first = m.div(m.max(m.sub(size, wanted), same(0)), same(2));
  } else if (padding == "EXPLICIT") {
    SmallVector<int64_t> all = n.intsAttr("explicit_paddings"), before, behind;
    for (int64_t dim = 0; dim < dims; ++dim) {
      before.push_back(all[2 * layout.spatialAxis(dim)]);
      behind.push_back(all[2 * layout.spatialAxis(dim) + 1]);
    }
    first = n.intList(before);
    min = m.sub(m.sub(size, first), n.intList(behind));
  }
  Value last = m.add(first, m.clamp(wanted, min, m.add(min, more)));
  return n.callHost(
      "Slice", {whole, first, last, n.intList(llvm::to_vector(llvm::seq<int64_t>(2, 2 + dims)))});
}

/// Input 0 states the result's size, which may be known only when the model runs.
template <int64_t rank, bool isByChannel = false> void importConvTranspose(NodeContext &n) {
  Value filter = withRank(n, 1, rank), image = withRank(n, 2, rank);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  Value wanted = indexVector(n, n.input(0));
  if (n.failed())
    return;
  // The shape may leave out batch and channels.
  const bool hasCount = NodeContext::isStatic(wanted);
  const bool isWhole = hasCount && n.shape(wanted)[0] == rank;
  if (hasCount && !isWhole && n.shape(wanted)[0] != rank - 2)
    return n.failInput(0, "has " + Twine(n.shape(wanted)[0]) + " dims, expected " + Twine(rank));
  const bool hasKernel = NodeContext::isStatic(filter);
  // A shape is often known but for the batch.
  SmallVector<int64_t> elements = knownElements(n.input(0)), spatial;
  if (elements.size() == (isWhole ? rank : rank - 2))
    for (size_t dim = 0; dim < rank - 2; ++dim)
      spatial.push_back(elements[isWhole ? layout.spatialAxis(dim) : dim]);
  const bool isKnown =
      hasKernel && spatial.size() == rank - 2 && !ShapedType::isDynamicShape(spatial);
  SmallVector<NamedAttribute> attributes;
  if (isKnown) {
    attributes = windowOfResult(n, layout, n.shape(filter).take_front(rank - 2), spatial);
  } else {
    windowOf(n, layout); // checks the padding
    SmallVector<int64_t> strides = layout.spatial(n, "strides"), more;
    for (int64_t stride : strides)
      more.push_back(stride - 1);
    attributes = {n.hostInts("strides", strides),
                  n.hostInts("dilations", layout.spatial(n, "dilations")),
                  n.hostInts("output_padding", more)};
  }
  if (n.failed())
    return;
  Value weights = isByChannel ? Value() : canonicalFilter(n, filter, rank);
  if (isByChannel) {
    if (!hasKernel)
      return n.failInput(1, "has a shape that is not fixed");
    SmallVector<int64_t> shape(n.shape(filter));
    weights =
        n.reshape(n.transpose(filter, {2, 3, 0, 1}), {shape[2] * shape[3], 1, shape[0], shape[1]});
    attributes.push_back(n.hostInts("group", {shape[2]}));
  }
  Value result = n.callHost("ConvTranspose", {layout.toCanonical(n, image), weights}, attributes);
  if (!isKnown) {
    TensorMath m(n);
    Value size = wanted;
    if (!hasCount || isWhole) {
      // Of the two dims more, one is in front of the spatial ones or both are.
      Value count = n.intList(rank - 2), two = m.sub(m.dims(wanted, 0, 1), count);
      Value first = m.div(m.mul(two, n.intList(layout.spatialAxis(0))), n.intList(2));
      size = n.callHost("Slice", {wanted, first, m.add(first, count), n.intList(0)});
    }
    result = cropToSize(n, layout, result, filter, size);
    // A run that asks for a size that the image does not give fails.
    if (!isWhole)
      result = m.reshape(result, m.concat({m.dims(result, 0, 2), size}, 0));
  }
  Value output = layout.fromCanonical(n, result);
  if (isWhole)
    output = withKnownDims(n, n.callHost("Reshape", {output, wanted}), elements, 0);
  n.setOutput(output);
}

template <bool isMax, int64_t rank> void importPool(NodeContext &n) {
  Value image = withRank(n, 0, rank);
  ImageLayout layout(n, rank);
  if (!n.failed() && !n.hasAttr("ksize"))
    n.failAttribute("ksize", "is missing; the operator needs it");
  if (n.failed())
    return;
  SmallVector<NamedAttribute> attributes = windowOf(n, layout);
  attributes.push_back(n.hostInts("kernel_shape", layout.spatial(n, "ksize")));
  Value result =
      n.callHost(isMax ? "MaxPool" : "AveragePool", {layout.toCanonical(n, image)}, attributes);
  n.setOutput(layout.fromCanonical(n, result));
}

void importFusedBatchNorm(NodeContext &n) {
  bool isTraining = n.boolAttr("is_training", true);
  std::string format = n.stringAttr("data_format", "NHWC");
  const int64_t rank = format.size() == 5 ? 5 : 4;
  Value image = withRank(n, 0, rank);
  ImageLayout layout(n, rank);
  if (n.failed())
    return;
  if (isTraining)
    return importBatchStatistics(n, image);
  SmallVector<Value> operands{layout.toCanonical(n, image)};
  for (unsigned index = 1; index < 5; ++index)
    operands.push_back(n.cast(n.input(index), n.elementType(image)));
  Value result = n.callHost("BatchNormalization", operands,
                            {n.hostFloats("epsilon", {n.floatAttr("epsilon", 1e-4f)})});
  n.setOutput(0, layout.fromCanonical(n, result));
  n.setOutput(1, n.input(3));
  n.setOutput(2, n.input(4));
}

void importBiasAdd(NodeContext &n) {
  Value input = n.input(0), bias = n.input(1);
  if (n.failed())
    return;
  if (StringRef(n.stringAttr("data_format", "NHWC")).starts_with("NC")) {
    if (!NodeContext::hasRank(input))
      return n.failInput(0, "has no known rank");
    SmallVector<int64_t> behind;
    for (int64_t axis = 2; axis < n.rank(input); ++axis)
      behind.push_back(axis - 1);
    if (!behind.empty())
      bias = n.callHost("Unsqueeze", {bias, n.intList(behind)});
  }
  n.setOutput(n.add(input, bias));
}

Value transposed(NodeContext &n, unsigned index) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(value)) {
    n.failInput(index, "has no known rank, which is needed to transpose it");
    return {};
  }
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(value)));
  if (permutation.size() < 2) {
    n.failInput(index, "is no matrix");
    return {};
  }
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return n.transpose(value, permutation);
}

void importMatMul(NodeContext &n) {
  const bool isBatch = n.op() != "MatMul";
  if (!isBatch) {
    withRank(n, 0, 2);
    withRank(n, 1, 2);
  }
  bool transposeLhs = n.boolAttr(isBatch ? "adj_x" : "transpose_a", false);
  bool transposeRhs = n.boolAttr(isBatch ? "adj_y" : "transpose_b", false);
  if (n.failed())
    return;
  Value lhs = transposeLhs ? transposed(n, 0) : n.input(0);
  Value rhs = transposeRhs ? transposed(n, 1) : n.input(1);
  const Type sums = typeOfSums(n);
  if (n.failed())
    return;
  if (isProductOfBytes(lhs, rhs, sums))
    return n.setOutput(n.callHost("MatMulInteger", {lhs, rhs}));
  n.setOutput(n.callHost("MatMul", {n.cast(lhs, sums), n.cast(rhs, sums)}));
}

void reduceBy(NodeContext &n, StringRef kernel, Value input) {
  Value along = n.input(1);
  bool keepdims = n.boolAttr("keep_dims", false);
  if (n.failed())
    return;
  n.setOutput(
      n.callHost(kernel, {input, indexVector(n, along)},
                 {n.hostInts("keepdims", {keepdims}), n.hostInts("noop_with_empty_axes", {1})}));
}

/// The root of the sum of squares.
void importEuclideanNorm(NodeContext &n) {
  Value input = n.input(0), along = n.input(1);
  bool keepdims = n.boolAttr("keep_dims", false);
  if (n.failed())
    return;
  Value sum =
      n.callHost("ReduceSum", {n.mul(input, input), indexVector(n, along)},
                 {n.hostInts("keepdims", {keepdims}), n.hostInts("noop_with_empty_axes", {1})});
  n.setOutput(n.create<graph::SqrtOp>(sum));
}

void importSum(NodeContext &n) { reduceBy(n, "ReduceSum", n.input(0)); }
void importMean(NodeContext &n) { reduceBy(n, "ReduceMean", n.input(0)); }
void importMax(NodeContext &n) { reduceBy(n, "ReduceMax", n.input(0)); }
void importMin(NodeContext &n) { reduceBy(n, "ReduceMin", n.input(0)); }
void importProd(NodeContext &n) { reduceBy(n, "ReduceProd", n.input(0)); }

/// All and Any: the smallest and the largest of 0 and 1.
template <bool isAll> void importLogic(NodeContext &n) {
  Value input = n.input(0), along = n.input(1);
  bool keepdims = n.boolAttr("keep_dims", false);
  if (n.failed())
    return;
  Value result =
      n.callHost(isAll ? "ReduceMin" : "ReduceMax",
                 {n.cast(input, n.builder().getI32Type()), indexVector(n, along)},
                 {n.hostInts("keepdims", {keepdims}), n.hostInts("noop_with_empty_axes", {1})});
  // The largest of no element is the least number there is.
  Value zero = n.scalar(0, n.builder().getI32Type());
  n.setOutput(n.compare(result, zero, graph::ComparePredicate::Gt));
}

template <bool isMax> void importArg(NodeContext &n) {
  Value input = n.input(0);
  int64_t axis = n.constantInt(1);
  Type element = n.typeAttr("output_type", pb::DT_INT64);
  if (!n.failed())
    n.setOutput(n.cast(n.callHost(isMax ? "ArgMax" : "ArgMin", {input},
                                  {n.hostInts("axis", {axis}), n.hostInts("keepdims", {0})}),
                       element));
}

template <bool isLog> void importSoftmax(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost(isLog ? "LogSoftmax" : "Softmax", {input}, {n.hostInts("axis", {-1})}));
}

template <bool isNearest> void importResize(NodeContext &n) {
  Value image = withRank(n, 0, 4), size = n.input(1);
  bool alignCorners = n.boolAttr("align_corners", false);
  bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (n.failed())
    return;
  Type floats = n.builder().getF32Type();
  if (!n.elementType(image).isF32() && !isNearest)
    image = n.cast(image, floats);
  ImageLayout layout(n, 4);
  Value canonical = layout.toCanonical(n, image);
  Value outer = n.callHost("Slice", {shapeVector(n, canonical), n.intList({0}), n.intList({2})});
  Value sizes = n.callHost("Concat", {outer, indexVector(n, size)}, {n.hostInts("axis", {0})});
  if (n.failed())
    return;
  // Nearest takes floor((x + 0.5) * scale), which is half-pixel rounded up at halves.
  graph::HostCall call{
      "Resize",
      {canonical, Value(), Value(), sizes},
      n.builder().getDictionaryAttr(
          {n.hostText("mode", isNearest ? "nearest" : "linear"),
           n.hostText("coordinate_transformation_mode", alignCorners ? "align_corners"
                                                        : halfPixel  ? "half_pixel"
                                                                     : "asymmetric"),
           n.hostText("nearest_mode", alignCorners || halfPixel ? "round_prefer_ceil" : "floor")})};
  SmallVector<Value> results = n.callHost(call);
  if (!results.empty())
    n.setOutput(layout.fromCanonical(n, results.front()));
}

template <bool toSpace> void importBlocks(NodeContext &n) {
  Value image = withRank(n, 0, 4);
  int64_t block = n.requiredInt("block_size");
  ImageLayout layout(n, 4);
  if (n.failed())
    return;
  Value result = n.callHost(toSpace ? "DepthToSpace" : "SpaceToDepth",
                            {layout.toCanonical(n, image)}, {n.hostInts("blocksize", {block})});
  n.setOutput(layout.fromCanonical(n, result));
}

} // namespace

ArrayRef<OpRow> dynamicNnRows() {
  static const OpRow rows[] = {
      {"All", importLogic<true>},
      {"Any", importLogic<false>},
      {"ArgMax", importArg<true>},
      {"ArgMin", importArg<false>},
      {"AvgPool", importPool<false, 4>},
      {"AvgPool3D", importPool<false, 5>},
      {"BatchMatMul", importMatMul},
      {"BatchMatMulV2", importMatMul},
      {"BatchMatMulV3", importMatMul},
      {"BiasAdd", importBiasAdd},
      {"Conv2D", importConv<4>},
      {"Conv2DBackpropInput", importConvTranspose<4>},
      {"Conv3D", importConv<5>},
      {"Conv3DBackpropInputV2", importConvTranspose<5>},
      {"DepthToSpace", importBlocks<true>},
      {"DepthwiseConv2dNative", importDepthwiseConv},
      {"DepthwiseConv2dNativeBackpropInput", importConvTranspose<4, /*isByChannel=*/true>},
      {"EuclideanNorm", importEuclideanNorm},
      {"FusedBatchNorm", importFusedBatchNorm},
      {"FusedBatchNormV2", importFusedBatchNorm},
      {"FusedBatchNormV3", importFusedBatchNorm},
      {"LogSoftmax", importSoftmax<true>},
      {"MatMul", importMatMul},
      {"Max", importMax},
      {"MaxPool", importPool<true, 4>},
      {"MaxPool3D", importPool<true, 5>},
      {"Mean", importMean},
      {"Min", importMin},
      {"Prod", importProd},
      {"ResizeBilinear", importResize<false>},
      {"ResizeNearestNeighbor", importResize<true>},
      {"Softmax", importSoftmax<false>},
      {"SpaceToDepth", importBlocks<false>},
      {"Sum", importSum},
  };
  return rows;
}

} // namespace atc::tf_import
