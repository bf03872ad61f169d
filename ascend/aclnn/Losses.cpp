//===-- Losses.cpp - aclnn losses of classes, gradients of losses ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// The classes of rows [n, classes] and what they weigh.
struct RowClasses {
  View counts; ///< whether the class of a row is not the ignored one
  View share;  ///< the weight of its class, or 0
  View losses; ///< -weight[class] * self[class], or 0
};

/// Looks up the classes of rows; an empty value after an error.
RowClasses classesOf(Plan &plan, const View &self, const View &target, const View &weight,
                     int64_t ignored) {
  if (plan.isGood() && target.type != ACL_INT64 && target.type != ACL_INT32 &&
      target.type != ACL_UINT8)
    plan.reject("target must be int64, int32 or uint8");
  if (plan.isGood() && countOf(target.dims) != self.dims[0])
    plan.reject("target %s must have a class for each of %lld rows", textOf(target.dims).c_str(),
                (long long)self.dims[0]);
  if (plan.isGood() && weight.dims != Dims{self.dims[1]})
    plan.reject("weight %s must have %lld elements", textOf(weight.dims).c_str(),
                (long long)self.dims[1]);
  if (!plan.isGood())
    return {};
  RowClasses rows;
  const View classes = plan.reshaped(plan.dense(target, ACL_INT64), {self.dims[0]});
  rows.counts = comparison(plan, "Ne", classes, plan.constant(double(ignored), ACL_INT64));
  // A negative class is none: an index would count it from the end.
  const View known = chosen(plan, comparison(plan, "Lt", classes, plan.constant(0, ACL_INT64)),
                            plan.constant(double(self.dims[1]), ACL_INT64), classes);
  const View positions = chosen(plan, rows.counts, known, plan.constant(0, ACL_INT64));
  const View none = plan.constant(0, ACL_FLOAT);
  rows.share =
      chosen(plan, rows.counts, taken(plan, plan.dense(weight, ACL_FLOAT), 0, positions), none);
  if (!plan.isGood())
    return {};
  const View picked = plan.apply(
      "GatherElements", {plan.dense(self, ACL_FLOAT), plan.reshaped(positions, {self.dims[0], 1})},
      {{ACL_FLOAT, {self.dims[0], 1}}}, Json::array({attribute("axis", "int", 1)}))[0];
  // Ignored rows are selected away instead of multiplied by 0, as their loss may be infinite.
  rows.losses = chosen(plan, rows.counts,
                       combined(plan, "Mul", plan.reshaped(picked, {self.dims[0]}),
                                withNumber(plan, "Mul", rows.share, -1)),
                       none);
  return rows;
}

/// Writes losses of rows, their sum, or that divided by `whole`.
void writeLoss(Plan &plan, const View &losses, const View &whole, int64_t reduction,
               const Dims &dims, const View &out) {
  if (reduction == 0) {
    plan.write(plan.isGood() ? plan.reshaped(losses, dims) : View(), out);
    return;
  }
  View result = lossOf(plan, losses, 2);
  if (reduction == 1)
    result = combined(plan, "RealDiv", result, whole);
  else if (reduction != 2)
    plan.reject("reduction is %lld; give 0 (none), 1 (mean) or 2 (sum)", (long long)reduction);
  writeOptional(plan, result, out);
}

/// Computes -weight[class] * self[class] of rows [n, classes], without an ignored class.
void classLoss(Plan &plan, const View &self, const View &target, const View &weight,
               int64_t reduction, int64_t ignored, const Dims &dims, const View &out,
               const View &total) {
  const RowClasses rows = classesOf(plan, self, target, weight, ignored);
  if (!plan.isGood())
    return;
  const View whole = reduced(plan, "ReduceSumD", rows.share, {}, false, ACL_FLOAT);
  writeLoss(plan, rows.losses, whole, reduction, dims, out);
  writeOptional(plan, whole, total);
}

aclnnStatus classLossPlan(const char *name, bool isImage, const aclTensor *self,
                          const aclTensor *target, const aclTensor *weight, int64_t reduction,
                          int64_t ignored, const aclTensor *out, const aclTensor *total,
                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(self, "self"), classes = plan.input(target, "target"),
             factors = plan.input(weight, "weight"), y = plan.output(out, "out"),
             sumOut = plan.output(total, "totalWeightOut");
  const size_t rank = x.dims.size();
  if (plan.isGood() && (isImage ? rank != 4 : rank != 1 && rank != 2))
    plan.reject("self %s must have %s dims", textOf(x.dims).c_str(), isImage ? "4" : "1 or 2");
  if (!plan.isGood())
    return plan.finish(size, executor);
  // Classes become the last dim, and all others one.
  const View last = isImage ? permuted(x, {0, 2, 3, 1}) : x;
  const int64_t width = last.dims.back();
  const View rows =
      plan.reshaped(plan.dense(last, x.type), {width ? countOf(x.dims) / width : 0, width});
  classLoss(plan, rows, classes, factors, reduction, ignored, classes.dims, y, sumOut);
  return plan.finish(size, executor);
}

/// target * (log(target) - self), where the target may be a logarithm itself.
View divergence(Plan &plan, const View &self, const View &target, bool isLog) {
  if (isLog)
    return combined(plan, "Mul", computed(plan, "Exp", target),
                    combined(plan, "Sub", target, self, true));
  return combined(plan, "Sub", combined(plan, "Xlogy", target, target, true),
                  combined(plan, "Mul", target, self, true));
}

/// Multiplies the slope of a loss by the gradient of what it was reduced to.
View slopeOf(Plan &plan, const View &gradient, const View &slope, int64_t reduction) {
  if (plan.isGood() && (reduction < 0 || reduction > 2))
    plan.reject("reduction is %lld; give 0 (none), 1 (mean) or 2 (sum)", (long long)reduction);
  if (!plan.isGood())
    return {};
  const View given = combined(plan, "Mul", slope, gradient, true);
  return reduction == 1 ? withNumber(plan, "Mul", given, 1 / double(countOf(slope.dims))) : given;
}

} // namespace

#define ACLNN_CLASS_LOSS(name, isImage)                                                            \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction,  \
      int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut, uint64_t *size,              \
      aclOpExecutor **executor) {                                                                  \
    return classLossPlan(__func__, isImage, self, target, weight, reduction, ignoreIndex, out,     \
                         totalWeightOut, size, executor);                                          \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_CLASS_LOSS(NLLLoss, false)
ACLNN_CLASS_LOSS(NLLLoss2d, true)
ACLNN_FUNCTION(KlDiv,
               (const aclTensor *self, const aclTensor *target, int64_t reduction, bool logTarget,
                aclTensor *out),
               out, lossOf(plan, divergence(plan, IN(self), IN(target), logTarget), reduction))
ACLNN_FUNCTION(MseLossBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
                int64_t reduction, aclTensor *out),
               out,
               slopeOf(plan, IN(gradOutput),
                       withNumber(plan, "Mul", combined(plan, "Sub", IN(self), IN(target), true),
                                  2),
                       reduction))

aclnnStatus aclnnCrossEntropyLossGetWorkspaceSize(
    const aclTensor *input, const aclTensor *target, const aclTensor *weightOptional,
    char *reductionOptional, int64_t ignoreIndex, double labelSmoothing, double, bool returnZloss,
    const aclTensor *lossOut, const aclTensor *logProbOut, const aclTensor *, const aclTensor *,
    uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(input, "input"), classes = plan.input(target, "target"),
             given = plan.input(weightOptional, "weight", true),
             loss = plan.output(lossOut, "lossOut"),
             logarithms = plan.output(logProbOut, "logProbOut");
  const std::string_view mode =
      reductionOptional && *reductionOptional ? reductionOptional : "mean";
  const int64_t reduction = mode == "none" ? 0 : mode == "mean" ? 1 : mode == "sum" ? 2 : -1;
  if (reduction < 0)
    plan.reject("reduction must be none, mean or sum");
  if (returnZloss)
    plan.reject("returnZloss must be false: the loss of large logits has no function here");
  if (!(labelSmoothing >= 0 && labelSmoothing < 1))
    plan.reject("labelSmoothing must be at least 0 and less than 1");
  if (plan.isGood() && (x.dims.size() != 2 || x.dims[1] == 0))
    plan.reject("input %s must have 2 dims, rows and classes", textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View weight =
      given.memory
          ? given
          : plan.dense(plan.broadcast(plan.constant(1, ACL_FLOAT), {x.dims[1]}), ACL_FLOAT);
  const View scores = softmaxOf(plan, "LogSoftmaxV2", plan.dense(x, ACL_FLOAT), 1);
  plan.write(scores, logarithms);
  const RowClasses rows = classesOf(plan, scores, classes, weight, ignoreIndex);
  if (!plan.isGood())
    return plan.finish(size, executor);
  View losses = rows.losses;
  if (labelSmoothing > 0) {
    // The rest of a label goes to all classes alike.
    const View all = reduced(
        plan, "ReduceSumD",
        combined(plan, "Mul", scores, plan.isGood() ? plan.dense(weight, ACL_FLOAT) : View()), {1},
        false, ACL_FLOAT);
    const View rest =
        chosen(plan, rows.counts, withNumber(plan, "Mul", all, -labelSmoothing / double(x.dims[1])),
               plan.constant(0, ACL_FLOAT));
    losses = combined(plan, "Add", withNumber(plan, "Mul", losses, 1 - labelSmoothing), rest);
  }
  // Only a mean is divided by it; a sum of no rows is no operator.
  const View whole =
      reduction == 1 ? reduced(plan, "ReduceSumD", rows.share, {}, false, ACL_FLOAT) : View();
  writeLoss(plan, losses, whole, reduction, {x.dims[0]}, loss);
  return plan.finish(size, executor);
}
ACLNN_RUN(CrossEntropyLoss)
