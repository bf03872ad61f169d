//===-- SupportedOperators.h - the operators that an importer has ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutators read the page of supported operators that the importer prints: it has the rows of all
// tables, so that a new row is tried without a list here.

#ifndef OPENATC_TEST_FUZZ_SUPPORTEDOPERATORS_H
#define OPENATC_TEST_FUZZ_SUPPORTEDOPERATORS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace atc::fuzz {

struct SupportedOperator {
  std::string section, name;
};

/// Returns the first cells of all tables of the page, in its order.
inline std::vector<SupportedOperator> supportedOperators(void (*print)(llvm::raw_ostream &)) {
  std::string page, section;
  llvm::raw_string_ostream os(page);
  print(os);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(page).split(lines, '\n');
  std::vector<SupportedOperator> all;
  for (llvm::StringRef line : lines) {
    if (line.consume_front("## "))
      section = line.str();
    else if (line.consume_front("| ") && !line.starts_with("operator "))
      all.push_back({section, line.take_until([](char c) { return c == ' '; }).str()});
  }
  return all;
}

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_SUPPORTEDOPERATORS_H
