//===-- NearestName.cpp - the name that a user may have meant -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/NearestName.h"

#include <algorithm>
#include <numeric>

namespace atc {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
  return result;
}

/// Returns how many characters must be inserted, removed or replaced; more than `limit` where
/// that is certain.
size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
    return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

} // namespace

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  const std::string wanted = lower(name);
  if (wanted.empty())
    return {};
  size_t best = std::max<size_t>(wanted.size() / 3, 2) + 1;
  std::string nearest;
  for (const std::string &candidate : candidates) {
    const std::string known = lower(candidate);
    size_t distance = editDistance(wanted, known, best);
    if (wanted.size() >= 3 && known.find(wanted) != known.npos)
      distance = std::min<size_t>(distance, 2);
    if (distance < best) {
      best = distance;
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
