//===-- Regex.cpp - matching texts with regular expressions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Regex.h"

namespace atc::kernels {

namespace {
bool isWord(String text, uint64_t at) {
  if (at >= text.size)
    return false;
  const char c = text.data[at];
  return isDigit(c) || isLetter(c) || c == '_';
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

/// Adds a state and those that it leads to without a character, in order of preference.
void Regex::addState(int32_t first, int64_t stamp, String text, uint64_t offset) {
  int32_t count = 0;
  auto wait = [&](int32_t state) {
    if (addedAt[state] != stamp)
      waiting[count++] = state;
  };
  wait(first);
  while (count) {
    const int32_t state = waiting[--count];
    // A state that waited twice is followed where it is preferred more.
    if (addedAt[state] == stamp)
      continue;
    addedAt[state] = stamp;
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

/// Allocates the lists of states once; returns false where memory could not be allocated.
bool Regex::reserve() {
  if (now)
    return true;
  now = c.scratch<int32_t>(size);
  next = c.scratch<int32_t>(size);
  waiting = c.scratch<int32_t>(2 * int64_t(size) + 1);
  addedAt = c.scratch<int64_t>(size);
  nowBegins = c.scratch<uint64_t>(size);
  nextBegins = c.scratch<uint64_t>(size);
  if (!now || !next || !waiting || !addedAt || !nowBegins || !nextBegins) {
    now = nullptr;
    return false;
  }
  __builtin_memset(addedAt, 0, uint64_t(size) * sizeof(int64_t));
  return true;
}

bool Regex::matches(String text) {
  if (!reserve())
    return false;
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

bool Regex::find(String text, uint64_t from, uint64_t &begin, uint64_t &end, bool longest) {
  if (!reserve())
    return false;
  bool found = false;
  nextCount = 0;
  ++position;
  auto add = [&](int32_t state, uint64_t offset, uint64_t matchBegin) {
    const int32_t before = nextCount;
    addState(state, position, text, offset);
    for (int32_t i = before; i < nextCount; ++i)
      nextBegins[i] = matchBegin;
  };
  for (uint64_t offset = from;;) {
    // A match that begins here is preferred less than those that began before.
    if (!found)
      add(0, offset, offset);
    int32_t *const states = now;
    now = next;
    next = states;
    uint64_t *const begins = nowBegins;
    nowBegins = nextBegins;
    nextBegins = begins;
    const int32_t count = nextCount;
    nextCount = 0;
    const bool atEnd = offset >= text.size;
    uint64_t behind = offset;
    const uint32_t character = atEnd ? 0 : decodeUtf8(text, behind);
    ++position;
    for (int32_t s = 0; s < count; ++s) {
      // States stand in the order of where their matches begin.
      if (longest && found && nowBegins[s] > begin)
        break;
      if (program[now[s]].op == Op::Match) {
        found = true;
        begin = nowBegins[s];
        end = offset;
        if (longest)
          continue;
        break;
      }
      if (!atEnd && accepts(program[now[s]], character))
        add(now[s] + 1, behind, nowBegins[s]);
    }
    if (atEnd || (found && !nextCount))
      return found;
    offset = behind;
  }
}

namespace {

/// Writes the text that stands for a match, in which \\0 is the match and a backslash another one,
/// to `to` (null: nowhere) and returns its size; -1 where it is invalid.
int64_t writeMatch(char *to, String rewrite, String match) {
  int64_t size = 0;
  auto put = [&](const char *data, uint64_t bytes) {
    if (to && bytes)
      copyBytes(to + size, data, int64_t(bytes));
    size += int64_t(bytes);
  };
  for (uint64_t i = 0; i < rewrite.size; ++i) {
    if (rewrite.data[i] != '\\') {
      put(rewrite.data + i, 1);
      continue;
    }
    if (++i == rewrite.size || (rewrite.data[i] != '0' && rewrite.data[i] != '\\'))
      return -1;
    if (rewrite.data[i] == '0')
      put(match.data, match.size);
    else
      put("\\", 1);
  }
  return size;
}

/// Writes the text with its matches replaced to `to` (null: nowhere) and returns its size.
int64_t replaceMatches(Regex &regex, String text, String rewrite, bool all, char *to) {
  int64_t size = 0;
  auto copy = [&](uint64_t from, uint64_t end) {
    if (to && end > from)
      copyBytes(to + size, text.data + from, int64_t(end - from));
    size += int64_t(end - from);
  };
  uint64_t at = 0, lastEnd = ~uint64_t(0), begin, end;
  while (at <= text.size && regex.find(text, at, begin, end)) {
    copy(at, begin);
    if (begin == end && begin == lastEnd) {
      // No empty match stands right behind another one.
      at = begin;
      if (at == text.size)
        break;
      decodeUtf8(text, at);
      copy(begin, at);
      continue;
    }
    size += writeMatch(to ? to + size : nullptr, rewrite, {text.data + begin, end - begin});
    at = lastEnd = end;
    if (!all)
      break;
  }
  copy(at, text.size);
  return size;
}

} // namespace

ATC_KERNEL(RegexReplace) {
  const Tensor data = in(0);
  Regex regex(*this);
  const String rewrite = text("rewrite", "");
  const bool all = integer("all", 1);
  if (!has("pattern"))
    return fail("has no pattern");
  if (writeMatch(nullptr, rewrite, {}) < 0)
    return fail("the rewrite has a backslash that neither 0 nor a backslash follows");
  if (!regex.compile(text("pattern", "")))
    return;
  String *out = make<String>(0, Str, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i) {
    const String from = data.as<String>()[i];
    const int64_t size = replaceMatches(regex, from, rewrite, all, nullptr);
    char *to = size ? makeText(size) : nullptr;
    if (size && !to)
      return;
    replaceMatches(regex, from, rewrite, all, to);
    out[i] = {to, uint64_t(size)};
  }
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
