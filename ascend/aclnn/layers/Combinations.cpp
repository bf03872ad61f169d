//===-- Combinations.cpp - aclnn functions that join two steps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <numeric>

using namespace atc::ascend;

namespace {

View sumAboveZero(Plan &plan, const View &self, const View &other, const aclScalar *alpha) {
  return unary(plan, "Relu", sum(plan, "Add", self, other, plan.number(alpha, "alpha")));
}

/// gradient / (x * (1 - x)); 0 beyond eps and 1 - eps, NaN beyond 0 and 1 where eps is negative.
View logitGradient(Plan &plan, const View &x, const View &gradient, double eps) {
  if (!plan.isGood())
    return {};
  const View share = plan.dense(x, ACL_FLOAT), low = plan.constant(eps < 0 ? 0 : eps, ACL_FLOAT),
             high = plan.constant(eps < 0 ? 1 : 1 - eps, ACL_FLOAT);
  const View rest = withNumber(plan, "Add", withNumber(plan, "Mul", share, -1), 1);
  const View slope =
      combined(plan, "RealDiv", plan.dense(gradient, ACL_FLOAT), times(plan, share, rest));
  if (!plan.isGood())
    return {};
  const View isInside = plan.map(
      "LogicalAnd", {comparison(plan, "Ge", share, low), comparison(plan, "Le", share, high)});
  return chosen(plan, isInside, slope, plan.constant(eps < 0 ? NAN : 0, ACL_FLOAT));
}

/// (x + bias) * scale of the column * scale of the row, for x of int32.
View withoutScales(Plan &plan, const View &x, const View &weightScale, const View &rowScale,
                   const View &bias) {
  if (plan.isGood() &&
      (x.type != ACL_INT32 || x.dims.size() != 2 || countOf(weightScale.dims) != x.dims[1] ||
       (rowScale.memory && countOf(rowScale.dims) != x.dims[0]) ||
       (bias.memory && countOf(bias.dims) != x.dims[1])))
    plan.reject("x %s must be int32 with 2 dims, weightScale and bias have its columns, and "
                "activateScale its rows",
                textOf(x.dims).c_str());
  if (!plan.isGood())
    return {};
  View values = plan.dense(x, ACL_FLOAT);
  if (bias.memory && !isFloat(bias.type))
    values = plan.dense(combined(plan, "Add", x, bias), ACL_FLOAT);
  values = times(plan, values, weightScale);
  if (rowScale.memory && plan.isGood())
    values = times(plan, values, plan.reshaped(plan.dense(rowScale, ACL_FLOAT), {x.dims[0], 1}));
  return bias.memory && isFloat(bias.type) ? combined(plan, "Add", values, bias) : values;
}

/// Keeps the `count` largest logits of a row, and of them the most probable that together reach
/// `share`; all others become -infinity.
void keepProbable(const double *row, double *to, int64_t width, int64_t count, double share) {
  std::vector<int64_t> order(static_cast<size_t>(width));
  std::iota(order.rbegin(), order.rend(), 0);
  // Of equal logits the last comes first: the order of a stable sort that ascends, reversed.
  std::stable_sort(order.rbegin(), order.rend(),
                   [&](int64_t a, int64_t b) { return row[a] < row[b]; });
  std::fill(to, to + width, -HUGE_VAL);
  if (width == 0)
    return;
  // Logits like the last that counts are kept, too.
  const double min = row[order[size_t(std::clamp<int64_t>(count, 1, width) - 1)]];
  size_t kept = 0;
  double total = 0;
  while (kept < order.size() && !(row[order[kept]] < min))
    total += std::exp(row[order[kept++]] - row[order[0]]);
  double reached = 0;
  for (size_t i = 0; i < kept && (i == 0 || reached < share * total); ++i) {
    to[order[i]] = row[order[i]];
    reached += std::exp(row[order[i]] - row[order[0]]);
  }
}

View probable(Plan &plan, const View &logits, const View &share, const View &count) {
  if (!share.memory && !count.memory)
    plan.reject("p and k must not both be NULL");
  if (plan.isGood() && (logits.dims.size() != 2 || !isFloat(logits.type)))
    plan.reject("logits %s must be floats with 2 dims", textOf(logits.dims).c_str());
  if (plan.isGood() && ((share.memory && countOf(share.dims) != logits.dims[0]) ||
                        (count.memory && countOf(count.dims) != logits.dims[0])))
    plan.reject("p and k must have %lld elements", (long long)logits.dims[0]);
  if (!plan.isGood())
    return {};
  const int64_t rows = logits.dims[0], width = logits.dims[1];
  auto perRow = [&](const View &given, double missing) {
    return given.memory
               ? plan.dense(given, ACL_DOUBLE)
               : plan.dense(plan.broadcast(plan.constant(missing, ACL_DOUBLE), {rows}), ACL_DOUBLE);
  };
  const View shares = perRow(share, 1), counts = perRow(count, double(width)),
             values = plan.dense(logits, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, logits.dims);
  plan.onHost({values, shares, counts, result}, [=](const std::vector<char *> &at) -> aclError {
    auto *from = reinterpret_cast<const double *>(at[0]);
    auto *p = reinterpret_cast<const double *>(at[1]);
    auto *k = reinterpret_cast<const double *>(at[2]);
    for (int64_t row = 0; row < rows; ++row)
      // A share that is reached without rounding would cut the last logits off.
      keepProbable(from + row * width, reinterpret_cast<double *>(at[3]) + row * width, width,
                   int64_t(std::clamp(k[row], 1.0, double(std::max<int64_t>(width, 1)))),
                   p[row] >= 1 ? HUGE_VAL : p[row]);
    return ACL_SUCCESS;
  });
  return result;
}

} // namespace

ACLNN_FUNCTION(AddRelu,
               (const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
                aclTensor *out),
               out, sumAboveZero(plan, IN(self), IN(other), alpha))
ACLNN_FUNCTION(InplaceAddRelu,
               (aclTensor * selfRef, const aclTensor *other, const aclScalar *alpha), selfRef,
               sumAboveZero(plan, IN(selfRef), IN(other), alpha))
ACLNN_FUNCTION(LogitGrad, (const aclTensor *x, const aclTensor *dy, double eps, aclTensor *out),
               out, logitGradient(plan, IN(x), IN(dy), eps))
// The type of the result is that of the output.
ACLNN_FUNCTION(DequantBias,
               (const aclTensor *x, const aclTensor *weightScale,
                const aclTensor *activateScaleOptional, const aclTensor *biasOptional, int64_t,
                const aclTensor *out),
               out,
               withoutScales(plan, IN(x), IN(weightScale),
                             plan.input(activateScaleOptional, "activateScale", true),
                             plan.input(biasOptional, "bias", true)))
ACLNN_FUNCTION(ApplyTopKTopP,
               (const aclTensor *logits, const aclTensor *p, const aclTensor *k, aclTensor *out),
               out, probable(plan, IN(logits), plan.input(p, "p", true), plan.input(k, "k", true)))

aclnnStatus aclnnTransposeBatchMatMulGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *scale,
    const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int8_t,
    const int32_t batchSplitFactor, aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View left = plan.input(x1, "x1"), right = plan.input(x2, "x2"), y = plan.output(out, "out");
  auto ordered = [&](const View &view, const aclIntArray *order, const char *name) {
    const Dims axes = order ? plan.numbers(order, name) : Dims{0, 1, 2};
    Dims sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (plan.isGood() && (view.dims.size() != 3 || sorted != Dims{0, 1, 2}))
      plan.reject("x1 and x2 must have 3 dims, and %s be an order of 0, 1 and 2", name);
    return plan.isGood() ? permuted(view, axes) : View();
  };
  if (bias || scale)
    plan.reject("bias and scale must be NULL");
  const View a = ordered(left, permX1, "permX1"), b = ordered(right, permX2, "permX2");
  const View made = ordered(product(plan, a, b), permY, "permY");
  if (plan.isGood() && batchSplitFactor > 1) {
    // [rows, batches, columns] in parts of batches: [parts, rows, batches of a part * columns].
    const Dims dims = made.dims;
    if (dims[1] % batchSplitFactor)
      plan.reject("batchSplitFactor %d must divide the %lld batches", int(batchSplitFactor),
                  (long long)dims[1]);
    if (plan.isGood()) {
      const View parts =
          plan.reshaped(plan.dense(made, made.type),
                        {dims[0], batchSplitFactor, dims[1] / batchSplitFactor * dims[2]});
      plan.write(permuted(parts, {1, 0, 2}), y);
    }
  } else if (batchSplitFactor < 1) {
    plan.reject("batchSplitFactor is %d; it is 1 or more", int(batchSplitFactor));
  } else {
    plan.write(made, y);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(TransposeBatchMatMul)
