//===-- JsonText.h - JSON as the tools write it -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_JSONTEXT_H
#define OPENATC_SUPPORT_JSONTEXT_H

#include "support/PrintableText.h"

namespace atc {

/// Returns a value of nlohmann::json or ordered_json as text with a final newline, indented by
/// `indent` spaces. Names come from files: bytes that are not UTF-8 become U+FFFD, and unprintable
/// characters are escaped.
template <typename Json> std::string jsonText(const Json &json, int indent = 2) {
  return printableJson(json.dump(indent, ' ', false, Json::error_handler_t::replace)) + "\n";
}

} // namespace atc

#endif
