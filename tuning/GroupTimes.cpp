//===-- GroupTimes.cpp - measured times of groups of layers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/GroupTimes.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

using namespace atc::npu;

namespace atc::tuning {

void GroupTimes::note(llvm::ArrayRef<Group> groups, llvm::ArrayRef<double> cycles) {
  assert(trials.empty() || trials.front().cycles.size() == cycles.size());
  Trial &trial = trials.emplace_back();
  trial.groups = groups.vec();
  trial.cycles = cycles.vec();
  trial.ends.resize(cycles.size() + 1);
  trial.ends[0] = true;
  for (const Group &group : groups)
    trial.ends[group.end] = true;
}

std::vector<Group> GroupTimes::fastest(double surplus) const {
  if (trials.empty())
    return {};
  double min = std::numeric_limits<double>::infinity();
  for (const Trial &trial : trials)
    min = std::min(min, std::accumulate(trial.cycles.begin(), trial.cycles.end(), 0.0));
  const double change = surplus * min;
  const size_t count = trials.front().cycles.size();
  // For each trial the fewest cycles of the kernels before one, if it runs that one, and whose
  // kernel the one before is.
  std::vector<double> best(trials.size(), 0);
  std::vector<std::vector<size_t>> before(count);
  for (size_t kernel = 0; kernel < count; ++kernel) {
    std::vector<double> next = best;
    before[kernel].resize(trials.size());
    for (size_t to = 0; to < trials.size(); ++to) {
      before[kernel][to] = to;
      for (size_t from = 0; kernel && from < trials.size(); ++from)
        if (trials[from].ends[kernel] && trials[to].ends[kernel] &&
            best[from] + change < next[to]) {
          next[to] = best[from] + change;
          before[kernel][to] = from;
        }
      next[to] += trials[to].cycles[kernel];
    }
    best = std::move(next);
  }
  std::vector<Group> groups;
  size_t trial = size_t(std::min_element(best.begin(), best.end()) - best.begin());
  for (size_t kernel = count; kernel-- > 0;) {
    // A group of the trial whose kernel this is, which ends here.
    for (const Group &group : trials[trial].groups)
      if (group.end == kernel + 1)
        groups.push_back(group);
    trial = before[kernel][trial];
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

} // namespace atc::tuning
