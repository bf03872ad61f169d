//===-- WinogradForms.h - the forms of a 3x3 convolution --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_WINOGRADFORMS_H
#define OPENATC_PASSES_KERNEL_PACK_WINOGRADFORMS_H

#include "passes/kernel/pack/WinogradWeights.h"

#include <optional>
#include <string>

namespace atc::cpu {

/// A form that a convolution can have; without `form` the direct one.
struct WinogradOption {
  std::optional<Winograd> form;
  double cost;        ///< vector operations
  double error = 0;   ///< estimated, as a part of the range
  int64_t growth = 0; ///< bytes that the weights are larger than those of the direct form
};

/// The forms of a convolution, by growing weights; the direct one is the first.
struct WinogradForms {
  llvm::SmallVector<WinogradOption, 3> options;
  size_t chosen = 0;      ///< the fastest, where nothing else was asked for
  bool isGiven = false;   ///< whether the choice stays whatever it costs
  bool isLimited = false; ///< whether a faster form gave way to the limit of the model's weights
  std::string inexact;    ///< why forms are missing

  const WinogradOption &option() const { return options[chosen]; }
};

/// Returns the forms of a convolution whose estimated error is `maxError` of the range at most and
/// which are faster than the direct one and than those of smaller weights; with `given` positions
/// (0: the direct form) that form alone beside the direct one, however fast it is.
WinogradForms findWinogradForms(const WinogradSizes &sizes, const DirectFilter &filter,
                                double maxError, std::optional<int64_t> given = std::nullopt);

/// Takes smaller weights, those that cost the fewest operations per byte first, until the weights
/// of all convolutions grow by `limit` bytes at most. Choices that were given stay.
void limitWinogradGrowth(llvm::ArrayRef<WinogradForms *> convolutions, double limit);

} // namespace atc::cpu

#endif // OPENATC_PASSES_KERNEL_PACK_WINOGRADFORMS_H
