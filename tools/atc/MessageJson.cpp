//===-- MessageJson.cpp - messages in text form as JSON -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/TextMessage.h"
#include "tools/atc/GraphJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace atc::tools {

/// Returns whether a field may repeat, so that tools expect a list.
static bool isRepeated(StringRef name) {
  return is_contained({"graph",          "op",          "node",      "attr",       "input",
                       "input_desc",     "output_desc", "output",    "dim",        "dst_name",
                       "dst_index",      "src_name",    "src_index", "input_name", "output_name",
                       "is_input_const", "layer",       "layers",    "bottom",     "top",
                       "include",        "exclude",     "param",     "input_shape"},
                      name);
}

/// Makes a list of each field in `value` that may repeat but does not.
static void listRepeated(Json &value) {
  if (!value.is_structured())
    return;
  for (auto &[key, field] : value.items()) {
    listRepeated(field);
    if (value.is_object() && isRepeated(key) && !field.is_array())
      field = Json::array({std::move(field)});
  }
}

Json describeTextMessage(const std::string &path, Diagnostics &diagnostics) {
  // Devices and pipes may have no end.
  const bool isFile = sys::fs::is_regular_file(path);
  auto buffer = isFile ? MemoryBuffer::getFile(path) : std::errc::invalid_argument;
  if (!buffer) {
    diagnostics.error("E13001", "the file \"" + path + "\" of --om cannot be opened");
    return nullptr;
  }
  std::string errorText;
  auto message = parseTextMessage((*buffer)->getBuffer(), errorText);
  if (!message) {
    diagnostics.error("E13018", "the file \"" + path + "\" of --om, " + errorText);
    return nullptr;
  }
  listRepeated(*message);
  return std::move(*message);
}

} // namespace atc::tools
