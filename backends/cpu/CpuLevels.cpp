//===-- CpuLevels.cpp - the CPUs that code can be made for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/CpuLevels.h"

#include "runtime-lite/abi/Architectures.h"
#include "runtime-lite/abi/TileRegisters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

using namespace llvm;

namespace atc::cpu {

namespace {

const std::vector<std::string> &baseFeatures() {
  static const std::vector<std::string> features = {"sse3",   "ssse3", "sse4.1", "sse4.2",
                                                    "popcnt", "cx16",  "sahf"};
  return features;
}

std::vector<std::string> with(std::vector<std::string> features,
                              std::initializer_list<const char *> more) {
  features.insert(features.end(), more.begin(), more.end());
  return features;
}

/// Extensions beyond a level that the code generator may use when the host has
/// them. A feature that is not listed is not used.
constexpr StringLiteral extensions[] = {"f16c",       "avxvnni",    "avx512vnni", "avx512bf16",
                                        "avx512fp16", "avx512vbmi", "amx-tile",   "amx-int8"};

/// Other words for levels.
struct Alias {
  StringLiteral word, name;
};
constexpr Alias aliases[] = {
    {"v2", "x86-64-v2"},           {"v3", "x86-64-v3"},         {"v4", "x86-64-v4"},
    {"v4-vnni", "x86-64-v4-vnni"}, {"v4-amx", "x86-64-v4-amx"}, {"aarch64", "armv8-a"},
    {"arm64", "armv8-a"},          {"neon", "armv8-a"},         {"riscv64", "rv64gc"},
    {"armv7", "armv7-a"},          {"arm", "armv7-a"},
};

int64_t cacheBytes(int name, int64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

Error invalid(const Twine &text) { return createStringError(inconvertibleErrorCode(), text); }

std::string knownNames() {
  std::string names = "host";
  for (const CpuLevel &level : cpuLevels())
    names += ", " + level.name;
  return names;
}

} // namespace

std::string CpuLevel::triple() const {
  const auto *row = find_if(abi::kArchitectures, [&](auto &row) { return arch == row.name; });
  return row->triple;
}

bool CpuLevel::hasExactDot() const {
  return is_contained(required, "avx512vnni") || is_contained(required, "avxvnni");
}

bool CpuLevel::hasWideDot() const { return lanes >= 16 && is_contained(required, "avx512vnni"); }

bool CpuLevel::hasTileRegisters() const {
  return hasWideDot() && is_contained(required, "amx-int8");
}

bool CpuLevel::permutesBytes() const { return is_contained(required, "ssse3"); }

const CpuLevel &CpuLevel::plain() const {
  const CpuLevel *best = nullptr;
  for (const CpuLevel &level : cpuLevels())
    // On RISC-V and ARMv7, features are the level: LLVM has no processor that stands for one.
    if (level.arch == arch && (level.features.empty() || arch == "riscv64" || arch == "armv7") &&
        all_of(level.required, [&](const auto &name) { return is_contained(required, name); }))
      best = &level;
  assert(best && "every level extends the first one of its architecture");
  return *best;
}

LevelAttr CpuLevel::attribute(mlir::MLIRContext *context) const {
  StringRef dot = hasExactDot() ? "vnni" : is_contained(required, "ssse3") ? "maddubs" : "";
  StringRef permute = lanes >= 16 && is_contained(required, "avx512vbmi") ? "vbmi"
                      : permutesBytes()                                   ? "pshufb"
                                                                          : "";
  return LevelAttr::get(context, name, lanes, registers, fma, l1, l2, dot,
                        hasTileRegisters() ? "amx" : "", permute);
}

ArrayRef<CpuLevel> cpuLevels() {
  // AVX-512 code is made with 512-bit registers: the tiles are chosen for them.
  static const std::vector<CpuLevel> levels = [] {
    std::vector<std::string> v2 = baseFeatures();
    std::vector<std::string> v3 =
        with(v2, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"});
    std::vector<std::string> v4 =
        with(v3, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
    std::vector<std::string> neon = {"fp-armv8", "neon"};
    std::vector<std::string> rv64 = {"m", "a", "f", "d", "c"};
    return std::vector<CpuLevel>{
        {"x86-64-v2", "x86-64", "x86-64-v2", "", 4, 16, false, 32 << 10, 256 << 10, v2},
        {"x86-64-v3", "x86-64", "x86-64-v3", "", 8, 16, true, 32 << 10, 256 << 10, v3},
        {"x86-64-v4", "x86-64", "x86-64-v4", "", 16, 32, true, 32 << 10, 1 << 20, v4},
        {"x86-64-v4-vnni", "x86-64", "x86-64-v4", "+avx512vnni", 16, 32, true, 48 << 10, 1 << 20,
         with(v4, {"avx512vnni"})},
        {"x86-64-v4-amx", "x86-64", "x86-64-v4", "+avx512vnni,+amx-tile,+amx-int8", 16, 32, true,
         48 << 10, 2 << 20, with(v4, {"avx512vnni", "amx-tile", "amx-int8"})},
        {"armv8-a", "aarch64", "generic", "", 4, 32, true, 32 << 10, 512 << 10, neon},
        {"armv8.2-a", "aarch64", "generic", "+fullfp16,+dotprod", 4, 32, true, 64 << 10, 512 << 10,
         with(neon, {"fullfp16", "dotprod"})},
        // Without vectors, a register of four lanes is four registers. Nothing converts f16, which
        // levels without FMA do by integer arithmetic; the code generator fuses products and sums.
        // Every processor takes the hint to pause.
        {"rv64gc", "riscv64", "generic-rv64", "+m,+a,+f,+d,+c,+zihintpause", 4, 8, false, 32 << 10,
         256 << 10, rv64},
        {"rv64gcv", "riscv64", "generic-rv64", "+m,+a,+f,+d,+c,+zihintpause,+v", 4, 32, false,
         32 << 10, 512 << 10, with(rv64, {"v"})},
        // A register of four lanes is two of the 32 of two lanes. The second level is that of
        // Cortex-A5, A7, A15 and A17, and of every later processor that runs code of 32 bits; the
        // code generator fuses its products and sums, f16 is converted as above.
        {"armv7-a", "armv7", "generic", "+neon", 4, 16, false, 32 << 10, 256 << 10, {"neon"}},
        {"armv7-a-vfpv4", "armv7", "generic", "+neon,+vfp4", 4, 16, false, 32 << 10, 512 << 10,
         with({"neon"}, {"vfp4"})},
    };
  }();
  return levels;
}

Expected<CpuLevel> hostCpuLevel() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  auto hasAll = [&](const CpuLevel &level) {
    return all_of(level.required, [&](const std::string &name) { return features.lookup(name); });
  };
  const CpuLevel *best = nullptr;
  for (const CpuLevel &level : cpuLevels())
    if (level.arch == abi::kOwnArchitecture && (level.features.empty() || level.arch != "x86-64") &&
        hasAll(level))
      best = &level;
  if (!best)
    return invalid("this machine's processor is older than every level of its kind (" +
                   Twine(abi::kOwnArchitecture) + "): name the level to compile for, one of " +
                   knownNames());

  CpuLevel host = *best;
  SmallVector<std::string> list;
  if (!host.features.empty())
    list.push_back(host.features);
  for (StringRef name : extensions) {
    if (is_contained(host.required, name.str()) || !features.lookup(name))
      continue;
    // The 512-bit extensions are of no use without the 512-bit registers.
    if (name.starts_with("avx512") && host.lanes < 16)
      continue;
    // Code for tile registers prepares its operands with 512-bit registers.
    if (name.starts_with("amx") && !(host.hasWideDot() && abi::requestTileRegisters()))
      continue;
    host.name += "+" + name.str();
    host.required.push_back(name.str());
    list.push_back("+" + name.str());
  }
  host.features = join(list, ",");
  host.l1 = cacheBytes(_SC_LEVEL1_DCACHE_SIZE, host.l1);
  host.l2 = cacheBytes(_SC_LEVEL2_CACHE_SIZE, host.l2);
  return host;
}

Expected<std::vector<CpuLevel>> parseCpuLevels(StringRef list) {
  std::vector<CpuLevel> result;
  SmallVector<StringRef> names;
  list.split(names, ',');
  for (StringRef name : names) {
    name = name.trim();
    StringRef full = name;
    for (const Alias &alias : aliases)
      if (name == alias.word)
        full = alias.name;
    std::optional<CpuLevel> found;
    if (name == "host") {
      Expected<CpuLevel> host = hostCpuLevel();
      if (!host)
        return host.takeError();
      found = std::move(*host);
    }
    for (const CpuLevel &level : cpuLevels())
      if (level.name == full)
        found = level;
    if (!found)
      return invalid("there is no CPU level '" + name + "'; known are " + knownNames());
    if (none_of(result, [&](const CpuLevel &level) { return level.name == found->name; }))
      result.push_back(std::move(*found));
  }
  return result;
}

} // namespace atc::cpu
