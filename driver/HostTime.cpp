//===-- HostTime.cpp - the modelled time of kernels on the CPU ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/HostTime.h"

#include <algorithm>

namespace atc::driver {

namespace {
/// A server's sustained clock with all processors busy.
constexpr double kHertz = 3e9;
/// The share of the peak that generated convolutions and products reach on average.
constexpr double kProductShare = 0.75;
/// The share of the peak of kernels that serve all shapes, such as LSTM with its dependent steps.
constexpr double kHostCallShare = 0.3;
/// Elementwise code computes functions by polynomials: so many vector operations per cycle.
constexpr double kVectorOperations = 1;
/// Weights come from memory, most intermediate tensors from the last-level cache.
constexpr double kBytesPerProcessor = 15e9;
constexpr double kLaunchSeconds = 1e-6;
} // namespace

HostRates hostRates(const cpu::CpuLevel &level, unsigned processors) {
  const double cycles = kHertz * processors;
  // Two units that multiply and add, or one of each where they are separate instructions.
  const double peak = cycles * double(level.lanes) * (level.fma ? 2 : 1);
  // Four products per lane, or emulation by instructions on pairs of 16 bits. Tile registers could
  // make eight times as many as dot products; networks ran twice as fast with them (Sapphire
  // Rapids).
  const double integers = level.hasTileRegisters() ? 8 : level.hasExactDot() ? 4 : 1;
  return {processors,
          peak * kProductShare,
          peak * kProductShare * integers,
          peak * kHostCallShare,
          cycles * double(level.lanes) * kVectorOperations,
          kBytesPerProcessor * processors,
          kLaunchSeconds};
}

double hostSeconds(const PlacedKernel &kernel, const HostRates &rates) {
  const double macs = double(kernel.macs.value_or(0));
  const double rate = kernel.isHostCall  ? rates.hostCallMacs
                      : kernel.isInteger ? rates.integerMacs
                                         : rates.floatMacs;
  const double others = std::max(0.0, double(kernel.operations) - 2 * macs);
  const double compute = macs / rate + others / rates.operations;
  const double bytes = double(kernel.bytes) * (kernel.onNpu ? 2 : 1);
  return rates.launchSeconds + std::max(compute, bytes / rates.bytes);
}

} // namespace atc::driver
