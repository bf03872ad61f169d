//===-- Cpu.h - what this processor can run -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_CPU_H
#define OPENATC_RUNTIME_CPU_H

namespace atc::rt {

/// The architecture code images for this machine are made for: "x86-64" ...
const char *cpuArch();

/// Whether the processor and the operating system offer a feature, named as
/// LLVM names it. One this library has never heard of is not offered.
bool cpuHas(const char *feature);

} // namespace atc::rt

#endif
