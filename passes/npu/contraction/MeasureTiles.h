//===-- MeasureTiles.h - simulates the time of a tile -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H
#define OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// Returns the cycles of a kernel function (npu.conv2d or npu.matmul) with this tile: builds its
/// program separately, runs the program pipeline and simulates it on the SoC, as one launch of a
/// chain and with everything in L2 that fits there, with at most `copies` copies of each buffer.
/// Nothing if it cannot be run. The result is deterministic.
std::optional<double> measureTile(mlir::func::FuncOp function, const Tile &tile, int64_t copies);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H
