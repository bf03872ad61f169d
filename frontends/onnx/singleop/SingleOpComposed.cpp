//===-- SingleOpComposed.cpp - operators of many nodes as ONNX models -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of the Ascend toolchain that stand for longer formulas: rotated positions, ranges, a
// Bessel function, cells over time, boxes that suppress each other. One row per operator.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include <algorithm>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

/// Elements that a constant of a row has at most.
constexpr int64_t maxConstant = 1 << 24;

/// Adds a constant of f32, or of the type of input 0 where that is wider; returns its name.
std::string constantLike(Graph &g, const Ints &dims, const std::vector<double> &values) {
  const int type = onnxType(g.op.inputs[0].type);
  const std::string name = g.fresh();
  g.addConstant(name, g.isWide ? int(onnx::TensorProto::FLOAT) : type, dims, values);
  return name;
}

std::string joined(Graph &g, const Names &parts, int64_t axis) {
  const std::string result = g.fresh();
  Graph::setInt(g.node("Concat", parts, {result}), "axis", axis);
  return result;
}

/// Returns the elements from `begin` to `end` along an axis.
std::string partOf(Graph &g, const std::string &input, int64_t axis, int64_t begin, int64_t end) {
  return g.value("Slice", {input, g.addInts({begin}), g.addInts({end}), g.addInts({axis})});
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Returns the polynomial with `coefficients`, of the highest power first, at x.
std::string polynomial(Graph &g, const std::string &x, ArrayRef<double> coefficients) {
  std::string result = g.addScalar(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    result = g.value("Add", {g.value("Mul", {result, x}), g.addScalar(coefficient)});
  return result;
}

/// Computes exp(-|x|) * I0(x) by the polynomials 9.8.1 and 9.8.2 of Abramowitz and Stegun, whose
/// errors are below 2.2e-7 of the result.
void buildBesselI0e(Graph &g) {
  g.widen();
  const std::string size = g.value("Abs", {g.x[0]}), border = g.addScalar(3.75);
  const std::string small = g.value("Div", {g.value("Min", {size, border}), border});
  const std::string large = g.value("Max", {size, border});
  const std::string series =
      polynomial(g, g.value("Mul", {small, small}),
                 {0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0});
  const std::string tail = polynomial(g, g.value("Div", {border, large}),
                                      {0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                                       -0.00157565, 0.00225319, 0.01328592, 0.39894228});
  const std::string inner =
      g.value("Mul", {series, g.value("Exp", {g.value("Neg", {g.value("Min", {size, border})})})});
  const std::string outer = g.value("Div", {tail, g.value("Sqrt", {large})});
  const std::string result = g.value("Where", {g.value("Less", {size, border}), inner, outer});
  // NaN stays what it is on the NPU, too, whose minima and maxima drop it.
  g.finish(g.value("Where", {g.value("IsNaN", {g.x[0]}), g.x[0], result}));
}

/// Makes `num` values from x0 to x1, both included and exact, at equal distances.
void buildLinSpace(Graph &g) {
  const Ints given = g.getConstantInts(2, "num");
  if (given.size() != 1 || given[0] < 1 || given[0] > maxConstant)
    return g.fail("\"num\" must be one number, from 1 to " + Twine(maxConstant));
  g.widen();
  const int64_t count = given[0];
  std::vector<double> shares;
  for (int64_t i = 0; i < count; ++i)
    shares.push_back(count == 1 ? 0 : double(i) / double(count - 1));
  const SingleOpTensor &start = g.op.inputs[0], &stop = g.op.inputs[1];
  if (start.isConstant && stop.isConstant && start.values.size() == 1 && stop.values.size() == 1) {
    const double first = start.values[0], last = stop.values[0];
    for (double &share : shares)
      share = share == 0 ? first : share == 1 ? last : first * (1 - share) + last * share;
    return g.finish(constantLike(g, {count}, shares));
  }
  const std::string first = g.reshape(g.x[0], {1}), last = g.reshape(g.x[1], {1});
  if (count <= 2)
    return g.finish(count == 1 ? first : joined(g, {first, last}, 0));
  // Ends are no sums, and the others are counted from the middle: parts of both ends, which cancel
  // each other there, are of little accuracy where the NPU computes in f16.
  std::vector<double> indices;
  for (double share : ArrayRef(shares).drop_front().drop_back())
    indices.push_back(2 * share - 1);
  const std::string half = constantLike(g, {1}, {0.5});
  const std::string low = g.value("Mul", {first, half}), high = g.value("Mul", {last, half});
  const std::string steps =
      g.value("Mul", {g.value("Sub", {high, low}), constantLike(g, {count - 2}, indices)});
  const std::string between = g.value("Add", {g.value("Add", {low, high}), steps});
  g.finish(joined(g, {first, between, last}, 0));
}

//===----------------------------------------------------------------------===//
// Rotated positions
//===----------------------------------------------------------------------===//

/// Returns x * cos + turned(x) * sin for input `input`, where turned takes pairs (a, b) of the last
/// dim to (-b, a): of its halves, of neighbours, or of the halves of its halves.
std::string rotatedInput(Graph &g, size_t input, StringRef mode) {
  const Ints &dims = g.op.inputs[input].dims;
  const int64_t size = dims.empty() ? 0 : dims.back();
  const int64_t outer = mode == "half" ? 1 : mode == "quarter" ? 2 : size / 2;
  if (size <= 0 || outer == 0 || size % (2 * outer) != 0 ||
      count_if(dims, [](int64_t dim) { return dim < 0; }) > 1) {
    g.fail("the last dim of input " + Twine(input) + " must divide into pairs, not be " +
           Twine(size) + ", and at most one other dim be of any size");
    return {};
  }
  Ints pairs(dims.begin(), dims.end() - 1);
  pairs.insert(pairs.end(), {outer, 2, size / (2 * outer)});
  const auto axis = static_cast<int64_t>(pairs.size()) - 2;
  const std::string given = g.reshape(g.x[input], pairs);
  const std::string first = partOf(g, given, axis, 0, 1), second = partOf(g, given, axis, 1, 2);
  const std::string turned = g.reshape(joined(g, {g.value("Neg", {second}), first}, axis), dims);
  return g.value("Add", {g.value("Mul", {g.x[input], g.x[2]}), g.value("Mul", {turned, g.x[3]})});
}

/// Rotates query and key by cos and sin, whose dims broadcast to theirs in any layout.
void buildApplyRotaryPosEmb(Graph &g) {
  const std::string mode = g.getText("rotary_mode", "half");
  if (mode != "half" && mode != "interleave" && mode != "quarter")
    return g.fail("\"rotary_mode\" must be half, interleave or quarter, not " + mode);
  g.knows({"layout"});
  if (g.y.size() != 2)
    return g.fail("it has the outputs query and key");
  g.widen();
  for (size_t i = 0; i < 2; ++i)
    if (const std::string result = rotatedInput(g, i, mode); !result.empty())
      g.write(i, result);
}

//===----------------------------------------------------------------------===//
// Cells over time
//===----------------------------------------------------------------------===//

/// Steps that are written out as nodes: each has about fifteen.
constexpr int64_t maxSteps = 512;

/// Computes the steps of an LSTM whose weights of inputs and states are joined, [I + H, 4 H], with
/// the gates i, j, f, o, and writes the states and gates of every step.
void buildDynamicRnn(Graph &g) {
  const Ints &dims = g.op.inputs[0].dims, &weights = g.op.inputs[1].dims;
  if (g.getText("cell_type", "LSTM") != "LSTM" ||
      g.getText("direction", "UNIDIRECTIONAL") != "UNIDIRECTIONAL" ||
      g.getText("activation", "tanh") != "tanh" || g.getInt("cell_depth", 1) != 1 ||
      g.getBool("use_peephole") || g.getFloat("cell_clip", -1) > 0 || g.getInt("num_proj", 0) != 0)
    return g.fail("it must be an LSTM in one direction, of one layer, with tanh and without "
                  "peepholes, clips and projections");
  if (g.find("time_major") && !g.getBool("time_major"))
    return g.fail("\"time_major\" must be true: the input has the dims [steps, batch, features]");
  g.knows({"keep_prob", "is_training"});
  if (dims.size() != 3 || weights.size() != 2 || weights[1] < 4 || weights[1] % 4 != 0 ||
      (dims[2] >= 0 && weights[0] - weights[1] / 4 != dims[2]))
    return g.fail("x must have the dims [steps, batch, I], and w [I + H, 4 H]");
  if (any_of(dims, [](int64_t dim) { return dim < 1; }))
    return g.fail("the dims of x must be stated, each 1 or more: its steps are written out");
  const int64_t steps = dims[0], batch = dims[1], hidden = weights[1] / 4;
  if (batch > maxConstant / hidden)
    return g.fail("its states have " + Twine(batch) + " x " + Twine(hidden) +
                  " elements, but may have " + Twine(maxConstant) + " at most");
  if (steps > maxSteps)
    return g.fail("there are " + Twine(steps) + " steps, but " + Twine(maxSteps) + " at most");
  const std::string order = g.getText("gate_order", "ijfo");
  if (order != "ijfo" && order != "ifjo")
    return g.fail("\"gate_order\" must be ijfo or ifjo, not " + order);
  const auto given = [&](size_t input) { return g.x.size() > input && !g.x[input].empty(); };
  if (given(3) || given(6) || given(7) || given(8) || given(9) || given(10) || given(11))
    return g.fail("of the optional inputs only the bias, init_h and init_c are read");
  // Dims that only a run knows fit.
  const auto fits = [&](size_t input, const Ints &wanted) {
    const Ints &own = g.op.inputs[input].dims;
    return std::equal(own.begin(), own.end(), wanted.begin(), wanted.end(),
                      [](int64_t dim, int64_t want) { return dim < 0 || dim == want; });
  };
  if (given(2) && !fits(2, {4 * hidden}))
    return g.fail("the bias must have the dims [" + Twine(4 * hidden) + "]");
  for (size_t input : {4, 5})
    if (given(input) && !fits(input, {1, batch, hidden}) && !fits(input, {batch, hidden}))
      return g.fail(Twine(input == 4 ? "init_h" : "init_c") + " must have the dims [1, " +
                    Twine(batch) + ", " + Twine(hidden) + "]");
  g.widen();
  const std::string ofInputs = partOf(g, g.x[1], 0, 0, dims[2]);
  const std::string ofStates = partOf(g, g.x[1], 0, dims[2], dims[2] + hidden);
  std::string sums = g.value("MatMul", {g.reshape(g.x[0], {-1, dims[2]}), ofInputs});
  if (given(2))
    sums = g.value("Add", {sums, g.x[2]});
  const std::string zeros =
      constantLike(g, {batch, hidden}, std::vector<double>(size_t(batch * hidden), 0));
  std::string h = given(4) ? g.reshape(g.x[4], {batch, hidden}) : zeros;
  std::string c = given(5) ? g.reshape(g.x[5], {batch, hidden}) : zeros;
  std::vector<Names> results(8); // y, output_h, output_c, i, j, f, o, tanhc
  for (int64_t step = 0; step < steps; ++step) {
    const std::string all = g.value("Add", {partOf(g, sums, 0, step * batch, (step + 1) * batch),
                                            g.value("MatMul", {h, ofStates})});
    const auto gate = [&](char letter) {
      const auto at = static_cast<int64_t>(order.find(letter));
      return partOf(g, all, 1, at * hidden, (at + 1) * hidden);
    };
    const std::string i = g.value("Sigmoid", {gate('i')}), j = g.value("Tanh", {gate('j')});
    std::string kept = gate('f');
    if (const double bias = g.getFloat("forget_bias", 0); bias != 0)
      kept = g.value("Add", {kept, g.addScalar(bias)});
    const std::string f = g.value("Sigmoid", {kept}), o = g.value("Sigmoid", {gate('o')});
    c = g.value("Add", {g.value("Mul", {f, c}), g.value("Mul", {i, j})});
    const std::string squashed = g.value("Tanh", {c});
    h = g.value("Mul", {o, squashed});
    for (auto [list, name] : zip(results, Names{h, h, c, i, j, f, o, squashed}))
      list.push_back(name);
  }
  for (size_t output = 0; output < std::min(g.y.size(), results.size()); ++output)
    g.write(output, g.reshape(joined(g, results[output], 0), {steps, batch, hidden}));
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Checks what the node of the same meaning, BatchMultiClassNMS, takes for granted.
void buildBatchMultiClassNms(Graph &g) {
  const Ints &boxes = g.op.inputs[0].dims, &scores = g.op.inputs[1].dims;
  const auto differ = [](int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; };
  if (boxes.size() != 4 || scores.size() != 3 || boxes[3] != 4 || differ(boxes[0], scores[0]) ||
      differ(boxes[1], scores[1]) || (boxes[2] != 1 && differ(boxes[2], scores[2])))
    return g.fail("boxes must have the dims [batch, count, 1 or classes, 4], and scores [batch, "
                  "count, classes]");
  const auto isGiven = [&](size_t input) { return g.x.size() > input && !g.x[input].empty(); };
  if (isGiven(2) || isGiven(3) || g.getBool("change_coordinate_frame") ||
      g.getBool("transpose_box"))
    return g.fail("clip_window, num_valid_boxes, \"change_coordinate_frame\" and "
                  "\"transpose_box\" are not supported: clip and transpose the boxes before");
  g.knows({"image_size"});
  const int64_t total = g.getInt("max_total_size", 0), each = g.getInt("max_size_per_class", 0);
  if (total < 1 || each < 1 || g.y.size() != 4)
    return g.fail("\"max_size_per_class\" and \"max_total_size\" must be 1 or more, and the "
                  "outputs be boxes, scores, classes and how many there are");
  const Names results = {g.fresh(), g.fresh(), g.fresh(), g.fresh()};
  onnx::NodeProto &node = g.node("BatchMultiClassNMS", {g.x[0], g.x[1]}, results);
  Graph::setInt(node, "max_total_size", total);
  Graph::setInt(node, "max_size_per_class", each);
  Graph::setFloat(node, "iou_threshold", g.getFloat("iou_threshold", 0.5));
  Graph::setFloat(node, "score_threshold", g.getFloat("score_threshold", 0));
  for (size_t i = 0; i < 4; ++i)
    Graph::setInt(g.node("Cast", {g.reshape(results[i], g.op.outputs[i].dims)}, {g.y[i]}), "to",
                  onnxType(g.op.outputs[i].type));
}

} // namespace

ArrayRef<OperatorRow> composedRows() {
  static constexpr OperatorRow rows[] = {
      {"ApplyRotaryPosEmb", 4, buildApplyRotaryPosEmb},
      {"BatchMultiClassNonMaxSuppression", 2, buildBatchMultiClassNms},
      {"BesselI0e", 1, buildBesselI0e},
      {"DynamicRNN", 2, buildDynamicRnn},
      {"LinSpace", 2, buildLinSpace},
      {"LinSpaceD", 2, buildLinSpace},
  };
  return rows;
}

} // namespace atc::single_op
