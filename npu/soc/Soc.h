//===-- Soc.h - the tables of the NPUs --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that compiler and simulator know about an NPU. Code asks the table,
// never the name: an own table read from a file is as good as a built-in one.

#ifndef OPENATC_NPU_SOC_SOC_H
#define OPENATC_NPU_SOC_SOC_H

#include "npu/soc/Hardware.h"

#include <string>
#include <string_view>
#include <vector>

namespace atc::npu {

struct SocTable {
  std::string name;
#define SOC_PROPERTY(type, key, ...) type key = 0;
#include "npu/soc/Soc.def"

  /// Of a core's local memory; of gm and with it the device's.
  uint64_t memoryBytes(Memory memory) const;
  /// What an address in the memory must be a multiple of (1 in gm).
  uint64_t alignment(Memory memory) const;
  /// Cores that a program can run on.
  uint64_t cores(bool vectorCore) const { return split && vectorCore ? vectorCores : cubeCores; }
  /// The cube's multiply-accumulates a cycle and core.
  double macsPerCycle(DataType type) const;
  /// Rows and columns (16) and depth of the cube's step.
  static unsigned cubeDepth(DataType type);
  double microseconds(double cycles) const { return cycles / double(mhz); }
};

/// The built-in table of a SoC ("Ascend310P3"), null if there is none.
const SocTable *findSoc(std::string_view name);
const std::vector<SocTable> &allSocs();

/// Reads `key = value` lines over `table`, whose values stay where a key is not
/// given; `base = Ascend310P3` on the first line takes over a built-in table.
/// Gives all faults, each with `file:line:` in front; none if all is well.
std::vector<std::string> readSoc(std::string_view text, std::string_view file, SocTable &table);
/// The same from a file.
std::vector<std::string> readSocFile(const std::string &path, SocTable &table);
/// The text that readSoc reads.
std::string writeSoc(const SocTable &table);

} // namespace atc::npu

#endif
