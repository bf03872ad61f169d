//===-- JoinChoice.cpp - runs of launches as text -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/JoinChoice.h"

#include "llvm/ADT/StringExtras.h"

namespace atc::npu {

std::string textOfRuns(llvm::ArrayRef<unsigned> lengths) {
  return llvm::join(llvm::map_range(lengths, [](unsigned n) { return std::to_string(n); }), " ");
}

std::optional<llvm::SmallVector<unsigned>> parseRuns(llvm::StringRef text, unsigned count) {
  llvm::SmallVector<unsigned> lengths;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  unsigned left = count;
  for (llvm::StringRef word : words) {
    unsigned length = 0;
    if (word.getAsInteger(10, length) || length < 1 || length > left)
      return std::nullopt;
    lengths.push_back(length);
    left -= length;
  }
  return left ? std::nullopt : std::optional(lengths);
}

} // namespace atc::npu
