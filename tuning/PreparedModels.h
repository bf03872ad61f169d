//===-- PreparedModels.h - models lowered as far as nothing is chosen -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_PREPAREDMODELS_H
#define OPENATC_TUNING_PREPAREDMODELS_H

#include "driver/Compiler.h"

#include <mutex>
#include <vector>

namespace atc::tuning {

/// Lends out one model, lowered to the first pass that reads choices: most of a compilation reads,
/// folds and packs weights, which is the same with all choices. Each borrower has a context of its
/// own, so that there are as many copies of the weights as borrowers at a time. Threads may share
/// the object, which outlives its loans.
class PreparedModels {
  struct Entry {
    std::unique_ptr<mlir::MLIRContext> context;
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< null: a compilation begins with the import
    unsigned uses = 0;
  };

public:
  /// A context that nobody else uses, and a module in it, which stays as it is. Given back when the
  /// object dies.
  class Loan {
  public:
    /// Takes what `owner` gets back.
    Loan(PreparedModels &owner, Entry entry) : owner(&owner), entry(std::move(entry)) {}
    Loan(Loan &&) = delete;
    ~Loan() { owner->giveBack(std::move(entry)); }

    /// Returns the context, also where there is no module.
    mlir::MLIRContext &context() { return *entry.context; }
    /// Returns the module; null where the model cannot be prepared.
    mlir::ModuleOp module() { return entry.module.get(); }

  private:
    PreparedModels *owner;
    Entry entry;
  };

  /// Takes the options of the compilations but for choices and proposals.
  explicit PreparedModels(driver::CompilerOptions options) : options(std::move(options)) {}

  /// Returns a model that nobody else borrows, lowered anew where all that are there are lent.
  Loan lend();

private:
  void giveBack(Entry entry);

  const driver::CompilerOptions options;
  std::mutex lock;
  std::vector<Entry> idle;
  bool isPossible = true;
};

} // namespace atc::tuning

#endif // OPENATC_TUNING_PREPAREDMODELS_H
