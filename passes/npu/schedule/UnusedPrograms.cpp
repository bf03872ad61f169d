//===-- UnusedPrograms.cpp - erases replaced programs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/schedule/UnusedPrograms.h"

using namespace mlir;

namespace atc::npu {

void eraseUnusedPrograms(ModuleOp module, SymbolTable &symbols,
                         llvm::function_ref<bool(ir::ProgramOp)> isReplaced) {
  const auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses)
    return;
  llvm::DenseSet<StringAttr> used;
  for (const SymbolTable::SymbolUse &use : *uses)
    used.insert(use.getSymbolRef().getRootReference());
  for (auto program : llvm::make_early_inc_range(module.getOps<ir::ProgramOp>()))
    if (isReplaced(program) && !used.contains(program.getSymNameAttr()))
      symbols.erase(program);
}

} // namespace atc::npu
