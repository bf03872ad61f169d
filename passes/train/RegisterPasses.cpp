//===-- RegisterPasses.cpp - the passes by name ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Passes.h"

namespace atc::train {
#define GEN_PASS_REGISTRATION
#include "passes/train/Passes.h.inc"

void registerTrainPasses() { registerTrainingPasses(); }

} // namespace atc::train
