//===-- ScalarMath.h - formulas of elementwise ops as arith and math -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_SCALARMATH_H
#define OPENATC_DIALECTS_GRAPH_SCALARMATH_H

#include "dialects/graph/Graph.h"

namespace atc::graph {

/// The activation of `x`. `x` is a float, or a vector of floats; `slope` (the
/// slope of a prelu, null for the other kinds) has the type of `x`.
mlir::Value buildActivation(mlir::OpBuilder &builder, mlir::Location loc, ActivationAttr activation,
                            mlir::Value x, mlir::Value slope = {});

/// A constant of the type of `like`, a splat when it is a vector. Integers take
/// the nearest value they can hold.
mlir::Value buildScalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like,
                                double value, bool isUnsigned = false);

/// The value of an integer type nearest to `value`; toward zero between two,
/// and 0 for NaN.
llvm::APInt saturateToInteger(double value, unsigned width, bool isUnsigned);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_SCALARMATH_H
