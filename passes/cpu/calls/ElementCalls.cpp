//===-- ElementCalls.cpp - graph ops of elementwise host calls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/ElementCalls.h"

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;
using llvm::APFloat;

namespace atc::cpu {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Builds the formula of one call.
class Formula {
public:
  Formula(OpBuilder &builder, graph::HostCallOp call, ArrayRef<Value> operands)
      : builder(builder), call(call), operands(operands) {}

  Value operand(unsigned i) const { return i < operands.size() ? operands[i] : Value(); }
  bool has(unsigned count) const {
    return operands.size() >= count &&
           llvm::all_of(operands.take_front(count), [](Value value) { return value != nullptr; });
  }
  unsigned size() const { return operands.size(); }
  Type elementType() const { return getElementTypeOrSelf(operands.front()); }
  bool isFloat() const { return isa<FloatType>(elementType()); }
  /// Returns whether operands are numbers; bools have ops of their own.
  bool isNumeric() const { return isFloat() || (isInteger() && !isBool()); }
  bool isInteger() const { return isa<IntegerType>(elementType()); }
  bool isBool() const { return elementType().isInteger(1); }

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, call.getLoc(), std::forward<Args>(args)...).getResult();
  }
  Value scalarLike(double number, Value like) {
    auto type = cast<RankedTensorType>(like.getType());
    APFloat value(number);
    bool ignored;
    value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &ignored);
    return create<graph::ConstantOp>(SplatElementsAttr::get(type, value));
  }
  Value cast_(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return create<graph::CastOp>(type.clone(element), value);
  }

  double number(StringRef name, double otherwise) { return host::numberOf(call, name, otherwise); }
  int64_t integer(StringRef name, int64_t otherwise) {
    return host::integerOf(call, name, otherwise);
  }
  /// Returns whether attribute `name` has the text `wanted`; where it is missing, `otherwise` is.
  bool is(StringRef name, StringRef otherwise, StringRef wanted) {
    auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get(name));
    return (text ? text.getValue() : otherwise) == wanted;
  }
  Type resultElement() { return getElementTypeOrSelf(call.getResult(0)); }

private:
  OpBuilder &builder;
  graph::HostCallOp call;
  ArrayRef<Value> operands;
};

using Build = Value (*)(Formula &);

template <typename Op> Value buildUnary(Formula &f) {
  return f.has(1) && f.size() == 1 && f.isNumeric() ? f.create<Op>(f.operand(0)) : Value();
}

template <typename Op> Value buildFloatUnary(Formula &f) {
  return f.isFloat() ? buildUnary<Op>(f) : Value();
}

bool hasEqualTypes(Formula &f) {
  return f.size() == 2 && f.has(2) && f.operand(0).getType() == f.operand(1).getType();
}

template <typename Op> Value buildBinary(Formula &f) {
  return hasEqualTypes(f) && f.isNumeric() ? f.create<Op>(f.operand(0), f.operand(1)) : Value();
}

template <typename Op> Value buildVariadic(Formula &f) {
  if (!f.has(f.size()) || !f.isNumeric())
    return {};
  Value result = f.operand(0);
  for (unsigned i = 1; i < f.size(); ++i) {
    if (f.operand(i).getType() != result.getType())
      return {};
    result = f.create<Op>(result, f.operand(i));
  }
  return f.size() > 1 ? result : Value();
}

Value buildMean(Formula &f) {
  Value sum = f.isFloat() ? buildVariadic<graph::AddOp>(f) : Value();
  return sum ? f.create<graph::DivOp>(sum, f.scalarLike(f.size(), sum)) : Value();
}

template <graph::ComparePredicate predicate> Value buildCompare(Formula &f) {
  return hasEqualTypes(f) ? f.create<graph::CompareOp>(f.operand(0), f.operand(1), predicate)
                          : Value();
}

/// Builds logic of bools; that of integers is named "Bitwise...".
template <typename Op> Value buildLogic(Formula &f) {
  return hasEqualTypes(f) && f.isBool() ? f.create<Op>(f.operand(0), f.operand(1)) : Value();
}

Value buildNot(Formula &f) {
  return f.size() == 1 && f.isBool() ? f.create<graph::NotOp>(f.operand(0)) : Value();
}

Value buildPow(Formula &f) {
  // The kernel computes exact powers of integers, also where the exponents are floats.
  if (!f.has(2) || f.size() != 2 || !f.isFloat())
    return {};
  Type element = f.elementType();
  return f.create<graph::PowOp>(f.operand(0), f.cast_(f.operand(1), element));
}

Value buildMod(Formula &f) {
  const bool fmod = f.integer("fmod", 0);
  return hasEqualTypes(f) && f.isFloat() && fmod
             ? f.create<graph::ModOp>(f.operand(0), f.operand(1), fmod)
             : Value();
}

Value buildWhere(Formula &f) {
  if (f.size() != 3 || !f.has(3) || !f.isBool() || f.operand(1).getType() != f.operand(2).getType())
    return {};
  return f.create<graph::WhereOp>(f.operand(0), f.operand(1), f.operand(2));
}

Value buildIsInf(Formula &f) {
  if (f.size() != 1 || !f.isFloat())
    return {};
  const bool positive = f.integer("detect_positive", 1), negative = f.integer("detect_negative", 1);
  Value value = positive && negative ? f.create<graph::AbsOp>(f.operand(0)) : f.operand(0);
  if (!positive && !negative)
    return {};
  return f.create<graph::CompareOp>(value, f.scalarLike(positive ? kInfinity : -kInfinity, value),
                                    graph::ComparePredicate::Eq);
}

Value buildCast(Formula &f) {
  Type from = f.elementType(), to = f.resultElement();
  if (!isa<FloatType, IntegerType>(from) || !isa<FloatType, IntegerType>(to) ||
      (!isa<FloatType>(from) && !isa<FloatType>(to)))
    return {};
  return f.cast_(f.operand(0), to);
}

/// The bounds of Clip are single elements, which `isElementwise` has checked.
Value buildClip(Formula &f) {
  if (!f.isNumeric())
    return {};
  Value result = f.operand(0);
  for (unsigned i : {1, 2})
    if (f.operand(i) && f.operand(i).getType() != result.getType())
      return {};
  if (f.operand(1))
    result = f.create<graph::MaxOp>(result, f.operand(1));
  if (f.operand(2))
    result = f.create<graph::MinOp>(result, f.operand(2));
  return f.operand(1) || f.operand(2) ? result : Value();
}

template <typename Op, int percent> Value buildAlpha(Formula &f) {
  return f.isFloat() ? f.create<Op>(f.operand(0), APFloat(f.number("alpha", float(percent) / 100)))
                     : Value();
}

Value buildSelu(Formula &f) {
  return f.isFloat()
             ? f.create<graph::SeluOp>(f.operand(0),
                                       APFloat(f.number("alpha", 1.67326319217681884765625)),
                                       APFloat(f.number("gamma", 1.05070102214813232421875)))
             : Value();
}

/// celu(x, a) = a * elu(x / a, 1).
Value buildCelu(Formula &f) {
  const double alpha = f.number("alpha", 1);
  if (!f.isFloat() || alpha == 0)
    return {};
  Value scaled = f.create<graph::DivOp>(f.operand(0), f.scalarLike(alpha, f.operand(0)));
  Value elu = f.create<graph::EluOp>(scaled, APFloat(1.0));
  return f.create<graph::MulOp>(elu, f.scalarLike(alpha, elu));
}

Value buildHardSigmoid(Formula &f) {
  return f.isFloat()
             ? f.create<graph::HardSigmoidOp>(f.operand(0), APFloat(f.number("alpha", 0.2f)),
                                              APFloat(f.number("beta", 0.5)))
             : Value();
}

Value buildGelu(Formula &f) {
  return f.isFloat() ? f.create<graph::GeluOp>(f.operand(0), f.is("approximate", "none", "tanh"))
                     : Value();
}

Value buildSwish(Formula &f) {
  const double alpha = f.number("alpha", 1);
  if (!f.isFloat())
    return {};
  if (alpha == 1)
    return f.create<graph::SiluOp>(f.operand(0));
  Value scaled = f.create<graph::MulOp>(f.operand(0), f.scalarLike(alpha, f.operand(0)));
  return f.create<graph::MulOp>(f.operand(0), f.create<graph::SigmoidOp>(scaled));
}

/// x < -lambd ? x + bias : x > lambd ? x - bias : 0.
Value buildShrink(Formula &f) {
  if (!f.isFloat())
    return {};
  Value x = f.operand(0);
  const double lambd = f.number("lambd", 0.5);
  Value bias = f.scalarLike(f.number("bias", 0), x);
  auto compare = [&](double with, graph::ComparePredicate predicate) {
    return f.create<graph::CompareOp>(x, f.scalarLike(with, x), predicate);
  };
  Value upper = f.create<graph::WhereOp>(compare(lambd, graph::ComparePredicate::Gt),
                                         f.create<graph::SubOp>(x, bias), f.scalarLike(0, x));
  return f.create<graph::WhereOp>(compare(-lambd, graph::ComparePredicate::Lt),
                                  f.create<graph::AddOp>(x, bias), upper);
}

Build findBuild(StringRef kernel) {
  using graph::ComparePredicate;
  static const llvm::StringMap<Build> builds = {
      {"Abs", buildUnary<graph::AbsOp>},
      {"Acos", buildFloatUnary<graph::AcosOp>},
      {"Acosh", buildFloatUnary<graph::AcoshOp>},
      {"Add", buildBinary<graph::AddOp>},
      {"And", buildLogic<graph::AndOp>},
      {"Asin", buildFloatUnary<graph::AsinOp>},
      {"Asinh", buildFloatUnary<graph::AsinhOp>},
      {"Atan", buildFloatUnary<graph::AtanOp>},
      {"Atanh", buildFloatUnary<graph::AtanhOp>},
      {"Cast", buildCast},
      {"Ceil", buildFloatUnary<graph::CeilOp>},
      {"Celu", buildCelu},
      {"Clip", buildClip},
      {"Cos", buildFloatUnary<graph::CosOp>},
      {"Cosh", buildFloatUnary<graph::CoshOp>},
      {"Div", buildBinary<graph::DivOp>},
      {"Elu", buildAlpha<graph::EluOp, 100>},
      {"Equal", buildCompare<ComparePredicate::Eq>},
      {"Erf", buildFloatUnary<graph::ErfOp>},
      {"Exp", buildFloatUnary<graph::ExpOp>},
      {"Floor", buildFloatUnary<graph::FloorOp>},
      {"Gelu", buildGelu},
      {"Greater", buildCompare<ComparePredicate::Gt>},
      {"GreaterOrEqual", buildCompare<ComparePredicate::Ge>},
      {"HardSigmoid", buildHardSigmoid},
      {"HardSwish", buildFloatUnary<graph::HardSwishOp>},
      {"IsInf", buildIsInf},
      {"IsNaN", buildFloatUnary<graph::IsNanOp>},
      {"LeakyRelu", buildAlpha<graph::LeakyReluOp, 1>},
      {"Less", buildCompare<ComparePredicate::Lt>},
      {"LessOrEqual", buildCompare<ComparePredicate::Le>},
      {"Log", buildFloatUnary<graph::LogOp>},
      {"Max", buildVariadic<graph::MaxOp>},
      {"Mean", buildMean},
      {"Min", buildVariadic<graph::MinOp>},
      {"Mish", buildFloatUnary<graph::MishOp>},
      {"Mod", buildMod},
      {"Mul", buildBinary<graph::MulOp>},
      {"Neg", buildUnary<graph::NegOp>},
      {"Not", buildNot},
      {"Or", buildLogic<graph::OrOp>},
      {"PRelu", buildBinary<graph::PReluOp>},
      {"Pow", buildPow},
      {"Reciprocal", buildFloatUnary<graph::ReciprocalOp>},
      {"Relu", buildUnary<graph::ReluOp>},
      {"Round", buildFloatUnary<graph::RoundOp>},
      {"Selu", buildSelu},
      {"Shrink", buildShrink},
      {"Sigmoid", buildFloatUnary<graph::SigmoidOp>},
      {"Sign", buildUnary<graph::SignOp>},
      {"Sin", buildFloatUnary<graph::SinOp>},
      {"Sinh", buildFloatUnary<graph::SinhOp>},
      {"Softplus", buildFloatUnary<graph::SoftplusOp>},
      {"Softsign", buildFloatUnary<graph::SoftsignOp>},
      {"Sqrt", buildFloatUnary<graph::SqrtOp>},
      {"Sub", buildBinary<graph::SubOp>},
      {"Sum", buildVariadic<graph::AddOp>},
      {"Swish", buildSwish},
      {"Tan", buildFloatUnary<graph::TanOp>},
      {"Tanh", buildFloatUnary<graph::TanhOp>},
      {"ThresholdedRelu", buildAlpha<graph::ThresholdedReluOp, 100>},
      {"Where", buildWhere},
      {"Xor", buildLogic<graph::XorOp>},
  };
  return builds.lookup(kernel);
}

/// Returns whether 16-bit floats of a call are computed in float32.
bool computesFloats(StringRef kernel) { return !llvm::is_contained({"Cast", "Where"}, kernel); }

bool isSmallFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16; }

} // namespace

Value buildElementOps(OpBuilder &builder, graph::HostCallOp call, ArrayRef<Value> operands) {
  Build build = findBuild(call.getKernel());
  if (!build || call->getNumResults() == 0 || operands.empty() || !operands.front())
    return {};
  for (OpResult result : call.getResults())
    if (result.getResultNumber() > 0 && !result.use_empty())
      return {};
  SmallVector<Value> wide(operands);
  if (computesFloats(call.getKernel())) {
    Formula plain(builder, call, operands);
    for (Value &value : wide)
      if (value && isSmallFloat(getElementTypeOrSelf(value)))
        value = plain.cast_(value, builder.getF32Type());
  }
  Formula formula(builder, call, wide);
  Value result = build(formula);
  if (!result)
    return {};
  Type wanted = formula.resultElement();
  if (isSmallFloat(wanted) && getElementTypeOrSelf(result).isF32())
    result = formula.cast_(result, wanted);
  return getElementTypeOrSelf(result) == wanted ? result : Value();
}

Value buildScalarOps(OpBuilder &builder, Block &ops, Value result, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(ops.getArguments(), arguments);
  for (Operation &op : ops) {
    SmallVector<Value> scalars =
        llvm::map_to_vector(op.getOperands(), [&](Value value) { return mapping.lookup(value); });
    if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
      auto splat = cast<DenseElementsAttr>(constant.getValue());
      TypedAttr element;
      if (isa<FloatType>(splat.getElementType()))
        element = FloatAttr::get(splat.getElementType(), *splat.value_begin<APFloat>());
      else
        element = IntegerAttr::get(
            IntegerType::get(op.getContext(), splat.getElementType().getIntOrFloatBitWidth()),
            *splat.value_begin<APInt>());
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(builder, op.getLoc(), element).getResult());
    } else {
      mapping.map(op.getResult(0), cast<graph::ElementwiseOpInterface>(op).buildScalar(
                                       builder, op.getLoc(), scalars));
    }
  }
  return mapping.lookup(result);
}

void buildMap(OpBuilder &builder, Block &ops, Value result, ValueRange inputs, Value output) {
  Location loc = builder.getUnknownLoc();
  auto map = kernel::MapOp::create(builder, loc, inputs, output);
  OpBuilder::InsertionGuard guard(builder);
  Block *formula = builder.createBlock(&map.getBody());
  for (BlockArgument argument : ops.getArguments()) {
    Type element = getElementTypeOrSelf(argument);
    formula->addArgument(element.isIntOrFloat() && !element.isSignlessIntOrFloat()
                             ? Type(builder.getIntegerType(element.getIntOrFloatBitWidth()))
                             : element,
                         loc);
  }
  kernel::YieldOp::create(builder, loc,
                          buildScalarOps(builder, ops, result, formula->getArguments()));
}

void setAliasing(func::FuncOp function, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        UnitAttr::get(function.getContext()));
}

} // namespace atc::cpu
