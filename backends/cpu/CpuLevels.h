//===-- CpuLevels.h - the CPUs that code can be generated for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_CPULEVELS_H
#define OPENATC_BACKENDS_CPU_CPULEVELS_H

#include "dialects/cpu/Cpu.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace atc::cpu {

/// The properties of a CPU that the compiler uses.
struct CpuLevel {
  std::string name;     ///< as users write it and as stored in the `.om` file
  std::string arch;     ///< "x86-64", "aarch64", "riscv64" or "armv7", as stored in the `.om` file
  std::string cpu;      ///< LLVM's name of the base processor
  std::string features; ///< LLVM's feature string in addition to it
  int64_t lanes;        ///< f32 elements per vector register
  int64_t registers;
  bool fma;
  int64_t l1, l2; ///< bytes of cache per core
  /// The features that the code may use, by LLVM's names: a machine that lacks one of these must
  /// not run it.
  std::vector<std::string> required;

  /// Returns whether there is an instruction that accumulates four products of bytes to 32 bits.
  bool hasExactDot() const;
  /// Returns whether there is one for registers of 64 bytes (vpdpbusd).
  bool hasWideDot() const;
  /// Returns whether there are products of small matrices of bytes in tile registers (AMX).
  bool hasTileRegisters() const;
  /// Returns whether there is an instruction that permutes the bytes of a register.
  bool permutesBytes() const;
  /// Returns whether code without host kernels calls functions, too, such as for quotients of 64
  /// bits: they are linked with it.
  bool needsLibrary() const { return arch == "armv7"; }
  /// Returns whether there are instructions, or the code generator knows a way, to round floats to
  /// integral values.
  bool roundsFloats() const { return arch != "armv7"; }
  /// Returns the best of cpuLevels() without features in addition to its base processor whose code
  /// runs here. What a level has beyond that one are instructions on elements of 8 and 16 bits.
  const CpuLevel &plain() const;
  /// Returns the level as an attribute for passes.
  LevelAttr attribute(mlir::MLIRContext *context) const;
  /// Returns LLVM's target triple.
  std::string triple() const;
};

/// Returns the levels that can be named, without `host`: by architecture, in ascending order.
llvm::ArrayRef<CpuLevel> cpuLevels();

/// Returns the level of the machine that this runs on: the highest level whose features it has,
/// plus the extensions that the compiler uses. Fails where even the lowest level does not fit.
llvm::Expected<CpuLevel> hostCpuLevel();

/// Parses a list such as `host`, `x86-64-v3`, `v2,v3,v4` or `host,aarch64`. Returns the levels in
/// the given order without duplicates.
llvm::Expected<std::vector<CpuLevel>> parseCpuLevels(llvm::StringRef list);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_CPULEVELS_H
