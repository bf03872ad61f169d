//===-- Tokenizer.cpp - divides texts into tokens --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Regex.h"

namespace atc::kernels {

namespace {

int64_t countCharacters(String text) {
  int64_t count = 0;
  for (uint64_t at = 0; at < text.size; ++count)
    decodeUtf8(text, at);
  return count;
}

String part(String text, uint64_t begin, uint64_t end) { return {text.data + begin, end - begin}; }

/// Sets `at` behind the character at `begin`; returns false at the end of the text.
bool advance(String text, uint64_t begin, uint64_t &at) {
  at = begin;
  if (at >= text.size)
    return false;
  decodeUtf8(text, at);
  return true;
}

template <typename Add> void divideCharacters(String text, Add &&add) {
  for (uint64_t begin = 0, at = 0; advance(text, begin, at); begin = at)
    add(part(text, begin, at));
}

/// Finds the tokens, which are the longest matches. A match that is too short is searched again
/// from its second character.
template <typename Add> void findMatches(String text, Regex &token, int64_t minSize, Add &&add) {
  uint64_t begin, end;
  for (uint64_t at = 0; at <= text.size && token.find(text, at, begin, end, true);) {
    const String piece = part(text, begin, end);
    if (countCharacters(piece) >= minSize) {
      add(piece);
      at = end;
    } else if (!advance(text, begin, at)) {
      return;
    }
  }
}

/// Finds what stands between the longest matches of a separator.
template <typename Add> void divideAt(String text, Regex &separator, int64_t minSize, Add &&add) {
  auto piece = [&](uint64_t begin, uint64_t end) {
    if (countCharacters(part(text, begin, end)) >= minSize)
      add(part(text, begin, end));
  };
  uint64_t at = 0, begin, end;
  while (at <= text.size && separator.find(text, at, begin, end, true)) {
    piece(at, begin);
    if (end > begin)
      at = end;
    else if (!advance(text, begin, at))
      return;
  }
  piece(at, text.size);
}

/// A part of the text of a row.
struct Piece {
  int64_t row;
  String text;
};

/// The parts of all rows, in their order.
struct Pieces {
  Context &c;
  Piece *data = nullptr;
  int64_t count = 0;

  /// Replaces each part by those to which `step(text, add)` divides it. Returns false where memory
  /// could not be allocated.
  template <typename Step> bool divide(Step &&step) {
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i)
      step(data[i].text, [&](String) { ++total; });
    Piece *divided = c.scratch<Piece>(total + 1);
    if (!divided)
      return false;
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i)
      step(data[i].text, [&](String text) { divided[at++] = {data[i].row, text}; });
    data = divided;
    count = total;
    return true;
  }
};

} // namespace

ATC_KERNEL(Tokenizer) {
  const Tensor data = in(0);
  const bool mark = integer("mark", 0), hasToken = has("tokenexp");
  const List<String> separators = strings("separators");
  const int64_t minSize = integer("mincharnum", 1);
  if (hasToken == (separators.size > 0))
    return fail("needs either tokenexp or separators");
  const String token = text("tokenexp", "");
  const bool characters =
      hasToken ? equal(token, ".") : separators.size == 1 && !separators[0].size;
  if (minSize < 1 || (characters && minSize > 1))
    return fail("mincharnum is %; it must be positive, and 1 for characters", minSize);
  Regex matched(*this);
  if (hasToken && !matched.compile(token))
    return;
  if (!data.known())
    return;
  const int64_t rows = data.count();
  Pieces pieces{*this, scratch<Piece>(rows + 1), rows};
  if (!pieces.data)
    return;
  for (int64_t i = 0; i < rows; ++i)
    pieces.data[i] = {i, data.as<String>()[i]};
  bool done = true;
  if (characters)
    done = pieces.divide([](String text, auto &&add) { divideCharacters(text, add); });
  else if (hasToken)
    done =
        pieces.divide([&](String text, auto &&add) { findMatches(text, matched, minSize, add); });
  for (int64_t s = 0; s < separators.size && !characters && done; ++s) {
    Regex separator(*this);
    done = separator.compile(separators[s]) &&
           pieces.divide([&](String text, auto &&add) { divideAt(text, separator, minSize, add); });
  }
  if (!done)
    return;
  int64_t widest = 0;
  for (int64_t i = 0, size = 0; i < pieces.count; ++i) {
    size = i && pieces.data[i].row == pieces.data[i - 1].row ? size + 1 : 1;
    widest = maximum(widest, size);
  }
  if (widest && mark)
    widest += 2;
  Dims shape = data.dims();
  if (rows)
    shape.push(widest);
  String *out = make<String>(0, Str, shape);
  if (!out)
    return;
  const String pad = text("pad_value", "");
  for (int64_t row = 0, i = 0; widest && row < rows; ++row) {
    int64_t at = row * widest;
    if (mark)
      out[at++] = {"\x02", 1};
    for (; i < pieces.count && pieces.data[i].row == row; ++i)
      out[at++] = pieces.data[i].text;
    if (mark)
      out[at++] = {"\x03", 1};
    while (at < (row + 1) * widest)
      out[at++] = pad;
  }
}

} // namespace atc::kernels
