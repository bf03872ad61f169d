//===-- CellActivations.h - activation functions of recurrent operators ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_CELLACTIVATIONS_H
#define OPENATC_KERNELS_NN_CELLACTIVATIONS_H

#include "kernels/core/Support.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

/// An activation function with its parameters, which are set to the operator's defaults.
struct Activation {
  enum Function : uint8_t {
    Unknown,
#define CELL_FUNCTION(Name, TakesAlpha, TakesBeta, Alpha, Beta) Name,
#include "kernels/core/CellFunctions.def"
  };
  Function function = Unknown;
  bool hasAlpha = false, hasBeta = false; ///< the parameters that the function takes
  double alpha = 0, beta = 0;

  /// Returns the function of that name, in any case; Unknown for other names.
  static Activation named(String name) {
    auto is = [&](const char *text) {
      if (__builtin_strlen(text) != name.size)
        return false;
      for (uint64_t i = 0; i < name.size; ++i)
        if ((name.data[i] | 0x20) != (text[i] | 0x20))
          return false;
      return true;
    };
#define CELL_FUNCTION(Name, TakesAlpha, TakesBeta, Alpha, Beta)                                    \
  if (is(#Name))                                                                                   \
    return {Name, TakesAlpha, TakesBeta, Alpha, Beta};
#include "kernels/core/CellFunctions.def"
    return {};
  }

  /// Applies the function to `count` elements in place.
  template <typename F> void apply(F *x, int64_t count) const {
    const F a = F(alpha), b = F(beta);
    auto each = [&](auto fn) {
      // Blocks of a fixed size become vectors, however few elements there are.
      constexpr int64_t block = 16;
      int64_t i = 0;
      for (; i + block <= count; i += block)
        for (int64_t l = 0; l < block; ++l)
          x[i + l] = fn(x[i + l]);
      for (; i < count; ++i)
        x[i] = fn(x[i]);
    };
    switch (function) {
    case Relu:
      return each([](F v) { return v > 0 ? v : F(0); });
    case Tanh:
      return each([](F v) { return fast::tanh(v); });
    case Sigmoid:
      return each([](F v) { return fast::sigmoid(v); });
    case Affine:
      return each([=](F v) { return a * v + b; });
    case LeakyRelu:
      return each([=](F v) { return v >= 0 ? v : a * v; });
    case ThresholdedRelu:
      return each([=](F v) { return v > a ? v : F(0); });
    case ScaledTanh:
      return each([=](F v) { return a * fast::tanh(b * v); });
    case HardSigmoid:
      return each([=](F v) {
        v = a * v + b;
        v = v > 1 ? F(1) : v;
        return v < 0 ? F(0) : v;
      });
    case Elu:
      return each([=](F v) { return v >= 0 ? v : a * F(math::expm1(double(v))); });
    case Softsign:
      return each([](F v) { return v / (1 + fast::abs(v)); });
    case Softplus:
      return each([](F v) {
        // log(1 + e^v) without overflow.
        const F positive = v > 0 ? v : F(0);
        return positive + F(math::log1p(math::exp(-double(fast::abs(v)))));
      });
    case Unknown:
      return;
    }
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_CELLACTIVATIONS_H
