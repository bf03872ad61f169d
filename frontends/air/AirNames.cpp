//===-- AirNames.cpp ------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirNames.h"

using namespace llvm;

namespace atc::air {

std::pair<StringRef, int64_t> splitInput(StringRef input) {
  auto [name, number] = input.rsplit(':');
  int64_t index = 0;
  if (number.empty() || number.getAsInteger(10, index))
    return {input, 0};
  return {name, index};
}

std::string keyOf(StringRef op, int64_t output) { return (op + ":" + Twine(output)).str(); }

std::vector<std::string> dataInputs(const pb::Op &op) {
  std::vector<std::string> names;
  for (const std::string &input : op.input()) {
    if (input.empty()) {
      names.push_back("");
      continue;
    }
    if (auto [name, index] = splitInput(input); index >= 0)
      names.push_back(keyOf(name, index));
  }
  return names;
}

} // namespace atc::air
