//===-- Losses.cpp - losses of classes, and determinants ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
/// The loss of log probabilities [N, C, ...] at `targets` [N, ...]. False: a failed
/// call, or no memory.
template <typename T, typename F>
bool classLoss(Context &c, T *out, const F *logs, const Dims &dims, Tensor targets, Tensor weight,
               bool none, bool mean) {
  const int64_t classes = dims[1], inner = dims.product(2, dims.rank), count = targets.count();
  const F *by = weight ? numbersOf<F>(c, weight) : nullptr;
  if (weight && !by)
    return false;
  const bool ignores = c.has("ignore_index");
  const int64_t ignored = c.integer("ignore_index", 0);
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t target = integerAt(targets, i);
    double loss = 0;
    if (!ignores || target != ignored) {
      if (target < 0 || target >= classes)
        return c.fail("target % of % classes", target, classes), false;
      const double factor = by ? double(by[target]) : 1;
      loss = -double(logs[(i / inner * classes + target) * inner + i % inner]) * factor;
      weights += factor;
    }
    sum += loss;
    if (none)
      out[i] = T(F(loss));
  }
  if (!none)
    out[0] = T(F(mean ? sum / weights : sum));
  return true;
}

/// Checks the inputs of a loss and makes the result.
void *makeLoss(Context &c, Tensor x, Tensor targets, Tensor weight, bool none) {
  const Dims dims = x.dims();
  bool fits = dims.rank >= 2 && targets.rank() + 1 == dims.rank && targets.dim(0) == dims[0] &&
              (!weight || weight.count() == dims[1]);
  for (int64_t d = 2; fits && d < dims.rank; ++d)
    fits = targets.dim(d - 1) == dims[d];
  if (!fits)
    return c.fail("scores of rank %, targets of rank % and weights do not fit", dims.rank,
                  targets.rank()),
           nullptr;
  return c.makeBytes(0, x.dtype(), none ? targets.dims() : Dims());
}
} // namespace

ATC_KERNEL(NegativeLogLikelihoodLoss) {
  const Tensor x = in(0), targets = in(1), weight = in(2);
  const bool none = is("reduction", "mean", "none"), mean = is("reduction", "mean", "mean");
  void *out = makeLoss(*this, x, targets, weight, none);
  if (!out)
    return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    if (const auto *logs = widen<T>(*this, x))
      classLoss(*this, static_cast<T *>(out), logs, x.dims(), targets, weight, none, mean);
  });
  if (!done)
    failType(x.dtype());
}

ATC_KERNEL(SoftmaxCrossEntropyLoss) {
  const Tensor x = in(0), targets = in(1), weight = in(2);
  const bool none = is("reduction", "mean", "none"), mean = is("reduction", "mean", "mean");
  void *out = makeLoss(*this, x, targets, weight, none), *logs = nullptr;
  if (!out || (wants(1) && !(logs = makeBytes(1, x.dtype(), x.dims()))))
    return;
  const Dims dims = x.dims();
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    const int64_t classes = dims[1], inner = dims.product(2, dims.rank), count = dims.product();
    const F *data = widen<T>(*this, x);
    F *y = scratch<F>(maximum(count, int64_t(1)));
    if (!data || !y)
      return;
    parallelIf(*this, dims[0] * inner, classes * 30, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / inner * classes * inner + i % inner;
        F max = lowest<F>();
        for (int64_t k = 0; k < classes; ++k)
          max = maximum(max, data[first + k * inner]);
        double sum = 0;
        for (int64_t k = 0; k < classes; ++k)
          sum += math::exp(double(data[first + k * inner] - max));
        const F total = max + F(math::log(sum));
        for (int64_t k = 0; k < classes; ++k)
          y[first + k * inner] = data[first + k * inner] - total;
      }
    });
    if (logs)
      convert(*this, static_cast<T *>(logs), static_cast<const F *>(y), count);
    classLoss(*this, static_cast<T *>(out), static_cast<const F *>(y), dims, targets, weight, none,
              mean);
  });
  if (!done)
    failType(x.dtype());
}

ATC_KERNEL(Det) {
  const Tensor x = in(0);
  const Dims dims = x.dims();
  if (dims.rank < 2 || dims[dims.rank - 1] != dims[dims.rank - 2])
    return fail("data of rank % is not square matrices", dims.rank);
  const int64_t n = dims[dims.rank - 1];
  const Dims shape(dims.at, dims.rank - 2);
  void *out = makeBytes(0, x.dtype(), shape);
  const int64_t count = shape.product();
  if (!out || count == 0)
    return;
  double *work = scratch<double>(maximum(x.count(), int64_t(1)));
  const double *data = numbersOf<double>(*this, x);
  if (!work || !data)
    return;
  copyBytes(work, data, x.count() * int64_t(sizeof(double)));
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    parallelIf(*this, count, n * n * n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double *a = work + i * n * n, result = 1;
        // Gaussian elimination with partial pivoting.
        for (int64_t column = 0; column < n && result != 0; ++column) {
          int64_t pivot = column;
          for (int64_t row = column + 1; row < n; ++row)
            if (math::abs(a[row * n + column]) > math::abs(a[pivot * n + column]))
              pivot = row;
          result *= pivot == column ? a[pivot * n + column] : -a[pivot * n + column];
          for (int64_t j = column; j < n && pivot != column; ++j) {
            const double other = a[column * n + j];
            a[column * n + j] = a[pivot * n + j];
            a[pivot * n + j] = other;
          }
          for (int64_t row = column + 1; row < n && result != 0; ++row) {
            const double factor = a[row * n + column] / a[column * n + column];
            for (int64_t j = column; j < n; ++j)
              a[row * n + j] -= factor * a[column * n + j];
          }
        }
        static_cast<T *>(out)[i] = T(Compute<T>(result));
      }
    });
  });
  if (!done)
    failType(x.dtype());
}

} // namespace atc::kernels
