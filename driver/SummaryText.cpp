//===-- SummaryText.cpp - what a compilation made, for people -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/SummaryText.h"

#include "support/ModelText.h"

#include "llvm/ADT/StringExtras.h"

namespace atc::driver {

/// Returns the first names of a list, and how many more there are.
static std::string listText(const std::vector<std::string> &names) {
  constexpr size_t maxShown = 4;
  const llvm::ArrayRef<std::string> shown = llvm::ArrayRef(names).take_front(maxShown);
  std::string text = llvm::join(shown, ", ");
  if (names.size() > shown.size())
    text += " and " + std::to_string(names.size() - shown.size()) + " more";
  return text.empty() ? "none" : text;
}

std::vector<std::string> describeSummary(const CompileSummary &summary, llvm::StringRef path) {
  std::vector<std::string> lines;
  std::string code;
  for (const auto &[level, bytes] : summary.images)
    code += ", code for " + level + " " + bytesText(bytes);
  lines.push_back("file     " + printable(path.str()) + ": " + bytesText(summary.fileBytes) +
                  " (weights " + bytesText(summary.weightsBytes) + code + ")");
  lines.push_back("inputs   " + listText(summary.inputs));
  lines.push_back("outputs  " + listText(summary.outputs));
  lines.push_back(
      "memory   " + bytesText(summary.arenaBytes) + " for a session" +
      (summary.scratchBytes ? ", " + bytesText(summary.scratchBytes) + " more per thread"
                            : std::string()) +
      (summary.hostCalls ? ", and the values whose shapes are known in a run" : std::string()));
  if (!summary.placement)
    lines.push_back("CPU      " + std::to_string(summary.launches) + " launches of " +
                    std::to_string(summary.kernels) + " kernels" +
                    (summary.hostCalls ? ", and " + std::to_string(summary.hostCalls) +
                                             " calls of host kernels, which take any shape"
                                       : std::string()));
  return lines;
}

} // namespace atc::driver
