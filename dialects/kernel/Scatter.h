//===-- Scatter.h - sums by index and running sums --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_KERNEL_SCATTER_H
#define OPENATC_DIALECTS_KERNEL_SCATTER_H

#include "dialects/kernel/Kernel.h"

#define GET_OP_CLASSES
#include "dialects/kernel/ScatterOps.h.inc"

#endif // OPENATC_DIALECTS_KERNEL_SCATTER_H
