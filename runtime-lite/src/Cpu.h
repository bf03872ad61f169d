//===-- Cpu.h - what this processor can run -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_CPU_H
#define OPENATC_RUNTIME_CPU_H

#include <cstdint>

namespace atc::rt {

/// Returns how many processors this process may use.
uint32_t usableProcessors();

/// Returns whether the processor and the operating system offer a feature, named as in LLVM. A
/// feature that this library does not know is not offered.
bool cpuHas(const char *feature);

} // namespace atc::rt

#endif
