//===-- PrebuiltKernels.cpp - objects of host kernels in the compiler -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/PrebuiltKernels.h"

using namespace llvm;

extern "C" {
extern const char openatc_prebuilt_kernels[];
}

namespace atc::cpu {

namespace {
struct Prebuilt {
  StringLiteral symbol, level;
  uint64_t types, offset, bytes;
};
/// Ends with a row without a name, as a build may have none.
constexpr Prebuilt prebuilt[] = {
#define PREBUILT(SYMBOL, LEVEL, TYPES, OFFSET, BYTES) {SYMBOL, LEVEL, TYPES, OFFSET, BYTES},
#include "backends/cpu/PrebuiltKernels.inc"
#undef PREBUILT
    {"", "", 0, 0, 0}};
} // namespace

StringRef prebuiltKernel(StringRef symbol, uint64_t types, const CpuLevel &level) {
  for (const Prebuilt &row : prebuilt)
    if (row.symbol == symbol && row.types == types && row.level == level.name)
      return StringRef(openatc_prebuilt_kernels + row.offset, row.bytes);
  return {};
}

} // namespace atc::cpu
