//===-- MeasureTiles.cpp - what a tile costs on the simulator -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/MeasureTiles.h"

#include "backends/npu/ProgramEncoder.h"
#include "passes/Choices.h"
#include "passes/npu/Pipelines.h"
#include "passes/npu/contraction/ExpandContraction.h"
#include "passes/npu/program/ProgramTime.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace atc::npu {

std::optional<double> measureTile(func::FuncOp function, const Tile &tile, int64_t copies) {
  SocTable soc = socOf(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  if (auto outside = function->getParentOfType<ModuleOp>())
    (*module)->setAttrs(outside->getAttrDictionary());
  (*module)->setAttr(kTrialAttr, UnitAttr::get(function.getContext()));
  // A trial shows what the passes themselves would do.
  (*module)->removeAttr(kChoicesAttr);
  (*module)->removeAttr(kProposalsAttr);
  func::FuncOp copy = function.clone();
  module->push_back(copy);
  ir::TileAttr attribute = attributeOf(function.getContext(), tile);
  LogicalResult expanded = failure();
  if (auto conv = kernelOpOf<ir::Conv2DOp>(copy)) {
    conv.setTileAttr(attribute);
    expanded = expandContractions<ir::Conv2DOp>(*module);
  } else if (auto matmul = kernelOpOf<ir::MatMulOp>(copy)) {
    matmul.setTileAttr(attribute);
    expanded = expandContractions<ir::MatMulOp>(*module);
  }
  PassManager pm(function.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  NpuProgramOptions options;
  options.maxBuffers = copies;
  buildNpuProgramPipeline(pm, options);
  if (failed(expanded) || failed(pm.run(*module)))
    return std::nullopt;
  FailureOr<Program> program = encodeProgram(*module->getOps<ir::ProgramOp>().begin());
  if (failed(program))
    return std::nullopt;
  return timeOfProgram(*program, soc);
}

} // namespace atc::npu
