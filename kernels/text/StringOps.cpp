//===-- StringOps.cpp - normalizing, joining and splitting strings --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/HashIndex.h"
#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

enum class Case { Keep, Lower, Upper };

uint32_t inCase(uint32_t character, Case wanted) {
  return wanted == Case::Lower   ? lowerCase(character)
         : wanted == Case::Upper ? upperCase(character)
                                 : character;
}

/// The text in another case; without characters where there is no memory.
String withCase(Context &c, String text, Case wanted) {
  if (wanted == Case::Keep || text.size == 0)
    return text;
  // A character in the other case may take more bytes.
  char *to = c.makeText(int64_t(text.size) * 4);
  if (!to)
    return {};
  int64_t size = 0;
  for (uint64_t at = 0; at < text.size;)
    size += encodeUtf8(to + size, inCase(decodeUtf8(text, at), wanted));
  return {to, uint64_t(size)};
}

bool isSpaceCharacter(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

/// Calls piece(String) for each part of the text and returns their number. An empty delimiter
/// stands for runs of white space, of ASCII alone where `ascii`.
template <typename Fn>
int64_t split(String text, String delimiter, int64_t max, bool ascii, Fn &&piece) {
  auto isGap = [&](uint32_t c) {
    return ascii ? c < 128 && isSpace(char(c)) : isSpaceCharacter(c);
  };
  int64_t count = 0;
  uint64_t start = 0, at = 0;
  if (delimiter.size) {
    while (count != max && at + delimiter.size <= text.size) {
      if (__builtin_memcmp(text.data + at, delimiter.data, delimiter.size) != 0) {
        ++at;
        continue;
      }
      piece(String{text.data + start, at - start});
      ++count;
      start = at += delimiter.size;
    }
    piece(String{text.data + start, text.size - start});
    return count + 1;
  }
  while (at < text.size) {
    start = at;
    if (isGap(decodeUtf8(text, at)))
      continue;
    uint64_t end = text.size;
    while (count != max && at < text.size) {
      const uint64_t before = at;
      if (isGap(decodeUtf8(text, at))) {
        end = before;
        break;
      }
    }
    if (count == max)
      at = text.size;
    piece(String{text.data + start, end - start});
    // In TensorFlow, what is behind the last split is a part also where nothing is left.
    if (++count == max && ascii) {
      while (at < text.size && isGap(uint8_t(text.data[at])))
        ++at;
      piece(String{text.data + at, text.size - at});
      return count + 1;
    }
  }
  return count;
}

} // namespace

ATC_KERNEL(StringNormalizer) {
  const Tensor data = in(0);
  const String action = text("case_change_action", "NONE");
  const Case wanted = equal(action, "LOWER")   ? Case::Lower
                      : equal(action, "UPPER") ? Case::Upper
                                               : Case::Keep;
  if (wanted == Case::Keep && !equal(action, "NONE"))
    return fail("case_change_action is none of LOWER, UPPER, NONE");
  if (data.rank() < 1 || data.rank() > 2 || (data.rank() == 2 && data.dim(0) != 1))
    return fail("the input has rank %; [C] and [1, C] are allowed", data.rank());
  const List<String> stops = strings("stopwords");
  const bool sensitive = integer("is_case_sensitive", 0);
  const int64_t count = data.count();
  Dims shape = data.dims();
  const int64_t *kept = nullptr;
  int64_t keptCount = count;
  if (stops.size) {
    if (!data.known())
      return;
    HashIndex index;
    String *words = scratch<String>(stops.size);
    int64_t *numbers = scratch<int64_t>(count + 1);
    if (!index.reserve(*this, stops.size) || !words || !numbers)
      return;
    const Case folded = sensitive ? Case::Keep : Case::Lower;
    for (int64_t i = 0; i < stops.size; ++i) {
      words[i] = withCase(*this, stops[i], folded);
      index.set(hashOf(words[i]), i, [&](int64_t at) { return equal(words[at], words[i]); });
    }
    keptCount = 0;
    for (int64_t i = 0; i < count; ++i) {
      const String word = withCase(*this, data.as<String>()[i], folded);
      if (index.find(hashOf(word), [&](int64_t at) { return equal(words[at], word); }) < 0)
        numbers[keptCount++] = i;
    }
    kept = numbers;
  }
  shape[data.rank() - 1] = maximum(keptCount, int64_t(1));
  String *out = make<String>(0, Str, shape);
  if (!out)
    return;
  out[0] = {};
  for (int64_t i = 0; i < keptCount; ++i)
    out[i] = withCase(*this, data.as<String>()[kept ? kept[i] : i], wanted);
}

ATC_KERNEL(StringConcat) {
  const Tensor a = in(0), b = in(1);
  Dims shape;
  const int64_t rank = maximum(a.rank(), b.rank());
  const Dims stridesA = stridesOf(a.dims()), stridesB = stridesOf(b.dims());
  Dims stepsA, stepsB;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t atA = i - (rank - a.rank()), atB = i - (rank - b.rank());
    const int64_t sizeA = atA < 0 ? 1 : a.dim(atA), sizeB = atB < 0 ? 1 : b.dim(atB);
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      return fail("dim % is % and %", i, sizeA, sizeB);
    shape.push(sizeA == 1 ? sizeB : sizeA);
    stepsA.push(sizeA == 1 ? 0 : stridesA[atA]);
    stepsB.push(sizeB == 1 ? 0 : stridesB[atB]);
  }
  String *out = make<String>(0, Str, shape);
  if (!out)
    return;
  const int64_t count = shape.product();
  for (int64_t i = 0; i < count; ++i) {
    int64_t atA = 0, atB = 0;
    for (int64_t d = rank - 1, rest = i; d >= 0; --d) {
      atA += rest % shape[d] * stepsA[d];
      atB += rest % shape[d] * stepsB[d];
      rest /= shape[d];
    }
    const String first = a.as<String>()[atA], second = b.as<String>()[atB];
    if (!first.size || !second.size) {
      out[i] = first.size ? first : second;
      continue;
    }
    char *to = makeText(int64_t(first.size + second.size));
    if (!to)
      return;
    copyBytes(to, first.data, int64_t(first.size));
    copyBytes(to + first.size, second.data, int64_t(second.size));
    out[i] = {to, first.size + second.size};
  }
}

ATC_KERNEL(StringSplit) {
  const Tensor data = in(0);
  const String delimiter = text("delimiter", "");
  const int64_t max = integer("maxsplit", -1), count = data.count();
  const bool ascii = integer("ascii", 0);
  int64_t *counts = wants(1) ? make<int64_t>(1, I64, data.dims()) : nullptr;
  if (!wants(0) && !counts)
    return;
  if (!data.known())
    return;
  Dims shape = data.dims();
  int64_t widest = 0;
  for (int64_t i = 0; i < count; ++i)
    widest = maximum(widest, split(data.as<String>()[i], delimiter, max, ascii, [](String) {}));
  if (!shape.push(widest))
    return fail("the input has rank %, which leaves no room for another dim", data.rank());
  String *out = wants(0) ? make<String>(0, Str, shape) : nullptr;
  if (wants(0) && !out)
    return;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    const int64_t pieces = split(data.as<String>()[i], delimiter, max, ascii, [&](String piece) {
      if (out)
        out[i * widest + at++] = piece;
    });
    for (; out && at < widest; ++at)
      out[i * widest + at] = {};
    if (counts)
      counts[i] = pieces;
  }
}

} // namespace atc::kernels
