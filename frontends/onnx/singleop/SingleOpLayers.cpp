//===-- SingleOpLayers.cpp - fused operators as ONNX models ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of the Ascend toolchain that stand for several nodes: sums of squares, gated units,
// norms behind an addition, channels that are moved, regions. One row per operator.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void buildInv(Graph &g) { g.finish(g.value("Reciprocal", {g.x[0]})); }
void buildSilu(Graph &g) { g.finish(g.value("Mul", {g.x[0], g.value("Sigmoid", {g.x[0]})})); }
void buildMulAdd(Graph &g) {
  // x0 * x1 + x2; the factor of FusedMulAddN is the last.
  const bool isLast = g.op.type == "FusedMulAddN";
  const std::string product = g.value("Mul", {g.x[0], g.x[isLast ? 2 : 1]});
  g.finish(g.value("Add", {product, g.x[isLast ? 1 : 2]}));
}
void buildFills(Graph &g) {
  g.finish(g.value("Expand", {g.addScalar(g.getFloat("value", 0)), g.value("Shape", {g.x[0]})}));
}
/// Keeps x0 where it is above x1, and takes x2 (0) elsewhere.
void buildThresholdV2(Graph &g) {
  const bool isGiven = g.x.size() > 2 && !g.x[2].empty();
  const std::string above = g.value("Greater", {g.x[0], g.x[1]});
  g.finish(g.value("Where", {above, g.x[0], isGiven ? g.x[2] : g.addScalar(0)}));
}

/// Returns shift + scale * x by the attributes of Exp and Log.
std::string scaled(Graph &g) {
  std::string result = g.x[0];
  if (const double scale = g.getFloat("scale", 1); scale != 1)
    result = g.value("Mul", {result, g.addScalar(scale)});
  if (const double shift = g.getFloat("shift", 0); shift != 0)
    result = g.value("Add", {result, g.addScalar(shift)});
  return result;
}
/// A base of -1 is that of the natural logarithm.
bool isBase(Graph &g, double base) {
  if (base == -1 || (base > 0 && base != 1))
    return true;
  g.fail("\"base\" must be -1, or above 0 and not 1");
  return false;
}
void buildExp(Graph &g) {
  const double base = g.getFloat("base", -1);
  if (!isBase(g, base))
    return;
  std::string power = scaled(g);
  if (base != -1)
    power = g.value("Mul", {power, g.addScalar(std::log(base))});
  g.finish(g.value("Exp", {power}));
}
void buildLog(Graph &g) {
  const double base = g.getFloat("base", -1);
  if (!isBase(g, base))
    return;
  std::string result = g.value("Log", {scaled(g)});
  if (base != -1)
    result = g.value("Mul", {result, g.addScalar(1 / std::log(base))});
  g.finish(result);
}

/// Multiplies by x1 and adds x2, whose dims are those of x0 from an axis on.
void buildScale(Graph &g) {
  const int64_t axis = g.axisOf(g.getInt("axis", 1));
  if (axis < 0)
    return;
  g.knows({"num_axes", "scale_from_blob"});
  const auto aligned = [&](size_t input) {
    Ints shape(axis, 1);
    append_range(shape, g.op.inputs[input].dims);
    shape.resize(std::max<size_t>(shape.size(), g.rankOf(0)), 1);
    return g.reshape(g.x[input], shape);
  };
  if (axis + g.rankOf(1) > g.rankOf(0) && g.rankOf(1) != g.rankOf(0))
    return g.fail("the scale must have no more dims than the input has from \"axis\" on");
  const bool isWhole = g.rankOf(1) == g.rankOf(0);
  std::string result = g.value("Mul", {g.x[0], isWhole ? g.x[1] : aligned(1)});
  if (g.x.size() > 2 && !g.x[2].empty())
    result = g.value("Add", {result, g.rankOf(2) == g.rankOf(0) ? g.x[2] : aligned(2)});
  g.finish(result);
}

/// Returns the halves of x0 along an axis; empty names after an error.
std::pair<std::string, std::string> halvesOf(Graph &g, int64_t axis) {
  const int64_t size = g.op.inputs[0].dims[axis];
  if (size >= 0 && size % 2 != 0) {
    g.fail("the dim " + Twine(axis) +
           " of the input, which it splits into halves, must be even, "
           "not " +
           Twine(size));
    return {};
  }
  const std::string first = g.fresh(), second = g.fresh();
  auto &split = g.node("Split", {g.x[0]}, {first, second});
  Graph::setInt(split, "axis", axis);
  Graph::setInt(split, "num_outputs", 2);
  return {first, second};
}

/// Splits x0 into halves along an axis; computes silu(first) * second.
void buildSwiGlu(Graph &g) {
  const int64_t axis = g.axisOf(g.getInt("dim", -1));
  if (axis < 0)
    return;
  const auto [first, second] = halvesOf(g, axis);
  if (first.empty())
    return;
  const std::string gate = g.value("Mul", {first, g.value("Sigmoid", {first})});
  g.finish(g.value("Mul", {gate, second}));
}

/// Computes x * x1 + (-second half of x, first half) * x2.
void buildRotaryMul(Graph &g) {
  if (g.getText("mode", "half") != "half" || g.getInt("mode", 0) != 0)
    return g.fail("\"mode\" must be half, or 0");
  const int64_t axis = g.axisOf(-1);
  if (axis < 0)
    return;
  const auto [first, second] = halvesOf(g, axis);
  if (first.empty())
    return;
  const std::string turned = g.fresh();
  Graph::setInt(g.node("Concat", {g.value("Neg", {second}), first}, {turned}), "axis", -1);
  g.finish(g.value("Add", {g.value("Mul", {g.x[0], g.x[1]}), g.value("Mul", {turned, g.x[2]})}));
}

//===----------------------------------------------------------------------===//
// Reductions and norms
//===----------------------------------------------------------------------===//

std::string squareOf(Graph &g, const std::string &x) { return g.value("Mul", {x, x}); }

void buildSquareSum(Graph &g) {
  auto &node =
      g.node("ReduceSum", {squareOf(g, g.x[0]), g.addInts(g.getInts("axis", {}))}, {g.y[0]});
  Graph::setInt(node, "keepdims", g.getBool("keep_dims"));
}
/// Computes the sums of the squares of two tensors.
void buildSquareSumAll(Graph &g) {
  for (size_t i = 0; i < std::min<size_t>(g.y.size(), 2); ++i) {
    const std::string sum = g.fresh();
    Graph::setInt(g.node("ReduceSum", {squareOf(g, g.x[i])}, {sum}), "keepdims", 0);
    g.node("Identity", {g.reshape(sum, g.op.outputs[i].dims)}, {g.y[i]});
  }
}
void buildEuclideanNorm(Graph &g) {
  auto &node = g.node("ReduceL2", {g.x[0], g.addInts(g.getConstantInts(1, "axes"))}, {g.y[0]});
  Graph::setInt(node, "keepdims", g.getBool("keep_dims"));
}
void buildCentralization(Graph &g) {
  const std::string axes = g.addInts(g.getInts("axes", {-1}));
  g.finish(g.value("Sub", {g.x[0], g.value("ReduceMean", {g.x[0], axes})}));
}
/// Results: the mean and the variance along axes.
void buildMeanVariance(Graph &g) {
  const bool isKept = !g.find("keep_dims") || g.getBool("keep_dims");
  const Ints axes = g.getInts("axes", {});
  const std::string result = g.fresh(), variance = g.fresh();
  g.widen();
  Graph::setInt(g.node("ReduceMean", {g.x[0], g.addInts(axes)}, {result}), "keepdims", isKept);
  g.finish(result);
  if (g.y.size() < 2)
    return;
  const std::string mean = g.value("ReduceMean", {g.x[0], g.addInts(axes)});
  const std::string difference = g.value("Sub", {g.x[0], mean});
  auto &node = g.node("ReduceMean", {squareOf(g, difference), g.addInts(axes)}, {variance});
  Graph::setInt(node, "keepdims", isKept);
  g.write(1, variance);
}

/// Results: the norm of x0 + x1 times gamma, 1 over the root of its mean square, and x0 + x1.
void buildAddRmsNorm(Graph &g) {
  g.widen();
  const std::string sum = g.value("Add", {g.x[0], g.x[1]});
  Ints axes;
  for (int64_t i = g.rankOf(0) - g.rankOf(2); i < g.rankOf(0); ++i)
    axes.push_back(i);
  if (axes.empty() || axes[0] < 0)
    return g.fail("gamma must have 1 dim or more, and no more than the input");
  const std::string mean = g.value("ReduceMean", {squareOf(g, sum), g.addInts(axes)});
  const std::string bounded = g.value("Add", {mean, g.addScalar(g.getFloat("epsilon", 1e-6))});
  const std::string factor = g.value("Reciprocal", {g.value("Sqrt", {bounded})});
  g.finish(g.value("Mul", {g.value("Mul", {sum, factor}), g.x[2]}));
  if (g.y.size() > 1)
    g.write(1, factor);
  if (g.y.size() > 2)
    g.write(2, sum);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Exchanges groups of channels with the channels in them.
void buildShuffleChannel(Graph &g) {
  const int64_t groups = g.getInt("group", g.getInt("groups", 1));
  const Ints &dims = g.op.inputs[0].dims;
  if (dims.size() != 4 || g.op.inputs[0].format == kNHWC || groups < 1 || dims[1] % groups != 0)
    return g.fail("the input must have 4 dims in NCHW, and \"group\" divide its channels");
  if (count_if(dims, [](int64_t dim) { return dim < 0; }) > 1)
    return g.fail("at most one dim of the input may be of any size");
  const std::string parted =
      g.reshape(g.x[0], {dims[0], groups, dims[1] / groups, dims[2], dims[3]});
  g.finish(g.reshape(g.transpose(parted, {0, 2, 1, 3, 4}), dims));
}

void buildPixelShuffle(Graph &g) {
  const std::string result = g.fresh();
  auto &node = g.node("DepthToSpace", {g.image()}, {result});
  Graph::setInt(node, "blocksize", g.getInt("upscale_factor", 1));
  Graph::setText(node, "mode", "CRD");
  g.finishImage(result);
}

/// Transposes and reshapes, in the order that "transpose_first" states.
void buildConfusionTranspose(Graph &g) {
  const Ints order = g.getInts("perm", {}), shape = g.getInts("shape", g.op.outputs[0].dims);
  if (g.getBool("transpose_first"))
    return g.finish(g.reshape(g.transpose(g.x[0], order), shape));
  g.finish(g.transpose(g.reshape(g.x[0], shape), order));
}

/// Moves elements along dims, and those that leave at the end to the beginning.
void buildRoll(Graph &g) {
  const Ints shifts = g.getInts("shifts", {}), axes = g.getInts("dims", {});
  const Ints &dims = g.op.inputs[0].dims;
  const bool isFlat = axes.empty();
  if (shifts.empty() || (isFlat ? shifts.size() != 1 : shifts.size() != axes.size()))
    return g.fail("\"shifts\" must have a number per item of \"dims\"");
  std::string result = isFlat ? g.reshape(g.x[0], {-1}) : g.x[0];
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t axis = isFlat ? 0 : g.axisOf(axes[i]);
    if (axis < 0)
      return;
    int64_t size = 1;
    for (auto [k, dim] : enumerate(dims))
      size = isFlat || int64_t(k) == axis ? size * dim : size;
    if (size <= 0)
      return g.fail("the dims that it moves along must be known");
    const int64_t from = (size - shifts[i] % size) % size;
    const auto part = [&](int64_t begin, int64_t end) {
      return g.value("Slice", {result, g.addInts({begin}), g.addInts({end}), g.addInts({axis})});
    };
    const std::string joined = g.fresh(), back = part(from, size), front = part(0, from);
    Graph::setInt(g.node("Concat", {back, front}, {joined}), "axis", axis);
    result = joined;
  }
  g.finish(isFlat ? g.reshape(result, dims) : result);
}

//===----------------------------------------------------------------------===//
// Products and regions
//===----------------------------------------------------------------------===//

void buildGer(Graph &g) {
  g.finish(g.value("Mul", {g.reshape(g.x[0], {-1, 1}), g.reshape(g.x[1], {1, -1})}));
}
void buildMv(Graph &g) { g.finish(g.value("MatMul", {g.x[0], g.x[1]})); }

/// Averages samples in the bins of regions: rows of an image's number, left, top, right, bottom.
void buildRoiAlign(Graph &g) {
  // 1 adds a pixel to the right and the bottom, in a way that is not documented.
  const int64_t mode = g.getInt("roi_end_mode", 1);
  if (mode != 0 && mode != 2)
    return g.fail("\"roi_end_mode\" must be stated as 0 or 2");
  if (g.rankOf(1) != 2 || g.op.inputs[1].dims[1] != 5)
    return g.fail("regions must have the dims [count, 5]");
  if (g.x.size() > 2 && !g.x[2].empty())
    return g.fail("the input rois_n is not read: all regions are valid; leave it out");
  const auto columns = [&](int64_t begin, int64_t end) {
    return g.value("Slice", {g.x[1], g.addInts({begin}), g.addInts({end}), g.addInts({1})});
  };
  const std::string images = g.fresh(), result = g.fresh();
  Graph::setInt(g.node("Cast", {g.reshape(columns(0, 1), {-1})}, {images}), "to",
                onnx::TensorProto::INT64);
  auto &node = g.node("RoiAlign", {g.image(), columns(1, 5), images}, {result});
  Graph::setText(node, "coordinate_transformation_mode",
                 mode == 0 ? "output_half_pixel" : "half_pixel");
  Graph::setFloat(node, "spatial_scale", g.getFloat("spatial_scale", 1));
  Graph::setInt(node, "output_height", g.getInt("pooled_height", 1));
  Graph::setInt(node, "output_width", g.getInt("pooled_width", 1));
  Graph::setInt(node, "sampling_ratio", g.getInt("sample_num", 2));
  g.finishImage(result);
}

} // namespace

ArrayRef<OperatorRow> layerRows() {
  static constexpr OperatorRow rows[] = {
      {"AddRmsNorm", 3, buildAddRmsNorm},
      {"Centralization", 1, buildCentralization},
      {"ConfusionTransposeD", 1, buildConfusionTranspose},
      {"Exp", 1, buildExp},
      {"Fills", 1, buildFills},
      {"FusedMulAdd", 3, buildMulAdd},
      {"FusedMulAddN", 3, buildMulAdd},
      {"Ger", 2, buildGer},
      {"Inv", 1, buildInv},
      {"Log", 1, buildLog},
      {"MV", 2, buildMv},
      {"PixelShuffle", 1, buildPixelShuffle},
      {"ROIAlign", 2, buildRoiAlign},
      {"ReduceEuclideanNorm", 1, buildEuclideanNorm},
      {"ReduceEuclideanNormD", 1, buildEuclideanNorm},
      {"ReduceMeanVariance", 1, buildMeanVariance},
      {"Roll", 1, buildRoll},
      {"RotaryMul", 3, buildRotaryMul},
      {"Scale", 2, buildScale},
      {"ShuffleChannel", 1, buildShuffleChannel},
      {"Silu", 1, buildSilu},
      {"SquareSumAll", 2, buildSquareSumAll},
      {"SquareSumV1", 1, buildSquareSum},
      {"SwiGlu", 1, buildSwiGlu},
      {"ThresholdV2", 2, buildThresholdV2},
  };
  return rows;
}

} // namespace atc::single_op
