//===-- UnsupportedOps.cpp - the operators that have no importer ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/UnsupportedOps.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

namespace atc {

void UnsupportedOps::add(const std::string &op, const std::string &node, const std::string &why) {
  Entry &entry = ops[op];
  entry.nodes.push_back(node);
  if (!why.empty())
    entry.why = why;
}

std::string UnsupportedOps::str() const {
  constexpr size_t maxNames = 20;
  std::string text;
  for (const auto &[op, entry] : ops) {
    text += (text.empty() ? "" : "; ") + op + " x" + std::to_string(entry.nodes.size());
    if (!entry.why.empty())
      text += " [" + entry.why + "]";
    text += " (" + llvm::join(llvm::ArrayRef(entry.nodes).take_front(maxNames), ", ");
    if (entry.nodes.size() > maxNames)
      text += " and " + std::to_string(entry.nodes.size() - maxNames) + " more";
    text += ")";
  }
  return text;
}

} // namespace atc
