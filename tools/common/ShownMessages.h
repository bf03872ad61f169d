//===-- ShownMessages.h - which messages a tool shows -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H
#define OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H

#include "support/Diagnostics.h"
#include "support/OneLine.h"

namespace atc::tools {

/// Calls `show` with each error (or each warning, with `errors` false) as a line.
template <typename Show>
void forEachShown(llvm::ArrayRef<CodedMessage> messages, bool errors, Show show) {
  for (const CodedMessage &message : messages)
    if (message.isError == errors)
      show(message.code + ": " + oneLine(message.text));
}

/// Calls `show` for the warnings, then for the errors.
template <typename Show> void forEachShown(llvm::ArrayRef<CodedMessage> messages, Show show) {
  for (bool errors : {false, true})
    forEachShown(messages, errors, show);
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_SHOWNMESSAGES_H
