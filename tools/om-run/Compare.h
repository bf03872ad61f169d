//===-- Compare.h - finds the first layer that differs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_COMPARE_H
#define OPENATC_TOOLS_OMRUN_COMPARE_H

#include "openatc/om.hpp"
#include "tools/om-run/Reference.h"

#include <optional>
#include <string>
#include <vector>

namespace atc::tools {

/// The difference of a launch's output from the reference.
struct TensorError {
  std::string tensor, kernel;
  uint32_t launch = 0;
  double maxAbs = 0;       ///< infinite if exactly one of both elements is NaN or infinite
  double ofRange = 0;      ///< maxAbs over the reference's max - min
  double cosine = 1;       ///< cosine similarity of both
  double tolerance = 1e-4; ///< the largest `ofRange` that fits the types of this tensor and of
                           ///< those before it
};

/// The result of a comparison.
struct Comparison {
  std::optional<double> tolerance;     ///< of the reference's range; nothing: that of each tensor
  std::vector<TensorError> errors;     ///< in the order of the schedule
  size_t unknown = 0;                  ///< number of tensors that the reference does not have
  std::vector<std::string> errorLines; ///< one line with an error code each

  /// Returns whether the error is beyond the tolerance; NaN is.
  bool isBad(const TensorError &error) const {
    return !(error.ofRange <= tolerance.value_or(error.tolerance));
  }
  /// Returns the first tensor beyond its tolerance, in the order of the schedule; null for none.
  const TensorError *firstBad() const;
  /// Adds an error line where nothing could be compared.
  void checkAnyFound();
};

/// Runs the model once and compares every tensor right after the launch that writes it, because its
/// memory is reused later.
Comparison compareWith(const Reference &reference, std::optional<double> tolerance,
                       const om::Model &model, om::Session &session,
                       const std::vector<const void *> &inputs, const std::vector<void *> &outputs);

/// Runs a model with dynamic shapes, recurrence or control flow once and compares the results of
/// its launches and of the calls of its host kernels, and its outputs. A loop over tiles is
/// compared as a whole, of other loops the first iteration. Values that are no dense tensors of
/// numbers have no counterpart.
Comparison compareDynamic(const Reference &reference, std::optional<double> tolerance,
                          const om::Model &model, om::Session &session,
                          const std::vector<om::Value> &inputs);

/// Adds the difference of a dense tensor from the reference, where that has it. `error` names the
/// tensor and its tolerance.
void compareTensor(Comparison &comparison, const Reference &reference, const om::Tensor &tensor,
                   const void *ours, TensorError error);

/// Returns what rounding to a type costs over some layers, as a part of the range.
double toleranceOf(om_dtype dtype);

/// Prints the comparison as a table, or as JSON.
void printComparison(const Comparison &comparison);
void printComparisonJson(const Comparison &comparison, const om::Model &model,
                         const std::string &reference);

} // namespace atc::tools

#endif
