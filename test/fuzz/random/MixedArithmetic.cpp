//===-- MixedArithmetic.cpp - elementwise operators and reductions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/MixedGraph.h"

#include <cmath>

namespace atc::fuzz {

using onnx::TensorProto;

void MixedMaker::addNode() {
  const Value x = pick();
  const bool isImage = isFloat(x.type) && x.dims.size() >= 3 && x.dims.size() <= 5;
  // Sizes of 0 stop windows.
  const bool hasElements = count(x.dims) > 0;
  switch (below(isImage && hasElements ? 26 : 21)) {
  case 0:
  case 1:
    return addUnary(x);
  case 2:
  case 3:
    return addBinary(x);
  case 4:
    return addCompare(x);
  case 5:
    return addCast(x);
  case 6:
  case 7:
    return addReduction(x);
  case 8:
    return addVariadic(x);
  case 9:
    return addQuantized(x);
  case 10:
    return addMovement(x);
  case 11:
    return addReshape(x);
  case 12:
    return addSlice(x);
  case 13:
    return addPad(x);
  case 14:
    return chance(50) ? addGather(x) : addScatter(x);
  case 15:
    return chance(60) ? addJoin(x) : addSplit(x);
  case 16:
    return addOrder(x);
  case 17:
    return addProduct(x);
  case 18:
    return addNorm(x);
  case 19:
    return chance(50) ? addIf(x) : addLoop(x);
  case 20:
    return chance(50) ? addScan(x) : addSequence(x);
  case 21:
  case 22:
    return addPool(x);
  default:
    return addConv(x);
  }
}

void MixedMaker::addUnary(const Value &x) {
  const bool isSigned = x.type != TensorProto::UINT8 && x.type != TensorProto::BOOL;
  if (x.type == TensorProto::BOOL)
    return void(result(node("Not", {x.name}), x.type, x.dims, 1, 1));
  if (!isFloat(x.type)) {
    static constexpr const char *types[] = {"Abs", "Neg", "Sign", "Identity", "BitwiseNot"};
    const char *type = oneOf(types);
    if ((!isSigned && std::string(type) == "Neg") || (opset < 18 && type[0] == 'B'))
      type = "Identity";
    const double largest = type[0] == 'S' ? 1 : type[0] == 'B' ? x.largest + 1 : x.largest;
    // The complement of an unsigned element is large.
    return void(result(node(type, {x.name}), x.type, x.dims,
                       !isSigned && type[0] == 'B' ? 1e18 : largest, 1));
  }
  if (isExact(x) && chance(40)) {
    static constexpr const char *types[] = {"Abs",   "Neg",  "Relu",  "Identity", "Floor",
                                            "Ceil",  "Sign", "Round", "Clip",     "ThresholdedRelu",
                                            "IsNaN", "PRelu"};
    const std::string type = oneOf(types);
    if (type == "Clip") {
      const Value low = constant(x.type, {}, 1, 0.5), high = constant(x.type, {}, 2, 0.5, true);
      Names inputs{x.name, low.name, high.name};
      if (chance(20))
        inputs[1].clear();
      else if (chance(20))
        inputs.pop_back();
      return void(
          result(node("Clip", inputs), x.type, x.dims, std::max(x.largest, 2.0), x.grain / 4));
    }
    if (type == "IsNaN")
      return void(result(node("IsNaN", {x.name}), TensorProto::BOOL, x.dims, 1, 1));
    if (type == "PRelu") {
      Dims dims = x.dims;
      for (int64_t &dim : dims)
        dim = chance(50) ? 1 : dim;
      const Value slope = constant(x.type, dims, 1, 0.5);
      return void(
          result(node("PRelu", {x.name, slope.name}), x.type, x.dims, x.largest, x.grain / 2));
    }
    const bool whole = type == "Floor" || type == "Ceil" || type == "Round" || type == "Sign";
    onnx::NodeProto &made = node(type.c_str(), {x.name});
    if (type == "ThresholdedRelu")
      setFloat(made, "alpha", 0.5f);
    return void(result(made, x.type, x.dims, whole ? x.largest + 1 : x.largest,
                       whole ? std::max(1.0, x.grain) : x.grain));
  }
  static constexpr const char *types[] = {
      "Sigmoid",   "Tanh",     "Erf",  "Softplus", "LeakyRelu", "HardSigmoid", "Elu",
      "HardSwish", "Softsign", "Selu", "Celu",     "Sin",       "Cos",         "Atan",
      "Asinh",     "Mish",     "Gelu", "Abs",      "Neg",       "Relu"};
  std::string type = oneOf(types);
  if ((type == "Mish" && opset < 18) || (type == "Gelu" && opset < 20))
    type = "Sigmoid";
  // An error of the argument is one of the angle.
  if ((type == "Sin" || type == "Cos") && !isExact(x))
    type = "Tanh";
  result(node(type.c_str(), {x.name}), x.type, x.dims);
}

void MixedMaker::addBinary(const Value &x) {
  if (x.type == TensorProto::BOOL) {
    static constexpr const char *types[] = {"And", "Or", "Xor", "Equal"};
    const Value y = other(x, x.type);
    return void(
        result(node(oneOf(types), {x.name, y.name}), x.type, broadcast(x.dims, y.dims), 1, 1));
  }
  static constexpr const char *types[] = {"Add", "Sub", "Mul", "Max",        "Min",
                                          "Div", "Mod", "Pow", "BitwiseAnd", "BitwiseXor"};
  std::string type = oneOf(types);
  const bool isBits = type[0] == 'B';
  if (isBits && (isFloat(x.type) || opset < 18))
    type = "Add";
  if (type == "Mod" && isFloat(x.type))
    type = "Mul";
  if (type == "Pow") {
    if (!isFloat(x.type) || x.type == TensorProto::DOUBLE)
      type = "Sub";
    else {
      const Value two{numbers(x.type, {}, {2}), x.type, {}};
      return void(result(node("Pow", {x.name, two.name}), x.type, x.dims, x.largest * x.largest,
                         x.grain * x.grain));
    }
  }
  const bool divides = type == "Div" || type == "Mod";
  const Value y = other(x, x.type, divides);
  const Dims dims = broadcast(x.dims, y.dims);
  double largest = std::max(x.largest, y.largest), grain = std::min(x.grain, y.grain);
  if (type == "Add" || type == "Sub")
    largest = x.largest + y.largest;
  if (type == "Mul") {
    largest = x.largest * y.largest;
    grain = x.grain * y.grain;
  }
  if (divides && isFloat(x.type))
    grain = 0;
  // Differences of unsigned elements wrap.
  if (x.type == TensorProto::UINT8 && type == "Sub")
    largest = 1e18;
  if (type[0] == 'B' && !isFloat(x.type))
    largest = 1e18;
  const bool swapped = !divides && chance(50);
  const Names inputs = swapped ? Names{y.name, x.name} : Names{x.name, y.name};
  onnx::NodeProto &made = node(type.c_str(), inputs);
  if (type == "Mod" && chance(40))
    setInt(made, "fmod", 1);
  result(made, x.type, dims, largest, isFloat(x.type) ? grain : 1);
}

void MixedMaker::addCompare(const Value &x) {
  if (!isExact(x) || x.type == TensorProto::BOOL)
    return addUnary(x);
  Value y = other(x, x.type);
  if (!isExact(y))
    y = constant(x.type, {}, 2, isFloat(x.type) ? 0.25 : 1);
  static constexpr const char *types[] = {"Equal", "Greater", "Less", "GreaterOrEqual",
                                          "LessOrEqual"};
  const Dims dims = broadcast(x.dims, y.dims);
  const Value condition =
      result(node(oneOf(types), {x.name, y.name}), TensorProto::BOOL, dims, 1, 1);
  if (chance(40))
    return;
  const Value z = other(condition, x.type);
  result(chance(50) ? node("Where", {condition.name, x.name, z.name})
                    : node("Where", {condition.name, z.name, x.name}),
         x.type, broadcast(dims, z.dims), std::max(x.largest, z.largest),
         std::min(x.grain, z.grain));
}

void MixedMaker::addCast(const Value &x) {
  static constexpr int types[] = {TensorProto::FLOAT,  TensorProto::FLOAT, TensorProto::FLOAT16,
                                  TensorProto::DOUBLE, TensorProto::INT32, TensorProto::INT64,
                                  TensorProto::INT8,   TensorProto::BOOL,  TensorProto::UINT8};
  int type = oneOf(types);
  const bool isNegative = x.type != TensorProto::UINT8 && x.type != TensorProto::BOOL;
  if (!isFloat(type) && !isExact(x))
    type = TensorProto::FLOAT;
  if (type == TensorProto::UINT8 && isNegative && isFloat(x.type))
    type = TensorProto::INT32;
  if (x.largest > limitOf(type) && type != TensorProto::BOOL)
    type = x.type;
  onnx::NodeProto &made = node("Cast", {x.name});
  setInt(made, "to", type);
  // Integers that may have wrapped are not small.
  const double largest = type == TensorProto::BOOL ? 1 : x.largest;
  const bool wraps = type == TensorProto::UINT8 && isNegative;
  result(made, type, x.dims, wraps ? 1e18 : largest,
         isFloat(type) ? (isFloat(x.type) ? x.grain : 1) : 1);
}

void MixedMaker::addReduction(const Value &x) {
  if (x.type == TensorProto::BOOL || !count(x.dims))
    return addMovement(x);
  const int64_t rank = int64_t(x.dims.size());
  if (rank > 0 && isExact(x) && x.type != TensorProto::INT64 && chance(25)) {
    const int64_t axis = below(rank);
    onnx::NodeProto &made = node(chance(50) ? "ArgMax" : "ArgMin", {x.name});
    setInt(made, "axis", chance(50) ? axis : axis - rank);
    const bool keep = chance(50);
    setInt(made, "keepdims", keep);
    if (chance(50))
      setInt(made, "select_last_index", 1);
    Dims dims = x.dims;
    dims[size_t(axis)] = 1;
    if (!keep)
      dims.erase(dims.begin() + axis);
    return void(result(made, TensorProto::INT64, dims, 20, 1));
  }
  static constexpr const char *types[] = {"ReduceSum",       "ReduceMax",  "ReduceMin",
                                          "ReduceProd",      "ReduceMean", "ReduceL1",
                                          "ReduceSumSquare", "ReduceL2",   "ReduceLogSumExp"};
  std::string type = types[below(isFloat(x.type) ? 9 : 4)];
  // Products of hundreds of factors leave every range on the way, in an order that is free.
  constexpr int64_t kMaxFactors = 64;
  int64_t elements = 1;
  for (int64_t dim : x.dims)
    elements *= dim;
  if (type == "ReduceProd" && elements > kMaxFactors)
    type = "ReduceSum";
  if ((x.type == TensorProto::UINT8 || x.type == TensorProto::INT8) && type != "ReduceMax" &&
      type != "ReduceMin")
    return addCast(x);
  Dims axes;
  for (int64_t i = 0; i < rank; ++i)
    if (chance(45))
      axes.push_back(chance(40) ? i - rank : i);
  std::shuffle(axes.begin(), axes.end(), random);
  Names inputs{x.name};
  const bool isInput = opset >= 18 || type == "ReduceSum";
  // An empty list means all axes, as does no list.
  const bool empty = axes.empty(), given = !empty || (isInput && chance(50));
  const bool nothing = empty && isInput && chance(50);
  if (isInput && given)
    inputs.push_back(integers(axes));
  onnx::NodeProto &made = node(type.c_str(), inputs);
  if (!isInput && given)
    setInts(made, "axes", axes);
  const bool keep = chance(50);
  setInt(made, "keepdims", keep);
  if (nothing)
    setInt(made, "noop_with_empty_axes", 1);
  std::vector<bool> reduced(size_t(rank), empty && !nothing);
  for (int64_t axis : axes)
    reduced[size_t(axis < 0 ? axis + rank : axis)] = true;
  Dims dims;
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (!reduced[i])
      dims.push_back(x.dims[i]);
    else if (keep)
      dims.push_back(1);
  if (type == "ReduceMax" || type == "ReduceMin")
    return void(result(made, x.type, dims, x.largest, x.grain));
  const double terms = double(count(x.dims)) / double(std::max<int64_t>(1, count(dims)));
  const bool isSum = type == "ReduceSum";
  result(made, x.type, dims, isSum ? x.largest * terms : 1e18, isSum ? x.grain : 0);
}

void MixedMaker::addVariadic(const Value &x) {
  if (!isFloat(x.type))
    return addBinary(x);
  static constexpr const char *types[] = {"Sum", "Mean", "Max", "Min"};
  const std::string type = oneOf(types);
  Names inputs{x.name};
  Dims dims = x.dims;
  double largest = x.largest, grain = x.grain;
  for (int64_t i = below(4); i > 0; --i) {
    const Value y = other({"", x.type, dims}, x.type);
    inputs.push_back(y.name);
    dims = broadcast(dims, y.dims);
    largest = type == "Sum" ? largest + y.largest : std::max(largest, y.largest);
    grain = std::min(grain, y.grain);
  }
  result(node(type.c_str(), inputs), x.type, dims, largest, type == "Mean" ? 0 : grain);
}

void MixedMaker::addQuantized(const Value &x) {
  const int64_t rank = int64_t(x.dims.size());
  const bool isByte = x.type == TensorProto::UINT8 || x.type == TensorProto::INT8;
  if (isByte || x.type == TensorProto::INT32) {
    // Scales are powers of two, so that quotients are exact.
    const std::string scale = numbers(TensorProto::FLOAT, {}, {0.125});
    Names inputs{x.name, scale};
    if (isByte && chance(50))
      inputs.push_back(numbers(x.type, {}, {double(below(6))}));
    if (x.largest > 255)
      return addUnary(x);
    return void(result(node("DequantizeLinear", inputs), TensorProto::FLOAT, x.dims,
                       (x.largest + 5) * 0.125, 0.125));
  }
  if (x.type != TensorProto::FLOAT || !isExact(x))
    return addUnary(x);
  const int type = chance(50) ? TensorProto::UINT8 : TensorProto::INT8;
  const bool perAxis = rank > 0 && chance(40);
  const int64_t axis = perAxis ? below(rank) : 0;
  const Dims dims = perAxis ? Dims{x.dims[size_t(axis)]} : Dims{};
  std::vector<double> scales(size_t(count(dims))), points(scales.size());
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = std::ldexp(1.0, -int(below(4)));
    points[i] = double(below(7));
  }
  const Names inputs{x.name, numbers(TensorProto::FLOAT, dims, scales),
                     numbers(type, dims, points)};
  onnx::NodeProto &made = node("QuantizeLinear", inputs);
  if (perAxis)
    setInt(made, "axis", chance(50) ? axis : axis - rank);
  const Value quantized = result(made, type, x.dims, 255, 1);
  if (chance(30))
    return;
  onnx::NodeProto &back = node("DequantizeLinear", {quantized.name, inputs[1], inputs[2]});
  if (perAxis)
    setInt(back, "axis", axis);
  result(back, TensorProto::FLOAT, x.dims, 262, 0.125);
}

} // namespace atc::fuzz
