//===-- VectorBarriers.h - barriers of the vector queue ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector queue begins an instruction before the one in front of it is complete. Two of its
// instructions that access the same bytes, at least one of them to write, need a barrier of the
// queue between them, unless flags to another queue and back already order them.

#ifndef OPENATC_PASSES_NPU_PROGRAM_VECTORBARRIERS_H
#define OPENATC_PASSES_NPU_PROGRAM_VECTORBARRIERS_H

#include "passes/npu/program/SyncAnalysis.h"

namespace atc::npu {

/// Returns the barriers that the vector queue needs beside the edges and barriers of `analysis`:
/// per block, whether there is one before each child. `meetings` are the children of the program
/// before which all queues meet. Buffers that have no offset yet are compared as a whole.
std::vector<std::vector<bool>> vectorBarriersOf(ir::ProgramOp program, const SyncAnalysis &analysis,
                                                llvm::ArrayRef<unsigned> meetings);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_VECTORBARRIERS_H
