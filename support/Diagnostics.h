//===-- Diagnostics.h - coded messages for the user -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_DIAGNOSTICS_H
#define OPENATC_SUPPORT_DIAGNOSTICS_H

#include "support/ErrorCodes.h"
#include "support/PrintableText.h"

#include <cassert>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace atc {

/// A line for the user: a code that scripts can match and a sentence, in which names from the model
/// are made printable.
struct CodedMessage {
  std::string code;
  std::string text;
  bool isError;

  /// Returns the line as tools print it, without a newline.
  std::string line() const { return code + ": " + text; }
};

/// Collects the messages of a library, so that all errors of a model or a command line reach the
/// user together and the caller decides where they are printed. Not thread-safe.
class Diagnostics {
public:
  /// Adds an error; `text` is one sentence.
  void error(ErrorCode code, const llvm::Twine &text) {
    assert(code.isError() && "a warning's code");
    messages.push_back({std::string(code.str()), printable(text.str()), true});
    ++errors;
  }
  /// Adds a warning; `text` is one sentence.
  void warning(ErrorCode code, const llvm::Twine &text) {
    assert(!code.isError() && "an error's code");
    messages.push_back({std::string(code.str()), printable(text.str()), false});
  }
  /// Adds a line such as "E10014: the file ..." as an error; a line without a code of the table
  /// gets the code `otherwise`.
  void errorLine(std::string_view line, ErrorCode otherwise = "E19999") {
    std::optional<CodedLine> parts = splitCodedLine(line);
    error(parts ? parts->code : otherwise, llvm::StringRef(parts ? parts->text : line));
  }

  /// Adds a message of another list unchanged.
  void add(const CodedMessage &message) {
    messages.push_back(message);
    errors += message.isError;
  }

  /// Return whether there are errors, and how many.
  bool hasErrors() const { return errors != 0; }
  unsigned numErrors() const { return errors; }
  /// Returns all messages in the order in which they were added.
  llvm::ArrayRef<CodedMessage> all() const { return messages; }

  /// Writes one line per message: `E16002: ...`.
  void print(llvm::raw_ostream &os) const {
    for (const CodedMessage &message : messages)
      os << message.line() << '\n';
  }

private:
  std::vector<CodedMessage> messages;
  unsigned errors = 0;
};

} // namespace atc

#endif // OPENATC_SUPPORT_DIAGNOSTICS_H
