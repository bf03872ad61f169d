//===-- Losses.cpp - aclnn losses of classes, gradients of losses ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Computes -weight[class] * self[class] of rows [n, classes], without an ignored class.
void classLoss(Plan &plan, const View &self, const View &target, const View &weight,
               int64_t reduction, int64_t ignored, const Dims &dims, const View &out,
               const View &total) {
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
    return;
  const View classes = plan.reshaped(plan.dense(target, ACL_INT64), {self.dims[0]});
  const View counts = comparison(plan, "Ne", classes, plan.constant(double(ignored), ACL_INT64));
  const View places = chosen(plan, counts, classes, plan.constant(0, ACL_INT64));
  const View none = plan.constant(0, ACL_FLOAT);
  const View share =
      chosen(plan, counts, taken(plan, plan.dense(weight, ACL_FLOAT), 0, places), none);
  if (!plan.isGood())
    return;
  const View picked = plan.apply(
      "GatherElements", {plan.dense(self, ACL_FLOAT), plan.reshaped(places, {self.dims[0], 1})},
      {{ACL_FLOAT, {self.dims[0], 1}}}, Json::array({attribute("axis", "int", 1)}))[0];
  // Ignored rows are selected away instead of multiplied by 0, as their loss may be infinite.
  const View losses = chosen(plan, counts,
                             combined(plan, "Mul", plan.reshaped(picked, {self.dims[0]}),
                                      withNumber(plan, "Mul", share, -1)),
                             none);
  const View whole = reduced(plan, "ReduceSumD", share, {}, false, ACL_FLOAT);
  if (reduction == 0) {
    plan.write(plan.isGood() ? plan.reshaped(losses, dims) : View(), out);
  } else {
    View result = lossOf(plan, losses, 2);
    if (reduction == 1)
      result = combined(plan, "RealDiv", result, whole);
    else if (reduction != 2)
      plan.reject("reduction is %lld; give 0 (none), 1 (mean) or 2 (sum)", (long long)reduction);
    writeOptional(plan, result, out);
  }
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
