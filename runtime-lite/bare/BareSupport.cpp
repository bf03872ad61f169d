//===-- BareSupport.cpp - errors without the C library --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/PrintableText.h"
#include "runtime-lite/src/Support.h"

#include <cstdarg>

namespace atc::rt {

namespace {
/// A text of bounded size that is written piece by piece; what does not fit is cut off.
class Sentence {
public:
  void add(char c) {
    if (used < sizeof(text))
      text[used++] = c;
  }
  void add(const char *words) {
    for (; *words; ++words)
      add(*words);
  }
  void addNumber(unsigned long long value) {
    char digits[20];
    size_t count = 0;
    do
      digits[count++] = static_cast<char>('0' + value % 10);
    while (value /= 10);
    while (count)
      add(digits[--count]);
  }
  const char *data() const { return text; }
  size_t size() const { return used; }

private:
  char text[2 * sizeof(om_error::message)];
  size_t used = 0;
};
} // namespace

/// Knows the conversions of the runtime's sentences: %s, %u, %d, %llu, %lld and %%.
om_status fail(om_error *error, om_status code, const char *format, ...) {
  if (!error)
    return code;
  Sentence sentence;
  va_list args;
  va_start(args, format);
  for (; *format; ++format) {
    if (*format != '%') {
      sentence.add(*format);
      continue;
    }
    bool isLong = false;
    for (++format; *format == 'l'; ++format)
      isLong = true;
    if (*format == 's') {
      sentence.add(va_arg(args, const char *));
    } else if (*format == 'u') {
      sentence.addNumber(isLong ? va_arg(args, unsigned long long) : va_arg(args, unsigned));
    } else if (*format == 'd') {
      const long long value = isLong ? va_arg(args, long long) : va_arg(args, int);
      if (value < 0)
        sentence.add('-');
      const auto bits = static_cast<unsigned long long>(value);
      sentence.addNumber(value < 0 ? 0 - bits : bits);
    } else {
      sentence.add(*format);
    }
  }
  va_end(args);
  error->code = code;
  copyPrintable(error->message, sizeof(error->message), sentence.data(), sentence.size());
  return code;
}

om_status outOfMemory(om_error *error, uint64_t bytes) {
  return fail(error, OM_ERROR_MEMORY, "there is no memory for %llu bytes.",
              static_cast<unsigned long long>(bytes));
}

} // namespace atc::rt
