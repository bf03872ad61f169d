//===-- TileConv.h - integer convolutions in tile registers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_TILECONV_H
#define OPENATC_PASSES_CPU_EXPAND_TILECONV_H

#include "dialects/cpu/Cpu.h"

namespace atc::cpu {

/// Replaces a convolution whose tile has `matrix` set by loops on tile registers.
void expandOnTileRegisters(IntegerConv2DOp op, TileAttr tile);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_TILECONV_H
