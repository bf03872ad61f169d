//===-- Soc.cpp - the tables of the NPUs ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/soc/Soc.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

using namespace atc::npu;

uint64_t SocTable::memoryBytes(Memory memory) const {
  switch (memory) {
  case Memory::GM:
    return gmBytes;
  case Memory::L1:
    return l1Bytes;
  case Memory::L0A:
    return l0aBytes;
  case Memory::L0B:
    return l0bBytes;
  case Memory::L0C:
    return l0cBytes;
  case Memory::UB:
    return ubBytes;
  case Memory::BT:
    return btBytes;
  }
  return 0;
}

uint64_t SocTable::alignment(Memory memory) const {
  switch (memory) {
  case Memory::GM:
    return 1;
  case Memory::L1:
    return l1Align;
  case Memory::L0A:
  case Memory::L0B:
    return l0Align;
  case Memory::L0C:
    return l0cAlign;
  case Memory::UB:
    return ubAlign;
  case Memory::BT:
    return 64;
  }
  return 1;
}

unsigned SocTable::cubeDepth(DataType type) {
  switch (type) {
  case DataType::S8:
  case DataType::U8:
    return 32;
  case DataType::F32:
  case DataType::S32:
    return 4;
  case DataType::F16:
  case DataType::BF16:
    return 16;
  }
  return 16;
}

double SocTable::macsPerCycle(DataType type) const { return cubeFractals * 256 * cubeDepth(type); }

static std::vector<SocTable> makeTables() {
  static const char *const names[] = {"Ascend310",     "Ascend310P3", "Ascend310B1", "Ascend910A",
                                      "Ascend910ProB", "Ascend910B1", "Ascend910B3", "Ascend910B4"};
  std::vector<SocTable> tables(std::size(names));
  for (size_t i = 0; i < tables.size(); ++i)
    tables[i].name = names[i];
#define SOC_PROPERTY(type, key, ...)                                                               \
  {                                                                                                \
    const type values[] = {__VA_ARGS__};                                                           \
    static_assert(std::size(values) == std::size(names), "a column for each SoC");                 \
    for (size_t i = 0; i < tables.size(); ++i)                                                     \
      tables[i].key = values[i];                                                                   \
  }
#include "npu/soc/Soc.def"
  return tables;
}

const std::vector<SocTable> &atc::npu::allSocs() {
  static const std::vector<SocTable> tables = makeTables();
  return tables;
}

const SocTable *atc::npu::findSoc(std::string_view name) {
  for (const SocTable &table : allSocs())
    if (table.name == name)
      return &table;
  return nullptr;
}

static std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <typename Number> static bool parse(std::string_view text, Number &number) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      !(double(value) < 1e18))
    return false;
  number = value;
  return true;
}

/// Properties that the machine divides by or that it cannot be without.
static bool mayBeZero(std::string_view key) {
  return key == "split" || key == "l2Bytes" || key == "btBytes" || key == "ubBytes" ||
         key == "vectorCores" || key.ends_with("Start") || key.ends_with("Latency") ||
         key.ends_with("Cycles") || key == "scalarIssue" || key == "scalarLoop";
}

static bool setKey(SocTable &table, std::string_view key, std::string_view text, bool &known) {
  known = true;
#define SOC_PROPERTY(type, property, ...)                                                          \
  if (key == #property)                                                                            \
    return parse(text, table.property) && (table.property > 0 || mayBeZero(key));
#include "npu/soc/Soc.def"
  known = false;
  return false;
}

std::vector<std::string> atc::npu::readSoc(std::string_view text, std::string_view file,
                                           SocTable &table) {
  std::vector<std::string> faults;
  std::vector<std::string_view> seen;
  SocTable result = table;
  unsigned number = 0;
  auto fault = [&](const std::string &what) {
    faults.push_back(std::string(file) + ":" + std::to_string(number) + ": " + what);
  };
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty())
      continue;
    size_t equals = line.find('=');
    if (equals == line.npos) {
      fault("expected `key = value`, not `" + std::string(line) + "`");
      continue;
    }
    std::string_view key = trim(line.substr(0, equals)), value = trim(line.substr(equals + 1));
    bool again = std::find(seen.begin(), seen.end(), key) != seen.end(), known = true;
    seen.push_back(key);
    if (again) {
      fault("`" + std::string(key) + "` is given twice");
    } else if (key == "name") {
      if (value.empty())
        fault("`name` is empty");
      result.name = std::string(value);
    } else if (key == "base") {
      const SocTable *base = findSoc(value);
      if (seen.size() != 1)
        fault("`base` must stand before all other keys");
      else if (base)
        result = *base;
      else
        fault("there is no built-in SoC `" + std::string(value) + "`");
    } else if (!setKey(result, key, value, known)) {
      if (known)
        fault("`" + std::string(value) + "` is no value for `" + std::string(key) +
              "`: expected a " + (mayBeZero(key) ? "number of 0 or more" : "number above 0"));
      else
        fault("unknown key `" + std::string(key) + "`");
    }
  }
  // What the table still lacks: an own table may be written from nothing.
  ++number;
  if (faults.empty()) {
#define SOC_PROPERTY(type, property, ...)                                                          \
  if (!(result.property > 0) && !mayBeZero(#property))                                             \
    fault("`" #property "` is missing (a first line `base = <SoC>` gives all others)");
#include "npu/soc/Soc.def"
    if (result.name.empty())
      fault("`name` is missing");
    if (faults.empty() && (result.l2Line & (result.l2Line - 1)))
      fault("`l2Line` must be a power of two");
    if (faults.empty() && result.shortRunFloor > 1)
      fault("`shortRunFloor` is a share of the rate and cannot be above 1");
    if (faults.empty() && result.queueDepth > 1024)
      fault("`queueDepth` cannot be above 1024");
    if (faults.empty() && (result.cubeCores > 1024 || result.vectorCores > 1024))
      fault("more than 1024 cores");
  }
  if (faults.empty())
    table = result;
  return faults;
}

std::vector<std::string> atc::npu::readSocFile(const std::string &path, SocTable &table) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return {path + ":0: cannot be opened"};
  std::string text;
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
    text.append(buffer, count);
  std::fclose(file);
  return readSoc(text, path, table);
}

template <typename Number> static void append(std::string &text, const char *key, Number value) {
  char digits[40];
  text.append(key).append(" = ").append(digits,
                                        std::to_chars(digits, digits + sizeof(digits), value).ptr);
  text += '\n';
}

std::string atc::npu::writeSoc(const SocTable &table) {
  std::string text = "name = " + table.name + "\n";
#define SOC_PROPERTY(type, property, ...) append(text, #property, table.property);
#include "npu/soc/Soc.def"
  return text;
}
