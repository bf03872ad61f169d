//===-- Complex.h - parts of operators on complex values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_COMPLEX_H
#define OPENATC_FRONTENDS_TF_OPS_COMPLEX_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// Returns the angle of the point (x, y), from -pi to pi; 0 for the origin.
mlir::Value angleOf(NodeContext &n, mlir::Value y, mlir::Value x);

/// Returns the element type of real and imaginary part of the complex type that an attribute names;
/// null where it names another type or is left out.
mlir::Type partOfComplex(NodeContext &n, llvm::StringRef attribute);

/// A complex tensor as two real ones of one shape.
struct Complex {
  mlir::Value re, im;
};

/// Returns the Fourier transform along the last axis, not divided, of signals [..., N]. `im` is
/// null for real signals. A length above 0 cuts the signals or fills them with zeros to so many
/// elements; 0 takes all N. With `isHalf` only the first length / 2 + 1 results are returned.
/// Dims may be dynamic. Null values after an error.
Complex transformForward(NodeContext &n, Complex signal, int64_t length, bool isHalf);

/// Returns the inverse of transformForward, divided by the length. With `isHalf` the signal holds
/// the first length / 2 + 1 elements of the spectrum of a real signal; `im` is null then.
Complex transformInverse(NodeContext &n, Complex spectrum, int64_t length, bool isHalf);

/// Returns a transform whose length, of rank 0, is known only when the model runs.
Complex transformOfAnyLength(NodeContext &n, Complex signal, mlir::Value length, bool isInverse,
                             bool isHalf);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_COMPLEX_H
