//===-- CpuLevels.h - the CPUs that code can be made for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_CPULEVELS_H
#define OPENATC_BACKENDS_CPU_CPULEVELS_H

#include "dialects/cpu/Cpu.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace atc::cpu {

/// What the compiler must know of a CPU.
struct CpuLevel {
  std::string name;     ///< as users write it and as the `.om` says it
  std::string arch;     ///< "x86-64" or "aarch64", as the `.om` says it
  std::string cpu;      ///< LLVM's name of the processor it builds on
  std::string features; ///< LLVM's feature string on top of it
  int64_t lanes;        ///< f32 numbers in a vector register
  int64_t registers;
  bool fma;
  int64_t l1, l2; ///< bytes of cache a core has
  /// What the code may use, by LLVM's names: a machine that lacks one of these
  /// must not run it.
  std::vector<std::string> required;

  /// There is an instruction that adds four products of bytes to 32 bits.
  bool hasExactDot() const;
  LevelAttr attribute(mlir::MLIRContext *context) const;
  /// LLVM's name of the machine.
  std::string triple() const;
};

/// The levels that can be named, without `host`: architecture by architecture,
/// lowest first.
llvm::ArrayRef<CpuLevel> cpuLevels();

/// The machine this runs on: the highest level whose features it has, and those
/// of the extensions the compiler makes use of. Fails where even the lowest
/// level does not fit.
llvm::Expected<CpuLevel> hostCpuLevel();

/// A list such as `host`, `x86-64-v3`, `v2,v3,v4` or `host,aarch64`. Levels come
/// out in the order given, each once.
llvm::Expected<std::vector<CpuLevel>> parseCpuLevels(llvm::StringRef list);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_CPULEVELS_H
