//===-- Scalars.cpp - aclnn forms with scalars, and small additions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <cstring>
#include <numbers>

using namespace atc::ascend;

namespace {

View constantOf(Plan &plan, const aclScalar *handle, const char *name) {
  const double value = plan.number(handle, name);
  return plan.isGood() ? plan.constant(value, ACL_FLOAT) : View();
}

View isEqualTo(Plan &plan, const View &tensor, const aclScalar *number, const char *name,
               bool invert) {
  return comparison(plan, invert ? "Ne" : "Eq", tensor, scalarLike(plan, number, name, tensor));
}

/// Rounds to a number of decimals, which may be negative.
View roundedTo(Plan &plan, const View &self, int64_t decimals) {
  if (decimals < -300 || decimals > 300)
    plan.reject("decimals is %lld; give -300 to 300", (long long)decimals);
  if (!plan.isGood())
    return {};
  if (!isFloat(self.type)) {
    if (decimals != 0)
      plan.reject("decimals must be 0 for whole numbers");
    return self;
  }
  const View x = plan.dense(self, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({x, result}, [count = countOf(self.dims), decimals](const std::vector<char *> &at) {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *to = reinterpret_cast<double *>(at[1]);
    const double scale = std::pow(10.0, double(std::abs(decimals)));
    for (int64_t i = 0; i < count; ++i)
      to[i] = decimals >= 0 ? std::nearbyint(from[i] * scale) / scale
                            : std::nearbyint(from[i] / scale) * scale;
    return aclError(ACL_SUCCESS);
  });
  return result;
}

/// Returns slices of an axis, of which those whose p-norm is larger than a limit are scaled to it.
View renormalized(Plan &plan, const View &self, const aclScalar *p, int64_t dim,
                  const aclScalar *maxNorm) {
  const double power = plan.number(p, "p"), maxValue = plan.number(maxNorm, "maxNorm");
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (plan.isGood() && (!(power > 0) || !(maxValue >= 0) || self.dims.size() < 2))
    plan.reject("p %g must be positive, maxNorm %g not be negative, and self %s have 2 dims or "
                "more",
                power, maxValue, textOf(self.dims).c_str());
  if (!plan.isGood())
    return {};
  Dims others;
  for (size_t i = 0; i < self.dims.size(); ++i)
    if (int64_t(i) != axis)
      others.push_back(int64_t(i));
  const View x = plan.dense(self, ACL_FLOAT), size = computed(plan, "Abs", x);
  View norm;
  if (std::isinf(power)) {
    norm = reduced(plan, "ReduceMaxD", size, others, true, ACL_FLOAT);
  } else {
    const View powers = ::atc::ascend::power(plan, size, plan.constant(power, ACL_FLOAT));
    norm = ::atc::ascend::power(plan, reduced(plan, "ReduceSumD", powers, others, true, ACL_FLOAT),
                                plan.constant(1 / power, ACL_FLOAT));
  }
  const View limit = plan.constant(maxValue, ACL_FLOAT);
  // As in PyTorch, 1e-7 keeps the quotient finite.
  const View scale = combined(plan, "RealDiv", limit, withNumber(plan, "Add", norm, 1e-7));
  return times(
      plan, x,
      chosen(plan, comparison(plan, "Gt", norm, limit), scale, plan.constant(1, ACL_FLOAT)));
}

/// The results of an elimination of square matrices.
enum class Wanted { Inverse, SignAndLogarithm };

/// Eliminates a matrix of n * n elements, largest pivots first, and `right` with it. Returns the
/// sign and the logarithm of the size of its determinant; 0 and minus infinity where it is
/// singular.
std::pair<double, double> eliminate(std::vector<double> matrix, double *right, int64_t n) {
  double sign = 1, logarithm = 0;
  auto at = [&](int64_t i, int64_t j) -> double & { return matrix[size_t(i * n + j)]; };
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      // A NaN is the largest: so the result does not depend on its row.
      if (!(std::abs(at(i, k)) <= std::abs(at(best, k))) && !std::isnan(at(best, k)))
        best = i;
    if (at(best, k) == 0)
      return {0, -INFINITY};
    if (best != k) {
      sign = -sign;
      for (int64_t j = 0; j < n; ++j) {
        std::swap(at(best, j), at(k, j));
        if (right)
          std::swap(right[best * n + j], right[k * n + j]);
      }
    }
    const double pivot = at(k, k);
    sign *= std::isnan(pivot) ? pivot : pivot < 0 ? -1 : 1;
    logarithm += std::log(std::abs(pivot));
    for (int64_t i = right ? 0 : k + 1; i < n; ++i) {
      const double factor = i == k ? 0 : at(i, k) / pivot;
      if (factor == 0)
        continue;
      for (int64_t j = 0; j < n; ++j) {
        at(i, j) -= factor * at(k, j);
        if (right)
          right[i * n + j] -= factor * right[k * n + j];
      }
    }
  }
  for (int64_t i = 0; right && i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      right[i * n + j] /= at(i, i);
  return {sign, logarithm};
}

/// Returns inverses, or signs and logarithms, of matrices, in float64.
std::vector<View> eliminated(Plan &plan, const View &self, Wanted wanted) {
  const size_t rank = self.dims.size();
  if (plan.isGood() && (rank < 2 || self.dims[rank - 1] != self.dims[rank - 2] ||
                        countOf(self.dims) == 0 || self.dims[rank - 1] > 4096))
    plan.reject("self %s must be square matrices of 1 to 4096 rows", textOf(self.dims).c_str());
  if (!plan.isGood())
    return {{}, {}};
  const int64_t n = self.dims[rank - 1], count = countOf(self.dims) / n / n;
  const Dims batch(self.dims.begin(), self.dims.end() - 2);
  const bool isInverse = wanted == Wanted::Inverse;
  const View x = plan.dense(self, ACL_DOUBLE),
             first = plan.make(ACL_DOUBLE, isInverse ? self.dims : batch),
             second = plan.make(ACL_DOUBLE, batch);
  plan.onHost({x, first, second}, [=](const std::vector<char *> &at) -> aclError {
    auto *matrix = reinterpret_cast<const double *>(at[0]);
    auto *result = reinterpret_cast<double *>(at[1]),
         *logarithm = reinterpret_cast<double *>(at[2]);
    for (int64_t i = 0; i < count; ++i) {
      double *inverse = isInverse ? result + i * n * n : nullptr;
      for (int64_t j = 0; inverse && j < n * n; ++j)
        inverse[j] = j % (n + 1) == 0;
      const auto [sign, size] =
          eliminate({matrix + i * n * n, matrix + (i + 1) * n * n}, inverse, n);
      if (isInverse && sign == 0)
        std::fill(inverse, inverse + n * n, NAN);
      if (!isInverse) {
        result[i] = sign;
        logarithm[i] = size;
      }
    }
    return ACL_SUCCESS;
  });
  return {first, second};
}

/// Returns the logarithm of determinants; that of a negative one is not a number.
View logDeterminant(Plan &plan, const View &self) {
  const std::vector<View> both = eliminated(plan, self, Wanted::SignAndLogarithm);
  if (!plan.isGood())
    return {};
  return chosen(plan,
                comparison(plan, "Lt", plan.dense(both[0], ACL_FLOAT), plan.constant(0, ACL_FLOAT)),
                plan.constant(NAN, ACL_FLOAT), plan.dense(both[1], ACL_FLOAT));
}

/// Returns the tensor with a number on its diagonal; of a tall matrix, where `wraps`, on the
/// diagonals below as well.
View diagonalFilled(Plan &plan, const View &self, const aclScalar *fillValue, bool wraps) {
  const View number = scalarOf(plan, fillValue, "fillValue", self.type);
  const size_t rank = self.dims.size();
  if (plan.isGood() && (rank < 2 || (rank > 2 && Dims(rank, self.dims[0]) != self.dims)))
    plan.reject("selfRef %s must have 2 dims, or more that are the same",
                textOf(self.dims).c_str());
  if (!plan.isGood() || countOf(self.dims) == 0)
    return self;
  int64_t step = 0;
  for (int64_t stride : denseStrides(self.dims))
    step += stride;
  const int64_t columns = self.dims.back(), end = rank == 2 && !wraps
                                                      ? std::min(self.dims[0], columns) * columns
                                                      : countOf(self.dims);
  const View x = plan.dense(self, self.type), result = plan.make(self.type, self.dims);
  const size_t bytes = size_t(bitsOf(self.type)) / 8, all = bytes * size_t(countOf(self.dims));
  plan.onHost({x, number, result}, [=](const std::vector<char *> &at) -> aclError {
    memcpy(at[2], at[0], all);
    for (int64_t i = 0; i < end; i += step)
      memcpy(at[2] + bytes * size_t(i), at[1], bytes);
    return ACL_SUCCESS;
  });
  return result;
}

/// Computes a function of each element on this machine, in float64.
View mapped(Plan &plan, const View &self, double (*function)(double)) {
  if (!plan.isGood())
    return {};
  const View x = plan.dense(self, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({x, result}, [count = countOf(self.dims), function](const std::vector<char *> &at) {
    std::transform(reinterpret_cast<const double *>(at[0]),
                   reinterpret_cast<const double *>(at[0]) + count,
                   reinterpret_cast<double *>(at[1]), function);
    return aclError(ACL_SUCCESS);
  });
  return result;
}

double logGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign); // std::lgamma writes a variable that threads share
}

/// Returns the derivative of logGamma.
double digamma(double x) {
  constexpr double pi = std::numbers::pi;
  if (x == 0)
    return std::copysign(INFINITY, -x);
  if (x < 0 && x == std::trunc(x))
    return NAN;
  if (x < 0) // reflected
    return digamma(1 - x) - pi / std::tan(pi * x);
  double sum = 0;
  for (; x < 10; ++x)
    sum -= 1 / x;
  // The asymptotic series, whose terms fall below the digits of a double from 10 on.
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         y * (1 / 12. - y * (1 / 120. - y * (1 / 252. - y * (1 / 240. - y * (1 / 132.)))));
}

View globalPool(Plan &plan, const View &self, const char *op) {
  if (plan.isGood() && self.dims.size() < 3)
    plan.reject("self %s must have 3 dims or more", textOf(self.dims).c_str());
  Dims axes;
  for (size_t i = 2; i < self.dims.size(); ++i)
    axes.push_back(int64_t(i));
  return plan.isGood() ? reduced(plan, op, self, axes, true, floatOf(self.type)) : View();
}

} // namespace

ACLNN_FUNCTION(XLogYScalarOther, (const aclTensor *self, const aclScalar *other, aclTensor *out),
               out, combined(plan, "Xlogy", IN(self), constantOf(plan, other, "other"), true))
ACLNN_FUNCTION(XLogYScalarSelf, (const aclScalar *self, const aclTensor *other, aclTensor *out),
               out, combined(plan, "Xlogy", constantOf(plan, self, "self"), IN(other), true))
ACLNN_FUNCTION(ClampMaxTensor, (const aclTensor *self, const aclTensor *max, aclTensor *out), out,
               combined(plan, "Minimum", IN(self), IN(max)))
ACLNN_FUNCTION(InplaceClampMaxTensor, (aclTensor * selfRef, const aclTensor *max), selfRef,
               combined(plan, "Minimum", IN(selfRef), IN(max)))
ACLNN_FUNCTION(IsInScalarTensor,
               (const aclScalar *element, const aclTensor *testElement, bool, bool invert,
                aclTensor *out),
               out, [&] {
                 const View equal = isEqualTo(plan, IN(testElement), element, "element", false);
                 if (!plan.isGood())
                   return View();
                 const View any = reduced(plan, "ReduceMaxD", plan.dense(equal, ACL_INT32), {},
                                          false, ACL_INT32);
                 return comparison(plan, invert ? "Eq" : "Ne", any, plan.constant(0, ACL_INT32));
               }())
ACLNN_FUNCTION(IsInTensorScalar,
               (const aclTensor *element, const aclScalar *testElement, bool, bool invert,
                aclTensor *out),
               out, isEqualTo(plan, IN(element), testElement, "testElement", invert))
ACLNN_FUNCTION(RoundDecimals, (const aclTensor *self, int64_t decimals, aclTensor *out), out,
               roundedTo(plan, IN(self), decimals))
ACLNN_FUNCTION(InplaceRoundDecimals, (aclTensor * selfRef, int64_t decimals), selfRef,
               roundedTo(plan, IN(selfRef), decimals))
ACLNN_FUNCTION(Renorm,
               (const aclTensor *self, const aclScalar *p, int64_t dim, const aclScalar *maxNorm,
                aclTensor *out),
               out, renormalized(plan, IN(self), p, dim, maxNorm))
ACLNN_FUNCTION(InplaceRenorm,
               (aclTensor * selfRef, const aclScalar *p, int64_t dim, const aclScalar *maxNorm),
               selfRef, renormalized(plan, IN(selfRef), p, dim, maxNorm))
ACLNN_FUNCTION(InplaceFillDiagonal, (aclTensor * selfRef, const aclScalar *fillValue, bool wrap),
               selfRef, diagonalFilled(plan, IN(selfRef), fillValue, wrap))
ACLNN_FUNCTION(Inverse, (const aclTensor *self, aclTensor *out), out,
               eliminated(plan, IN(self), Wanted::Inverse)[0])
ACLNN_FUNCTION(Logdet, (const aclTensor *self, aclTensor *out), out, logDeterminant(plan, IN(self)))
ACLNN_FUNCTION(Lgamma, (const aclTensor *self, aclTensor *out), out,
               mapped(plan, IN(self), logGamma))
ACLNN_FUNCTION(Digamma, (const aclTensor *self, aclTensor *out), out,
               mapped(plan, IN(self), digamma))
ACLNN_FUNCTION(GlobalAveragePool, (const aclTensor *self, aclTensor *out), out,
               globalPool(plan, IN(self), "ReduceMeanD"))
ACLNN_FUNCTION(GlobalMaxPool, (const aclTensor *self, aclTensor *out), out,
               globalPool(plan, IN(self), "ReduceMaxD"))

aclnnStatus aclnnSlogdetGetWorkspaceSize(const aclTensor *self, aclTensor *signOut,
                                         aclTensor *logOut, uint64_t *size,
                                         aclOpExecutor **executor) {
  Plan plan(__func__);
  const std::vector<View> both = eliminated(plan, IN(self), Wanted::SignAndLogarithm);
  plan.write(both[0], plan.output(signOut, "signOut"));
  plan.write(both[1], plan.output(logOut, "logOut"));
  return plan.finish(size, executor);
}
ACLNN_RUN(Slogdet)

aclnnStatus aclnnMeanV2GetWorkspaceSize(const aclTensor *self, const aclIntArray *dim, bool keepDim,
                                        bool noopWithEmptyAxes, aclTensor *out, uint64_t *size,
                                        aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = IN(self), y = plan.output(out, "out");
  const Dims axes = dim ? plan.numbers(dim, "dim") : Dims();
  if (plan.isGood())
    plan.write(axes.empty() && noopWithEmptyAxes
                   ? x
                   : reduced(plan, "ReduceMeanD", x, axes, keepDim, x.type),
               y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MeanV2)

aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(const aclTensor *self, aclTensor *out,
                                                   aclTensor *, uint64_t *size,
                                                   aclOpExecutor **executor) {
  // The gradient is computed of the input; the buffer stays as it is, as on the vendor's devices.
  Plan plan(__func__);
  const View x = IN(self), y = plan.output(out, "out");
  plan.write(computed(plan, "LogSigmoid", x), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(LogSigmoidForward)
