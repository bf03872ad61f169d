//===-- TileRegisters.h - the permission to use tile registers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_ABI_TILEREGISTERS_H
#define OPENATC_RUNTIME_ABI_TILEREGISTERS_H

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace atc::abi {

/// Asks the system to save the tile registers of AMX (8 KB per thread) for all threads of this
/// process, without which their first use is an error. Returns whether it does; the processor must
/// have them. It may be asked again.
inline bool requestTileRegisters() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long request = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, a bit of XCR0
  return syscall(SYS_arch_prctl, request, tileData) == 0;
#else
  return false;
#endif
}

} // namespace atc::abi

#endif // OPENATC_RUNTIME_ABI_TILEREGISTERS_H
