//===-- Characters.cpp - characters that no shell means -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Characters.h"

using namespace llvm;

namespace atc::tools {

namespace {

struct Character {
  StringLiteral bytes; ///< in UTF-8
  const char *code;
  char plain; ///< what a command line needs in its place
  const char *name;
};

constexpr Character dashes[] = {
    {"\u2010", "U+2010", '-', "hyphen"},     {"\u2011", "U+2011", '-', "hyphen"},
    {"\u2012", "U+2012", '-', "dash"},       {"\u2013", "U+2013", '-', "dash"},
    {"\u2014", "U+2014", '-', "dash"},       {"\u2015", "U+2015", '-', "dash"},
    {"\u2212", "U+2212", '-', "minus sign"}, {"\uFF0D", "U+FF0D", '-', "wide hyphen"},
};
constexpr Character quotes[] = {
    {"\u2018", "U+2018", '\'', "quote"},      {"\u2019", "U+2019", '\'', "quote"},
    {"\u201C", "U+201C", '"', "quote"},       {"\u201D", "U+201D", '"', "quote"},
    {"\u201E", "U+201E", '"', "quote"},       {"\u00AB", "U+00AB", '"', "quote"},
    {"\u00BB", "U+00BB", '"', "quote"},       {"\uFF02", "U+FF02", '"', "wide quote"},
    {"\uFF07", "U+FF07", '\'', "wide quote"}, {"\u2032", "U+2032", '\'', "prime"},
    {"\u2033", "U+2033", '"', "prime"},
};
constexpr Character others[] = {
    {"\uFF0C", "U+FF0C", ',', "wide comma"},      {"\uFF1A", "U+FF1A", ':', "wide colon"},
    {"\uFF1B", "U+FF1B", ';', "wide semicolon"},  {"\uFF1D", "U+FF1D", '=', "wide equals sign"},
    {"\uFF5E", "U+FF5E", '~', "wide tilde"},      {"\u00A0", "U+00A0", ' ', "no-break space"},
    {"\u3000", "U+3000", ' ', "wide space"},      {"\u200B", "U+200B", ' ', "zero-width space"},
    {"\uFEFF", "U+FEFF", ' ', "byte order mark"},
};

const Character *findAtFront(ArrayRef<Character> table, StringRef text) {
  for (const Character &character : table)
    if (text.starts_with(character.bytes))
      return &character;
  return nullptr;
}

const Character *findAtBack(ArrayRef<Character> table, StringRef text) {
  for (const Character &character : table)
    if (text.ends_with(character.bytes))
      return &character;
  return nullptr;
}

const Character *findAnywhere(ArrayRef<Character> table, StringRef text) {
  for (const Character &character : table)
    if (text.contains(character.bytes))
      return &character;
  return nullptr;
}

std::string describe(const Character &character) {
  return std::string("the typographic ") + character.name + " " + character.bytes.str() + " (" +
         character.code + ")";
}

} // namespace

std::string withPlainDashes(StringRef argument, Diagnostics &diagnostics) {
  StringRef rest = argument;
  std::string front;
  const Character *found = nullptr;
  while (front.size() < 2) {
    if (rest.consume_front("-")) {
      front += '-';
      continue;
    }
    const Character *dash = findAtFront(dashes, rest);
    if (!dash)
      break;
    found = dash;
    rest = rest.drop_front(dash->bytes.size());
    front += '-';
  }
  if (!found)
    return argument.str();
  // An em dash is what word processors make of two hyphens.
  front = "--";
  diagnostics.error("E10055", "\"" + argument + "\" begins with " + describe(*found) +
                                  ": flags are written with two hyphens, " + front + rest);
  return front + rest.str();
}

bool checkCharacters(StringRef flag, StringRef value, bool isPath, Diagnostics &diagnostics) {
  const Character *found = findAtFront(quotes, value);
  if (!found)
    found = findAtBack(quotes, value);
  for (ArrayRef<Character> table : {ArrayRef(quotes), ArrayRef(dashes), ArrayRef(others)})
    if (!found && !isPath)
      found = findAnywhere(table, value);
  if (found) {
    const std::string plain = found->plain == ' ' ? "a space or nothing"
                              : found->plain == '"' || found->plain == '\''
                                  ? "the quote of the keyboard, \" or '"
                                  : std::string(1, found->plain);
    diagnostics.error("E10001", "the value \"" + value + "\" of --" + flag + " has " +
                                    describe(*found) + ": write " + plain);
    return false;
  }
  if (value.ends_with("\r")) {
    diagnostics.error("E10001", "the value \"" + value.rtrim('\r') + "\" of --" + flag +
                                    " ends with a carriage return: the script has the line ends "
                                    "of Windows; convert it with dos2unix");
    return false;
  }
  return true;
}

std::string withPlainCharacters(StringRef value) {
  std::string plain;
  for (StringRef rest = value.rtrim('\r'); !rest.empty();) {
    const Character *found = findAtFront(quotes, rest);
    const bool isQuote = found;
    for (ArrayRef<Character> table : {ArrayRef(dashes), ArrayRef(others)})
      if (!found)
        found = findAtFront(table, rest);
    if (!found)
      plain += rest.front();
    else if (!isQuote)
      plain += found->plain;
    rest = rest.drop_front(found ? found->bytes.size() : 1);
  }
  return plain;
}

std::string describeWord(StringRef word) {
  const std::string quoted = "\"" + word.str() + "\" is not a flag";
  if (word.trim(" \t\r\n\\").empty())
    return quoted + ": a backslash that continues a line must be its last character";
  if (findAtBack(quotes, word) || findAtFront(quotes, word) || findAnywhere(quotes, word))
    return quoted + ": a value with spaces stands in the quotes of the keyboard, \" or '";
  return "";
}

} // namespace atc::tools
