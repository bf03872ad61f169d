//===-- SingleOpGradients.cpp - gradients and losses as ONNX models -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of the Ascend toolchain's elementwise operators, by their formulas, and losses. Some
// read the result of the operator (y), others its input. One row per operator.

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::single_op {

namespace {

using Graph = SingleOpGraph;

/// Short names for the nodes of a formula.
struct Formula {
  Graph &g;
  std::string mul(const std::string &a, const std::string &b) { return g.value("Mul", {a, b}); }
  std::string div(const std::string &a, const std::string &b) { return g.value("Div", {a, b}); }
  std::string add(const std::string &a, const std::string &b) { return g.value("Add", {a, b}); }
  std::string sub(const std::string &a, const std::string &b) { return g.value("Sub", {a, b}); }
  std::string one(StringRef type, const std::string &a) { return g.value(type, {a}); }
  std::string number(double value) { return g.addScalar(value); }
  std::string square(const std::string &a) { return mul(a, a); }
  std::string where(const std::string &condition, const std::string &a, const std::string &b) {
    return g.value("Where", {condition, a, b});
  }
  std::string above(const std::string &a, double bound) {
    return g.value("Greater", {a, number(bound)});
  }
  /// Computes `a` where `condition` holds, and 0 elsewhere.
  std::string only(const std::string &condition, const std::string &a) {
    return where(condition, a, number(0));
  }
  /// Computes 1 - a.
  std::string rest(const std::string &a) { return sub(number(1), a); }
  std::string sum(const std::string &a, const Ints &axes) {
    return g.value("ReduceSum", {a, g.addInts(axes)});
  }
};

//===----------------------------------------------------------------------===//
// Of the result y and its gradient dy
//===----------------------------------------------------------------------===//

void buildOfResult(Graph &g) {
  Formula f{g};
  const std::string &y = g.x[0], &dy = g.x[1];
  const StringRef type = g.op.type;
  if (type == "SigmoidGrad")
    return g.finish(f.mul(dy, f.mul(y, f.rest(y))));
  if (type == "TanhGrad")
    return g.finish(f.mul(dy, f.rest(f.square(y))));
  if (type == "SqrtGrad")
    return g.finish(f.div(f.mul(dy, f.number(0.5)), y));
  if (type == "RsqrtGrad")
    return g.finish(f.mul(f.mul(dy, f.number(-0.5)), f.mul(y, f.square(y))));
  if (type == "AbsGrad")
    return g.finish(f.mul(dy, f.one("Sign", y)));
  if (type == "AsinGrad")
    return g.finish(f.div(dy, f.one("Sqrt", f.rest(f.square(y)))));
  if (type == "AcosGrad")
    return g.finish(f.div(f.one("Neg", dy), f.one("Sqrt", f.rest(f.square(y)))));
  if (type == "AtanGrad")
    return g.finish(f.div(dy, f.add(f.number(1), f.square(y))));
  if (type == "AsinhGrad")
    return g.finish(f.div(dy, f.one("Cosh", y)));
  if (type == "AcoshGrad")
    return g.finish(f.div(dy, f.one("Sinh", y)));
  g.finish(f.mul(f.one("Neg", dy), f.square(y))); // ReciprocalGrad, InvGrad
}

/// The gradient goes where the result lies between the bounds.
void buildHardtanhGrad(Graph &g) {
  Formula f{g};
  const std::string inside =
      g.value("And", {f.above(g.x[0], g.getFloat("min_val", -1)),
                      g.value("Less", {g.x[0], f.number(g.getFloat("max_val", 1))})});
  g.finish(f.only(inside, g.x[1]));
}

/// Computes softmax * (dy - the sum of dy * softmax along the axes).
void buildSoftmaxGrad(Graph &g) {
  Formula f{g};
  const Ints axes = g.getInts("axes", {-1});
  g.finish(f.mul(g.x[0], f.sub(g.x[1], f.sum(f.mul(g.x[0], g.x[1]), axes))));
}
/// Computes dy - the sum of dy * softmax along the last axis.
void buildConfusionSoftmaxGrad(Graph &g) {
  Formula f{g};
  g.finish(f.sub(g.x[0], f.sum(f.mul(g.x[0], g.x[1]), {-1})));
}
/// Computes dy - exp(y) * the sum of dy along the axes.
void buildLogSoftmaxGrad(Graph &g) {
  Formula f{g};
  const Ints axes = g.getInts("axis", {-1});
  g.finish(f.sub(g.x[0], f.mul(f.one("Exp", g.x[1]), f.sum(g.x[0], axes))));
}

//===----------------------------------------------------------------------===//
// Of the gradient dy and the input x
//===----------------------------------------------------------------------===//

void buildOfInput(Graph &g) {
  Formula f{g};
  const std::string &dy = g.x[0], &x = g.x[1];
  const StringRef type = g.op.type;
  if (type == "ReluGrad")
    return g.finish(f.only(f.above(x, 0), dy));
  if (type == "Relu6Grad")
    return g.finish(f.only(g.value("And", {f.above(x, 0), g.value("Less", {x, f.number(6)})}), dy));
  if (type == "LeakyReluGrad")
    return g.finish(
        f.where(f.above(x, 0), dy, f.mul(dy, f.number(g.getFloat("negative_slope", 0)))));
  if (type == "EluGrad") // of what Elu has computed
    return g.finish(f.where(f.above(x, 0), dy, f.mul(dy, f.add(x, f.number(1)))));
  if (type == "SeluGrad") { // of what Selu has computed
    constexpr double alpha = 1.6732632423543772, scale = 1.0507009873554805;
    return g.finish(
        f.mul(dy, f.where(f.above(x, 0), f.number(scale), f.add(x, f.number(scale * alpha)))));
  }
  if (type == "SoftplusGrad")
    return g.finish(f.mul(dy, f.one("Sigmoid", x)));
  if (type == "SoftsignGrad")
    return g.finish(f.div(dy, f.square(f.add(f.number(1), f.one("Abs", x)))));
  if (type == "LogSigmoidGrad")
    return g.finish(f.mul(dy, f.one("Sigmoid", f.one("Neg", x))));
  if (type == "ThresholdGradV2D")
    return g.finish(f.only(f.above(x, g.getFloat("threshold", 0)), dy));
  if (type == "HardSwishGrad") {
    const std::string inner = f.add(f.div(x, f.number(3)), f.number(0.5));
    const std::string low = f.only(f.above(x, -3), inner);
    return g.finish(f.mul(dy, f.where(g.value("Less", {x, f.number(3)}), low, f.number(1))));
  }
  if (type == "HardSigmoidGrad") {
    const double slope = g.getFloat("alpha", 0.16666666);
    const std::string y = f.add(f.mul(x, f.number(slope)), f.number(g.getFloat("beta", 0.5)));
    const std::string inside = g.value("And", {f.above(y, 0), g.value("Less", {y, f.number(1)})});
    return g.finish(f.only(inside, f.mul(dy, f.number(slope))));
  }
  // HardShrinkGrad, SoftShrinkGrad
  g.finish(f.only(f.above(f.one("Abs", x), g.getFloat("lambd", 0.5)), dy));
}

/// Computes the gradient of x * sigmoid(scale * x): Swish, Silu and FastGelu.
void buildSwishGrad(Graph &g) {
  Formula f{g};
  const double scale = g.op.type == "FastGeluGrad" ? 1.702
                       : g.op.type == "SiluGrad"   ? 1
                                                   : g.getFloat("scale", 1);
  const std::string inner = f.mul(g.x[1], f.number(scale));
  const std::string sigmoid = f.one("Sigmoid", inner);
  const std::string slope = f.mul(inner, f.mul(sigmoid, f.rest(sigmoid)));
  g.finish(f.mul(g.x[0], f.add(sigmoid, slope)));
}

/// Computes the gradient of x * (1 + tanh(b * (x + 0.044715 * x^3))) / 2.
void buildGeluGrad(Graph &g) {
  Formula f{g};
  constexpr double factor = 0.7978845608028654, cubic = 0.044715;
  g.widen();
  const std::string &x = g.x[1];
  const std::string square = f.square(x);
  const std::string bent = f.add(f.number(factor), f.mul(square, f.number(factor * cubic)));
  const std::string tanh = f.one("Tanh", f.mul(x, bent));
  const std::string slope = f.add(f.number(factor), f.mul(square, f.number(3 * factor * cubic)));
  const std::string second = f.mul(f.mul(x, f.rest(f.square(tanh))), slope);
  g.finish(f.mul(g.x[0], f.mul(f.number(0.5), f.add(f.add(f.number(1), tanh), second))));
}

/// Computes the gradient of x * t with t = tanh(softplus(x)): t + x * (1 - t^2) * sigmoid(x).
void buildMishGrad(Graph &g) {
  Formula f{g};
  const std::string &x = g.x[1];
  const bool isGiven = g.x.size() > 2 && !g.x[2].empty();
  const std::string tanh = isGiven ? g.x[2] : f.one("Tanh", f.one("Softplus", x));
  const std::string slope = f.mul(f.mul(x, f.rest(f.square(tanh))), f.one("Sigmoid", x));
  g.finish(f.mul(g.x[0], f.add(tanh, slope)));
}

/// Sums a gradient over all dims but that of the channels.
void buildBiasAddGrad(Graph &g) {
  const std::string format = g.getText("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW")
    return g.fail("\"data_format\" must be NHWC or NCHW");
  const int64_t rank = g.rankOf(0);
  if (rank < 2)
    return g.fail("the gradient must have 2 dims or more");
  Ints axes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != (format == "NCHW" ? 1 : rank - 1))
      axes.push_back(i);
  Graph::setInt(g.node("ReduceSum", {g.x[0], g.addInts(axes)}, {g.y[0]}), "keepdims", 0);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Returns what becomes of the losses of all elements: "none", "mean" or "sum"; "" after an error.
std::string reductionOf(Graph &g) {
  const std::string reduction = g.getText("reduction", "mean");
  if (is_contained({"none", "mean", "sum"}, reduction))
    return reduction;
  g.fail("\"reduction\" must be none, mean or sum");
  return "";
}

/// Makes the output of the losses of all elements: as they are, their sum or their mean.
void finishLoss(Graph &g, const std::string &loss) {
  const std::string reduction = reductionOf(g);
  if (reduction.empty())
    return;
  if (reduction == "none")
    return g.finish(loss);
  const std::string result = g.fresh();
  Graph::setInt(g.node(reduction == "sum" ? "ReduceSum" : "ReduceMean", {loss}, {result}),
                "keepdims", 0);
  g.finish(g.reshape(result, g.op.outputs[0].dims));
}

void buildMseLoss(Graph &g) {
  Formula f{g};
  finishLoss(g, f.square(f.sub(g.x[0], g.x[1])));
}
void buildMseLossGrad(Graph &g) {
  Formula f{g};
  const std::string reduction = reductionOf(g);
  if (reduction.empty())
    return;
  g.widen(); // the mean divides by more than halves can count
  std::string slope = f.mul(f.number(2), f.sub(g.x[0], g.x[1]));
  if (reduction == "mean") {
    const std::string count = g.fresh();
    const int type = g.isWide ? int(onnx::TensorProto::FLOAT) : onnxType(g.op.inputs[0].type);
    Graph::setInt(g.node("Cast", {f.one("Size", g.x[0])}, {count}), "to", type);
    slope = f.div(slope, count);
  }
  g.finish(f.mul(g.x[2], slope));
}

/// Computes d^2 / (2 * sigma) where |d| is below sigma, and |d| - sigma / 2 elsewhere.
void buildSmoothL1Loss(Graph &g) {
  Formula f{g};
  const double sigma = g.getFloat("sigma", 1);
  if (!(sigma > 0))
    return g.fail("\"sigma\" must be above 0");
  const std::string difference = f.one("Abs", f.sub(g.x[0], g.x[1]));
  const std::string inside = g.value("Less", {difference, f.number(sigma)});
  const std::string loss = f.where(inside, f.mul(f.square(difference), f.number(0.5 / sigma)),
                                   f.sub(difference, f.number(sigma / 2)));
  g.op.type == "SmoothL1Loss" ? g.finish(loss) : finishLoss(g, loss);
}
void buildSmoothL1LossGrad(Graph &g) {
  Formula f{g};
  const double sigma = g.getFloat("sigma", 1);
  if (!(sigma > 0))
    return g.fail("\"sigma\" must be above 0");
  const std::string slope = f.div(f.sub(g.x[0], g.x[1]), f.number(sigma));
  g.finish(f.mul(g.x[2], g.value("Clip", {slope, f.number(-1), f.number(1)})));
}

/// Computes softplus(x) - x * target, the cross entropy of sigmoid(x).
void buildSigmoidCrossEntropy(Graph &g) {
  Formula f{g};
  g.finish(f.sub(f.one("Softplus", g.x[0]), f.mul(g.x[0], g.x[1])));
}

/// Results: the cross entropy of softmax(x) and the labels per row, and its gradient.
void buildSoftmaxCrossEntropy(Graph &g) {
  Formula f{g};
  if (g.rankOf(0) != 2)
    return g.fail("the input must have 2 dims");
  const std::string logs = g.fresh(), loss = g.fresh();
  Graph::setInt(g.node("LogSoftmax", {g.x[0]}, {logs}), "axis", -1);
  auto &sum = g.node("ReduceSum", {f.mul(g.x[1], logs), g.addInts({1})}, {loss});
  Graph::setInt(sum, "keepdims", 0);
  g.finish(f.one("Neg", loss));
  if (g.y.size() > 1)
    g.node("Sub", {f.one("Exp", logs), g.x[1]}, {g.y[1]});
}

/// Computes -(target * log(x) + (1 - target) * log(1 - x)), times weights where they are given.
void buildBinaryCrossEntropy(Graph &g) {
  Formula f{g};
  const std::string bound = f.number(-100); // the logarithm of 0 is cut off there
  const auto log = [&](const std::string &a) { return g.value("Max", {f.one("Log", a), bound}); };
  const std::string &target = g.x[1];
  const std::string likely =
      f.add(f.mul(target, log(g.x[0])), f.mul(f.rest(target), log(f.rest(g.x[0]))));
  std::string loss = f.one("Neg", likely);
  if (g.x.size() > 2 && !g.x[2].empty())
    loss = f.mul(loss, g.x[2]);
  finishLoss(g, loss);
}

/// Computes log(1 + exp(-target * x)).
void buildSoftMarginLoss(Graph &g) {
  Formula f{g};
  finishLoss(g, f.one("Softplus", f.one("Neg", f.mul(g.x[0], g.x[1]))));
}

} // namespace

ArrayRef<OperatorRow> gradientRows() {
  static constexpr OperatorRow rows[] = {
      {"AbsGrad", 2, buildOfResult},
      {"AcosGrad", 2, buildOfResult},
      {"AcoshGrad", 2, buildOfResult},
      {"AsinGrad", 2, buildOfResult},
      {"AsinhGrad", 2, buildOfResult},
      {"AtanGrad", 2, buildOfResult},
      {"BiasAddGrad", 1, buildBiasAddGrad},
      {"BinaryCrossEntropy", 2, buildBinaryCrossEntropy},
      {"ConfusionSoftmaxGrad", 2, buildConfusionSoftmaxGrad},
      {"EluGrad", 2, buildOfInput},
      {"FastGeluGrad", 2, buildSwishGrad},
      {"GeluGrad", 2, buildGeluGrad},
      {"HardShrinkGrad", 2, buildOfInput},
      {"HardSigmoidGrad", 2, buildOfInput},
      {"HardSwishGrad", 2, buildOfInput},
      {"HardtanhGrad", 2, buildHardtanhGrad},
      {"InvGrad", 2, buildOfResult},
      {"LeakyReluGrad", 2, buildOfInput},
      {"LogSigmoidGrad", 2, buildOfInput},
      {"LogSoftmaxGrad", 2, buildLogSoftmaxGrad},
      {"MishGrad", 2, buildMishGrad},
      {"MseLoss", 2, buildMseLoss},
      {"MseLossGrad", 3, buildMseLossGrad},
      {"ReciprocalGrad", 2, buildOfResult},
      {"Relu6Grad", 2, buildOfInput},
      {"ReluGrad", 2, buildOfInput},
      {"RsqrtGrad", 2, buildOfResult},
      {"SeluGrad", 2, buildOfInput},
      {"SigmoidCrossEntropyWithLogits", 2, buildSigmoidCrossEntropy},
      {"SigmoidGrad", 2, buildOfResult},
      {"SiluGrad", 2, buildSwishGrad},
      {"SmoothL1Loss", 2, buildSmoothL1Loss},
      {"SmoothL1LossGrad", 3, buildSmoothL1LossGrad},
      {"SmoothL1LossV2", 2, buildSmoothL1Loss},
      {"SoftMarginLoss", 2, buildSoftMarginLoss},
      {"SoftShrinkGrad", 2, buildOfInput},
      {"SoftmaxCrossEntropyWithLogits", 2, buildSoftmaxCrossEntropy},
      {"SoftmaxGrad", 2, buildSoftmaxGrad},
      {"SoftplusGrad", 2, buildOfInput},
      {"SoftsignGrad", 2, buildOfInput},
      {"SqrtGrad", 2, buildOfResult},
      {"SwishGrad", 2, buildSwishGrad},
      {"TanhGrad", 2, buildOfResult},
      {"ThresholdGradV2D", 2, buildOfInput},
  };
  return rows;
}

} // namespace atc::single_op
