//===-- Diagnostics.h - coded messages of the frontends -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_DIAGNOSTICS_H
#define OPENATC_FRONTENDS_DIAGNOSTICS_H

#include <string>
#include <vector>

#include "support/PrintableText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace atc {

/// One line for the user: a code that scripts look for and a sentence, in which names
/// from the model are safe to print.
struct CodedMessage {
  std::string code;
  std::string text;
  bool isError;
};

/// Collects what a frontend has to say, so that all faults of a model reach the
/// user in one go and the caller decides where they are printed.
class Diagnostics {
public:
  void error(llvm::StringRef code, const llvm::Twine &text) {
    messages.push_back({code.str(), printable(text.str()), true});
    ++errors;
  }
  void warning(llvm::StringRef code, const llvm::Twine &text) {
    messages.push_back({code.str(), printable(text.str()), false});
  }

  bool hasErrors() const { return errors != 0; }
  unsigned numErrors() const { return errors; }
  llvm::ArrayRef<CodedMessage> all() const { return messages; }

  /// Writes one line a message: `E16002: ...`.
  void print(llvm::raw_ostream &os) const {
    for (const CodedMessage &message : messages)
      os << message.code << ": " << message.text << '\n';
  }

private:
  std::vector<CodedMessage> messages;
  unsigned errors = 0;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_DIAGNOSTICS_H
