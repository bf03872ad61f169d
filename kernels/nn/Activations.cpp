//===-- Activations.cpp - the activation functions of neural networks -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Unary.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

ATC_KERNEL(Relu) {
  mapNumbers(*this, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
}

ATC_KERNEL(LeakyRelu) {
  const double alpha = number("alpha", 0.01);
  mapFloats(*this, 1, [=](auto x) { return x < 0 ? x * decltype(x)(alpha) : x; });
}

ATC_KERNEL(ThresholdedRelu) {
  const double alpha = number("alpha", 1);
  mapFloats(*this, 1, [=](auto x) { return x > decltype(x)(alpha) ? x : decltype(x)(0); });
}

ATC_KERNEL(Elu) {
  const double alpha = number("alpha", 1);
  mapFloats(*this, 40, [=](auto x) { return x < 0 ? alpha * math::expm1(x) : double(x); });
}

ATC_KERNEL(Selu) {
  const double alpha = number("alpha", 1.67326319217681884765625);
  const double gamma = number("gamma", 1.05070102214813232421875);
  mapFloats(*this, 40,
            [=](auto x) { return gamma * (x < 0 ? alpha * math::expm1(x) : double(x)); });
}

ATC_KERNEL(Celu) {
  const double alpha = number("alpha", 1);
  mapFloats(*this, 40, [=](auto x) {
    const double below = alpha * math::expm1(x / alpha);
    return (x < 0 ? 0 : double(x)) + (below < 0 ? below : 0);
  });
}

ATC_KERNEL(Gelu) {
  if (is("approximate", "none", "tanh"))
    mapFloats(*this, 30, [](auto x) { return fast::geluTanh(x); });
  else
    mapFloats(*this, 30, [](auto x) { return fast::gelu(x); });
}

ATC_KERNEL(Sigmoid) {
  mapFloats(*this, 20, [](auto x) { return fast::sigmoid(x); });
}

ATC_KERNEL(Swish) {
  const double alpha = number("alpha", 1);
  mapFloats(*this, 20, [=](auto x) { return x * fast::sigmoid(decltype(x)(alpha) * x); });
}

ATC_KERNEL(HardSigmoid) {
  const double alpha = number("alpha", 0.2), beta = number("beta", 0.5);
  mapFloats(*this, 2, [=](auto x) {
    using N = decltype(x);
    const N line = N(alpha) * x + N(beta);
    return line < 0 ? N(0) : line > 1 ? N(1) : line;
  });
}

ATC_KERNEL(HardSwish) {
  mapFloats(*this, 2, [](auto x) {
    using N = decltype(x);
    const N line = x / 6 + N(0.5);
    return x * (line < 0 ? N(0) : line > 1 ? N(1) : line);
  });
}

ATC_KERNEL(Softplus) {
  mapFloats(*this, 80, [](auto x) { return math::softplus(x); });
}
ATC_KERNEL(Softsign) {
  mapFloats(*this, 4, [](auto x) { return x / (1 + fast::abs(x)); });
}
ATC_KERNEL(Mish) {
  mapFloats(*this, 100, [](auto x) { return x * math::tanh(math::softplus(x)); });
}

ATC_KERNEL(Shrink) {
  const double bias = number("bias", 0), lambd = number("lambd", 0.5);
  mapNumbers(*this, [=](auto x) {
    const double wide = double(x);
    return wide < -lambd ? wide + bias : wide > lambd ? wide - bias : 0.0;
  });
}

} // namespace atc::kernels
