//===-- Fields.h - fields of an .om file as text and as lists -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMDUMP_FIELDS_H
#define OPENATC_TOOLS_OMDUMP_FIELDS_H

#include "support/PrintableText.h"

#include <flatbuffers/flatbuffers.h>
#include <string>
#include <vector>

namespace atc::tools {

/// Returns the string with what a terminal would obey escaped.
inline std::string text(const flatbuffers::String *string) { return printable(string->str()); }

/// Returns the elements of a FlatBuffers vector of numbers, which become a JSON array.
template <typename Vector> auto listOf(const Vector &vector) {
  return std::vector<typename Vector::value_type>(vector.begin(), vector.end());
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMDUMP_FIELDS_H
