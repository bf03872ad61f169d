//===-- EvaluatePool.cpp - max_pool and average_pool ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Arithmetic.h"
#include "dialects/graph/interpreter/Elements.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Windows.h"
#include "dialects/graph/ops/ConvOps.h"
#include <limits>

using namespace mlir;

namespace atc::graph::interpreter {

template <typename Op> static auto poolRuns(Op op, const Evaluation &e) {
  return listRuns({e.type.getShape().drop_front(2), e.operands[0]->getShape().drop_front(2),
                   op.getKernel(), op.getStrides(), op.getPads(), op.getDilations()});
}

/// Calls `visit(input, output)` for every pair of elements that meet in a
/// window; both are offsets in the whole tensors.
template <typename Op, typename Visit>
static void forEachWindowPair(Op op, const Evaluation &e, Visit visit) {
  auto runs = poolRuns(op, e);
  int64_t planes = e.type.getDimSize(0) * e.type.getDimSize(1);
  int64_t inputPlane = product(e.operands[0]->getShape().drop_front(2));
  int64_t outputPlane = product(e.type.getShape().drop_front(2));
  for (int64_t plane = 0; plane < planes; ++plane)
    for (const std::vector<Run> &list : runs)
      for (const Run &run : list)
        for (int64_t i = 0; i < run.count; ++i)
          visit(plane * inputPlane + run.large + i * run.stride,
                plane * outputPlane + run.small + i);
}

Result evaluateMaxPool(MaxPoolOp op, const Evaluation &e) {
  int64_t count = e.type.getNumElements();
  Type element = e.type.getElementType();
  if (e.isFloat()) {
    Elements<double> input(*e.operands[0]);
    std::vector<double> values(count, -std::numeric_limits<double>::infinity());
    forEachWindowPair(
        op, e, [&](int64_t from, int64_t to) { values[to] = maximum(values[to], input[from]); });
    return Tensor::fromDoubles(e.type, values);
  }
  Elements<uint64_t> input(*e.operands[0]);
  bool isUnsigned = isUnsignedElement(element);
  int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - element.getIntOrFloatBitWidth());
  std::vector<uint64_t> values(count, isUnsigned ? 0 : lowest);
  forEachWindowPair(op, e, [&](int64_t from, int64_t to) {
    uint64_t x = input[from];
    bool isLarger =
        isUnsigned ? x > values[to] : static_cast<int64_t>(x) > static_cast<int64_t>(values[to]);
    if (isLarger)
      values[to] = x;
  });
  return Tensor::fromIntegers(e.type, values);
}

/// Returns the number of kernel positions of every window that lie in the input and its padding (a
/// window of ceil mode can extend beyond both), for one plane.
static std::vector<int64_t> countPadded(AveragePoolOp op, const Evaluation &e) {
  ArrayRef<int64_t> outputs = e.type.getShape().drop_front(2);
  ArrayRef<int64_t> inputs = e.operands[0]->getShape().drop_front(2);
  size_t rank = outputs.size();
  std::vector<int64_t> counts(product(outputs), 1);
  for (int64_t index = 0; index < static_cast<int64_t>(counts.size()); ++index) {
    int64_t rest = index;
    for (size_t dim = rank; dim-- > 0; rest /= outputs[dim]) {
      int64_t start = rest % outputs[dim] * op.getStrides()[dim], inside = 0;
      int64_t padded = op.getPads()[dim] + inputs[dim] + op.getPads()[rank + dim];
      for (int64_t k = 0; k < op.getKernel()[dim]; ++k)
        inside += start + k * op.getDilations()[dim] < padded;
      counts[index] *= inside;
    }
  }
  return counts;
}

Result evaluateAveragePool(AveragePoolOp op, const Evaluation &e) {
  std::vector<double> values(e.type.getNumElements(), 0.0);
  Elements<double> input(*e.operands[0]);
  forEachWindowPair(op, e, [&](int64_t from, int64_t to) { values[to] += input[from]; });

  std::vector<int64_t> counts;
  int64_t plane = product(e.type.getShape().drop_front(2));
  if (op.getCountIncludePad()) {
    counts = countPadded(op, e);
  } else {
    counts.resize(plane);
    for (const std::vector<Run> &list : poolRuns(op, e))
      for (const Run &run : list)
        for (int64_t i = 0; i < run.count; ++i)
          ++counts[run.small + i];
  }
  // The taps of a dilated window can all miss the input: its mean is 0.
  for (auto [i, value] : llvm::enumerate(values))
    value /= std::max<int64_t>(counts[i % plane], 1);
  return Tensor::fromDoubles(e.type, values);
}

} // namespace atc::graph::interpreter
