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

/// Returns whether what an instruction without a character asks of a slot is true.
bool Regex::holds(const Instruction &i, String text, uint64_t offset) const {
  switch (i.op) {
  case Op::TextBegin:
    return offset == 0;
  case Op::TextEnd:
    return offset == text.size;
  case Op::LineBegin:
    return offset == 0 || text.data[offset - 1] == '\n';
  case Op::LineEnd:
    return offset == text.size || text.data[offset] == '\n';
  default:
    return ((offset && isWord(text, offset - 1)) != isWord(text, offset)) == (i.op == Op::WordEdge);
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
    switch (i.op) {
    case Op::Split:
      wait(state + i.b);
      wait(state + i.a);
      continue;
    case Op::Jump:
      wait(state + i.a);
      continue;
    case Op::Save:
      wait(state + 1);
      continue;
    case Op::Character:
    case Op::Any:
    case Op::AnyButNewline:
    case Op::Class:
    case Op::Match:
      next[nextCount++] = state;
      continue;
    default:
      if (holds(i, text, offset))
        wait(state + 1);
    }
  }
}

int32_t Regex::exchangeStates(uint64_t *&current, uint64_t *&following) {
  int32_t *const states = now;
  now = next;
  next = states;
  uint64_t *const kept = current;
  current = following;
  following = kept;
  const int32_t count = nextCount;
  nextCount = 0;
  return count;
}

/// Adds a state as addState does, and also keeps the positions of groups per state; those of the
/// first state are in `offsets`.
void Regex::follow(int32_t first, String text, uint64_t offset) {
  const int64_t width = 2 * (int64_t(groupCount) + 1);
  int32_t count = 0;
  pending[count++] = {first, 0, 0};
  while (count) {
    const Pending entry = pending[--count];
    if (entry.state < 0) {
      offsets[entry.slot] = entry.value;
      continue;
    }
    if (addedAt[entry.state] == position)
      continue;
    addedAt[entry.state] = position;
    const Instruction &i = program[entry.state];
    switch (i.op) {
    case Op::Split:
      pending[count++] = {entry.state + i.b, 0, 0};
      pending[count++] = {entry.state + i.a, 0, 0};
      continue;
    case Op::Jump:
      pending[count++] = {entry.state + i.a, 0, 0};
      continue;
    case Op::Save:
      // The slot is as before when all that follows from here has been added.
      pending[count++] = {-1, i.a, offsets[i.a]};
      pending[count++] = {entry.state + 1, 0, 0};
      offsets[i.a] = offset;
      continue;
    case Op::Character:
    case Op::Any:
    case Op::AnyButNewline:
    case Op::Class:
    case Op::Match:
      copyBytes(nextOffsets + nextCount * width, offsets, width * int64_t(sizeof(uint64_t)));
      next[nextCount++] = entry.state;
      continue;
    default:
      if (holds(i, text, offset))
        pending[count++] = {entry.state + 1, 0, 0};
    }
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
    const int32_t count = exchangeStates(nowBegins, nextBegins);
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

bool Regex::reserveOffsets() {
  if (found)
    return true;
  const int64_t width = 2 * (int64_t(groupCount) + 1);
  // Each state is followed once and leaves at most two entries.
  pending = c.scratch<Pending>(2 * int64_t(size) + 1);
  offsets = c.scratch<uint64_t>(width);
  currentOffsets = c.scratch<uint64_t>(size * width);
  nextOffsets = c.scratch<uint64_t>(size * width);
  if (pending && offsets && currentOffsets && nextOffsets)
    found = c.scratch<uint64_t>(width);
  return found;
}

const uint64_t *Regex::capture(String text, uint64_t begin) {
  if (!reserve() || !reserveOffsets())
    return nullptr;
  const int64_t width = 2 * (int64_t(groupCount) + 1);
  for (int64_t i = 0; i < width; ++i)
    offsets[i] = found[i] = ~uint64_t(0);
  found[0] = offsets[0] = begin;
  nextCount = 0;
  ++position;
  follow(0, text, begin);
  for (uint64_t offset = begin; nextCount;) {
    const int32_t count = exchangeStates(currentOffsets, nextOffsets);
    const bool atEnd = offset >= text.size;
    uint64_t behind = offset;
    const uint32_t character = atEnd ? 0 : decodeUtf8(text, behind);
    ++position;
    for (int32_t s = 0; s < count; ++s) {
      if (program[now[s]].op == Op::Match) {
        // States after this one are less preferred, so they are dropped.
        copyBytes(found, currentOffsets + s * width, width * int64_t(sizeof(uint64_t)));
        found[1] = offset;
        break;
      }
      if (atEnd || !accepts(program[now[s]], character))
        continue;
      copyBytes(offsets, currentOffsets + s * width, width * int64_t(sizeof(uint64_t)));
      follow(now[s] + 1, text, behind);
    }
    if (atEnd)
      break;
    offset = behind;
  }
  return found;
}

namespace {

/// Returns the highest number of a group that a rewrite names, 0 for the match; -1 where a
/// backslash stands in front of something else.
int32_t highestGroup(String rewrite) {
  int32_t highest = 0;
  for (uint64_t i = 0; i < rewrite.size; ++i) {
    if (rewrite.data[i] != '\\')
      continue;
    if (++i == rewrite.size || (!isDigit(rewrite.data[i]) && rewrite.data[i] != '\\'))
      return -1;
    if (isDigit(rewrite.data[i]))
      highest = maximum(highest, int32_t(rewrite.data[i] - '0'));
  }
  return highest;
}

/// Writes what stands for a match to `to` (null: nowhere) and returns its size; `offsets` are those
/// of the match and its groups.
int64_t writeMatch(char *to, String rewrite, String text, const uint64_t *offsets) {
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
    ++i;
    if (!isDigit(rewrite.data[i])) {
      put("\\", 1);
      continue;
    }
    const uint64_t *group = offsets + 2 * (rewrite.data[i] - '0');
    if (group[0] != ~uint64_t(0) && group[1] != ~uint64_t(0))
      put(text.data + group[0], group[1] - group[0]);
  }
  return size;
}

/// Writes the text with its matches replaced to `to` (null: nowhere) and returns its size.
int64_t replaceMatches(Regex &regex, String text, String rewrite, bool all, char *to) {
  const bool namesGroups = highestGroup(rewrite) > 0;
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
    const uint64_t whole[] = {begin, end};
    const uint64_t *offsets = namesGroups ? regex.capture(text, begin) : whole;
    if (!offsets)
      return size; // the call has failed
    size += writeMatch(to ? to + size : nullptr, rewrite, text, offsets);
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
  const int32_t group = highestGroup(rewrite);
  if (group < 0)
    return fail("the rewrite has a backslash that neither a digit nor a backslash follows");
  if (!regex.compile(text("pattern", "")))
    return;
  if (group > regex.groups())
    return fail("the rewrite names group % of a pattern that has %", group, regex.groups());
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
