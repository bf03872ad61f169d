//===-- CpuLevels.cpp - the CPUs that code can be made for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/CpuLevels.h"

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
constexpr StringLiteral extensions[] = {"f16c",       "avxvnni",    "avx512vnni",
                                        "avx512bf16", "avx512fp16", "avx512vbmi"};

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

LevelAttr CpuLevel::attribute(mlir::MLIRContext *context) const {
  return LevelAttr::get(context, name, lanes, registers, fma, l1, l2);
}

ArrayRef<CpuLevel> cpuLevels() {
  // AVX-512 code is made with 512-bit registers: the tiles are chosen for them.
  static const std::vector<CpuLevel> levels = [] {
    std::vector<std::string> v2 = baseFeatures();
    std::vector<std::string> v3 =
        with(v2, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"});
    std::vector<std::string> v4 =
        with(v3, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
    return std::vector<CpuLevel>{
        {"x86-64-v2", "x86-64-v2", "", 4, 16, false, 32 << 10, 256 << 10, v2},
        {"x86-64-v3", "x86-64-v3", "", 8, 16, true, 32 << 10, 256 << 10, v3},
        {"x86-64-v4", "x86-64-v4", "", 16, 32, true, 32 << 10, 1 << 20, v4},
        {"x86-64-v4-vnni", "x86-64-v4", "+avx512vnni", 16, 32, true, 48 << 10, 1 << 20,
         with(v4, {"avx512vnni"})},
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
    if (level.features.empty() && hasAll(level))
      best = &level;
  if (!best)
    return invalid(
        "this machine is no x86-64-v2 processor: name the level to compile for, one of " +
        knownNames());

  CpuLevel host = *best;
  SmallVector<std::string> list;
  for (StringRef name : extensions) {
    if (is_contained(host.required, name.str()) || !features.lookup(name))
      continue;
    // The 512-bit extensions are of no use without the 512-bit registers.
    if (name.starts_with("avx512") && host.lanes < 16)
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
    std::string full = name.starts_with("v") ? ("x86-64-" + name).str() : name.str();
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
