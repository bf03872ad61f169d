//===-- CallEquation.cpp - the terms of an Einsum -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallEquation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace atc::cpu {

namespace {

constexpr StringLiteral kDots = "...";

/// Appends the labels of a term, in which an ellipsis stands for the last `covered` of `ellipsis`
/// dims.
bool addLabels(StringRef term, int64_t covered, int64_t ellipsis, SmallVectorImpl<int64_t> &to) {
  while (!term.empty()) {
    if (term.consume_front(kDots)) {
      for (int64_t d = 0; d < covered; ++d)
        to.push_back(Equation::kFirstCovered + ellipsis - covered + d);
      continue;
    }
    if (!isAlpha(term.front()))
      return false;
    to.push_back(term.front());
    term = term.drop_front();
  }
  return true;
}

} // namespace

std::optional<Equation> Equation::read(StringRef text, ArrayRef<int64_t> ranks) {
  std::string compact;
  for (char c : text)
    if (c != ' ')
      compact += c;
  auto [left, right] = StringRef(compact).split("->");
  const bool hasOutput = StringRef(compact).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != ranks.size())
    return std::nullopt;
  SmallVector<int64_t> covered;
  int64_t ellipsis = 0;
  for (auto [term, rank] : zip_equal(terms, ranks)) {
    const int64_t letters = count_if(term, isAlpha);
    const bool hasDots = term.contains(kDots);
    covered.push_back(hasDots ? rank - letters : 0);
    if (covered.back() < 0 || letters + covered.back() != rank || term.count(kDots) > 1)
      return std::nullopt;
    ellipsis = std::max(ellipsis, covered.back());
  }
  Equation equation;
  std::map<int64_t, int64_t> times;
  for (auto [term, own] : zip_equal(terms, covered)) {
    if (!addLabels(term, own, ellipsis, equation.inputs.emplace_back()))
      return std::nullopt;
    for (int64_t label : equation.inputs.back())
      ++times[label];
  }
  if (hasOutput) {
    if (right.count(kDots) > 1 || !addLabels(right, ellipsis, ellipsis, equation.output))
      return std::nullopt;
  } else {
    for (int64_t d = 0; d < ellipsis; ++d)
      equation.output.push_back(kFirstCovered + d);
    for (auto [label, count] : times)
      if (label < kFirstCovered && count == 1)
        equation.output.push_back(label);
  }
  SmallVector<int64_t> sorted(equation.output);
  sort(sorted);
  const bool isUnique = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!isUnique || any_of(sorted, [&](int64_t label) { return !times.count(label); }))
    return std::nullopt;
  return equation;
}

} // namespace atc::cpu
