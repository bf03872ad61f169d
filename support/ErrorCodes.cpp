//===-- ErrorCodes.cpp - the codes of all messages ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ErrorCodes.h"

namespace atc {

std::optional<CodedLine> splitCodedLine(std::string_view line) {
  constexpr size_t digits = 6; // of "E10001"
  if (line.size() < digits + 2 || line.substr(digits, 2) != ": ")
    return std::nullopt;
  std::optional<ErrorCode> code = ErrorCode::find(line.substr(0, digits));
  if (!code)
    return std::nullopt;
  return CodedLine{*code, line.substr(digits + 2)};
}

std::string errorCodeTable() {
  std::string table = "| code | name | meaning | what to do |\n|---|---|---|---|\n";
  for (const ErrorCodeRow &row : errorCodeRows) {
    for (std::string_view cell : {row.code, row.name, row.meaning, row.advice})
      table.append("| ").append(cell).append(" ");
    table += "|\n";
  }
  return table;
}

} // namespace atc
