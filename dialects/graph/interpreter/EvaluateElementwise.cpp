//===-- EvaluateElementwise.cpp - elementwise ops by their formulas ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas are written again, in double and for 64-bit integers, instead of using buildScalar,
// so that the two check each other.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/interpreter/Arithmetic.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <functional>

using namespace mlir;

namespace atc::graph::interpreter {

using FloatFunction = std::function<double(const double *)>;
using IntegerFunction = std::function<uint64_t(const uint64_t *)>;
using FloatPredicate = std::function<bool(const double *)>;

//===----------------------------------------------------------------------===//
// Formulas in double
//===----------------------------------------------------------------------===//

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
static double clamp(double x, double low, double high) {
  // Written so that NaN stays NaN, and with bounds that contradict each other the upper one holds.
  const double raised = x < low ? low : x;
  return raised > high ? high : raised;
}
static double hardSigmoid(double x, double alpha, double beta) {
  return clamp(alpha * x + beta, 0.0, 1.0);
}
static double gelu(double x, bool approximate) {
  if (approximate)
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1.0 + std::erf(x * M_SQRT1_2));
}

/// The remainder with the sign of the divisor.
static double floorMod(double a, double b) {
  double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double activate(ActivationKind kind, double alpha, double beta, double x, double slope) {
  switch (kind) {
  case ActivationKind::Relu:
    return x < 0 ? 0 : x;
  case ActivationKind::Clip:
    return clamp(x, alpha, beta);
  case ActivationKind::LeakyRelu:
    return x < 0 ? alpha * x : x;
  case ActivationKind::PRelu:
    return x < 0 ? slope * x : x;
  case ActivationKind::HardSwish:
    return x * hardSigmoid(x, 1.0 / 6.0, 0.5);
  case ActivationKind::HardSigmoid:
    return hardSigmoid(x, alpha, beta);
  case ActivationKind::Sigmoid:
    return sigmoid(x);
  case ActivationKind::Silu:
    return x * sigmoid(x);
  case ActivationKind::Mish:
    return x * std::tanh(softplus(x));
  case ActivationKind::Tanh:
    return std::tanh(x);
  case ActivationKind::Gelu:
    return gelu(x, alpha != 0);
  }
  return x;
}

static FloatFunction unaryFunction(Operation *op) {
  auto fused = [](ActivationKind kind, double alpha = 0, double beta = 0) -> FloatFunction {
    return [=](const double *a) { return activate(kind, alpha, beta, a[0]); };
  };
  auto plain = [](double (*function)(double)) -> FloatFunction {
    return [=](const double *a) { return function(a[0]); };
  };
  using Function = FloatFunction;
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](AbsOp) { return plain(std::fabs); })
      .Case([&](NegOp) { return plain([](double x) { return -x; }); })
      .Case([&](SignOp) { return plain([](double x) { return x > 0   ? 1.0
                                                             : x < 0 ? -1.0
                                                                     : x; }); })
      .Case([&](ExpOp) { return plain(std::exp); })
      .Case([&](LogOp) { return plain(std::log); })
      .Case([&](SqrtOp) { return plain(std::sqrt); })
      .Case([&](RsqrtOp) { return plain([](double x) { return 1.0 / std::sqrt(x); }); })
      .Case([&](ReciprocalOp) { return plain([](double x) { return 1.0 / x; }); })
      .Case([&](FloorOp) { return plain(std::floor); })
      .Case([&](CeilOp) { return plain(std::ceil); })
      .Case([&](RoundOp) { return plain(std::nearbyint); })
      .Case([&](SinOp) { return plain(std::sin); })
      .Case([&](CosOp) { return plain(std::cos); })
      .Case([&](TanOp) { return plain(std::tan); })
      .Case([&](AsinOp) { return plain(std::asin); })
      .Case([&](AcosOp) { return plain(std::acos); })
      .Case([&](AtanOp) { return plain(std::atan); })
      .Case([&](SinhOp) { return plain(std::sinh); })
      .Case([&](CoshOp) { return plain(std::cosh); })
      .Case([&](TanhOp) { return plain(std::tanh); })
      .Case([&](AsinhOp) { return plain(std::asinh); })
      .Case([&](AcoshOp) { return plain(std::acosh); })
      .Case([&](AtanhOp) { return plain(std::atanh); })
      .Case([&](ErfOp) { return plain(std::erf); })
      .Case([&](SoftplusOp) { return plain(softplus); })
      .Case([&](SoftsignOp) { return plain([](double x) { return x / (1.0 + std::abs(x)); }); })
      .Case([&](SigmoidOp) { return fused(ActivationKind::Sigmoid); })
      .Case([&](ReluOp) { return fused(ActivationKind::Relu); })
      .Case([&](SiluOp) { return fused(ActivationKind::Silu); })
      .Case([&](MishOp) { return fused(ActivationKind::Mish); })
      .Case([&](HardSwishOp) { return fused(ActivationKind::HardSwish); })
      .Case([&](GeluOp gelu) {
        return fused(ActivationKind::Gelu, gelu.getApproximate() ? 1.0 : 0.0);
      })
      .Case([&](LeakyReluOp leaky) {
        return fused(ActivationKind::LeakyRelu, leaky.getAlpha().convertToDouble());
      })
      .Case([&](HardSigmoidOp hard) {
        return fused(ActivationKind::HardSigmoid, hard.getAlpha().convertToDouble(),
                     hard.getBeta().convertToDouble());
      })
      .Case([&](ClipOp clip) {
        return fused(ActivationKind::Clip, clip.getMin().convertToDouble(),
                     clip.getMax().convertToDouble());
      })
      .Case([&](EluOp elu) -> Function {
        double alpha = elu.getAlpha().convertToDouble();
        return [=](const double *a) { return a[0] < 0 ? alpha * std::expm1(a[0]) : a[0]; };
      })
      .Case([&](SeluOp selu) -> Function {
        double alpha = selu.getAlpha().convertToDouble(), gamma = selu.getGamma().convertToDouble();
        return
            [=](const double *a) { return gamma * (a[0] < 0 ? alpha * std::expm1(a[0]) : a[0]); };
      })
      .Case([&](ThresholdedReluOp relu) -> Function {
        double alpha = relu.getAlpha().convertToDouble();
        return [=](const double *a) { return a[0] > alpha ? a[0] : 0.0; };
      })
      .Default(Function());
}

static FloatFunction binaryFunction(Operation *op) {
  auto plain = [](double (*function)(double, double)) -> FloatFunction {
    return [=](const double *a) { return function(a[0], a[1]); };
  };
  using Function = FloatFunction;
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](AddOp) { return plain([](double a, double b) { return a + b; }); })
      .Case([&](SubOp) { return plain([](double a, double b) { return a - b; }); })
      .Case([&](MulOp) { return plain([](double a, double b) { return a * b; }); })
      .Case([&](DivOp) { return plain([](double a, double b) { return a / b; }); })
      .Case([&](PowOp) { return plain(std::pow); })
      .Case([&](MaxOp) { return plain(maximum); })
      .Case([&](MinOp) { return plain(minimum); })
      .Case([&](PReluOp) { return plain([](double a, double b) { return a < 0 ? b * a : a; }); })
      .Case([&](ModOp mod) { return mod.getFmod() ? plain(std::fmod) : plain(floorMod); })
      .Default(Function());
}

//===----------------------------------------------------------------------===//
// Formulas for integers, extended to 64 bits
//===----------------------------------------------------------------------===//

/// Quotient and remainder by the rules of the element type.
static uint64_t integerQuotient(uint64_t a, uint64_t b, bool isUnsigned) {
  return isUnsigned ? a / b : signedQuotient(a, b);
}
static uint64_t integerRemainder(uint64_t a, uint64_t b, bool isUnsigned) {
  return a - integerQuotient(a, b, isUnsigned) * b;
}

static bool isLess(uint64_t a, uint64_t b, bool isUnsigned) {
  return isUnsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

static IntegerFunction integerFunction(Operation *op, Type element) {
  bool isUnsigned = isUnsignedElement(element);
  auto isNegative = [=](uint64_t x) { return isLess(x, 0, isUnsigned); };
  auto plain = [](auto function) -> IntegerFunction {
    return [=](const uint64_t *a) { return function(a[0], a[1]); };
  };
  using Function = IntegerFunction;
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](AbsOp) -> Function {
        return [=](const uint64_t *a) { return isNegative(a[0]) ? 0 - a[0] : a[0]; };
      })
      .Case([&](NegOp) -> Function { return [](const uint64_t *a) { return 0 - a[0]; }; })
      .Case([&](SignOp) -> Function {
        return [=](const uint64_t *a) -> uint64_t {
          return isNegative(a[0]) ? ~uint64_t(0) : a[0] != 0;
        };
      })
      .Case([&](ReluOp) -> Function {
        return [=](const uint64_t *a) { return isNegative(a[0]) ? 0 : a[0]; };
      })
      .Case([&](ClipOp clip) -> Function {
        auto bound = [&](double value) -> uint64_t {
          APInt integer = saturateToInteger(value, element.getIntOrFloatBitWidth(), isUnsigned);
          return isUnsigned ? integer.getZExtValue() : integer.getSExtValue();
        };
        uint64_t low = bound(std::ceil(clip.getMin().convertToDouble()));
        uint64_t high = bound(std::floor(clip.getMax().convertToDouble()));
        return [=](const uint64_t *a) {
          uint64_t raised = isLess(a[0], low, isUnsigned) ? low : a[0];
          return isLess(high, raised, isUnsigned) ? high : raised;
        };
      })
      .Case([&](NotOp) -> Function { return [](const uint64_t *a) { return a[0] ^ 1; }; })
      .Case([&](AddOp) { return plain([](uint64_t a, uint64_t b) { return a + b; }); })
      .Case([&](SubOp) { return plain([](uint64_t a, uint64_t b) { return a - b; }); })
      .Case([&](MulOp) { return plain([](uint64_t a, uint64_t b) { return a * b; }); })
      .Case([&](AndOp) { return plain([](uint64_t a, uint64_t b) { return a & b; }); })
      .Case([&](OrOp) { return plain([](uint64_t a, uint64_t b) { return a | b; }); })
      .Case([&](XorOp) { return plain([](uint64_t a, uint64_t b) { return a ^ b; }); })
      .Case([&](DivOp) {
        return plain([=](uint64_t a, uint64_t b) { return integerQuotient(a, b, isUnsigned); });
      })
      .Case([&](ModOp mod) {
        bool truncates = mod.getFmod() || isUnsigned;
        return plain([=](uint64_t a, uint64_t b) {
          uint64_t remainder = integerRemainder(a, b, isUnsigned);
          bool differ = remainder != 0 && isNegative(remainder) != isNegative(b);
          return !truncates && differ ? remainder + b : remainder;
        });
      })
      .Case([&](PowOp) { return plain([](uint64_t a, uint64_t b) { return integerPower(a, b); }); })
      .Case([&](MaxOp) {
        return plain([=](uint64_t a, uint64_t b) { return isLess(a, b, isUnsigned) ? b : a; });
      })
      .Case([&](MinOp) {
        return plain([=](uint64_t a, uint64_t b) { return isLess(b, a, isUnsigned) ? b : a; });
      })
      .Case([&](PReluOp) {
        return plain([=](uint64_t a, uint64_t b) { return isNegative(a) ? a * b : a; });
      })
      .Default(Function());
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Computes one value of type T per element of the result: `function` of the operands' elements at
/// its position.
template <typename T, typename In, typename Function>
static std::vector<T> applyFunction(const Evaluation &e, ArrayRef<std::vector<In>> elements,
                                    const Function &function) {
  SmallVector<Strides> strides;
  for (const Tensor *operand : e.operands)
    strides.push_back(broadcastStrides(operand->getShape(), e.type.getShape()));
  std::vector<T> values;
  values.reserve(e.type.getNumElements());
  SmallVector<In, 4> args(elements.size());
  forEachPosition(e.type.getShape(), strides, [&](ArrayRef<int64_t> offsets) {
    for (size_t i = 0; i < elements.size(); ++i)
      args[i] = elements[i][offsets[i]];
    values.push_back(function(args.data()));
  });
  return values;
}

static SmallVector<std::vector<double>, 0> readDoubles(const Evaluation &e) {
  return llvm::map_to_vector<0>(e.operands, [](const Tensor *t) { return t->toDoubles(); });
}
static SmallVector<std::vector<uint64_t>, 0> readIntegers(const Evaluation &e) {
  return llvm::map_to_vector<0>(e.operands, [](const Tensor *t) { return t->toIntegers(); });
}

template <typename T> static bool comparePair(ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return a == b;
  case ComparePredicate::Ne:
    return a != b;
  case ComparePredicate::Lt:
    return a < b;
  case ComparePredicate::Le:
    return a <= b;
  case ComparePredicate::Gt:
    return a > b;
  case ComparePredicate::Ge:
    return a >= b;
  }
  return false;
}

static Result evaluateCompare(CompareOp op, const Evaluation &e) {
  ComparePredicate predicate = op.getPredicate();
  Type element = e.operands[0]->getElementType();
  if (isa<FloatType>(element))
    return Tensor::fromIntegers(
        e.type, applyFunction<uint64_t>(e, ArrayRef(readDoubles(e)), [=](const double *a) {
          return comparePair(predicate, a[0], a[1]);
        }));
  bool isUnsigned = isUnsignedElement(element);
  return Tensor::fromIntegers(
      e.type, applyFunction<uint64_t>(e, ArrayRef(readIntegers(e)), [=](const uint64_t *a) {
        return isUnsigned
                   ? comparePair(predicate, a[0], a[1])
                   : comparePair(predicate, static_cast<int64_t>(a[0]), static_cast<int64_t>(a[1]));
      }));
}

static Result evaluateWhere(const Evaluation &e) {
  if (e.isFloat())
    return Tensor::fromDoubles(
        e.type, applyFunction<double>(e, ArrayRef(readDoubles(e)),
                                      [](const double *a) { return a[0] != 0 ? a[1] : a[2]; }));
  return Tensor::fromIntegers(
      e.type, applyFunction<uint64_t>(e, ArrayRef(readIntegers(e)),
                                      [](const uint64_t *a) { return a[0] != 0 ? a[1] : a[2]; }));
}

static Result evaluateCast(const Evaluation &e) {
  const Tensor &input = *e.operands[0];
  // Integers are not converted through double, which would round large ones.
  if (isa<FloatType>(input.getElementType()) || e.isFloat())
    return Tensor::fromDoubles(e.type, input.toDoubles());
  std::vector<uint64_t> values = input.toIntegers();
  if (e.type.getElementType().isInteger(1))
    for (uint64_t &value : values)
      value = value != 0;
  return Tensor::fromIntegers(e.type, values);
}

Result evaluateElementwise(const Evaluation &e) {
  if (auto compare = dyn_cast<CompareOp>(e.op))
    return evaluateCompare(compare, e);
  if (isa<WhereOp>(e.op))
    return evaluateWhere(e);
  if (isa<CastOp>(e.op))
    return evaluateCast(e);
  if (isa<IsNanOp>(e.op))
    return Tensor::fromIntegers(
        e.type, applyFunction<uint64_t>(e, ArrayRef(readDoubles(e)),
                                        [](const double *a) { return std::isnan(a[0]); }));
  if (e.isFloat()) {
    FloatFunction function = unaryFunction(e.op);
    if (!function)
      function = binaryFunction(e.op);
    if (!function)
      return e.fail("has no formula for floating-point elements");
    return Tensor::fromDoubles(e.type,
                               applyFunction<double>(e, ArrayRef(readDoubles(e)), function));
  }
  IntegerFunction function = integerFunction(e.op, e.type.getElementType());
  if (!function)
    return e.fail("has no formula for integer elements");
  auto elements = readIntegers(e);
  if (isa<DivOp, ModOp>(e.op) && llvm::is_contained(elements[1], 0))
    return e.fail("divides an integer by zero");
  return Tensor::fromIntegers(e.type, applyFunction<uint64_t>(e, ArrayRef(elements), function));
}

} // namespace atc::graph::interpreter
