//===-- ShownMessages.h - which messages a tool shows -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H
#define OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H

#include "support/Diagnostics.h"
#include "support/OneLine.h"

namespace atc::tools {

/// The maximum number of errors, and of warnings, that are shown one by one. A file of another kind
/// where settings are expected has one per line.
inline constexpr size_t kMaxShownMessages = 1000;

/// Calls `show` with each error (or each warning, with `errors` false) as a line, and with a line
/// that counts those beyond kMaxShownMessages.
template <typename Show>
void forEachShown(llvm::ArrayRef<CodedMessage> messages, bool errors, Show show) {
  size_t count = 0;
  const CodedMessage *last = nullptr;
  for (const CodedMessage &message : messages) {
    if (message.isError != errors)
      continue;
    if (++count > kMaxShownMessages)
      continue;
    last = &message;
    show(message.code + ": " + oneLine(message.text));
  }
  if (count > kMaxShownMessages)
    show(last->code + ": " + std::to_string(count - kMaxShownMessages) + " more " +
         (errors ? "errors" : "warnings") + " are not listed");
}

/// Calls `show` for the warnings, then for the errors.
template <typename Show> void forEachShown(llvm::ArrayRef<CodedMessage> messages, Show show) {
  for (bool errors : {false, true})
    forEachShown(messages, errors, show);
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H
