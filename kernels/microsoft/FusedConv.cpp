//===-- FusedConv.cpp - com.microsoft: a convolution and what follows it --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/conv/Convolution.h"
#include "kernels/core/Broadcast.h"
#include "kernels/core/Floats.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/FusedActivation.h"

namespace atc::kernels {

/// Adds `sum`, which may broadcast, and applies the activation. `out` may be `conv`.
static void finishApart(Context &c, float *out, const Dims &shape, const float *conv,
                        const Dims &convDims, const float *sum, const Dims &sumDims,
                        const FusedActivation &activation) {
  mapPairs(c, broadcastSpace(shape, convDims, sumDims), conv, sum, out, 1,
           [](float a, float b) { return a + b; });
  parallelIf(c, shape.product(), 4,
             [&](int64_t begin, int64_t end) { activation.apply(out + begin, end - begin); });
}

/// Z may have other dims than the convolution, to which it then broadcasts as in an Add.
ATC_KERNEL(FusedConv) {
  const Tensor x = in(0), w = in(1), bias = in(2), sum = in(3);
  ConvPlan plan;
  FusedActivation activation;
  if (!activation.read(*this) || !plan.find(*this, x.dims(), w.dims()))
    return;
  if (bias && bias.count() != w.dim(0))
    return fail("% biases for % channels", bias.count(), w.dim(0));
  Dims shape = plan.result;
  if (sum && !broadcastInto(*this, shape, sum.dims()))
    return;
  const bool isApart = sum && !(sum.dims() == plan.result);
  FloatResult result;
  if (!result.make(*this, 0, x.dtype(), shape))
    return;
  float *out = result.floats(*this);
  float *conv = shape == plan.result ? out : scratch<float>(plan.result.product());
  const float *data = floatsOf(*this, x), *weights = floatsOf(*this, w);
  const float *add = sum ? floatsOf(*this, sum) : nullptr;
  ConvFinish<float> finish;
  finish.bias = bias ? floatsOf(*this, bias) : nullptr;
  finish.sum = isApart ? nullptr : add;
  if (activation && !isApart)
    finish.activation = [](const void *argument, float *elements, int64_t count) {
      static_cast<const FusedActivation *>(argument)->apply(elements, count);
    };
  finish.argument = &activation;
  if (!out || !conv || !data || !weights || (bias && !finish.bias) || (sum && !add) ||
      !convolve(*this, conv, data, weights, finish, plan))
    return;
  if (isApart)
    finishApart(*this, out, shape, conv, plan.result, add, sum.dims(), activation);
  result.store();
}

} // namespace atc::kernels
