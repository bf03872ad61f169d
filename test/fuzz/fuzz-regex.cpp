//===-- fuzz-regex.cpp - no pattern and no text crashes RegexFullMatch ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An input is a pattern and, behind each newline, a text to be matched.

#include "kernels/native/NativeHost.h"
#include "test/fuzz/host/FuzzHost.h"

#include <string_view>

using namespace atc;
using namespace atc::fuzz;

/// Returns 0 for patterns that are valid.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view rest(reinterpret_cast<const char *>(data), size);
  std::vector<host::String> parts;
  while (true) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    // A block of its own: what is read behind it is found.
    parts.push_back({rest.data(), end});
    if (end == rest.size())
      break;
    rest.remove_prefix(end + 1);
  }
  FuzzCall call = {};
  call.host = &FuzzCall::services;
  for (host::String &part : parts) {
    char *copy = call.memory.make(part.size);
    if (!copy)
      return -1;
    std::memcpy(copy, part.data, part.size);
    part.data = copy;
  }
  const int64_t dims[] = {static_cast<int64_t>(parts.size()) - 1};
  host::Value *texts = call.memory.tensor(kernels::Str, 1, dims);
  if (!texts)
    return -1;
  std::copy(parts.begin() + 1, parts.end(), static_cast<host::String *>(texts->data));
  const host::Value *inputs[] = {texts};
  const host::Attribute attribute = {"pattern", host::AttributeKind::Strings, 1, parts.data()};
  call.inputCount = call.outputCount = call.attributeCount = 1;
  call.wanted = ~0u;
  call.inputs = inputs;
  call.attributes = &attribute;
  call.made.resize(1);
  kernels::native::find("RegexFullMatch")->kernel(&call);
  if (!call.error.empty())
    return -1;
  readAll(call.made[0]);
  return 0;
}
