//===-- NearestName.h - the name that a user may have meant -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whoever reports an unknown name (of a chip, a node, a flag, a pass) names the nearest known one.

#ifndef OPENATC_SUPPORT_NEARESTNAME_H
#define OPENATC_SUPPORT_NEARESTNAME_H

#include <string>
#include <string_view>
#include <vector>

namespace atc {

/// Returns the candidate that `name` is most likely a misspelling of, by the number of characters
/// that differ; upper and lower case count as equal, and a candidate that contains the name is
/// near. Empty where none is near.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);

/// Returns `; did you mean "conv1"?` with the nearest candidate, or nothing where none is near.
std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates);

} // namespace atc

#endif
