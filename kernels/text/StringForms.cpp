//===-- StringForms.cpp - texts of numbers and bytes, n-grams, characters -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Strings.h"

namespace atc::kernels {

namespace {

/// Returns a text of the call's memory; without characters where there is none.
String copied(Context &c, const char *data, int64_t size) {
  char *to = size ? c.makeText(size) : nullptr;
  if (!to)
    return {};
  copyBytes(to, data, size);
  return {to, uint64_t(size)};
}

/// Brings a number to a width: behind its sign by zeros, else by spaces on one side. Types without
/// sign have none in front of positive numbers either.
String padded(Context &c, char *number, int64_t size, int64_t width, char fill, bool isSigned) {
  if (isSigned && (fill == '+' || fill == ' ') && number[0] != '-') {
    for (int64_t i = size++; i > 0; --i)
      number[i] = number[i - 1];
    number[0] = fill;
  }
  if (width <= size)
    return copied(c, number, size);
  const int64_t missing = width - size;
  char *to = c.makeText(width);
  if (!to)
    return {};
  // Only what has digits is filled up by zeros.
  const char last = number[size - 1];
  const int64_t front = fill == '-'                            ? size
                        : fill != '0' || !isDigit(last)        ? 0
                        : number[0] == '-' || number[0] == '+' ? 1
                                                               : 0;
  copyBytes(to, number, front);
  for (int64_t i = 0; i < missing; ++i)
    to[front + i] = fill == '0' && isDigit(last) ? '0' : ' ';
  copyBytes(to + front + missing, number + front, size - front);
  return {to, uint64_t(width)};
}

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the six bits that a character of the alphabet for addresses stands for, or -1.
int sixBits(char c) {
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : isDigit(c)           ? c - '0' + 52
         : c == '-'             ? 62
         : c == '_'             ? 63
                                : -1;
}

String encoded(Context &c, String text, bool pads) {
  const int64_t rest = int64_t(text.size % 3), whole = int64_t(text.size / 3) * 4;
  const int64_t size = whole + (rest ? (pads ? 4 : rest + 1) : 0);
  char *to = size ? c.makeText(size) : nullptr;
  if (!to)
    return {};
  const auto *from = reinterpret_cast<const uint8_t *>(text.data);
  for (uint64_t i = 0, at = 0; i < text.size; i += 3, at += 4) {
    const uint64_t left = text.size - i;
    const uint32_t bits = uint32_t(from[i]) << 16 | (left > 1 ? uint32_t(from[i + 1]) << 8 : 0) |
                          (left > 2 ? from[i + 2] : 0);
    for (uint64_t digit = 0; digit < 4 && at + digit < uint64_t(size); ++digit)
      to[at + digit] = digit > left ? '=' : kBase64[bits >> (18 - 6 * digit) & 63];
  }
  return {to, uint64_t(size)};
}

/// Returns false where the text is none of the encoding.
bool decoded(Context &c, String text, String &result) {
  while (text.size % 4 == 0 && text.size && text.data[text.size - 1] == '=') {
    --text.size;
    if (text.data[text.size - 1] == '=')
      --text.size;
    break;
  }
  const int64_t rest = int64_t(text.size % 4),
                size = int64_t(text.size / 4) * 3 + maximum(rest - 1, int64_t(0));
  if (rest == 1)
    return false;
  char *to = size ? c.makeText(size) : nullptr;
  if (size && !to)
    return true; // the call has failed
  uint32_t bits = 0;
  int64_t at = 0;
  for (uint64_t i = 0; i < text.size; ++i) {
    const int six = sixBits(text.data[i]);
    if (six < 0)
      return false;
    bits = bits << 6 | uint32_t(six);
    if (i % 4 != 0 && at < size)
      to[at++] = char(bits >> (6 - 2 * (i % 4)));
  }
  result = {to, uint64_t(size)};
  return true;
}

} // namespace

/// Writes numbers as printf does with one of the flags "+- 0#", floats with `digits` in a notation.
ATC_KERNEL(FormatNumber) {
  const Tensor data = in(0);
  const int64_t width = integer("width", 0), digits = integer("digits", 6);
  const String fillText = text("fill", "");
  const char fill = fillText.size ? fillText.data[0] : '\0';
  const Notation notation = is("notation", "fixed", "scientific") ? Notation::Scientific
                            : is("notation", "fixed", "shortest") ? Notation::Shortest
                                                                  : Notation::Fixed;
  if (digits < 0 || digits > kMaxDigits || width > (1 << 20))
    return fail("has the width % and % digits, which is out of range", width, digits);
  const uint8_t type = data.dtype();
  String *out = make<String>(0, Str, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  const bool isReal = type == F32 || type == F64 || type == F16 || type == BF16;
  const bool isSigned = isReal || type == I8 || type == I16 || type == I32 || type == I64;
  for (int64_t i = 0; i < count; ++i) {
    char number[kFixedText + 1];
    const int64_t size =
        isReal        ? printReal(number, numberAt(data, i), notation, int(digits), fill == '#')
        : type == U64 ? printNumber(number, data.as<uint64_t>()[i])
                      : printNumber(number, integerAt(data, i));
    out[i] = padded(*this, number, size, width, fill, isSigned);
  }
}

ATC_KERNEL(Base64) {
  const Tensor data = in(0);
  const bool decodes = integer("decode", 0), pads = integer("pad", 0);
  String *out = make<String>(0, Str, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i) {
    const String from = data.as<String>()[i];
    out[i] = {};
    if (!decodes)
      out[i] = encoded(*this, from, pads);
    else if (!decoded(*this, from, out[i]))
      return fail("text % is no base64 with the characters '-' and '_'", i);
  }
}

/// The bytes of each text as numbers of a type, along one more dim. With `length` texts are cut or
/// filled with bytes of 0 to that many bytes.
ATC_KERNEL(TextBytes) {
  const Tensor data = in(0);
  const uint8_t type = uint8_t(integer("to", U8));
  const int64_t width = bitsOf(type) / 8, count = data.count();
  if (width < 1 || type == Str)
    return failType(type);
  if (!data.known())
    return;
  const int64_t length = integer("length", -1);
  const uint64_t bytes = length >= 0 ? uint64_t(length) : count ? data.as<String>()[0].size : 0;
  for (int64_t i = 1; i < count && length < 0; ++i)
    if (data.as<String>()[i].size != bytes)
      return fail("text % has % bytes, the first one %", i, data.as<String>()[i].size, bytes);
  if (bytes % uint64_t(width))
    return fail("texts of % bytes are not made of numbers of %", bytes, width);
  Dims shape = data.dims();
  if (!shape.push(int64_t(bytes) / width))
    return fail("the input has rank %, which leaves no room for another dim", data.rank());
  char *out = make(0, type, shape);
  if (!out)
    return;
  const bool swaps = integer("swap", 0);
  for (int64_t i = 0; i < count && bytes; ++i, out += bytes) {
    const String from = data.as<String>()[i];
    const uint64_t given = minimum(from.size, bytes);
    copyBytes(out, from.data, int64_t(given));
    for (uint64_t b = given; b < bytes; ++b)
      out[b] = 0;
    for (uint64_t b = 0; swaps && b < bytes; b += uint64_t(width))
      for (uint64_t low = b, high = b + uint64_t(width) - 1; low < high; ++low, --high) {
        const char kept = out[low];
        out[low] = out[high];
        out[high] = kept;
      }
  }
}

/// The texts of each row (input 1 has where rows begin) that stand side by side, for each width.
/// Outputs: the n-grams and where the rows of these begin.
ATC_KERNEL(StringNGrams) {
  const Tensor data = in(0), splits = in(1);
  const List<int64_t> widths = integers("widths");
  const int64_t padWidth = integer("pad_width", -1);
  const bool keepsShort = integer("preserve_short", 0);
  const String between = text("separator", " "), left = text("left_pad", ""),
               right = text("right_pad", "");
  if (!data.known() || !splits.known())
    return;
  const int64_t rows = maximum(splits.count() - 1, int64_t(0)), texts = data.count();
  for (int64_t r = 0; r < splits.count(); ++r) {
    const int64_t at = splits.as<int64_t>()[r];
    if (at < (r ? splits.as<int64_t>()[r - 1] : 0) || at > texts || (r == 0 && at != 0))
      return fail("row % begins at %, which is not in order", r, at);
  }
  for (int64_t w = 0; w < widths.size; ++w)
    if (widths[w] < 1 || widths[w] > (1 << 16))
      return fail("the width % is not one from 1 to %", widths[w], 1 << 16);
  if (padWidth > (1 << 16))
    return fail("% pads are more than %", padWidth, 1 << 16);
  auto padOf = [&](int64_t width) {
    return padWidth < 0 ? width - 1 : minimum(padWidth, width - 1);
  };
  // Calls gram(first, width) with the position of each n-gram, counted from the row's begin; pads
  // are in front of 0 and behind the last text.
  auto forEach = [&](int64_t length, auto &&gram) {
    bool any = false;
    for (int64_t w = 0; w < widths.size; ++w) {
      const int64_t width = widths[w], pad = padOf(width);
      for (int64_t first = -pad; first + width <= length + pad; ++first, any = true)
        gram(first, width);
    }
    // All of a short row with its pads.
    if (!any && keepsShort && length > 0)
      gram(-maximum(padWidth, int64_t(0)), length + 2 * maximum(padWidth, int64_t(0)));
  };
  auto lengthOf = [&](int64_t r) { return splits.as<int64_t>()[r + 1] - splits.as<int64_t>()[r]; };
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r)
    forEach(lengthOf(r), [&](int64_t, int64_t) { ++total; });
  String *out = wants(0) ? make<String>(0, Str, Dims(total)) : nullptr;
  if (wants(0) && !out)
    return;
  int64_t *begins = wants(1) ? make<int64_t>(1, I64, splits.dims()) : nullptr;
  if (wants(1) && !begins)
    return;
  int64_t made = 0;
  for (int64_t r = 0; begins && r < splits.count(); ++r) {
    begins[r] = made;
    if (r < rows)
      forEach(lengthOf(r), [&](int64_t, int64_t) { ++made; });
  }
  bool hasMemory = true;
  for (int64_t r = 0; out && r < rows; ++r) {
    const String *row = data.as<String>() + splits.as<int64_t>()[r];
    const int64_t length = lengthOf(r);
    forEach(length, [&](int64_t first, int64_t width) {
      if (!hasMemory)
        return;
      auto part = [&](int64_t i) { return i < 0 ? left : i >= length ? right : row[i]; };
      int64_t size = int64_t(between.size) * (width - 1);
      for (int64_t i = first; i < first + width; ++i)
        size += int64_t(part(i).size);
      char *to = size ? makeText(size) : nullptr;
      hasMemory = to || !size;
      if (!to)
        return void(++out);
      *out++ = {to, uint64_t(size)};
      auto put = [&](String what) {
        if (what.size)
          copyBytes(to, what.data, int64_t(what.size)), to += what.size;
      };
      for (int64_t i = first; i < first + width; ++i) {
        if (i > first)
          put(between);
        put(part(i));
      }
    });
  }
}

/// The characters of texts of UTF-8. Outputs: where the characters of each text begin, the
/// characters, and the byte at which each stands. What is no character becomes `replacement`, or is
/// left out where that is negative; with `strict` it fails the call.
ATC_KERNEL(TextCharacters) {
  const Tensor data = in(0);
  const int64_t replacement = integer("replacement", 0xfffd), count = data.count();
  const bool strict = integer("strict", 0), controls = integer("replace_controls", 0);
  if (!data.known())
    return;
  bool valid = true;
  auto forEach = [&](String from, auto &&visit) {
    for (uint64_t at = 0; at < from.size;) {
      const uint64_t begin = at;
      uint32_t character = decodeUtf8(from, at);
      const bool stray = character > kLastCharacter || (character >= 0xd800 && character < 0xe000);
      valid &= !stray;
      if (stray || (controls && character < 0x20)) {
        if (replacement < 0)
          continue;
        character = uint32_t(replacement);
      }
      visit(character, begin);
    }
  };
  int64_t *splits = scratch<int64_t>(count + 1);
  if (!splits)
    return;
  splits[0] = 0;
  for (int64_t i = 0; i < count; ++i) {
    splits[i + 1] = splits[i];
    forEach(data.as<String>()[i], [&](uint32_t, uint64_t) { ++splits[i + 1]; });
  }
  if (strict && !valid)
    return fail("a text is no UTF-8");
  int64_t *begins = wants(0) ? make<int64_t>(0, I64, Dims(count + 1)) : nullptr;
  if (wants(0) && !begins)
    return;
  int32_t *characters = wants(1) ? make<int32_t>(1, I32, Dims(splits[count])) : nullptr;
  if (wants(1) && !characters)
    return;
  int64_t *offsets = wants(2) ? make<int64_t>(2, I64, Dims(splits[count])) : nullptr;
  if (wants(2) && !offsets)
    return;
  if (begins)
    copyBytes(begins, splits, (count + 1) * int64_t(sizeof(int64_t)));
  for (int64_t i = 0; (characters || offsets) && i < count; ++i)
    forEach(data.as<String>()[i], [&](uint32_t character, uint64_t begin) {
      if (characters)
        *characters++ = int32_t(character);
      if (offsets)
        *offsets++ = int64_t(begin);
    });
}

/// Texts of UTF-8 from characters; input 1 has where those of each text begin.
ATC_KERNEL(CharactersText) {
  const Tensor data = in(0), splits = in(1);
  const int64_t replacement = integer("replacement", 0xfffd);
  const bool strict = integer("strict", 0);
  if (!splits.known())
    return;
  const int64_t texts = splits.count() - 1;
  if (texts < 0)
    return fail("has no splits");
  String *out = make<String>(0, Str, Dims(texts));
  if (!out)
    return;
  for (int64_t i = 0; i < texts; ++i) {
    const int64_t begin = splits.as<int64_t>()[i], end = splits.as<int64_t>()[i + 1];
    if (begin < 0 || end < begin || end > data.count())
      return fail("text % has the characters from % to %, of %", i, begin, end, data.count());
    char *to = end > begin ? makeText(4 * (end - begin)) : nullptr;
    if (end > begin && !to)
      return;
    int64_t size = 0;
    for (int64_t at = begin; at < end; ++at) {
      int64_t character = data.as<int32_t>()[at];
      if (character < 0 || character > kLastCharacter ||
          (character >= 0xd800 && character < 0xe000)) {
        if (strict)
          return fail("% is no character", character);
        if (replacement < 0)
          continue;
        character = replacement;
      }
      size += encodeUtf8(to + size, uint32_t(character));
    }
    out[i] = {to, uint64_t(size)};
  }
}

/// Joins the texts of the same segment, in their order.
ATC_KERNEL(SegmentJoin) {
  const Tensor data = in(0), ids = in(1), number = in(2);
  const String between = text("separator", "");
  if (!number.known())
    return;
  const int64_t segments = integerAt(number, 0), count = ids.count();
  if (segments < 0 || (count && data.count() != count))
    return fail("% texts, % of them in segments, of %", data.count(), count, segments);
  String *out = make<String>(0, Str, Dims(segments));
  int64_t *sizes = out ? scratch<int64_t>(maximum(segments, int64_t(1))) : nullptr;
  if (!sizes)
    return;
  for (int64_t i = 0; i < segments; ++i)
    sizes[i] = -1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = ids.as<int64_t>()[i];
    if (id < 0 || id >= segments)
      return fail("segment % is not one of %", id, segments);
    sizes[id] += int64_t(data.as<String>()[i].size) + (sizes[id] < 0 ? 1 : int64_t(between.size));
  }
  for (int64_t i = 0; i < segments; ++i) {
    char *to = sizes[i] > 0 ? makeText(sizes[i]) : nullptr;
    if (sizes[i] > 0 && !to)
      return;
    out[i] = {to, 0};
    // From here on, sizes counts the texts that are joined: all but the first have `between` before
    // them, also where the first one has no characters.
    sizes[i] = 0;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = ids.as<int64_t>()[i];
    auto put = [&](String part) {
      if (part.size)
        copyBytes(const_cast<char *>(out[id].data) + out[id].size, part.data, int64_t(part.size));
      out[id].size += part.size;
    };
    if (sizes[id]++)
      put(between);
    put(data.as<String>()[i]);
  }
}

} // namespace atc::kernels
