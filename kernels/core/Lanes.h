//===-- Lanes.h - the vector registers that a kernel is compiled for ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_LANES_H
#define OPENATC_KERNELS_CORE_LANES_H

#include <stdint.h>

namespace atc::kernels {

/// The number of f32 elements per vector register of the CPU level. The compiler makes it a
/// constant when it links kernels into a model, so that code for other registers is removed.
extern "C" const uint64_t atc_kernel_lanes;

/// 1 where the CPU level multiplies registers of 64 bytes with vpdpbusd, else 0; a constant like
/// the one above.
extern "C" const uint64_t atc_kernel_wide_dot;

/// 1 where the CPU level multiplies small matrices of bytes in tile registers (AMX), which implies
/// vpdpbusd, else 0.
extern "C" const uint64_t atc_kernel_tile_registers;

// The functions that read these constants are inlined when the bitcode is made, as in Numbers.h.

/// Returns whether an instruction adds products of bytes, four per lane, in registers of 64 bytes.
[[gnu::always_inline]] inline bool hasWideDot() { return atc_kernel_wide_dot != 0; }

/// Returns whether there are products of matrices of 16 x 64 and 64 x 16 bytes in tile registers.
[[gnu::always_inline]] inline bool hasTileRegisters() { return atc_kernel_tile_registers != 0; }

/// Returns whether vectors of 64 bytes are registers, of which there are then 32.
[[gnu::always_inline]] inline bool hasWideRegisters() { return atc_kernel_lanes >= 16; }

/// Returns whether a fused multiply-add is an instruction, as it is wherever x86 has vectors of 32
/// bytes; else it would be a call of libm.
[[gnu::always_inline]] inline bool hasFma() {
#if defined(__aarch64__)
  return true;
#else
  return atc_kernel_lanes >= 8;
#endif
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_LANES_H
