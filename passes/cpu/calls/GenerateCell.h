//===-- GenerateCell.h - code of recurrent cells --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_GENERATECELL_H
#define OPENATC_PASSES_CPU_CALLS_GENERATECELL_H

#include "passes/cpu/calls/CallFunctions.h"

namespace atc::cpu {

/// Gives a call of RNN, GRU or LSTM, whatever its shapes, code that computes the cell from its
/// gates. Returns false where it is none, or where its directions have different functions.
bool generateCell(graph::HostCallOp call, CallFunctions &functions);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_GENERATECELL_H
