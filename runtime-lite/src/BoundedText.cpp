//===-- BoundedText.cpp - pieces of sentences -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/BoundedText.h"

#include <cstdarg>
#include <cstdio>

namespace atc::rt {

void BoundedText::add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = std::vsnprintf(text + used, sizeof(text) - used, format, args);
  va_end(args);
  const size_t room = sizeof(text) - used;
  used += n < 0 ? 0 : static_cast<size_t>(n) < room ? static_cast<size_t>(n) : room - 1;
}

void BoundedText::addDims(uint32_t rank, const int64_t *dims) {
  add("[");
  for (uint32_t i = 0; i < rank; ++i)
    if (dims[i] < 0)
      add("%s?", i ? ", " : "");
    else
      add("%s%lld", i ? ", " : "", static_cast<long long>(dims[i]));
  add("]");
}

} // namespace atc::rt
