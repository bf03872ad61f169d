//===-- Indices.cpp - aclnn functions that indices steer ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <numeric>

using namespace atc::ascend;

namespace {

void checkIndex(Plan &plan, const View &self, const View &index, const char *name) {
  if (plan.isGood() && index.type != ACL_INT32 && index.type != ACL_INT64)
    plan.reject("%s must be int32 or int64", name);
  if (plan.isGood() && index.dims.size() != self.dims.size())
    plan.reject("%s must have as many dims as self", name);
}

/// Returns the part of a view with the first elements of each dim.
View corner(View view, const Dims &dims) {
  view.dims = dims;
  return view;
}

View gathered(Plan &plan, const View &self, int64_t dim, const View &index) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  checkIndex(plan, self, index, "index");
  if (!plan.isGood())
    return {};
  if (self.dims.empty())
    return plan.dense(self, self.type);
  Dims dims = self.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (int64_t(i) != axis && index.dims[i] > dims[i])
      plan.reject("index %s is larger than self %s", textOf(index.dims).c_str(),
                  textOf(dims).c_str());
    else if (int64_t(i) != axis)
      dims[i] = index.dims[i];
  return plan.apply("GatherElements",
                    {plan.dense(corner(self, dims), self.type), plan.dense(index, ACL_INT64)},
                    {{self.type, index.dims}}, Json::array({attribute("axis", "int", axis)}))[0];
}

View scattered(Plan &plan, const View &self, int64_t dim, const View &index, const View &source,
               int64_t reduce) {
  static constexpr const char *reductions[] = {"none", "add", "mul"};
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  checkIndex(plan, self, index, "index");
  if (plan.isGood() && (reduce < 0 || reduce > 2))
    plan.reject("reduce is %lld; give 0 to replace, 1 to add, 2 to multiply", (long long)reduce);
  if (plan.isGood() && source.dims.size() != index.dims.size())
    plan.reject("src must have as many dims as index");
  for (size_t i = 0; plan.isGood() && i < index.dims.size(); ++i)
    if (index.dims[i] > source.dims[i] || (int64_t(i) != axis && index.dims[i] > self.dims[i]))
      plan.reject("index %s is larger than src %s or self %s", textOf(index.dims).c_str(),
                  textOf(source.dims).c_str(), textOf(self.dims).c_str());
  if (!plan.isGood())
    return {};
  return plan.apply("ScatterElements",
                    {plan.dense(self, self.type), plan.dense(index, ACL_INT64),
                     plan.dense(corner(source, index.dims), self.type)},
                    {{self.type, self.dims}},
                    Json::array({attribute("axis", "int", axis),
                                 attribute("reduction", "string", reductions[reduce])}))[0];
}

View scatteredNumber(Plan &plan, const View &self, int64_t dim, const View &index,
                     const aclScalar *value, int64_t reduce) {
  const View number = scalarOf(plan, value, "value", self.type);
  if (!plan.isGood())
    return {};
  return scattered(plan, self, dim, index, plan.broadcast(number, index.dims), reduce);
}

/// Writes slices of a dim, or adds them: the dim becomes the first one for the operator.
View withSlices(Plan &plan, const char *op, const View &self, int64_t dim, const View &index,
                const View &source) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (plan.isGood() && (index.type != ACL_INT32 && index.type != ACL_INT64))
    plan.reject("index must be int32 or int64");
  const int64_t count = countOf(index.dims);
  Dims expected = self.dims;
  if (plan.isGood() && !expected.empty())
    expected[size_t(axis)] = count;
  if (plan.isGood() && (self.dims.empty() || index.dims.size() > 1 || source.dims != expected))
    plan.reject("index must have one dim, and source the dims %s", textOf(expected).c_str());
  if (!plan.isGood())
    return {};
  Dims order(self.dims.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.insert(order.begin(), axis);
  const View first = plan.dense(permuted(self, order), self.type);
  const View rows = plan.reshaped(plan.dense(index, ACL_INT64), {count, 1});
  const View result = plan.apply(op, {first, rows, plan.dense(permuted(source, order), self.type)},
                                 {{self.type, first.dims}})[0];
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[size_t(order[i])] = int64_t(i);
  return permuted(result, back);
}

View slicesAdded(Plan &plan, const View &self, int64_t dim, const View &index, const View &source,
                 double alpha) {
  if (!plan.isGood())
    return {};
  View scaled = plan.dense(source, self.type);
  if (alpha != 1)
    scaled = plan.map("Mul", {scaled, plan.constant(alpha, self.type)});
  return withSlices(plan, "ScatterNdAdd", self, dim, index, scaled);
}

View masked(Plan &plan, const View &self, const View &mask, const View &value) {
  if (!plan.isGood())
    return {};
  return chosen(plan, plan.broadcast(mask, self.dims),
                plan.broadcast(plan.dense(value, self.type), self.dims), self);
}

View maskedNumber(Plan &plan, const View &self, const View &mask, const aclScalar *value) {
  return masked(plan, self, mask, scalarOf(plan, value, "value", self.type));
}

View oneHot(Plan &plan, const View &self, int64_t classes, const View &on, const View &off,
            int64_t axis) {
  const size_t rank = self.dims.size() + 1;
  const int64_t at = plan.axisOf(axis, rank);
  if (plan.isGood() && (classes < 1 || countOf(on.dims) != 1 || countOf(off.dims) != 1))
    plan.reject("numClasses must be positive, and onValue and offValue one element each");
  plan.checkCount(classes, "numClasses");
  if (!plan.isGood())
    return {};
  Dims names(static_cast<size_t>(classes));
  std::iota(names.begin(), names.end(), 0);
  Dims along(rank, 1);
  along[size_t(at)] = classes;
  Dims spread = self.dims;
  spread.insert(spread.begin() + at, 1);
  const View hit = comparison(plan, "Eq", plan.reshaped(plan.dense(self, ACL_INT64), spread),
                              indexTensor(plan, names, along));
  return chosen(plan, hit, plan.reshaped(on, {1}), plan.reshaped(off, {1}));
}

/// Orders a dim; returns values and positions.
std::pair<View, View> sorted(Plan &plan, const View &self, int64_t dim, bool descending) {
  const int64_t axis = plan.axisOf(dim, self.dims.size());
  if (!plan.isGood())
    return {};
  const View x = self.dims.empty() ? plan.reshaped(plan.dense(self, self.type), {1})
                                   : plan.dense(self, self.type);
  auto both = plan.apply(
      "TopKD", {x}, {{x.type, x.dims}, {ACL_INT32, x.dims}},
      Json::array({attribute("k", "int", x.dims[size_t(axis)]), attribute("dim", "int", axis),
                   attribute("largest", "bool", descending), attribute("sorted", "bool", true)}));
  return {plan.reshaped(both[0], self.dims), plan.reshaped(both[1], self.dims)};
}

} // namespace

ACLNN_FUNCTION(GatherV2,
               (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out), out,
               [&] {
                 const View x = IN(self), rows = IN(index);
                 return taken(plan, x, plan.axisOf(dim, x.dims.size()), rows);
               }())
ACLNN_FUNCTION(Gather,
               (const aclTensor *self, const int64_t dim, const aclTensor *index, aclTensor *out),
               out, gathered(plan, IN(self), dim, IN(index)))
ACLNN_FUNCTION(Scatter,
               (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src,
                int64_t reduce, aclTensor *out),
               out, scattered(plan, IN(self), dim, IN(index), IN(src), reduce))
ACLNN_FUNCTION(InplaceScatter,
               (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclTensor *src,
                int64_t reduce),
               selfRef, scattered(plan, IN(selfRef), dim, IN(index), IN(src), reduce))
ACLNN_FUNCTION(ScatterValue,
               (const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value,
                int64_t reduce, aclTensor *out),
               out, scatteredNumber(plan, IN(self), dim, IN(index), value, reduce))
ACLNN_FUNCTION(InplaceScatterValue,
               (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclScalar *value,
                int64_t reduce),
               selfRef, scatteredNumber(plan, IN(selfRef), dim, IN(index), value, reduce))
ACLNN_FUNCTION(ScatterAdd,
               (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src,
                aclTensor *out),
               out, scattered(plan, IN(self), dim, IN(index), IN(src), 1))
ACLNN_FUNCTION(IndexCopy,
               (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source,
                aclTensor *out),
               out, withSlices(plan, "ScatterNdUpdate", IN(self), dim, IN(index), IN(source)))
ACLNN_FUNCTION(InplaceIndexCopy,
               (aclTensor * selfRef, int64_t dim, const aclTensor *index, const aclTensor *source),
               selfRef,
               withSlices(plan, "ScatterNdUpdate", IN(selfRef), dim, IN(index), IN(source)))
ACLNN_FUNCTION(IndexAdd,
               (const aclTensor *self, const int64_t dim, const aclTensor *index,
                const aclTensor *source, const aclScalar *alpha, aclTensor *out),
               out,
               slicesAdded(plan, IN(self), dim, IN(index), IN(source), plan.number(alpha, "alpha")))

aclnnStatus aclnnInplaceIndexFillTensorGetWorkspaceSize(aclTensor *selfRef, int64_t dim,
                                                        const aclIntArray *index,
                                                        const aclScalar *value, uint64_t *size,
                                                        aclOpExecutor **executor) {
  Plan plan(__func__);
  const View y = plan.output(selfRef, "selfRef");
  const Dims positions = plan.numbers(index, "index");
  const View filler = scalarOf(plan, value, "value", y.type);
  const int64_t axis = plan.axisOf(dim, y.dims.size());
  if (plan.isGood() && y.dims.empty())
    plan.reject("selfRef has no dims");
  for (int64_t position : positions) {
    if (!plan.isGood())
      break;
    const int64_t whole = y.dims[size_t(axis)], at = position < 0 ? position + whole : position;
    if (at < 0 || at >= whole) {
      plan.reject("index has %lld; dim %lld has %lld elements", (long long)position, (long long)dim,
                  (long long)whole);
      break;
    }
    const View slice = part(y, size_t(axis), at, 1);
    plan.copy(plan.broadcast(filler, slice.dims), slice);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(InplaceIndexFillTensor)

ACLNN_FUNCTION(InplaceMaskedFillScalar,
               (aclTensor * selfRef, const aclTensor *mask, const aclScalar *value), selfRef,
               maskedNumber(plan, IN(selfRef), IN(mask), value))
ACLNN_FUNCTION(InplaceMaskedFillTensor,
               (aclTensor * selfRef, const aclTensor *mask, const aclTensor *value), selfRef,
               masked(plan, IN(selfRef), IN(mask), IN(value)))
ACLNN_FUNCTION(OneHot,
               (const aclTensor *self, int numClasses, const aclTensor *onValue,
                const aclTensor *offValue, int64_t axis, aclTensor *out),
               out, oneHot(plan, IN(self), numClasses, IN(onValue), IN(offValue), axis))

aclnnStatus aclnnSortGetWorkspaceSize(const aclTensor *self, bool, int64_t dim, bool descending,
                                      aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *size,
                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(self, "self"), values = plan.output(valuesOut, "valuesOut"),
             indices = plan.output(indicesOut, "indicesOut");
  // Equal elements keep their order, whether the program asks for it or not.
  const auto [ordered, positions] = sorted(plan, x, dim, descending);
  plan.write(ordered, values);
  plan.write(positions, indices);
  return plan.finish(size, executor);
}
ACLNN_RUN(Sort)
ACLNN_FUNCTION(Argsort, (const aclTensor *self, int64_t dim, bool descending, aclTensor *out), out,
               sorted(plan, IN(self), dim, descending).second)
