//===-- GroupMoves.cpp - random changes of groups of layers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/GroupMoves.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cassert>

using llvm::ArrayRef;

namespace atc::tuning {

using npu::Group;

std::vector<Group> paint(ArrayRef<Group> groups, unsigned begin, unsigned end, int64_t parts) {
  std::vector<Group> result;
  auto addNew = [&] {
    for (unsigned kernel = begin; kernel < end && parts == 1; ++kernel)
      result.push_back({kernel, kernel + 1, 1});
    if (parts > 1)
      result.push_back({begin, end, parts});
  };
  bool added = false;
  for (const Group &group : groups) {
    if (group.begin < begin)
      result.push_back({group.begin, std::min(group.end, begin), group.parts});
    if (!added && group.end > begin) {
      addNew();
      added = true;
    }
    if (group.end > end)
      result.push_back({std::max(group.begin, end), group.end, group.parts});
  }
  return result;
}

std::string moveGroups(ArrayRef<Group> groups, ArrayRef<int64_t> partCounts, const Draw &draw) {
  assert(!groups.empty() && !partCounts.empty());
  constexpr unsigned maxStep = 4, maxNew = 16;
  const unsigned count = groups.back().end;
  const int64_t anyParts = partCounts[draw(partCounts.size())];
  llvm::SmallVector<size_t> divided;
  for (size_t i = 0; i < groups.size(); ++i)
    if (groups[i].parts > 1)
      divided.push_back(i);
  if (divided.empty() || draw(8) == 0) {
    const unsigned begin = draw(count), length = 1 + draw(std::min(maxNew, count - begin));
    return npu::textOf(paint(groups, begin, begin + length, anyParts));
  }
  const size_t index = divided[draw(divided.size())];
  const Group group = groups[index];
  const unsigned length = group.end - group.begin;
  const unsigned step = 1 + draw(maxStep);
  switch (draw(7)) {
  case 0: // dissolved
    return npu::textOf(paint(groups, group.begin, group.end, 1));
  case 1: // in other parts
    return npu::textOf(paint(groups, group.begin, group.end, anyParts));
  case 2: // divided
    return npu::textOf(paint(groups, group.begin, group.begin + 1 + draw(length), group.parts));
  case 3: // joined with the next ones
    return npu::textOf(paint(groups, group.begin,
                             groups[std::min(index + step, groups.size() - 1)].end, group.parts));
  case 4: // longer
    return npu::textOf(
        draw(2) ? paint(groups, group.begin, std::min(group.end + step, count), group.parts)
                : paint(groups, group.begin - std::min(group.begin, step), group.end, group.parts));
  case 5: // shorter
    return npu::textOf(draw(2) ? paint(groups, group.begin, group.begin + std::min(step, length), 1)
                               : paint(groups, group.end - std::min(step, length), group.end, 1));
  default: // its second part in other parts
    return npu::textOf(paint(groups, group.begin + draw(length), group.end, anyParts));
  }
}

} // namespace atc::tuning
