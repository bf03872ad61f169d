//===-- ProgramSimulation.cpp - simulates programs of the npu dialect -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/simulate/ProgramSimulation.h"

#include "backends/npu/ProgramEncoder.h"
#include "driver/ContextMessages.h"
#include "npu/isa/Verify.h"
#include "npu/report/Report.h"
#include "npu/report/Trace.h"
#include "npu/simulator/Hazards.h"
#include "npu/simulator/Simulator.h"
#include "passes/npu/Pipelines.h"
#include "passes/om/Schedule.h"
#include "support/TextDepth.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace atc::driver {

namespace {

/// Spans of a page and of a timeline, as many as a browser shows.
constexpr size_t maxSpans = 1000000;
/// Instructions and loop iterations of all cores per run of all programs, about a quarter of an
/// hour.
constexpr uint64_t maxInstructions = uint64_t(1) << 34;

/// A program with its buffers in gm.
struct SimulatedProgram {
  std::string name;
  npu::Program program;
  std::vector<uint64_t> addresses;
};

class ProgramSimulation {
public:
  ProgramSimulation(const SimulationRequest &request, Diagnostics &diagnostics)
      : request(request), diagnostics(diagnostics), context(registryOf(), threading) {}

  std::optional<SimulationResult> run() {
    if (!findTable() || !readPrograms())
      return std::nullopt;
    return simulate();
  }

private:
  static constexpr MLIRContext::Threading threading = MLIRContext::Threading::DISABLED;
  static DialectRegistry registryOf() {
    DialectRegistry registry;
    npu::ir::registerNpuDialect(registry);
    return registry;
  }

  /// Reads the table that the request names.
  bool findTable() {
    if (!request.socFile.empty()) {
      table.emplace();
      for (const std::string &error : npu::readSocFile(request.socFile, *table))
        diagnostics.errorLine(error, "E10001");
    } else if (!request.soc.empty()) {
      find(request.soc, "the SoC ");
    }
    return !diagnostics.hasErrors();
  }

  void find(const std::string &name, const std::string &of) {
    if (const npu::SocTable *known = npu::findSoc(name)) {
      table = *known;
      return;
    }
    std::string names;
    for (const npu::SocTable &other : npu::allSocs())
      names += (names.empty() ? "" : ", ") + other.name;
    diagnostics.error("E10001", of + "'" + name + "' is not known: it must be one of " + names +
                                    ", or a table of your own (--soc-file).");
  }

  /// Parses the module and encodes and verifies its programs.
  bool readPrograms() {
    ContextMessages messages(context, diagnostics);
    context.printOpOnDiagnostic(false);
    messages.setCode("E13018");
    if (isBytecode(llvm::MemoryBufferRef(request.text, request.name)))
      return messages.fail(request.name + " is MLIR bytecode: give it as text.");
    if (isMlirTooDeep(request.text))
      return messages.fail(request.name + " " + depthReason(kMaxMlirDepth) + ".");
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(request.text, request.name),
                               SMLoc());
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
    if (!module)
      return messages.fail(request.name + " cannot be read as MLIR.");
    for (auto op : module->getOps<npu::ir::ProgramOp>()) {
      if (!table)
        find(op.getSoc().str(), "'" + op.getSymName().str() + "': the SoC ");
      if (!table)
        return false;
      if (request.soc.empty() && request.socFile.empty() && op.getSoc() != table->name)
        diagnostics.error("E10001", "'" + op.getSymName().str() + "' is for " + op.getSoc().str() +
                                        " and an earlier program for " + table->name +
                                        ": name the SoC of all (--soc).");
      if (npu::findSoc(table->name))
        op.setSoc(table->name);
    }
    if (!request.socFile.empty())
      module.get()->setAttr(om::kSocTableAttr, StringAttr::get(&context, npu::writeSoc(*table)));
    if (module->getOps<npu::ir::ProgramOp>().empty())
      return messages.fail(request.name + " has no npu.program.");
    if (request.schedule && !diagnostics.hasErrors()) {
      PassManager manager(&context);
      npu::buildNpuProgramPipeline(manager);
      if (failed(manager.run(*module)))
        return messages.fail(request.name + " cannot be scheduled.");
    }
    const llvm::DenseSet<StringRef> parts = npu::vectorPartsIn(*module);
    for (auto op : module->getOps<npu::ir::ProgramOp>())
      if (!parts.contains(op.getSymName()))
        addProgram(op);
    return !diagnostics.hasErrors();
  }

  void expectOffsets(npu::ir::ProgramOp op) {
    op.walk([&](npu::ir::AllocOp alloc) {
      if (!alloc.getOffset())
        diagnostics.error("E14001", nodeOf(alloc.getLoc()) +
                                        "the buffer has no offset in its memory: give one, or let "
                                        "--schedule allocate memory and insert flags.");
    });
  }

  void addProgram(npu::ir::ProgramOp op) {
    npu::ir::ProgramOp part = op.findVectorPart();
    expectOffsets(op);
    if (part)
      expectOffsets(part);
    if (diagnostics.hasErrors())
      return;
    FailureOr<npu::Program> encoded = npu::encodeProgram(op);
    if (failed(encoded))
      return;
    SimulatedProgram &added = programs.emplace_back();
    added.name = op.getSymName().str();
    added.program = std::move(*encoded);
    for (const std::string &error : npu::verify(added.program, *table))
      diagnostics.error("E14001", "'" + added.name + "', " + error);
    // Messages name the lines of the text from here on.
    size_t next = 0;
    setLines(*op.getBody(), lineOf(op.getLoc(), 0), added.program, next);
    if (part)
      setLines(*part.getBody(), lineOf(part.getLoc(), 0), added.program, next);
    assert(next == added.program.code.size() && "instructions are in the order of their ops");
    for (uint64_t bytes : added.program.arguments) {
      added.addresses.push_back(address);
      address += (bytes + table->l2Line - 1) / table->l2Line * table->l2Line;
    }
  }

  static uint32_t lineOf(Location location, uint32_t otherwise) {
    auto file = dyn_cast<FileLineColLoc>(location);
    return file ? file.getLine() : otherwise;
  }

  /// Sets the line of each instruction to that of its op; a loop is two instructions around those
  /// of its body.
  static void setLines(Block &block, uint32_t around, npu::Program &program, size_t &next) {
    for (Operation &op : block) {
      if (isa<npu::ir::AllocOp>(op))
        continue;
      uint32_t line = lineOf(op.getLoc(), around);
      program.code[next++].line = line;
      if (auto loop = dyn_cast<npu::ir::LoopOp>(op)) {
        setLines(*loop.getBody(), line, program, next);
        program.code[next++].line = line;
      }
    }
  }

  std::optional<SimulationResult> simulate() {
    npu::Simulator simulator(*table);
    simulator.maxSpans = request.html || request.timeline ? maxSpans : 0;
    std::vector<std::string> names;
    for (unsigned round = 0; round <= request.warmup; ++round) {
      simulator.spans.clear();
      simulator.droppedSpans = 0;
      simulator.clearCores();
      simulator.stepsLeft = maxInstructions;
      for (const SimulatedProgram &program : programs) {
        names.push_back(program.name);
        if (!run(simulator, program))
          return std::nullopt;
      }
    }
    npu::ReportInput input;
    input.title = request.name;
    input.soc = &*table;
    input.simulator = &simulator;
    input.firstLaunch = names.size() - programs.size();
    for (const SimulatedProgram &program : programs)
      input.launches.push_back({program.name, program.name, 0});
    SimulationResult result;
    if (request.checkHazards)
      for (const SimulatedProgram &program : programs)
        findHazards(program, result.hazards);
    result.json = npu::reportJson(input);
    if (request.html)
      result.html = npu::htmlReport(input);
    if (request.timeline)
      result.timeline = npu::chromeTrace(*table, simulator, names);
    return result;
  }

  bool run(npu::Simulator &simulator, const SimulatedProgram &program) {
    npu::Launch launch;
    launch.program = &program.program;
    launch.name = program.name;
    launch.addresses = program.addresses;
    std::string error;
    if (simulator.run(launch, error))
      return true;
    for (StringRef rest = error; !rest.empty();) {
      auto [line, others] = rest.split('\n');
      if (!line.empty())
        diagnostics.error("E14001", line);
      rest = others;
    }
    return false;
  }

  void findHazards(const SimulatedProgram &program, std::vector<std::string> &lines) const {
    npu::Launch launch;
    launch.program = &program.program;
    launch.name = program.name;
    for (const npu::Hazard &hazard : npu::HazardChecker(*table).check(launch))
      lines.push_back(hazard.text);
  }

  const SimulationRequest &request;
  Diagnostics &diagnostics;
  MLIRContext context;
  std::optional<npu::SocTable> table;
  std::vector<SimulatedProgram> programs;
  uint64_t address = 0;
};

} // namespace

std::optional<SimulationResult> simulatePrograms(const SimulationRequest &request,
                                                 Diagnostics &diagnostics) {
  return ProgramSimulation(request, diagnostics).run();
}

} // namespace atc::driver
