//===-- Parts.cpp - aclnn functions of diagonals, slices and caches --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cstring>

using namespace atc::ascend;

namespace {

/// Returns the elements of a diagonal of a matrix as a view.
View diagonalOf(const View &matrix, int64_t diagonal) {
  const int64_t row = std::max<int64_t>(-diagonal, 0), column = std::max<int64_t>(diagonal, 0);
  View view = matrix;
  view.dims = {std::max<int64_t>(std::min(matrix.dims[0] - row, matrix.dims[1] - column), 0)};
  view.strides = {matrix.strides[0] + matrix.strides[1]};
  view.offset += view.dims[0] ? row * matrix.strides[0] + column * matrix.strides[1] : 0;
  return view;
}

/// Returns a square matrix with a vector on a diagonal.
View onDiagonal(Plan &plan, const View &vector, int64_t diagonal) {
  constexpr int64_t max = 1 << 20;
  const int64_t size = vector.dims[0] + std::abs(std::clamp(diagonal, -max, max));
  const View matrix = plan.make(vector.type, {size, size});
  plan.copy(plan.broadcast(plan.constant(0, vector.type), matrix.dims), matrix);
  plan.copy(vector, diagonalOf(matrix, std::clamp(diagonal, -max, max)));
  return matrix;
}

View diagonal(Plan &plan, const View &self, int64_t at, bool isFlat) {
  if (plan.isGood() && !isFlat && self.dims.size() != 1 && self.dims.size() != 2)
    plan.reject("self %s must have 1 or 2 dims", textOf(self.dims).c_str());
  if (!plan.isGood())
    return {};
  if (isFlat)
    return onDiagonal(plan, plan.reshaped(plan.dense(self, self.type), {countOf(self.dims)}), at);
  if (self.dims.size() == 1)
    return onDiagonal(plan, self, at);
  return diagonalOf(self, std::clamp(at, -self.dims[0], self.dims[1]));
}

View trace(Plan &plan, const View &self) {
  if (plan.isGood() && self.dims.size() != 2)
    plan.reject("self %s must have 2 dims", textOf(self.dims).c_str());
  if (!plan.isGood())
    return {};
  return reduced(plan, "ReduceSumD", diagonalOf(self, 0), {}, false,
                 isFloat(self.type) ? self.type : ACL_INT64);
}

/// Returns elements from `start` to `end` of each of some dims; bounds are as in PyTorch.
View sliced(Plan &plan, const View &self, const Dims &starts, const Dims &ends, const Dims &axes,
            const Dims &steps) {
  if (plan.isGood() && (starts.size() != ends.size() || starts.size() != axes.size() ||
                        starts.size() != steps.size()))
    plan.reject("starts, ends, axes and steps must have one number each for a dim");
  View view = self;
  for (size_t i = 0; plan.isGood() && i < axes.size(); ++i) {
    const int64_t axis = plan.axisOf(axes[i], self.dims.size());
    if (plan.isGood() && (self.dims.empty() || steps[i] < 1))
      plan.reject("self must have dims, and steps be positive");
    if (!plan.isGood())
      break;
    const int64_t size = self.dims[size_t(axis)];
    auto bound = [&](int64_t position) {
      return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
    };
    const int64_t start = bound(starts[i]), end = std::max(bound(ends[i]), start);
    const int64_t step = std::min(steps[i], std::max<int64_t>(size, 1));
    view = part(view, size_t(axis), start, (end - start + step - 1) / step, step);
  }
  return view;
}

View shuffled(Plan &plan, const View &self, int64_t groups) {
  if (plan.isGood() && (self.dims.size() < 3 || groups < 1 || self.dims[1] % groups))
    plan.reject("self %s must have 3 dims or more, and groups %lld divide the second one",
                textOf(self.dims).c_str(), (long long)groups);
  if (!plan.isGood())
    return {};
  const int64_t rest =
      self.dims[0] && self.dims[1] ? countOf(self.dims) / self.dims[0] / self.dims[1] : 0;
  const View parts = plan.reshaped(plan.dense(self, self.type),
                                   {self.dims[0], groups, self.dims[1] / groups, rest});
  return plan.reshaped(plan.dense(permuted(parts, {0, 2, 1, 3}), self.type), self.dims);
}

/// Writes updates to a position of an axis of each batch: [positions], or [batch, position] in
/// rows.
View withUpdates(Plan &plan, const View &data, const View &indices, const View &updates,
                 int64_t dim) {
  const int64_t axis = plan.axisOf(dim, data.dims.size());
  const bool isPair = indices.dims.size() == 2;
  bool fits = data.dims.size() > 1 && data.dims.size() == updates.dims.size() && axis > 0 &&
              (indices.dims.size() == 1 || (isPair && indices.dims[1] == 2)) &&
              (indices.type == ACL_INT32 || indices.type == ACL_INT64);
  fits = fits && indices.dims[0] == updates.dims[0] && updates.type == data.type;
  for (size_t i = 1; fits && i < data.dims.size(); ++i)
    fits = int64_t(i) == axis ? updates.dims[i] <= data.dims[i] : updates.dims[i] == data.dims[i];
  if (plan.isGood() && !fits)
    plan.reject("indices %s must be whole numbers, a row for each of updates %s, which have the "
                "dims of data %s but for the first one and the axis, not the first one itself",
                textOf(indices.dims).c_str(), textOf(updates.dims).c_str(),
                textOf(data.dims).c_str());
  if (!plan.isGood())
    return {};
  const View result = plan.make(data.type, data.dims), given = plan.dense(updates, data.type),
             positions = plan.dense(indices, ACL_INT64);
  plan.copy(data, result);
  int64_t outer = 1, inner = 1;
  for (size_t i = 1; i < data.dims.size(); ++i)
    (int64_t(i) < axis ? outer : inner) *= int64_t(i) == axis ? 1 : data.dims[i];
  const int64_t rows = updates.dims[0], width = data.dims[size_t(axis)],
                count = updates.dims[size_t(axis)], batches = data.dims[0];
  const size_t bytes = bitsOf(data.type) / 8;
  plan.onHost({result, given, positions}, [=](const std::vector<char *> &at) -> aclError {
    auto *position = reinterpret_cast<const int64_t *>(at[2]);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t batch = isPair ? position[2 * row] : row;
      const int64_t start = position[isPair ? 2 * row + 1 : row];
      if (batch < 0 || batch >= batches || start < 0 || start > width - count)
        return fail(ACL_ERROR_INVALID_PARAM, "aclnnInplaceScatterUpdate",
                    "row %lld goes to position %lld of batch %lld, which is not there",
                    (long long)row, (long long)start, (long long)batch);
      for (int64_t i = 0; i < outer; ++i)
        memcpy(at[0] + size_t(((batch * outer + i) * width + start) * inner) * bytes,
               at[1] + size_t((row * outer + i) * count * inner) * bytes,
               size_t(count * inner) * bytes);
    }
    return ACL_SUCCESS;
  });
  return result;
}

} // namespace

ACLNN_FUNCTION(Diag, (const aclTensor *self, int64_t diagonal, aclTensor *out), out,
               ::diagonal(plan, IN(self), diagonal, false))
ACLNN_FUNCTION(DiagFlat, (const aclTensor *self, int64_t diagonal, aclTensor *out), out,
               ::diagonal(plan, IN(self), diagonal, true))
ACLNN_FUNCTION(Trace, (const aclTensor *self, aclTensor *out), out, trace(plan, IN(self)))
ACLNN_FUNCTION(SliceV2,
               (const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends,
                const aclIntArray *axes, const aclIntArray *steps, aclTensor *out),
               out,
               sliced(plan, IN(self), plan.numbers(starts, "starts"), plan.numbers(ends, "ends"),
                      plan.numbers(axes, "axes"), plan.numbers(steps, "steps")))
ACLNN_FUNCTION(ChannelShuffle, (const aclTensor *self, int64_t groups, aclTensor *out), out,
               shuffled(plan, IN(self), groups))
ACLNN_FUNCTION(InplaceScatterUpdate,
               (aclTensor * data, const aclTensor *indices, const aclTensor *updates, int64_t axis),
               data, withUpdates(plan, IN(data), IN(indices), IN(updates), axis))

aclnnStatus aclnnInplaceFillTensorGetWorkspaceSize(aclTensor *selfRef, const aclTensor *value,
                                                   uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View filler = plan.input(value, "value"), y = plan.output(selfRef, "selfRef");
  if (plan.isGood() && countOf(filler.dims) != 1)
    plan.reject("value must have one element");
  if (plan.isGood())
    plan.write(plan.broadcast(plan.reshaped(plan.dense(filler, y.type), {}), y.dims), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(InplaceFillTensor)
