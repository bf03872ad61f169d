//===-- SingleOpNeural.cpp - further operators as ONNX models -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators with attributes, norms, layers and resizes in the forms of the Ascend
// toolchain. One row per operator: its name and the function that builds its nodes.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

/// Returns the position of the channels of input 0 in its format.
int64_t channelAxis(const Graph &g) {
  const int64_t rank = g.rankOf(0);
  return rank < 2 || g.op.inputs[0].format == kNHWC ? rank - 1 : 1;
}

/// Reshapes a vector to the dims in which it broadcasts along the channels of input 0.
std::string alongChannels(Graph &g, size_t input) {
  const Ints &dims = g.op.inputs[input].dims;
  if (dims.size() != 1)
    return g.x[input];
  Ints shape(std::max<int64_t>(g.rankOf(0), 1), 1);
  shape[std::max<int64_t>(channelAxis(g), 0)] = dims[0];
  return g.reshape(g.x[input], shape);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void buildMuls(Graph &g) {
  g.finish(g.value("Mul", {g.x[0], g.addScalar(g.getFloat("value", 1))}));
}
void buildAdds(Graph &g) {
  g.finish(g.value("Add", {g.x[0], g.addScalar(g.getFloat("value", 0))}));
}

/// (shift + scale * x) ^ power
void buildPower(Graph &g) {
  std::string result = g.x[0];
  if (const double scale = g.getFloat("scale", 1); scale != 1)
    result = g.value("Mul", {result, g.addScalar(scale)});
  if (const double shift = g.getFloat("shift", 0); shift != 0)
    result = g.value("Add", {result, g.addScalar(shift)});
  if (const double power = g.getFloat("power", 1); power != 1)
    result = g.value("Pow", {result, g.addScalar(power)});
  g.finish(result);
}

void buildPRelu(Graph &g) { g.finish(g.value("PRelu", {g.x[0], alongChannels(g, 1)})); }

void buildAxpy(Graph &g) {
  const std::string scaled = g.value("Mul", {g.x[1], g.addScalar(g.getFloat("alpha", 1))});
  g.finish(g.value("Add", {g.x[0], scaled}));
}

void buildEltwise(Graph &g) {
  constexpr StringLiteral modes[] = {"Mul", "Sum", "Max"};
  const int64_t mode = g.getInt("mode", 1);
  if (mode < 0 || mode > 2)
    return g.fail("\"mode\" must be 0 (product), 1 (sum) or 2 (maximum)");
  std::vector<double> factors;
  g.knows({"coeff"});
  if (const auto *list = g.find("coeff")) {
    if (!list->is_array() || !all_of(*list, [](const auto &factor) { return factor.is_number(); }))
      return g.fail("\"coeff\" must be a list of numbers");
    for (const auto &factor : *list)
      factors.push_back(factor.get<double>());
  }
  if (!factors.empty() && (mode != 1 || factors.size() != g.x.size()))
    return g.fail("\"coeff\" must have a number per input, and \"mode\" be 1 (sum)");
  std::string result;
  for (auto [i, x] : enumerate(g.x)) {
    const bool isScaled = !factors.empty() && factors[i] != 1;
    const std::string term = isScaled ? g.value("Mul", {x, g.addScalar(factors[i])}) : x;
    result = i == 0 ? term : g.value(modes[mode], {result, term});
  }
  g.finish(result);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Inputs: x, scale, offset, mean, variance.
void buildBNInfer(Graph &g) {
  const std::string result = g.fresh();
  auto &node = g.node("BatchNormalization", {g.image(), g.x[1], g.x[2], g.x[3], g.x[4]}, {result});
  Graph::setFloat(node, "epsilon", g.getFloat("epsilon", 1e-4));
  g.finishImage(result);
}

/// Inputs: x, mean, variance, the factor of both, scale and offset where they are given.
void buildBNInference(Graph &g) {
  const std::string factor = g.value("Reciprocal", {g.x[3]});
  const std::string mean = g.value("Mul", {alongChannels(g, 1), factor});
  const std::string variance = g.value("Mul", {alongChannels(g, 2), factor});
  const std::string spread =
      g.value("Sqrt", {g.value("Add", {variance, g.addScalar(g.getFloat("epsilon", 1e-5))})});
  std::string result = g.value("Div", {g.value("Sub", {g.x[0], mean}), spread});
  if (g.x.size() > 4 && !g.x[4].empty())
    result = g.value("Mul", {result, alongChannels(g, 4)});
  if (g.x.size() > 5 && !g.x[5].empty())
    result = g.value("Add", {result, alongChannels(g, 5)});
  g.finish(result);
}

/// Results: y, and where the file describes them the mean and the variance (LayerNormV3: 1 over its
/// root).
void buildLayerNorm(Graph &g) {
  const int64_t axis = g.axisOf(g.getInt("begin_norm_axis", 0));
  if (axis < 0)
    return;
  const bool isV3 = g.op.type == "LayerNormV3";
  const double epsilon = g.getFloat("epsilon", isV3 ? 1e-5 : 1e-7);
  Ints axes;
  for (int64_t i = axis; i < g.rankOf(0); ++i)
    axes.push_back(i);
  auto &node = g.node("LayerNormalization", {g.x[0], g.x[1], g.x[2]}, {g.y[0]});
  Graph::setInt(node, "axis", axis);
  Graph::setFloat(node, "epsilon", epsilon);
  if (g.y.size() < 2)
    return;
  g.widen(); // the statistics may be floats where x has halves
  const std::string mean = g.value("ReduceMean", {g.x[0], g.addInts(axes)});
  g.write(1, mean);
  if (g.y.size() < 3)
    return;
  const std::string difference = g.value("Sub", {g.x[0], mean});
  const std::string square = g.value("Mul", {difference, difference});
  const std::string variance = g.value("ReduceMean", {square, g.addInts(axes)});
  if (!isV3)
    return g.write(2, variance);
  const std::string bounded = g.value("Add", {variance, g.addScalar(epsilon)});
  g.write(2, g.value("Reciprocal", {g.value("Sqrt", {bounded})}));
}

/// Normalizes x by scale, offset, mean and variance; writes the last two again where the file
/// describes them.
void buildBatchNorm(Graph &g) {
  const auto *training = g.find("is_training");
  if (!training || g.getBool("is_training"))
    return g.fail("\"is_training\" must be false: statistics of the batch are not computed");
  buildBNInfer(g);
  for (size_t i = 1; i < g.y.size(); ++i)
    g.node("Identity", {g.x[i % 2 ? 3 : 4]}, {g.y[i]});
}

/// Normalizes each channel of each image, with gamma and beta; writes mean and variance where the
/// file describes them.
void buildInstanceNorm(Graph &g) {
  const std::string result = g.fresh();
  auto &node = g.node("InstanceNormalization", {g.image(), g.x[1], g.x[2]}, {result});
  Graph::setFloat(node, "epsilon", g.getFloat("epsilon", 1e-6));
  g.finishImage(result);
  if (g.y.size() < 2)
    return;
  g.widen(); // the statistics may be floats where x has halves
  Ints axes;
  for (int64_t i = 2; i < g.rankOf(0); ++i)
    axes.push_back(i);
  const std::string image = g.image(), positions = g.addInts(axes);
  const auto write = [&](size_t output, const std::string &found) {
    g.write(output, g.op.inputs[0].format == kNHWC ? g.transpose(found, {0, 2, 3, 1}) : found);
  };
  const std::string mean = g.value("ReduceMean", {image, positions});
  write(1, mean);
  if (g.y.size() < 3)
    return;
  const std::string difference = g.value("Sub", {image, mean});
  write(2, g.value("ReduceMean", {g.value("Mul", {difference, difference}), positions}));
}

/// Divides x by the root of the mean of its squares, times gamma (GemmaRmsNorm: 1 + gamma); writes
/// 1 over that root where the file describes it.
void buildRmsNorm(Graph &g) {
  const int64_t rank = g.rankOf(0);
  Ints axes;
  for (int64_t i = std::max<int64_t>(rank - g.rankOf(1), 0); i < rank; ++i)
    axes.push_back(i);
  g.widen();
  const std::string square = g.value("Mul", {g.x[0], g.x[0]});
  const std::string mean = g.value("ReduceMean", {square, g.addInts(axes)});
  const std::string bounded = g.value("Add", {mean, g.addScalar(g.getFloat("epsilon", 1e-6))});
  const std::string factor = g.value("Reciprocal", {g.value("Sqrt", {bounded})});
  const bool isGemma = g.op.type == "GemmaRmsNorm";
  const std::string gamma = isGemma ? g.value("Add", {g.x[1], g.addScalar(1)}) : g.x[1];
  g.finish(g.value("Mul", {g.value("Mul", {g.x[0], factor}), gamma}));
  if (g.y.size() > 1)
    g.write(1, factor);
}

/// Divides x by (bias + alpha * the squares of the channels around it) ^ beta; ONNX divides
/// alpha by how many they are.
void buildLRN(Graph &g) {
  const int64_t radius = g.getInt("depth_radius", 5);
  const bool isOnnx = g.find("size");
  const int64_t size = isOnnx ? g.getInt("size", 1) : 2 * radius + 1;
  const double alpha = isOnnx ? g.getFloat("alpha", 1e-4) : g.getFloat("alpha", 1) * double(size);
  if (g.getText("norm_region", "ACROSS_CHANNELS") != "ACROSS_CHANNELS")
    return g.fail("\"norm_region\" must be ACROSS_CHANNELS");
  const std::string result = g.fresh();
  auto &node = g.node("LRN", {g.image()}, {result});
  Graph::setInt(node, "size", size);
  Graph::setFloat(node, "alpha", alpha);
  Graph::setFloat(node, "beta", g.getFloat("beta", isOnnx ? 0.75 : 0.5));
  Graph::setFloat(node, "bias", g.getFloat("bias", 1));
  g.finishImage(result);
}

void buildL2Normalize(Graph &g) {
  g.widen();
  const std::string square = g.value("Mul", {g.x[0], g.x[0]});
  const std::string sum = g.value("ReduceSum", {square, g.addInts(g.getInts("axis", {1}))});
  const std::string bounded = g.value("Max", {sum, g.addScalar(g.getFloat("eps", 1e-4))});
  g.finish(g.value("Div", {g.x[0], g.value("Sqrt", {bounded})}));
}

//===----------------------------------------------------------------------===//
// Layers and resizes
//===----------------------------------------------------------------------===//

/// Multiplies x, flattened from its axis, by the transpose of the weights.
void buildFullyConnection(Graph &g) {
  const Ints &dims = g.op.inputs[0].dims, &weights = g.op.inputs[1].dims;
  const int64_t axis = g.axisOf(g.getInt("axis", 1));
  if (axis < 0)
    return;
  if (weights.size() < 2)
    return g.fail("the weights must have 2 dims or more");
  Ints rows(dims.begin(), dims.begin() + axis);
  rows.push_back(-1);
  const bool isTransposed = g.getBool("transpose");
  std::string matrix = g.x[1];
  if (weights.size() > 2)
    matrix = g.reshape(matrix, {weights[0], -1});
  if (!isTransposed)
    matrix = g.transpose(matrix, {1, 0});
  std::string result = g.value("MatMul", {g.reshape(g.x[0], rows), matrix});
  if (g.x.size() > 2 && !g.x[2].empty())
    result = g.value("Add", {result, g.reshape(g.x[2], {-1})});
  g.finish(g.reshape(result, g.op.outputs[0].dims));
}

/// Returns the last two of strides or dilations, which have 2 or 4 numbers.
Ints plane(const Graph &g, const Ints &list) {
  if (list.size() == 4)
    return g.op.inputs[0].format == kNHWC ? Ints{list[1], list[2]} : Ints{list[2], list[3]};
  return list.size() == 2 ? list : Ints{1, 1};
}

void buildTransposedConv(Graph &g) {
  const bool hasSize = g.op.type == "Conv2DTranspose";
  const size_t first = hasSize ? 1 : 0; // behind the size of the result
  if (!g.needs(first + 2))
    return;
  const SingleOpTensor &x = g.op.inputs[first], &filter = g.op.inputs[first + 1];
  if (x.dims.size() != 4 || filter.dims.size() != 4 || x.format == kNHWC ||
      filter.format == kHWCN || filter.format == kNHWC)
    return g.fail("the input and the filter must have 4 dims in NCHW");
  Names inputs = {g.x[first], g.x[first + 1]};
  if (g.x.size() > first + 2 && !g.x[first + 2].empty())
    inputs.push_back(g.x[first + 2]);
  const Ints pads = g.getInts("pads", {0, 0, 0, 0});
  const Ints extra = g.getInts("output_padding", {0, 0, 0, 0});
  if (pads.size() != 4 || (extra.size() != 4 && extra.size() != 2))
    return g.fail("\"pads\" must be top, bottom, left and right");
  auto &node = g.node("ConvTranspose", inputs, {g.y[0]});
  Graph::setInts(node, "strides", plane(g, g.getInts("strides", {1, 1})));
  Graph::setInts(node, "dilations", plane(g, g.getInts("dilations", {1, 1})));
  Graph::setInts(node, "pads", {pads[0], pads[2], pads[1], pads[3]});
  Graph::setInts(node, "output_padding", Ints(extra.end() - 2, extra.end()));
  Graph::setInt(node, "group", g.getInt("groups", 1));
}

/// Returns an image in NCHW with the means of the pixels that each pixel of the result covers along
/// an axis: gathered, weighted and added in floats, as a product with a matrix would be in halves.
std::string areaOfAxis(Graph &g, const std::string &image, const Ints &dims, size_t axis,
                       int64_t size, bool alignCorners) {
  const int64_t pixels = dims[axis];
  const double scale = alignCorners && size > 1 ? double(pixels - 1) / double(size - 1)
                                                : double(pixels) / double(size);
  const auto taps = int64_t(std::ceil(scale)) + 1;
  Ints from;
  std::vector<double> weights;
  for (int64_t i = 0; i < size; ++i) {
    const double begin = double(i) * scale, end = double(i + 1) * scale;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t pixel = int64_t(std::floor(begin)) + tap;
      const double covered = std::min(end, double(pixel + 1)) - std::max(begin, double(pixel));
      // Behind the edge its pixel repeats; between the corners of one pixel there is nothing else.
      from.push_back(std::clamp<int64_t>(pixel, 0, pixels - 1));
      weights.push_back(scale > 0 ? std::max(covered, 0.0) / scale : tap == 0);
    }
  }
  const std::string gathered = g.fresh(), shares = g.fresh(), sum = g.fresh();
  Graph::setInt(g.node("Gather", {image, g.reshape(g.addInts(from), {size, taps})}, {gathered}),
                "axis", int64_t(axis));
  Ints shape(dims.size() + 1, 1);
  shape[axis] = size;
  shape[axis + 1] = taps;
  g.addConstant(shares, onnx::TensorProto::FLOAT, shape, weights);
  Graph::setInt(g.node("ReduceSum",
                       {g.value("Mul", {gathered, shares}), g.addInts({int64_t(axis) + 1})}, {sum}),
                "keepdims", 0);
  return sum;
}

/// Whether the channels of a tensor of a resize come last: what TensorFlow's operators alone have
/// is so, too, where no format is stated.
bool isResizeLast(const Graph &g, const SingleOpTensor &tensor) {
  return tensor.format == kNHWC ||
         (tensor.format == kND && (g.op.type == "ResizeArea" || g.op.type == "ResizeBicubic"));
}

/// Writes an image in NCHW; bilinear, bicubic and area resizes make floats of any type.
void finishResize(Graph &g, std::string result, int32_t made) {
  if (const int32_t type = onnxType(g.op.outputs[0].type); type != made) {
    const std::string converted = g.fresh();
    Graph::setInt(g.node("Cast", {result}, {converted}), "to", type);
    result = converted;
  }
  g.finish(isResizeLast(g, g.op.outputs[0]) ? g.transpose(result, {0, 2, 3, 1}) : result);
}

void buildResize(Graph &g) {
  const StringRef type = g.op.type;
  const Ints &to = g.op.outputs[0].dims;
  g.knows({"half_pixel_centers"});
  if (g.rankOf(0) != 4 || to.size() != 4)
    return g.fail("the input and the result must have 4 dims");
  const bool isLast = isResizeLast(g, g.op.inputs[0]);
  const Ints plane = isLast ? Ints{to[1], to[2]} : Ints{to[2], to[3]};
  if (g.getInts("size", plane) != plane)
    return g.fail("\"size\" must be the height and the width of the result");
  const Ints sizes = isLast ? Ints{to[0], to[3], to[1], to[2]} : to;
  const std::string image = isLast ? g.transpose(g.x[0], {0, 3, 1, 2}) : g.x[0];
  const bool alignCorners = g.getBool("align_corners"), isHalf = g.getBool("half_pixel_centers");
  const bool isNearest = type.starts_with("ResizeNearest"), isCubic = type == "ResizeBicubic";
  if (type == "ResizeArea") {
    const Ints &from = g.op.inputs[0].dims;
    Ints dims = isLast ? Ints{from[0], from[3], from[1], from[2]} : from;
    const std::string floats = g.fresh();
    Graph::setInt(g.node("Cast", {image}, {floats}), "to", onnx::TensorProto::FLOAT);
    const std::string rows = areaOfAxis(g, floats, dims, 2, plane[0], alignCorners);
    dims[2] = plane[0];
    return finishResize(g, areaOfAxis(g, rows, dims, 3, plane[1], alignCorners),
                        onnx::TensorProto::FLOAT);
  }
  const std::string result = g.fresh();
  auto &node = g.node("Resize", {image, "", "", g.addInts(sizes)}, {result});
  Graph::setText(node, "mode", isNearest ? "nearest" : isCubic ? "cubic" : "linear");
  Graph::setText(node, "coordinate_transformation_mode",
                 alignCorners ? "align_corners"
                 : isHalf     ? "half_pixel"
                              : "asymmetric");
  // From the centres of pixels the nearest one is floor((i + 0.5) * scale): ONNX subtracts a half.
  if (isNearest)
    Graph::setText(node, "nearest_mode", alignCorners || isHalf ? "round_prefer_ceil" : "floor");
  // From the centres, pixels outside do not count.
  if (isCubic && isHalf) {
    Graph::setFloat(node, "cubic_coeff_a", -0.5);
    Graph::setInt(node, "exclude_outside", 1);
  }
  finishResize(g, result,
               isNearest ? onnxType(g.op.outputs[0].type) : onnxType(g.op.inputs[0].type));
}

} // namespace

ArrayRef<OperatorRow> neuralRows() {
  static constexpr OperatorRow rows[] = {
      {"Adds", 1, buildAdds},
      {"Axpy", 2, buildAxpy},
      {"BNInfer", 5, buildBNInfer},
      {"BNInference", 4, buildBNInference},
      {"BNInferenceD", 4, buildBNInference},
      {"BatchNorm", 5, buildBatchNorm},
      {"Conv2DTranspose", 2, buildTransposedConv},
      {"Conv2DTransposeD", 2, buildTransposedConv},
      {"Deconvolution", 2, buildTransposedConv},
      {"Eltwise", 1, buildEltwise},
      {"FullyConnection", 2, buildFullyConnection},
      {"GemmaRmsNorm", 2, buildRmsNorm},
      {"InstanceNorm", 3, buildInstanceNorm},
      {"L2Normalize", 1, buildL2Normalize},
      {"LRN", 1, buildLRN},
      {"LayerNorm", 3, buildLayerNorm},
      {"LayerNormV3", 3, buildLayerNorm},
      {"Muls", 1, buildMuls},
      {"PRelu", 2, buildPRelu},
      {"Power", 1, buildPower},
      {"ResizeArea", 1, buildResize},
      {"ResizeBicubic", 1, buildResize},
      {"ResizeBilinear", 1, buildResize},
      {"ResizeBilinearV2", 1, buildResize},
      {"ResizeBilinearV2D", 1, buildResize},
      {"ResizeNearestNeighborV2", 1, buildResize},
      {"ResizeNearestNeighborV2D", 1, buildResize},
      {"RmsNorm", 2, buildRmsNorm},
  };
  return rows;
}

} // namespace atc::single_op
