//===-- Soc.h - the tables of the NPUs --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that compiler and simulator know about an NPU. Code reads the table, never the name: a
// table from a file is as good as a built-in one.

#ifndef OPENATC_NPU_SOC_SOC_H
#define OPENATC_NPU_SOC_SOC_H

#include "npu/soc/Hardware.h"

#include <string>
#include <string_view>
#include <vector>

namespace atc::npu {

/// Lists the kinds of properties with the values that they can have: SOC_KIND(Name, type, lowest,
/// highest, is it a power of two, unit). They bound what the simulator allocates, divides by and
/// iterates over; Limits.def bounds products of properties.
#define SOC_KINDS(SOC_KIND)                                                                        \
  SOC_KIND(Switch, uint64_t, 0, 1, false, "1 for yes")                                             \
  SOC_KIND(Cores, uint64_t, 1, 1024, false, "cores")                                               \
  SOC_KIND(OptionalCores, uint64_t, 0, 1024, false, "cores")                                       \
  SOC_KIND(Megahertz, uint64_t, 1, 100000, false, "MHz")                                           \
  SOC_KIND(DeviceBytes, uint64_t, 1, uint64_t(1) << 46, false, "bytes")                            \
  SOC_KIND(CacheBytes, uint64_t, 0, uint64_t(1) << 32, false, "bytes")                             \
  SOC_KIND(LocalBytes, uint64_t, 512, 1 << 26, false, "bytes")                                     \
  SOC_KIND(OptionalBytes, uint64_t, 0, 1 << 26, false, "bytes")                                    \
  SOC_KIND(Alignment, uint64_t, 32, 4096, true, "bytes")                                           \
  SOC_KIND(Line, uint64_t, 32, 65536, true, "bytes")                                               \
  SOC_KIND(Ways, uint64_t, 1, 16384, false, "ways")                                                \
  SOC_KIND(RunBytes, uint64_t, 1, 1 << 20, false, "bytes")                                         \
  SOC_KIND(Depth, uint64_t, 1, 1024, false, "instructions")                                        \
  SOC_KIND(Cycles, uint64_t, 0, 1 << 30, false, "cycles")                                          \
  SOC_KIND(Rate, double, 1. / 1024, 1 << 20, false, "per cycle, or a ratio")                       \
  SOC_KIND(Share, double, 1. / 1024, 1, false, "of a rate")

enum class SocKind : uint8_t {
#define SOC_KIND(Name, ...) Name,
  SOC_KINDS(SOC_KIND)
#undef SOC_KIND
};
#define SOC_KIND(...) +1
constexpr unsigned kSocKinds = 0 SOC_KINDS(SOC_KIND);
#undef SOC_KIND
/// The values of a kind of property.
struct SocKindInfo {
  const char *name, *unit;
  double low, high;
  bool whole, powerOfTwo;
  /// Returns whether a property of the kind may have the value.
  bool allows(double value) const;
  /// Returns the expected values as text: "a whole number from 1 to 1024".
  std::string expected() const;
};
/// Returns what is known of a kind of property.
const SocKindInfo &infoOf(SocKind kind);

template <SocKind> struct SocNumber;
#define SOC_KIND(Name, number, ...)                                                                \
  template <> struct SocNumber<SocKind::Name> {                                                    \
    using Type = number;                                                                           \
  };
SOC_KINDS(SOC_KIND)
#undef SOC_KIND

/// The properties of a SoC, which Soc.def lists with their units.
struct SocTable {
  std::string name;
#define SOC_PROPERTY(kind, key, ...) SocNumber<SocKind::kind>::Type key = 0;
#include "npu/soc/Soc.def"

  /// Returns the size in bytes of a core's local memory, or of the device's gm.
  uint64_t memoryBytes(Memory memory) const;
  /// Returns the required alignment of addresses in the memory, in bytes (1 in gm).
  uint64_t alignment(Memory memory) const;
  /// Returns the number of cores that a program can run on.
  uint64_t cores(bool vectorCore) const { return split && vectorCore ? vectorCores : cubeCores; }
  /// Returns the cube's peak rate: multiply-accumulates per cycle and core.
  double macsPerCycle(DataType type) const;
  /// Returns the depth of the cube's step, which has 16 rows and columns.
  static unsigned cubeDepth(DataType type);
  /// Returns a core's share of DDR or HBM, in bytes per cycle, for reads and writes together.
  double ddrRate() const { return ddrPeak * ddrEfficiency; }
  double microseconds(double cycles) const { return cycles / double(mhz); }
};

/// The built-in table of a SoC ("Ascend310P3"), or of a chip that is simulated as one of them and
/// keeps its own name ("Ascend310B4"); null if there is none.
const SocTable *findSoc(std::string_view name);
/// Returns the built-in tables, without those of other chips.
const std::vector<SocTable> &allSocs();

/// A chip that has no table of its own.
struct RelatedSoc {
  const char *name;
  const char *base; ///< the built-in table that it is simulated as; null: none is near
};
/// Returns every chip that users of the Ascend toolchain name beside allSocs().
const std::vector<RelatedSoc> &relatedSocs();

/// Reads `key = value` lines over `table`, whose values stay where a key is not
/// given; `base = Ascend310P3` on the first line takes over a built-in table.
/// Returns all errors (100 at most), each with `file:line:` in front, and leaves
/// the table alone if there is one. A table that was read is within the limits of
/// SOC_KINDS and Limits.def.
std::vector<std::string> readSoc(std::string_view text, std::string_view file, SocTable &table);
/// Reads the lines of a file, which may have at most 65536 bytes.
std::vector<std::string> readSocFile(const std::string &path, SocTable &table);
/// Returns a table as text that readSoc reads.
std::string writeSoc(const SocTable &table);
/// Returns the part of writeSoc on which programs of single kernels depend: without what only
/// launches of several kernels use.
std::string writeSocOfKernels(const SocTable &table);

} // namespace atc::npu

#endif
