//===-- TextMessage.h - messages in the text form of protobuf -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For files whose schema is not known: settings of the vendor's tools, dumps of graphs.

#ifndef OPENATC_FRONTENDS_TEXTMESSAGE_H
#define OPENATC_FRONTENDS_TEXTMESSAGE_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace atc {

/// Parses `name: value`, `name { ... }`, `name: { ... }` and `name: [ ... ]`, in the order of the
/// text. A repeated name becomes an array; names of enumerations become text. On failure returns
/// nothing and sets `errorText` to "line N: " and the error.
std::optional<nlohmann::ordered_json> parseTextMessage(llvm::StringRef text,
                                                       std::string &errorText);

/// A brace that has no partner.
struct LoneBrace {
  int line; ///< counted from 0
  std::string what;
};

/// Returns the first '}' that closes nothing, else the last '{' that nothing closes, of a message
/// in text form; a parser's own message names only where it noticed.
std::optional<LoneBrace> findLoneBrace(llvm::StringRef text);

} // namespace atc

#endif // OPENATC_FRONTENDS_TEXTMESSAGE_H
