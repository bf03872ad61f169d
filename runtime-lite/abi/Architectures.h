//===-- Architectures.h - the processors that models run on ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler writes the name of an architecture into the `.om` file, the runtime compares it with
// its own.

#ifndef OPENATC_RUNTIME_ABI_ARCHITECTURES_H
#define OPENATC_RUNTIME_ABI_ARCHITECTURES_H

#include <stdint.h>

namespace atc::abi {

struct Architecture {
  const char *name;   ///< in the `.om` file
  const char *triple; ///< its name in target triples
  uint16_t machine;   ///< e_machine of an ELF file
  uint32_t flags;     ///< e_flags of an ELF file
};

/// All are little-endian machines of 64 bits.
inline constexpr Architecture kArchitectures[] = {
    {"x86-64", "x86_64", 62, 0},
    {"aarch64", "aarch64", 183, 0},
    {"riscv64", "riscv64", 243, 5}, // compressed instructions; double in floating-point registers
};

/// Names the architecture that this program was compiled for; "unknown" for others.
inline constexpr const char *kOwnArchitecture =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    "riscv64";
#else
    "unknown";
#endif

} // namespace atc::abi

#endif // OPENATC_RUNTIME_ABI_ARCHITECTURES_H
