//===-- AllocateLocalMemory.cpp - assigns offsets to buffers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/program/LocalMemory.h"
#include "passes/npu/program/ProgramWriter.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUALLOCATELOCALMEMORY
#include "passes/npu/Passes.h.inc"

namespace {

struct AllocateLocalMemoryPass : impl::NpuAllocateLocalMemoryBase<AllocateLocalMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    ir::ProgramOp program = getOperation();
    SocTable soc = socOf(program);
    if (soc.l1Bytes == 0 && soc.ubBytes == 0) {
      program.emitError() << "names no known SoC: \"" << program.getSoc() << '"';
      return signalPassFailure();
    }
    for (MemoryUse &use : memoryUses(program, soc))
      if (!allocate(program, use, soc))
        signalPassFailure();
  }

private:
  bool allocate(ir::ProgramOp program, MemoryUse &use, const SocTable &soc) {
    if (!use.allocate()) {
      program.emitError() << "needs " << use.used() << " bytes of " << nameOf(use.memory) << ", "
                          << soc.name << " has " << use.capacity;
      return false;
    }
    for (LocalBuffer &buffer : use.buffers)
      buffer.alloc.setOffset(buffer.offset);
    numShared += use.shares();
    if (report)
      program.emitRemark() << "uses " << use.used() << " of " << use.capacity << " bytes of "
                           << nameOf(use.memory) << ", lower bound " << use.lowerBound()
                           << (use.shares() ? ", buffers share" : "");
    return true;
  }
};

} // namespace
} // namespace atc::npu
