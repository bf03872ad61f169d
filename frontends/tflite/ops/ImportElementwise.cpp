//===-- ImportElementwise.cpp - arithmetic, comparisons, functions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

#include <cmath>

namespace atc::tflite {
namespace {

constexpr double pi = 3.14159265358979323846;

fb::TensorType typeOf(OpContext &c, unsigned index) {
  const fb::Tensor &tensor = c.inputTensor(index);
  return isQuantized(tensor) ? fb::TensorType::FLOAT32 : tensor.type();
}

bool isFloat(fb::TensorType type) {
  return type == fb::TensorType::FLOAT32 || type == fb::TensorType::FLOAT16 ||
         type == fb::TensorType::BFLOAT16 || type == fb::TensorType::FLOAT64;
}

Value one(OpContext &c, double value) { return c.scalarLike(0, value); }

//===--- Two operands -----------------------------------------------------===//

template <typename Options> void arithmetic(OpContext &c, const char *op) {
  const auto *options = c.options<Options>();
  Value result = c.node(op, {c.in(0), c.in(1)});
  c.setOutput(c.activate(result, options ? options->activation() : fb::Activation::NONE));
}
void importAdd(OpContext &c) { arithmetic<fb::AddOptions>(c, "Add"); }
void importSub(OpContext &c) { arithmetic<fb::SubOptions>(c, "Sub"); }
void importMul(OpContext &c) { arithmetic<fb::MulOptions>(c, "Mul"); }
void importDiv(OpContext &c) { arithmetic<fb::DivOptions>(c, "Div"); }

/// Imports an operator that has an equal in ONNX, whose name its row states.
void importEqualOp(OpContext &c) {
  std::vector<Value> inputs;
  for (unsigned i = 0; i < c.numInputs(); ++i)
    inputs.push_back(c.in(i));
  c.setOutput(c.node(findOp(c.model.reader.code(c.proto))->onnxName, inputs));
}

void importNotEqual(OpContext &c) {
  c.setOutput(c.node("Not", {c.node("Equal", {c.in(0), c.in(1)})}));
}

void importSquaredDifference(OpContext &c) {
  Value difference = c.node("Sub", {c.in(0), c.in(1)});
  c.setOutput(c.node("Mul", {difference, difference}));
}

/// Returns where a remainder that was rounded to zero has another sign than its divisor.
Value isOpposite(OpContext &c, Value remainder, Value divisor) {
  Value zero = one(c, 0);
  Value differs =
      c.node("Xor", {c.node("Less", {remainder, zero}), c.node("Less", {divisor, zero})});
  return c.node("And", {differs, c.node("Not", {c.node("Equal", {remainder, zero})})});
}

/// Returns x - floor(x / y) * y for floats; ONNX has this Mod for integers.
Value floorMod(OpContext &c, Value x, Value y) {
  if (!isFloat(typeOf(c, 0)))
    return c.node("Mod", {x, y});
  // The remainder with the sign of x is exact; it moves by y where the signs differ.
  Value remainder = c.node("Mod", {x, y}, {{"fmod", int64_t(1)}});
  return c.node("Where", {isOpposite(c, remainder, y), c.node("Add", {remainder, y}), remainder});
}

void importFloorMod(OpContext &c) {
  Value x = c.in(0), y = c.in(1);
  c.setOutput(floorMod(c, x, y));
}

void importFloorDiv(OpContext &c) {
  Value x = c.in(0), y = c.in(1), quotient = c.node("Div", {x, y});
  if (isFloat(typeOf(c, 0)))
    return c.setOutput(c.node("Floor", {quotient}));
  // The integer quotient is rounded to zero: it is one too large where there is a remainder of
  // another sign than the divisor. (To subtract the remainder first could overflow.)
  Value remainder = c.node("Sub", {x, c.node("Mul", {quotient, y})});
  c.setOutput(c.node(
      "Where", {isOpposite(c, remainder, y), c.node("Sub", {quotient, one(c, 1)}), quotient}));
}

/// Computes the angle of the point (x, y) from atan(y / x), which knows half of the plane.
void importAtan2(OpContext &c) {
  Value y = c.in(0), x = c.in(1), zero = one(c, 0);
  Value isLeft = c.node("Less", {x, zero}), isBelow = c.node("Less", {y, zero});
  Value onAxis = c.node("Equal", {x, zero}), atOrigin = c.node("Equal", {y, zero});
  Value safe = c.node("Where", {onAxis, one(c, 1), x});
  Value angle = c.node("Atan", {c.node("Div", {y, safe})});
  Value turn = c.node("Where", {isBelow, one(c, -pi), one(c, pi)});
  Value turned = c.node("Where", {isLeft, c.node("Add", {angle, turn}), angle});
  Value quarter = c.node("Where", {isBelow, one(c, -pi / 2), one(c, pi / 2)});
  Value vertical = c.node("Where", {atOrigin, zero, quarter});
  c.setOutput(c.node("Where", {onAxis, vertical, turned}));
}

/// Shifts signed integers as a division that rounds down; ONNX shifts unsigned ones.
void importRightShift(OpContext &c) {
  const fb::TensorType type = c.inputTensor(0).type();
  if (type == fb::TensorType::UINT8 || type == fb::TensorType::UINT16 ||
      type == fb::TensorType::UINT32)
    return c.setOutput(
        c.node("BitShift", {c.raw(0), c.raw(1)}, {{"direction", std::string("RIGHT")}}));
  Value x = c.indices(0);
  Value divisor = c.node("Pow", {c.intScalar(2), c.indices(1)});
  Value rest = c.node("Mod", {x, divisor});
  Value shifted = c.node("Div", {c.node("Sub", {x, rest}), divisor});
  c.setOutput(c.cast(shifted, onnxType(type)));
}

void importBitwiseXor(OpContext &c) {
  const bool isBool = c.inputTensor(0).type() == fb::TensorType::BOOL;
  c.setOutput(c.node(isBool ? "Xor" : "BitwiseXor", {c.raw(0), c.raw(1)}));
}

void importSelect(OpContext &c) {
  Value condition = c.raw(0);
  // The older form takes one condition per row.
  const int64_t rank = c.rank(1);
  if (c.rank(0) == 1 && rank > 1 && c.model.reader.code(c.proto) == fb::BuiltinOperator::SELECT) {
    Dims axes;
    for (int64_t i = 1; i < rank; ++i)
      axes.push_back(i);
    condition = c.unsqueeze(condition, axes);
  }
  c.setOutput(c.node("Where", {condition, c.in(1), c.in(2)}));
}

//===--- One operand ------------------------------------------------------===//

void importSquare(OpContext &c) {
  Value x = c.in(0);
  c.setOutput(c.node("Mul", {x, x}));
}
void importRsqrt(OpContext &c) { c.setOutput(c.node("Reciprocal", {c.node("Sqrt", {c.in(0)})})); }
void clip(OpContext &c, float low, float high) {
  c.setOutput(c.node("Clip", {c.in(0), c.scalarLike(0, low), c.scalarLike(0, high)}));
}
void importRelu6(OpContext &c) { clip(c, 0, 6); }
void importReluN1To1(OpContext &c) { clip(c, -1, 1); }
void importRelu0To1(OpContext &c) { clip(c, 0, 1); }

void importLeakyRelu(OpContext &c) {
  const auto *options = c.options<fb::LeakyReluOptions>();
  c.setOutput(c.node("LeakyRelu", {c.in(0)}, {{"alpha", double(options ? options->alpha() : 0)}}));
}
void importGelu(OpContext &c) {
  const auto *options = c.options<fb::GeluOptions>();
  const bool isApproximate = options && options->approximate();
  c.setOutput(
      c.node("Gelu", {c.in(0)}, {{"approximate", std::string(isApproximate ? "tanh" : "none")}}));
}

void importCast(OpContext &c) {
  const int type = onnxType(c.outputTensor(0).type());
  if (!type)
    return c.fail("its result has a type that cannot be imported");
  c.setOutput(c.cast(c.raw(0), type));
}

void importQuantize(OpContext &c) { c.setOutput(c.in(0)); }

/// Weights in half precision are stored through this operator, too.
void importDequantize(OpContext &c) {
  if (isQuantized(c.inputTensor(0)))
    return c.setOutput(c.in(0));
  c.setOutput(c.cast(c.raw(0), onnxType(c.outputTensor(0).type())));
}

/// The reader has all elements of what is stored without its zeros.
void importDensify(OpContext &c) { c.setOutput(c.moved(0)); }

/// Rounds to the values that integers of some bits stand for; zero is one of them.
void importFakeQuant(OpContext &c) {
  const auto *options = c.options<fb::FakeQuantOptions>();
  if (!options || options->num_bits() < 2 || options->num_bits() > 16 || !(options->min() <= 0) ||
      !(options->max() >= 0) || !(options->min() < options->max()))
    return c.fail("its range must contain zero, and num_bits be 2 to 16");
  const double low = options->narrow_range() ? 1 : 0;
  const double high = double((1 << options->num_bits()) - 1);
  const double scale = (double(options->max()) - options->min()) / (high - low);
  const double zero = std::min(high, std::max(low, std::round(low - options->min() / scale)));
  const auto first = static_cast<float>((low - zero) * scale);
  const auto last = static_cast<float>((high - zero) * scale);
  Value clamped = c.node("Clip", {c.in(0), c.scalar(first), c.scalar(last)});
  Value step = c.scalar(static_cast<float>(scale));
  Value steps = c.node("Div", {c.node("Sub", {clamped, c.scalar(first)}), step});
  Value rounded = c.node("Floor", {c.node("Add", {steps, c.scalar(0.5f)})});
  c.setOutput(c.node("Add", {c.node("Mul", {rounded, step}), c.scalar(first)}));
}

/// Counts the boundaries that are not above each value.
void importBucketize(OpContext &c) {
  const auto *options = c.options<fb::BucketizeOptions>();
  std::vector<float> boundaries;
  if (options && options->boundaries())
    boundaries.assign(options->boundaries()->begin(), options->boundaries()->end());
  Value limits =
      c.constant(onnx::TensorProto::FLOAT, {int64_t(boundaries.size())}, bytesOf(boundaries));
  Value x = c.in(0);
  if (typeOf(c, 0) != fb::TensorType::FLOAT32)
    x = c.cast(x, onnx::TensorProto::FLOAT);
  Value reached = c.node("GreaterOrEqual", {c.unsqueeze(x, {-1}), limits});
  c.setOutput(c.node("ReduceSum", {c.cast(reached, onnx::TensorProto::INT32), c.ints({-1})},
                     {{"keepdims", int64_t(0)}}));
}

} // namespace

llvm::ArrayRef<OpRow> elementwiseOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {
      {ABS, importEqualOp, "Abs"},
      {ADD, importAdd},
      {ADD_N, importEqualOp, "Sum"},
      {ATAN2, importAtan2},
      {BITWISE_XOR, importBitwiseXor},
      {BUCKETIZE, importBucketize},
      {CAST, importCast},
      {CEIL, importEqualOp, "Ceil"},
      {COS, importEqualOp, "Cos"},
      {DENSIFY, importDensify},
      {DEQUANTIZE, importDequantize},
      {DIV, importDiv},
      {ELU, importEqualOp, "Elu"},
      {EQUAL, importEqualOp, "Equal"},
      {EXP, importEqualOp, "Exp"},
      {FAKE_QUANT, importFakeQuant},
      {FLOOR, importEqualOp, "Floor"},
      {FLOOR_DIV, importFloorDiv},
      {FLOOR_MOD, importFloorMod},
      {GELU, importGelu},
      {GREATER, importEqualOp, "Greater"},
      {GREATER_EQUAL, importEqualOp, "GreaterOrEqual"},
      {HARD_SWISH, importEqualOp, "HardSwish"},
      {LEAKY_RELU, importLeakyRelu},
      {LESS, importEqualOp, "Less"},
      {LESS_EQUAL, importEqualOp, "LessOrEqual"},
      {LOG, importEqualOp, "Log"},
      {LOGICAL_AND, importEqualOp, "And"},
      {LOGICAL_NOT, importEqualOp, "Not"},
      {LOGICAL_OR, importEqualOp, "Or"},
      {LOGISTIC, importEqualOp, "Sigmoid"},
      {MAXIMUM, importEqualOp, "Max"},
      {MINIMUM, importEqualOp, "Min"},
      {MUL, importMul},
      {NEG, importEqualOp, "Neg"},
      {NOT_EQUAL, importNotEqual},
      {POW, importEqualOp, "Pow"},
      {PRELU, importEqualOp, "PRelu"},
      {QUANTIZE, importQuantize},
      {RELU, importEqualOp, "Relu"},
      {RELU6, importRelu6},
      {RELU_0_TO_1, importRelu0To1},
      {RELU_N1_TO_1, importReluN1To1},
      {RIGHT_SHIFT, importRightShift},
      {ROUND, importEqualOp, "Round"},
      {RSQRT, importRsqrt},
      {SELECT, importSelect},
      {SELECT_V2, importSelect},
      {SIGN, importEqualOp, "Sign"},
      {SIN, importEqualOp, "Sin"},
      {SQRT, importEqualOp, "Sqrt"},
      {SQUARE, importSquare},
      {SQUARED_DIFFERENCE, importSquaredDifference},
      {STABLEHLO_ADD, importAdd},
      {STABLEHLO_MAXIMUM, importEqualOp, "Max"},
      {STABLEHLO_MINIMUM, importEqualOp, "Min"},
      {STABLEHLO_MULTIPLY, importMul},
      {SUB, importSub},
      {TANH, importEqualOp, "Tanh"},
  };
  return rows;
}

} // namespace atc::tflite
