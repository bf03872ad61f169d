//===-- ScalarBuilder.h - builds scalar formulas -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_SCALAR_SCALARBUILDER_H
#define OPENATC_DIALECTS_GRAPH_SCALAR_SCALARBUILDER_H

#include "dialects/graph/scalar/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace atc::graph {

/// Builds scalar (or vector) expressions at one insertion point, so that code reads like a formula.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// Creates an op and returns its result.
  template <typename Op, typename... Args> mlir::Value op(Args &&...args) const {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  /// Returns a constant of the type of `like`.
  mlir::Value constant(mlir::Value like, double value) const {
    return buildScalarConstant(builder, loc, like.getType(), value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) const { return op<mlir::arith::AddFOp>(a, b); }
  mlir::Value add(mlir::Value a, double b) const { return add(a, constant(a, b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b) const { return op<mlir::arith::SubFOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) const { return op<mlir::arith::MulFOp>(a, b); }
  mlir::Value mul(mlir::Value a, double b) const { return mul(a, constant(a, b)); }
  mlir::Value div(mlir::Value a, mlir::Value b) const { return op<mlir::arith::DivFOp>(a, b); }
  mlir::Value neg(mlir::Value a) const { return op<mlir::arith::NegFOp>(a); }
  mlir::Value abs(mlir::Value a) const { return op<mlir::math::AbsFOp>(a); }
  mlir::Value exp(mlir::Value a) const { return op<mlir::math::ExpOp>(a); }
  mlir::Value max(mlir::Value a, double b) const {
    return op<mlir::arith::MaximumFOp>(a, constant(a, b));
  }
  mlir::Value min(mlir::Value a, double b) const {
    return op<mlir::arith::MinimumFOp>(a, constant(a, b));
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, double b) const {
    return op<mlir::arith::CmpFOp>(predicate, a, constant(a, b));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    return op<mlir::arith::SelectOp>(condition, a, b);
  }

  // The activations that exist both as an operator and fused.
  mlir::Value sigmoid(mlir::Value x) const;
  mlir::Value silu(mlir::Value x) const;
  mlir::Value mish(mlir::Value x) const;
  mlir::Value softplus(mlir::Value x) const;
  mlir::Value hardSigmoid(mlir::Value x, double alpha, double beta) const;
  mlir::Value hardSwish(mlir::Value x) const;
  mlir::Value gelu(mlir::Value x, bool approximate) const;
  mlir::Value clip(mlir::Value x, double low, double high) const;
  /// Returns x < 0 ? below : x.
  mlir::Value belowZero(mlir::Value x, mlir::Value below) const;
  mlir::Value prelu(mlir::Value x, mlir::Value slope) const;
};

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_SCALAR_SCALARBUILDER_H
