//===-- Phase.cpp - the phases of a compilation ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Phase.h"

#include <iterator>

namespace atc::driver {

static constexpr std::string_view names[] = {"import",   "quantize", "graph", "kernels",
                                             "schedule", "programs", "emit"};
static_assert(std::size(names) == static_cast<size_t>(Phase::Emit) + 1);

std::string_view phaseName(Phase phase) { return names[static_cast<size_t>(phase)]; }

std::optional<Phase> findPhase(std::string_view name) {
  for (size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

std::string phaseNames(Phase last) {
  std::string list;
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i)
    list.append(i ? ", " : "").append(names[i]);
  return list;
}

} // namespace atc::driver
