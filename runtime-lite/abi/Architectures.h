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
  const char *triple; ///< LLVM's target triple
  uint8_t bits;       ///< of an address: 32 or 64, the class of an ELF file
  uint16_t machine;   ///< e_machine of an ELF file
  uint32_t flags;     ///< e_flags of a relocatable ELF file
};

/// All are little-endian machines.
inline constexpr Architecture kArchitectures[] = {
    {"x86-64", "x86_64-unknown-linux-gnu", 64, 62, 0},
    {"aarch64", "aarch64-unknown-linux-gnu", 64, 183, 0},
    // Compressed instructions; double in floating-point registers.
    {"riscv64", "riscv64-unknown-linux-gnu", 64, 243, 5},
    // Version 5 of the ABI; floats are passed in floating-point registers.
    {"armv7", "armv7-unknown-linux-gnueabihf", 32, 40, 0x05000000},
};

/// Names the architecture that this program was compiled for; "unknown" for others.
inline constexpr const char *kOwnArchitecture =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    "riscv64";
#elif defined(__arm__) && __ARM_ARCH >= 7 && defined(__ARM_PCS_VFP) && !defined(__ARM_BIG_ENDIAN)
    "armv7";
#else
    "unknown";
#endif

} // namespace atc::abi

#endif // OPENATC_RUNTIME_ABI_ARCHITECTURES_H
