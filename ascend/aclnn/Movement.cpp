//===-- Movement.cpp - aclnn functions that copy elements ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace atc::ascend {

/// Returns a view without its dims of one.
static View withoutOnes(View view) {
  Dims dims;
  decltype(view.strides) strides;
  for (size_t i = 0; i < view.dims.size(); ++i)
    if (view.dims[i] != 1) {
      dims.push_back(view.dims[i]);
      strides.push_back(view.strides[i]);
    }
  view.dims = dims;
  view.strides = strides;
  return view;
}

void Plan::write(const View &from, const View &output) {
  if (status || !output.memory)
    return;
  if (from.dims == output.dims) {
    written.emplace_back(from, output);
    return;
  }
  // Dims of one more or less hold the same elements in the same order: [1] for the sum of all.
  const View part = withoutOnes(from), whole = withoutOnes(output);
  if (part.dims != whole.dims)
    return reject("the output is %s, it must be %s", textOf(output.dims).c_str(),
                  textOf(from.dims).c_str());
  written.emplace_back(part, whole);
}

View part(const View &view, size_t dim, int64_t start, int64_t count, int64_t step) {
  View result = view;
  result.offset += start * view.strides[dim];
  result.dims[dim] = count;
  result.strides[dim] = view.strides[dim] * step;
  return result;
}

View permuted(const View &view, const Dims &order) {
  View moved = view;
  for (size_t i = 0; i < order.size(); ++i) {
    moved.dims[i] = view.dims[size_t(order[i])];
    moved.strides[i] = view.strides[size_t(order[i])];
  }
  return moved;
}

View indexTensor(Plan &plan, const Dims &values, const Dims &dims) {
  View view = plan.make(ACL_INT64, dims);
  if (plan.isGood())
    std::copy(values.begin(), values.end(), static_cast<int64_t *>(view.memory->data()));
  return view;
}

View taken(Plan &plan, const View &self, int64_t axis, const View &indices) {
  if (plan.isGood() && indices.type != ACL_INT32 && indices.type != ACL_INT64)
    plan.reject("the indices must be int32 or int64");
  if (plan.isGood() && self.dims.empty())
    plan.reject("a scalar has no rows");
  if (!plan.isGood())
    return {};
  Dims dims = self.dims;
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.dims.begin(), indices.dims.end());
  return plan.apply("GatherV2D", {plan.dense(self, self.type), plan.dense(indices, indices.type)},
                    {{self.type, dims}}, Json::array({attribute("axis", "int", axis)}))[0];
}

} // namespace atc::ascend

namespace {

/// Copies tensors side by side along a dim of the output.
void join(Plan &plan, const std::vector<View> &views, int64_t dim, const View &output) {
  if (output.dims.empty())
    return plan.reject("the output must have a dim");
  int64_t position = 0;
  for (const View &view : views) {
    Dims expected = output.dims;
    if (view.dims.size() == expected.size() && !expected.empty())
      expected[size_t(dim)] = view.dims[size_t(dim)];
    if (expected.empty() || view.dims != expected ||
        position + view.dims[size_t(dim)] > output.dims[size_t(dim)])
      return plan.reject("%s does not fit the output %s along dim %lld", textOf(view.dims).c_str(),
                         textOf(output.dims).c_str(), (long long)dim);
    plan.copy(view, part(output, size_t(dim), position, view.dims[size_t(dim)]));
    position += view.dims[size_t(dim)];
  }
  if (position != output.dims[size_t(dim)])
    plan.reject("the tensors have %lld elements along dim %lld, the output %lld",
                (long long)position, (long long)dim, (long long)output.dims[size_t(dim)]);
}

aclnnStatus fill(const char *function, const aclTensor *target, const Scalar &value, uint64_t *size,
                 aclOpExecutor **executor) {
  Plan plan(function);
  const View y = plan.output(target, "selfRef");
  if (plan.isGood())
    plan.write(plan.broadcast(plan.constant(value, y.type), y.dims), y);
  return plan.finish(size, executor);
}

/// Copies the rows of a table that indices name, along a dim.
aclnnStatus gather(const char *function, const aclTensor *table, int64_t dim,
                   const aclTensor *index, const aclTensor *out, uint64_t *size,
                   aclOpExecutor **executor) {
  Plan plan(function);
  const View x = plan.input(table, "self"), rows = plan.input(index, "index"),
             y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  plan.write(taken(plan, x, axis, rows), y);
  return plan.finish(size, executor);
}

} // namespace

aclnnStatus aclnnCastGetWorkspaceSize(const aclTensor *self, const aclDataType dtype,
                                      aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  if (plan.isGood() && y.type != dtype)
    plan.reject("dtype is %s, the output has %s", nameOf(dtype), nameOf(y.type));
  plan.write(x, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Cast)

aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor *selfRef, const aclTensor *src,
                                             uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(src, "src"), y = plan.output(selfRef, "selfRef");
  if (plan.isGood())
    plan.write(plan.broadcast(x, y.dims), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(InplaceCopy)

aclnnStatus aclnnPermuteGetWorkspaceSize(const aclTensor *self, const aclIntArray *dims,
                                         aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self");
  const Dims given = plan.numbers(dims, "dims");
  const View y = plan.output(out, "out");
  Dims order;
  for (int64_t dim : given)
    order.push_back(plan.axisOf(dim, x.dims.size()));
  if (plan.isGood() && !given.empty() && plan.axesOf(given, x.dims.size()).size() != x.dims.size())
    plan.reject("dims %s must name each of %zu dims", textOf(given).c_str(), x.dims.size());
  if (plan.isGood())
    plan.write(permuted(x, order), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Permute)

aclnnStatus aclnnCatGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out,
                                     uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const std::vector<View> views = plan.inputs(tensors, "tensors");
  const View y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, y.dims.size());
  if (plan.isGood())
    join(plan, views, axis, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Cat)

aclnnStatus aclnnStackGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out,
                                       uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  std::vector<View> views = plan.inputs(tensors, "tensors");
  const View y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, y.dims.size());
  for (View &view : views)
    if (plan.isGood() && view.dims.size() + 1 == y.dims.size()) {
      view.dims.insert(view.dims.begin() + axis, 1);
      view.strides.insert(view.strides.begin() + axis, 1);
    }
  if (plan.isGood())
    join(plan, views, axis, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Stack)

aclnnStatus aclnnSliceGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t start,
                                       int64_t end, int64_t step, aclTensor *out, uint64_t *size,
                                       aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (step < 1 || x.dims.empty()))
    plan.reject("step is %lld; it is at least 1, and self has a dim", (long long)step);
  if (plan.isGood()) {
    const int64_t whole = x.dims[size_t(axis)];
    auto bounded = [&](int64_t at) {
      return std::clamp(at < 0 ? at + whole : at, int64_t{0}, whole);
    };
    const int64_t from = bounded(start), to = std::max(bounded(end), from);
    plan.write(part(x, size_t(axis), from, (to - from + step - 1) / step, step), y);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(Slice)

aclnnStatus aclnnExpandGetWorkspaceSize(const aclTensor *self, const aclIntArray *size_,
                                        aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  Dims dims = plan.numbers(size_, "size");
  for (size_t i = 0; i < dims.size(); ++i) // -1: as it is
    if (dims[i] == -1 && i + x.dims.size() >= dims.size())
      dims[i] = x.dims[i + x.dims.size() - dims.size()];
  if (plan.isGood())
    plan.write(plan.broadcast(x, dims), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Expand)

aclnnStatus aclnnRepeatGetWorkspaceSize(const aclTensor *self, const aclIntArray *repeats,
                                        aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const Dims times = plan.numbers(repeats, "repeats");
  if (plan.isGood() && times.size() < x.dims.size())
    plan.reject("repeats %s must name each of %zu dims", textOf(times).c_str(), x.dims.size());
  if (!plan.isGood())
    return plan.finish(size, executor);
  // Each dim becomes two on both sides: which repetition, and which element.
  View from = x, to = y;
  from.dims.clear(), from.strides.clear(), to.dims.clear(), to.strides.clear();
  Dims dims;
  const size_t missing = times.size() - x.dims.size();
  for (size_t i = 0; i < times.size(); ++i) {
    const int64_t own = i < missing ? 1 : x.dims[i - missing];
    dims.push_back(times[i] * own);
    const int64_t stride = i < y.strides.size() ? y.strides[i] : 0;
    for (auto [view, strides] :
         {std::pair(&from,
                    std::pair<int64_t, int64_t>(0, i < missing ? 0 : x.strides[i - missing])),
          std::pair(&to, std::pair<int64_t, int64_t>(stride * own, stride))}) {
      view->dims.insert(view->dims.end(), {times[i], own});
      view->strides.insert(view->strides.end(), {strides.first, strides.second});
    }
  }
  if (dims != y.dims)
    plan.reject("the output is %s, it must be %s", textOf(y.dims).c_str(), textOf(dims).c_str());
  plan.copy(from, to);
  return plan.finish(size, executor);
}
ACLNN_RUN(Repeat)

aclnnStatus aclnnFlattenGetWorkspaceSize(const aclTensor *self, int64_t axis, aclTensor *out,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), y = plan.output(out, "out");
  const int64_t rank = int64_t(x.dims.size());
  if (plan.isGood() && (axis < -rank || axis > rank))
    plan.reject("axis is %lld; it is from %lld to %lld", (long long)axis, (long long)-rank,
                (long long)rank);
  if (plan.isGood()) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    const Dims dims{countOf(Dims(x.dims.begin(), x.dims.begin() + at)),
                    countOf(Dims(x.dims.begin() + at, x.dims.end()))};
    plan.write(plan.reshaped(plan.dense(x, x.type), dims), y);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(Flatten)

aclnnStatus aclnnIndexSelectGetWorkspaceSize(const aclTensor *self, int64_t dim,
                                             const aclTensor *index, aclTensor *out, uint64_t *size,
                                             aclOpExecutor **executor) {
  return gather(__func__, self, dim, index, out, size, executor);
}
ACLNN_RUN(IndexSelect)

aclnnStatus aclnnEmbeddingGetWorkspaceSize(const aclTensor *weight, const aclTensor *indices,
                                           const aclTensor *out, uint64_t *size,
                                           aclOpExecutor **executor) {
  return gather(__func__, weight, 0, indices, out, size, executor);
}
ACLNN_RUN(Embedding)

aclnnStatus aclnnArangeGetWorkspaceSize(const aclScalar *start, const aclScalar *end,
                                        const aclScalar *step, aclTensor *out, uint64_t *size,
                                        aclOpExecutor **executor) {
  Plan plan(__func__);
  const double from = plan.number(start, "start"), to = plan.number(end, "end"),
               by = plan.number(step, "step");
  const View y = plan.output(out, "out");
  const double count = plan.isGood() && by != 0 ? std::ceil((to - from) / by) : -1;
  if (plan.isGood() && !(count >= 0 && count < 1e9))
    plan.reject("start %g, end %g and step %g are no range", from, to, by);
  if (plan.isGood()) {
    const View values = plan.make(ACL_DOUBLE, {int64_t(count)});
    for (int64_t i = 0; plan.isGood() && i < int64_t(count); ++i)
      static_cast<double *>(values.memory->data())[i] = from + double(i) * by;
    plan.write(values, y);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(Arange)

aclnnStatus aclnnInplaceFillScalarGetWorkspaceSize(aclTensor *selfRef, const aclScalar *value,
                                                   uint64_t *size, aclOpExecutor **executor) {
  auto found = value ? scalars().find(value) : nullptr;
  if (!found) {
    Plan plan(__func__);
    plan.number(value, "value");
    return plan.finish(size, executor);
  }
  return fill(__func__, selfRef, *found, size, executor);
}
ACLNN_RUN(InplaceFillScalar)

aclnnStatus aclnnInplaceZeroGetWorkspaceSize(aclTensor *selfRef, uint64_t *size,
                                             aclOpExecutor **executor) {
  return fill(__func__, selfRef, Scalar{ACL_INT8}, size, executor);
}
ACLNN_RUN(InplaceZero)
aclnnStatus aclnnInplaceOneGetWorkspaceSize(aclTensor *selfRef, uint64_t *size,
                                            aclOpExecutor **executor) {
  return fill(__func__, selfRef, Scalar{ACL_INT8, {1}}, size, executor);
}
ACLNN_RUN(InplaceOne)
