//===-- PreloadWeights.h - operands that a launch loads for others -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SCHEDULE_PRELOADWEIGHTS_H
#define OPENATC_PASSES_NPU_SCHEDULE_PRELOADWEIGHTS_H

#include "llvm/ADT/StringRef.h"

namespace atc::npu {

/// The number of a launch's operands, in front of the last one, that npu-preload-weights added:
/// weights of later launches, which its own result does not depend on.
inline constexpr llvm::StringLiteral kPreloadedAttr = "npu.preloaded";

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_PRELOADWEIGHTS_H
