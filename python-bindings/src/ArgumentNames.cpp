//===-- ArgumentNames.cpp - arguments of Python in messages ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python-bindings/src/ArgumentNames.h"

#include "llvm/ADT/StringExtras.h"

#include <string_view>

namespace atc::python {

namespace {
struct ArgumentName {
  std::string_view flag, argument;
};
} // namespace

/// Longer texts first, where one contains another.
static constexpr ArgumentName names[] = {
    {"--dynamic_batch_size, --dynamic_image_size or --dynamic_dims", "gears"},
    {"--dynamic_dims", "gears"},
    {" with --target=cpu", ", without soc"},
    {"--input_shape", "input_shapes"},
    {"--out_nodes", "outputs"},
    {"--signature_def", "signature"},
    {"--soc_version", "soc"},
    {"--soc_file", "soc_file"},
    {"--precision_mode", "precision_mode"},
    {"--target_cpu", "target_cpu"},
    {"--disable_passes", "disable_passes"},
    {"--save_temps", "save_temps"},
};

std::string withArgumentNames(std::string message) {
  for (const auto &[flag, argument] : names)
    for (size_t at = message.find(flag); at != std::string::npos;
         at = message.find(flag, at + argument.size())) {
      const size_t end = at + flag.size();
      // The beginning of another flag.
      if (end < message.size() && (llvm::isAlnum(message[end]) || message[end] == '_'))
        continue;
      message.replace(at, flag.size(), argument);
    }
  return message;
}

} // namespace atc::python
