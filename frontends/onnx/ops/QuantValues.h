//===-- QuantValues.h - values of quantized operators ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_QUANTVALUES_H
#define OPENATC_FRONTENDS_ONNX_OPS_QUANTVALUES_H

#include "frontends/onnx/NodeContext.h"

namespace atc::onnx_import {

/// Return the types of real numbers and of sums of integers.
mlir::Type f32(NodeContext &n);
mlir::Type i32(NodeContext &n);

/// Returns a scale or zero point, reshaped so that it broadcasts over a tensor of `rank` dims: one
/// value, or one per index of `axis`.
mlir::Value parameter(NodeContext &n, unsigned index, int64_t axis, int64_t rank);

/// Returns scale, zero point and storage type as one quantized type, where they are constants that
/// such a type can represent; null otherwise. With `perAxis` there may be one per index of an axis.
mlir::Type knownType(NodeContext &n, unsigned scaleIndex, unsigned zeroIndex, mlir::Type stored,
                     int64_t axis, bool perAxis);

/// Returns the elements of `input` as integers of a quantized type.
mlir::Value quantize(NodeContext &n, mlir::Value input, mlir::Type type);
/// Returns the numbers that integers of a quantized type stand for.
mlir::Value dequantize(NodeContext &n, mlir::Value input, mlir::Type type);
/// Returns the numbers of a bias, integers whose scales are those of the input times those of the
/// filter.
mlir::Value dequantizeBias(NodeContext &n, mlir::Value bias, mlir::Type input, mlir::Type filter);

/// Builds saturate(round(x) + zeroPoint) with the range of `type`; x and result are f32.
mlir::Value saturate(NodeContext &n, mlir::Value scaled, mlir::Value zeroPoint, mlir::Type type);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_QUANTVALUES_H
