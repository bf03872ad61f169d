//===-- FileLimits.h - limits on what an .om file may ask for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that asks for more is refused before anything is allocated or run.
// docs/om-format.md has the same table; what a program of the NPU may ask for is
// in npu/soc/Limits.def.

#ifndef OPENATC_RUNTIME_FILELIMITS_H
#define OPENATC_RUNTIME_FILELIMITS_H

#include <cstdint>

namespace atc::rt::limits {

/// Bytes of the arena, of all inputs and outputs together, and of one buffer of an NPU program.
/// Addresses on the device are sums of these and stay below 2^48.
constexpr uint64_t maxMemory = uint64_t(1) << 46;
/// Whether sizes in a file may exceed what addresses can express. Where they cannot, checks of them
/// are no code.
constexpr bool hasShortAddresses = sizeof(void *) < 8;
/// Bytes of one block of memory: the arena, an input or output, a tensor of a dynamic schedule, the
/// file. Addresses of 32 bits leave half of theirs, so that differences have a sign.
constexpr uint64_t maxShortBlock = (uint64_t(1) << 31) - 1;
constexpr uint64_t maxBlock = hasShortAddresses ? maxShortBlock : uint64_t(1) << 46;
/// Bytes of scratch memory per thread.
constexpr uint64_t maxScratch = uint64_t(1) << 32;
/// Tasks per kernel: the pool counts them in 64 bits, with room for chunks.
constexpr uint64_t maxTasks = uint64_t(1) << 40;
/// Steps of the schedule: the pool keeps the index of a step in 24 bits.
constexpr uint64_t maxLaunches = (uint64_t(1) << 24) - 1;
/// Code images: CPU levels and architectures.
constexpr uint64_t maxImages = 64;
/// Cores per NPU program; the largest grid of a simulated SoC is smaller.
constexpr uint64_t maxCores = 65536;
/// Arguments per NPU program: an address holds the index of its argument in 8 bits.
constexpr uint64_t maxNpuArguments = 256;
/// Gears of a model, values per gear, and dims that are such values. The loader's checks take time
/// in proportion to the product.
constexpr uint64_t maxGears = 256, maxGearValues = 256, maxGearAxes = 256;
/// Characters of an NPU's table; the longest that atc writes has about 1500.
constexpr uint64_t maxTableText = 65536;

} // namespace atc::rt::limits

#endif
