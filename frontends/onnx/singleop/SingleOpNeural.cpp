//===-- SingleOpNeural.cpp - further operators as ONNX models -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms, layers, resizes and the movement of elements by attributes, in the forms of the Ascend
// toolchain. One row per operator: its name and the function that builds its nodes.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

int64_t rankOf(const Graph &g, size_t input) {
  return static_cast<int64_t>(g.op.inputs[input].dims.size());
}

/// Returns an axis of input 0, counted from the front; -1 after an error.
int64_t axisOf(Graph &g, int64_t axis) {
  const int64_t rank = rankOf(g, 0);
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  g.fail("the axis " + Twine(axis) + " is none of the " + Twine(rank) + " dims of the input");
  return -1;
}

/// Returns the position of the channels of input 0 in its format.
int64_t channelAxis(const Graph &g) {
  const int64_t rank = rankOf(g, 0);
  return rank < 2 || g.op.inputs[0].format == kNHWC ? rank - 1 : 1;
}

/// Reshapes a vector to the dims in which it broadcasts along the channels of input 0.
std::string alongChannels(Graph &g, size_t input) {
  const Ints &dims = g.op.inputs[input].dims;
  if (dims.size() != 1)
    return g.x[input];
  Ints shape(std::max<int64_t>(rankOf(g, 0), 1), 1);
  shape[std::max<int64_t>(channelAxis(g), 0)] = dims[0];
  return g.reshape(g.x[input], shape);
}

/// Returns the input as NCHW.
std::string image(Graph &g) {
  return g.op.inputs[0].format == kNHWC ? g.transpose(g.x[0], {0, 3, 1, 2}) : g.x[0];
}

void finishImage(Graph &g, const std::string &result) {
  g.finish(g.op.outputs[0].format == kNHWC ? g.transpose(result, {0, 2, 3, 1}) : result);
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
  std::string result = g.x[0];
  for (size_t i = 1; i < g.x.size(); ++i)
    result = g.value(modes[mode], {result, g.x[i]});
  g.finish(result);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Inputs: x, scale, offset, mean, variance.
void buildBNInfer(Graph &g) {
  const std::string result = g.fresh();
  auto &node = g.node("BatchNormalization", {image(g), g.x[1], g.x[2], g.x[3], g.x[4]}, {result});
  Graph::setFloat(node, "epsilon", g.getFloat("epsilon", 1e-4));
  finishImage(g, result);
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

/// Results: y, and mean and variance where the file describes them.
void buildLayerNorm(Graph &g) {
  const int64_t axis = axisOf(g, g.getInt("begin_norm_axis", 0));
  if (axis < 0)
    return;
  const double epsilon = g.getFloat("epsilon", 1e-7);
  Ints axes;
  for (int64_t i = axis; i < rankOf(g, 0); ++i)
    axes.push_back(i);
  auto &node = g.node("LayerNormalization", {g.x[0], g.x[1], g.x[2]}, {g.y[0]});
  Graph::setInt(node, "axis", axis);
  Graph::setFloat(node, "epsilon", epsilon);
  if (g.y.size() < 2)
    return;
  const std::string mean = g.value("ReduceMean", {g.x[0], g.addInts(axes)});
  g.node("Identity", {mean}, {g.y[1]});
  if (g.y.size() < 3)
    return;
  const std::string difference = g.value("Sub", {g.x[0], mean});
  const std::string square = g.value("Mul", {difference, difference});
  g.node("Identity", {g.value("ReduceMean", {square, g.addInts(axes)})}, {g.y[2]});
}

void buildL2Normalize(Graph &g) {
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
  const int64_t axis = axisOf(g, g.getInt("axis", 1));
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

void buildResize(Graph &g) {
  const StringRef type = g.op.type;
  const Ints &to = g.op.outputs[0].dims;
  if (rankOf(g, 0) != 4 || to.size() != 4)
    return g.fail("the input and the result must have 4 dims");
  const bool isLast = g.op.inputs[0].format == kNHWC;
  const Ints sizes = isLast ? Ints{to[0], to[3], to[1], to[2]} : to;
  const std::string result = g.fresh();
  auto &node = g.node("Resize", {image(g), "", "", g.addInts(sizes)}, {result});
  const bool isNearest = type.starts_with("ResizeNearest");
  Graph::setText(node, "mode", isNearest ? "nearest" : "linear");
  Graph::setText(node, "coordinate_transformation_mode",
                 g.getBool("align_corners")        ? "align_corners"
                 : g.getBool("half_pixel_centers") ? "half_pixel"
                                                   : "asymmetric");
  if (isNearest)
    Graph::setText(node, "nearest_mode",
                   g.getBool("align_corners") ? "round_prefer_ceil" : "floor");
  finishImage(g, result);
}

//===----------------------------------------------------------------------===//
// Movement of elements
//===----------------------------------------------------------------------===//

void buildSplit(Graph &g) {
  const bool isV = StringRef(g.op.type).starts_with("SplitV");
  // Split has the axis in front of the tensor, SplitV the sizes and the axis behind it.
  const bool isFirst = g.op.type == "Split";
  const size_t data = isFirst ? 1 : 0;
  if (!g.needs(data + 1))
    return;
  const Ints axis = g.getIntsOfInput(isFirst ? 0 : 2, "split_dim");
  Ints sizes = isV ? g.getIntsOfInput(1, "size_splits") : Ints();
  if (axis.size() != 1)
    return g.fail("\"split_dim\" must be one axis");
  Names inputs = {g.x[data]};
  if (!sizes.empty())
    inputs.push_back(g.addInts(sizes));
  auto &node = g.node("Split", inputs, g.y);
  Graph::setInt(node, "axis", axis[0]);
  if (sizes.empty())
    Graph::setInt(node, "num_outputs", g.y.size());
}

void buildUnpack(Graph &g) {
  const int64_t axis = g.getInt("axis", 0);
  Names parts;
  for (size_t i = 0; i < g.y.size(); ++i)
    parts.push_back(g.fresh());
  auto &node = g.node("Split", {g.x[0]}, parts);
  Graph::setInt(node, "axis", axis);
  Graph::setInt(node, "num_outputs", g.y.size());
  for (auto [part, result] : zip(parts, g.y))
    g.node("Squeeze", {part, g.addInts({axis})}, {result});
}

void buildPack(Graph &g) {
  const int64_t axis = g.getInt("axis", 0);
  Names parts;
  for (const std::string &input : g.x)
    parts.push_back(g.value("Unsqueeze", {input, g.addInts({axis})}));
  Graph::setInt(g.node("Concat", parts, {g.y[0]}), "axis", axis);
}

void buildStridedSlice(Graph &g) {
  const Ints begin = g.getIntsOfInput(1, "begin"), end = g.getIntsOfInput(2, "end");
  const Ints strides = g.getIntsOfInput(3, "strides");
  for (const char *mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"})
    if (g.getInt(mask, 0) != 0)
      return g.fail("\"" + Twine(mask) + "\" must be 0: write the bounds themselves");
  if (begin.empty() || begin.size() != end.size() ||
      (!strides.empty() && strides.size() != begin.size()))
    return g.fail("\"begin\", \"end\" and \"strides\" must have equal lengths");
  Ints axes;
  for (size_t i = 0; i < begin.size(); ++i)
    axes.push_back(i);
  Names inputs = {g.x[0], g.addInts(begin), g.addInts(end), g.addInts(axes)};
  if (!strides.empty())
    inputs.push_back(g.addInts(strides));
  const std::string part = g.value("Slice", inputs);
  g.finish(g.getInt("shrink_axis_mask", 0) ? g.reshape(part, g.op.outputs[0].dims) : part);
}

void buildBroadcast(Graph &g) {
  g.finish(g.value("Expand", {g.x[0], g.addInts(g.op.outputs[0].dims)}));
}

void buildTile(Graph &g) {
  const Ints counts = g.getIntsOfInput(1, "multiples");
  if (counts.size() != g.op.inputs[0].dims.size())
    return g.fail("\"multiples\" must be a constant with a number per dim");
  g.finish(g.value("Tile", {g.x[0], g.addInts(counts)}));
}

/// Inputs: indices, the depth unless it is an attribute, the values for on and off.
void buildOneHot(Graph &g) {
  const bool hasDepth = g.op.type == "OneHot";
  const size_t values = hasDepth ? 2 : 1;
  if (!g.needs(values + 2))
    return;
  const Ints depth = g.getIntsOfInput(hasDepth ? 1 : g.op.inputs.size(), "depth");
  if (depth.size() != 1 || depth[0] < 1)
    return g.fail("\"depth\" must be a constant of 1 or more");
  const std::string off = g.reshape(g.x[values + 1], {1}), on = g.reshape(g.x[values], {1});
  const std::string pair = g.fresh();
  Graph::setInt(g.node("Concat", {off, on}, {pair}), "axis", 0);
  auto &node = g.node("OneHot", {g.x[0], g.addInts(depth), pair}, {g.y[0]});
  Graph::setInt(node, "axis", g.getInt("axis", -1));
}

void buildCumsum(Graph &g) {
  const Ints axis = g.getIntsOfInput(1, "axis");
  auto &node = g.node("CumSum", {g.x[0], g.addInts({axis.empty() ? 0 : axis[0]})}, {g.y[0]});
  Graph::setInt(node, "exclusive", g.getBool("exclusive"));
  Graph::setInt(node, "reverse", g.getBool("reverse"));
}

/// The count is a constant input, an attribute, or what the file says of the result.
void buildTopK(Graph &g) {
  const int64_t axis = axisOf(g, g.getInt("dim", -1));
  if (axis < 0)
    return;
  Ints count = g.getIntsOfInput(1, "k");
  const Ints &result = g.op.outputs[0].dims;
  if (count.empty() && static_cast<int64_t>(result.size()) > axis)
    count = {result[axis]};
  if (count.size() != 1 || count[0] < 1)
    return g.fail("\"k\" must be one positive number");
  const std::string index = g.fresh();
  auto &node = g.node("TopK", {g.x[0], g.addInts(count)}, {g.y[0], index});
  Graph::setInt(node, "axis", axis);
  const auto *largest = g.find("largest");
  Graph::setInt(node, "largest", !largest || g.getBool("largest"));
  Graph::setInt(node, "sorted", 1);
  if (g.y.size() > 1)
    Graph::setInt(g.node("Cast", {index}, {g.y[1]}), "to", onnxType(g.op.outputs[1].type));
}

/// var, indices [n, depth], updates.
void buildScatterNd(Graph &g) {
  const StringRef type = g.op.type;
  const std::string index = g.fresh();
  Graph::setInt(g.node("Cast", {g.x[1]}, {index}), "to", onnx::TensorProto::INT64);
  auto &node = g.node("ScatterND", {g.x[0], index, g.x[2]}, {g.y[0]});
  if (type != "ScatterNdUpdate")
    Graph::setText(node, "reduction", type == "ScatterNdAdd" ? "add" : "none");
}

void buildGatherNd(Graph &g) {
  const std::string index = g.fresh();
  Graph::setInt(g.node("Cast", {g.x[1]}, {index}), "to", onnx::TensorProto::INT64);
  g.node("GatherND", {g.x[0], index}, {g.y[0]});
}

struct Row {
  StringLiteral type;
  size_t inputs; ///< that it reads
  void (*build)(Graph &);
};

constexpr Row rows[] = {
    {"Adds", 1, buildAdds},
    {"Axpy", 2, buildAxpy},
    {"BNInfer", 5, buildBNInfer},
    {"BNInference", 4, buildBNInference},
    {"BNInferenceD", 4, buildBNInference},
    {"BroadcastTo", 1, buildBroadcast},
    {"BroadcastToD", 1, buildBroadcast},
    {"Conv2DTranspose", 2, buildTransposedConv},
    {"Conv2DTransposeD", 2, buildTransposedConv},
    {"Cumsum", 1, buildCumsum},
    {"CumsumD", 1, buildCumsum},
    {"Deconvolution", 2, buildTransposedConv},
    {"Eltwise", 1, buildEltwise},
    {"Expand", 1, buildBroadcast},
    {"ExpandD", 1, buildBroadcast},
    {"FullyConnection", 2, buildFullyConnection},
    {"GatherNd", 2, buildGatherNd},
    {"L2Normalize", 1, buildL2Normalize},
    {"LayerNorm", 3, buildLayerNorm},
    {"LayerNormV3", 3, buildLayerNorm},
    {"Muls", 1, buildMuls},
    {"OneHot", 2, buildOneHot},
    {"OneHotD", 2, buildOneHot},
    {"PRelu", 2, buildPRelu},
    {"Pack", 1, buildPack},
    {"Power", 1, buildPower},
    {"ResizeBilinear", 1, buildResize},
    {"ResizeBilinearV2", 1, buildResize},
    {"ResizeBilinearV2D", 1, buildResize},
    {"ResizeNearestNeighborV2", 1, buildResize},
    {"ResizeNearestNeighborV2D", 1, buildResize},
    {"ScatterNdAdd", 3, buildScatterNd},
    {"ScatterNdUpdate", 3, buildScatterNd},
    {"Split", 1, buildSplit},
    {"SplitD", 1, buildSplit},
    {"SplitV", 1, buildSplit},
    {"SplitVD", 1, buildSplit},
    {"StridedSlice", 1, buildStridedSlice},
    {"StridedSliceD", 1, buildStridedSlice},
    {"Tile", 1, buildTile},
    {"TopK", 1, buildTopK},
    {"TopKD", 1, buildTopK},
    {"TopKV2", 1, buildTopK},
    {"Unpack", 1, buildUnpack},
};

} // namespace

std::vector<std::string> neuralOps() {
  std::vector<std::string> names;
  for (const Row &row : rows)
    names.push_back(row.type.str());
  return names;
}

bool buildNeural(SingleOpGraph &graph) {
  const Row *row = find_if(rows, [&](const Row &row) { return row.type == graph.op.type; });
  if (row == std::end(rows))
    return false;
  if (graph.needs(row->inputs))
    row->build(graph);
  return true;
}

} // namespace atc::single_op
