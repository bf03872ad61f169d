//===-- EvaluateConv.cpp - convolutions, matmuls, batch norm -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Convolution.h"
#include "dialects/graph/interpreter/Elements.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/ops/ConvOps.h"
#include <cmath>
#include <optional>

using namespace mlir;

namespace atc::graph::interpreter {

template <typename T> static double toNumber(T value, bool isUnsigned) {
  if constexpr (std::is_same_v<T, uint64_t>)
    return isUnsigned ? static_cast<double>(value)
                      : static_cast<double>(static_cast<int64_t>(value));
  else
    return value;
}

/// The activation of an accumulated value. Integers take the way through double.
template <typename Sum>
static Sum applyActivation(ActivationAttr activation, Sum value, double slope, bool isUnsigned) {
  double number = activate(activation.getKind(), activation.getAlpha(), activation.getBeta(),
                           toNumber(value, isUnsigned), slope);
  if constexpr (std::is_same_v<Sum, uint64_t>)
    return static_cast<uint64_t>(static_cast<int64_t>(number));
  else
    return number;
}

/// Elements of an operand that may be missing.
template <typename T>
static void readOptional(const Evaluation &e, Value value, std::optional<Elements<T>> &elements) {
  if (const Tensor *tensor = e.find(value))
    elements.emplace(*tensor);
}

template <typename T> static Result convolve(ConvOp op, const Evaluation &e) {
  using Sum = Accumulator<T>;
  const Tensor &inputTensor = *e.operands[0], &filterTensor = *e.operands[1];
  Elements<T> input(inputTensor), filter(filterTensor);
  std::optional<Elements<T>> bias, residual, slope;
  readOptional<T>(e, op.getBias(), bias);
  readOptional<T>(e, op.getResidual(), residual);
  readOptional<T>(e, op.getSlope(), slope);
  bool isUnsigned = isUnsignedElement(e.type.getElementType());

  Convolution conv(op, e.type.getShape(), inputTensor.getShape(), filterTensor.getShape());

  std::vector<Sum> values(e.type.getNumElements());
  for (int64_t n = 0; n < conv.batch; ++n)
    for (int64_t m = 0; m < conv.outputs; ++m) {
      int64_t first = (n * conv.outputs + m) * conv.outputPlane;
      Sum *sums = values.data() + first;
      conv.addPlane(sums, input.data(), filter, n, m);
      // result = act(conv + bias + residual), or act(conv + bias) + residual.
      for (int64_t i = 0; i < conv.outputPlane; ++i) {
        Sum value = sums[i];
        if (bias)
          value += (*bias)[m];
        if (residual && !op.getResidualLast())
          value += (*residual)[first + i];
        if (ActivationAttr activation = op.getActivationAttr())
          value = applyActivation(activation, value,
                                  slope ? toNumber((*slope)[m], isUnsigned) : 0.0, isUnsigned);
        if (residual && op.getResidualLast())
          value += (*residual)[first + i];
        sums[i] = value;
      }
    }
  return makeTensor(e.type, values);
}

Result evaluateConv(ConvOp op, const Evaluation &e) {
  return withElementsOf(e.type.getElementType(),
                        [&](auto zero) { return convolve<decltype(zero)>(op, e); });
}

template <typename T> static Result convolveTransposed(ConvTransposeOp op, const Evaluation &e) {
  using Sum = Accumulator<T>;
  const Tensor &inputTensor = *e.operands[0], &filterTensor = *e.operands[1];
  Elements<T> input(inputTensor), filter(filterTensor);
  std::optional<Elements<T>> bias;
  readOptional<T>(e, op.getBias(), bias);

  Convolution conv(op, e.type.getShape(), inputTensor.getShape(), filterTensor.getShape(),
                   /*transposed=*/true);

  std::vector<Sum> values(e.type.getNumElements());
  for (int64_t n = 0; n < conv.batch; ++n)
    for (int64_t m = 0; m < conv.outputs; ++m) {
      Sum *sums = values.data() + (n * conv.outputs + m) * conv.outputPlane;
      std::fill(sums, sums + conv.outputPlane, bias ? static_cast<Sum>((*bias)[m]) : Sum());
      conv.addPlane(sums, input.data(), filter, n, m);
    }
  return makeTensor(e.type, values);
}

Result evaluateConvTranspose(ConvTransposeOp op, const Evaluation &e) {
  return withElementsOf(e.type.getElementType(),
                        [&](auto zero) { return convolveTransposed<decltype(zero)>(op, e); });
}

Result evaluateBatchNorm(BatchNormOp op, const Evaluation &e) {
  std::vector<double> values = e.operands[0]->toDoubles();
  std::vector<double> scale = e.operands[1]->toDoubles(), bias = e.operands[2]->toDoubles();
  std::vector<double> mean = e.operands[3]->toDoubles(), variance = e.operands[4]->toDoubles();
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t channels = e.type.getDimSize(1), plane = product(e.type.getShape().drop_front(2));
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t c = i / plane % channels;
    value = (value - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  return Tensor::fromDoubles(e.type, values);
}

template <typename T> static Result multiply(const Evaluation &e) {
  using Sum = Accumulator<T>;
  const Tensor &lhsTensor = *e.operands[0], &rhsTensor = *e.operands[1];
  Elements<T> lhs(lhsTensor), rhs(rhsTensor);
  // A vector is a matrix of one row on the left, of one column on the right.
  ArrayRef<int64_t> lhsShape = lhsTensor.getShape(), rhsShape = rhsTensor.getShape();
  bool lhsIsVector = lhsShape.size() == 1, rhsIsVector = rhsShape.size() == 1;
  int64_t rows = lhsIsVector ? 1 : lhsShape[lhsShape.size() - 2];
  int64_t inner = lhsShape.back(), columns = rhsIsVector ? 1 : rhsShape.back();

  ArrayRef<int64_t> batch = e.type.getShape().drop_back(!lhsIsVector + !rhsIsVector);
  auto batchStrides = [&](ArrayRef<int64_t> shape, int64_t matrix) {
    Strides strides = broadcastStrides(shape.drop_back(std::min<size_t>(shape.size(), 2)), batch);
    for (int64_t &stride : strides)
      stride *= matrix;
    return strides;
  };
  Strides strides[] = {batchStrides(lhsShape, rows * inner),
                       batchStrides(rhsShape, inner * columns)};

  std::vector<Sum> values(e.type.getNumElements());
  Sum *sums = values.data();
  forEachPosition(batch, strides, [&](ArrayRef<int64_t> offsets) {
    const T *left = lhs.data() + offsets[0], *right = rhs.data() + offsets[1];
    for (int64_t row = 0; row < rows; ++row, sums += columns)
      for (int64_t k = 0; k < inner; ++k) {
        Sum factor = left[row * inner + k];
        for (int64_t column = 0; column < columns; ++column)
          sums[column] += factor * static_cast<Sum>(right[k * columns + column]);
      }
  });
  return makeTensor(e.type, values);
}

Result evaluateMatMul(MatMulOp, const Evaluation &e) {
  return withElementsOf(e.type.getElementType(),
                        [&](auto zero) { return multiply<decltype(zero)>(e); });
}

template <typename T> static Result connect(FullyConnectedOp op, const Evaluation &e) {
  using Sum = Accumulator<T>;
  Elements<T> input(*e.operands[0]), filter(*e.operands[1]);
  std::optional<Elements<T>> bias;
  readOptional<T>(e, op.getBias(), bias);
  bool isUnsigned = isUnsignedElement(e.type.getElementType());
  int64_t inner = e.operands[0]->getShape().back(), outputs = e.type.getShape().back();
  std::vector<Sum> values(e.type.getNumElements());
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t row = i / outputs, output = i % outputs;
    for (int64_t k = 0; k < inner; ++k)
      value +=
          static_cast<Sum>(input[row * inner + k]) * static_cast<Sum>(filter[output * inner + k]);
    if (bias)
      value += (*bias)[output];
    if (ActivationAttr activation = op.getActivationAttr())
      value = applyActivation(activation, value, 0.0, isUnsigned);
  }
  return makeTensor(e.type, values);
}

Result evaluateFullyConnected(FullyConnectedOp op, const Evaluation &e) {
  return withElementsOf(e.type.getElementType(),
                        [&](auto zero) { return connect<decltype(zero)>(op, e); });
}

} // namespace atc::graph::interpreter
