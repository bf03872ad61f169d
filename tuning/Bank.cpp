//===-- Bank.cpp - tuned choices that outlive a run -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/Bank.h"

#include "openatc/om.h"
#include "support/ErrorCodes.h"
#include "support/InputJson.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace atc::tuning {

using Json = nlohmann::ordered_json;

namespace {

constexpr int formatVersion = 1;
constexpr size_t maxLine = 1 << 20;
constexpr unsigned keyParts = 5;
/// The names of the parts of a key in an entry.
constexpr const char *keyNames[keyParts] = {"pass", "target", "op", "operands", "hash"};
constexpr unsigned operandsPart = 3;

/// Reads one line; throws a text that says what is wrong.
class LineReader {
public:
  explicit LineReader(std::string_view line) {
    if (line.size() > maxLine)
      throw std::string("is longer than 1 MB");
    if (const std::string reason = parseInputJson(line, json); !reason.empty())
      throw reason;
    if (!json.is_object())
      throw std::string("is not a JSON object");
    auto format = json.find("format");
    if (format == json.end() || !format->is_number_integer() || *format != formatVersion)
      throw "has no \"format\":" + std::to_string(formatVersion) +
          ", the only one that this version reads";
  }

  std::string key() const {
    std::string key;
    for (unsigned part = 0; part < keyParts; ++part)
      key += (part ? "|" : "") + (part == operandsPart ? operands() : word(keyNames[part]));
    return key;
  }

  BankEntry entry() const {
    BankEntry entry;
    entry.choice = word("choice");
    entry.compiler = word("compiler");
    entry.model = json.contains("model") ? word("model") : "";
    entry.beforeCycles = number("before_cycles");
    entry.afterCycles = number("after_cycles");
    return entry;
  }

private:
  static bool isPlain(const std::string &text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return c >= ' ' && c != 127 && c != '|';
    });
  }
  std::string word(const char *name) const {
    auto value = json.find(name);
    if (value == json.end() || !value->is_string())
      throw "has no text \"" + std::string(name) + "\"";
    if (!isPlain(value->get<std::string>()))
      throw "has a \"" + std::string(name) + "\" that is empty or holds control characters or |";
    return *value;
  }
  /// Returns whether an operand is the same when it is read from the key, where operands stand
  /// between commas: no part of it may be empty.
  static bool isOperand(const std::string &text) {
    return isPlain(text) && text.front() != ',' && text.back() != ',' &&
           text.find(",,") == std::string::npos;
  }
  std::string operands() const {
    auto value = json.find("operands");
    if (value == json.end() || !value->is_array())
      throw std::string("has no list \"operands\"");
    std::string text;
    for (const Json &operand : *value) {
      if (!operand.is_string() || !isOperand(operand))
        throw std::string("has \"operands\" that are not texts such as \"1x3x224x224xf32\"");
      text += (text.empty() ? "" : ",") + operand.get<std::string>();
    }
    return text;
  }
  double number(const char *name) const {
    auto value = json.find(name);
    if (value == json.end() || !value->is_number() || !(value->get<double>() >= 0) ||
        !std::isfinite(value->get<double>()))
      throw "has no number from 0 for \"" + std::string(name) + "\"";
    return *value;
  }

  Json json;
};

bool isOwn(const BankEntry &entry) { return entry.compiler == om_version(); }

Json operandList(std::string_view text) {
  Json list = Json::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    list.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

} // namespace

std::string_view partOfKey(std::string_view key, unsigned index) {
  for (; index > 0; --index)
    key.remove_prefix(std::min(key.find('|'), key.size() - 1) + 1);
  return key.substr(0, key.find('|'));
}

std::string withPass(std::string_view key, std::string_view pass) {
  return std::string(pass) + std::string(key.substr(std::min(key.find('|'), key.size())));
}

bool Bank::read(std::string_view text, const std::string &name, std::string &error) {
  Bank added;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!content.empty() && content.back() == '\r')
      content.remove_suffix(1);
    if (content.find_first_not_of(" \t") == std::string_view::npos)
      continue;
    try {
      const LineReader reader(content);
      added.add(reader.key(), reader.entry());
    } catch (const std::string &what) {
      error =
          codedLine("E13005", "the bank \"" + name + "\" is damaged: line " + std::to_string(line) +
                                  " " + what + "; restore the file, or remove the line");
      return false;
    }
  }
  merge(added);
  return true;
}

void Bank::add(const std::string &key, BankEntry entry) {
  auto [known, isNew] = entries.try_emplace(key, entry);
  if (isNew)
    return;
  auto rank = [](const BankEntry &e) {
    return std::tuple(!isOwn(e), e.ratio(), e.choice, e.model, e.beforeCycles, e.compiler);
  };
  if (rank(entry) < rank(known->second))
    known->second = std::move(entry);
}

void Bank::merge(const Bank &other) {
  for (const auto &[key, entry] : other.entries)
    add(key, entry);
}

Choices Bank::choicesFor(std::string_view target, BankPart part, size_t &others) const {
  Choices choices;
  for (const auto &[key, entry] : entries) {
    const bool isModel = partOfKey(key, 2) == "main";
    if (partOfKey(key, 1) != target || (part == BankPart::Model && !isModel) ||
        (part == BankPart::Operator && isModel))
      continue;
    if (isOwn(entry))
      choices.emplace(key, entry.choice);
    else
      ++others;
  }
  return choices;
}

Bank Bank::only(std::string_view target) const {
  Bank result;
  for (const auto &[key, entry] : entries)
    if (partOfKey(key, 1) == target)
      result.entries.emplace(key, entry);
  return result;
}

std::string Bank::text() const {
  std::string text;
  for (const auto &[key, entry] : entries) {
    Json line = {{"format", formatVersion}};
    for (unsigned part = 0; part < keyParts; ++part)
      if (part == operandsPart)
        line[keyNames[part]] = operandList(partOfKey(key, part));
      else
        line[keyNames[part]] = partOfKey(key, part);
    line["compiler"] = entry.compiler;
    line["choice"] = entry.choice;
    line["before_cycles"] = entry.beforeCycles;
    line["after_cycles"] = entry.afterCycles;
    if (!entry.model.empty())
      line["model"] = entry.model;
    text += line.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

} // namespace atc::tuning
