//===-- ImportActivation.cpp - activation functions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

template <typename OpTy> void importPlain(NodeContext &n) {
  n.setOutput(n.create<OpTy>(n.input(0)));
}

/// An activation of one parameter, `alpha`.
template <typename OpTy, int defaultPercent> void importWithAlpha(NodeContext &n) {
  // The defaults are those of the format, which states them as float.
  double alpha = n.floatAttr("alpha", static_cast<float>(defaultPercent) / 100.0f);
  n.setOutput(n.create<OpTy>(n.input(0), APFloat(alpha)));
}

void importSelu(NodeContext &n) {
  double alpha = n.floatAttr("alpha", 1.67326319217681884765625);
  double gamma = n.floatAttr("gamma", 1.05070102214813232421875);
  n.setOutput(n.create<graph::SeluOp>(n.input(0), APFloat(alpha), APFloat(gamma)));
}

/// celu(x, a) = a * elu(x / a, 1).
void importCelu(NodeContext &n) {
  Value input = n.input(0);
  double alpha = n.floatAttr("alpha", 1.0);
  if (alpha == 0)
    n.failAttribute("alpha", "must not be 0");
  if (n.failed())
    return;
  bool isUnit = alpha == 1.0;
  Value scaled = isUnit ? input : n.div(input, n.scalarLike(alpha, input));
  Value elu = n.create<graph::EluOp>(scaled, APFloat(1.0));
  n.setOutput(isUnit ? elu : n.mul(elu, n.scalarLike(alpha, input)));
}

void importHardSigmoid(NodeContext &n) {
  double alpha = n.floatAttr("alpha", 0.2f), beta = n.floatAttr("beta", 0.5);
  n.setOutput(n.create<graph::HardSigmoidOp>(n.input(0), APFloat(alpha), APFloat(beta)));
}

void importPRelu(NodeContext &n) {
  Value input = n.input(0), slope = n.input(1);
  // In old opsets, a vector was one slope per channel.
  if (n.opset() < firstTableOpset && !n.failed() && n.rank(slope) == 1 && n.rank(input) > 2) {
    SmallVector<int64_t> shape(n.rank(input) - 1, 1);
    shape.front() = n.shape(slope).front();
    slope = n.reshape(slope, shape);
  }
  n.setOutput(n.create<graph::PReluOp>(input, slope));
}

void importGelu(NodeContext &n) {
  bool approximate = n.choiceAttr("approximate", {"none", "tanh"}) == "tanh";
  n.setOutput(n.create<graph::GeluOp>(n.input(0), approximate));
}

void importSwish(NodeContext &n) {
  Value input = n.input(0);
  double alpha = n.floatAttr("alpha", 1.0);
  if (n.failed())
    return;
  if (alpha == 1.0)
    return n.setOutput(n.create<graph::SiluOp>(input));
  Value scaled = n.mul(input, n.scalarLike(alpha, input));
  n.setOutput(n.mul(input, n.create<graph::SigmoidOp>(scaled)));
}

/// x < -lambd ? x + bias : x > lambd ? x - bias : 0.
void importShrink(NodeContext &n) {
  Value input = n.input(0);
  double lambd = n.floatAttr("lambd", 0.5), bias = n.floatAttr("bias", 0.0);
  if (n.failed())
    return;
  auto compare = [&](double with, graph::ComparePredicate predicate) {
    return n.create<graph::CompareOp>(input, n.scalarLike(with, input), predicate);
  };
  Value shift = n.scalarLike(bias, input);
  Value upper = n.create<graph::WhereOp>(compare(lambd, graph::ComparePredicate::Gt),
                                         n.sub(input, shift), n.scalarLike(0, input));
  n.setOutput(n.create<graph::WhereOp>(compare(-lambd, graph::ComparePredicate::Lt),
                                       n.add(input, shift), upper));
}

void importClipV7(NodeContext &n) {
  double low = n.floatAttr("min", std::numeric_limits<float>::lowest());
  double high = n.floatAttr("max", std::numeric_limits<float>::max());
  n.setOutput(n.create<graph::ClipOp>(n.input(0), APFloat(low), APFloat(high)));
}

/// The bounds are inputs, each may be left out. Known bounds of floats become
/// attributes; the attributes are doubles, so that integers keep constants.
void importClipV11(NodeContext &n) {
  Value input = n.input(0), low = n.optionalInput(1), high = n.optionalInput(2);
  if (n.failed())
    return;
  auto isKnown = [&](unsigned index) { return !n.hasInput(index) || n.isConstantInput(index); };
  if (isa<FloatType>(n.elementType(input)) && isKnown(1) && isKnown(2)) {
    auto bound = [&](unsigned index, double otherwise) {
      std::optional<SmallVector<double>> values = n.constantFloats(index);
      if (values && values->size() != 1)
        n.failInput(index, "has " + Twine(values->size()) + " elements, expected 1");
      return values && values->size() == 1 ? values->front() : otherwise;
    };
    double infinity = std::numeric_limits<double>::infinity();
    double min = bound(1, -infinity), max = bound(2, infinity);
    return n.setOutput(n.create<graph::ClipOp>(input, APFloat(min), APFloat(max)));
  }
  Value result = input;
  if (low)
    result = n.create<graph::MaxOp>(result, low);
  if (high)
    result = n.create<graph::MinOp>(result, high);
  n.setOutput(result);
}

} // namespace

ArrayRef<OpRow> activationRows() {
  static const OpRow rows[] = {
      {"Celu", 12, latestOpset, importCelu},
      {"Clip", 7, 10, importClipV7},
      {"Clip", 11, latestOpset, importClipV11},
      {"Elu", 7, latestOpset, importWithAlpha<graph::EluOp, 100>},
      {"Gelu", 20, latestOpset, importGelu},
      {"HardSigmoid", 7, latestOpset, importHardSigmoid},
      {"HardSwish", 14, latestOpset, importPlain<graph::HardSwishOp>},
      {"LeakyRelu", 7, latestOpset, importWithAlpha<graph::LeakyReluOp, 1>},
      {"Mish", 18, latestOpset, importPlain<graph::MishOp>},
      {"PRelu", 7, latestOpset, importPRelu},
      {"Relu", 7, latestOpset, importPlain<graph::ReluOp>},
      {"Selu", 7, latestOpset, importSelu},
      {"Shrink", 9, latestOpset, importShrink},
      {"Sigmoid", 7, latestOpset, importPlain<graph::SigmoidOp>},
      {"Softplus", 7, latestOpset, importPlain<graph::SoftplusOp>},
      {"Softsign", 7, latestOpset, importPlain<graph::SoftsignOp>},
      {"Swish", 24, latestOpset, importSwish},
      {"Tanh", 7, latestOpset, importPlain<graph::TanhOp>},
      {"ThresholdedRelu", 10, latestOpset, importWithAlpha<graph::ThresholdedReluOp, 100>},
  };
  return rows;
}

} // namespace atc::onnx_import
