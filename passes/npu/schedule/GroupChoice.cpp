//===-- GroupChoice.cpp - groups of layers as text ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/GroupChoice.h"

#include "mlir/Support/LLVM.h"

#include <utility>

using namespace mlir;

namespace atc::npu {

std::string textOf(ArrayRef<Group> groups) {
  std::string text;
  auto add = [&](unsigned kernels, int64_t parts) {
    text += (text.empty() ? "" : " ") + std::to_string(kernels) + "/" + std::to_string(parts);
  };
  unsigned whole = 0; // kernels before this one that run on the whole batch
  for (const Group &group : groups) {
    if (group.parts == 1) {
      whole += group.end - group.begin;
      continue;
    }
    if (whole)
      add(std::exchange(whole, 0), 1);
    add(group.end - group.begin, group.parts);
    if (group.isInterleaved)
      text += "i";
  }
  if (whole)
    add(whole, 1);
  return text;
}

std::optional<SmallVector<Group>> parseGroups(StringRef text, unsigned count) {
  SmallVector<Group> groups;
  unsigned next = 0;
  SmallVector<StringRef> words;
  text.split(words, ' ');
  for (StringRef word : words) {
    unsigned kernels;
    int64_t parts;
    auto [first, second] = word.split('/');
    const bool isInterleaved = second.consume_back("i");
    if (first.getAsInteger(10, kernels) || second.getAsInteger(10, parts) || kernels < 1 ||
        parts < 1 || (isInterleaved && parts == 1) || kernels > count - next)
      return std::nullopt;
    for (unsigned i = 0; i < kernels && parts == 1; ++i)
      groups.push_back({next + i, next + i + 1, 1});
    if (parts > 1)
      groups.push_back({next, next + kernels, parts, isInterleaved});
    next += kernels;
  }
  if (next != count)
    return std::nullopt;
  return groups;
}

ArrayRef<GroupAssumptions> otherAssumptions() {
  static constexpr GroupAssumptions list[] = {
      {0.9, 1, 1},   {0.9, 0.5, 1}, {0.9, 0, 3},   {0.9, 0, 0.3}, {0.7, 0, 0.3}, {0.5, 0, 0.3},
      {0.7, 1, 1},   {0.7, 0, 1},   {0.7, 0.5, 3}, {1.1, 0, 1},   {1.1, 1, 1},   {0.5, 0, 1},
      {0.5, 0.5, 1}, {0.5, 1, 3},   {0.9, 1, 3},   {0.9, 0.5, 6}, {1.1, 0.5, 3}, {0.3, 0.5, 1},
      {0.9, 0.2, 1}, {0.7, 0.2, 3}, {0.9, 1, 10}};
  return list;
}

} // namespace atc::npu
