//===-- StringParts.cpp - lengths and parts of strings --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

/// Returns whether a byte begins a character of UTF-8; others go on with one.
bool beginsCharacter(char byte) { return (uint8_t(byte) & 0xc0) != 0x80; }

int64_t lengthOf(String text, bool characters) {
  if (!characters)
    return int64_t(text.size);
  int64_t count = 0;
  for (uint64_t i = 0; i < text.size; ++i)
    count += beginsCharacter(text.data[i]);
  return count;
}

/// Returns the byte at which character `number` begins; the size of the text behind the last one.
uint64_t characterAt(String text, int64_t number) {
  uint64_t at = 0;
  for (; at < text.size; ++at)
    if (beginsCharacter(text.data[at]) && number-- == 0)
      return at;
  return at;
}

/// Makes output 0 with change(text) for each text of input 0.
template <typename Fn> void mapTexts(Context &c, Fn &&change) {
  const Tensor data = c.in(0);
  String *out = c.make<String>(0, Str, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i)
    out[i] = change(data.as<String>()[i]);
}

} // namespace

ATC_KERNEL(StringCase) {
  const char first = integer("upper", 0) ? 'a' : 'A';
  mapTexts(*this, [&](String text) {
    char *to = text.size ? makeText(int64_t(text.size)) : nullptr;
    if (!to)
      return String{};
    for (uint64_t i = 0; i < text.size; ++i) {
      const char c = text.data[i];
      to[i] = c >= first && c < first + 26 ? char(c ^ 0x20) : c;
    }
    return String{to, text.size};
  });
}

ATC_KERNEL(StringStrip) {
  mapTexts(*this, [](String text) { return trimmed(text); });
}

ATC_KERNEL(StringLength) {
  const Tensor data = in(0);
  const bool characters = integer("characters", 0);
  int64_t *out = make<int64_t>(0, I64, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i)
    out[i] = lengthOf(data.as<String>()[i], characters);
}

ATC_KERNEL(Substring) {
  const Tensor data = in(0), begins = in(1), lengths = in(2);
  const bool characters = integer("characters", 0);
  const int64_t count = data.count();
  const Tensor both[] = {begins, lengths};
  for (const Tensor &numbers : both)
    if (numbers.count() != 1 && !(numbers.dims() == data.dims()))
      return fail("% positions or lengths for % strings", numbers.count(), count);
  String *out = make<String>(0, Str, data.dims());
  if (!out)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const String text = data.as<String>()[i];
    const int64_t size = lengthOf(text, characters),
                  begin = begins.as<int64_t>()[begins.count() == 1 ? 0 : i],
                  length = lengths.as<int64_t>()[lengths.count() == 1 ? 0 : i];
    if (begin > size || begin < -size)
      return fail("position % is out of range for a string of length %", begin, size);
    if (length < 0)
      return fail("the length % is negative", length);
    const int64_t first = begin < 0 ? begin + size : begin,
                  last = first + minimum(length, size - first);
    const uint64_t from = characters ? characterAt(text, first) : uint64_t(first),
                   to = characters ? characterAt(text, last) : uint64_t(last);
    out[i] = {text.data + from, to - from};
  }
}

} // namespace atc::kernels
