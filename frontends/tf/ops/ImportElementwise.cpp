//===-- ImportElementwise.cpp - arithmetic, comparison, activations -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <limits>
#include <numbers>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Complex.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llvm::APFloat;
using llvm::APInt;

namespace atc::tf_import {
namespace {

using graph::ComparePredicate;

template <typename OpTy> void importUnary(NodeContext &n) {
  n.setOutput(n.create<OpTy>(n.input(0)));
}

template <typename OpTy> void importBinary(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  n.setOutput(n.create<OpTy>(lhs, rhs));
}

/// Imports Add, which joins strings.
void importAdd(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  if (n.failed())
    return;
  n.setOutput(isa<graph::StringType>(NodeContext::elementType(lhs))
                  ? n.callHost("StringConcat", {lhs, rhs})
                  : n.create<graph::AddOp>(lhs, rhs));
}

template <ComparePredicate predicate> void importCompare(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  n.setOutput(n.compare(lhs, rhs, predicate));
}

/// Imports an operator of one input as a formula.
template <Value (*formula)(NodeContext &, Value)> void importFormula(NodeContext &n) {
  Value input = n.input(0);
  if (!n.failed())
    n.setOutput(formula(n, input));
}

template <Value (*formula)(NodeContext &, Value, Value)> void importFormula2(NodeContext &n) {
  Value lhs = n.input(0), rhs = n.input(1);
  if (!n.failed())
    n.setOutput(formula(n, lhs, rhs));
}

Value square(NodeContext &n, Value x) { return n.mul(x, x); }
Value expm1(NodeContext &n, Value x) {
  return n.sub(n.create<graph::ExpOp>(x), n.scalarLike(1, x));
}
Value log1p(NodeContext &n, Value x) {
  return n.create<graph::LogOp>(n.add(x, n.scalarLike(1, x)));
}
Value erfc(NodeContext &n, Value x) { return n.sub(n.scalarLike(1, x), n.create<graph::ErfOp>(x)); }
Value relu6(NodeContext &n, Value x) {
  return n.create<graph::ClipOp>(x, APFloat(0.0), APFloat(6.0));
}
Value elu(NodeContext &n, Value x) { return n.create<graph::EluOp>(x, APFloat(1.0)); }
Value selu(NodeContext &n, Value x) {
  return n.create<graph::SeluOp>(x, APFloat(1.6732632423543772), APFloat(1.0507009873554805));
}
Value isInf(NodeContext &n, Value x) {
  Value infinity = n.scalarLike(std::numeric_limits<double>::infinity(), x);
  return n.compare(n.create<graph::AbsOp>(x), infinity, ComparePredicate::Eq);
}
Value isFinite(NodeContext &n, Value x) {
  // A NaN compares as false.
  Value infinity = n.scalarLike(std::numeric_limits<double>::infinity(), x);
  return n.compare(n.create<graph::AbsOp>(x), infinity, ComparePredicate::Lt);
}
Value zeros(NodeContext &n, Value x) { return n.fill(n.shape(x), n.scalarLike(0, x)); }
Value ones(NodeContext &n, Value x) { return n.fill(n.shape(x), n.scalarLike(1, x)); }

Value squaredDifference(NodeContext &n, Value a, Value b) { return square(n, n.sub(a, b)); }

/// Rounds down. The integer quotient is rounded to zero: it is one too large where there is a
/// remainder of another sign than the divisor. (To subtract the remainder first could overflow.)
Value floorDiv(NodeContext &n, Value a, Value b) {
  Value quotient = n.div(a, b);
  if (n.isFloat(a))
    return n.create<graph::FloorOp>(quotient);
  if (n.elementType(a).isUnsignedInteger())
    return quotient;
  Value zero = n.scalarLike(0, a), remainder = n.sub(a, n.mul(quotient, b));
  Value isBelow = n.compare(remainder, zero, ComparePredicate::Lt);
  Value differs =
      n.compare(isBelow, n.compare(b, zero, ComparePredicate::Lt), ComparePredicate::Ne);
  Value isRest = n.compare(remainder, zero, ComparePredicate::Ne);
  return n.create<graph::WhereOp>(n.create<graph::AndOp>(isRest, differs),
                                  n.sub(quotient, n.scalarLike(1, a)), quotient);
}
Value floorMod(NodeContext &n, Value a, Value b) {
  if (n.isFloat(a))
    return n.sub(a, n.mul(n.create<graph::FloorOp>(n.div(a, b)), b));
  return n.create<graph::ModOp>(a, b, /*fmod=*/false);
}
Value truncateMod(NodeContext &n, Value a, Value b) {
  return n.create<graph::ModOp>(a, b, /*fmod=*/true);
}
/// Returns 2^amount in the type of `amount`, whose elements are clamped to 0 to `last`; integer
/// products wrap, so that the sign bit is a power, too.
Value powerOfTwo(NodeContext &n, Value amount, unsigned last) {
  auto element = cast<IntegerType>(n.elementType(amount));
  SmallVector<APInt> powers;
  for (unsigned bit = 0; bit <= last; ++bit)
    powers.push_back(APInt::getOneBitSet(element.getWidth(), bit));
  auto type = RankedTensorType::get({static_cast<int64_t>(powers.size())}, element);
  Value table = n.constant(DenseElementsAttr::get(type, powers));
  Value max = n.scalarLike(last, amount), min = n.scalarLike(0, amount);
  Value inside = n.create<graph::MaxOp>(n.create<graph::MinOp>(amount, max), min);
  return n.create<graph::GatherOp>(table, n.cast(inside, n.builder().getI64Type()), /*axis=*/0);
}
Value leftShift(NodeContext &n, Value value, Value amount) {
  const unsigned width = n.elementType(value).getIntOrFloatBitWidth();
  return n.mul(value, powerOfTwo(n, amount, width - 1));
}
/// Copies the sign into the bits that become free.
Value rightShift(NodeContext &n, Value value, Value amount) {
  const unsigned width = n.elementType(value).getIntOrFloatBitWidth();
  if (n.elementType(value).isUnsignedInteger())
    return n.div(value, powerOfTwo(n, amount, width - 1));
  Value zero = n.scalarLike(0, value);
  Value signs = n.create<graph::WhereOp>(n.compare(value, zero, ComparePredicate::Lt),
                                         n.scalarLike(-1, value), zero);
  Value isAll = n.compare(amount, n.scalarLike(width - 1, amount), ComparePredicate::Ge);
  return n.create<graph::WhereOp>(isAll, signs,
                                  floorDiv(n, value, powerOfTwo(n, amount, width - 2)));
}
template <Value (*formula)(NodeContext &, Value, Value)> void importShift(NodeContext &n) {
  Value value = n.input(0), amount = n.input(1);
  for (unsigned index : {0u, 1u})
    if (!n.failed() && !isa<IntegerType>(n.elementType(n.input(index))))
      n.failInput(index, "must hold integers");
  if (!n.failed())
    n.setOutput(formula(n, value, amount));
}
/// `value` where b (or a) is not 0, else 0.
Value unlessZero(NodeContext &n, Value test, Value value) {
  Value zero = n.scalarLike(0, test);
  return n.create<graph::WhereOp>(n.compare(test, zero, ComparePredicate::Eq), zero, value);
}
Value divNoNan(NodeContext &n, Value a, Value b) { return unlessZero(n, b, n.div(a, b)); }
Value mulNoNan(NodeContext &n, Value a, Value b) { return unlessZero(n, b, n.mul(a, b)); }
Value xlogy(NodeContext &n, Value a, Value b) {
  return unlessZero(n, a, n.mul(a, n.create<graph::LogOp>(b)));
}
Value xlog1py(NodeContext &n, Value a, Value b) { return unlessZero(n, a, n.mul(a, log1p(n, b))); }
Value xdivy(NodeContext &n, Value a, Value b) { return unlessZero(n, a, n.div(a, b)); }

} // namespace

Value angleOf(NodeContext &n, Value y, Value x) {
  Value zero = n.scalarLike(0, x), pi = n.scalarLike(std::numbers::pi, x);
  auto choose = [&](Value condition, Value lhs, Value rhs) {
    return n.create<graph::WhereOp>(condition, lhs, rhs);
  };
  auto isZero = [&](Value value) { return n.compare(value, zero, ComparePredicate::Eq); };
  // Zeros have signs, which only their reciprocals show: an angle of pi and one of -pi.
  auto isNegative = [&](Value value) {
    Value sign = choose(isZero(value), n.div(n.scalarLike(1, x), value), value);
    return n.compare(sign, zero, ComparePredicate::Lt);
  };
  Value isLeft = isNegative(x);
  Value turn = choose(isNegative(y), n.scalarLike(-std::numbers::pi, x), pi);
  // Where both are 0 or both infinite the quotient is no number: the angle is that of y, which is
  // 0, or of the diagonal.
  Value isOrigin = n.create<graph::AndOp>(isZero(x), isZero(y));
  Value isFar = n.create<graph::AndOp>(isInf(n, x), isInf(n, y));
  Value slope =
      choose(isFar, n.mul(n.create<graph::SignOp>(x), n.create<graph::SignOp>(y)), n.div(y, x));
  Value angle = choose(isOrigin, y, n.create<graph::AtanOp>(slope));
  return choose(isLeft, n.add(angle, turn), angle);
}

namespace {

void importAddN(NodeContext &n) { n.setOutput(n.combineInputs<graph::AddOp>()); }

void importLeakyRelu(NodeContext &n) {
  double alpha = n.floatAttr("alpha", 0.2f);
  n.setOutput(n.create<graph::LeakyReluOp>(n.input(0), APFloat(alpha)));
}

void importClip(NodeContext &n) {
  Value input = n.input(0), low = n.input(1), high = n.input(2);
  if (n.failed())
    return;
  // Where the bounds contradict each other the lower one holds; that of the op is the upper one.
  ElementsAttr minValue, maxValue;
  if (n.isFloat(input) && matchPattern(low, m_Constant(&minValue)) &&
      minValue.getNumElements() == 1 && matchPattern(high, m_Constant(&maxValue)) &&
      maxValue.getNumElements() == 1)
    if (const double from = readFloats(minValue).front(), to = readFloats(maxValue).front();
        from <= to)
      return n.setOutput(n.create<graph::ClipOp>(input, APFloat(from), APFloat(to)));
  n.setOutput(n.create<graph::MaxOp>(n.create<graph::MinOp>(input, high), low));
}

/// The condition of the old operator may be a vector that chooses rows.
void importSelect(NodeContext &n) {
  Value condition = n.input(0), lhs = n.input(1), rhs = n.input(2);
  if (n.failed())
    return;
  if (n.op() == "Select" && n.rank(condition) == 1 && n.rank(lhs) > 1) {
    SmallVector<int64_t> shape(n.rank(lhs), 1);
    shape[0] = n.shape(condition)[0];
    condition = n.reshape(condition, shape);
  }
  n.setOutput(n.create<graph::WhereOp>(condition, lhs, rhs));
}

void importCast(NodeContext &n) {
  Value input = n.input(0);
  if (Type part = partOfComplex(n, "DstT")) {
    Value real = n.cast(input, part);
    return n.setOutput(real, filledLike(n, real, 0));
  }
  Type element = n.typeAttr("DstT", pb::DT_FLOAT);
  if (!n.failed())
    n.setOutput(n.cast(input, element));
}

/// Every output is the input of its number.
void importIdentity(NodeContext &n) {
  for (auto [index, input] : llvm::enumerate(n.inputs()))
    n.setOutput(index, input);
}

/// The number of boundaries, which rise, that are not above an element.
void importBucketize(NodeContext &n) {
  Value input = n.input(0);
  auto found = n.proto().attr().find("boundaries");
  if (found == n.proto().attr().end())
    return n.failAttribute("boundaries", "is missing; the operator needs it");
  const auto &boundaries = found->second.list().f();
  if (boundaries.empty() || boundaries.size() > (1 << 10))
    return n.failAttribute("boundaries",
                           "has " + Twine(boundaries.size()) + " values, expected 1 to 1024");
  if (n.failed())
    return;
  Type index = n.builder().getI32Type();
  Value wide = n.cast(input, n.builder().getF32Type());
  Value count;
  for (float boundary : boundaries) {
    Value isAbove =
        n.cast(n.compare(wide, n.scalarLike(boundary, wide), ComparePredicate::Ge), index);
    count = count ? n.add(count, isAbove) : isAbove;
  }
  n.setOutput(count);
}

/// Only the first input leaves; others are for messages or training.
void importFirst(NodeContext &n) { n.setOutput(n.input(0)); }

} // namespace

ArrayRef<OpRow> elementwiseRows() {
  static const OpRow rows[] = {
      {"Abs", importUnary<graph::AbsOp>},
      {"AccumulateNV2", importAddN},
      {"Acos", importUnary<graph::AcosOp>},
      {"Acosh", importUnary<graph::AcoshOp>},
      {"Add", importAdd},
      {"AddN", importAddN},
      {"AddV2", importBinary<graph::AddOp>},
      {"Asin", importUnary<graph::AsinOp>},
      {"Asinh", importUnary<graph::AsinhOp>},
      {"Atan", importUnary<graph::AtanOp>},
      {"Atan2", importFormula2<angleOf>},
      {"Atanh", importUnary<graph::AtanhOp>},
      {"BitwiseAnd", importBinary<graph::AndOp>},
      {"BitwiseOr", importBinary<graph::OrOp>},
      {"BitwiseXor", importBinary<graph::XorOp>},
      {"Bucketize", importBucketize, "1 to 1024 boundaries"},
      {"Cast", importCast},
      {"Ceil", importUnary<graph::CeilOp>},
      {"CheckNumerics", importFirst, "checks nothing"},
      {"ClipByValue", importClip},
      {"Cos", importUnary<graph::CosOp>},
      {"Cosh", importUnary<graph::CoshOp>},
      {"Div", importBinary<graph::DivOp>},
      {"DivNoNan", importFormula2<divNoNan>},
      {"Elu", importFormula<elu>},
      {"EnsureShape", importFirst, "checks nothing"},
      {"Equal", importCompare<ComparePredicate::Eq>},
      {"Erf", importUnary<graph::ErfOp>},
      {"Erfc", importFormula<erfc>},
      {"Exp", importUnary<graph::ExpOp>},
      {"Expm1", importFormula<expm1>},
      {"Floor", importUnary<graph::FloorOp>},
      {"FloorDiv", importFormula2<floorDiv>},
      {"FloorMod", importFormula2<floorMod>},
      {"Greater", importCompare<ComparePredicate::Gt>},
      {"GreaterEqual", importCompare<ComparePredicate::Ge>},
      {"Identity", importFirst},
      {"IdentityN", importIdentity},
      {"Inv", importUnary<graph::ReciprocalOp>},
      {"IsFinite", importFormula<isFinite>},
      {"IsInf", importFormula<isInf>},
      {"IsNan", importUnary<graph::IsNanOp>},
      {"LeakyRelu", importLeakyRelu},
      {"LeftShift", importShift<leftShift>},
      {"Less", importCompare<ComparePredicate::Lt>},
      {"LessEqual", importCompare<ComparePredicate::Le>},
      {"Log", importUnary<graph::LogOp>},
      {"Log1p", importFormula<log1p>},
      {"LogicalAnd", importBinary<graph::AndOp>},
      {"LogicalNot", importUnary<graph::NotOp>},
      {"LogicalOr", importBinary<graph::OrOp>},
      {"Maximum", importBinary<graph::MaxOp>},
      {"Minimum", importBinary<graph::MinOp>},
      {"Mod", importFormula2<truncateMod>},
      {"Mul", importBinary<graph::MulOp>},
      {"MulNoNan", importFormula2<mulNoNan>},
      {"Neg", importUnary<graph::NegOp>},
      {"NotEqual", importCompare<ComparePredicate::Ne>},
      {"OnesLike", importFormula<ones>},
      {"PlaceholderWithDefault", importFirst, "stands for its default"},
      {"Pow", importBinary<graph::PowOp>},
      {"PreventGradient", importFirst},
      {"RealDiv", importBinary<graph::DivOp>},
      {"Reciprocal", importUnary<graph::ReciprocalOp>},
      {"Relu", importUnary<graph::ReluOp>},
      {"Relu6", importFormula<relu6>},
      {"RightShift", importShift<rightShift>},
      {"Rint", importUnary<graph::RoundOp>},
      {"Round", importUnary<graph::RoundOp>},
      {"Rsqrt", importUnary<graph::RsqrtOp>},
      {"Select", importSelect},
      {"SelectV2", importSelect},
      {"Selu", importFormula<selu>},
      {"Sigmoid", importUnary<graph::SigmoidOp>},
      {"Sign", importUnary<graph::SignOp>},
      {"Sin", importUnary<graph::SinOp>},
      {"Sinh", importUnary<graph::SinhOp>},
      {"Snapshot", importFirst},
      {"Softplus", importUnary<graph::SoftplusOp>},
      {"Softsign", importUnary<graph::SoftsignOp>},
      {"Sqrt", importUnary<graph::SqrtOp>},
      {"Square", importFormula<square>},
      {"SquaredDifference", importFormula2<squaredDifference>},
      {"StopGradient", importFirst},
      {"Sub", importBinary<graph::SubOp>},
      {"Tan", importUnary<graph::TanOp>},
      {"Tanh", importUnary<graph::TanhOp>},
      {"TruncateDiv", importBinary<graph::DivOp>},
      {"TruncateMod", importFormula2<truncateMod>},
      {"Xdivy", importFormula2<xdivy>},
      {"Xlog1py", importFormula2<xlog1py>},
      {"Xlogy", importFormula2<xlogy>},
      {"ZerosLike", importFormula<zeros>},
  };
  return rows;
}

} // namespace atc::tf_import
