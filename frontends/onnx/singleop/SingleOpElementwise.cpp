//===-- SingleOpElementwise.cpp - formulas that ONNX has not --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators of the Ascend toolchain without an equal ONNX operator: some have its name
// and another formula (Mod, HardSigmoid, FastGelu). One row per operator.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <numbers>

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

bool isInteger(const Graph &g) {
  return !is_contained({0, 1, 11, 27}, g.op.inputs[0].type); // float, float16, double, bfloat16
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

/// Computes what is left of a division, with the sign of the dividend (fmod) or of the divisor.
std::string integerRemainder(Graph &g, bool hasSignOfDividend) {
  const std::string result = g.fresh();
  Graph::setInt(g.node("Mod", {g.x[0], g.x[1]}, {result}), "fmod", hasSignOfDividend);
  return result;
}

/// Rounds towards 0.
std::string truncate(Graph &g, const std::string &x) {
  return g.value("Mul", {g.value("Sign", {x}), g.value("Floor", {g.value("Abs", {x})})});
}

std::string floatQuotient(Graph &g, bool isTruncated) {
  const std::string quotient = g.value("Div", {g.x[0], g.x[1]});
  return isTruncated ? truncate(g, quotient) : g.value("Floor", {quotient});
}

void buildRemainder(Graph &g, bool isTruncated) {
  if (isInteger(g))
    return g.finish(integerRemainder(g, isTruncated));
  g.finish(g.value("Sub", {g.x[0], g.value("Mul", {floatQuotient(g, isTruncated), g.x[1]})}));
}
void buildMod(Graph &g) { buildRemainder(g, true); }
void buildFloorMod(Graph &g) { buildRemainder(g, false); }

void buildFloorDiv(Graph &g) {
  if (!isInteger(g))
    return g.finish(floatQuotient(g, false));
  const std::string whole = g.value("Sub", {g.x[0], integerRemainder(g, false)});
  g.finish(g.value("Div", {whole, g.x[1]}));
}
void buildTruncateDiv(Graph &g) {
  // Quotients of integers are truncated.
  g.finish(isInteger(g) ? g.value("Div", {g.x[0], g.x[1]}) : floatQuotient(g, true));
}

/// Computes x0 times, or over, a factor; 0 where `tested` is 0.
void buildUnlessZero(Graph &g, StringRef type, const std::string &factor,
                     const std::string &tested) {
  const std::string zero = g.addScalar(0);
  const std::string isZero = g.value("Equal", {tested, zero});
  g.finish(g.value("Where", {isZero, zero, g.value(type, {g.x[0], factor})}));
}
void buildXlogy(Graph &g) { buildUnlessZero(g, "Mul", g.value("Log", {g.x[1]}), g.x[0]); }
void buildXdivy(Graph &g) { buildUnlessZero(g, "Div", g.x[1], g.x[0]); }
/// Computes x0 / x1 or x0 * x1; 0 where x1 is 0, whatever x0 is.
void buildNoNan(Graph &g) {
  buildUnlessZero(g, g.op.type == "DivNoNan" ? "Div" : "Mul", g.x[1], g.x[1]);
}

/// Computes the angle of the point (x1, x0): atan(x0 / x1), with half a turn in the direction of
/// x0's sign where x1 is negative, and 0 where both are 0.
void buildAtan2(Graph &g) {
  constexpr double pi = std::numbers::pi;
  const std::string zero = g.addScalar(0);
  const std::string isUp = g.value("GreaterOrEqual", {g.x[0], zero});
  const std::string turn = g.value("Where", {isUp, g.addScalar(pi), g.addScalar(-pi)});
  const std::string isLeft = g.value("Less", {g.x[1], zero});
  const std::string angle = g.value("Add", {g.value("Atan", {g.value("Div", {g.x[0], g.x[1]})}),
                                            g.value("Where", {isLeft, turn, zero})});
  const std::string distance = g.value("Add", {g.value("Abs", {g.x[0]}), g.value("Abs", {g.x[1]})});
  g.finish(g.value("Where", {g.value("Equal", {distance, zero}), zero, angle}));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

void buildHardSigmoid(Graph &g) {
  auto &node = g.node("HardSigmoid", {g.x[0]}, {g.y[0]});
  Graph::setFloat(node, "alpha", g.getFloat("alpha", 0.16666666));
  Graph::setFloat(node, "beta", g.getFloat("beta", 0.5));
}

/// Computes x * sigmoid(1.702 * x).
void buildFastGelu(Graph &g) {
  const std::string inner = g.value("Mul", {g.x[0], g.addScalar(1.702)});
  g.finish(g.value("Mul", {g.x[0], g.value("Sigmoid", {inner})}));
}

void buildGeluV2(Graph &g) {
  const std::string form = g.getText("approximate", "none");
  if (form != "none" && form != "tanh")
    return g.fail("\"approximate\" must be \"none\" or \"tanh\"");
  Graph::setText(g.node("Gelu", {g.x[0]}, {g.y[0]}), "approximate", form);
}

void buildErfc(Graph &g) { g.finish(g.value("Sub", {g.addScalar(1), g.value("Erf", {g.x[0]})})); }
void buildLogSigmoid(Graph &g) {
  g.finish(g.value("Neg", {g.value("Softplus", {g.value("Neg", {g.x[0]})})}));
}
void buildTrunc(Graph &g) { g.finish(isInteger(g) ? g.x[0] : truncate(g, g.x[0])); }

void buildShrink(Graph &g, bool isSoft) {
  const double lambda = g.getFloat("lambd", 0.5);
  auto &node = g.node("Shrink", {g.x[0]}, {g.y[0]});
  Graph::setFloat(node, "lambd", lambda);
  Graph::setFloat(node, "bias", isSoft ? lambda : 0);
}
void buildHardShrink(Graph &g) { buildShrink(g, false); }
void buildSoftShrink(Graph &g) { buildShrink(g, true); }

void buildCelu(Graph &g) {
  Graph::setFloat(g.node("Celu", {g.x[0]}, {g.y[0]}), "alpha", g.getFloat("alpha", 1));
}

/// Keeps x where it is above a threshold (1 in the first form), and a value (0) elsewhere.
void buildThreshold(Graph &g) {
  const bool isMask = g.op.type == "Threshold";
  // A bound of another type, such as -1 for bytes, is compared as it is.
  const double bound = g.getFloat("threshold", 0);
  std::string compared = g.x[0], limit = g.fresh();
  if (g.holds(bound)) {
    limit = g.addScalar(bound);
  } else {
    g.addConstant(limit, onnx::TensorProto::DOUBLE, {}, {bound});
    compared = g.fresh();
    Graph::setInt(g.node("Cast", {g.x[0]}, {compared}), "to", onnx::TensorProto::DOUBLE);
  }
  const std::string above = g.value("Greater", {compared, limit});
  const std::string below = g.addScalar(isMask ? 0 : g.getFloat("value", 0));
  g.finish(g.value("Where", {above, isMask ? g.addScalar(1) : g.x[0], below}));
}

//===----------------------------------------------------------------------===//
// Of several tensors
//===----------------------------------------------------------------------===//

/// Computes x + value * x1 * x2, or x + value * x1 / x2.
void buildAddcmul(Graph &g) {
  const StringRef type = g.op.type == "Addcmul" ? "Mul" : "Div";
  const std::string term = g.value("Mul", {g.value(type, {g.x[1], g.x[2]}), g.x[3]});
  g.finish(g.value("Add", {g.x[0], term}));
}

/// Computes start + weight * (end - start).
void buildLerp(Graph &g) {
  const std::string difference = g.value("Sub", {g.x[1], g.x[0]});
  g.finish(g.value("Add", {g.x[0], g.value("Mul", {g.x[2], difference})}));
}

void buildMaskedFill(Graph &g) { g.finish(g.value("Where", {g.x[1], g.x[2], g.x[0]})); }
void buildLogicalXor(Graph &g) { g.finish(g.value("Xor", {g.x[0], g.x[1]})); }
void buildInvert(Graph &g) { g.finish(g.value("BitwiseNot", {g.x[0]})); }

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Computes half the sum of the squares.
void buildL2Loss(Graph &g) {
  const std::string sum = g.fresh();
  Graph::setInt(g.node("ReduceSum", {g.value("Mul", {g.x[0], g.x[0]})}, {sum}), "keepdims", 0);
  g.finish(g.reshape(g.value("Mul", {sum, g.addScalar(0.5)}), g.op.outputs[0].dims));
}

/// Computes the sum of absolute values along axes, or the root of the sum of squares.
/// Norms below "epsilon" become it: they are divisors.
void buildLpNorm(Graph &g) {
  const double power = g.getFloat("p", 2);
  if (power != 1 && power != 2)
    return g.fail("\"p\" must be 1 or 2");
  const std::string axes = g.addInts(g.getInts("axes", {})), norm = g.fresh();
  auto &node = g.node(power == 1 ? "ReduceL1" : "ReduceL2", {g.x[0], axes}, {norm});
  Graph::setInt(node, "keepdims", g.getBool("keepdim"));
  const double min = g.getFloat("epsilon", 0);
  g.finish(min > 0 ? g.value("Max", {norm, g.addScalar(min)}) : norm);
}

/// Computes whether all, or any, elements along axes are true.
void buildReduceBool(Graph &g) {
  const bool isAll = StringRef(g.op.type).starts_with("ReduceAll");
  const std::string numbers = g.fresh(), reduced = g.fresh();
  Graph::setInt(g.node("Cast", {g.x[0]}, {numbers}), "to", onnx::TensorProto::INT32);
  auto &node = g.node(isAll ? "ReduceMin" : "ReduceMax",
                      {numbers, g.addInts(g.getConstantInts(1, "axes"))}, {reduced});
  Graph::setInt(node, "keepdims", g.getBool("keep_dims"));
  Graph::setInt(g.node("Cast", {reduced}, {g.y[0]}), "to", onnx::TensorProto::BOOL);
}

} // namespace

ArrayRef<OperatorRow> elementwiseRows() {
  static constexpr OperatorRow rows[] = {
      {"Addcdiv", 4, buildAddcmul},
      {"Addcmul", 4, buildAddcmul},
      {"Atan2", 2, buildAtan2},
      {"CeluV2", 1, buildCelu},
      {"DivNoNan", 2, buildNoNan},
      {"Erfc", 1, buildErfc},
      {"FastGelu", 1, buildFastGelu},
      {"FastGeluV2", 1, buildFastGelu},
      {"FloorDiv", 2, buildFloorDiv},
      {"FloorMod", 2, buildFloorMod},
      {"GeluV2", 1, buildGeluV2},
      {"HardShrink", 1, buildHardShrink},
      {"HardSigmoid", 1, buildHardSigmoid},
      {"Invert", 1, buildInvert},
      {"L2Loss", 1, buildL2Loss},
      {"Lerp", 3, buildLerp},
      {"LogSigmoid", 1, buildLogSigmoid},
      {"LogicalXor", 2, buildLogicalXor},
      {"LpNorm", 1, buildLpNorm},
      {"LpNormV2", 1, buildLpNorm},
      {"MaskedFill", 3, buildMaskedFill},
      {"Mod", 2, buildMod},
      {"MulNoNan", 2, buildNoNan},
      {"ReduceAll", 1, buildReduceBool},
      {"ReduceAllD", 1, buildReduceBool},
      {"ReduceAny", 1, buildReduceBool},
      {"ReduceAnyD", 1, buildReduceBool},
      {"SoftShrink", 1, buildSoftShrink},
      {"Threshold", 1, buildThreshold},
      {"ThresholdV2D", 1, buildThreshold},
      {"Trunc", 1, buildTrunc},
      {"TruncateDiv", 2, buildTruncateDiv},
      {"TruncateMod", 2, buildMod},
      {"Xdivy", 2, buildXdivy},
      {"Xlogy", 2, buildXlogy},
  };
  return rows;
}

} // namespace atc::single_op
