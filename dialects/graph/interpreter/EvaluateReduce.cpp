//===-- EvaluateReduce.cpp - reductions, arg_max, softmax ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Arithmetic.h"
#include "dialects/graph/interpreter/Elements.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/ReduceOps.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::graph::interpreter {

/// The offsets of all positions of the dims of `shape` that `select` keeps, in
/// row-major order.
template <typename Select>
static std::vector<int64_t> listOffsets(ArrayRef<int64_t> shape, Select select) {
  Strides all = rowMajorStrides(shape), strides;
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (select(dim)) {
      sizes.push_back(size);
      strides.push_back(all[dim]);
    }
  std::vector<int64_t> offsets;
  forEachPosition(sizes, ArrayRef<Strides>(strides),
                  [&](ArrayRef<int64_t> at) { offsets.push_back(at[0]); });
  return offsets;
}

static double reduceFloats(ReduceKind kind, const Elements<double> &input, int64_t first,
                           ArrayRef<int64_t> offsets) {
  auto sum = [&](auto term) {
    double total = 0;
    for (int64_t offset : offsets)
      total += term(input[first + offset]);
    return total;
  };
  auto identity = [](double x) { return x; };
  auto square = [](double x) { return x * x; };
  auto largest = [&] {
    double result = -std::numeric_limits<double>::infinity();
    for (int64_t offset : offsets)
      result = maximum(result, input[first + offset]);
    return result;
  };
  switch (kind) {
  case ReduceKind::Sum:
    return sum(identity);
  case ReduceKind::Mean:
    return sum(identity) / offsets.size();
  case ReduceKind::Max:
    return largest();
  case ReduceKind::Min: {
    double result = std::numeric_limits<double>::infinity();
    for (int64_t offset : offsets)
      result = minimum(result, input[first + offset]);
    return result;
  }
  case ReduceKind::Prod: {
    double result = 1;
    for (int64_t offset : offsets)
      result *= input[first + offset];
    return result;
  }
  case ReduceKind::L1:
    return sum([](double x) { return std::abs(x); });
  case ReduceKind::L2:
    return std::sqrt(sum(square));
  case ReduceKind::LogSum:
    return std::log(sum(identity));
  case ReduceKind::LogSumExp: {
    // Less the largest, so that no exponential overflows.
    double top = largest();
    if (std::isinf(top))
      return top;
    return top + std::log(sum([&](double x) { return std::exp(x - top); }));
  }
  case ReduceKind::SumSquare:
    return sum(square);
  }
  return 0;
}

static uint64_t reduceIntegers(ReduceKind kind, bool isUnsigned, const Elements<uint64_t> &input,
                               int64_t first, ArrayRef<int64_t> offsets) {
  auto isLess = [=](uint64_t a, uint64_t b) {
    return isUnsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  };
  uint64_t result = kind == ReduceKind::Prod;
  for (auto [i, offset] : llvm::enumerate(offsets)) {
    uint64_t x = input[first + offset];
    switch (kind) {
    case ReduceKind::Max:
      result = i == 0 || isLess(result, x) ? x : result;
      break;
    case ReduceKind::Min:
      result = i == 0 || isLess(x, result) ? x : result;
      break;
    case ReduceKind::Prod:
      result *= x;
      break;
    case ReduceKind::L1:
      result += isLess(x, 0) ? 0 - x : x;
      break;
    case ReduceKind::SumSquare:
      result += x * x;
      break;
    default:
      result += x;
      break;
    }
  }
  if (kind == ReduceKind::Mean)
    return isUnsigned ? result / offsets.size() : signedQuotient(result, offsets.size());
  return result;
}

Result evaluateReduce(ReduceOp op, const Evaluation &e) {
  ReduceKind kind = op.getKind();
  ArrayRef<int64_t> shape = e.operands[0]->getShape();
  auto isReduced = [&](int64_t dim) { return llvm::is_contained(op.getAxes(), dim); };
  std::vector<int64_t> firsts = listOffsets(shape, [&](int64_t dim) { return !isReduced(dim); });
  std::vector<int64_t> offsets = listOffsets(shape, isReduced);
  bool needsElement =
      kind == ReduceKind::Max || kind == ReduceKind::Min || kind == ReduceKind::Mean;
  if (offsets.empty() && !firsts.empty() && needsElement)
    return e.fail("has no elements to take the " + stringifyReduceKind(kind) + " of");

  if (e.isFloat()) {
    Elements<double> input(*e.operands[0]);
    std::vector<double> values;
    for (int64_t first : firsts)
      values.push_back(reduceFloats(kind, input, first, offsets));
    return Tensor::fromDoubles(e.type, values);
  }
  Elements<uint64_t> input(*e.operands[0]);
  bool isUnsigned = isUnsignedElement(e.type.getElementType());
  std::vector<uint64_t> values;
  for (int64_t first : firsts)
    values.push_back(reduceIntegers(kind, isUnsigned, input, first, offsets));
  return Tensor::fromIntegers(e.type, values);
}

template <typename T> static int64_t findExtreme(ArrayRef<T> values, bool selectLast, bool isMax) {
  int64_t best = 0;
  for (int64_t i = 1; i < static_cast<int64_t>(values.size()); ++i) {
    bool isBetter = isMax ? values[i] > values[best] : values[i] < values[best];
    if (isBetter || (selectLast && values[i] == values[best]))
      best = i;
  }
  return best;
}

/// arg_max and arg_min over elements of type T.
template <typename T>
static Result evaluateArgOf(const Evaluation &e, ArrayRef<T> input, int64_t axis, bool selectLast,
                            bool isMax) {
  ArrayRef<int64_t> shape = e.operands[0]->getShape();
  std::vector<uint64_t> indices;
  SmallVector<T> line(shape[axis]);
  int64_t stride = rowMajorStrides(shape)[axis];
  for (int64_t first : listOffsets(shape, [&](int64_t dim) { return dim != axis; })) {
    for (auto [i, value] : llvm::enumerate(line))
      value = input[first + i * stride];
    indices.push_back(findExtreme(ArrayRef<T>(line), selectLast, isMax));
  }
  return Tensor::fromIntegers(e.type, indices);
}

static Result evaluateArg(const Evaluation &e, int64_t axis, bool selectLast, bool isMax) {
  const Tensor &input = *e.operands[0];
  if (input.getShape()[axis] == 0)
    return e.fail("has no elements to choose from");
  if (isa<FloatType>(input.getElementType()))
    return evaluateArgOf<double>(e, input.toDoubles(), axis, selectLast, isMax);
  std::vector<uint64_t> values = input.toIntegers();
  if (isUnsignedElement(input.getElementType()))
    return evaluateArgOf<uint64_t>(e, values, axis, selectLast, isMax);
  std::vector<int64_t> numbers(values.begin(), values.end());
  return evaluateArgOf<int64_t>(e, numbers, axis, selectLast, isMax);
}

Result evaluateArgMax(ArgMaxOp op, const Evaluation &e) {
  return evaluateArg(e, op.getAxis(), op.getSelectLast(), /*isMax=*/true);
}

Result evaluateArgMin(ArgMinOp op, const Evaluation &e) {
  return evaluateArg(e, op.getAxis(), op.getSelectLast(), /*isMax=*/false);
}

static Result evaluateSoftmaxOf(const Evaluation &e, int64_t axis, bool isLog) {
  std::vector<double> values = e.operands[0]->toDoubles();
  ArrayRef<int64_t> shape = e.type.getShape();
  int64_t stride = rowMajorStrides(shape)[axis], size = shape[axis];
  for (int64_t first : listOffsets(shape, [&](int64_t dim) { return dim != axis; })) {
    auto at = [&](int64_t i) -> double & { return values[first + i * stride]; };
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < size; ++i)
      top = maximum(top, at(i));
    for (int64_t i = 0; i < size; ++i)
      sum += std::exp(at(i) - top);
    for (int64_t i = 0; i < size; ++i)
      at(i) = isLog ? at(i) - top - std::log(sum) : std::exp(at(i) - top) / sum;
  }
  return Tensor::fromDoubles(e.type, values);
}

Result evaluateSoftmax(SoftmaxOp op, const Evaluation &e) {
  return evaluateSoftmaxOf(e, op.getAxis(), /*isLog=*/false);
}

Result evaluateLogSoftmax(LogSoftmaxOp op, const Evaluation &e) {
  return evaluateSoftmaxOf(e, op.getAxis(), /*isLog=*/true);
}

} // namespace atc::graph::interpreter
