//===-- NpuPrograms.cpp - the NPU's part of an .om file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/NpuPrograms.h"

#include "backends/npu/ProgramEncoder.h"
#include "npu/isa/Codec.h"
#include "npu/isa/Verify.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace atc::om {

namespace {

using ProgramOp = atc::npu::ir::ProgramOp;

/// The table that the programs are made for, from the module where it has one.
llvm::Error findTable(ModuleOp module, StringRef name, npu::SocTable &table, OmModel &model) {
  model.soc = name.str();
  const npu::SocTable *known = npu::findSoc(model.soc);
  if (known)
    table = *known;
  if (auto text = module->getAttrOfType<StringAttr>(kSocTableAttr)) {
    std::vector<std::string> errorLines = npu::readSoc(text.getValue(), "npu.soc_table", table);
    if (!errorLines.empty())
      return llvm::createStringError("E19999: the NPU table of the module cannot be read: " +
                                     llvm::join(errorLines, "; "));
    model.socTable = npu::writeSoc(table);
    return llvm::Error::success();
  }
  return known ? llvm::Error::success()
               : llvm::createStringError("E19999: there is no table of the NPU '" + name + "'");
}

/// Adds a program; returns false with one diagnostic per error. `budget` is shared by the programs
/// of the model.
bool addProgram(ProgramOp op, const npu::Program &program, const npu::SocTable &table,
                npu::VerifyBudget &budget, OmModel &model) {
  std::string name = op.getSymName().str();
  std::vector<std::string> errorLines = npu::verify(program, table, budget);
  for (const std::string &errorText : errorLines)
    op.emitError("E19999: the NPU program '") << name << "' would be refused: " << errorText;
  if (!errorLines.empty())
    return false;
  OmNpuProgram result;
  result.name = name;
  result.code = npu::encode(program);
  result.vectorCore = program.vectorCore;
  result.grid.assign(std::begin(program.grid), std::end(program.grid));
  result.arguments = program.arguments;
  result.isExtended = program.isMixed() || !program.layers.empty();
  model.npuPrograms.push_back(std::move(result));
  return true;
}

} // namespace

llvm::Error addPrograms(ModuleOp module, OmModel &model) {
  npu::SocTable table;
  npu::VerifyBudget budget;
  bool ok = true;
  const llvm::DenseSet<StringRef> parts = npu::vectorPartsIn(module);
  for (ProgramOp op : module.getOps<ProgramOp>()) {
    if (parts.contains(op.getSymName()))
      continue;
    if (model.soc.empty()) {
      model.target = "npu";
      if (llvm::Error error = findTable(module, op.getSoc(), table, model))
        return error;
    }
    if (op.getSoc() == model.soc) {
      const FailureOr<npu::Program> program = npu::encodeProgram(op);
      // A model may simply be too large, which one sentence says.
      if (mlir::succeeded(program) && int64_t(program->code.size()) > budget.instructions)
        return llvm::createStringError(
            "E10055: the NPU programs of the model have more than " +
            std::to_string(npu::Limits::MaxModelInstructions) +
            " instructions together: split the model into several, or compile it for the CPU "
            "(--target=cpu)");
      ok &= mlir::succeeded(program) && addProgram(op, *program, table, budget, model);
      continue;
    }
    op.emitError("E19999: the NPU program '")
        << op.getSymName() << "' is made for " << op.getSoc() << ", others for " << model.soc
        << ": a model has programs for one NPU";
    ok = false;
  }
  return ok ? llvm::Error::success()
            : llvm::createStringError("E19999: the NPU programs cannot be written");
}

} // namespace atc::om
