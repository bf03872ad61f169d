//===-- ControlFlowState.h - conditions and arrays of a graph while it is imported -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H
#define OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H

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

/// What the nodes of v1 control flow leave behind besides values. Graph ops have no
/// effects, so both sides of a Switch are computed and Merge chooses.
struct Flow {
  /// By tensors of Switch, by the names of all other nodes. No entry: unconditional.
  llvm::StringMap<Guards> guards;
  /// The elements of a TensorArray by the tensor that stands for its state; an element
  /// that was not written is null.
  llvm::StringMap<llvm::SmallVector<mlir::Value>> arrays;
};

/// Adds what is not there yet.
void addGuards(Guards &to, llvm::ArrayRef<Guard> more);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_CONTROLFLOWSTATE_H
