//===-- ControlFlowState.h - conditions and lists of a graph while it is imported -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H
#define OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H

#include <optional>

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace atc::tf_import {

/// A value exists only where `predicate` is `side`.
struct Guard {
  mlir::Value predicate;
  bool side;
  bool operator==(const Guard &other) const = default;
};

using Guards = llvm::SmallVector<Guard, 2>;

/// Collects the results of v1 condition nodes besides values. Graph ops have no
/// effects, so that both sides of a Switch can be computed and Merge chooses.
struct Flow {
  /// The guards of each tensor of a Switch, and of each other node by its name. A missing entry is
  /// unconditional.
  llvm::StringMap<Guards> guards;
};

/// Adds what is not there yet.
void addGuards(Guards &to, llvm::ArrayRef<Guard> more);

/// A TensorArray or TensorList at one moment. It is in one of four forms:
///   empty     nothing was written; reads are zeros of the item's shape
///   elements  values at indices that are known; null where nothing was written
///   stacked   one tensor [count, item...]
///   sequence  a value of graph::SequenceType, for items of dynamic shape or many elements
struct TensorList {
  mlir::Type element;
  /// Dims of an item, -1 where not known; nothing where not even their number is.
  std::optional<llvm::SmallVector<int64_t>> item;
  int64_t count = -1; ///< of items; -1: only known when the model runs
  mlir::Value size;   ///< `count` as a scalar; null where neither is known
  /// Whether writes may add items, so that `count` and `size` are the fewest that it has.
  bool grows = false;
  std::optional<llvm::SmallVector<mlir::Value>> elements;
  mlir::Value stacked, sequence;

  /// Returns whether nothing was stored.
  bool isEmpty() const { return !elements && !stacked && !sequence; }
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H
