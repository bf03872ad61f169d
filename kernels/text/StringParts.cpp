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

/// Returns whether what goes on with bytes [at, end) of a text, or ends in front of `at` where
/// `isBefore`, is a letter with two cases, beyond marks that stand inside words.
bool isBesideCased(String text, uint64_t at, bool isBefore) {
  while (isBefore ? at > 0 : at < text.size) {
    if (isBefore)
      while (--at > 0 && !beginsCharacter(text.data[at])) {
      }
    uint64_t next = at;
    const uint32_t c = decodeUtf8(text, next);
    const bool isMark = c == '\'' || c == '.' || c == ':' || c == 0xad || c == 0xb7 ||
                        c == 0x2019 || (c >= 0x300 && c < 0x370);
    if (!isMark)
      return lowerCase(c) != c || upperCase(c) != c;
    at = isBefore ? at : next;
  }
  return false;
}

/// Writes a text of UTF-8 in one case as Unicode has it: a letter may become several, and a sigma
/// at the end of a word has a form of its own. Without `to` only counts. Returns the bytes.
int64_t writeCase(String text, bool isUpper, char *to) {
  constexpr uint32_t dottedI = 0x130, dotAbove = 0x307, sigma = 0x3a3, lastSigma = 0x3c2;
  int64_t size = 0;
  for (uint64_t at = 0; at < text.size;) {
    const uint64_t begin = at;
    const uint32_t character = decodeUtf8(text, at);
    uint32_t cased[3] = {lowerCase(character)};
    int count = 1;
    if (isUpper) {
      count = upperCases(character, cased);
    } else if (character == dottedI) {
      cased[0] = 'i', cased[1] = dotAbove, count = 2;
    } else if (character == sigma && isBesideCased(text, begin, true) &&
               !isBesideCased(text, at, false)) {
      cased[0] = lastSigma;
    }
    for (int i = 0; i < count; ++i) {
      char bytes[4];
      const int64_t more = encodeUtf8(bytes, cased[i]);
      if (to)
        copyBytes(to + size, bytes, more);
      size += more;
    }
  }
  return size;
}

} // namespace

/// The letters of ASCII, or with `unicode` all, in one case.
ATC_KERNEL(StringCase) {
  const bool isUpper = integer("upper", 0);
  if (integer("unicode", 0))
    return mapTexts(*this, [&](String text) {
      const int64_t size = writeCase(text, isUpper, nullptr);
      char *to = size ? makeText(size) : nullptr;
      return to ? String{to, uint64_t(writeCase(text, isUpper, to))} : String{};
    });
  const char first = isUpper ? 'a' : 'A';
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

/// Joins the strings along axes, the first named one fastest.
ATC_KERNEL(StringReduce) {
  const Tensor data = in(0), axes = in(1);
  if (!axes.known())
    return;
  const String separator = text("separator", "");
  const Dims dims = data.dims(), strides = stridesOf(dims);
  Dims joined, steps, left = dims;
  for (int64_t i = axes.count(); i-- > 0;) {
    const int64_t axis = normalizeAxis(*this, axes.as<int64_t>()[i], dims.rank);
    if (axis < 0)
      return;
    if (left[axis] < 0)
      return fail("axis % is named twice", axis);
    left[axis] = -1;
    joined.push(dims[axis]);
    steps.push(strides[axis]);
  }
  Dims result, kept, keptSteps;
  for (uint32_t d = 0; d < dims.rank; ++d) {
    if (left[d] >= 0) {
      kept.push(dims[d]);
      keptSteps.push(strides[d]);
    }
    if (left[d] >= 0 || integer("keepdims", 0))
      result.push(left[d] < 0 ? 1 : left[d]);
  }
  String *out = make<String>(0, Str, result);
  if (!out)
    return;
  auto offsetOf = [](int64_t number, const Dims &of, const Dims &by) {
    int64_t offset = 0;
    for (uint32_t d = of.rank; d-- > 0; number /= of[d])
      offset += number % of[d] * by[d];
    return offset;
  };
  const int64_t parts = joined.product(), count = result.product();
  for (int64_t i = 0; i < count; ++i) {
    const String *first = data.as<String>() + offsetOf(i, kept, keptSteps);
    int64_t size = 0;
    for (int64_t p = 0; p < parts; ++p)
      size += int64_t(first[offsetOf(p, joined, steps)].size + (p ? separator.size : 0));
    char *to = size ? makeText(size) : nullptr;
    if (size && !to)
      return;
    out[i] = {to, uint64_t(size)};
    for (int64_t p = 0; p < parts; ++p) {
      const String part = first[offsetOf(p, joined, steps)];
      if (p && separator.size)
        copyBytes(to, separator.data, int64_t(separator.size)), to += separator.size;
      if (part.size)
        copyBytes(to, part.data, int64_t(part.size)), to += part.size;
    }
  }
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
