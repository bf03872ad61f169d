//===-- SingleOpMovement.cpp - movement of elements as ONNX models --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts, copies and indices by attributes or constant inputs, in the forms of the Ascend
// toolchain. One row per operator: its name and the function that builds its nodes.

#include "frontends/SliceEnds.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

void buildSplit(Graph &g) {
  const bool isV = StringRef(g.op.type).starts_with("SplitV");
  // Split has the axis in front of the tensor, SplitV the sizes and the axis behind it.
  const bool isFirst = g.op.type == "Split";
  const size_t data = isFirst ? 1 : 0;
  if (!g.needs(data + 1))
    return;
  const Ints axis = g.getIntsOfInput(isFirst ? 0 : 2, "split_dim");
  Ints sizes = isV ? g.getConstantInts(1, "size_splits") : Ints();
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
  const Ints begin = g.getIntsOfInput(1, "begin");
  Ints end = g.getIntsOfInput(2, "end"), strides = g.getConstantInts(3, "strides");
  for (const char *mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"})
    if (g.getInt(mask, 0) != 0)
      return g.fail("\"" + Twine(mask) + "\" must be 0: write the bounds themselves");
  if (begin.empty() || begin.size() != end.size() ||
      (!strides.empty() && strides.size() != begin.size()))
    return g.fail("\"begin\", \"end\" and \"strides\" must have equal lengths");
  const int64_t shrinks = g.getInt("shrink_axis_mask", 0);
  Ints axes, gone;
  for (size_t i = 0; i < begin.size(); ++i) {
    axes.push_back(i);
    end[i] = std::min(end[i], maxSliceEnd(strides.empty() ? 1 : strides[i]));
    if (i >= 63 || !(shrinks >> i & 1))
      continue;
    // One element, whatever the end and the stride are.
    gone.push_back(i);
    constexpr int64_t toEnd = std::numeric_limits<int64_t>::max();
    end[i] = begin[i] == -1 || begin[i] == toEnd ? toEnd : begin[i] + 1;
    if (!strides.empty())
      strides[i] = 1;
  }
  Names inputs = {g.x[0], g.addInts(begin), g.addInts(end), g.addInts(axes)};
  if (!strides.empty())
    inputs.push_back(g.addInts(strides));
  const std::string part = g.value("Slice", inputs);
  g.finish(gone.empty() ? part : g.value("Squeeze", {part, g.addInts(gone)}));
}

/// Takes `size` elements from `offsets` on along each dim; a size of -1 takes the rest.
void buildSlice(Graph &g) {
  const Ints starts = g.getIntsOfInput(1, "offsets"), sizes = g.getIntsOfInput(2, "size");
  if (g.x.size() > 2 && starts.empty() && sizes.empty()) {
    Names bounds;
    for (size_t i : {1, 2}) {
      bounds.push_back(g.fresh());
      Graph::setInt(g.node("Cast", {g.x[i]}, {bounds.back()}), "to", onnx::TensorProto::INT64);
    }
    const std::string isRest = g.value("Less", {bounds[1], g.addInts({0})});
    const std::string end = g.value("Add", {bounds[0], bounds[1]});
    return g.finish(g.value(
        "Slice", {g.x[0], bounds[0], g.value("Where", {isRest, g.addInts({INT64_MAX}), end})}));
  }
  if (starts.size() != sizes.size() || starts.empty())
    return g.fail("\"offsets\" and \"size\" must have equal lengths");
  Ints ends;
  for (auto [start, size] : zip(starts, sizes))
    ends.push_back(size < 0 ? INT64_MAX : start + size);
  g.finish(g.value("Slice", {g.x[0], g.addInts(starts), g.addInts(ends)}));
}

/// Pads each dim by a pair of numbers, in front and behind.
void buildPad(Graph &g) {
  Ints pairs = g.getIntsOfInput(1, "paddings");
  if (const auto *list = g.find("paddings"); pairs.empty() && list && list->is_array())
    for (const auto &pair : *list)
      for (const auto &number : pair)
        pairs.push_back(number.is_number_integer() ? number.get<int64_t>() : 0);
  const size_t rank = g.op.inputs[0].dims.size();
  if (pairs.size() != 2 * rank)
    return g.fail(
        "\"paddings\" must be an attribute or a constant input with a pair of numbers per dim");
  Ints pads(2 * rank);
  // Pairs of a dim, or first the numbers in front of all dims.
  const bool isOfDims = !g.find("paddings_contiguous") || g.getBool("paddings_contiguous");
  for (size_t i = 0; i < pairs.size(); ++i)
    pads[isOfDims ? i % 2 * rank + i / 2 : i] = pairs[i];
  Names inputs = {g.x[0], g.addInts(pads)};
  if (g.x.size() > 2 && !g.x[2].empty())
    inputs.push_back(g.reshape(g.x[2], {}));
  else if (const double value = g.getFloat("constant_values", 0); value != 0)
    inputs.push_back(g.addScalar(value));
  Graph::setText(g.node("Pad", inputs, {g.y[0]}), "mode", g.getText("mode", "constant"));
}

void buildReverse(Graph &g) {
  const Ints axes = g.getIntsOfInput(1, "axis");
  if (axes.empty())
    return g.fail("\"axis\" must be an attribute or a constant input");
  const Ints last(axes.size(), -1);
  g.finish(g.value("Slice", {g.x[0], g.addInts(last), g.addInts(Ints(axes.size(), INT64_MIN)),
                             g.addInts(axes), g.addInts(last)}));
}

void buildReverseSequence(Graph &g) {
  const std::string lengths = g.fresh();
  Graph::setInt(g.node("Cast", {g.x[1]}, {lengths}), "to", onnx::TensorProto::INT64);
  auto &node = g.node("ReverseSequence", {g.x[0], lengths}, {g.y[0]});
  Graph::setInt(node, "time_axis", g.getInt("seq_dim", g.getInt("time_axis", 0)));
  Graph::setInt(node, "batch_axis", g.getInt("batch_dim", g.getInt("batch_axis", 0)));
}

/// Cuts a part as large as the second input out of the first one, from `axis` on.
void buildCrop(Graph &g) {
  const Ints &from = g.op.inputs[0].dims, &to = g.op.outputs[0].dims;
  const int64_t axis = g.axisOf(g.getInt("axis", 2));
  if (axis < 0)
    return;
  Ints begin = g.getInts("offsets", {}), end, axes;
  const size_t count = from.size() - size_t(axis);
  if (begin.size() == 1)
    begin.resize(count, begin[0]); // one for all dims
  if (begin.size() != count || to.size() != from.size())
    return g.fail("\"offsets\" must have one number, or one for each dim from \"axis\" on, and the "
                  "result as many dims as the input");
  for (size_t i = 0; i < count; ++i) {
    const size_t dim = size_t(axis) + i;
    if (begin[i] < 0 || begin[i] + to[dim] > from[dim])
      return g.fail("\"offsets\" and the result's dims lead out of the input");
    axes.push_back(int64_t(dim));
    end.push_back(begin[i] + to[dim]);
  }
  g.finish(g.value("Slice", {g.x[0], g.addInts(begin), g.addInts(end), g.addInts(axes)}));
}

void buildPermute(Graph &g) {
  const Ints order = g.getInts("order", {});
  if (order.size() != g.op.inputs[0].dims.size())
    return g.fail("\"order\" must name each dim of the input once");
  g.finish(g.transpose(g.x[0], order));
}

/// Repeats each pixel, and multiplies it by `scale`.
void buildUpsample(Graph &g) {
  const Ints &dims = g.op.inputs[0].dims, &end = g.op.outputs[0].dims;
  if (dims.size() != 4 || g.op.inputs[0].format == kNHWC)
    return g.fail("the input must have 4 dims, NCHW");
  const int64_t rows = g.getInt("stride_h", 2), columns = g.getInt("stride_w", 2);
  if (rows < 1 || columns < 1)
    return g.fail("\"stride_h\" and \"stride_w\" must be positive numbers");
  const std::string cells = g.reshape(g.x[0], {dims[0], dims[1], dims[2], 1, dims[3], 1});
  const std::string spread =
      g.value("Expand", {cells, g.addInts({dims[0], dims[1], dims[2], rows, dims[3], columns})});
  const std::string result = g.reshape(spread, end);
  const double scale = g.getFloat("scale", 1);
  g.finish(scale == 1 ? result : g.value("Mul", {result, g.addScalar(scale)}));
}

/// Moves blocks between the channels and the image.
void buildBlocks(Graph &g) {
  const int64_t size = g.getInt("block_size", g.getInt("blocksize", 0));
  if (size < 1)
    return g.fail("\"block_size\" must be a positive number");
  const std::string result = g.fresh();
  auto &node = g.node(g.op.type, {g.image()}, {result});
  Graph::setInt(node, "blocksize", size);
  if (g.op.type == "DepthToSpace")
    Graph::setText(node, "mode", g.getText("mode", "DCR"));
  g.finishImage(result);
}

void buildBroadcast(Graph &g) {
  g.knows({"shape"}); // the dims of the result are given, too
  g.finish(g.value("Expand", {g.x[0], g.addInts(g.op.outputs[0].dims)}));
}

/// Makes a tensor of one value in the dims of the result: of an input, or of the name.
void buildFilled(Graph &g) {
  const StringRef type = g.op.type;
  const bool isFill = type.starts_with("Fill");
  g.knows({"dims"});
  if (isFill && !g.needs(type == "Fill" ? 2 : 1))
    return;
  const std::string value =
      isFill ? g.x[type == "Fill" ? 1 : 0] : g.addScalar(type == "OnesLike" ? 1 : 0);
  const std::string dims = isFill ? g.addInts(g.op.outputs[0].dims) : g.value("Shape", {g.x[0]});
  g.finish(g.value("Expand", {value, dims}));
}

/// Keeps the lower or upper triangle of matrices, from a diagonal on.
void buildTriangle(Graph &g) {
  auto &node =
      g.node("Trilu", {g.x[0], g.reshape(g.addInts({g.getInt("diagonal", 0)}), {})}, {g.y[0]});
  Graph::setInt(node, "upper", g.op.type == "Triu");
}

/// Results: the index of the largest or smallest element along a dim, and that element.
void buildArgWithValue(Graph &g) {
  const bool isMax = StringRef(g.op.type).starts_with("ArgMax");
  const int64_t axis = g.getInt("dimension", 0), keeps = g.getBool("keep_dims");
  const std::string index = g.fresh();
  auto &position = g.node(isMax ? "ArgMax" : "ArgMin", {g.x[0]}, {index});
  Graph::setInt(position, "axis", axis);
  Graph::setInt(position, "keepdims", keeps);
  Graph::setInt(g.node("Cast", {index}, {g.y[0]}), "to", onnxType(g.op.outputs[0].type));
  if (g.y.size() < 2)
    return;
  auto &best = g.node(isMax ? "ReduceMax" : "ReduceMin", {g.x[0], g.addInts({axis})}, {g.y[1]});
  Graph::setInt(best, "keepdims", keeps);
}

/// Takes an element per index along one dim.
void buildGatherElements(Graph &g) {
  const bool isInput = g.op.type == "GatherD"; // x, dim, index
  if (!g.needs(isInput ? 3 : 2))
    return;
  const Ints axis =
      isInput ? g.getConstantInts(1, "dim") : Ints{g.getInt("dim", g.getInt("axis", 0))};
  auto &node = g.node("GatherElements", {g.x[0], g.x[isInput ? 2 : 1]}, {g.y[0]});
  Graph::setInt(node, "axis", axis.empty() ? 0 : axis[0]);
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
  const Ints axis = g.getConstantInts(1, "axis");
  auto &node = g.node("CumSum", {g.x[0], g.addInts({axis.empty() ? 0 : axis[0]})}, {g.y[0]});
  Graph::setInt(node, "exclusive", g.getBool("exclusive"));
  Graph::setInt(node, "reverse", g.getBool("reverse"));
}

/// The count is a constant input, an attribute, or what the file says of the result. Input 1 of
/// TopKD is a table for the vendor's kernels.
void buildTopK(Graph &g) {
  const int64_t axis = g.axisOf(g.getInt("dim", -1));
  if (axis < 0)
    return;
  Ints count = g.op.type == "TopKD" ? g.getInts("k", {}) : g.getIntsOfInput(1, "k");
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

} // namespace

ArrayRef<OperatorRow> movementRows() {
  static constexpr OperatorRow rows[] = {
      {"ArgMaxWithValue", 1, buildArgWithValue},
      {"ArgMinWithValue", 1, buildArgWithValue},
      {"BroadcastTo", 1, buildBroadcast},
      {"BroadcastToD", 1, buildBroadcast},
      {"Crop", 2, buildCrop},
      {"Cumsum", 1, buildCumsum},
      {"CumsumD", 1, buildCumsum},
      {"DepthToSpace", 1, buildBlocks},
      {"Expand", 1, buildBroadcast},
      {"ExpandD", 1, buildBroadcast},
      {"Fill", 1, buildFilled},
      {"FillD", 1, buildFilled},
      {"GatherD", 1, buildGatherElements},
      {"GatherElements", 1, buildGatherElements},
      {"GatherNd", 2, buildGatherNd},
      {"OneHot", 2, buildOneHot},
      {"OneHotD", 2, buildOneHot},
      {"OnesLike", 1, buildFilled},
      {"Pack", 1, buildPack},
      {"Pad", 1, buildPad},
      {"PadD", 1, buildPad},
      {"PadV3", 1, buildPad},
      {"PadV3D", 1, buildPad},
      {"Permute", 1, buildPermute},
      {"ReverseSequence", 2, buildReverseSequence},
      {"ReverseV2", 1, buildReverse},
      {"ReverseV2D", 1, buildReverse},
      {"ScatterNdAdd", 3, buildScatterNd},
      {"ScatterNdUpdate", 3, buildScatterNd},
      {"Slice", 1, buildSlice},
      {"SliceD", 1, buildSlice},
      {"SpaceToDepth", 1, buildBlocks},
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
      {"Tril", 1, buildTriangle},
      {"Triu", 1, buildTriangle},
      {"Unpack", 1, buildUnpack},
      {"Upsample", 1, buildUpsample},
      {"ZerosLike", 1, buildFilled},
  };
  return rows;
}

} // namespace atc::single_op
