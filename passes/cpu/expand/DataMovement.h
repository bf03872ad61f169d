//===-- DataMovement.h - shared by the copying kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_DATAMOVEMENT_H
#define OPENATC_PASSES_CPU_EXPAND_DATAMOVEMENT_H

#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/LoopNest.h"

namespace atc::cpu {

/// Copies between two buffers that are contiguous along the same dim, or along none. `space` is
/// normalized by the output: buffer 0 is read, buffer 1 is written.
void copyRows(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, const Space &space);

/// Returns the dim of `space` along which the input is contiguous where the output is contiguous
/// along another one (the last).
std::optional<size_t> findTransposedDim(const Space &space);
/// Copies between buffers that are contiguous along different dims.
void copyTransposed(KernelBuilder &b, LaneBuffer &input, LaneBuffer &output, Space space,
                    size_t inputDim);

/// Each replaces a kernel op by loops.
void expandPack(PackOp op);
void expandUnpack(UnpackOp op);
void expandFill(FillOp op);
void expandPad(PadOp op);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_DATAMOVEMENT_H
