//===-- RegexParser.cpp - from patterns to programs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/text/Regex.h"

namespace atc::kernels {

namespace {
constexpr int kDeepest = 500;
constexpr int32_t kLargestProgram = 1 << 18;
constexpr int64_t kMaxRepeats = 1000;

int hexDigit(char c) {
  return isDigit(c)             ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/// Room for one more item in a list. False without memory.
template <typename T> bool makeRoom(Context &c, T *&list, int32_t size, int32_t &capacity) {
  if (size < capacity)
    return true;
  capacity = maximum(capacity * 2, 64);
  T *larger = c.scratch<T>(capacity);
  if (larger && size)
    copyBytes(larger, list, size * int64_t(sizeof(T)));
  list = larger;
  return list != nullptr;
}
} // namespace

bool Regex::invalid(const char *what) {
  c.fail(what, int64_t(at));
  return false;
}

bool Regex::take(const char *what) {
  const uint64_t length = __builtin_strlen(what);
  if (pattern.size - at < length || __builtin_memcmp(pattern.data + at, what, length) != 0)
    return false;
  at += length;
  return true;
}

bool Regex::emit(Op op, int32_t a, int32_t b, bool anyCase, bool negated) {
  if (size >= kLargestProgram)
    return invalid("the pattern is too large (at character %)");
  if (!makeRoom(c, program, size, capacity))
    return false;
  program[size++] = {op, anyCase, negated, a, b};
  return true;
}

bool Regex::insert(int32_t where, Op op, int32_t a, int32_t b) {
  if (!emit(op))
    return false;
  __builtin_memmove(program + where + 1, program + where,
                    uint64_t(size - 1 - where) * sizeof(Instruction));
  program[where] = {op, false, false, a, b};
  return true;
}

bool Regex::addRange(uint32_t first, uint32_t last) {
  if (!makeRoom(c, ranges, rangeCount, rangeCapacity))
    return false;
  ranges[rangeCount++] = {first, last};
  return true;
}

bool Regex::compile(String text) {
  pattern = text;
  Flags flags;
  if (!alternatives(flags, 0))
    return false;
  if (more())
    return invalid("the pattern has a ')' without '(' (at character %)");
  return emit(Op::Match);
}

bool Regex::alternatives(Flags &flags, int depth) {
  if (depth > kDeepest)
    return invalid("the pattern's groups are nested too deep (at character %)");
  const int32_t start = size;
  if (!sequence(flags, depth))
    return false;
  if (!take("|"))
    return true;
  // Code: split left, right; left; jump to the end; right
  const int32_t length = size - start;
  if (!insert(start, Op::Split, 1, length + 2) || !emit(Op::Jump))
    return false;
  const int32_t jump = size - 1;
  // A chain of many alternatives is a loop here, not a recursion.
  int32_t pending = jump;
  program[pending].b = -1; // the jump before it in the list of those to the end
  for (;;) {
    const int32_t right = size;
    if (!sequence(flags, depth))
      return false;
    if (!take("|"))
      break;
    const int32_t rightLength = size - right;
    if (!insert(right, Op::Split, 1, rightLength + 2) || !emit(Op::Jump))
      return false;
    program[size - 1].b = pending;
    pending = size - 1;
  }
  while (pending >= 0) {
    const int32_t before = program[pending].b;
    program[pending].a = size - pending;
    program[pending].b = 0;
    pending = before;
  }
  return true;
}

bool Regex::sequence(Flags &flags, int depth) {
  while (more() && peek() != '|' && peek() != ')') {
    const int32_t start = size;
    if (take("\\Q")) {
      while (more() && !take("\\E"))
        if (!emit(Op::Character, int32_t(decodeUtf8(pattern, at)), 0, flags.anyCase))
          return false;
      // A following quantifier applies only to the last character.
      if (size > start && !repeat(size - 1, flags))
        return false;
      continue;
    }
    if (!atom(flags, depth) || !repeat(start, flags))
      return false;
  }
  return true;
}

bool Regex::atom(Flags &flags, int depth) {
  int64_t min, max;
  if (quantifier(min, max))
    return invalid("the pattern repeats nothing (at character %)");
  switch (peek()) {
  case '(':
    return group(flags, depth);
  case '[':
    return bracket(flags);
  case '\\':
    return escape(flags);
  case '.':
    ++at;
    return emit(flags.dotAll ? Op::Any : Op::AnyButNewline);
  case '^':
    ++at;
    return emit(flags.multiLine ? Op::LineBegin : Op::TextBegin);
  case '$':
    ++at;
    return emit(flags.multiLine ? Op::LineEnd : Op::TextEnd);
  default:
    return emit(Op::Character, int32_t(decodeUtf8(pattern, at)), 0, flags.anyCase);
  }
}

bool Regex::group(Flags &flags, int depth) {
  ++at;
  Flags inner = flags;
  bool isNumbered = true;
  if (take("?P<") || take("?<")) {
    const uint64_t name = at;
    while (isLetter(peek()) || isDigit(peek()) || peek() == '_')
      ++at;
    if (at == name || !take(">"))
      return invalid("the pattern has a group of no valid name (at character %)");
  } else if (take("?")) {
    isNumbered = false;
    bool value = true, anyFlag = false;
    for (; more() && peek() != ':' && peek() != ')'; ++at) {
      switch (peek()) {
      case 'i':
        inner.anyCase = value;
        break;
      case 'm':
        inner.multiLine = value;
        break;
      case 's':
        inner.dotAll = value;
        break;
      case 'U':
        inner.lazy = value;
        break;
      case '-':
        if (!value)
          return invalid("the pattern has no valid flags (at character %)");
        value = false;
        anyFlag = false;
        continue;
      default:
        return invalid("the pattern has a group of an unknown kind (at character %)");
      }
      anyFlag = true;
    }
    if (!value && !anyFlag)
      return invalid("the pattern has no valid flags (at character %)");
    if (take(")")) { // flags for what follows in this group
      flags = inner;
      return true;
    }
    take(":");
  }
  const int32_t number = isNumbered ? ++groupCount : 0;
  if (isNumbered && !emit(Op::Save, 2 * number))
    return false;
  if (!alternatives(inner, depth + 1))
    return false;
  if (!take(")"))
    return invalid("the pattern lacks a ')' (at character %)");
  return !isNumbered || emit(Op::Save, 2 * number + 1);
}

bool Regex::escape(const Flags &flags) {
  const char letter = at + 1 < pattern.size ? pattern.data[at + 1] : '\0';
  Op op = Op::Match;
  switch (letter) {
  case 'A':
    op = Op::TextBegin;
    break;
  case 'z':
    op = Op::TextEnd;
    break;
  case 'b':
    op = Op::WordEdge;
    break;
  case 'B':
    op = Op::NoWordEdge;
    break;
  case 'd':
  case 'D':
  case 's':
  case 'S':
  case 'w':
  case 'W': {
    const int32_t first = rangeCount;
    at += 2;
    return addPerlClass(letter) && emit(Op::Class, first, rangeCount - first, flags.anyCase);
  }
  default:
    break;
  }
  if (op != Op::Match) {
    at += 2;
    return emit(op);
  }
  uint32_t character;
  return escapedCharacter(character) && emit(Op::Character, int32_t(character), 0, flags.anyCase);
}

bool Regex::escapedCharacter(uint32_t &character) {
  ++at;
  if (!more())
    return invalid("the pattern ends in '\\' (at character %)");
  const char letter = peek();
  if (uint8_t(letter) >= 0x80) {
    character = decodeUtf8(pattern, at);
    return true;
  }
  ++at;
  switch (letter) {
  case 'a':
    character = 7;
    return true;
  case 'f':
    character = '\f';
    return true;
  case 't':
    character = '\t';
    return true;
  case 'n':
    character = '\n';
    return true;
  case 'r':
    character = '\r';
    return true;
  case 'v':
    character = '\v';
    return true;
  case 'x': {
    const bool braces = take("{");
    character = 0;
    int digits = 0;
    for (; hexDigit(peek()) >= 0 && (braces ? character <= kLastCharacter : digits < 2);
         ++at, ++digits)
      character = character * 16 + uint32_t(hexDigit(peek()));
    if ((braces ? digits < 1 || !take("}") : digits != 2) || character > kLastCharacter)
      return invalid("the pattern has no valid hexadecimal number (at character %)");
    return true;
  }
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
    // \0 to \077, \100 and up; a single other digit would refer to a group.
    if (letter != '0' && !(peek() >= '0' && peek() <= '7'))
      return invalid("the pattern refers to what a group matched (at character %)");
    character = uint32_t(letter - '0');
    for (int digits = 1; digits < 3 && peek() >= '0' && peek() <= '7'; ++digits)
      character = character * 8 + uint32_t(pattern.data[at++] - '0');
    return true;
  default:
    if (isLetter(letter) || isDigit(letter))
      return invalid("the pattern has an unknown escape (at character %)");
    character = uint8_t(letter);
    return true;
  }
}

bool Regex::addPerlClass(char letter) {
  switch (letter) {
  case 'd':
    return addRange('0', '9');
  case 'D':
    return addRange(0, '0' - 1) && addRange('9' + 1, kLastCharacter);
  case 's':
    return addRange('\t', '\n') && addRange('\f', '\r') && addRange(' ', ' ');
  case 'S':
    return addRange(0, 8) && addRange(11, 11) && addRange(14, 31) && addRange(33, kLastCharacter);
  case 'w':
    return addRange('0', '9') && addRange('A', 'Z') && addRange('_', '_') && addRange('a', 'z');
  default:
    return addRange(0, '0' - 1) && addRange('9' + 1, 'A' - 1) && addRange('Z' + 1, '_' - 1) &&
           addRange('`', '`') && addRange('z' + 1, kLastCharacter);
  }
}

/// [:name:] or [:^name:], in brackets.
bool Regex::addNamedClass() {
  const bool negated = take("^");
  const int32_t first = rangeCount;
  bool added;
  if (take("alnum:]"))
    added = addRange('0', '9') && addRange('A', 'Z') && addRange('a', 'z');
  else if (take("alpha:]"))
    added = addRange('A', 'Z') && addRange('a', 'z');
  else if (take("ascii:]"))
    added = addRange(0, 127);
  else if (take("blank:]"))
    added = addRange('\t', '\t') && addRange(' ', ' ');
  else if (take("cntrl:]"))
    added = addRange(0, 31) && addRange(127, 127);
  else if (take("digit:]"))
    added = addRange('0', '9');
  else if (take("graph:]"))
    added = addRange('!', '~');
  else if (take("lower:]"))
    added = addRange('a', 'z');
  else if (take("print:]"))
    added = addRange(' ', '~');
  else if (take("punct:]"))
    added = addRange('!', '/') && addRange(':', '@') && addRange('[', '`') && addRange('{', '~');
  else if (take("space:]"))
    added = addRange('\t', '\r') && addRange(' ', ' ');
  else if (take("upper:]"))
    added = addRange('A', 'Z');
  else if (take("word:]"))
    added = addPerlClass('w');
  else if (take("xdigit:]"))
    added = addRange('0', '9') && addRange('A', 'F') && addRange('a', 'f');
  else
    return invalid("the pattern has an unknown class of characters (at character %)");
  if (!added || !negated)
    return added;
  // The gaps between the ranges, which ascend.
  const int32_t end = rangeCount;
  uint32_t from = 0;
  for (int32_t i = first; i < end; ++i) {
    const Range range = ranges[i];
    if (range.first > from && !addRange(from, range.first - 1))
      return false;
    from = range.last + 1;
  }
  if (!addRange(from, kLastCharacter))
    return false;
  __builtin_memmove(ranges + first, ranges + end, uint64_t(rangeCount - end) * sizeof(Range));
  rangeCount -= end - first;
  return true;
}

bool Regex::bracket(const Flags &flags) {
  ++at;
  const bool negated = take("^");
  const int32_t first = rangeCount;
  // A ']' in the first position is a literal.
  for (bool begin = true; begin || peek() != ']'; begin = false) {
    if (!more())
      return invalid("the pattern lacks a ']' (at character %)");
    if (take("[:")) {
      if (!addNamedClass())
        return false;
      continue;
    }
    const char letter = at + 1 < pattern.size ? pattern.data[at + 1] : '\0';
    if (peek() == '\\' && (letter == 'd' || letter == 'D' || letter == 's' || letter == 'S' ||
                           letter == 'w' || letter == 'W')) {
      at += 2;
      if (!addPerlClass(letter))
        return false;
      continue;
    }
    auto one = [&](uint32_t &character) {
      if (peek() == '\\')
        return escapedCharacter(character);
      character = decodeUtf8(pattern, at);
      return true;
    };
    uint32_t low, high;
    if (!one(low))
      return false;
    high = low;
    if (peek() == '-' && at + 1 < pattern.size && pattern.data[at + 1] != ']') {
      ++at;
      if (!one(high))
        return false;
      if (high < low)
        return invalid("the pattern has a range from high to low (at character %)");
    }
    if (!addRange(low, high))
      return false;
  }
  ++at;
  return emit(Op::Class, first, rangeCount - first, flags.anyCase, negated);
}

/// Parses *, +, ?, {n}, {n,} and {n,m}; other braces are literals. `max` is -1 where there is no
/// limit.
bool Regex::quantifier(int64_t &min, int64_t &max) {
  const uint64_t start = at;
  auto number = [&](int64_t &value) {
    const uint64_t first = at;
    for (value = 0; isDigit(peek()); ++at)
      value = minimum(value * 10 + (peek() - '0'), int64_t(1) << 30);
    return at > first;
  };
  min = peek() == '+';
  max = peek() == '?' ? 1 : -1;
  if (take("*") || take("+") || take("?"))
    return true;
  if (take("{") && number(min)) {
    max = min;
    if (take("}"))
      return true;
    if (take(",")) {
      if (!number(max))
        max = -1;
      if (take("}"))
        return true;
    }
  }
  at = start;
  return false;
}

bool Regex::copyOf(int32_t start, int32_t length) {
  for (int32_t i = 0; i < length; ++i) {
    const Instruction copied = program[start + i];
    if (!emit(copied.op, copied.a, copied.b, copied.anyCase, copied.negated))
      return false;
  }
  return true;
}

/// Parses the quantifiers after the atom whose program begins at `start`.
bool Regex::repeat(int32_t start, const Flags &flags) {
  int64_t min, max;
  if (!quantifier(min, max))
    return true;
  // A greedy quantifier tries another repetition first, a lazy one what follows it.
  const bool lazy = take("?") != flags.lazy;
  auto split = [&](int32_t again, int32_t onward) {
    return lazy ? Jumps{onward, again} : Jumps{again, onward};
  };
  if (min > kMaxRepeats || max > kMaxRepeats || (max >= 0 && max < min))
    return invalid("the pattern has no valid number of repetitions (at character %)");
  int64_t againLeast, againMost;
  if (quantifier(againLeast, againMost))
    return invalid("the pattern repeats a repetition (at character %)");
  const int32_t length = size - start;
  // `min` copies, the first of which already exists.
  for (int64_t i = 1; i < min; ++i)
    if (!copyOf(start, length))
      return false;
  if (max < 0) {
    const Jumps jumps = min ? split(-length, 1) : split(1, length + 2);
    if (min)
      return emit(Op::Split, jumps.first, jumps.second);
    if (!insert(start, Op::Split, jumps.first, jumps.second))
      return false;
    return emit(Op::Jump, -(length + 1));
  }
  // most - least consecutive optional copies.
  const Jumps jumps = split(1, length + 1);
  if (min == 0) {
    if (max == 0) {
      size = start;
    } else {
      if (!insert(start, Op::Split, jumps.first, jumps.second))
        return false;
      for (int64_t i = 1; i < max; ++i)
        if (!copyOf(start, length + 1))
          return false;
    }
  } else {
    for (int64_t i = min; i < max; ++i)
      if (!emit(Op::Split, jumps.first, jumps.second) || !copyOf(start, length))
        return false;
  }
  return true;
}

} // namespace atc::kernels
