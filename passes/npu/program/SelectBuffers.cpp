//===-- SelectBuffers.cpp - how many copies of buffers there are ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Choices.h"
#include "passes/Remarks.h"
#include "passes/npu/Passes.h"
#include "passes/npu/program/BufferChoice.h"
#include "passes/npu/program/LocalMemory.h"
#include "passes/npu/program/ProgramTime.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/program/SyncAnalysis.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSELECTBUFFERS
#include "passes/npu/Passes.h.inc"

namespace {

bool isFilledFromGm(ir::AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    return user->getOperand(0) == alloc.getResult() && queueOf(user) == Queue::MTE2;
  });
}

/// Returns the useful number of copies: a second copy lets one iteration's producer run in parallel
/// with the consumer of the previous one; a third only helps where the producer's time varies,
/// which it does when it reads gm.
int64_t copiesWanted(ir::AllocOp alloc, int64_t max) {
  int64_t iterations = 1;
  for (auto loop = alloc->getParentOfType<ir::LoopOp>(); loop;
       loop = loop->getParentOfType<ir::LoopOp>())
    iterations = std::min<int64_t>(iterations * int64_t(loop.getTrips()), kFlagIds);
  llvm::SmallDenseSet<unsigned> queues;
  for (Operation *user : alloc->getUsers())
    if (std::optional<Queue> queue = queueOf(user))
      queues.insert(unsigned(*queue));
  if (queues.size() < 2)
    return 1;
  return std::min(
      {isFilledFromGm(alloc) ? max : std::min<int64_t>(max, 2), iterations, int64_t(kFlagIds)});
}

struct SelectBuffersPass : impl::NpuSelectBuffersBase<SelectBuffersPass> {
  using Base::Base;

  void runOnOperation() override {
    ir::ProgramOp program = getOperation();
    if (maxBuffers < 1) {
      program.emitError() << "max-buffers is " << maxBuffers.getValue() << ", 1 is the least";
      return signalPassFailure();
    }
    const int64_t max = choose(program);
    program.walk([&](ir::AllocOp alloc) { alloc.setBuffers(copiesWanted(alloc, max)); });
    SocTable soc = socOf(program);
    unsigned taken = 0;
    for (MemoryUse &use : memoryUses(program, soc))
      while (!use.allocate() && takeOne(use))
        ++taken;
    program.walk([&](ir::AllocOp alloc) { numCopied += alloc.getBuffers() > 1; });
    numTaken += taken;
    if (taken && !program->getParentOfType<ModuleOp>()->hasAttr(kTrialAttr))
      remarkMissed(getArgument(), program.getLoc(), "FewerBuffers") << remark::add(
          "{0} copies of buffers do not fit into the local memories: queues wait for "
          "each other more often",
          taken);
  }

private:
  /// Returns the maximum number of copies of each buffer: what the table of choices has for this
  /// program, else the option.
  int64_t choose(ir::ProgramOp program) {
    auto identity = program->getAttrOfType<StringAttr>(kKernelAttr);
    if (!identity || maxBuffers == 1 || program->getParentOfType<ModuleOp>()->hasAttr(kTrialAttr))
      return maxBuffers;
    const std::string key = choiceKey(getArgument(), program.getSoc(), identity);
    int64_t max = maxBuffers;
    if (std::optional<StringRef> given = givenChoice(program, key)) {
      if (std::optional<int64_t> copies = parseCopies(*given))
        max = *copies;
      else
        reportUnfit(program, key, *given,
                    "it must be a number of copies from 1 to " + Twine(kFlagIds));
    }
    SmallVector<std::string> proposals;
    if (wantedProposals(program))
      for (int64_t copies = 1; copies <= 4; ++copies)
        proposals.push_back(std::to_string(copies));
    noteChoice(getArgument(), program.getLoc(), program, key, std::to_string(max), proposals);
    return max;
  }

  /// Removes a copy of the buffer that loses least: one of many, one that is not filled from gm,
  /// and among those the largest. Returns false without copies.
  static bool takeOne(MemoryUse &use) {
    LocalBuffer *min = nullptr;
    auto worth = [](const LocalBuffer &buffer) {
      ir::AllocOp alloc = buffer.alloc;
      return std::tuple(-int64_t(alloc.getBuffers()), isFilledFromGm(alloc), -buffer.bytes);
    };
    for (LocalBuffer &buffer : use.buffers)
      if (buffer.alloc.getBuffers() > 1 && (!min || worth(buffer) < worth(*min)))
        min = &buffer;
    if (!min)
      return false;
    min->alloc.setBuffers(min->alloc.getBuffers() - 1);
    min->bytes = bytesTaken(min->alloc);
    return true;
  }
};

} // namespace
} // namespace atc::npu
