//===-- Soc.cpp - the tables of the NPUs ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/soc/Soc.h"

#include "npu/soc/Limits.h"
#include <algorithm>
#include <cassert>
#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
  case DataType::S64:
    return 4;
  case DataType::F16:
  case DataType::BF16:
    return 16;
  }
  return 16;
}

double SocTable::macsPerCycle(DataType type) const { return cubeFractals * 256 * cubeDepth(type); }

const std::vector<RelatedSoc> &atc::npu::relatedSocs() {
  static const std::vector<RelatedSoc> socs = {{"Ascend310P", "Ascend310P3"},
                                               {"Ascend310P1", "Ascend310P3"},
                                               {"Ascend310P2", "Ascend310P3"},
                                               {"Ascend310P4", "Ascend310P3"},
                                               {"Ascend310P5", "Ascend310P3"},
                                               {"Ascend310P7", "Ascend310P3"},
                                               {"Ascend710", "Ascend310P3"},
                                               {"Ascend610", "Ascend310P3"},
                                               {"Ascend615", "Ascend310P3"},
                                               {"Ascend610Lite", "Ascend310B1"},
                                               {"Ascend310B", "Ascend310B1"},
                                               {"Ascend310B2", "Ascend310B1"},
                                               {"Ascend310B3", "Ascend310B1"},
                                               {"Ascend310B4", "Ascend310B1"},
                                               {"Ascend910", "Ascend910A"},
                                               {"Ascend910B", "Ascend910A"},
                                               {"Ascend910ProA", "Ascend910ProB"},
                                               {"Ascend910PremiumA", "Ascend910A"},
                                               {"Ascend910B2", "Ascend910B1"},
                                               {"Ascend910B2C", "Ascend910B1"},
                                               {"Ascend910B4-1", "Ascend910B4"},
                                               {"Ascend910_9361", "Ascend910B3"},
                                               {"Ascend910_9362", "Ascend910B3"},
                                               {"Ascend910_9371", "Ascend910B3"},
                                               {"Ascend910_9372", "Ascend910B3"},
                                               {"Ascend910_9381", "Ascend910B1"},
                                               {"Ascend910_9382", "Ascend910B1"},
                                               {"Ascend910_9391", "Ascend910B1"},
                                               {"Ascend910_9392", "Ascend910B1"},
                                               {"Ascend910_93", "Ascend910B1"},
                                               {"Ascend031", nullptr},
                                               {"Ascend035", nullptr},
                                               {"Ascend310M1", nullptr},
                                               {"Ascend310M2", nullptr},
                                               {"Ascend310M3", nullptr},
                                               {"Ascend910_95", nullptr},
                                               {"Ascend910_9579", nullptr},
                                               {"Ascend910_9581", nullptr},
                                               {"Ascend910_9589", nullptr},
                                               {"Ascend910_9599", nullptr},
                                               {"Ascend950", nullptr},
                                               {"Ascend950DT", nullptr},
                                               {"Ascend950PR", nullptr},
                                               {"BS9SX1A", nullptr},
                                               {"BS9SX1AA", nullptr},
                                               {"BS9SX2A", nullptr},
                                               {"Hi3796CV300CS", nullptr},
                                               {"Hi3796CV300ES", nullptr},
                                               {"SD3403", nullptr},
                                               {"KirinX90", nullptr},
                                               {"Kirin9030", nullptr},
                                               {"OPTG", nullptr},
                                               {"SS928V100", nullptr}};
  return socs;
}

const SocTable *atc::npu::findSoc(std::string_view name) {
  static const std::vector<SocTable> related = [] {
    std::vector<SocTable> tables;
    for (const RelatedSoc &soc : relatedSocs())
      for (const SocTable &base : allSocs())
        if (soc.base && base.name == soc.base) {
          tables.push_back(base);
          tables.back().name = soc.name;
        }
    return tables;
  }();
  for (const std::vector<SocTable> *tables : {&allSocs(), &related})
    for (const SocTable &table : *tables)
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

const SocKindInfo &atc::npu::infoOf(SocKind kind) {
  static const SocKindInfo infos[] = {
#define SOC_KIND(Name, type, low, high, power, unit)                                               \
  {#Name, unit, double(low), double(high), std::is_integral_v<type>, power},
      SOC_KINDS(SOC_KIND)
#undef SOC_KIND
  };
  return infos[unsigned(kind)];
}

/// Returns the shortest decimal digits that read back as the value.
template <typename Number> static std::string digitsOf(Number value) {
  char digits[40];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

bool SocKindInfo::allows(double value) const {
  if (!(value >= low && value <= high))
    return false;
  return !powerOfTwo || (uint64_t(value) & (uint64_t(value) - 1)) == 0;
}

std::string SocKindInfo::expected() const {
  const char *what = powerOfTwo ? "a power of two" : whole ? "a whole number" : "a number";
  auto number = [&](double value) { return whole ? digitsOf(uint64_t(value)) : digitsOf(value); };
  return what + (" from " + number(low)) + " to " + number(high);
}

namespace {

/// Reads a text into a table.
class SocReader {
public:
  /// Finds the table that a line `base = ...` names.
  using FindBase = const SocTable *(*)(std::string_view name);
  SocReader(std::string_view text, std::string_view file, const SocTable &table, FindBase findBase)
      : text(text), file(file), findBase(findBase), result(table) {}

  std::vector<std::string> run(SocTable &table) {
    while (!text.empty() && errors.size() < kMaxErrors)
      line();
    ++number;
    if (errors.empty())
      complete();
    if (errors.empty())
      together();
    if (errors.empty())
      table = result;
    return std::move(errors);
  }

private:
  static constexpr size_t kMaxErrors = 100;

  void error(const std::string &what) {
    errors.push_back(std::string(file) + ":" + std::to_string(number) + ": " + what);
  }

  void line() {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty())
      return;
    size_t equals = line.find('=');
    if (equals == line.npos)
      return error("expected `key = value`, not `" + std::string(line) + "`");
    std::string_view key = trim(line.substr(0, equals)), value = trim(line.substr(equals + 1));
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return error("`" + std::string(key) + "` is given twice");
    if (!assign(key, value))
      return error("unknown key `" + std::string(key) + "`");
    seen.push_back(key); // only known ones: there are not many
  }

  /// Sets a property or adds an error; returns false for an unknown key.
  bool assign(std::string_view key, std::string_view value) {
    if (key == "name") {
      if (value.empty())
        error("`name` is empty");
      result.name = std::string(value);
      return true;
    }
    if (key == "base") {
      const SocTable *base = findBase(value);
      if (!seen.empty())
        error("`base` must stand before all other keys");
      else if (base)
        result = *base;
      else
        error("there is no built-in SoC `" + std::string(value) + "`");
      return true;
    }
#define SOC_PROPERTY(kind, property, ...)                                                          \
  if (key == #property)                                                                            \
    return take(SocKind::kind, key, value, result.property), true;
#include "npu/soc/Soc.def"
    return false;
  }

  template <typename Number>
  void take(SocKind kind, std::string_view key, std::string_view text, Number &property) {
    Number value{};
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() ||
        !infoOf(kind).allows(double(value)))
      return error("`" + std::string(text) + "` is no value for `" + std::string(key) +
                   "`: expected " + infoOf(kind).expected());
    property = value;
  }

  /// Checks what the table still lacks: a table may be written from nothing.
  void complete() {
    if (result.name.empty())
      error("`name` is missing");
#define SOC_PROPERTY(kind, property, ...)                                                          \
  if (!infoOf(SocKind::kind).allows(double(result.property)))                                      \
    error("`" #property "` is missing (a first line `base = <SoC>` gives all others)");
#include "npu/soc/Soc.def"
  }

  /// Checks products of properties, each of which alone is good.
  void together() {
    // Each value is below 2^46 and each factor below 2^11: nothing overflows.
    auto within = [&](uint64_t value, int64_t max, const char *what) {
      if (value > uint64_t(max))
        error(std::string(what) + " is " + std::to_string(value) + ", more than " +
              std::to_string(max));
    };
    // A mixed launch runs on all cores of both kinds.
    const bool together = result.split && result.crossLatency;
    uint64_t cores = together ? result.cubeCores + result.vectorCores
                              : std::max(result.cubeCores, result.vectorCores);
    uint64_t local = 0;
    for (unsigned i = 0; i < kMemories; ++i)
      local += Memory(i) == Memory::GM ? 0 : result.memoryBytes(Memory(i));
    within(cores * local, Limits::MaxLocalBytes,
           "cores x (l1Bytes + l0aBytes + l0bBytes + l0cBytes + ubBytes + btBytes)");
    within(cores * result.queueDepth, Limits::MaxQueued, "cores x queueDepth");
    within(result.l2Bytes / result.l2Line, Limits::MaxL2Lines, "l2Bytes / l2Line");
  }

  std::string_view text, file;
  FindBase findBase;
  SocTable result;
  std::vector<std::string> errors;
  std::vector<std::string_view> seen;
  unsigned number = 0;
};

/// Reads the built-in tables, npu/soc/tables/*.soc. None has a base: this is what a base is found
/// in.
std::vector<SocTable> readBuiltInTables() {
  static const struct {
    const char *file, *text;
  } files[] = {
#include "npu/soc/Tables.inc"
  };
  std::vector<SocTable> tables;
  for (const auto &[file, text] : files) {
    SocTable table;
    auto noBase = [](std::string_view) -> const SocTable * { return nullptr; };
    std::vector<std::string> errors = SocReader(text, file, table, noBase).run(table);
    assert(errors.empty() && "a built-in table is complete and within the limits");
    tables.push_back(std::move(table));
  }
  return tables;
}

} // namespace

const std::vector<SocTable> &atc::npu::allSocs() {
  static const std::vector<SocTable> tables = readBuiltInTables();
  return tables;
}

std::vector<std::string> atc::npu::readSoc(std::string_view text, std::string_view file,
                                           SocTable &table) {
  return SocReader(text, file, table, findSoc).run(table);
}

std::vector<std::string> atc::npu::readSocFile(const std::string &path, SocTable &table) {
  constexpr size_t kMaxFileBytes = 65536;
  // A pipe must not be waited for.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return {path + ":0: cannot be opened"};
  struct stat info;
  std::string text;
  char buffer[4096];
  ssize_t count = fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? 1 : -1;
  while (count > 0 && text.size() <= kMaxFileBytes) {
    count = read(file, buffer, sizeof(buffer));
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  close(file);
  if (count < 0)
    return {path + ":0: cannot be read: it is not a regular file"};
  if (text.size() > kMaxFileBytes)
    return {path + ":0: has more than " + std::to_string(kMaxFileBytes) + " bytes"};
  return readSoc(text, path, table);
}

static std::string write(const SocTable &table, bool all) {
  std::string text = "name = " + table.name + "\n";
  auto add = [&](std::string_view key, const std::string &value) {
    if (all || key != "crossLatency")
      text += std::string(key) + " = " + value + "\n";
  };
#define SOC_PROPERTY(kind, property, ...) add(#property, digitsOf(table.property));
#include "npu/soc/Soc.def"
  return text;
}

std::string atc::npu::writeSoc(const SocTable &table) { return write(table, true); }

std::string atc::npu::writeSocOfKernels(const SocTable &table) { return write(table, false); }
