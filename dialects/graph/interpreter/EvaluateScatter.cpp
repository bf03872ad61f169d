//===-- EvaluateScatter.cpp - sums by index and running sums, for reference -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Evaluators.h"

using namespace mlir;

namespace atc::graph::interpreter {

Result evaluateScatterAdd(ScatterAddOp op, const Evaluation &e) {
  ArrayRef<int64_t> shape = e.type.getShape();
  const int64_t outer = shape[0], extent = shape[1], inner = shape[2];
  const std::vector<uint64_t> indices = e.operands[0]->toIntegers();
  const std::vector<double> updates = e.operands[1]->toDoubles();
  std::vector<double> sums(e.type.getNumElements());
  const int64_t count = static_cast<int64_t>(indices.size());
  for (int64_t i = 0; i < count; ++i) {
    auto index = static_cast<int64_t>(indices[i]);
    index += index < 0 ? extent : 0;
    if (index < 0 || index >= extent)
      return e.fail("index " + Twine(static_cast<int64_t>(indices[i])) + " is not in [" +
                    Twine(-extent) + ", " + Twine(extent) + "), the rows of the result");
    for (int64_t a = 0; a < outer; ++a)
      for (int64_t b = 0; b < inner; ++b)
        sums[(a * extent + index) * inner + b] += updates[(a * count + i) * inner + b];
  }
  return Tensor::fromDoubles(e.type, sums);
}

/// Replaces values by their sums along an axis.
template <typename T>
static void sumAlong(std::vector<T> &values, ArrayRef<int64_t> shape, CumulativeSumOp op) {
  const int64_t axis = op.getAxis(), size = shape[axis];
  const int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  const int64_t outer = ShapedType::getNumElements(shape.take_front(axis));
  for (int64_t lane = 0; lane < outer * inner; ++lane) {
    T sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t position = op.getReverse() ? size - 1 - i : i;
      T &value = values[(lane / inner * size + position) * inner + lane % inner];
      const T next = sum + value;
      value = op.getExclusive() ? sum : next;
      sum = next;
    }
  }
}

Result evaluateCumulativeSum(CumulativeSumOp op, const Evaluation &e) {
  ArrayRef<int64_t> shape = e.type.getShape();
  if (isa<IntegerType>(e.type.getElementType())) {
    std::vector<uint64_t> values = e.operands[0]->toIntegers();
    sumAlong(values, shape, op);
    return Tensor::fromIntegers(e.type, values);
  }
  std::vector<double> values = e.operands[0]->toDoubles();
  sumAlong(values, shape, op);
  return Tensor::fromDoubles(e.type, values);
}

} // namespace atc::graph::interpreter
