//===-- DynamicRange.h - products of weights in bytes with real values ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_OPS_DYNAMICRANGE_H
#define OPENATC_FRONTENDS_TFLITE_OPS_DYNAMICRANGE_H

#include "frontends/tflite/OpContext.h"

namespace atc::tflite {

/// Reports whether an operator multiplies real values by a constant filter of int8 with one scale
/// per output (or one in all), in a model whose target multiplies integers. TensorFlow Lite rounds
/// such values to bytes at run time.
bool hasDynamicRange(OpContext &c);

/// Returns the convolution of `image` [n, c, h, w] with the filter in input 1 of such an operator,
/// and its bias. Each item of the batch has a scale of its own.
Value convolveBytes(OpContext &c, Value image, const Dims &permutation,
                    const OnnxAttributes &attributes);

/// Returns the product of `rows` [n, k] with the filter in input 1 [outputs, k] of such an
/// operator, and its bias. Each row has a scale of its own.
Value multiplyBytes(OpContext &c, Value rows);

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_OPS_DYNAMICRANGE_H
