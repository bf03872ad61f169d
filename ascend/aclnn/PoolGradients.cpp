//===-- PoolGradients.cpp - aclnn pools of volumes, gradients of pools -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine, in float64. An image is a volume with one plane.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>

using namespace atc::ascend;

namespace {

using Triple = std::array<int64_t, 3>;

constexpr int64_t maxElements = 1 << 22;  ///< of an axis
constexpr int64_t mostOfWindow = 1 << 20; ///< of each number of a window

/// The elements of an axis that an element of the result covers.
struct Reach {
  int64_t first = 0, count = 0, step = 1;
  int64_t padded = 0; ///< with those of the pads
};

/// A pool over planes, rows and columns of [N, C, ...] or [C, ...].
struct Pool {
  const char *function = nullptr;
  size_t axes = 2; ///< 2: images
  int64_t slices = 0;
  Triple from{1, 1, 1}, to{1, 1, 1};
  std::array<std::vector<Reach>, 3> reaches;
  bool countsPads = true;
  int64_t divisor = 0;

  int64_t volume() const { return from[0] * from[1] * from[2]; }
  int64_t results() const { return to[0] * to[1] * to[2]; }
  Dims resultDims(const Dims &dims) const {
    Dims result(dims.begin(), dims.end() - ptrdiff_t(axes));
    result.insert(result.end(), to.end() - ptrdiff_t(axes), to.end());
    return result;
  }

  /// Calls function(result, position of an element in its slice, divisor of the average).
  template <typename Function> void visit(Function function) const {
    for (int64_t i = 0; i < results(); ++i) {
      const Reach &d = reaches[0][size_t(i / (to[1] * to[2]))],
                  &h = reaches[1][size_t(i / to[2] % to[1])], &w = reaches[2][size_t(i % to[2])];
      const int64_t size = divisor      ? divisor
                           : countsPads ? d.padded * h.padded * w.padded
                                        : d.count * h.count * w.count;
      for (int64_t a = 0; a < d.count; ++a)
        for (int64_t b = 0; b < h.count; ++b)
          for (int64_t c = 0; c < w.count; ++c)
            function(i,
                     ((d.first + a * d.step) * from[1] + h.first + b * h.step) * from[2] + w.first +
                         c * w.step,
                     size);
    }
  }
};

Pool poolOf(Plan &plan, const char *function, const View &self, size_t axes) {
  Pool pool;
  pool.function = function;
  pool.axes = axes;
  const size_t rank = self.dims.size();
  if (plan.isGood() && rank != axes + 1 && rank != axes + 2)
    plan.reject("self %s must have %zu or %zu dims", textOf(self.dims).c_str(), axes + 1, axes + 2);
  if (!plan.isGood())
    return pool;
  for (size_t i = 0; i < axes; ++i)
    pool.from[3 - axes + i] = self.dims[rank - axes + i];
  // A view of stride 0 states any size; each window of an axis is held.
  if (std::any_of(pool.from.begin(), pool.from.end(), [](int64_t n) { return n > maxElements; }))
    plan.reject("self %s has more than %lld elements along an axis of the pool",
                textOf(self.dims).c_str(), (long long)maxElements);
  if (plan.isGood() && pool.volume() == 0)
    plan.reject("self %s has no elements along an axis of the pool", textOf(self.dims).c_str());
  if (plan.isGood())
    pool.slices = countOf(self.dims) / pool.volume();
  return pool;
}

/// Sets the windows: `index` of an axis is a number of each list, or its only one.
void setWindows(Plan &plan, Pool &pool, const aclIntArray *kernelSize, const aclIntArray *strides,
                const aclIntArray *padding, const aclIntArray *dilations, bool isCeil) {
  const Dims kernel = plan.numbers(kernelSize, "kernelSize"),
             stride = strides ? plan.numbers(strides, "stride") : Dims(),
             pads = padding ? plan.numbers(padding, "padding") : Dims(),
             dilation = dilations ? plan.numbers(dilations, "dilation") : Dims();
  auto numberOf = [&](const Dims &list, size_t axis, int64_t missing) {
    if (plan.isGood() && list.size() > 1 && list.size() != pool.axes)
      plan.reject("kernelSize, stride, padding and dilation must have 1 or %zu numbers", pool.axes);
    return list.empty() || !plan.isGood() ? missing : list.size() == 1 ? list[0] : list[axis];
  };
  for (size_t i = 0; i < 3; ++i) {
    const bool isReal = i + pool.axes >= 3;
    const size_t axis = isReal ? i + pool.axes - 3 : 0;
    const int64_t size = isReal ? numberOf(kernel, axis, 0) : 1;
    const int64_t step = isReal ? numberOf(stride, axis, size) : 1,
                  pad = isReal ? numberOf(pads, axis, 0) : 0,
                  spread = isReal ? numberOf(dilation, axis, 1) : 1, all = pool.from[i];
    if (plan.isGood() &&
        (size < 1 || step < 1 || spread < 1 || pad < 0 || size > mostOfWindow ||
         step > mostOfWindow || spread > mostOfWindow || pad > (spread * (size - 1) + 1) / 2))
      plan.reject("kernelSize, stride and dilation must be from 1 to %lld, and padding at most "
                  "half of the kernel",
                  (long long)mostOfWindow);
    if (!plan.isGood())
      return;
    const int64_t span = spread * (size - 1), free = all + 2 * pad - span - 1;
    if (plan.isGood() && free < 0)
      plan.reject("a window of %lld elements does not fit an axis of %lld", (long long)size,
                  (long long)all);
    if (!plan.isGood())
      return;
    int64_t count = free / step + 1;
    // A further window begins inside the volume or its front pad.
    if (isCeil && free % step && count * step < all + pad)
      ++count;
    pool.to[i] = count;
    for (int64_t at = 0; at < count; ++at) {
      const int64_t start = at * step - pad, end = std::min(start + size, all + pad);
      const int64_t first = start < 0 ? start + (spread - 1 - start) / spread * spread : start;
      const int64_t last = std::min(start + span, all - 1);
      pool.reaches[i].push_back(
          {first, last < first ? 0 : (last - first) / spread + 1, spread, end - start});
    }
  }
}

/// Sets windows that divide each axis into a number of parts, which overlap where they must.
void setParts(Plan &plan, Pool &pool, const Dims &parts) {
  if (plan.isGood() && (parts.size() != pool.axes ||
                        std::any_of(parts.begin(), parts.end(),
                                    [](int64_t n) { return n < 1 || n > mostOfWindow; })))
    plan.reject("there must be %zu numbers of parts, which are positive", pool.axes);
  if (!plan.isGood())
    return;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t count = pool.to[i] = i + pool.axes < 3 ? 1 : parts[i + pool.axes - 3],
                  all = pool.from[i];
    for (int64_t at = 0; at < count; ++at) {
      const int64_t first = at * all / count, end = ((at + 1) * all + count - 1) / count;
      pool.reaches[i].push_back({first, end - first, 1, end - first});
    }
  }
}

View averaged(Plan &plan, const View &self, const Pool &pool) {
  if (!plan.isGood())
    return {};
  const View x = plan.dense(self, ACL_DOUBLE),
             result = plan.make(ACL_DOUBLE, pool.resultDims(self.dims));
  plan.onHost({x, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *to = reinterpret_cast<double *>(at[1]);
    std::fill(to, to + pool.slices * pool.results(), 0);
    for (int64_t s = 0; s < pool.slices; ++s)
      pool.visit([&](int64_t i, int64_t position, int64_t size) {
        to[s * pool.results() + i] += from[s * pool.volume() + position] / double(size);
      });
    return ACL_SUCCESS;
  });
  return result;
}

/// Returns the gradient of an average: each element gets its share.
View shared(Plan &plan, const View &gradient, const View &self, const Pool &pool) {
  if (plan.isGood() && gradient.dims != pool.resultDims(self.dims))
    plan.reject("gradOutput is %s, it must be %s", textOf(gradient.dims).c_str(),
                textOf(pool.resultDims(self.dims)).c_str());
  if (!plan.isGood())
    return {};
  const View g = plan.dense(gradient, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({g, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *to = reinterpret_cast<double *>(at[1]);
    std::fill(to, to + pool.slices * pool.volume(), 0);
    for (int64_t s = 0; s < pool.slices; ++s)
      pool.visit([&](int64_t i, int64_t position, int64_t size) {
        to[s * pool.volume() + position] += from[s * pool.results() + i] / double(size);
      });
    return ACL_SUCCESS;
  });
  return result;
}

/// Writes the largest elements, of which NaN is one, and their positions.
void writeLargest(Plan &plan, const View &self, const Pool &pool, const View &out,
                  const View &indices) {
  if (!plan.isGood())
    return;
  const View x = plan.dense(self, ACL_DOUBLE),
             values = plan.make(ACL_DOUBLE, pool.resultDims(self.dims)),
             positions = plan.make(ACL_INT64, pool.resultDims(self.dims));
  plan.onHost({x, values, positions}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *value = reinterpret_cast<double *>(at[1]);
    auto *where = reinterpret_cast<int64_t *>(at[2]);
    std::fill(where, where + pool.slices * pool.results(), -1);
    std::fill(value, value + pool.slices * pool.results(), -HUGE_VAL);
    for (int64_t s = 0; s < pool.slices; ++s)
      pool.visit([&](int64_t i, int64_t position, int64_t) {
        const double element = from[s * pool.volume() + position];
        const int64_t own = s * pool.results() + i;
        if (where[own] >= 0 && !(element > value[own]) && !std::isnan(element))
          return;
        value[own] = element;
        where[own] = position;
      });
    return ACL_SUCCESS;
  });
  plan.write(values, out);
  plan.write(positions, indices);
}

/// Returns the gradient of a maximum, which goes to the positions that the indices say.
View placedMaxima(Plan &plan, const View &gradient, const View &self, const View &indices,
                  const Pool &pool) {
  if (plan.isGood() && (gradient.dims != indices.dims || isFloat(indices.type) ||
                        gradient.dims != pool.resultDims(self.dims)))
    plan.reject("gradOutput %s and indices %s must be %s, and indices be whole numbers",
                textOf(gradient.dims).c_str(), textOf(indices.dims).c_str(),
                textOf(pool.resultDims(self.dims)).c_str());
  if (!plan.isGood())
    return {};
  const View g = plan.dense(gradient, ACL_DOUBLE), positions = plan.dense(indices, ACL_INT64),
             result = plan.make(ACL_DOUBLE, self.dims);
  plan.onHost({g, positions, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *position = reinterpret_cast<const int64_t *>(at[1]);
    auto *to = reinterpret_cast<double *>(at[2]);
    std::fill(to, to + pool.slices * pool.volume(), 0);
    for (int64_t i = 0; i < pool.slices * pool.results(); ++i) {
      if (position[i] < 0 || position[i] >= pool.volume())
        return fail(ACL_ERROR_INVALID_PARAM, pool.function,
                    "indices have %lld; there are %lld elements", (long long)position[i],
                    (long long)pool.volume());
      to[i / pool.results() * pool.volume() + position[i]] += from[i];
    }
    return ACL_SUCCESS;
  });
  return result;
}

/// Returns the last dims of a gradient, which are the parts of its pool.
Dims partsOf(Plan &plan, const View &gradient, size_t axes) {
  if (plan.isGood() && gradient.dims.size() < axes)
    plan.reject("gradOutput must have %zu dims or more", axes);
  return plan.isGood() ? Dims(gradient.dims.end() - ptrdiff_t(axes), gradient.dims.end()) : Dims();
}

View averageGradient(Plan &plan, const char *function, const View &gradient, const View &self,
                     Pool pool) {
  pool.function = function;
  return shared(plan, gradient, self, pool);
}

Pool averagePoolOf(Plan &plan, const char *function, const View &self, size_t axes,
                   const aclIntArray *kernel, const aclIntArray *stride, const aclIntArray *padding,
                   bool isCeil, bool countsPads, int64_t divisor) {
  Pool pool = poolOf(plan, function, self, axes);
  setWindows(plan, pool, kernel, stride, padding, nullptr, isCeil);
  pool.countsPads = countsPads;
  pool.divisor = divisor;
  return pool;
}

Pool partedPoolOf(Plan &plan, const char *function, const View &self, size_t axes,
                  const Dims &parts) {
  Pool pool = poolOf(plan, function, self, axes);
  setParts(plan, pool, parts);
  return pool;
}

aclnnStatus maximumGradient(const char *function, size_t axes, const aclTensor *gradOutput,
                            const aclTensor *self, const aclTensor *indices,
                            const aclIntArray *kernelSize, const aclIntArray *stride,
                            const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
                            const aclTensor *gradInput, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View gradient = plan.input(gradOutput, "gradOutput"), x = plan.input(self, "self"),
             positions = plan.input(indices, "indices"), out = plan.output(gradInput, "gradInput");
  Pool pool = poolOf(plan, function, x, axes);
  setWindows(plan, pool, kernelSize, stride, padding, dilation, ceilMode);
  plan.write(placedMaxima(plan, gradient, x, positions, pool), out);
  return plan.finish(size, executor);
}

} // namespace

ACLNN_FUNCTION(AvgPool2dBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize,
                const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
                bool countIncludePad, int64_t divisorOverride, int8_t, aclTensor *gradInput),
               gradInput,
               averageGradient(plan, __func__, IN(gradOutput), IN(self),
                               averagePoolOf(plan, __func__, IN(self), 2, kernelSize, stride,
                                             padding, ceilMode, countIncludePad, divisorOverride)))
ACLNN_FUNCTION(AvgPool3d,
               (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
                const aclIntArray *padding, bool ceilMode, bool countIncludePad,
                int64_t divisorOverride, aclTensor *out),
               out,
               averaged(plan, IN(self),
                        averagePoolOf(plan, __func__, IN(self), 3, kernelSize, stride, padding,
                                      ceilMode, countIncludePad, divisorOverride)))
ACLNN_FUNCTION(AvgPool3dBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize,
                const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
                bool countIncludePad, int64_t divisorOverride, aclTensor *output),
               output,
               averageGradient(plan, __func__, IN(gradOutput), IN(self),
                               averagePoolOf(plan, __func__, IN(self), 3, kernelSize, stride,
                                             padding, ceilMode, countIncludePad, divisorOverride)))

#define ACLNN_ADAPTIVE_GRADIENT(name, axes)                                                        \
  ACLNN_FUNCTION(name, (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out), out,  \
                 averageGradient(plan, __func__, IN(gradOutput), IN(self),                         \
                                 partedPoolOf(plan, __func__, IN(self), axes,                      \
                                              partsOf(plan, IN(gradOutput), axes))))
ACLNN_ADAPTIVE_GRADIENT(AdaptiveAvgPool2dBackward, 2)
ACLNN_ADAPTIVE_GRADIENT(AdaptiveAvgPool3dBackward, 3)
ACLNN_FUNCTION(AdaptiveAvgPool3d,
               (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out), out,
               averaged(plan, IN(self),
                        partedPoolOf(plan, __func__, IN(self), 3,
                                     plan.numbers(outputSize, "outputSize"))))

#define ACLNN_ADAPTIVE_MAXIMUM(axes)                                                               \
  aclnnStatus aclnnAdaptiveMaxPool##axes##dGetWorkspaceSize(                                       \
      const aclTensor *self, const aclIntArray *outputSize, aclTensor *outputOut,                  \
      aclTensor *indicesOut, uint64_t *size, aclOpExecutor **executor) {                           \
    Plan plan(__func__);                                                                           \
    const View x = plan.input(self, "self"), values = plan.output(outputOut, "outputOut"),         \
               positions = plan.output(indicesOut, "indicesOut");                                  \
    const Pool pool =                                                                              \
        partedPoolOf(plan, __func__, x, axes, plan.numbers(outputSize, "outputSize"));             \
    writeLargest(plan, x, pool, values, positions);                                                \
    return plan.finish(size, executor);                                                            \
  }                                                                                                \
  ACLNN_RUN(AdaptiveMaxPool##axes##d)                                                              \
  ACLNN_FUNCTION(AdaptiveMaxPool##axes##dBackward,                                                 \
                 (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,    \
                  aclTensor *gradInput),                                                           \
                 gradInput,                                                                        \
                 placedMaxima(plan, IN(gradOutput), IN(self), IN(indices),                         \
                              partedPoolOf(plan, __func__, IN(self), axes,                         \
                                           partsOf(plan, IN(gradOutput), axes))))
ACLNN_ADAPTIVE_MAXIMUM(2)
ACLNN_ADAPTIVE_MAXIMUM(3)

aclnnStatus aclnnMaxPool3dWithArgmaxGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out,
    aclTensor *indices, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), values = plan.output(out, "out"),
             positions = plan.output(indices, "indices");
  Pool pool = poolOf(plan, __func__, x, 3);
  setWindows(plan, pool, kernelSize, stride, padding, dilation, ceilMode);
  writeLargest(plan, x, pool, values, positions);
  return plan.finish(size, executor);
}
ACLNN_RUN(MaxPool3dWithArgmax)

#define ACLNN_MAXIMUM_GRADIENT(name, axes)                                                         \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,                \
      const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,        \
      const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput, uint64_t *size,            \
      aclOpExecutor **executor) {                                                                  \
    return maximumGradient(__func__, axes, gradOutput, self, indices, kernelSize, stride, padding, \
                           dilation, ceilMode, gradInput, size, executor);                         \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_MAXIMUM_GRADIENT(MaxPool2dWithIndicesBackward, 2)
ACLNN_MAXIMUM_GRADIENT(MaxPool3dWithArgmaxBackward, 3)
