//===-- Linear.cpp - linear classifiers and regressors --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/ml/Scores.h"

namespace atc::kernels {

namespace {
/// Most models have far fewer; more are not worth memory of their own.
constexpr int64_t kMaxClasses = 1 << 20;

constexpr int64_t kLanes = 8;
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));

/// The linear functions of both operators, one per class or target.
struct LinearFunctions {
  const Rows rows;
  const Transform transform;
  const List<double> weights, offsets;
  const double *data = nullptr;    ///< the rows, after load
  const double *columns = nullptr; ///< the weights of kLanes functions of one feature, and so on

  explicit LinearFunctions(Context &c)
      : rows(c.in(0)), transform(transformOf(c)), weights(c.numbers("coefficients")),
        offsets(c.numbers("intercepts")) {}
  bool valid(Context &c, int64_t count) {
    if (transform == Transform::Unknown || !rows.valid(c))
      return false;
    if (count < 1 || count > kMaxClasses || weights.size != count * rows.width)
      return c.fail("% coefficients for % functions of % features", weights.size, count,
                    rows.width),
             false;
    if (offsets.size && offsets.size != count)
      return c.fail("% intercepts for % functions", offsets.size, count), false;
    return true;
  }
  /// Reads the rows, once the outputs are made; returns false where the kernel must return. With
  /// several rows, weights are arranged so that a vector holds those of several functions.
  bool load(Context &c, int64_t count) {
    if (!(data = rows.asDoubles(c)))
      return false;
    if (rows.count < kLanes || count == 1)
      return true;
    const int64_t blocks = ceilDiv(count, kLanes);
    double *to = c.scratch<double>(blocks * kLanes * rows.width + 1);
    for (int64_t j = 0; to && j < blocks * kLanes; ++j)
      for (int64_t i = 0; i < rows.width; ++i)
        to[(j / kLanes * rows.width + i) * kLanes + j % kLanes] =
            j < count ? weights[j * rows.width + i] : 0;
    columns = to;
    return to != nullptr;
  }
  void find(int64_t row, int64_t count, double *scores) const {
    const double *own = data + row * rows.width;
    for (int64_t first = 0; columns && first < count; first += kLanes) {
      // Sums that do not wait for each other.
      Lanes sums[2] = {};
      const auto *block = reinterpret_cast<const Lanes *>(columns + first * rows.width);
      int64_t i = 0;
      for (; i + 2 <= rows.width; i += 2) {
        sums[0] += own[i] * block[i];
        sums[1] += own[i + 1] * block[i + 1];
      }
      if (i < rows.width)
        sums[0] += own[i] * block[i];
      const Lanes all = sums[0] + sums[1];
      for (int64_t j = 0; j < minimum(kLanes, count - first); ++j)
        scores[first + j] = all[j] + (offsets.size ? offsets[first + j] : 0);
    }
    if (columns)
      return;
    for (int64_t i = 0; i < count; ++i)
      scores[i] = sumOfProducts(own, weights.data + i * rows.width, rows.width) +
                  (offsets.size ? offsets[i] : 0);
  }
};
} // namespace

ATC_KERNEL(LinearClassifier) {
  LinearFunctions linear(*this);
  Labels labels(*this, "classlabels_ints", "classlabels_strings");
  const int64_t width = linear.rows.width, count = linear.rows.count;
  const int64_t classes = linear.offsets.size ? linear.offsets.size
                          : width             ? linear.weights.size / width
                                              : 0;
  if (!linear.valid(*this, classes))
    return;
  const bool second = classes == 1 && labels.size() == 2;
  if (labels.size() && labels.size() != classes && !second)
    return fail("% labels for % classes", labels.size(), classes);
  const int64_t columns = second ? 2 : classes;
  if (wants(0) && !labels.make(*this, 0, count))
    return;
  float *out = wants(1) ? make<float>(1, F32, Dims(count, columns)) : nullptr;
  if (wants(1) && !out)
    return;
  double *scores = scratch<double>(columns);
  if (!scores || !linear.load(*this, classes))
    return;
  for (int64_t row = 0; row < count; ++row) {
    linear.find(row, classes, scores);
    labels.set(row, classes == 1 ? scores[0] > 0 : indexOfLargest(scores, classes));
    if (second)
      transformBinary(linear.transform, scores[0], /*complement=*/true, scores);
    else
      transformScores(linear.transform, scores, classes);
    for (int64_t i = 0; out && i < columns; ++i)
      out[row * columns + i] = float(scores[i]);
  }
}

ATC_KERNEL(LinearRegressor) {
  LinearFunctions linear(*this);
  const int64_t targets = integer("targets", 1);
  if (!linear.valid(*this, targets))
    return;
  float *out = make<float>(0, F32, Dims(linear.rows.count, targets));
  double *scores = out ? scratch<double>(targets) : nullptr;
  if (!scores || !linear.load(*this, targets))
    return;
  for (int64_t row = 0; row < linear.rows.count; ++row) {
    linear.find(row, targets, scores);
    transformTargets(linear.transform, scores, targets);
    for (int64_t i = 0; i < targets; ++i)
      out[row * targets + i] = float(scores[i]);
  }
}

} // namespace atc::kernels
