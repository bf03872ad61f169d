//===-- Repeats.cpp - aclnn repeated and updated slices, inverse erf -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <cstring>

using namespace atc::ascend;

namespace {

/// Returns the number whose error function is y.
double inverseErf(double y) {
  if (!(std::abs(y) < 1))
    return std::abs(y) == 1 ? std::copysign(HUGE_VAL, y) : std::nan("");
  // Winitzki's approximation, two steps of Halley's method from it.
  const double a = 0.147, log = std::log1p(-y * y), half = 2 / (M_PI * a) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / a) - half), y);
  for (int step = 0; step < 3; ++step) {
    // Close to 1 the complement is what has digits.
    const double distance = y > 0.5    ? (1 - y) - std::erfc(x)
                            : y < -0.5 ? std::erfc(-x) - (1 + y)
                                       : std::erf(x) - y;
    const double error = distance * std::sqrt(M_PI) / 2 * std::exp(x * x);
    x -= error / (1 + x * error);
  }
  return x;
}

View erfinvOf(Plan &plan, const View &self) {
  if (!plan.isGood())
    return {};
  const View x = plan.dense(self, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({x, result}, [count = countOf(self.dims)](const std::vector<char *> &at) -> aclError {
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<double *>(at[1])[i] = inverseErf(reinterpret_cast<const double *>(at[0])[i]);
    return ACL_SUCCESS;
  });
  return plan.dense(result, floatOf(self.type));
}

/// Returns the slices of a dim, each as often as `repeats` says for it, or for all.
View repeated(Plan &plan, const View &self, int64_t dim, const View &repeats, int64_t outputSize) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  const int64_t slices = plan.isGood() && !self.dims.empty() ? self.dims[size_t(axis)] : 0;
  if (plan.isGood() && (self.dims.empty() || repeats.dims.size() > 1 || isFloat(repeats.type) ||
                        (countOf(repeats.dims) != slices && countOf(repeats.dims) != 1)))
    plan.reject("repeats %s must be whole numbers, one or one for each of the %lld slices of self",
                textOf(repeats.dims).c_str(), (long long)slices);
  plan.checkCount(outputSize, "outputSize");
  if (plan.isGood() && outputSize < 0)
    plan.reject("outputSize is %lld; it must not be negative", (long long)outputSize);
  if (!plan.isGood())
    return {};
  Dims dims = self.dims;
  dims[size_t(axis)] = outputSize;
  const View x = plan.dense(self, self.type), counts = plan.dense(repeats, ACL_INT64),
             result = plan.make(self.type, dims);
  int64_t outer = 1, inner = int64_t(bitsOf(self.type) / 8);
  for (size_t i = 0; i < dims.size(); ++i)
    (int64_t(i) < axis ? outer : inner) *= int64_t(i) == axis ? 1 : dims[i];
  plan.onHost({x, counts, result},
              [=, isOne = countOf(repeats.dims) == 1](const std::vector<char *> &at) -> aclError {
                auto *count = reinterpret_cast<const int64_t *>(at[1]);
                int64_t position = 0;
                for (int64_t i = 0; i < slices; ++i) {
                  const int64_t times = count[isOne ? 0 : i];
                  if (times < 0 || times > outputSize - position)
                    return fail(ACL_ERROR_INVALID_PARAM, "aclnnRepeatInterleave",
                                "repeats have %lld for slice %lld, and outputSize is %lld",
                                (long long)times, (long long)i, (long long)outputSize);
                  for (int64_t end = position + times; position < end; ++position)
                    for (int64_t o = 0; o < outer; ++o)
                      memcpy(at[2] + (o * outputSize + position) * inner,
                             at[0] + (o * slices + i) * inner, size_t(inner));
                }
                if (position != outputSize)
                  return fail(ACL_ERROR_INVALID_PARAM, "aclnnRepeatInterleave",
                              "the repeats are %lld together, and outputSize is %lld",
                              (long long)position, (long long)outputSize);
                return ACL_SUCCESS;
              });
  return result;
}

View flattened(Plan &plan, const View &self) {
  return plan.isGood() ? plan.reshaped(plan.dense(self, self.type), {countOf(self.dims)}) : View();
}

/// Writes slices to the positions of the first dims that the last dim of the indices names.
View withPositions(Plan &plan, const View &self, const View &indices, const View &updates) {
  const size_t depth = plan.isGood() && !indices.dims.empty() ? size_t(indices.dims.back()) : 0;
  if (plan.isGood() && ((indices.type != ACL_INT32 && indices.type != ACL_INT64) || depth < 1 ||
                        depth > self.dims.size() || updates.type != self.type))
    plan.reject("indices %s must be int32 or int64, their last dim 1 to %zu, and updates have the "
                "type of varRef",
                textOf(indices.dims).c_str(), self.dims.size());
  if (!plan.isGood())
    return {};
  Dims expected(indices.dims.begin(), indices.dims.end() - 1);
  expected.insert(expected.end(), self.dims.begin() + ptrdiff_t(depth), self.dims.end());
  if (updates.dims != expected)
    plan.reject("updates are %s, they must be %s", textOf(updates.dims).c_str(),
                textOf(expected).c_str());
  if (!plan.isGood())
    return {};
  const View result = plan.make(self.type, self.dims), positions = plan.dense(indices, ACL_INT64),
             given = plan.dense(updates, self.type);
  plan.copy(self, result);
  int64_t bytes = int64_t(bitsOf(self.type) / 8);
  for (size_t i = depth; i < self.dims.size(); ++i)
    bytes *= self.dims[i];
  const int64_t rows = countOf(indices.dims) / int64_t(depth);
  plan.onHost({result, positions, given},
              [=, dims = self.dims](const std::vector<char *> &at) -> aclError {
                auto *index = reinterpret_cast<const int64_t *>(at[1]);
                for (int64_t row = 0; row < rows; ++row) {
                  int64_t position = 0;
                  for (size_t i = 0; i < depth; ++i) {
                    const int64_t own = *index++;
                    if (own < 0 || own >= dims[i])
                      return fail(ACL_ERROR_INVALID_PARAM, "aclnnScatterNdUpdate",
                                  "indices have %lld for dim %zu of %lld", (long long)own, i,
                                  (long long)dims[i]);
                    position = position * dims[i] + own;
                  }
                  memcpy(at[0] + position * bytes, at[2] + row * bytes, size_t(bytes));
                }
                return ACL_SUCCESS;
              });
  return result;
}

} // namespace

ACLNN_FUNCTION(Erfinv, (const aclTensor *self, aclTensor *out), out, erfinvOf(plan, IN(self)))
ACLNN_FUNCTION(InplaceErfinv, (aclTensor * selfRef), selfRef, erfinvOf(plan, IN(selfRef)))
ACLNN_FUNCTION(RepeatInterleave,
               (const aclTensor *self, const aclTensor *repeats, int64_t outputSize,
                aclTensor *out),
               out, repeated(plan, flattened(plan, IN(self)), 0, IN(repeats), outputSize))
ACLNN_FUNCTION(RepeatInterleaveWithDim,
               (const aclTensor *self, const aclTensor *repeats, int64_t dim, int64_t outputSize,
                aclTensor *out),
               out, repeated(plan, IN(self), dim, IN(repeats), outputSize))
ACLNN_FUNCTION(ScatterNdUpdate,
               (aclTensor * varRef, const aclTensor *indices, const aclTensor *updates), varRef,
               withPositions(plan, IN(varRef), IN(indices), IN(updates)))
