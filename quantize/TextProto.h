//===-- TextProto.h - reads the text form of protobuf ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_TEXTPROTO_H
#define OPENATC_QUANTIZE_TEXTPROTO_H

#include <nlohmann/json.hpp>
#include <string>

namespace atc::quantize {

/// Reads `name: value`, `name { ... }` and `name: { ... }` into an object. A name that
/// stands there several times becomes an array. On failure returns false and `fault`
/// says the line and what is wrong with it.
bool parseTextProto(const std::string &text, nlohmann::json &result, std::string &fault);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_TEXTPROTO_H
