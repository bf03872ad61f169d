//===-- FusedActivation.h - activations behind fused operators ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_FUSEDACTIVATION_H
#define OPENATC_KERNELS_NN_FUSEDACTIVATION_H

#include "kernels/core/Support.h"
#include "kernels/nn/CellActivations.h"

namespace atc::kernels {

/// The attributes `activation`, with its parameters: a function of recurrent cells, "Clip" to
/// [alpha, beta], or "Silu", x * sigmoid(x). Without a name there is no activation.
class FusedActivation {
public:
  /// Reads the attributes. Returns false and fails the call where they do not fit.
  bool read(Context &c) {
    const String name = c.text("activation", "");
    isClip = equal(name, "Clip");
    isSilu = equal(name, "Silu");
    function = Activation::named(name);
    if (name.size && !isClip && !isSilu && function.function == Activation::Unknown) {
      c.fail("the activation is unknown");
      return false;
    }
    const List<double> params = c.numbers("activation_params");
    if (params.size > 0)
      function.alpha = params[0];
    if (params.size > 1)
      function.beta = params[1];
    if (c.has("activation_alpha"))
      function.alpha = c.number("activation_alpha", 0);
    if (c.has("activation_beta"))
      function.beta = c.number("activation_beta", 0);
    return true;
  }

  /// Returns whether there is an activation.
  explicit operator bool() const {
    return isClip || isSilu || function.function != Activation::Unknown;
  }

  /// Returns whether the activation is a Clip, and its bounds.
  bool clips(float &low, float &high) const {
    low = float(function.alpha);
    high = float(function.beta);
    return isClip;
  }

  /// Applies the activation to `count` elements in place.
  void apply(float *x, int64_t count) const {
    float low, high;
    if (clips(low, high)) {
      for (int64_t i = 0; i < count; ++i)
        x[i] = minimum(maximum(x[i], low), high);
    } else if (isSilu) {
      for (int64_t i = 0; i < count; ++i)
        x[i] /= 1 + fast::exp(-x[i]);
    } else {
      function.apply(x, count);
    }
  }

private:
  Activation function;
  bool isClip = false, isSilu = false;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_FUSEDACTIVATION_H
