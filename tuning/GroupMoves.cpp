//===-- GroupMoves.cpp - random changes of groups of layers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/GroupMoves.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>

using llvm::ArrayRef;

namespace atc::tuning {

using npu::Group;

std::vector<Group> paint(ArrayRef<Group> groups, unsigned begin, unsigned end, int64_t parts,
                         bool isInterleaved) {
  std::vector<Group> result;
  auto addNew = [&] {
    for (unsigned kernel = begin; kernel < end && parts == 1; ++kernel)
      result.push_back({kernel, kernel + 1, 1});
    if (parts > 1)
      result.push_back({begin, end, parts, isInterleaved});
  };
  bool added = false;
  for (const Group &group : groups) {
    if (group.begin < begin)
      result.push_back({group.begin, std::min(group.end, begin), group.parts, group.isInterleaved});
    if (!added && group.end > begin) {
      addNew();
      added = true;
    }
    if (group.end > end)
      result.push_back({std::max(group.begin, end), group.end, group.parts, group.isInterleaved});
  }
  return result;
}

std::vector<Group> interleaveRange(ArrayRef<Group> groups, ArrayRef<Group> pattern, unsigned begin,
                                   unsigned end) {
  std::vector<Group> result(groups.begin(), groups.end());
  for (const Group &group : pattern)
    if (const unsigned from = std::max(group.begin, begin), to = std::min(group.end, end);
        group.isInterleaved && from < to)
      result = paint(result, from, to, group.parts, /*isInterleaved=*/true);
  return result;
}

std::string moveGroups(ArrayRef<Group> groups, ArrayRef<int64_t> partCounts, bool mayInterleave,
                       const Draw &draw) {
  assert(!groups.empty() && !partCounts.empty());
  constexpr unsigned maxStep = 4, maxNew = 16;
  const unsigned count = groups.back().end;
  const int64_t anyParts = partCounts[draw(partCounts.size())];
  llvm::SmallVector<size_t> divided;
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].parts > 1)
      divided.push_back(i);
  auto text = [&](unsigned begin, unsigned end, int64_t parts, bool isInterleaved) {
    return npu::textOf(paint(groups, begin, end, parts, isInterleaved && parts > 1));
  };
  if (divided.empty() || draw(8) == 0) {
    const unsigned begin = draw(count), length = 1 + draw(std::min(maxNew, count - begin));
    return text(begin, begin + length, anyParts, mayInterleave && draw(2));
  }
  const size_t index = divided[draw(divided.size())];
  const Group group = groups[index];
  const unsigned length = group.end - group.begin;
  const unsigned step = 1 + draw(maxStep);
  auto resized = [&](unsigned begin, unsigned end) {
    return text(begin, end, group.parts, group.isInterleaved);
  };
  switch (draw(mayInterleave ? 8 : 7)) {
  case 0: // dissolved
    return text(group.begin, group.end, 1, false);
  case 1: // in other parts
    return text(group.begin, group.end, anyParts, group.isInterleaved);
  case 2: // divided
    return resized(group.begin, group.begin + 1 + draw(length));
  case 3: // joined with the next ones
    return resized(group.begin, groups[std::min(index + step, groups.size() - 1)].end);
  case 4: // longer
    return draw(2) ? resized(group.begin, std::min(group.end + step, count))
                   : resized(group.begin - std::min(group.begin, step), group.end);
  case 5: // shorter
    return draw(2) ? text(group.begin, group.begin + std::min(step, length), 1, false)
                   : text(group.end - std::min(step, length), group.end, 1, false);
  case 6: // its second part in other parts
    return text(group.begin + draw(length), group.end, anyParts, group.isInterleaved);
  default: // in the other order
    return text(group.begin, group.end, group.parts, !group.isInterleaved);
  }
}

} // namespace atc::tuning
