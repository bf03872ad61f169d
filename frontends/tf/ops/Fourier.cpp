//===-- Fourier.cpp - Fourier transforms as matrix products ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transforms of a known moderate length are products with matrices of cosines and sines, which
// every target computes; others are calls of the host kernel DFT.

#include <cmath>
#include <numbers>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/tf/ops/Complex.h"
#include "frontends/tf/ops/DynamicForms.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Up to this length the matrices (16 MiB at most) pay; a transform of O(n log n) takes over above.
constexpr int64_t maxMatrixLength = 2048;

/// Returns a matrix [rows, columns] of f(row * column * 2 pi / length) * weight(row).
template <typename Function, typename Weight>
Value makeMatrix(NodeContext &n, int64_t rows, int64_t columns, int64_t length, Type element,
                 Function function, Weight weight) {
  std::vector<float> values;
  values.reserve(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      // The remainder keeps the angle small and exact.
      double angle = 2 * std::numbers::pi * double(row * column % length) / double(length);
      values.push_back(static_cast<float>(function(angle) * weight(row)));
    }
  auto type = RankedTensorType::get({rows, columns}, n.builder().getF32Type());
  return n.cast(n.constant(graph::makeConstant(type, ArrayRef<float>(values))), element);
}

double cosine(double angle) { return std::cos(angle); }
/// Zero at half a turn, too, where the sine of the rounded angle would be a small number: the sign
/// of an imaginary part of zero says whether the angle of a negative number is pi or -pi.
double sine(double angle) { return angle == std::numbers::pi ? 0.0 : std::sin(angle); }
double negativeSine(double angle) { return 0.0 - sine(angle); }

/// Returns `value` [..., N] times `matrix` [N, M]; vectors count as one row.
Value multiply(NodeContext &n, Value value, Value matrix) {
  if (n.failed())
    return {};
  if (n.rank(value) > 1)
    return n.create<graph::MatMulOp>(value, matrix);
  Value product = n.create<graph::MatMulOp>(n.reshape(value, {1, n.shape(value)[0]}), matrix);
  return n.failed() ? Value() : n.reshape(product, {n.shape(product)[1]});
}

/// Returns the first `count` elements of the last axis, whose dim is known.
Value keepFirst(NodeContext &n, Value value, int64_t count) {
  if (!value || n.failed() || n.shape(value).back() <= count)
    return value;
  if (!NodeContext::isStatic(value))
    return n.callHost("Slice", {value, n.intList({0}), n.intList({count}), n.intList({-1})});
  SmallVector<int64_t> sizes(n.shape(value)), starts(sizes.size(), 0), steps(sizes.size(), 1);
  sizes.back() = count;
  return n.create<graph::SliceOp>(value, starts, sizes, steps);
}

/// Whether a transform is computed by matrices: of a static vector, or rows whose dim is known.
bool takesMatrices(NodeContext &n, Value value, int64_t length) {
  ArrayRef<int64_t> shape = n.shape(value);
  return !shape.empty() && shape.back() > 0 && length > 0 && length <= maxMatrixLength &&
         (shape.size() > 1 || NodeContext::isStatic(value)) && !n.elementType(value).isF64();
}

/// Calls the kernel DFT: parts are along a last axis of 1 or 2 elements. Without a length it takes
/// all elements.
Complex callKernel(NodeContext &n, Complex signal, Value length, bool isInverse, bool isHalf) {
  auto column = [&](Value value) { return n.callHost("Unsqueeze", {value, n.intList({-1})}); };
  Value joined = column(signal.re);
  if (signal.im)
    joined = n.callHost("Concat", {joined, column(signal.im)}, {n.hostInts("axis", {-1})});
  graph::HostCall call{
      "DFT",
      {joined, length},
      n.builder().getDictionaryAttr({n.hostInts("axis", {-2}), n.hostInts("inverse", {isInverse}),
                                     n.hostInts("onesided", {isHalf})})};
  SmallVector<Value> results = n.failed() ? SmallVector<Value>() : n.callHost(call);
  if (results.empty())
    return {};
  auto part = [&](int64_t index) {
    return n.callHost("Gather",
                      {results.front(), n.scalar(double(index), n.builder().getI64Type())},
                      {n.hostInts("axis", {-1})});
  };
  return {part(0), isInverse && isHalf ? Value() : part(1)};
}

/// Returns a length as an operand; null for 0.
Value lengthOperand(NodeContext &n, int64_t length) {
  return length > 0 ? n.scalar(double(length), n.builder().getI64Type()) : Value();
}

} // namespace

Complex transformOfAnyLength(NodeContext &n, Complex signal, Value length, bool isInverse,
                             bool isHalf) {
  return callKernel(n, signal, length, isInverse, isHalf);
}

Complex transformForward(NodeContext &n, Complex signal, int64_t length, bool isHalf) {
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = n.shape(signal.re);
  if (length == 0 && !shape.empty() && shape.back() > 0)
    length = shape.back();
  signal.im = withKnownDims(n, signal.im, shape, 0);
  if (!takesMatrices(n, signal.re, length) || (signal.im && n.rank(signal.im) != n.rank(signal.re)))
    return callKernel(n, signal, lengthOperand(n, length), /*isInverse=*/false, isHalf);
  const int64_t used = std::min(shape.back(), length);
  const int64_t results = isHalf ? length / 2 + 1 : length;
  Value re = keepFirst(n, signal.re, used), im = keepFirst(n, signal.im, used);
  Type element = n.elementType(re);
  auto all = [](int64_t) { return 1.0; };
  Value cosines = makeMatrix(n, used, results, length, element, cosine, all);
  Value sines = makeMatrix(n, used, results, length, element, negativeSine, all);
  // (re + i im) (cos - i sin).
  Value real = multiply(n, re, cosines), crossed = multiply(n, re, sines);
  if (!im)
    return {real, crossed};
  return {n.sub(real, multiply(n, im, sines)), n.add(multiply(n, im, cosines), crossed)};
}

Complex transformInverse(NodeContext &n, Complex spectrum, int64_t length, bool isHalf) {
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = n.shape(spectrum.re);
  if (length == 0 && !isHalf && !shape.empty() && shape.back() > 0)
    length = shape.back();
  spectrum.im = withKnownDims(n, spectrum.im, shape, 0);
  if (!takesMatrices(n, spectrum.re, length) ||
      (spectrum.im && n.rank(spectrum.im) != n.rank(spectrum.re)))
    return callKernel(n, spectrum, lengthOperand(n, length), /*isInverse=*/true, isHalf);
  const int64_t used = std::min(shape.back(), isHalf ? length / 2 + 1 : length);
  Value re = keepFirst(n, spectrum.re, used), im = keepFirst(n, spectrum.im, used);
  Type element = n.elementType(re);
  // An element of half a spectrum stands for its mirrored one, too, but for the first and the
  // middle one, which are their own.
  auto weight = [&](int64_t row) {
    return (isHalf && row != 0 && 2 * row != length ? 2.0 : 1.0) / double(length);
  };
  Value cosines = makeMatrix(n, used, length, length, element, cosine, weight);
  Value sines = makeMatrix(n, used, length, length, element, sine, weight);
  // (re + i im) (cos + i sin).
  Value real = n.sub(multiply(n, re, cosines), multiply(n, im, sines));
  if (isHalf)
    return {real, Value()};
  return {real, n.add(multiply(n, re, sines), multiply(n, im, cosines))};
}

} // namespace atc::tf_import
