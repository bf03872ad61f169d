//===-- Reduction.h - sums of computed values -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_REDUCTION_H
#define OPENATC_DIALECTS_CPU_REDUCTION_H

#include "dialects/cpu/Cpu.h"

#define GET_OP_CLASSES
#include "dialects/cpu/ReductionOps.h.inc"

#endif // OPENATC_DIALECTS_CPU_REDUCTION_H
