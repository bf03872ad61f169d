//===-- Regex.cpp - matching texts with regular expressions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Regex.h"

namespace atc::kernels {

namespace {
constexpr uint32_t kLastCharacter = 0x10ffff;

bool isWord(String text, uint64_t at) {
  if (at >= text.size)
    return false;
  const char c = text.data[at];
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
} // namespace

bool Regex::accepts(const Instruction &i, uint32_t character) const {
  if (character > kLastCharacter)
    return false;
  switch (i.op) {
  case Op::Character:
    return character == uint32_t(i.a) ||
           (i.anyCase && lowerCase(character) == lowerCase(uint32_t(i.a)));
  case Op::Any:
    return true;
  case Op::AnyButNewline:
    return character != '\n';
  case Op::Class: {
    const uint32_t cases[3] = {character, lowerCase(character), upperCase(character)};
    for (int32_t r = i.a; r < i.a + i.b; ++r)
      for (int which = 0; which < (i.anyCase ? 3 : 1); ++which)
        if (cases[which] >= ranges[r].first && cases[which] <= ranges[r].last)
          return !i.negated;
    return i.negated;
  }
  default:
    return false;
  }
}

/// Adds a state and those that it leads to without a character.
void Regex::addState(int32_t first, int64_t stamp, String text, uint64_t offset) {
  int32_t count = 0;
  auto wait = [&](int32_t state) {
    if (addedAt[state] != stamp) {
      addedAt[state] = stamp;
      waiting[count++] = state;
    }
  };
  wait(first);
  while (count) {
    const int32_t state = waiting[--count];
    const Instruction &i = program[state];
    bool holds = false;
    switch (i.op) {
    case Op::Split:
      wait(state + i.b);
      wait(state + i.a);
      continue;
    case Op::Jump:
      wait(state + i.a);
      continue;
    case Op::TextBegin:
      holds = offset == 0;
      break;
    case Op::TextEnd:
      holds = offset == text.size;
      break;
    case Op::LineBegin:
      holds = offset == 0 || text.data[offset - 1] == '\n';
      break;
    case Op::LineEnd:
      holds = offset == text.size || text.data[offset] == '\n';
      break;
    case Op::WordEdge:
    case Op::NoWordEdge:
      holds =
          ((offset && isWord(text, offset - 1)) != isWord(text, offset)) == (i.op == Op::WordEdge);
      break;
    default:
      next[nextCount++] = state;
      continue;
    }
    if (holds)
      wait(state + 1);
  }
}

bool Regex::matches(String text) {
  if (!now) {
    now = c.scratch<int32_t>(size);
    next = c.scratch<int32_t>(size);
    waiting = c.scratch<int32_t>(size);
    addedAt = c.scratch<int64_t>(size);
    if (!now || !next || !waiting || !addedAt) {
      now = nullptr;
      return false;
    }
    __builtin_memset(addedAt, 0, uint64_t(size) * sizeof(int64_t));
  }
  nextCount = 0;
  addState(0, ++position, text, 0);
  for (uint64_t offset = 0; offset < text.size && nextCount;) {
    int32_t *swapped = now;
    now = next;
    next = swapped;
    const int32_t count = nextCount;
    nextCount = 0;
    const uint32_t character = decodeUtf8(text, offset);
    ++position;
    for (int32_t s = 0; s < count; ++s)
      if (accepts(program[now[s]], character))
        addState(now[s] + 1, position, text, offset);
  }
  for (int32_t s = 0; s < nextCount; ++s)
    if (program[next[s]].op == Op::Match)
      return true;
  return false;
}

ATC_KERNEL(RegexFullMatch) {
  const Tensor data = in(0);
  Regex regex(*this);
  if (!has("pattern"))
    return fail("has no pattern");
  if (!regex.compile(text("pattern", "")))
    return;
  uint8_t *out = make<uint8_t>(0, Bool, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i)
    out[i] = regex.matches(data.as<String>()[i]);
}

} // namespace atc::kernels
