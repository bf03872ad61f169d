//===-- VectorPlan.cpp - which vector instructions make a scalar body --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/VectorPlan.h"

#include "passes/ErrorFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

namespace {

/// Results in f16 are computed in f16 as long as no value is rounded more often
/// on its way; functions whose error grows with that of their argument count as
/// more than that.
constexpr int kMaxRoundings = 4, kManyRoundings = 100;

/// The distribution function of the normal distribution is 1 / (1 + e^-z), z =
/// x (c0 + c1 x^2 + c2 x^4) for |x| below the limit, where z is 19: fitted, the
/// largest error is 1.9e-5.
constexpr double kNormal[] = {1.5954356664299405, 0.07359651080680117, -0.0006316135627475883};
constexpr double kNormalLimit = 5.8;

} // namespace

VectorPlan::VectorPlan(Block &body) : body(body) {
  for (Type type : body.getArgumentTypes())
    if (!type.isF32() && !type.isF16() && !type.isInteger(8) && !type.isInteger(32) &&
        !type.isInteger(1) && (!type.isInteger(64) || type.isUnsignedInteger())) {
      llvm::raw_string_ostream(problem) << "operands of " << type;
      return;
    }
  // A bool is a byte that is 0 or 1.
  Type boolType = IntegerType::get(body.getTerminator()->getContext(), 8, IntegerType::Unsigned);
  for (Type type : body.getArgumentTypes())
    inputTypes.push_back(type.isInteger(1) ? boolType : type);
  Operation *store = nullptr;
  if (body.getTerminator()->getNumOperands() == 1) {
    Value result = body.getTerminator()->getOperand(0);
    bool hasBytes =
        llvm::any_of(body.getArgumentTypes(), [](Type type) { return type.isInteger(8); });
    exact = result.getType().isInteger(8) || (result.getType().isF32() && hasBytes);
    // From f16 to f32 there is no accuracy to keep.
    keepsFloats = result.getType().isF32() &&
                  llvm::all_of(body.getArgumentTypes(), [](Type type) { return !type.isF16(); });
    Operation *conversion = result.getDefiningOp();
    const bool isWide = result.getType().isInteger(32) || result.getType().isInteger(64);
    if ((result.getType().isInteger(8) &&
         isa_and_nonnull<arith::FPToUIOp, arith::FPToSIOp>(conversion)) ||
        (isWide && isa_and_nonnull<arith::FPToSIOp>(conversion)))
      store = conversion;
  }
  for (Operation &op : body.without_terminator())
    exact |= isa<arith::FPToUIOp, arith::FPToSIOp>(op);
  for (Operation &op : body.without_terminator())
    if (&op != store && !read(op)) {
      llvm::raw_string_ostream os(problem);
      os << op.getName();
      if (op.getNumOperands())
        os << " of " << op.getOperand(0).getType();
      return;
    }
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1) {
    problem = "no value";
    return;
  }
  storedType = yield->getOperand(0).getType(); // of bytes as readStore finds it
  resultStep = store ? readStore(store).value_or(-1) : valueOf(yield->getOperand(0));
  if (storedType.isInteger(1))
    storedType = boolType;
  if (resultStep < 0 ||
      !(storedType.isF32() || storedType.isF16() || storedType == boolType || store)) {
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

int VectorPlan::inFloat(int step) {
  list[step].roundings = kManyRoundings;
  return step;
}

/// Computes 1 - 2 / (e^2x + 1), which has the right limits on both sides.
int VectorPlan::tanh(int a) {
  int power = unary(VectorOp::Exp, mul(a, constant(2)));
  int result =
      add(mul(unary(VectorOp::Reciprocal, add(power, constant(1))), constant(-2)), constant(1));
  // In f16 nothing would be left of small results.
  return inFloat(result);
}

/// Computes twice the normal distribution's function of x sqrt(2), less 1; by the CPU's formula
/// where f32 is stored, and integers, whose rounding an error of 1.9e-5 would change too often.
int VectorPlan::erf(int a) {
  if (!exact && !keepsFloats)
    return inFloat(add(mul(normalDistribution(a, M_SQRT2), constant(2)), constant(-1)));
  auto clamp = [&](int value, double limit) {
    return unary(VectorOp::MinScalar, unary(VectorOp::MaxScalar, value, -limit), limit);
  };
  auto series = [&](int x, llvm::ArrayRef<double> lowestFirst) {
    return polynomial(x, llvm::to_vector(llvm::reverse(lowestFirst)));
  };
  const int x = clamp(a, kErfEnd), square = mul(x, x);
  const int quotient =
      binary(VectorOp::Div, mul(x, series(square, kErfNumerator)), series(square, kErfDenominator));
  return inFloat(clamp(quotient, 1)); // rounding may exceed 1
}

/// Computes the sine of what is left of a multiple of pi (an odd multiple of pi / 2 for a cosine),
/// by its Taylor series up to the power of 11; odd multiples change its sign.
int VectorPlan::sine(int a, bool isCosine) {
  // Their sum is pi; products with integers below 2^15 are exact but for the last one.
  constexpr double pi[] = {3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7};
  constexpr double series[] = {-1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6};
  int turns = mul(a, constant(1 / M_PI));
  int number = unary(VectorOp::Round, isCosine ? add(turns, constant(-0.5)) : turns);
  int multiple = isCosine ? add(number, constant(0.5)) : number;
  int x = a;
  for (double part : pi)
    x = add(x, mul(multiple, constant(-part)));
  int square = mul(x, x);
  int value = add(mul(mul(x, square), polynomial(square, series)), x);
  int even = mul(unary(VectorOp::Floor, mul(number, constant(0.5))), constant(2));
  int odd = sub(number, even);
  int sign = add(mul(odd, constant(isCosine ? 2 : -2)), constant(isCosine ? -1 : 1));
  int result = mul(value, sign);
  // A multiple of pi is no number of f16.
  return inFloat(result);
}

/// Computes what a division leaves, with the sign of the dividend: exactly as long as the quotient
/// times the divisor is a number of f32.
int VectorPlan::remainder(int a, int b) {
  double divisor;
  int x = unary(VectorOp::Abs, a);
  int y = isConstant(b, &divisor) ? constant(std::abs(divisor)) : unary(VectorOp::Abs, b);
  int quotient = unary(VectorOp::Floor, binary(VectorOp::Div, x, y));
  int rest = sub(x, mul(quotient, y));
  // The quotient may have been rounded to the next integer, or from it.
  rest = select(binary(VectorOp::Less, rest, constant(0)), add(rest, y), rest);
  rest = select(binary(VectorOp::LessEqual, y, rest), sub(rest, y), rest);
  int result = select(binary(VectorOp::Less, a, constant(0)), unary(VectorOp::Neg, rest), rest);
  return inFloat(result);
}

/// Multiplies `a` by itself for an exponent from 1.
int VectorPlan::wholePower(int a, int exponent) {
  int result = -1, square = a;
  for (int rest = exponent; rest; rest /= 2) {
    if (rest & 1)
      result = result < 0 ? square : mul(result, square);
    if (rest > 1)
      square = mul(square, square);
  }
  return result;
}

/// Computes powers by products, roots, or e^(b ln |a|). Below 0 a power is a number for whole
/// exponents alone, and has the sign of `a` for odd ones.
int VectorPlan::power(int a, int b) {
  constexpr int maxProducts = 16;
  double exponent = NAN;
  if (isConstant(b, &exponent)) {
    if (exponent == 0)
      return constant(1);
    if (exponent == 0.5)
      return unary(VectorOp::Sqrt, a);
    if (exponent == -0.5)
      return unary(VectorOp::Rsqrt, a);
    const double size = std::abs(exponent);
    if (size == std::floor(size) && size <= maxProducts) {
      int result = wholePower(a, int(size));
      return exponent < 0 ? unary(VectorOp::Reciprocal, result) : result;
    }
  }
  auto isEqual = [&](int x, int y) { return binary(VectorOp::Equal, x, y); };
  // e^(b ln a) is NaN below 0.
  auto raise = [&](int base) { return unary(VectorOp::Exp, mul(unary(VectorOp::Ln, base), b)); };
  auto isNegative = [&] { return binary(VectorOp::Less, a, constant(0)); };
  int result;
  if (double base; isConstant(a, &base) && base > 0) {
    result = base == 1 ? constant(1) : unary(VectorOp::Exp, mul(b, constant(std::log(base))));
  } else if (!std::isnan(exponent)) {
    const bool isWhole = exponent == std::floor(exponent);
    result = raise(isWhole ? unary(VectorOp::Abs, a) : a);
    if (isWhole && std::fmod(exponent, 2) != 0)
      result = select(isNegative(), unary(VectorOp::Neg, result), result);
  } else {
    int size = raise(unary(VectorOp::Abs, a));
    int half = mul(b, constant(0.5));
    int isEven = isEqual(unary(VectorOp::Floor, half), half);
    int isWhole = isEqual(unary(VectorOp::Floor, b), b);
    int signedSize = select(isEven, size, unary(VectorOp::Neg, size));
    int below = select(isWhole, signedSize, raise(a));
    result = select(isNegative(), below, size);
    // Where `a` is 0, its logarithm times 0 is NaN.
    result = select(isEqual(b, constant(0)), constant(1), result);
  }
  return inFloat(result);
}

//===----------------------------------------------------------------------===//
// Types, fusion, slots
//===----------------------------------------------------------------------===//

void VectorPlan::chooseType() {
  bool half = halfOnly && storedType.isF16() && list[resultStep].roundings <= kMaxRoundings;
  for (const Step &step : list)
    // Integers of more than 11 bits are no numbers of f16.
    half &= step.kind != Kind::Input || inputType(step.input).getIntOrFloatBitWidth() <= 16;
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
  slotByStep.assign(list.size(), -1);
  llvm::SmallVector<bool> busy;
  for (auto [index, step] : llvm::enumerate(list)) {
    if (!step.used || step.kind != Kind::Op)
      continue;
    // The buffer of an operand that is not used later may be overwritten: all operands are read
    // first.
    forEachOperand(step, [&](int operand) {
      if (list[operand].lastUse == int(index) && slotByStep[operand] >= 0)
        busy[slotByStep[operand]] = false;
    });
    if (int(index) == resultStep && type == storedType)
      continue;
    if (step.target >= 0) {
      slotByStep[index] = slotByStep[step.target];
    } else {
      auto free = llvm::find(busy, false);
      slotByStep[index] = free - busy.begin();
      if (free == busy.end())
        busy.push_back(false);
    }
    busy[slotByStep[index]] = true;
  }
  slotCount = busy.size();
}

} // namespace atc::npu
