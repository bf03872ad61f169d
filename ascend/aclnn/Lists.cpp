//===-- Lists.cpp - aclnn functions of lists of tensors --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each applies to the tensors of lists what a function of single tensors computes.
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

constexpr char Add[] = "Add", Sub[] = "Sub", Mul[] = "Mul", RealDiv[] = "RealDiv",
               Maximum[] = "Maximum", Minimum[] = "Minimum";
template <const char *op> View combine(Plan &plan, const View &left, const View &right) {
  return combined(plan, op, left, right);
}

using Lists = std::initializer_list<std::pair<const aclTensorList *, const char *>>;

/// Makes the plan of a function that is called with the tensors of lists at each position.
template <typename Function>
aclnnStatus listPlan(const char *name, Lists given, const aclTensorList *out, uint64_t *size,
                     aclOpExecutor **executor, Function function) {
  Plan plan(name);
  std::vector<std::vector<View>> lists;
  for (const auto &[handle, label] : given)
    lists.push_back(plan.inputs(handle, label));
  const std::vector<View> results = plan.outputs(out, "out");
  for (const auto &list : lists)
    if (plan.isGood() && list.size() != results.size())
      plan.reject("out has %zu tensors, another list %zu", results.size(), list.size());
  for (size_t i = 0; plan.isGood() && i < results.size(); ++i) {
    std::vector<View> views;
    for (const auto &list : lists)
      views.push_back(list[i]);
    plan.write(function(plan, views, i), results[i]);
  }
  return plan.finish(size, executor);
}

/// Returns a number of a program, a scalar or a tensor of one element, in the type of `like`.
View numberOf(Plan &plan, const aclScalar *handle, const char *name, const View &like) {
  return scalarLike(plan, handle, name, like);
}
View numberOf(Plan &plan, const aclTensor *handle, const char *name, const View &like) {
  const View view = plan.input(handle, name);
  if (plan.isGood() && countOf(view.dims) != 1)
    plan.reject("%s must have one element", name);
  return plan.isGood() ? plan.reshaped(plan.dense(view, like.type), {}) : View();
}

/// Returns the number of a list that belongs to tensor `index`.
View listedNumber(Plan &plan, const aclScalarList *handle, size_t index, const View &like) {
  const auto values = plan.scalars(handle, "scalars");
  if (plan.isGood() && index >= values.size())
    plan.reject("scalars has %zu numbers, fewer than there are tensors", values.size());
  return plan.isGood() ? scalarLike(plan, *values[index], like) : View();
}
View listedNumber(Plan &plan, const aclTensor *handle, size_t index, const View &like) {
  const View view = plan.input(handle, "scalars");
  if (plan.isGood() && (view.dims.size() != 1 || index >= size_t(view.dims[0])))
    plan.reject("scalars must have one dim, with a number for each tensor");
  return plan.isGood() ? plan.reshaped(plan.dense(part(view, 0, int64_t(index), 1), like.type), {})
                       : View();
}

View withFactor(Plan &plan, const char *op, const View &left, const View &right,
                const View &factor) {
  return combined(plan, op, left, combined(plan, "Mul", right, factor));
}

View interpolated(Plan &plan, const View &start, const View &end, const View &weight) {
  return withFactor(plan, "Add", start, combined(plan, "Sub", end, start), weight);
}

/// Returns the norm of all elements; `order` is 1 or 2, or infinite.
View normOf(Plan &plan, const View &x, double order) {
  const View size = computed(plan, "Abs", plan.isGood() ? plan.dense(x, ACL_FLOAT) : View());
  if (order == 1)
    return reduced(plan, "ReduceSumD", size, {}, false, ACL_FLOAT);
  if (order == 2)
    return computed(
        plan, "Sqrt",
        reduced(plan, "ReduceSumD", combined(plan, "Mul", size, size), {}, false, ACL_FLOAT));
  if (order > 2 && order * 0.5 == order) // infinite
    return reduced(plan, "ReduceMaxD", size, {}, false, ACL_FLOAT);
  plan.reject("scalar is %g; norms of lists are of order 1, 2 or infinity", order);
  return {};
}

} // namespace

#define ACLNN_LIST_UNARY(name)                                                                     \
  aclnnStatus aclnnForeach##name##GetWorkspaceSize(const aclTensorList *x, aclTensorList *out,     \
                                                   uint64_t *size, aclOpExecutor **executor) {     \
    return listPlan(__func__, {{x, "x"}}, out, size, executor,                                     \
                    [](Plan &plan, const std::vector<View> &at, size_t) {                          \
                      return unary(plan, #name, at[0]);                                            \
                    });                                                                            \
  }                                                                                                \
  ACLNN_RUN(Foreach##name)
OPENATC_ACLNN_LIST_UNARIES(ACLNN_LIST_UNARY)

aclnnStatus aclnnForeachCopyGetWorkspaceSize(const aclTensorList *x, aclTensorList *out,
                                             uint64_t *size, aclOpExecutor **executor) {
  return listPlan(__func__, {{x, "x"}}, out, size, executor,
                  [](Plan &, const std::vector<View> &at, size_t) { return at[0]; });
}
ACLNN_RUN(ForeachCopy)
aclnnStatus aclnnForeachZeroInplaceGetWorkspaceSize(const aclTensorList *x, uint64_t *size,
                                                    aclOpExecutor **executor) {
  return listPlan(__func__, {{x, "x"}}, x, size, executor,
                  [](Plan &plan, const std::vector<View> &at, size_t) {
                    return plan.broadcast(plan.constant(0, at[0].type), at[0].dims);
                  });
}
ACLNN_RUN(ForeachZeroInplace)
aclnnStatus aclnnForeachNormGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar,
                                             aclTensorList *out, uint64_t *size,
                                             aclOpExecutor **executor) {
  return listPlan(__func__, {{x, "x"}}, out, size, executor,
                  [=](Plan &plan, const std::vector<View> &at, size_t) {
                    return normOf(plan, at[0],
                                  plan.elementOf(plan.input(scalar, "scalar"), "scalar"));
                  });
}
ACLNN_RUN(ForeachNorm)

// x op scalar: the number is a tensor, in the second version a scalar, or there is a list of them.
#define ACLNN_LIST_NUMBER(name, op, kind)                                                          \
  aclnnStatus aclnnForeach##name##GetWorkspaceSize(const aclTensorList *x, const kind *scalar,     \
                                                   aclTensorList *out, uint64_t *size,             \
                                                   aclOpExecutor **executor) {                     \
    return listPlan(__func__, {{x, "x"}}, out, size, executor,                                     \
                    [=](Plan &plan, const std::vector<View> &at, size_t) {                         \
                      return op(plan, at[0], numberOf(plan, scalar, "scalar", at[0]));             \
                    });                                                                            \
  }                                                                                                \
  ACLNN_RUN(Foreach##name)
#define ACLNN_LIST_NUMBERS(name, op)                                                               \
  ACLNN_LIST_NUMBER(name##Scalar, op, aclTensor)                                                   \
  ACLNN_LIST_NUMBER(name##ScalarV2, op, aclScalar)                                                 \
  aclnnStatus aclnnForeach##name##ScalarListGetWorkspaceSize(                                      \
      const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *size,    \
      aclOpExecutor **executor) {                                                                  \
    return listPlan(__func__, {{x, "x"}}, out, size, executor,                                     \
                    [=](Plan &plan, const std::vector<View> &at, size_t index) {                   \
                      return op(plan, at[0], listedNumber(plan, scalars, index, at[0]));           \
                    });                                                                            \
  }                                                                                                \
  ACLNN_RUN(Foreach##name##ScalarList)
ACLNN_LIST_NUMBERS(Add, combine<Add>)
ACLNN_LIST_NUMBERS(Sub, combine<Sub>)
ACLNN_LIST_NUMBERS(Mul, combine<Mul>)
ACLNN_LIST_NUMBERS(Div, combine<RealDiv>)
ACLNN_LIST_NUMBERS(Maximum, combine<Maximum>)
ACLNN_LIST_NUMBERS(Minimum, combine<Minimum>)
ACLNN_LIST_NUMBERS(Pow, power)
aclnnStatus aclnnForeachPowScalarAndTensorGetWorkspaceSize(const aclScalar *scalar,
                                                           const aclTensorList *x,
                                                           aclTensorList *out, uint64_t *size,
                                                           aclOpExecutor **executor) {
  return listPlan(__func__, {{x, "x"}}, out, size, executor,
                  [=](Plan &plan, const std::vector<View> &at, size_t) {
                    return power(plan, numberOf(plan, scalar, "scalar", at[0]), at[0]);
                  });
}
ACLNN_RUN(ForeachPowScalarAndTensor)

// x1 op x2, or x1 op alpha * x2
#define ACLNN_LIST_PAIR(name, op)                                                                  \
  aclnnStatus aclnnForeach##name##ListGetWorkspaceSize(                                            \
      const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *size,        \
      aclOpExecutor **executor) {                                                                  \
    return listPlan(                                                                               \
        __func__, {{x1, "x1"}, {x2, "x2"}}, out, size, executor,                                   \
        [](Plan &plan, const std::vector<View> &at, size_t) { return op(plan, at[0], at[1]); });   \
  }                                                                                                \
  ACLNN_RUN(Foreach##name##List)
ACLNN_LIST_PAIR(Mul, combine<Mul>)
ACLNN_LIST_PAIR(Div, combine<RealDiv>)
ACLNN_LIST_PAIR(Maximum, combine<Maximum>)
ACLNN_LIST_PAIR(Minimum, combine<Minimum>)
ACLNN_LIST_PAIR(Pow, power)
#define ACLNN_LIST_SUM(name, op, kind)                                                             \
  aclnnStatus aclnnForeach##name##GetWorkspaceSize(                                                \
      const aclTensorList *x1, const aclTensorList *x2, const kind *alpha, aclTensorList *out,     \
      uint64_t *size, aclOpExecutor **executor) {                                                  \
    return listPlan(__func__, {{x1, "x1"}, {x2, "x2"}}, out, size, executor,                       \
                    [=](Plan &plan, const std::vector<View> &at, size_t) {                         \
                      return withFactor(plan, op, at[0], at[1],                                    \
                                        numberOf(plan, alpha, "alpha", at[1]));                    \
                    });                                                                            \
  }                                                                                                \
  ACLNN_RUN(Foreach##name)
ACLNN_LIST_SUM(AddList, "Add", aclTensor)
ACLNN_LIST_SUM(AddListV2, "Add", aclScalar)
ACLNN_LIST_SUM(SubList, "Sub", aclTensor)
ACLNN_LIST_SUM(SubListV2, "Sub", aclScalar)

// x1 + scalar * (x2 op x3)
#define ACLNN_LIST_ADDED(name, op, kind, number)                                                   \
  aclnnStatus aclnnForeach##name##GetWorkspaceSize(                                                \
      const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3,                   \
      const kind *scalar, aclTensorList *out, uint64_t *size, aclOpExecutor **executor) {          \
    return listPlan(__func__, {{x1, "x1"}, {x2, "x2"}, {x3, "x3"}}, out, size, executor,           \
                    [=](Plan &plan, const std::vector<View> &at, [[maybe_unused]] size_t index) {  \
                      return withFactor(plan, "Add", at[0], combined(plan, op, at[1], at[2]),      \
                                        number);                                                   \
                    });                                                                            \
  }                                                                                                \
  ACLNN_RUN(Foreach##name)
#define ACLNN_LIST_ADDED_FORMS(name, op)                                                           \
  ACLNN_LIST_ADDED(name##Scalar, op, aclTensor, numberOf(plan, scalar, "scalar", at[0]))           \
  ACLNN_LIST_ADDED(name##ScalarV2, op, aclScalar, numberOf(plan, scalar, "scalar", at[0]))         \
  ACLNN_LIST_ADDED(name##List, op, aclTensor, listedNumber(plan, scalar, index, at[0]))            \
  ACLNN_LIST_ADDED(name##ScalarList, op, aclScalarList, listedNumber(plan, scalar, index, at[0]))
ACLNN_LIST_ADDED_FORMS(Addcmul, "Mul")
ACLNN_LIST_ADDED_FORMS(Addcdiv, "RealDiv")

aclnnStatus aclnnForeachLerpScalarGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2,
                                                   const aclTensor *weight, aclTensorList *out,
                                                   uint64_t *size, aclOpExecutor **executor) {
  return listPlan(__func__, {{x1, "x1"}, {x2, "x2"}}, out, size, executor,
                  [=](Plan &plan, const std::vector<View> &at, size_t) {
                    return interpolated(plan, at[0], at[1],
                                        numberOf(plan, weight, "weight", at[0]));
                  });
}
ACLNN_RUN(ForeachLerpScalar)
aclnnStatus aclnnForeachLerpListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2,
                                                 const aclTensorList *weights, aclTensorList *out,
                                                 uint64_t *size, aclOpExecutor **executor) {
  return listPlan(__func__, {{x1, "x1"}, {x2, "x2"}, {weights, "weights"}}, out, size, executor,
                  [](Plan &plan, const std::vector<View> &at, size_t) {
                    return interpolated(plan, at[0], at[1], at[2]);
                  });
}
ACLNN_RUN(ForeachLerpList)
