//===-- Gradients.cpp - aclnn gradients of activations and norms -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Returns the gradient where `low` < x < `high`, times a factor there, else times another.
View slopeBetween(Plan &plan, const View &gradient, const View &x, double low, double high,
                  const View &inside, const View &outside) {
  if (!plan.isGood())
    return {};
  const View isInside =
      plan.map("LogicalAnd", {comparison(plan, "Gt", x, plan.constant(low, floatOf(x.type))),
                              comparison(plan, "Lt", x, plan.constant(high, floatOf(x.type)))});
  return times(plan, gradient, chosen(plan, isInside, inside, outside));
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
  return times(plan, gradient,
               chosen(plan, comparison(plan, "Gt", x, plan.constant(0, floatOf(x.type))),
                      constantLike(plan, 1, x), constantLike(plan, slope, x)));
}

View softplusGradient(Plan &plan, const View &gradient, const View &x, double beta,
                      double threshold) {
  if (!plan.isGood())
    return {};
  const View steep = withNumber(plan, "Mul", x, beta);
  return times(plan, gradient,
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
  return times(plan, gradient,
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
  const View silu = times(plan, a, s);
  // s * (1 + a * (1 - s)) = s + silu * (1 - s)
  const View rest = withNumber(plan, "Add", withNumber(plan, "Mul", s, -1), 1);
  const View slope = combined(plan, "Add", s, times(plan, silu, rest));
  plan.write(times(plan, times(plan, gradient, b), slope), part(out, size_t(axis), 0, half));
  plan.write(times(plan, gradient, silu), part(out, size_t(axis), half, half));
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
  const View positions = plan.reshaped(plan.dense(indices, ACL_INT64), {count, 1});
  View given = plan.reshaped(plan.dense(gradient, ACL_FLOAT), {count, width});
  given = chosen(plan, comparison(plan, "Eq", positions, plan.constant(double(ignored), ACL_INT64)),
                 plan.constant(0, ACL_FLOAT), given);
  const View none = plan.make(ACL_FLOAT, {rows, width});
  plan.copy(plan.broadcast(plan.constant(0, ACL_FLOAT), none.dims), none);
  return plan.apply("ScatterNdAdd", {none, positions, given}, {{ACL_FLOAT, none.dims}})[0];
}

} // namespace

ACLNN_FUNCTION(HardswishBackward,
               (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out), out,
               hardswishGradient(plan, IN(gradOutput), IN(self)))
ACLNN_FUNCTION(HardswishBackwardV2,
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
             maxValue = plan.input(maxGradNormOptionalRef, "maxGradNormRef", !amsgrad);
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
             second = blend(v, times(plan, g, g), double(beta2));
  // 1 - beta^step, where step counts from 1.
  const View count = plan.reshaped(plan.dense(steps, ACL_FLOAT), {});
  auto correction = [&](double beta) {
    const View raised = power(plan, plan.constant(beta, ACL_FLOAT), count);
    return withNumber(plan, "Add", withNumber(plan, "Mul", raised, -1), 1);
  };
  View peak = second;
  if (amsgrad)
    peak = combined(plan, "Maximum", plan.dense(maxValue, ACL_FLOAT), second);
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

/// Returns the axes of a tensor in front of its last `count` dims, or those dims.
static Dims axesBeside(const Dims &dims, size_t count, bool isLast) {
  Dims axes;
  for (size_t i = isLast ? dims.size() - count : 0;
       i < (isLast ? dims.size() : dims.size() - count); ++i)
    axes.push_back(int64_t(i));
  return axes;
}

static View sumOver(Plan &plan, const View &x, const Dims &axes, bool keep) {
  return axes.empty() ? x : reduced(plan, "ReduceSumD", x, axes, keep, ACL_FLOAT);
}

/// Writes the gradients of a norm of the last dims, and adds `more` to that of the input.
static void writeNormGradients(Plan &plan, const View &gradient, const View &given,
                               const View &average, const View &spread, const View &weight,
                               const Dims &shape, const View &more, const View &ofInput,
                               const View &ofWeight, const View &ofBias) {
  const int64_t width = plan.isGood() ? countOf(shape) : 1;
  const int64_t rows = plan.isGood() && width ? countOf(given.dims) / width : 0;
  if (plan.isGood() && (countOf(average.dims) != rows || countOf(spread.dims) != rows))
    plan.reject("mean and rstd must have %lld elements", (long long)rows);
  if (!plan.isGood())
    return;
  const Dims inner = axesBeside(given.dims, shape.size(), true),
             outer = axesBeside(given.dims, shape.size(), false);
  const Dims column = reducedDims(given.dims, inner, true);
  const View g = plan.dense(gradient, ACL_FLOAT),
             r = plan.reshaped(plan.dense(spread, ACL_FLOAT), column);
  const View normal = combined(plan, "Mul",
                               combined(plan, "Sub", plan.dense(given, ACL_FLOAT),
                                        plan.reshaped(plan.dense(average, ACL_FLOAT), column)),
                               r);
  if (ofInput.memory) {
    const View weighted = weight.memory ? times(plan, g, plan.dense(weight, ACL_FLOAT)) : g;
    const View first =
        withNumber(plan, "Mul", sumOver(plan, weighted, inner, true), 1 / double(width));
    const View second = withNumber(
        plan, "Mul", sumOver(plan, times(plan, weighted, normal), inner, true), 1 / double(width));
    const View result = times(
        plan, r,
        combined(plan, "Sub", combined(plan, "Sub", weighted, first), times(plan, normal, second)));
    plan.write(more.memory ? sum(plan, "Add", result, more) : result, ofInput);
  }
  if (ofWeight.memory)
    plan.write(sumOver(plan, times(plan, g, normal), outer, false), ofWeight);
  if (ofBias.memory)
    plan.write(sumOver(plan, g, outer, false), ofBias);
}

aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape,
    const aclTensor *mean, const aclTensor *rstd, const aclTensor *weightOptional,
    const aclTensor *, const aclBoolArray *, aclTensor *gradInputOut, aclTensor *gradWeightOut,
    aclTensor *gradBiasOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(gradOut, "gradOut"), given = plan.input(input, "input"),
             average = plan.input(mean, "mean"), spread = plan.input(rstd, "rstd"),
             weight = plan.input(weightOptional, "weight", true),
             ofInput = plan.output(gradInputOut, "gradInputOut", true),
             ofWeight = plan.output(gradWeightOut, "gradWeightOut", true),
             ofBias = plan.output(gradBiasOut, "gradBiasOut", true);
  const Dims shape = plan.numbers(normalizedShape, "normalizedShape");
  if (plan.isGood() && (!areLastDims(shape, given.dims) || gradient.dims != given.dims))
    plan.reject("normalizedShape %s must be the last dims of input %s, whose dims gradOut has",
                textOf(shape).c_str(), textOf(given.dims).c_str());
  writeNormGradients(plan, gradient, given, average, spread, weight, shape, {}, ofInput, ofWeight,
                     ofBias);
  return plan.finish(size, executor);
}
ACLNN_RUN(LayerNormBackward)

aclnnStatus aclnnAddLayerNormGradGetWorkspaceSize(
    const aclTensor *dy, const aclTensor *x1, const aclTensor *x2, const aclTensor *rstd,
    const aclTensor *mean, const aclTensor *gamma, const aclTensor *dsumOptional,
    const aclTensor *dxOut, const aclTensor *dgammaOut, const aclTensor *dbetaOut, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(dy, "dy"), first = plan.input(x1, "x1"),
             second = plan.input(x2, "x2"), spread = plan.input(rstd, "rstd"),
             average = plan.input(mean, "mean"), weight = plan.input(gamma, "gamma"),
             more = plan.input(dsumOptional, "dsum", true), ofInput = plan.output(dxOut, "dxOut"),
             ofWeight = plan.output(dgammaOut, "dgammaOut"),
             ofBias = plan.output(dbetaOut, "dbetaOut");
  if (plan.isGood() && (!areLastDims(weight.dims, first.dims) || gradient.dims != first.dims ||
                        second.dims != first.dims))
    plan.reject("gamma %s must have the last dims of x1 %s, whose dims dy and x2 have",
                textOf(weight.dims).c_str(), textOf(first.dims).c_str());
  if (plan.isGood())
    writeNormGradients(plan, gradient, sum(plan, "Add", plan.dense(first, ACL_FLOAT), second),
                       average, spread, weight, weight.dims, more, ofInput, ofWeight, ofBias);
  return plan.finish(size, executor);
}
ACLNN_RUN(AddLayerNormGrad)

aclnnStatus aclnnRmsNormGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *x,
                                             const aclTensor *rstd, const aclTensor *gamma,
                                             const aclTensor *dxOut, const aclTensor *dgammaOut,
                                             uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = plan.input(dy, "dy"), given = plan.input(x, "x"),
             spread = plan.input(rstd, "rstd"), weight = plan.input(gamma, "gamma"),
             ofInput = plan.output(dxOut, "dxOut"), ofWeight = plan.output(dgammaOut, "dgammaOut");
  if (plan.isGood() && (!areLastDims(weight.dims, given.dims) || gradient.dims != given.dims))
    plan.reject("gamma %s must have the last dims of x %s, whose dims dy has",
                textOf(weight.dims).c_str(), textOf(given.dims).c_str());
  const int64_t width = plan.isGood() ? countOf(weight.dims) : 1;
  if (plan.isGood() && width && countOf(spread.dims) != countOf(given.dims) / width)
    plan.reject("rstd must have %lld elements", (long long)(countOf(given.dims) / width));
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Dims inner = axesBeside(given.dims, weight.dims.size(), true),
             outer = axesBeside(given.dims, weight.dims.size(), false);
  const View g = plan.dense(gradient, ACL_FLOAT),
             r = plan.reshaped(plan.dense(spread, ACL_FLOAT), reducedDims(given.dims, inner, true));
  const View normal = times(plan, plan.dense(given, ACL_FLOAT), r);
  const View weighted = times(plan, g, plan.dense(weight, ACL_FLOAT));
  const View share = withNumber(
      plan, "Mul", sumOver(plan, times(plan, weighted, normal), inner, true), 1 / double(width));
  plan.write(times(plan, r, combined(plan, "Sub", weighted, times(plan, normal, share))), ofInput);
  plan.write(sumOver(plan, times(plan, g, normal), outer, false), ofWeight);
  return plan.finish(size, executor);
}
ACLNN_RUN(RmsNormGrad)

static View maskedSoftmax(Plan &plan, const View &x, const View &mask, double scale,
                          bool isTriangle) {
  if (isTriangle)
    plan.reject("fixTriuMask must be false: give the mask");
  if (plan.isGood() && x.dims.empty())
    plan.reject("x must have dims");
  if (!plan.isGood())
    return {};
  // A finite number hides elements, so that a row of hidden elements alone has equal shares, not
  // NaN.
  const View scores = withNumber(plan, "Mul", plan.dense(x, ACL_FLOAT), scale);
  const View shown =
      chosen(plan, plan.broadcast(mask, x.dims), plan.constant(-10000, ACL_FLOAT), scores);
  return softmaxOf(plan, "SoftmaxV2", shown, int64_t(x.dims.size()) - 1);
}
ACLNN_FUNCTION(ScaledMaskedSoftmax,
               (const aclTensor *x, const aclTensor *mask, double scale, bool fixTriuMask,
                aclTensor *y),
               y, maskedSoftmax(plan, IN(x), IN(mask), scale, fixTriuMask))
