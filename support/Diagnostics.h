//===-- Diagnostics.h - coded messages for the user -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_DIAGNOSTICS_H
#define OPENATC_SUPPORT_DIAGNOSTICS_H

#include "support/ErrorCodes.h"
#include "support/PrintableText.h"

#include <array>
#include <cassert>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace atc {

/// A line for the user: a code that scripts can match and a sentence, in which names from the model
/// are made printable.
struct CodedMessage {
  std::string code;
  std::string text;
  bool isError;
  size_t count = 1; ///< the messages that it stands for: those behind a limit have one together

  /// Returns the line as tools print it, without a newline.
  std::string line() const { return code + ": " + text; }
};

/// Collects the messages of a library, so that all errors of a model or a command line reach the
/// user together and the caller decides where they are printed. Whatever a file or a flag holds,
/// messages stay within some megabytes: behind the first kMaxKept errors (or warnings) stands one
/// message that counts the others, and the middle of a text of more than kMaxBytes is left out. Not
/// thread-safe.
class Diagnostics {
public:
  /// The maximum number of errors, and of warnings, that are kept one by one. A file of another
  /// kind where settings are expected has an error per line.
  static constexpr size_t kMaxKept = 1000;
  /// The maximum size of the text of a message, in bytes.
  static constexpr size_t kMaxBytes = 20000;

  /// Adds an error; `text` is one sentence.
  void error(ErrorCode code, const llvm::Twine &text) {
    assert(code.isError() && "a warning's code");
    keep(code.str(), text, /*isError=*/true);
  }
  /// Adds a warning; `text` is one sentence.
  void warning(ErrorCode code, const llvm::Twine &text) {
    assert(!code.isError() && "an error's code");
    keep(code.str(), text, /*isError=*/false);
  }
  /// Adds a line such as "E10014: the file ..." as an error; a line without a code of the table
  /// gets the code `otherwise`.
  void errorLine(std::string_view line, ErrorCode otherwise = "E19999") {
    std::optional<CodedLine> parts = splitCodedLine(line);
    error(parts ? parts->code : otherwise, llvm::StringRef(parts ? parts->text : line));
  }

  /// Adds a message of another list.
  void add(const CodedMessage &message) {
    keep(message.code, message.text, message.isError, message.count);
  }

  /// Return whether there are errors, and how many were added.
  bool hasErrors() const { return numErrors() != 0; }
  unsigned numErrors() const { return unsigned(counts[1].added); }
  /// Returns the kept messages in the order in which they were added.
  llvm::ArrayRef<CodedMessage> all() const { return messages; }

  /// Writes one line per message: `E16002: ...`.
  void print(llvm::raw_ostream &os) const {
    for (const CodedMessage &message : messages)
      os << message.line() << '\n';
  }

private:
  /// The number of errors, or of warnings, and the message that counts those that are not kept.
  struct Count {
    size_t added = 0;
    size_t rest = 0; ///< index of the message that counts those beyond kMaxKept
  };

  /// The text is composed only where it is kept: many that quote one long list take their square.
  void keep(std::string_view code, const llvm::Twine &text, bool isError, size_t number = 1) {
    Count &count = counts[isError];
    const bool begins = count.added <= kMaxKept;
    count.added += number;
    if (count.added <= kMaxKept) {
      llvm::SmallString<256> buffer;
      const std::string_view all = text.toStringRef(buffer);
      messages.push_back(
          {std::string(code), printable(shortened(all, kMaxBytes - 4000, 4000)), isError});
      return;
    }
    if (begins) {
      count.rest = messages.size();
      messages.push_back({std::string(code), "", isError});
    }
    CodedMessage &rest = messages[count.rest];
    rest.count = count.added - kMaxKept;
    rest.text = std::to_string(rest.count) + " more " + (isError ? "errors" : "warnings") +
                " are not listed";
  }

  std::vector<CodedMessage> messages;
  std::array<Count, 2> counts; ///< of the warnings, and of the errors
};

} // namespace atc

#endif // OPENATC_SUPPORT_DIAGNOSTICS_H
