//===-- Convolution.h - convolutions of any number of dims ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CONVOLUTION_H
#define OPENATC_KERNELS_CONVOLUTION_H

#include "kernels/Window.h"

namespace atc::kernels {

struct ConvPlan {
  Window window;
  int64_t batch = 0, groups = 1, inChannels = 0, outChannels = 0; ///< channels of a group
  Dims result;
  /// From the dims of data and weights, and the attributes.
  bool find(Context &c, const Dims &x, const Dims &w);
};

/// y = x convolved with w, plus bias (or null). F is float or double.
template <typename F>
bool convolve(Context &c, F *y, const F *x, const F *w, const F *bias, const ConvPlan &plan);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CONVOLUTION_H
