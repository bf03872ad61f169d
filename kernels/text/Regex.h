//===-- Regex.h - regular expressions in linear time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Supports the syntax of RE2 without \p{...} and \C. A pattern becomes a program of an automaton
// that is in all its states at once, so that no text takes longer than its length times the size of
// the program.

#ifndef OPENATC_KERNELS_TEXT_REGEX_H
#define OPENATC_KERNELS_TEXT_REGEX_H

#include "kernels/text/Strings.h"

namespace atc::kernels {

/// A compiled pattern. Its memory is scratch memory of the call.
class Regex {
public:
  explicit Regex(Context &c) : c(c) {}
  /// Compiles a pattern. Returns false and fails the call where it is invalid.
  bool compile(String pattern);
  /// Returns whether the whole text matches.
  bool matches(String text);
  /// Finds the first match that begins at byte `from` or behind, and of those that begin there the
  /// one that a search with backtracking finds first, or the longest one. Returns false where there
  /// is none.
  bool find(String text, uint64_t from, uint64_t &begin, uint64_t &end, bool longest = false);
  /// The groups of the pattern, those without a number excepted.
  int32_t groups() const { return groupCount; }
  /// Returns where the groups of a match begin and end that find() has found, two numbers for each,
  /// the match itself first; ~0 for a group that takes no part. Null without memory.
  const uint64_t *capture(String text, uint64_t begin);

private:
  enum class Op : uint8_t {
    Character,
    Any,
    AnyButNewline,
    Class,
    Split,
    Jump,
    TextBegin,
    TextEnd,
    LineBegin,
    LineEnd,
    WordEdge,
    NoWordEdge,
    Save, ///< the slot of a begin or end of a group
    Match
  };
  /// Jumps are relative, so that a range of the program can be moved and copied.
  struct Instruction {
    Op op;
    bool anyCase, negated;
    int32_t a, b; ///< character; class: first range and count; jumps; number of the slot
  };
  struct Range {
    uint32_t first, last;
  };
  struct Flags {
    bool anyCase = false, multiLine = false, dotAll = false, lazy = false;
  };

  struct Jumps {
    int32_t first, second;
  };

  //--- Compiling.
  bool alternatives(Flags &flags, int depth);
  bool sequence(Flags &flags, int depth);
  bool atom(Flags &flags, int depth);
  bool group(Flags &flags, int depth);
  bool escape(const Flags &flags);
  bool escapedCharacter(uint32_t &character);
  bool bracket(const Flags &flags);
  bool addPerlClass(char letter);
  bool addNamedClass();
  bool repeat(int32_t start, const Flags &flags);
  bool quantifier(int64_t &min, int64_t &max);
  bool copyOf(int32_t start, int32_t size);
  bool emit(Op op, int32_t a = 0, int32_t b = 0, bool anyCase = false, bool negated = false);
  bool insert(int32_t at, Op op, int32_t a, int32_t b);
  bool addRange(uint32_t first, uint32_t last);
  bool invalid(const char *what);
  bool more() const { return at < pattern.size; }
  char peek() const { return at < pattern.size ? pattern.data[at] : '\0'; }
  bool take(const char *what);

  //--- Matching.
  bool accepts(const Instruction &i, uint32_t character) const;
  bool reserve();
  bool reserveOffsets();
  void addState(int32_t state, int64_t stamp, String text, uint64_t offset);
  /// Makes the next states, and what is kept of each of them, the current ones. Returns their
  /// number.
  int32_t exchangeStates(uint64_t *&current, uint64_t *&following);

  Context &c;
  String pattern = {};
  uint64_t at = 0;
  Instruction *program = nullptr;
  int32_t size = 0, capacity = 0;
  Range *ranges = nullptr;
  int32_t rangeCount = 0, rangeCapacity = 0;
  /// The states at this position and at the next one, in the order in which a search with
  /// backtracking would try them; the position at which each was last added, and those still to be
  /// followed.
  int32_t *now = nullptr, *next = nullptr, *waiting = nullptr, nextCount = 0;
  int64_t *addedAt = nullptr;
  /// A state that is still to be followed, or where state is -1 the value of a slot before.
  struct Pending {
    int32_t state, slot;
    uint64_t value;
  };
  void follow(int32_t first, String text, uint64_t offset);
  bool holds(const Instruction &i, String text, uint64_t offset) const;
  int32_t groupCount = 0;
  Pending *pending = nullptr;
  /// The offsets of groups: of the state that is followed, of each state, and of the match.
  uint64_t *offsets = nullptr, *currentOffsets = nullptr, *nextOffsets = nullptr, *found = nullptr;
  /// The offsets at which the matches of the states begin.
  uint64_t *nowBegins = nullptr, *nextBegins = nullptr;
  int64_t position = 0; ///< counted across all texts
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_TEXT_REGEX_H
