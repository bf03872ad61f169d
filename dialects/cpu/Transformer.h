//===-- Transformer.h - attention and layer norms ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_TRANSFORMER_H
#define OPENATC_DIALECTS_CPU_TRANSFORMER_H

#include "dialects/cpu/Cpu.h"

#define GET_OP_CLASSES
#include "dialects/cpu/TransformerOps.h.inc"

#endif // OPENATC_DIALECTS_CPU_TRANSFORMER_H
