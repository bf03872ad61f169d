//===-- MeasureTiles.h - what a tile costs on the simulator -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H
#define OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// Cycles of a kernel function (npu.conv2d or npu.matmul) with this tile: its
/// program is made aside, goes through the program pipeline and runs on the
/// simulated SoC, as one launch of a chain and with what fits L2 there. Nothing
/// if it cannot be run. The same in every run.
std::optional<double> measureTile(mlir::func::FuncOp function, const Tile &tile);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_MEASURETILES_H
