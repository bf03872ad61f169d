//===-- GroupedRounding.h - rounds weights to few levels by groups --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_GROUPEDROUNDING_H
#define OPENATC_QUANTIZE_WEIGHTS_GROUPEDROUNDING_H

#include "quantize/weights/Moments.h"

namespace atc::quantize {

/// The form of weights that are stored in few bits.
struct GroupForm {
  int64_t bits = 4;
  int64_t groupSize = 32; ///< weights of a row that share a scale and a zero point
};

/// Rows of weights as levels: (level - zero) * scale, with a scale and a zero per group.
struct GroupedRows {
  std::vector<uint8_t> levels; ///< rows x length
  std::vector<float> scales;   ///< rows x groups
  std::vector<uint8_t> zeros;  ///< rows x groups
  int64_t rows = 0, length = 0;
  GroupForm form;

  int64_t groups() const { return (length + form.groupSize - 1) / form.groupSize; }
  /// Returns the weight that is stored at an index of `levels`.
  float value(int64_t index) const;
};

/// Rounds each weight to the nearest level of a scale and a zero point that span its group; 0
/// stays 0.
GroupedRows roundToNearest(llvm::ArrayRef<float> weights, int64_t rows, const GroupForm &form);

/// Rounds the weights of a row one after the other; those that follow absorb each one's error as
/// far as the second moments of the inputs allow (GPTQ). `matrix` is E[x x^T]. Rounds to nearest
/// where it has no inverse or the result would be worse.
GroupedRows roundByMoments(llvm::ArrayRef<float> weights, int64_t rows, const GroupForm &form,
                           llvm::ArrayRef<float> matrix);

/// Returns the root of the mean squared error of the products with the inputs, relative to that of
/// the products themselves.
double relativeError(llvm::ArrayRef<float> weights, const GroupedRows &rounded,
                     llvm::ArrayRef<float> matrix);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_GROUPEDROUNDING_H
