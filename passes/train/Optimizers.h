//===-- Optimizers.h - update rules and learning rates --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_OPTIMIZERS_H
#define OPENATC_PASSES_TRAIN_OPTIMIZERS_H

#include "passes/train/GraphMath.h"

namespace atc::train {

/// An update rule; docs/training.md has the formulas and what each option means.
struct Optimizer {
  enum class Kind { Sgd, Adam, AdamW, Lamb, Lars, Adagrad };
  Kind kind = Kind::Sgd;
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0;
  double trust = 0.001;
  double lrDecay = 0;

  /// Returns the kind of a name; nothing where there is none.
  static std::optional<Kind> findKind(llvm::StringRef name);

  /// Returns the names of the tensors that the rule keeps per parameter, in their order.
  llvm::SmallVector<llvm::StringRef> slots() const;

  /// Returns whether the rule has moving means, which Progress::corrections are for.
  bool hasMeans() const { return kind == Kind::Adam || kind == Kind::AdamW || kind == Kind::Lamb; }

  /// The values that all parameters of an update share: float tensors of rank 0.
  struct Progress {
    mlir::Value rate;           ///< the learning rate
    mlir::Value step;           ///< the number of this update, from 1
    mlir::Value corrections[2]; ///< 1 - beta1^step and 1 - beta2^step, with hasMeans()
  };

  /// Computes one update. `slots` has the values of slots() and receives the next ones; `decays`
  /// tells whether the parameter has weight decay, and with lamb and lars a trust ratio. Of a
  /// parameter that is shared by `ranks` ranks all values are this rank's share. Returns the next
  /// value of the parameter.
  mlir::Value update(const GraphMath &g, mlir::Value parameter, mlir::Value gradient,
                     const Progress &progress, bool decays, int64_t ranks,
                     llvm::MutableArrayRef<mlir::Value> slots) const;

private:
  mlir::Value sgd(const GraphMath &g, mlir::Value parameter, mlir::Value gradient,
                  const Progress &progress, llvm::MutableArrayRef<mlir::Value> slots) const;
  mlir::Value adamMove(const GraphMath &g, mlir::Value gradient, const Progress &progress,
                       llvm::MutableArrayRef<mlir::Value> slots) const;
  mlir::Value lars(const GraphMath &g, mlir::Value parameter, mlir::Value gradient,
                   mlir::Value rate, bool decays, int64_t ranks,
                   llvm::MutableArrayRef<mlir::Value> slots) const;
};

/// A learning rate as a function of the number of updates so far; docs/training.md has the
/// formulas, which are those of openatc.schedules.
struct RateSchedule {
  std::string kind = "constant";
  double peak = 0, final = 0;
  int64_t warmup = 0, steps = 0;
  llvm::SmallVector<int64_t> milestones;
  double factor = 0.1;

  /// Returns what is wrong with the settings; empty: nothing.
  std::string findError() const;
  /// Returns the learning rate, a float of rank 0 as `updates`, the number of updates so far.
  mlir::Value rateAt(const GraphMath &g, mlir::Value updates) const;
};

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_OPTIMIZERS_H
