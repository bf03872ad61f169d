//===-- IntegerCalls.cpp - host calls that compute with stored integers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// graph-fold-qdq-contractions for values whose shapes are not known. Host kernels are whole
// operators, so what is found is an operator between its DequantizeLinears and its
// QuantizeLinear, and what replaces it is one call.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTINTEGERCALLS
#include "passes/host/Passes.h.inc"

namespace {

using graph::derivedLoc;
using graph::HostCallOp;

RankedTensorType rankedType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// An operand of 8 bits and one scale.
Quantized activation(Value value) {
  Quantized result = dequantizedFrom(value);
  if (result && (!result.is8Bit() || !result.perTensor))
    result.stored = {};
  return result;
}

/// The second operand of a product.
struct Weights {
  Quantized quantized;
  bool transposed = false; ///< by an op between

  explicit operator bool() const { return static_cast<bool>(quantized); }
  /// Scales are one for all, or one for each index of `axis`; counted without the
  /// transposition.
  static Weights get(Value value, int64_t axis) {
    Weights result{dequantizedFrom(value)};
    if (auto transpose = value.getDefiningOp<graph::TransposeOp>();
        transpose && transpose.getPermutation() == ArrayRef<int64_t>{1, 0}) {
      result.quantized = dequantizedFrom(transpose.getInput());
      result.transposed = true;
      axis = 1 - axis;
    }
    Quantized &weights = result.quantized;
    if (weights && (!weights.is8Bit() || (!weights.perTensor && weights.params->axis != axis)))
      weights.stored = {};
    return result;
  }

  /// The stored integers as the product reads them.
  Value integers(OpBuilder &builder) const {
    Value stored = storedOf(builder, quantized);
    if (!transposed)
      return stored;
    if (ElementsAttr constant = graph::getConstant(stored))
      if (ElementsAttr turned = graph::transposeConstant(constant, {1, 0}))
        return graph::ConstantOp::create(builder, derivedLoc(stored.getLoc(), "transposed"),
                                         turned);
    auto type = cast<RankedTensorType>(stored.getType());
    auto turned =
        RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
    return graph::TransposeOp::create(builder, derivedLoc(stored.getLoc(), "transposed"), turned,
                                      stored, ArrayRef<int64_t>{1, 0});
  }
};

/// The real numbers of a constant, dequantized or not.
std::optional<SmallVector<double>> realNumbers(Value value) {
  if (graph::getConstant(value))
    return graph::getVectorConstant(value);
  Quantized quantized = dequantizedFrom(value);
  if (!quantized || !quantized.params)
    return std::nullopt;
  auto cast = quantized.stored.getDefiningOp<graph::StorageCastOp>();
  ElementsAttr constant = graph::getConstant(cast ? cast.getInput() : quantized.stored);
  auto type = constant ? dyn_cast<IntegerType>(constant.getElementType()) : IntegerType();
  if (!type || (type.getWidth() != 8 && type.getWidth() != 32))
    return std::nullopt;
  auto data = graph::ConstantBytes::get(constant);
  if (failed(data))
    return std::nullopt;
  const graph::QuantParams &params = *quantized.params;
  ArrayRef<char> bytes = data->expanded();
  SmallVector<double> numbers;
  for (int64_t i = 0; i < constant.getNumElements(); ++i) {
    size_t at = params.isPerTensor() ? 0 : i;
    if (at >= params.scales.size())
      return std::nullopt;
    int32_t stored = llvm::SignExtend32<8>(static_cast<uint8_t>(bytes[i]));
    if (type.getWidth() == 32)
      std::memcpy(&stored, bytes.data() + 4 * i, sizeof(stored));
    else if (type.isUnsigned())
      stored = static_cast<uint8_t>(stored);
    numbers.push_back(static_cast<double>(stored - params.zeroPoints[at]) * params.scales[at]);
  }
  return numbers;
}

/// A bias in units of the sums: of the product of two scales.
struct IntegerBias {
  std::vector<int32_t> numbers;
  bool fits = false;

  /// `step` is the scale of the result, 0 for real numbers.
  static IntegerBias get(Value bias, const Quantized &input, const Quantized &weights,
                         double step) {
    IntegerBias result;
    if (!input.params || !weights.params)
      return result;
    std::optional<SmallVector<double>> real = realNumbers(bias);
    RankedTensorType type = rankedType(bias);
    // [N], or [1, N] of a Gemm.
    if (!real || !type || real->empty() || type.getShape().empty() ||
        type.getShape().back() != static_cast<int64_t>(real->size()))
      return result;
    const SmallVector<float> &scales = weights.params->scales;
    if (scales.size() != 1 && scales.size() != real->size())
      return result;
    for (auto [i, number] : llvm::enumerate(*real)) {
      double unit = static_cast<double>(input.params->scale()) * scales[i % scales.size()];
      double sums = number / unit, rounded = std::nearbyint(sums);
      if (!(std::abs(rounded) < double(1 << 30)))
        return result;
      // Exact, as exporters make it, or rounded by 1/64 of a step at most.
      bool exact = std::abs(sums - rounded) <= 1e-5 * std::max(1.0, std::abs(rounded));
      if (!exact && unit * 32 > step)
        return result;
      result.numbers.push_back(static_cast<int32_t>(rounded));
    }
    result.fits = true;
    return result;
  }

  Value value(OpBuilder &builder, Value bias) const {
    auto type = RankedTensorType::get(static_cast<int64_t>(numbers.size()), builder.getI32Type());
    return graph::ConstantOp::create(builder, derivedLoc(bias.getLoc(), "integers"),
                                     graph::makeConstant(type, ArrayRef(numbers)));
  }
};

DictionaryAttr without(OpBuilder &builder, DictionaryAttr parameters, ArrayRef<StringRef> names) {
  return builder.getDictionaryAttr(llvm::filter_to_vector(parameters, [&](NamedAttribute named) {
    return !llvm::is_contained(names, named.getName().getValue());
  }));
}

//===----------------------------------------------------------------------===//
// Gemm, with and without a quantize behind it
//===----------------------------------------------------------------------===//

/// The QGemm of a Gemm; `result` is null for real numbers. Null where there is none.
HostCallOp makeGemm(PatternRewriter &rewriter, HostCallOp gemm, const Quantized *result,
                    Location loc, Type type) {
  if (!hasInputs(gemm, 2))
    return {};
  SmallVector<Value> inputs = inputsOf(gemm, 3);
  Quantized input = activation(inputs[0]);
  const bool transB = integerOf(gemm, "transB", 0) != 0;
  Weights weights = Weights::get(inputs[1], transB ? 0 : 1);
  if (!input || !weights)
    return {};
  IntegerBias bias;
  if (inputs[2]) {
    if (numberOf(gemm, "alpha", 1) != 1 || numberOf(gemm, "beta", 1) != 1)
      return {};
    bias =
        IntegerBias::get(inputs[2], input, weights.quantized, result ? result->params->scale() : 0);
    if (!bias.fits)
      return {};
  }
  SmallVector<Value> operands{storedOf(rewriter, input),
                              input.scaleValue(rewriter),
                              input.zeroValue(rewriter),
                              weights.integers(rewriter),
                              weights.quantized.scaleValue(rewriter),
                              weights.quantized.zeroValue(rewriter),
                              inputs[2] ? bias.value(rewriter, inputs[2]) : Value()};
  if (result)
    operands.append({result->scaleValue(rewriter), result->zeroValue(rewriter)});
  return makeCall(rewriter, loc, "QGemm", operands, type,
                  without(rewriter, gemm.getParameters(), {"beta"}));
}

//===----------------------------------------------------------------------===//
// Operators with a quantize behind them
//===----------------------------------------------------------------------===//

struct QuantizedResult : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    Quantized result = quantizedBy(call);
    if (!result || !result.is8Bit())
      return failure();
    Value input = call.getInputs()[0];
    // The integers stay in number and only change their parameters: a LeakyRelu with a slope of 1
    // does that by a table.
    if (Quantized before = activation(input); before && before.integer == result.integer) {
      SmallVector<Value> operands;
      append(rewriter, operands, before);
      operands.append({result.scaleValue(rewriter), result.zeroValue(rewriter)});
      auto alpha = rewriter.getNamedAttr(
          "alpha", DenseF64ArrayAttr::get(rewriter.getContext(), ArrayRef<double>{1.0}));
      rewriter.replaceOp(call, makeCall(rewriter, call.getLoc(), "QLinearLeakyRelu", operands,
                                        call.getResultTypes(), rewriter.getDictionaryAttr(alpha)));
      ++count;
      return success();
    }
    auto op = callOf(input);
    // The operator would run twice.
    if (!op || !input.hasOneUse() || op->getNumResults() != 1 || !op->hasOneUse())
      return rewriter.notifyMatchFailure(call, "others read what is quantized");
    using Make = HostCallOp (*)(PatternRewriter &, HostCallOp, HostCallOp, const Quantized &);
    auto make =
        llvm::StringSwitch<Make>(op.getKernel())
            .Case("Conv", conv)
            .Case("MatMul", matmul)
            .Case("Gemm", gemm)
            .Cases({"Add", "Mul"}, binary)
            .Cases({"AveragePool", "GlobalAveragePool", "LeakyRelu", "Sigmoid", "Softmax"}, unary)
            .Case("Concat", concat)
            .Default(nullptr);
    HostCallOp made = make ? make(rewriter, op, call, result) : HostCallOp();
    if (!made)
      return rewriter.notifyMatchFailure(call, "no integer form");
    rewriter.replaceOp(call, made);
    ++count;
    return success();
  }

private:
  static HostCallOp conv(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                         const Quantized &result) {
    if (!hasInputs(op, 2))
      return {};
    SmallVector<Value> inputs = inputsOf(op, 3);
    Quantized input = activation(inputs[0]);
    Weights weights = Weights::get(inputs[1], 0);
    if (!input || !weights || weights.transposed)
      return {};
    IntegerBias bias;
    if (inputs[2])
      bias = IntegerBias::get(inputs[2], input, weights.quantized, result.params->scale());
    if (inputs[2] && !bias.fits)
      return {};
    return makeCall(rewriter, call.getLoc(), "QLinearConv",
                    {storedOf(rewriter, input), input.scaleValue(rewriter),
                     input.zeroValue(rewriter), weights.integers(rewriter),
                     weights.quantized.scaleValue(rewriter), weights.quantized.zeroValue(rewriter),
                     result.scaleValue(rewriter), result.zeroValue(rewriter),
                     inputs[2] ? bias.value(rewriter, inputs[2]) : Value()},
                    call.getResultTypes(), op.getParameters());
  }

  static HostCallOp matmul(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                           const Quantized &result) {
    if (!hasInputs(op, 2))
      return {};
    Value rhs = op.getInputs()[1];
    Quantized input = activation(op.getInputs()[0]);
    Weights weights = Weights::get(rhs, rankedType(rhs) ? rankedType(rhs).getRank() - 1 : -1);
    if (!input || !weights)
      return {};
    return makeCall(rewriter, call.getLoc(), "QLinearMatMul",
                    {storedOf(rewriter, input), input.scaleValue(rewriter),
                     input.zeroValue(rewriter), weights.integers(rewriter),
                     weights.quantized.scaleValue(rewriter), weights.quantized.zeroValue(rewriter),
                     result.scaleValue(rewriter), result.zeroValue(rewriter)},
                    call.getResultTypes());
  }

  static HostCallOp gemm(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                         const Quantized &result) {
    return makeGemm(rewriter, op, &result, call.getLoc(), call.getResult(0).getType());
  }

  static HostCallOp binary(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                           const Quantized &result) {
    if (!hasInputs(op, 2) || !areOf(op.getInputs(), result.integer))
      return {};
    SmallVector<Value> operands;
    for (Value operand : op.getInputs())
      append(rewriter, operands, activation(operand));
    operands.append({result.scaleValue(rewriter), result.zeroValue(rewriter)});
    return makeCall(rewriter, call.getLoc(), "QLinear" + op.getKernel().str(), operands,
                    call.getResultTypes());
  }

  static HostCallOp unary(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                          const Quantized &result) {
    if (!areOf(op.getInputs(), result.integer))
      return {};
    SmallVector<NamedAttribute> parameters(op.getParameters().getValue());
    // Softmax over one dim, not over all behind it.
    if (op.getKernel() == "Softmax") {
      parameters.emplace_back(rewriter.getStringAttr("opset"), rewriter.getDenseI64ArrayAttr({13}));
      parameters.emplace_back(rewriter.getStringAttr("keep_scale"),
                              rewriter.getDenseI64ArrayAttr({1}));
      if (!op.getParameters().get("axis"))
        parameters.emplace_back(rewriter.getStringAttr("axis"),
                                rewriter.getDenseI64ArrayAttr({-1}));
    }
    SmallVector<Value> operands;
    append(rewriter, operands, activation(op.getInputs()[0]));
    operands.append({result.scaleValue(rewriter), result.zeroValue(rewriter)});
    return makeCall(rewriter, call.getLoc(), "QLinear" + op.getKernel().str(), operands,
                    call.getResultTypes(), rewriter.getDictionaryAttr(parameters));
  }

  static HostCallOp concat(PatternRewriter &rewriter, HostCallOp op, HostCallOp call,
                           const Quantized &result) {
    if (!areOf(op.getInputs(), result.integer))
      return {};
    SmallVector<Value> operands{result.scaleValue(rewriter), result.zeroValue(rewriter)};
    for (Value operand : op.getInputs())
      append(rewriter, operands, activation(operand));
    return makeCall(rewriter, call.getLoc(), "QLinearConcat", operands, call.getResultTypes(),
                    op.getParameters());
  }

  /// Activations that are stored as `integer`.
  static bool areOf(ValueRange values, IntegerType integer) {
    return llvm::all_of(values, [&](Value value) {
      Quantized quantized = activation(value);
      return quantized && quantized.integer == integer;
    });
  }
  static void append(PatternRewriter &rewriter, SmallVector<Value> &operands,
                     const Quantized &quantized) {
    operands.append({storedOf(rewriter, quantized), quantized.scaleValue(rewriter),
                     quantized.zeroValue(rewriter)});
  }
};

//===----------------------------------------------------------------------===//
// Products whose result stays real
//===----------------------------------------------------------------------===//

struct RealResult : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call->getNumResults() != 1 || !hasInputs(call, 2) ||
        !isa<TensorType>(call.getResult(0).getType()) || !isF32(call.getResult(0)))
      return failure();
    Value made =
        llvm::StringSwitch<Value (*)(PatternRewriter &, HostCallOp)>(call.getKernel())
            .Case("Conv", conv)
            .Case("MatMul", matmul)
            .Case("Gemm", gemm)
            .Case("Add", sum)
            .Default([](PatternRewriter &, HostCallOp) { return Value(); })(rewriter, call);
    if (!made)
      return rewriter.notifyMatchFailure(call, "no integer form");
    rewriter.replaceOp(call, made);
    ++count;
    return success();
  }

private:
  static Value gemm(PatternRewriter &rewriter, HostCallOp call) {
    auto made = makeGemm(rewriter, call, nullptr, call.getLoc(), call.getResult(0).getType());
    return made ? made.getResult(0) : Value();
  }

  /// sums * scale, as real numbers of the type of `call`'s result.
  static Value scaled(PatternRewriter &rewriter, HostCallOp call, Value sums,
                      ArrayRef<double> factors, ArrayRef<int64_t> shape, Location loc) {
    Type type = call.getResult(0).getType();
    auto to = rewriter.getNamedAttr("to", rewriter.getDenseI64ArrayAttr({1}));
    Value real = makeCall(rewriter, derivedLoc(call.getLoc(), "real"), "Cast", {sums}, type,
                          rewriter.getDictionaryAttr(to))
                     .getResult(0);
    Value factor =
        graph::createConstant(rewriter, derivedLoc(call.getLoc(), "scale"),
                              RankedTensorType::get(shape, rewriter.getF32Type()), factors);
    return makeCall(rewriter, loc, "Mul", {real, factor}, type).getResult(0);
  }

  static Value conv(PatternRewriter &rewriter, HostCallOp call) {
    SmallVector<Value> inputs = inputsOf(call, 3);
    Quantized input = activation(inputs[0]);
    Weights weights = Weights::get(inputs[1], 0);
    RankedTensorType type = rankedType(inputs[1]);
    if (!input || !weights || weights.transposed || !input.params || !weights.quantized.params ||
        !type)
      return {};
    // The bias is added to real numbers: a vector along dim 1.
    std::optional<SmallVector<double>> bias;
    if (inputs[2] && !(bias = realNumbers(inputs[2])))
      return {};
    const Location loc = call.getLoc();
    Value sums = makeCall(rewriter, derivedLoc(loc, "sums"), "ConvInteger",
                          {storedOf(rewriter, input), weights.integers(rewriter),
                           input.zeroValue(rewriter), weights.quantized.zeroValue(rewriter)},
                          withElement(call.getResult(0).getType(), rewriter.getI32Type()),
                          call.getParameters())
                     .getResult(0);
    SmallVector<double> factors;
    for (float scale : weights.quantized.params->scales)
      factors.push_back(static_cast<double>(input.params->scale()) * scale);
    auto alongChannels = [&](int64_t size) {
      SmallVector<int64_t> shape(type.getRank() - 1, 1);
      shape[0] = size;
      return shape;
    };
    Value result = scaled(rewriter, call, sums, factors, alongChannels(factors.size()),
                          bias ? derivedLoc(loc, "scaled") : loc);
    if (!bias)
      return result;
    Value added = graph::createConstant(
        rewriter, derivedLoc(loc, "bias"),
        RankedTensorType::get(alongChannels(bias->size()), rewriter.getF32Type()), *bias);
    return makeCall(rewriter, loc, "Add", {result, added}, call.getResultTypes()).getResult(0);
  }

  /// MatMulIntegerToFloat by a matrix, else MatMulInteger and a factor.
  static Value product(PatternRewriter &rewriter, HostCallOp call, HostCallOp replaced,
                       Value bias) {
    Value rhs = call.getInputs()[1];
    RankedTensorType type = rankedType(rhs);
    Quantized input = activation(call.getInputs()[0]);
    Weights weights = Weights::get(rhs, type ? type.getRank() - 1 : -1);
    if (!input || !weights)
      return {};
    const Quantized &factors = weights.quantized;
    if (type && type.getRank() == 2)
      return makeCall(rewriter, replaced.getLoc(), "MatMulIntegerToFloat",
                      {storedOf(rewriter, input), weights.integers(rewriter),
                       input.scaleValue(rewriter), factors.scaleValue(rewriter),
                       input.zeroValue(rewriter), factors.zeroValue(rewriter), bias},
                      replaced.getResultTypes())
          .getResult(0);
    if (bias || !input.params || !factors.params || !factors.perTensor)
      return {};
    Value sums = makeCall(rewriter, derivedLoc(call.getLoc(), "sums"), "MatMulInteger",
                          {storedOf(rewriter, input), weights.integers(rewriter),
                           input.zeroValue(rewriter), factors.zeroValue(rewriter)},
                          withElement(call.getResult(0).getType(), rewriter.getI32Type()))
                     .getResult(0);
    double factor = static_cast<double>(input.params->scale()) * factors.params->scale();
    return scaled(rewriter, call, sums, factor, {}, call.getLoc());
  }

  static Value matmul(PatternRewriter &rewriter, HostCallOp call) {
    // The addition behind it takes both.
    if (call->hasOneUse())
      if (auto add = dyn_cast<HostCallOp>(*call->getUsers().begin());
          add && add.getKernel() == "Add" && hasInputs(add, 2) && biasOf(add))
        return {};
    return product(rewriter, call, call, {});
  }

  static Value sum(PatternRewriter &rewriter, HostCallOp call) {
    auto [product, bias] = productAndBias(call);
    return bias ? RealResult::product(rewriter, product, call, realBias(rewriter, bias)) : Value();
  }

  /// The vector that an addition adds to each row of a product by a matrix with known
  /// numbers.
  static Value biasOf(HostCallOp add) { return productAndBias(add).second; }
  static std::pair<HostCallOp, Value> productAndBias(HostCallOp add) {
    for (unsigned i : {0u, 1u}) {
      auto matmul = callOf(add.getInputs()[i], "MatMul");
      Value bias = add.getInputs()[1 - i];
      RankedTensorType type = rankedType(bias);
      if (!matmul || !hasInputs(matmul, 2) || !matmul->hasOneUse() || !type || type.getRank() != 1)
        continue;
      Value rhs = matmul.getInputs()[1];
      RankedTensorType matrix = rankedType(rhs);
      if (matrix && matrix.getRank() == 2 && matrix.getDimSize(1) == type.getDimSize(0) &&
          activation(matmul.getInputs()[0]) && Weights::get(rhs, 1) && realNumbers(bias))
        return {matmul, bias};
    }
    return {};
  }

  static Value realBias(PatternRewriter &rewriter, Value bias) {
    if (graph::getConstant(bias))
      return bias;
    return graph::createConstant(rewriter, derivedLoc(bias.getLoc(), "bias"), rankedType(bias),
                                 *realNumbers(bias));
  }
};

struct IntegerCalls : impl::HostIntegerCallsBase<IntegerCalls> {
  void runOnOperation() override {
    // Calls that a quantize reads are rewritten before those whose floats are read.
    RewritePatternSet quantized(&getContext()), real(&getContext());
    quantized.add<QuantizedResult>(&getContext(), numCalls);
    real.add<RealResult>(&getContext(), numCalls);
    graph::rewriteToFixpoint(getOperation(), std::move(quantized));
    graph::rewriteToFixpoint(getOperation(), std::move(real));
  }
};

} // namespace
} // namespace atc::host
