//===-- FloatWinograd.h - Winograd convolutions of f32 ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_FLOATWINOGRAD_H
#define OPENATC_DIALECTS_CPU_FLOATWINOGRAD_H

#include "dialects/cpu/Cpu.h"

#define GET_OP_CLASSES
#include "dialects/cpu/FloatWinogradOps.h.inc"

#endif // OPENATC_DIALECTS_CPU_FLOATWINOGRAD_H
