//===-- NearestName.cpp - the name that a user may have meant -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/NearestName.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace atc {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
  return result;
}

/// Returns how many characters must be inserted, removed or replaced, or neighbors swapped; more
/// than `limit` where that is certain.
size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
    return limit + 1;
  std::vector<size_t> before, row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] != b[j]), row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(row, next);
  }
  return row.back();
}

} // namespace

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  const std::string wanted = lower(name);
  if (wanted.empty())
    return {};
  // Another digit makes another number, no misspelling of it.
  const bool isNumber = wanted.find_first_not_of("0123456789") == wanted.npos;
  // Among candidates with equally many differences, one of the same length as the name ranks first.
  using Rank = std::pair<size_t, size_t>;
  Rank best = {std::max<size_t>(wanted.size() / 3, 2) + 1, 0};
  std::string nearest;
  const size_t beyond = best.first;
  for (const std::string &candidate : candidates) {
    const std::string known = lower(candidate);
    size_t distance = isNumber ? beyond : editDistance(wanted, known, best.first);
    // Most characters differ, as in "foo" and "log".
    if (2 * distance > std::max(wanted.size(), known.size()))
      distance = beyond;
    if (wanted.size() >= 3 && known.find(wanted) != known.npos)
      distance = std::min<size_t>(distance, 2);
    const size_t length =
        std::max(wanted.size(), known.size()) - std::min(wanted.size(), known.size());
    if (Rank rank = {distance, length}; rank < best) {
      best = rank;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates) {
  const std::string nearest = nearestName(name, candidates);
  return nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
}

} // namespace atc
