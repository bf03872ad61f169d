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

} // namespace atc

#endif // OPENATC_FRONTENDS_TEXTMESSAGE_H
