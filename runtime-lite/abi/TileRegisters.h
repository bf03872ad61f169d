//===-- TileRegisters.h - the permission to use tile registers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_ABI_TILEREGISTERS_H
#define OPENATC_RUNTIME_ABI_TILEREGISTERS_H

#if defined(__x86_64__) && defined(__linux__)
#include <atomic>
#endif

namespace atc::abi {

/// Asks the system to save the tile registers of AMX (8 KB per thread) for all threads of this
/// process, without which their first use is an error. Returns whether it does; the processor must
/// have them. Asks until it is granted: the system refuses while a thread has a stack for signals
/// that is too small for them. Needs no library.
inline bool requestTileRegisters() {
#if defined(__x86_64__) && defined(__linux__)
  static std::atomic<bool> granted = false;
  if (granted.load(std::memory_order_relaxed))
    return true;
  constexpr long archPrctl = 158, requestPermission = 0x1023, tileData = 18; // a bit of XCR0
  long status = archPrctl;
  __asm__ volatile("syscall"
                   : "+a"(status)
                   : "D"(requestPermission), "S"(tileData)
                   : "rcx", "r11", "memory");
  if (status == 0)
    granted.store(true, std::memory_order_relaxed);
  return status == 0;
#else
  return false;
#endif
}

} // namespace atc::abi

#endif // OPENATC_RUNTIME_ABI_TILEREGISTERS_H
