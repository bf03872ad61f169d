//===-- TextProto.h - parses the text form of protobuf --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_TEXTPROTO_H
#define OPENATC_QUANTIZE_TEXTPROTO_H

#include <nlohmann/json.hpp>
#include <string>

namespace atc::quantize {

/// Parses `name: value`, `name { ... }` and `name: { ... }` into an object. A repeated name becomes
/// an array. On failure returns false and sets `errorText` to the line and its error.
bool parseTextProto(const std::string &text, nlohmann::json &result, std::string &errorText);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_TEXTPROTO_H
