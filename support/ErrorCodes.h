//===-- ErrorCodes.h - the codes of all messages --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needs the C++ library alone: the runtime's tools use it too.

#ifndef OPENATC_SUPPORT_ERRORCODES_H
#define OPENATC_SUPPORT_ERRORCODES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atc {

/// A row of ErrorCodes.def.
struct ErrorCodeRow {
  std::string_view code;    ///< "E10001"
  std::string_view name;    ///< "invalid-value"
  std::string_view meaning; ///< one sentence of Markdown
  std::string_view advice;  ///< one sentence: what the user can do
};

/// All rows, sorted by code.
inline constexpr ErrorCodeRow errorCodeRows[] = {
#define OPENATC_ERROR_CODE(code, name, meaning, advice) {#code, name, meaning, advice},
#include "support/ErrorCodes.def"
};

namespace detail {
/// Has no definition: a call during constant evaluation is the error message.
const ErrorCodeRow *codeIsNotInErrorCodesDef();
} // namespace detail

/// A code of the table. A literal is looked up during compilation, so that a code without a row
/// does not build.
class ErrorCode {
public:
  consteval ErrorCode(const char *literal) : row(lookUp(literal)) { // NOLINT: converts on purpose
    if (!row)
      row = detail::codeIsNotInErrorCodesDef();
  }
  /// Returns the code that `text` spells; nothing where the table has no such row.
  static constexpr std::optional<ErrorCode> find(std::string_view text) {
    const ErrorCodeRow *row = lookUp(text);
    return row ? std::optional(ErrorCode(row)) : std::nullopt;
  }

  /// Returns the code, such as "E10001".
  constexpr std::string_view str() const { return row->code; }
  /// Returns false for a warning's code.
  constexpr bool isError() const { return row->code[0] == 'E'; }

private:
  constexpr explicit ErrorCode(const ErrorCodeRow *row) : row(row) {}
  static constexpr const ErrorCodeRow *lookUp(std::string_view text) {
    for (const ErrorCodeRow &row : errorCodeRows)
      if (row.code == text)
        return &row;
    return nullptr;
  }

  const ErrorCodeRow *row;
};

/// Returns "E10001: text", one line of a tool's output.
inline std::string codedLine(ErrorCode code, std::string_view text) {
  return std::string(code.str()).append(": ").append(text);
}

/// A line of codedLine, split; `text` points into the line.
struct CodedLine {
  ErrorCode code;
  std::string_view text;
};
/// Splits a line; returns nothing where it does not begin with a code of the table.
std::optional<CodedLine> splitCodedLine(std::string_view line);

/// Returns the table as Markdown: one row per code, each with a newline.
std::string errorCodeTable();

} // namespace atc

#endif // OPENATC_SUPPORT_ERRORCODES_H
