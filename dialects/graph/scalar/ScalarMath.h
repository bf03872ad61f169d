//===-- ScalarMath.h - formulas of elementwise ops as arith and math -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_SCALAR_SCALARMATH_H
#define OPENATC_DIALECTS_GRAPH_SCALAR_SCALARMATH_H

#include "dialects/graph/GraphDialect.h"

namespace atc::graph {

/// Returns whether `scalar` is a float or a vector of floats.
bool isFloatScalar(mlir::Value scalar);

/// Returns whether the elements of `tensor` are unsigned. Bool counts as unsigned: true is 1, not
/// -1.
bool hasUnsignedElements(mlir::Value tensor);

/// Builds the activation of `x`, which is a float or a vector of floats. `slope` (the slope of a
/// prelu, null for other kinds) has the type of `x`.
mlir::Value buildActivation(mlir::OpBuilder &builder, mlir::Location loc, ActivationAttr activation,
                            mlir::Value x, mlir::Value slope = {});

/// Returns a constant of type `like`, a splat for a vector. Integers are rounded and saturated.
mlir::Value buildScalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like,
                                double value, bool isUnsigned = false);

/// Returns the value of an integer type nearest to `value`, truncated toward zero; 0 for NaN.
llvm::APInt saturateToInteger(double value, unsigned width, bool isUnsigned);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_SCALAR_SCALARMATH_H
