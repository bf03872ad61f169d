//===-- Gradients.cpp - aclnn gradients of activations and norms -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

View scaled(Plan &plan, const View &left, const View &right) {
  return combined(plan, "Mul", left, right, true);
}

View constantLike(Plan &plan, double value, const View &like) {
  return plan.isGood() ? plan.constant(value, floatOf(like.type)) : View();
}

/// Returns the gradient where `low` < x < `high`, times a factor there, else times another.
View slopeBetween(Plan &plan, const View &gradient, const View &x, double low, double high,
                  const View &inside, const View &outside) {
  if (!plan.isGood())
    return {};
  const View isInside =
      plan.map("LogicalAnd", {comparison(plan, "Gt", x, plan.constant(low, floatOf(x.type))),
                              comparison(plan, "Lt", x, plan.constant(high, floatOf(x.type)))});
  return scaled(plan, gradient, chosen(plan, isInside, inside, outside));
}

View hardswishGradient(Plan &plan, const View &gradient, const View &x) {
  if (!plan.isGood())
    return {};
  const View line =
      withNumber(plan, "Add", withNumber(plan, "Mul", x, 1 / 3.0), 0.5); // x / 3 + 1 / 2
  const View rest = chosen(plan, comparison(plan, "Ge", x, plan.constant(3, floatOf(x.type))),
                           constantLike(plan, 1, x), constantLike(plan, 0, x));
  return slopeBetween(plan, gradient, x, -3, 3, line, rest);
}

View leakyGradient(Plan &plan, const View &gradient, const View &x, double slope) {
  if (!plan.isGood())
    return {};
  return scaled(plan, gradient,
                chosen(plan, comparison(plan, "Gt", x, plan.constant(0, floatOf(x.type))),
                       constantLike(plan, 1, x), constantLike(plan, slope, x)));
}

View softplusGradient(Plan &plan, const View &gradient, const View &x, double beta,
                      double threshold) {
  if (!plan.isGood())
    return {};
  const View steep = withNumber(plan, "Mul", x, beta);
  return scaled(plan, gradient,
                chosen(plan, comparison(plan, "Gt", steep, constantLike(plan, threshold, x)),
                       constantLike(plan, 1, x), computed(plan, "Sigmoid", steep)));
}

/// Returns the gradient of elu from its input, or from its output where `isResult`.
View eluGradient(Plan &plan, const View &gradient, const View &x, double alpha, double scale,
                 double inputScale, bool isResult) {
  if (!plan.isGood())
    return {};
  const View below =
      isResult
          ? withNumber(plan, "Mul", withNumber(plan, "Add", x, alpha * scale), inputScale)
          : withNumber(plan, "Mul", computed(plan, "Exp", withNumber(plan, "Mul", x, inputScale)),
                       alpha * scale * inputScale);
  return scaled(plan, gradient,
                chosen(plan, comparison(plan, "Gt", x, plan.constant(0, floatOf(x.type))),
                       constantLike(plan, scale, x), below));
}

/// Gradients of silu(a) * b for the halves a and b of a dim.
void swiGluGradient(Plan &plan, const View &gradient, const View &x, int64_t dim, const View &out) {
  const int64_t axis = plan.axisOf(dim, x.dims.size());
  if (plan.isGood() && (x.dims.empty() || x.dims[size_t(axis)] % 2))
    plan.reject("dim %lld of %s has no halves", (long long)dim, textOf(x.dims).c_str());
  if (plan.isGood() && out.dims != x.dims)
    plan.reject("out %s must have the dims of x %s", textOf(out.dims).c_str(),
                textOf(x.dims).c_str());
  if (!plan.isGood())
    return;
  const int64_t half = x.dims[size_t(axis)] / 2;
  const View a = part(x, size_t(axis), 0, half), b = part(x, size_t(axis), half, half);
  const View s = computed(plan, "Sigmoid", a);
  const View silu = scaled(plan, a, s);
  // s * (1 + a * (1 - s)) = s + silu * (1 - s)
  const View rest = withNumber(plan, "Add", withNumber(plan, "Mul", s, -1), 1);
  const View slope = combined(plan, "Add", s, scaled(plan, silu, rest));
  plan.write(scaled(plan, scaled(plan, gradient, b), slope), part(out, size_t(axis), 0, half));
  plan.write(scaled(plan, gradient, silu), part(out, size_t(axis), half, half));
}

/// Adds the rows of gradients to the rows that indices name, but for one of them.
View embeddingGradient(Plan &plan, const View &gradient, const View &indices, int64_t rows,
                       int64_t ignored) {
  if (plan.isGood() && (gradient.dims.empty() || rows < 1 ||
                        countOf(gradient.dims) != countOf(indices.dims) * gradient.dims.back()))
    plan.reject("grad %s must have a row for each index %s, and numWeights be positive",
                textOf(gradient.dims).c_str(), textOf(indices.dims).c_str());
  if (!plan.isGood())
    return {};
  const int64_t count = countOf(indices.dims), width = gradient.dims.back();
  const View places = plan.reshaped(plan.dense(indices, ACL_INT64), {count, 1});
  View given = plan.reshaped(plan.dense(gradient, ACL_FLOAT), {count, width});
  given = chosen(plan, comparison(plan, "Eq", places, plan.constant(double(ignored), ACL_INT64)),
                 plan.constant(0, ACL_FLOAT), given);
  const View none = plan.make(ACL_FLOAT, {rows, width});
  plan.copy(plan.broadcast(plan.constant(0, ACL_FLOAT), none.dims), none);
  return plan.apply("ScatterNdAdd", {none, places, given}, {{ACL_FLOAT, none.dims}})[0];
}

} // namespace

ACLNN_FUNCTION(HardswishBackward,
               (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out), out,
               hardswishGradient(plan, IN(gradOutput), IN(self)))
ACLNN_FUNCTION(HardsigmoidBackward,
               (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out), out, [&] {
                 const View gradient = IN(gradOutput), x = IN(self);
                 return slopeBetween(plan, gradient, x, -3, 3, constantLike(plan, 1 / 6.0, x),
                                     constantLike(plan, 0, x));
               }())
ACLNN_FUNCTION(HardtanhBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *min,
                const aclScalar *max, aclTensor *out),
               out, [&] {
                 const View gradient = IN(gradOutput), x = IN(self);
                 return slopeBetween(plan, gradient, x, plan.number(min, "min"),
                                     plan.number(max, "max"), constantLike(plan, 1, x),
                                     constantLike(plan, 0, x));
               }())
ACLNN_FUNCTION(LeakyReluBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *negativeSlope,
                bool, aclTensor *out),
               out,
               leakyGradient(plan, IN(gradOutput), IN(self),
                             plan.number(negativeSlope, "negativeSlope")))
ACLNN_FUNCTION(SoftplusBackward,
               (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *beta,
                const aclScalar *threshold, aclTensor *gradInput),
               gradInput,
               softplusGradient(plan, IN(gradOutput), IN(self), plan.number(beta, "beta"),
                                plan.number(threshold, "threshold")))
ACLNN_FUNCTION(EluBackward,
               (const aclTensor *gradOutput, const aclScalar *alpha, const aclScalar *scale,
                const aclScalar *inputScale, bool isResult, const aclTensor *selfOrResult,
                aclTensor *gradInput),
               gradInput,
               eluGradient(plan, IN(gradOutput), IN(selfOrResult), plan.number(alpha, "alpha"),
                           plan.number(scale, "scale"), plan.number(inputScale, "inputScale"),
                           isResult))
ACLNN_FUNCTION(EmbeddingDenseBackward,
               (const aclTensor *grad, const aclTensor *indices, uint64_t numWeights,
                uint64_t paddingIdx, bool scaleGradByFreq, const aclTensor *out),
               out,
               (scaleGradByFreq ? plan.reject("scaleGradByFreq must be false") : void(),
                embeddingGradient(plan, IN(grad), IN(indices), int64_t(numWeights),
                                  int64_t(paddingIdx))))

aclnnStatus aclnnSwiGluGradGetWorkspaceSize(const aclTensor *yGrad, const aclTensor *x, int64_t dim,
                                            const aclTensor *out, uint64_t *size,
                                            aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(yGrad, "yGrad"), given = plan.input(x, "x"),
             y = plan.output(out, "out");
  swiGluGradient(plan, gradient, given, dim, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(SwiGluGrad)

aclnnStatus aclnnApplyAdamWV2GetWorkspaceSize(aclTensor *varRef, aclTensor *mRef, aclTensor *vRef,
                                              aclTensor *maxGradNormOptionalRef,
                                              const aclTensor *grad, const aclTensor *step,
                                              float lr, float beta1, float beta2, float weightDecay,
                                              float eps, bool amsgrad, bool maximize,
                                              uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View variable = plan.input(varRef, "varRef"), m = plan.input(mRef, "mRef"),
             v = plan.input(vRef, "vRef"), gradient = plan.input(grad, "grad"),
             steps = plan.input(step, "step"),
             most = plan.input(maxGradNormOptionalRef, "maxGradNormRef", !amsgrad);
  if (plan.isGood() && (countOf(steps.dims) != 1 || gradient.dims != variable.dims))
    plan.reject("step must have one element, and grad the dims of varRef");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View g = withNumber(plan, "Mul", plan.dense(gradient, ACL_FLOAT), maximize ? -1 : 1);
  auto blend = [&](const View &old, const View &recent, double share) {
    return sum(plan, "Add", withNumber(plan, "Mul", plan.dense(old, ACL_FLOAT), share), recent,
               1 - share);
  };
  const View first = blend(m, g, double(beta1)),
             second = blend(v, scaled(plan, g, g), double(beta2));
  // 1 - beta^step, where step counts from 1.
  const View count = plan.reshaped(plan.dense(steps, ACL_FLOAT), {});
  auto correction = [&](double beta) {
    const View raised = power(plan, plan.constant(beta, ACL_FLOAT), count);
    return withNumber(plan, "Add", withNumber(plan, "Mul", raised, -1), 1);
  };
  View peak = second;
  if (amsgrad)
    peak = combined(plan, "Maximum", plan.dense(most, ACL_FLOAT), second);
  const View size2 =
      computed(plan, "Sqrt", combined(plan, "RealDiv", peak, correction(double(beta2))));
  const View change =
      combined(plan, "RealDiv", combined(plan, "RealDiv", first, correction(double(beta1))),
               withNumber(plan, "Add", size2, double(eps)));
  const View kept = withNumber(plan, "Mul", plan.dense(variable, ACL_FLOAT),
                               1 - double(lr) * double(weightDecay));
  plan.write(sum(plan, "Sub", kept, change, double(lr)), plan.output(varRef, "varRef"));
  plan.write(first, plan.output(mRef, "mRef"));
  plan.write(second, plan.output(vRef, "vRef"));
  if (amsgrad)
    plan.write(peak, plan.output(maxGradNormOptionalRef, "maxGradNormRef"));
  return plan.finish(size, executor);
}
ACLNN_RUN(ApplyAdamWV2)
