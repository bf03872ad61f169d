//===-- JoinMoves.cpp - random changes of joined launches -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/JoinMoves.h"

#include "passes/npu/schedule/JoinChoice.h"

namespace atc::tuning {

/// Returns for each launch whether it is joined with the one before.
static std::vector<bool> jointsOf(llvm::ArrayRef<unsigned> lengths) {
  std::vector<bool> joints;
  for (unsigned length : lengths)
    for (unsigned i = 0; i < length; ++i)
      joints.push_back(i > 0);
  return joints;
}

/// Returns the sum of the numbers in a text, as far as it has any.
static unsigned countOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  unsigned count = 0, number = 0;
  for (llvm::StringRef word : words)
    if (!word.getAsInteger(10, number))
      count += number;
  return count;
}

std::string moveRuns(llvm::StringRef text, llvm::StringRef longest, const Draw &draw) {
  constexpr size_t maxChanges = 4;
  const unsigned count = countOf(longest);
  auto now = npu::parseRuns(text, count), max = npu::parseRuns(longest, count);
  if (!now || !max)
    return "";
  std::vector<bool> joints = jointsOf(*now);
  const std::vector<bool> possible = jointsOf(*max);
  std::vector<size_t> joinable;
  for (size_t i = 0; i < possible.size(); ++i)
    if (possible[i])
      joinable.push_back(i);
  if (joinable.empty())
    return "";
  for (size_t changes = 1 + draw(maxChanges); changes; --changes) {
    const size_t index = joinable[draw(joinable.size())];
    joints[index] = !joints[index];
  }
  llvm::SmallVector<unsigned> lengths;
  for (bool isJoined : joints)
    if (isJoined)
      ++lengths.back();
    else
      lengths.push_back(1);
  return npu::textOfRuns(lengths);
}

} // namespace atc::tuning
