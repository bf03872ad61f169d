//===-- EvaluateQuant.cpp - quantized tensors, integer contractions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Convolution.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/QuantOps.h"
#include <cmath>

using namespace mlir;

namespace atc::graph::interpreter {

namespace {

/// Returns the scale and zero point of element `i` of a tensor.
class ParamsAt {
public:
  ParamsAt(const QuantParams &params, ArrayRef<int64_t> shape) : params(params) {
    if (!params.isPerTensor())
      inner = product(shape.drop_front(params.axis + 1));
  }
  size_t indexOf(int64_t i) const {
    return params.isPerTensor() ? 0 : i / inner % static_cast<int64_t>(params.scales.size());
  }
  float scale(int64_t i) const { return params.scales[indexOf(i)]; }
  int64_t zeroPoint(int64_t i) const { return params.zeroPoints[indexOf(i)]; }

private:
  const QuantParams &params;
  int64_t inner = 1;
};

} // namespace

Result evaluateQuantize(QuantizeOp op, const Evaluation &e) {
  QuantParams params = *getQuantParams(op.getType().getElementType());
  ParamsAt at(params, e.type.getShape());
  std::vector<uint64_t> values;
  for (auto [i, x] : llvm::enumerate(e.operands[0]->as<float>())) {
    // All steps in f32, as compiled code does them.
    float scaled = std::nearbyint(x / at.scale(i)) + static_cast<float>(at.zeroPoint(i));
    if (std::isnan(scaled))
      scaled = 0;
    float bounded =
        std::min(std::max(scaled, static_cast<float>(params.min)), static_cast<float>(params.max));
    values.push_back(static_cast<uint64_t>(static_cast<int64_t>(bounded)));
  }
  auto stored = getStoredType(e.type);
  return Tensor::fromIntegers(stored, values);
}

Result evaluateDequantize(DequantizeOp op, const Evaluation &e) {
  QuantParams params = *getQuantParams(op.getInput().getType().getElementType());
  ParamsAt at(params, e.type.getShape());
  std::vector<uint64_t> integers = e.operands[0]->toIntegers();
  std::vector<double> values;
  for (auto [i, integer] : llvm::enumerate(integers)) {
    float centered = static_cast<float>(static_cast<int64_t>(integer) - at.zeroPoint(i));
    values.push_back(centered * at.scale(i));
  }
  return Tensor::fromDoubles(e.type, values);
}

//===----------------------------------------------------------------------===//
// Integer contractions
//===----------------------------------------------------------------------===//

/// The 8-bit integers of a filter less the zero points of its rows.
template <typename OpT> static std::vector<int64_t> centeredFilter(OpT op, const Tensor &filter) {
  std::vector<int64_t> values;
  int64_t row = product(filter.getShape().drop_front());
  ArrayRef<int64_t> zeros = op.getFilterZeroPoints();
  for (auto [i, value] : llvm::enumerate(filter.toIntegers()))
    values.push_back(static_cast<int64_t>(value) - (zeros.empty() ? 0 : zeros[i / row]));
  return values;
}

template <typename OpT> static std::vector<int64_t> centeredInput(OpT op, const Tensor &input) {
  std::vector<int64_t> values;
  for (uint64_t value : input.toIntegers())
    values.push_back(static_cast<int64_t>(value) - static_cast<int64_t>(op.getZeroPoint()));
  return values;
}

template <typename OpT>
static std::vector<int64_t> biasOf(OpT op, const Evaluation &e, int64_t channels) {
  std::vector<int64_t> values(channels, 0);
  if (const Tensor *bias = e.find(op.getBias()))
    for (auto [to, from] : llvm::zip_equal(values, bias->toIntegers()))
      to = static_cast<int64_t>(from);
  return values;
}

/// Returns the accumulators themselves, or the result of the body for them.
template <typename OpT>
static Result finish(OpT op, const Evaluation &e, const std::vector<int64_t> &sums) {
  auto type = RankedTensorType::get(e.type.getShape(), IntegerType::get(op.getContext(), 32));
  std::vector<uint64_t> bits(sums.begin(), sums.end());
  Tensor result = Tensor::fromIntegers(type, bits);
  if (op.getBody().empty())
    return result;
  SmallVector<const Tensor *> inputs{&result};
  llvm::append_range(inputs, e.operands.take_back(op.getInputs().size()));
  return evaluateBody(op.getBody().front(), inputs, e);
}

Result evaluateIntegerConv(IntegerConvOp op, const Evaluation &e) {
  const Tensor &inputTensor = *e.operands[0], &filterTensor = *e.operands[1];
  std::vector<int64_t> input = centeredInput(op, inputTensor);
  std::vector<int64_t> filter = centeredFilter(op, filterTensor);
  Convolution conv(op, e.type.getShape(), inputTensor.getShape(), filterTensor.getShape());
  std::vector<int64_t> bias = biasOf(op, e, conv.outputs);

  std::vector<int64_t> values(e.type.getNumElements());
  for (int64_t n = 0; n < conv.batch; ++n)
    for (int64_t m = 0; m < conv.outputs; ++m) {
      int64_t *sums = values.data() + (n * conv.outputs + m) * conv.outputPlane;
      std::fill(sums, sums + conv.outputPlane, bias[m]);
      conv.addPlane(sums, input.data(), filter, n, m);
    }
  return finish(op, e, values);
}

Result evaluateIntegerFullyConnected(IntegerFullyConnectedOp op, const Evaluation &e) {
  std::vector<int64_t> input = centeredInput(op, *e.operands[0]);
  std::vector<int64_t> filter = centeredFilter(op, *e.operands[1]);
  int64_t inner = e.operands[0]->getShape().back(), outputs = e.type.getShape().back();
  std::vector<int64_t> bias = biasOf(op, e, outputs);
  std::vector<int64_t> values(e.type.getNumElements());
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t row = i / outputs, output = i % outputs;
    value = bias[output];
    for (int64_t k = 0; k < inner; ++k)
      value += input[row * inner + k] * filter[output * inner + k];
  }
  return finish(op, e, values);
}

} // namespace atc::graph::interpreter
