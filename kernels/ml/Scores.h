//===-- Scores.h - scores and labels of ai.onnx.ml's models ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_ML_SCORES_H
#define OPENATC_KERNELS_ML_SCORES_H

#include "kernels/core/Math.h"
#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// Attribute post_transform, with the values of TreeEnsemble.
enum class Transform { None, Softmax, Logistic, SoftmaxZero, Probit, Unknown };

/// Returns the attribute of the call; fails the call for an unknown name.
inline Transform transformOf(Context &c) {
  const String name = c.text("post_transform", "NONE");
  const Transform found = equal(name, "NONE")           ? Transform::None
                          : equal(name, "SOFTMAX")      ? Transform::Softmax
                          : equal(name, "LOGISTIC")     ? Transform::Logistic
                          : equal(name, "SOFTMAX_ZERO") ? Transform::SoftmaxZero
                          : equal(name, "PROBIT")       ? Transform::Probit
                                                        : Transform::Unknown;
  if (found == Transform::Unknown)
    c.fail("post_transform is none of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT");
  return found;
}

/// Returns the inverse of the normal distribution, with the approximation of the inverse error
/// function that ONNX's models were trained to expect.
inline double probit(double p) {
  const double x = 2 * p - 1, logarithm = math::log((1 - x) * (1 + x));
  const double v = 2 / (3.14159 * 0.147) + 0.5 * logarithm;
  const double magnitude = math::sqrt(math::sqrt(v * v - logarithm / 0.147) - v);
  return 1.41421356 * (x < 0 ? -magnitude : magnitude);
}

/// Transforms the scores of one row in place. A single score is not changed by softmax, which would
/// make it 1.
inline void transformScores(Transform transform, double *scores, int64_t count) {
  switch (transform) {
  case Transform::Logistic:
    for (int64_t i = 0; i < count; ++i)
      scores[i] = math::sigmoid(scores[i]);
    return;
  case Transform::Probit:
    for (int64_t i = 0; i < count; ++i)
      scores[i] = probit(scores[i]);
    return;
  case Transform::Softmax:
  case Transform::SoftmaxZero: {
    if (count < 2)
      return;
    double largest = scores[0], sum = 0;
    for (int64_t i = 1; i < count; ++i)
      largest = maximum(largest, scores[i]);
    for (int64_t i = 0; i < count; ++i) {
      // SOFTMAX_ZERO: what is zero stays zero and has no weight.
      const bool zero = transform == Transform::SoftmaxZero && math::abs(scores[i]) <= 1e-7;
      scores[i] = zero ? scores[i] * math::exp(-largest) : math::exp(scores[i] - largest);
      sum += zero ? 0 : scores[i];
    }
    for (int64_t i = 0; i < count && sum > 0; ++i)
      scores[i] /= sum;
    return;
  }
  default:
    return;
  }
}

/// Transforms the scores of one row of a regressor in place. Of the transforms a single score takes
/// PROBIT alone, as in ONNX Runtime.
inline void transformTargets(Transform transform, double *scores, int64_t count) {
  if (count > 1 || transform == Transform::Probit)
    transformScores(transform, scores, count);
}

/// Computes the scores of two classes from that of the second. With `complement` they add up to 1;
/// otherwise the first is the negative of the second.
inline void transformBinary(Transform transform, double score, bool complement, double *two) {
  if (transform == Transform::Logistic) {
    two[0] = math::sigmoid(-score);
    two[1] = math::sigmoid(score);
    return;
  }
  two[0] = complement ? 1 - score : -score;
  two[1] = score;
  if (transform == Transform::Probit)
    transformScores(transform, two, 2);
}

/// Returns the index of the first maximum.
inline int64_t indexOfLargest(const double *scores, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (scores[i] > scores[best])
      best = i;
  return best;
}

/// The labels of classes, which are integers or strings; without any, 0, 1, ...
class Labels {
public:
  Labels(Context &c, const char *numbers, const char *texts)
      : numbers(c.integers(numbers)), texts(c.strings(texts)) {}
  /// Returns the number of labels.
  int64_t size() const { return texts.size ? texts.size : numbers.size; }
  /// Returns the element type of the labels: text or i64.
  uint8_t dtype() const { return texts.size ? Str : I64; }
  /// Makes the output of `count` labels. Returns false where the kernel must return.
  bool make(Context &c, uint32_t output, int64_t count) {
    data = c.makeBytes(output, dtype(), Dims(count));
    return data != nullptr;
  }
  /// Sets result `row` to the label of class `index`.
  void set(int64_t row, int64_t index) {
    if (!data)
      return;
    if (texts.size)
      static_cast<String *>(data)[row] = index < texts.size ? texts[index] : String{};
    else
      static_cast<int64_t *>(data)[row] = index < numbers.size ? numbers[index] : index;
  }

private:
  List<int64_t> numbers;
  List<String> texts;
  void *data = nullptr;
};

/// The rows of an input [N, F]; [F] is one row.
struct Rows {
  Tensor data;
  int64_t count = 1, width = 0;

  /// Reads [rows, width], or one row of a tensor of rank 1.
  explicit Rows(Tensor data) : data(data) {
    if (data.rank() >= 1)
      width = data.dim(data.rank() - 1);
    if (data.rank() == 2)
      count = data.dim(0);
  }
  /// Returns whether the rank is valid; fails the call otherwise.
  bool valid(Context &c) const {
    if (data.rank() != 1 && data.rank() != 2)
      c.fail("the input has rank %; 1 and 2 are allowed", data.rank());
    return data.rank() == 1 || data.rank() == 2;
  }
  /// Returns an element as a double.
  double at(int64_t row, int64_t i) const { return numberAt(data, row * width + i); }
  /// Returns the elements as doubles, converted in scratch memory where they are none. Null where
  /// the kernel must return.
  const double *asDoubles(Context &c) const {
    if (data.dtype() == F64)
      return data.as<double>();
    double *wide = c.scratch<double>(count * width + 1);
    const bool known = wide && dispatchNumbers(data.dtype(), [&](auto type) {
                         auto *from = data.as<typename decltype(type)::Type>();
                         for (int64_t i = 0; i < count * width; ++i)
                           wide[i] = double(from[i]);
                       });
    if (wide && !known)
      c.failType(data.dtype());
    return known ? wide : nullptr;
  }
};

/// Returns sum_i a[i] * b[i], in eight partial sums.
inline double sumOfProducts(const double *a, const double *b, int64_t count) {
  constexpr int64_t lanes = 8;
  double sums[lanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (; i < count; ++i)
    sum += a[i] * b[i];
  for (double lane : sums)
    sum += lane;
  return sum;
}

/// Returns a list attribute of floats, or its form `<name>_as_tensor`, as doubles.
inline List<double> numbersOrTensor(Context &c, const char *name, const char *tensorName) {
  const Tensor tensor = c.tensor(tensorName);
  if (!tensor)
    return c.numbers(name);
  const int64_t count = tensor.count();
  double *copied = c.scratch<double>(count + 1);
  for (int64_t i = 0; copied && i < count; ++i)
    copied[i] = numberAt(tensor, i);
  return {copied, copied ? count : 0, true};
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_ML_SCORES_H
