//===-- EvaluateMap.cpp - graph.map by interpreting its body -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Arithmetic.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <functional>

using namespace mlir;

namespace atc::graph::interpreter {

namespace {

/// A scalar of the body: a float, or an integer zero-extended to 64 bits.
union Slot {
  double f;
  uint64_t i;
};

using Compute = std::function<Slot(const Slot *)>;

/// An operation of the body: slots[result] = compute(slots[operands]...).
struct Step {
  Compute compute;
  SmallVector<unsigned, 3> operands;
  unsigned result;
};

Slot floatSlot(double value) {
  Slot slot;
  slot.f = value;
  return slot;
}
Slot integerSlot(uint64_t value) {
  Slot slot;
  slot.i = value;
  return slot;
}

unsigned widthOf(Type type) { return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth(); }

uint64_t zeroExtend(uint64_t value, unsigned width) {
  return width == 64 ? value : value & ((uint64_t(1) << width) - 1);
}
int64_t signExtend(uint64_t value, unsigned width) {
  return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

/// Translates one operation; the result is empty for operations that the
/// interpreter does not know.
class Translator {
public:
  explicit Translator(Operation *op) : op(op) {
    Type type = op->getResult(0).getType();
    floatType = dyn_cast<FloatType>(type);
    width = widthOf(type);
    if (op->getNumOperands() > 0)
      operandWidth = widthOf(op->getOperand(0).getType());
  }

  Compute translate() const {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return translateConstant(constant);
    if (Compute compute = translateFloat())
      return compute;
    if (Compute compute = translateInteger())
      return compute;
    return translateMixed();
  }

private:
  /// Returns a float result, rounded to the precision of its type.
  template <typename Function> Compute rounded(Function function) const {
    FloatType type = floatType;
    return [=](const Slot *a) { return floatSlot(roundToType(function(a), type)); };
  }
  Compute unary(double (*function)(double)) const {
    return rounded([=](const Slot *a) { return function(a[0].f); });
  }
  Compute binary(double (*function)(double, double)) const {
    return rounded([=](const Slot *a) { return function(a[0].f, a[1].f); });
  }
  /// Returns an integer result, truncated to the width of its type.
  template <typename Function> Compute integer(Function function) const {
    unsigned bits = width;
    return [=](const Slot *a) {
      return integerSlot(zeroExtend(static_cast<uint64_t>(function(a)), bits));
    };
  }
  /// Returns an integer result of signed operands.
  template <typename Function> Compute signedInteger(Function function) const {
    unsigned bits = operandWidth;
    return integer([=](const Slot *a) {
      return function(signExtend(a[0].i, bits), signExtend(a[1].i, bits));
    });
  }

  Compute translateConstant(arith::ConstantOp constant) const {
    Slot slot;
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      slot = floatSlot(number.getValueAsDouble());
    else if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      slot = integerSlot(number.getValue().getZExtValue());
    else
      return {};
    return [=](const Slot *) { return slot; };
  }

  Compute translateFloat() const;
  Compute translateInteger() const;
  Compute translateMixed() const;
  Compute translateCompare(arith::CmpFOp compare) const;
  Compute translateCompare(arith::CmpIOp compare) const;

  Operation *op;
  FloatType floatType;
  unsigned width = 0, operandWidth = 0;
};

Compute Translator::translateFloat() const {
  if (!floatType)
    return {};
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case([&](arith::AddFOp) { return binary([](double a, double b) { return a + b; }); })
      .Case([&](arith::SubFOp) { return binary([](double a, double b) { return a - b; }); })
      .Case([&](arith::MulFOp) { return binary([](double a, double b) { return a * b; }); })
      .Case([&](arith::DivFOp) { return binary([](double a, double b) { return a / b; }); })
      .Case([&](arith::RemFOp) { return binary(std::fmod); })
      .Case([&](arith::NegFOp) { return unary([](double a) { return -a; }); })
      .Case([&](arith::MaximumFOp) { return binary(maximum); })
      .Case([&](arith::MinimumFOp) { return binary(minimum); })
      .Case([&](arith::MaxNumFOp) { return binary(std::fmax); })
      .Case([&](arith::MinNumFOp) { return binary(std::fmin); })
      .Case([&](math::AbsFOp) { return unary(std::fabs); })
      .Case([&](math::AcosOp) { return unary(std::acos); })
      .Case([&](math::AcoshOp) { return unary(std::acosh); })
      .Case([&](math::AsinOp) { return unary(std::asin); })
      .Case([&](math::AsinhOp) { return unary(std::asinh); })
      .Case([&](math::AtanOp) { return unary(std::atan); })
      .Case([&](math::AtanhOp) { return unary(std::atanh); })
      .Case([&](math::Atan2Op) { return binary(std::atan2); })
      .Case([&](math::CbrtOp) { return unary(std::cbrt); })
      .Case([&](math::CeilOp) { return unary(std::ceil); })
      .Case([&](math::CopySignOp) { return binary(std::copysign); })
      .Case([&](math::CosOp) { return unary(std::cos); })
      .Case([&](math::CoshOp) { return unary(std::cosh); })
      .Case([&](math::ErfOp) { return unary(std::erf); })
      .Case([&](math::ErfcOp) { return unary(std::erfc); })
      .Case([&](math::ExpOp) { return unary(std::exp); })
      .Case([&](math::Exp2Op) { return unary(std::exp2); })
      .Case([&](math::ExpM1Op) { return unary(std::expm1); })
      .Case([&](math::FloorOp) { return unary(std::floor); })
      .Case([&](math::LogOp) { return unary(std::log); })
      .Case([&](math::Log10Op) { return unary(std::log10); })
      .Case([&](math::Log1pOp) { return unary(std::log1p); })
      .Case([&](math::Log2Op) { return unary(std::log2); })
      .Case([&](math::PowFOp) { return binary(std::pow); })
      .Case([&](math::RoundOp) { return unary(std::round); })
      .Case([&](math::RoundEvenOp) { return unary(std::nearbyint); })
      .Case([&](math::RsqrtOp) { return unary([](double a) { return 1.0 / std::sqrt(a); }); })
      .Case([&](math::SinOp) { return unary(std::sin); })
      .Case([&](math::SinhOp) { return unary(std::sinh); })
      .Case([&](math::SqrtOp) { return unary(std::sqrt); })
      .Case([&](math::TanOp) { return unary(std::tan); })
      .Case([&](math::TanhOp) { return unary(std::tanh); })
      .Case([&](math::TruncOp) { return unary(std::trunc); })
      .Case([&](math::FmaOp) {
        return rounded([](const Slot *a) { return std::fma(a[0].f, a[1].f, a[2].f); });
      })
      .Case([&](math::ClampFOp) {
        return rounded([](const Slot *a) { return minimum(maximum(a[0].f, a[1].f), a[2].f); });
      })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return rounded([](const Slot *a) { return a[0].f; }); })
      .Case([&](arith::UIToFPOp) {
        return rounded([](const Slot *a) { return static_cast<double>(a[0].i); });
      })
      .Case([&](arith::SIToFPOp) {
        unsigned bits = operandWidth;
        return rounded(
            [=](const Slot *a) { return static_cast<double>(signExtend(a[0].i, bits)); });
      })
      .Default(Compute());
}

/// Returns a quotient; 0 for a division by zero, which arith leaves undefined. Graph ops replace
/// such divisors (buildDivision in ElementwiseOps.cpp), but a formula written by hand may divide by
/// zero and must not trap here.
int64_t divide(int64_t a, int64_t b) { return b == 0 ? 0 : signedQuotient(a, b); }
int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

Compute Translator::translateInteger() const {
  unsigned bits = width;
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case([&](arith::AddIOp) { return integer([](const Slot *a) { return a[0].i + a[1].i; }); })
      .Case([&](arith::SubIOp) { return integer([](const Slot *a) { return a[0].i - a[1].i; }); })
      .Case([&](arith::MulIOp) { return integer([](const Slot *a) { return a[0].i * a[1].i; }); })
      .Case([&](arith::AndIOp) { return integer([](const Slot *a) { return a[0].i & a[1].i; }); })
      .Case([&](arith::OrIOp) { return integer([](const Slot *a) { return a[0].i | a[1].i; }); })
      .Case([&](arith::XOrIOp) { return integer([](const Slot *a) { return a[0].i ^ a[1].i; }); })
      .Case([&](arith::DivSIOp) { return signedInteger(divide); })
      .Case([&](arith::RemSIOp) { return signedInteger(remainder); })
      .Case([&](arith::DivUIOp) {
        return integer([](const Slot *a) { return a[1].i == 0 ? 0 : a[0].i / a[1].i; });
      })
      .Case([&](arith::RemUIOp) {
        return integer([](const Slot *a) { return a[1].i == 0 ? 0 : a[0].i % a[1].i; });
      })
      .Case([&](arith::MaxSIOp) {
        return signedInteger([](int64_t a, int64_t b) { return std::max(a, b); });
      })
      .Case([&](arith::MinSIOp) {
        return signedInteger([](int64_t a, int64_t b) { return std::min(a, b); });
      })
      .Case([&](arith::MaxUIOp) {
        return integer([](const Slot *a) { return std::max(a[0].i, a[1].i); });
      })
      .Case([&](arith::MinUIOp) {
        return integer([](const Slot *a) { return std::min(a[0].i, a[1].i); });
      })
      .Case([&](arith::ShLIOp) {
        return integer([=](const Slot *a) { return a[1].i < bits ? a[0].i << a[1].i : 0; });
      })
      .Case([&](arith::ShRUIOp) {
        return integer([=](const Slot *a) { return a[1].i < bits ? a[0].i >> a[1].i : 0; });
      })
      .Case([&](arith::ShRSIOp) {
        return integer([=](const Slot *a) {
          return signExtend(a[0].i, bits) >> std::min<uint64_t>(a[1].i, bits - 1);
        });
      })
      .Case([&](math::AbsIOp) {
        return integer(
            [=](const Slot *a) { return signExtend(a[0].i, bits) < 0 ? 0 - a[0].i : a[0].i; });
      })
      .Case([&](math::IPowIOp) {
        return signedInteger([](int64_t a, int64_t b) { return integerPower(a, b); });
      })
      .Case<arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return integer([](const Slot *a) { return a[0].i; }); })
      .Case([&](arith::ExtSIOp) {
        unsigned from = operandWidth;
        return integer([=](const Slot *a) { return signExtend(a[0].i, from); });
      })
      .Case([&](arith::FPToSIOp) {
        return integer([=](const Slot *a) {
          return saturateToInteger(a[0].f, bits, /*isUnsigned=*/false).getZExtValue();
        });
      })
      .Case([&](arith::FPToUIOp) {
        return integer([=](const Slot *a) {
          return saturateToInteger(a[0].f, bits, /*isUnsigned=*/true).getZExtValue();
        });
      })
      .Default(Compute());
}

Compute Translator::translateCompare(arith::CmpFOp compare) const {
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  return integer([=](const Slot *s) -> bool {
    double a = s[0].f, b = s[1].f;
    bool unordered = std::isnan(a) || std::isnan(b);
    switch (predicate) {
    case P::AlwaysFalse:
      return false;
    case P::OEQ:
      return a == b;
    case P::OGT:
      return a > b;
    case P::OGE:
      return a >= b;
    case P::OLT:
      return a < b;
    case P::OLE:
      return a <= b;
    case P::ONE:
      return !unordered && a != b;
    case P::ORD:
      return !unordered;
    case P::UEQ:
      return unordered || a == b;
    case P::UGT:
      return unordered || a > b;
    case P::UGE:
      return unordered || a >= b;
    case P::ULT:
      return unordered || a < b;
    case P::ULE:
      return unordered || a <= b;
    case P::UNE:
      return a != b;
    case P::UNO:
      return unordered;
    case P::AlwaysTrue:
      return true;
    }
    return false;
  });
}

Compute Translator::translateCompare(arith::CmpIOp compare) const {
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  unsigned bits = operandWidth;
  return integer([=](const Slot *s) -> bool {
    uint64_t a = s[0].i, b = s[1].i;
    int64_t sa = signExtend(a, bits), sb = signExtend(b, bits);
    switch (predicate) {
    case P::eq:
      return a == b;
    case P::ne:
      return a != b;
    case P::slt:
      return sa < sb;
    case P::sle:
      return sa <= sb;
    case P::sgt:
      return sa > sb;
    case P::sge:
      return sa >= sb;
    case P::ult:
      return a < b;
    case P::ule:
      return a <= b;
    case P::ugt:
      return a > b;
    case P::uge:
      return a >= b;
    }
    return false;
  });
}

Compute Translator::translateMixed() const {
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case<arith::CmpFOp, arith::CmpIOp>([&](auto compare) { return translateCompare(compare); })
      .Case([&](arith::SelectOp) -> Compute {
        return [](const Slot *a) { return a[0].i != 0 ? a[1] : a[2]; };
      })
      .Case(
          [&](math::IsNaNOp) { return integer([](const Slot *a) { return std::isnan(a[0].f); }); })
      .Case(
          [&](math::IsInfOp) { return integer([](const Slot *a) { return std::isinf(a[0].f); }); })
      .Case([&](math::IsFiniteOp) {
        return integer([](const Slot *a) { return std::isfinite(a[0].f); });
      })
      .Default(Compute());
}

/// Returns the elements of a tensor as slots.
std::vector<Slot> readSlots(const Tensor &tensor) {
  std::vector<Slot> slots(tensor.getNumElements());
  Type element = tensor.getElementType();
  if (isa<FloatType>(element)) {
    for (auto [slot, value] : llvm::zip_equal(slots, tensor.toDoubles()))
      slot = floatSlot(value);
    return slots;
  }
  for (auto [slot, value] : llvm::zip_equal(slots, tensor.toIntegers()))
    slot = integerSlot(zeroExtend(value, widthOf(element)));
  return slots;
}

} // namespace

Result evaluateMap(MapOp op, const Evaluation &e) {
  return evaluateBody(op.getBody().front(), e.operands, e);
}

Result evaluateBody(Block &body, ArrayRef<const Tensor *> operands, const Evaluation &e) {
  llvm::DenseMap<Value, unsigned> slotOf;
  for (BlockArgument argument : body.getArguments())
    slotOf[argument] = slotOf.size();
  std::vector<Step> steps;
  for (Operation &inner : body.without_terminator()) {
    Step step;
    if (inner.getNumResults() == 1 && inner.getNumOperands() <= 3 &&
        llvm::all_of(inner.getOperandTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); }))
      step.compute = Translator(&inner).translate();
    if (!step.compute)
      return e.fail("cannot evaluate '" + inner.getName().getStringRef() + "' of the body");
    for (Value operand : inner.getOperands())
      step.operands.push_back(slotOf.at(operand));
    step.result = slotOf.size();
    slotOf[inner.getResult(0)] = step.result;
    steps.push_back(std::move(step));
  }
  unsigned yielded = slotOf.at(cast<YieldOp>(body.getTerminator()).getValue());

  SmallVector<Strides> strides;
  SmallVector<std::vector<Slot>, 0> inputs;
  for (const Tensor *operand : operands) {
    strides.push_back(broadcastStrides(operand->getShape(), e.type.getShape()));
    inputs.push_back(readSlots(*operand));
  }
  std::vector<double> floats;
  std::vector<uint64_t> integers;
  std::vector<Slot> slots(slotOf.size());
  bool isFloat = e.isFloat();
  forEachPosition(e.type.getShape(), strides, [&](ArrayRef<int64_t> offsets) {
    for (size_t i = 0; i < inputs.size(); ++i)
      slots[i] = inputs[i][offsets[i]];
    for (const Step &step : steps) {
      Slot args[3];
      for (size_t i = 0; i < step.operands.size(); ++i)
        args[i] = slots[step.operands[i]];
      slots[step.result] = step.compute(args);
    }
    if (isFloat)
      floats.push_back(slots[yielded].f);
    else
      integers.push_back(slots[yielded].i);
  });
  return isFloat ? Tensor::fromDoubles(e.type, floats) : Tensor::fromIntegers(e.type, integers);
}

} // namespace atc::graph::interpreter
