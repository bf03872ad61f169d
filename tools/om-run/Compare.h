//===-- Compare.h - finds the first layer that is wrong -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_COMPARE_H
#define OPENATC_TOOLS_OMRUN_COMPARE_H

#include "openatc/om.hpp"
#include "tools/om-run/Reference.h"

#include <string>
#include <vector>

namespace atc::tools {

/// How far a tensor that a launch made is from the reference.
struct TensorError {
  std::string tensor, kernel;
  uint32_t launch = 0;
  double maxAbs = 0;  ///< infinite where only one side is NaN or infinite
  double ofRange = 0; ///< maxAbs over the reference's max - min
  double cosine = 1;  ///< of the angle between both
};

struct Comparison {
  double tolerance = 0;            ///< of the reference's range
  std::vector<TensorError> errors; ///< in the order of the schedule
  size_t unknown = 0;              ///< tensors that the reference has not
  std::vector<std::string> faults; ///< one coded line each

  bool isBad(const TensorError &error) const { return !(error.ofRange <= tolerance); }
  const TensorError *firstBad() const;
};

/// Runs the model once and compares every tensor as soon as the launch that
/// makes it has run, for its memory is used again later.
Comparison compareWith(const Reference &reference, double tolerance, const om::Model &model,
                       om::Session &session, const std::vector<const void *> &inputs,
                       const std::vector<void *> &outputs);

void printComparison(const Comparison &comparison);
void printComparisonJson(const Comparison &comparison, const om::Model &model,
                         const std::string &reference);

} // namespace atc::tools

#endif
