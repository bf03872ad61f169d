//===-- Half.h - contractions in f16 ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_HALF_H
#define OPENATC_DIALECTS_CPU_HALF_H

#include "dialects/cpu/Cpu.h"

#define GET_OP_CLASSES
#include "dialects/cpu/HalfOps.h.inc"

#endif // OPENATC_DIALECTS_CPU_HALF_H
