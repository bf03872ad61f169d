//===-- DecomposeMoves.h - pads and gathers as slices ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_DECOMPOSEMOVES_H
#define OPENATC_PASSES_NPU_SELECT_DECOMPOSEMOVES_H

#include "dialects/graph/ops/ShapeOps.h"

namespace atc::npu {

/// Replace an op that picks elements at known positions (a pad that repeats elements, a gather with
/// constant indices) by a concat of slices, along each dim that it changes. Return the reason why
/// the op stays; empty: it was replaced.
std::string decomposePad(graph::PadOp op);
std::string decomposeGather(graph::GatherOp op);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_DECOMPOSEMOVES_H
