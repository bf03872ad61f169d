//===-- Schedule.cpp - who touches which memory when ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Schedule.h"

#include "dialects/npu/Npu.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::om {

func::FuncOp findMain(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

BufferPart resolveViews(Value buffer) {
  BufferPart part{buffer};
  while (auto view = part.root.getDefiningOp<ViewOp>()) {
    part.offset += view.getOffset();
    part.root = view.getSource();
  }
  return part;
}

bool isOutput(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument)
    return false;
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function && function.getArgAttr(argument.getArgNumber(), kOutputAttr);
}

bool isNpuKernel(Operation *symbol) {
  return symbol && (isa<npu::ir::ProgramOp>(symbol) || symbol->hasAttr(kNpuKernelAttr));
}

void eraseLaunch(LaunchOp launch) {
  Operation *next = launch->getNextNode();
  while (next && !isa<LaunchOp>(next))
    next = next->getNextNode();
  if (next && !launch.getChained())
    cast<LaunchOp>(next).setChained(false);
  launch.erase();
}

int64_t arenaBytes(AllocOp alloc) {
  // An empty buffer still needs an address of its own.
  int64_t span = std::max<int64_t>(1, spanInBytes(cast<MemRefType>(alloc.getType())));
  return llvm::alignTo(span, kBufferAlignment);
}

Schedule::Schedule(func::FuncOp main) {
  main.walk([&](LaunchOp launch) {
    unsigned index = order.size();
    order.push_back(launch);
    for (Value operand : launch.getOperands_())
      if (auto alloc = resolveViews(operand).root.getDefiningOp<AllocOp>())
        lives.try_emplace(alloc, Lifetime{index, index}).first->second.last = index;
  });
}

} // namespace atc::om
