//===-- IndexBound.h - how large the indices in an argument are -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INDEXBOUND_H
#define OPENATC_DIALECTS_GRAPH_INDEXBOUND_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace atc::graph {

/// An attribute of an argument whose elements are indices (integer): all are from 0 to below it.
inline constexpr llvm::StringLiteral kIndicesBelowAttr = "graph.indices_below";

/// The bounds that the model sets to an input that holds indices: element i is below sizes[i % n]
/// of n sizes, and not below 0, or with `wraps` not below -sizes[i % n]. Gathers rely on it; a run
/// checks it once on the input.
struct IndexRange {
  bool wraps = false;
  llvm::SmallVector<int64_t> sizes;

  /// Returns what is required of an argument of a function, if anything is.
  static std::optional<IndexRange> of(mlir::BlockArgument argument);
  /// Takes the attribute of an argument that require() has left on its function; null for none.
  static std::optional<mlir::NamedAttribute> take(mlir::func::FuncOp function, unsigned argument);
  /// Requires it of an argument of a function that stands for `input` of the model, by its name.
  void set(mlir::func::FuncOp function, unsigned argument, mlir::BlockArgument input) const;
  /// Requires it of the input of a function that `indices` are, if they are one in another shape, a
  /// wider type or, where there is one size, another order; adds to what is required already.
  /// Values that are computed have no bound. The attributes of arguments are set when the whole
  /// function has been imported; until then the function has them.
  void require(mlir::Value indices) const;

private:
  mlir::DenseI64ArrayAttr attribute(mlir::MLIRContext *context) const;
};

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INDEXBOUND_H
