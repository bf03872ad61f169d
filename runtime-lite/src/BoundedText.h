//===-- BoundedText.h - pieces of sentences -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_BOUNDEDTEXT_H
#define OPENATC_RUNTIME_BOUNDEDTEXT_H

#include <cstddef>
#include <cstdint>

namespace atc::rt {

/// A piece of an error's sentence, which needs no memory: what does not fit is cut off.
class BoundedText {
public:
  /// Appends as printf does.
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...);
  /// Appends "[1, ?, 3]"; a negative dim is a question mark.
  void addDims(uint32_t rank, const int64_t *dims);
  /// Returns whether `bytes` characters more fit.
  bool hasRoom(size_t bytes) const { return used + bytes < sizeof(text); }

  const char *c_str() const { return text; }

private:
  char text[200] = "";
  size_t used = 0;
};

} // namespace atc::rt

#endif
