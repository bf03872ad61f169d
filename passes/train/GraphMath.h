//===-- GraphMath.h - builds graph ops like formulas ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_GRAPHMATH_H
#define OPENATC_PASSES_TRAIN_GRAPHMATH_H

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "mlir/IR/Builders.h"

namespace atc::train {

/// Returns the type of a ranked tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }
inline int64_t rankOf(mlir::Value value) { return typeOf(value).getRank(); }

/// Creates graph ops at one insertion point and location. Operands are static tensors that the op
/// takes; anything else is an error of the caller.
class GraphMath {
public:
  GraphMath(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Creates an op at the insertion point and returns its result.
  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) const {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  /// Returns a constant of rank 0 with the element type of `like`, a float or an integer.
  mlir::Value scalar(mlir::Value like, double value) const;
  /// Returns a float constant of the given shape and the element type of `like`.
  mlir::Value floats(mlir::Value like, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<double> values) const;
  /// Returns 0, 1, ..., count - 1 in the given shape, with an integer element type.
  mlir::Value range(mlir::Type element, llvm::ArrayRef<int64_t> shape) const;
  /// Returns the identity matrix of `size` rows.
  mlir::Value identity(mlir::Value like, int64_t size) const;
  /// Returns a tensor whose elements all are `value`.
  mlir::Value splat(mlir::RankedTensorType type, double value) const;

  /// Compute on tensors with NumPy's broadcasting; a number becomes a scalar of the other
  /// operand's element type.
  mlir::Value add(mlir::Value a, mlir::Value b) const { return make<graph::AddOp>(a, b); }
  mlir::Value add(mlir::Value a, double b) const { return add(a, scalar(a, b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b) const { return make<graph::SubOp>(a, b); }
  mlir::Value sub(double a, mlir::Value b) const { return sub(scalar(b, a), b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) const { return make<graph::MulOp>(a, b); }
  mlir::Value mul(mlir::Value a, double b) const { return mul(a, scalar(a, b)); }
  mlir::Value div(mlir::Value a, mlir::Value b) const { return make<graph::DivOp>(a, b); }
  mlir::Value neg(mlir::Value a) const { return make<graph::NegOp>(a); }
  mlir::Value exp(mlir::Value a) const { return make<graph::ExpOp>(a); }
  mlir::Value square(mlir::Value a) const { return mul(a, a); }
  mlir::Value rsqrt(mlir::Value a) const { return make<graph::RsqrtOp>(a); }
  mlir::Value sqrt(mlir::Value a) const { return make<graph::SqrtOp>(a); }

  /// Compares elements; the result is a tensor of bool.
  mlir::Value compare(mlir::Value a, graph::ComparePredicate predicate, mlir::Value b) const {
    return make<graph::CompareOp>(a, b, predicate);
  }
  /// Compares elements with a number.
  mlir::Value compare(mlir::Value a, graph::ComparePredicate predicate, double b) const {
    return compare(a, predicate, scalar(a, b));
  }
  /// Returns `a` where `condition` holds and `b` elsewhere.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    return make<graph::WhereOp>(condition, a, b);
  }
  /// Returns `value` where the condition holds and 0 elsewhere.
  mlir::Value keepWhere(mlir::Value condition, mlir::Value value) const {
    return select(condition, value, scalar(value, 0));
  }
  /// Returns 1 where the condition holds and 0 elsewhere, with the element type of `like`.
  mlir::Value indicator(mlir::Value condition, mlir::Value like) const {
    return cast(condition, typeOf(like).getElementType());
  }

  /// Return `value` with another element type, shape (row-major) or order of dims; `value` itself
  /// where nothing changes.
  mlir::Value cast(mlir::Value value, mlir::Type element) const;
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation) const;
  /// Exchanges the last two dims.
  mlir::Value transposeMatrix(mlir::Value value) const;
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims) const;
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> axes, bool keepdims = true) const {
    return reduce(graph::ReduceKind::Sum, value, axes, keepdims);
  }
  /// Combines the elements of ranks 0 to `ranks` - 1; `value` itself where there is one rank.
  mlir::Value allReduce(graph::ReduceKind kind, mlir::Value value, int64_t ranks) const;
  /// Concatenates the tensors of ranks 0 to `ranks` - 1 along dim 0.
  mlir::Value allGather(mlir::Value value, int64_t ranks) const;
  /// Returns the sum of all elements as a tensor of rank 0.
  mlir::Value sumAll(mlir::Value value) const;
  mlir::Value matmul(mlir::Value a, mlir::Value b) const { return make<graph::MatMulOp>(a, b); }
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis) const;
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> steps) const;
  /// Adds elements of `fill` before and after each dim; negative amounts crop.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                  double fill = 0) const;
  /// Puts steps[d] - 1 zeros behind each index of dim d.
  mlir::Value spread(mlir::Value value, llvm::ArrayRef<int64_t> steps) const;
  /// Sums the dims that NumPy's broadcast from `shape` to the value's shape has added.
  mlir::Value sumTo(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;

  mlir::OpBuilder &builder;
  const mlir::Location loc;
};

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_GRAPHMATH_H
