//===-- ImportElementwise.cpp - arithmetic, comparison, logic, casts ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

template <typename OpTy> void importUnary(NodeContext &n) {
  n.setOutput(n.create<OpTy>(n.input(0)));
}

/// Returns the two operands; before opset 7, attribute `axis` aligns the second one.
std::pair<Value, Value> readOperands(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  if (n.opset() >= firstTableOpset || n.failed())
    return {lhs, rhs};
  bool broadcasts = n.boolAttr("broadcast", false);
  int64_t rank = n.rank(lhs), axis = n.intAttr("axis", rank - n.rank(rhs));
  if (!broadcasts || n.failed() || !n.hasAttr("axis"))
    return {lhs, rhs};
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis + n.rank(rhs) > rank) {
    n.failAttribute("axis", Twine(axis) + " leaves no room for the second input");
    return {lhs, rhs};
  }
  SmallVector<int64_t> shape(n.shape(rhs));
  shape.append(rank - axis - shape.size(), 1);
  return {lhs, n.reshape(rhs, shape)};
}

template <typename OpTy> void importBinary(NodeContext &n) {
  auto [lhs, rhs] = readOperands(n);
  n.setOutput(n.create<OpTy>(lhs, rhs));
}

/// Imports Sum, Max and Min: any number of inputs, from left to right.
template <typename OpTy> void importVariadic(NodeContext &n) {
  n.setOutput(n.combineInputs<OpTy>());
}

void importMean(NodeContext &n) {
  Value sum = n.combineInputs<graph::AddOp>();
  if (!n.failed() && n.numInputs() > 1)
    sum = n.div(sum, n.scalarLike(n.numInputs(), sum));
  n.setOutput(sum);
}

template <graph::ComparePredicate predicate> void importCompare(NodeContext &n) {
  auto [lhs, rhs] = readOperands(n);
  n.setOutput(n.create<graph::CompareOp>(lhs, rhs, predicate));
}

/// Returns whether all elements of an input are constants that are integers of 32 bits.
bool isWholeConstant(NodeContext &n, unsigned index) {
  if (!n.isConstantInput(index))
    return false;
  std::optional<SmallVector<double>> numbers = n.constantFloats(index);
  return numbers && llvm::all_of(*numbers, [](double number) {
           return std::floor(number) == number && std::abs(number) < 0x1p31;
         });
}

void importPow(NodeContext &n) {
  auto [base, exponent] = readOperands(n);
  if (n.failed())
    return;
  // The result has the type of the base, whatever the exponent's.
  Type type = n.elementType(base);
  // A power of floats that is not exact would be one less as an integer.
  if (isa<IntegerType>(type) && isa<FloatType>(n.elementType(exponent)) && !isWholeConstant(n, 1))
    return n.setOutput(n.callHost("Pow", {base, exponent}));
  n.setOutput(n.create<graph::PowOp>(base, n.cast(exponent, type)));
}

void importMod(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  bool fmod = n.boolAttr("fmod", false);
  if (!n.failed() && !fmod && isa<FloatType>(n.elementType(lhs)))
    n.failAttribute("fmod", "must be 1 for floating-point inputs");
  n.setOutput(n.create<graph::ModOp>(lhs, rhs, fmod));
}

void importWhere(NodeContext &n) {
  Value condition = n.input(0), lhs = n.input(1), rhs = n.input(2);
  n.setOutput(n.create<graph::WhereOp>(condition, lhs, rhs));
}

void importIsInf(NodeContext &n) {
  Value input = n.input(0);
  bool positive = n.boolAttr("detect_positive", true);
  bool negative = n.boolAttr("detect_negative", true);
  if (n.failed())
    return;
  double infinity = std::numeric_limits<double>::infinity();
  auto equals = [&](Value value, double to) {
    return n.create<graph::CompareOp>(value, n.scalarLike(to, input), graph::ComparePredicate::Eq);
  };
  if (positive && negative)
    return n.setOutput(equals(n.create<graph::AbsOp>(input), infinity));
  if (positive || negative)
    return n.setOutput(equals(input, positive ? infinity : -infinity));
  Value none = n.scalar(0, n.builder().getI1Type());
  n.setOutput(n.fill(n.shape(input), none));
}

/// Checks the two attributes of casts that are about 8-bit floats, which kernels of the host
/// compute: where these refuse a value, no generated code could take their place.
void checkCastOf8BitFloats(NodeContext &n) {
  n.boolAttr("saturate", true);
  n.choiceAttr("round_mode", {"up", "down", "nearest"});
}

void importCast(NodeContext &n) {
  Value input = n.input(0);
  int64_t to = n.requiredInt("to");
  checkCastOf8BitFloats(n);
  if (n.failed())
    return;
  Type type = convertElementType(to, n.builder().getContext());
  if (!type)
    return n.failAttribute("to", nameElementType(to) + " is not supported");
  n.setOutput(n.cast(input, type));
}

void importCastLike(NodeContext &n) {
  Value input = n.input(0), like = n.input(1);
  checkCastOf8BitFloats(n);
  if (n.failed())
    return;
  n.setOutput(n.cast(input, n.elementType(like)));
}

void importIdentity(NodeContext &n) { n.setOutput(n.input(0)); }

/// Sets the mask of a dropout that does nothing: ones from opset 12 on. Before, the mask had no
/// meaning then, and is zeros as in ONNX Runtime.
void setDropoutMask(NodeContext &n, Value input, Type element) {
  if (!n.wantsOutput(1) || n.failed())
    return;
  Value flag = n.scalar(n.opset() >= 12 ? 1 : 0, element);
  n.setOutput(1, n.fill(n.shape(input), flag));
}

void importDropoutV7(NodeContext &n) {
  if (n.opset() < firstTableOpset && !n.boolAttr("is_test", false))
    n.failAttribute("is_test", "0 is not supported: export the model for inference");
  n.ignoreAttr("ratio");
  Value input = n.input(0);
  n.setOutput(0, input);
  setDropoutMask(n, input, n.opset() >= 10 ? n.builder().getI1Type() : n.elementType(input));
}

void importDropoutV12(NodeContext &n) {
  n.ignoreAttr("seed");
  Value input = n.input(0);
  if (std::optional<SmallVector<int64_t>> training = n.constantInts(2);
      training && llvm::is_contained(*training, 1))
    n.failInput(2, "training mode is not supported");
  n.setOutput(0, input);
  setDropoutMask(n, input, n.builder().getI1Type());
}

} // namespace

ArrayRef<OpRow> elementwiseRows() {
  using graph::ComparePredicate;
  static const OpRow rows[] = {
      {"Abs", 7, latestOpset, importUnary<graph::AbsOp>},
      {"Acos", 7, latestOpset, importUnary<graph::AcosOp>},
      {"Acosh", 9, latestOpset, importUnary<graph::AcoshOp>},
      {"Add", 7, latestOpset, importBinary<graph::AddOp>},
      {"And", 7, latestOpset, importBinary<graph::AndOp>},
      {"Asin", 7, latestOpset, importUnary<graph::AsinOp>},
      {"Asinh", 9, latestOpset, importUnary<graph::AsinhOp>},
      {"Atan", 7, latestOpset, importUnary<graph::AtanOp>},
      {"Atanh", 9, latestOpset, importUnary<graph::AtanhOp>},
      {"Cast", 7, latestOpset, importCast},
      {"CastLike", 15, latestOpset, importCastLike},
      {"Ceil", 7, latestOpset, importUnary<graph::CeilOp>},
      {"Cos", 7, latestOpset, importUnary<graph::CosOp>},
      {"Cosh", 9, latestOpset, importUnary<graph::CoshOp>},
      {"Div", 7, latestOpset, importBinary<graph::DivOp>},
      {"Dropout", 7, 11, importDropoutV7},
      {"Dropout", 12, latestOpset, importDropoutV12, "inference only"},
      {"Equal", 7, latestOpset, importCompare<ComparePredicate::Eq>},
      {"Erf", 9, latestOpset, importUnary<graph::ErfOp>},
      {"Exp", 7, latestOpset, importUnary<graph::ExpOp>},
      {"Floor", 7, latestOpset, importUnary<graph::FloorOp>},
      {"Greater", 7, latestOpset, importCompare<ComparePredicate::Gt>},
      {"GreaterOrEqual", 12, latestOpset, importCompare<ComparePredicate::Ge>},
      {"Identity", 7, latestOpset, importIdentity},
      {"IsInf", 10, latestOpset, importIsInf},
      {"IsNaN", 9, latestOpset, importUnary<graph::IsNanOp>},
      {"Less", 7, latestOpset, importCompare<ComparePredicate::Lt>},
      {"LessOrEqual", 12, latestOpset, importCompare<ComparePredicate::Le>},
      {"Log", 7, latestOpset, importUnary<graph::LogOp>},
      {"Max", 7, latestOpset, importVariadic<graph::MaxOp>},
      {"Mean", 7, latestOpset, importMean},
      {"Min", 7, latestOpset, importVariadic<graph::MinOp>},
      {"Mod", 10, latestOpset, importMod},
      {"Mul", 7, latestOpset, importBinary<graph::MulOp>},
      {"Neg", 7, latestOpset, importUnary<graph::NegOp>},
      {"Not", 7, latestOpset, importUnary<graph::NotOp>},
      {"Or", 7, latestOpset, importBinary<graph::OrOp>},
      {"Pow", 7, latestOpset, importPow},
      {"Reciprocal", 7, latestOpset, importUnary<graph::ReciprocalOp>},
      {"Round", 11, latestOpset, importUnary<graph::RoundOp>},
      {"Sign", 9, latestOpset, importUnary<graph::SignOp>},
      {"Sin", 7, latestOpset, importUnary<graph::SinOp>},
      {"Sinh", 9, latestOpset, importUnary<graph::SinhOp>},
      {"Sqrt", 7, latestOpset, importUnary<graph::SqrtOp>},
      {"Sub", 7, latestOpset, importBinary<graph::SubOp>},
      {"Sum", 7, latestOpset, importVariadic<graph::AddOp>},
      {"Tan", 7, latestOpset, importUnary<graph::TanOp>},
      {"Where", 9, latestOpset, importWhere},
      {"Xor", 7, latestOpset, importBinary<graph::XorOp>},
  };
  return rows;
}

} // namespace atc::onnx_import
