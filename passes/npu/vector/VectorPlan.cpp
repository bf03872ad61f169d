//===-- VectorPlan.cpp - which vector instructions make a scalar body --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/VectorPlan.h"

#include "passes/npu/vector/StoredNumber.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

namespace {

/// Results in f16 are computed in f16 as long as no value is rounded more often
/// on its way; functions whose error grows with that of their argument count as
/// more than that.
constexpr int kMostRoundings = 4, kManyRoundings = 100;

/// The distribution function of the normal distribution is 1 / (1 + e^-z), z =
/// x (c0 + c1 x^2 + c2 x^4) for |x| below the limit, where z is 19: fitted, the
/// largest error is 1.9e-5.
constexpr double kNormal[] = {1.5954356664299405, 0.07359651080680117, -0.0006316135627475883};
constexpr double kNormalLimit = 5.8;

} // namespace

VectorPlan::VectorPlan(Block &body) : body(body) {
  for (Type type : body.getArgumentTypes())
    if (!type.isF32() && !type.isF16() && !type.isInteger(8) && !type.isInteger(32)) {
      llvm::raw_string_ostream(problem) << "operands of " << type;
      return;
    }
  llvm::append_range(inputTypes, body.getArgumentTypes());
  Operation *store = nullptr;
  if (body.getTerminator()->getNumOperands() == 1) {
    Value result = body.getTerminator()->getOperand(0);
    bool hasBytes = llvm::any_of(inputTypes, [](Type type) { return type.isInteger(8); });
    exact = result.getType().isInteger(8) || (result.getType().isF32() && hasBytes);
    if (result.getType().isInteger(8) &&
        isa_and_nonnull<arith::FPToUIOp, arith::FPToSIOp>(result.getDefiningOp()))
      store = result.getDefiningOp();
  }
  for (Operation &op : body.without_terminator())
    exact |= isa<arith::FPToUIOp, arith::FPToSIOp>(op);
  for (Operation &op : body.without_terminator())
    if (&op != store && !read(op)) {
      llvm::raw_string_ostream os(problem);
      os << op.getName() << " of " << (op.getNumOperands() ? op.getOperand(0).getType() : Type());
      return;
    }
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1) {
    problem = "no value";
    return;
  }
  storedType = yield->getOperand(0).getType(); // of bytes as readStore finds it
  resultStep = store ? readStore(store).value_or(-1) : valueOf(yield->getOperand(0));
  if (resultStep < 0 || !(storedType.isF32() || storedType.isF16() || store)) {
    llvm::raw_string_ostream(problem) << "results of " << storedType;
    return;
  }
  if (isConstant(resultStep))
    resultStep = append({Kind::Op, VectorOp::Fill, -1, -1, -1, -1, list[resultStep].scalar});
  chooseType();
  castInputs();
  findLives();
  fuseScales();
  findLives();
  fuse();
  findLives();
  assignSlots();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int VectorPlan::append(Step step) {
  list.push_back(step);
  return list.size() - 1;
}

int VectorPlan::input(unsigned number) {
  for (auto [index, step] : llvm::enumerate(list))
    if (step.kind == Kind::Input && step.input == number)
      return index;
  Step step;
  step.kind = Kind::Input;
  step.input = number;
  return append(step);
}

int VectorPlan::constant(double value) {
  Step step;
  step.kind = Kind::Constant;
  step.scalar = value;
  return append(step);
}

bool VectorPlan::isConstant(int step, double *value) const {
  if (list[step].kind != Kind::Constant)
    return false;
  if (value)
    *value = list[step].scalar;
  return true;
}

int VectorPlan::unary(VectorOp op, int a, double scalar) {
  Step step;
  step.op = op;
  step.a = a;
  step.scalar = scalar;
  int before = list[a].roundings;
  switch (op) {
  case VectorOp::Neg:
  case VectorOp::Abs:
  case VectorOp::Relu:
  case VectorOp::Floor:
  case VectorOp::Ceil:
  case VectorOp::Round:
  case VectorOp::MaxScalar:
  case VectorOp::MinScalar:
    step.roundings = before;
    break;
  case VectorOp::Exp:
    // An argument that is not exact is an error times its size in the result.
    step.roundings = before ? kManyRoundings : 1;
    break;
  case VectorOp::Ln:
  case VectorOp::Sqrt:
  case VectorOp::Rsqrt:
    step.roundings = kManyRoundings;
    break;
  default:
    step.roundings = before + 1;
  }
  return append(step);
}

int VectorPlan::binary(VectorOp op, int a, int b) {
  Step step;
  step.op = op;
  step.a = a;
  step.b = b;
  bool exact = op == VectorOp::Max || op == VectorOp::Min || op == VectorOp::Equal ||
               op == VectorOp::Less || op == VectorOp::LessEqual;
  step.roundings = std::max(list[a].roundings, list[b].roundings) + !exact;
  return append(step);
}

int VectorPlan::add(int a, int b) {
  double value;
  if (isConstant(a))
    std::swap(a, b);
  if (isConstant(b, &value))
    return value == 0 ? a : unary(VectorOp::AddScalar, a, value);
  return binary(VectorOp::Add, a, b);
}

int VectorPlan::sub(int a, int b) {
  double value;
  if (isConstant(b, &value))
    return add(a, constant(-value));
  if (isConstant(a))
    return add(unary(VectorOp::Neg, b), a);
  return binary(VectorOp::Sub, a, b);
}

int VectorPlan::mul(int a, int b) {
  double value;
  if (isConstant(a))
    std::swap(a, b);
  if (isConstant(b, &value))
    return value == 1    ? a
           : value == -1 ? unary(VectorOp::Neg, a)
                         : unary(VectorOp::MulScalar, a, value);
  return binary(VectorOp::Mul, a, b);
}

int VectorPlan::div(int a, int b) {
  double value;
  if (exact)
    return binary(VectorOp::Div, a, b);
  if (isConstant(b, &value) && value != 0)
    return mul(a, constant(1 / value));
  if (isConstant(a, &value))
    return mul(unary(VectorOp::Reciprocal, b), a);
  return binary(VectorOp::Div, a, b);
}

int VectorPlan::maxmin(VectorOp op, VectorOp withScalar, int a, int b) {
  double value;
  if (isConstant(a))
    std::swap(a, b);
  if (isConstant(b, &value))
    return op == VectorOp::Max && value == 0 ? unary(VectorOp::Relu, a)
                                             : unary(withScalar, a, value);
  return binary(op, a, b);
}

int VectorPlan::select(int mask, int a, int b) {
  double always;
  if (isConstant(mask, &always))
    return always != 0 ? a : b;
  // x < 0 ? alpha x : x is the larger of the two for alpha up to 1.
  const Step &test = list[mask], &scaled = list[a];
  double limit;
  if (test.op == VectorOp::Less && test.kind == Kind::Op && test.a == b &&
      isConstant(test.b, &limit) && limit == 0 && scaled.kind == Kind::Op &&
      scaled.op == VectorOp::MulScalar && scaled.a == b && scaled.scalar >= 0 && scaled.scalar <= 1)
    return binary(VectorOp::Max, a, b);
  Step step;
  step.op = VectorOp::Select;
  step.a = a;
  step.b = b;
  step.mask = mask;
  step.roundings = std::max({list[a].roundings, list[b].roundings, list[mask].roundings});
  return append(step);
}

/// 1 / (1 + e^-z) of factor * a.
int VectorPlan::normalDistribution(int a, double factor) {
  double limit = kNormalLimit / factor;
  int before = list[a].roundings;
  int x = unary(VectorOp::MinScalar, unary(VectorOp::MaxScalar, a, -limit), limit);
  int square = mul(x, x);
  double f2 = factor * factor;
  int sum = add(mul(square, constant(-kNormal[2] * factor * f2 * f2)),
                constant(-kNormal[1] * factor * f2));
  sum = add(mul(sum, square), constant(-kNormal[0] * factor));
  int power = unary(VectorOp::Exp, mul(sum, x));
  int result = unary(VectorOp::Reciprocal, add(power, constant(1)));
  // The error hardly matters for large z.
  list[result].roundings = before ? kManyRoundings : 2;
  return result;
}

/// Computes 1 - 2 / (e^2x + 1), which has the right limits on both sides.
int VectorPlan::tanh(int a) {
  int power = unary(VectorOp::Exp, mul(a, constant(2)));
  int result =
      add(mul(unary(VectorOp::Reciprocal, add(power, constant(1))), constant(-2)), constant(1));
  // In f16 nothing would be left of small results.
  list[result].roundings = kManyRoundings;
  return result;
}

/// Twice the normal distribution's function of x sqrt(2), less 1.
int VectorPlan::erf(int a) {
  int result = add(mul(normalDistribution(a, M_SQRT2), constant(2)), constant(-1));
  list[result].roundings = kManyRoundings;
  return result;
}

int VectorPlan::power(int a, double exponent) {
  if (exponent == 0.5)
    return unary(VectorOp::Sqrt, a);
  if (exponent == -0.5)
    return unary(VectorOp::Rsqrt, a);
  double whole = std::abs(exponent);
  if (whole != std::floor(whole) || whole < 1 || whole > 16)
    return -1;
  int result = -1, square = a;
  for (int rest = int(whole); rest; rest /= 2) {
    if (rest & 1)
      result = result < 0 ? square : mul(result, square);
    if (rest > 1)
      square = mul(square, square);
  }
  return exponent < 0 ? unary(VectorOp::Reciprocal, result) : result;
}

//===----------------------------------------------------------------------===//
// Reading the body
//===----------------------------------------------------------------------===//

int VectorPlan::valueOf(Value value) {
  for (auto [known, step] : values)
    if (known == value)
      return step;
  int step = -1;
  Attribute attribute;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &body)
      step = input(argument.getArgNumber());
  } else if (matchPattern(value, m_Constant(&attribute))) {
    if (auto number = dyn_cast<FloatAttr>(attribute))
      step = constant(number.getValueAsDouble());
    else if (auto number = dyn_cast<IntegerAttr>(attribute))
      step = constant(value.getType().isInteger(1) ? double(number.getValue().getBoolValue())
                                                   : double(number.getInt()));
  }
  if (step >= 0)
    values.push_back({value, step});
  return step;
}

/// Matches 0.5 (1 + erf(c v)), the core of gelu; returns v, and c sqrt(2) as `factor`. It costs
/// less than erf and can be computed in f16.
static Value matchHalfErf(Value value, double &factor) {
  auto operands = [](Value value, auto tag, double wanted) -> Value {
    auto op = value.getDefiningOp<decltype(tag)>();
    if (!op)
      return {};
    for (unsigned i : {0, 1}) {
      FloatAttr number;
      if (matchPattern(op->getOperand(i), m_Constant(&number)) &&
          std::abs(number.getValueAsDouble() - wanted) < 1e-6)
        return op->getOperand(1 - i);
    }
    return {};
  };
  Value sum = operands(value, arith::MulFOp(), 0.5);
  Value function = sum ? operands(sum, arith::AddFOp(), 1.0) : Value();
  auto erf = function ? function.getDefiningOp<math::ErfOp>() : math::ErfOp();
  if (!erf)
    return {};
  factor = M_SQRT2;
  Value inner = erf.getOperand();
  FloatAttr scale;
  if (auto product = inner.getDefiningOp<arith::MulFOp>())
    for (unsigned i : {0, 1})
      if (matchPattern(product->getOperand(i), m_Constant(&scale)) &&
          scale.getValueAsDouble() > 0) {
        factor *= scale.getValueAsDouble();
        return product->getOperand(1 - i);
      }
  if (auto quotient = inner.getDefiningOp<arith::DivFOp>())
    if (matchPattern(quotient.getRhs(), m_Constant(&scale)) && scale.getValueAsDouble() > 0) {
      factor /= scale.getValueAsDouble();
      return quotient.getLhs();
    }
  return inner;
}

bool VectorPlan::readCompare(Operation &op) {
  auto compare = cast<arith::CmpFOp>(op);
  int a = valueOf(compare.getLhs()), b = valueOf(compare.getRhs());
  if (a < 0 || b < 0)
    return false;
  using enum arith::CmpFPredicate;
  int result;
  switch (compare.getPredicate()) {
  case OEQ:
  case UEQ:
    result = binary(VectorOp::Equal, a, b);
    break;
  case ONE:
  case UNE:
    result = sub(constant(1), binary(VectorOp::Equal, a, b));
    break;
  case OLT:
  case ULT:
    result = binary(VectorOp::Less, a, b);
    break;
  case OGT:
  case UGT:
    result = binary(VectorOp::Less, b, a);
    break;
  case OLE:
  case ULE:
    result = binary(VectorOp::LessEqual, a, b);
    break;
  case OGE:
  case UGE:
    result = binary(VectorOp::LessEqual, b, a);
    break;
  default:
    return false;
  }
  values.push_back({compare.getResult(), result});
  return true;
}

bool VectorPlan::read(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  if (op.getNumResults() != 1)
    return false;
  if (isa<arith::CmpFOp>(op))
    return readCompare(op);
  if (isa<arith::FPToUIOp, arith::FPToSIOp>(op))
    return readQuantization(op);
  Type resultType = op.getResult(0).getType();
  bool isBool = resultType.isInteger(1);
  if (!resultType.isF32() && !resultType.isF16() && !isBool)
    return false;
  llvm::SmallVector<int> in;
  for (Value operand : op.getOperands()) {
    in.push_back(valueOf(operand));
    if (in.back() < 0)
      return false;
  }
  // Integers are only there to become floats.
  for (Value operand : op.getOperands())
    if (operand.getType().isIntOrIndex() && !operand.getType().isInteger(1) &&
        (!isa<arith::SIToFPOp, arith::UIToFPOp>(op) ||
         !(isa<BlockArgument>(operand) || isReadBack(op, operand))))
      return false;
  bool isConversion = isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op);
  if (!isBool && !isConversion)
    halfOnly &= resultType.isF16();
  double factor = 1, exponent;
  Value half = isa<arith::MulFOp>(op) ? matchHalfErf(op.getResult(0), factor) : Value();
  int result =
      llvm::TypeSwitch<Operation *, int>(&op)
          .Case<arith::AddFOp>([&](auto) { return add(in[0], in[1]); })
          .Case<arith::SubFOp>([&](auto) { return sub(in[0], in[1]); })
          .Case<arith::MulFOp>([&](auto) {
            return half ? normalDistribution(valueOf(half), factor) : mul(in[0], in[1]);
          })
          .Case<arith::DivFOp>([&](auto) { return div(in[0], in[1]); })
          .Case<arith::NegFOp>([&](auto) { return unary(VectorOp::Neg, in[0]); })
          .Case<arith::MaximumFOp, arith::MaxNumFOp>(
              [&](auto) { return maxmin(VectorOp::Max, VectorOp::MaxScalar, in[0], in[1]); })
          .Case<arith::MinimumFOp, arith::MinNumFOp>(
              [&](auto) { return maxmin(VectorOp::Min, VectorOp::MinScalar, in[0], in[1]); })
          .Case<arith::SelectOp>([&](auto) { return select(in[0], in[1], in[2]); })
          .Case<arith::AndIOp>([&](auto) { return isBool ? mul(in[0], in[1]) : -1; })
          .Case<arith::OrIOp>([&](auto) {
            return isBool ? maxmin(VectorOp::Max, VectorOp::MaxScalar, in[0], in[1]) : -1;
          })
          .Case<arith::XOrIOp>([&](auto) {
            // Compares two bools: the square of the difference.
            int difference = sub(in[0], in[1]);
            return isBool ? mul(difference, difference) : -1;
          })
          .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
          .Case<arith::SIToFPOp>([&](auto) { return in[0]; })
          .Case<arith::UIToFPOp>([&](arith::UIToFPOp conversion) {
            // A bool is already 0 or 1.
            Type from = conversion.getIn().getType();
            if (from.isInteger(8) && isa<BlockArgument>(conversion.getIn()))
              inputTypes[list[in[0]].input] =
                  IntegerType::get(from.getContext(), 8, IntegerType::Unsigned);
            return from.isInteger(1) || from.isInteger(8) ? in[0] : -1;
          })
          .Case<math::ExpOp>([&](auto) { return unary(VectorOp::Exp, in[0]); })
          .Case<math::ExpM1Op>([&](auto) { return add(unary(VectorOp::Exp, in[0]), constant(-1)); })
          .Case<math::Exp2Op>(
              [&](auto) { return unary(VectorOp::Exp, mul(in[0], constant(M_LN2))); })
          .Case<math::LogOp>([&](auto) { return unary(VectorOp::Ln, in[0]); })
          .Case<math::Log1pOp>([&](auto) { return unary(VectorOp::Ln, add(in[0], constant(1))); })
          .Case<math::Log2Op>(
              [&](auto) { return mul(unary(VectorOp::Ln, in[0]), constant(1 / M_LN2)); })
          .Case<math::SqrtOp>([&](auto) { return unary(VectorOp::Sqrt, in[0]); })
          .Case<math::RsqrtOp>([&](auto) { return unary(VectorOp::Rsqrt, in[0]); })
          .Case<math::AbsFOp>([&](auto) { return unary(VectorOp::Abs, in[0]); })
          .Case<math::FloorOp>([&](auto) { return unary(VectorOp::Floor, in[0]); })
          .Case<math::CeilOp>([&](auto) { return unary(VectorOp::Ceil, in[0]); })
          .Case<math::RoundEvenOp>([&](auto) { return unary(VectorOp::Round, in[0]); })
          .Case<math::TanhOp>([&](auto) { return tanh(in[0]); })
          .Case<math::ErfOp>([&](auto) { return erf(in[0]); })
          .Case<math::FmaOp>([&](auto) { return add(mul(in[0], in[1]), in[2]); })
          .Case<math::PowFOp>(
              [&](auto) { return isConstant(in[1], &exponent) ? power(in[0], exponent) : -1; })
          .Default([](Operation *) { return -1; });
  if (result < 0)
    return false;
  values.push_back({op.getResult(0), result});
  return true;
}

/// An integer of 8 bits between float ops is its value, which the code in front has rounded and
/// clamped.
bool VectorPlan::readQuantization(Operation &op) {
  int value = storedNumberOf(&op) ? valueOf(op.getOperand(0)) : -1;
  if (value < 0)
    return false;
  halfOnly = false;
  values.push_back({op.getResult(0), value});
  return true;
}

bool VectorPlan::isReadBack(Operation &op, Value integer) {
  Operation *definition = integer.getDefiningOp();
  return isa<arith::UIToFPOp>(op) ? isa_and_nonnull<arith::FPToUIOp>(definition)
                                  : isa_and_nonnull<arith::FPToSIOp>(definition);
}

//===----------------------------------------------------------------------===//
// Types, fusion, slots
//===----------------------------------------------------------------------===//

void VectorPlan::chooseType() {
  bool half = halfOnly && storedType.isF16() && list[resultStep].roundings <= kMostRoundings;
  for (const Step &step : list)
    half &= step.kind != Kind::Input || !inputType(step.input).isF32();
  type = half ? Type(Float16Type::get(storedType.getContext()))
              : Type(Float32Type::get(storedType.getContext()));
}

template <typename Visit> void VectorPlan::forEachOperand(Step &step, Visit visit) {
  if (step.kind != Kind::Op)
    return;
  for (int *operand : {&step.a, &step.b, &step.mask, &step.target})
    if (*operand >= 0)
      visit(*operand);
}

/// Inputs of other types are cast once, in front.
void VectorPlan::castInputs() {
  if (isCast())
    return;
  llvm::SmallVector<Step> old = std::move(list);
  llvm::SmallVector<int> moved(old.size());
  list.clear();
  for (auto [index, step] : llvm::enumerate(old)) {
    forEachOperand(step, [&](int &operand) { operand = moved[operand]; });
    moved[index] = append(step);
    if (step.kind == Kind::Input && inputType(step.input) != type)
      moved[index] = unary(VectorOp::Cast, moved[index]);
  }
  resultStep = moved[resultStep];
}

void VectorPlan::findLives() {
  for (Step &step : list) {
    step.used = false;
    step.lastUse = -1;
  }
  list[resultStep].used = true;
  list[resultStep].lastUse = list.size();
  for (int index = list.size() - 1; index >= 0; --index) {
    if (!list[index].used)
      continue;
    forEachOperand(list[index], [&](int operand) {
      list[operand].used = true;
      list[operand].lastUse = std::max(list[operand].lastUse, index);
    });
  }
}

/// Factors join the conversion in front of them, or the one of the result.
void VectorPlan::fuseScales() {
  if (!type.isF32() || !exact)
    return;
  llvm::SmallVector<int> uses(list.size(), 0);
  for (Step &step : list)
    if (step.used)
      forEachOperand(step, [&](int operand) { ++uses[operand]; });
  const Step result = list[resultStep];
  if (storedType != type && result.kind == Kind::Op && result.op == VectorOp::MulScalar &&
      uses[resultStep] == 0 && list[result.a].kind == Kind::Op) {
    resultScale = result.scalar;
    resultStep = result.a;
  }
  for (Step &step : list)
    if (step.used && step.kind == Kind::Op && step.op == VectorOp::MulScalar &&
        list[step.a].kind == Kind::Op && list[step.a].op == VectorOp::Cast && uses[step.a] == 1) {
      step.op = VectorOp::CastScaled;
      step.a = list[step.a].a;
    }
}

/// x * y + z where nobody needs z any more is one instruction.
void VectorPlan::fuse() {
  llvm::SmallVector<int> uses(list.size(), 0);
  for (Step &step : list)
    if (step.used)
      forEachOperand(step, [&](int operand) { ++uses[operand]; });
  for (auto [index, step] : llvm::enumerate(list)) {
    // A result in its final type is written to the output, a product in place of z.
    bool isOutput = int(index) == resultStep && type == storedType;
    if (!step.used || step.kind != Kind::Op || step.op != VectorOp::Add || isOutput)
      continue;
    for (bool swap : {false, true}) {
      int product = swap ? step.b : step.a, sum = swap ? step.a : step.b;
      const Step &factor = list[product], &target = list[sum];
      bool isProduct = factor.kind == Kind::Op && uses[product] == 1 &&
                       (factor.op == VectorOp::Mul || factor.op == VectorOp::MulScalar);
      if (!isProduct || product == sum || target.kind != Kind::Op || uses[sum] != 1)
        continue;
      step.op = factor.op == VectorOp::Mul ? VectorOp::Madd : VectorOp::Axpy;
      step.target = sum;
      step.scalar = factor.scalar;
      step.a = factor.a;
      step.b = factor.b;
      break;
    }
  }
}

void VectorPlan::assignSlots() {
  places.assign(list.size(), -1);
  llvm::SmallVector<bool> busy;
  for (auto [index, step] : llvm::enumerate(list)) {
    if (!step.used || step.kind != Kind::Op)
      continue;
    // The buffer of an operand that is not used later may be overwritten: all operands are read
    // first.
    forEachOperand(step, [&](int operand) {
      if (list[operand].lastUse == int(index) && places[operand] >= 0)
        busy[places[operand]] = false;
    });
    if (int(index) == resultStep && type == storedType)
      continue;
    if (step.target >= 0) {
      places[index] = places[step.target];
    } else {
      auto free = llvm::find(busy, false);
      places[index] = free - busy.begin();
      if (free == busy.end())
        busy.push_back(false);
    }
    busy[places[index]] = true;
  }
  slotCount = busy.size();
}

} // namespace atc::npu
