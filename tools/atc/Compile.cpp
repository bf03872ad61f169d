//===-- Compile.cpp - from a model file to an .om file --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Compile.h"

#include "backends/om/HostProgram.h"
#include "backends/om/ModuleToOm.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/npu/Npu.h"
#include "dialects/om/Om.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/tf/TfImport.h"
#include "passes/cpu/Pipelines.h"
#include "passes/graph/Passes.h"
#include "passes/host/Passes.h"
#include "passes/host/Pipelines.h"
#include "passes/kernel/GeneratedOps.h"
#include "passes/npu/Pipelines.h"
#include "passes/om/Schedule.h"
#include "tools/atc/Calibration.h"
#include "tools/atc/ContextMessages.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <thread>

using namespace mlir;

namespace atc::tools {

namespace {

class Compilation {
public:
  Compilation(const AtcOptions &options, MLIRContext &context, CompileSummary &summary,
              Diagnostics &diagnostics)
      : options(options), summary(summary), diagnostics(diagnostics), context(context),
        messages(context, diagnostics) {}

  bool import();
  void take(OwningOpRef<ModuleOp> other) { module = std::move(other); }
  OwningOpRef<ModuleOp> release() { return std::move(module); }
  bool runPasses();
  bool makeFile(const std::string &commandLine);

private:
  void setOptions(npu::NpuPipelineOptions &npu) const;
  /// Leaves out of a pipeline what the user does not want.
  void disablePasses(auto &pipeline) const {
    for (const std::string &name : options.disabledPasses)
      pipeline.disable.push_back(name);
  }
  bool runNpuPasses();
  bool compileStatic(const graph::GraphPipelineOptions &graph, const cpu::CpuPipelineOptions &cpu);
  bool compileParts(const graph::GraphPipelineOptions &graph, const cpu::CpuPipelineOptions &cpu);
  void takePart(func::FuncOp part, ModuleOp compiled);

  bool fail(const std::string &text) { return messages.fail(text); }
  bool fail(llvm::Error error) { return fail(llvm::toString(std::move(error))); }

  bool run(StringRef stage, StringRef file, llvm::function_ref<void(OpPassManager &)> build) {
    summary.timer.begin(stage);
    PassManager pm(&context);
    build(pm);
    if (failed(pm.run(*module)))
      return fail("the stage '" + stage.str() + "' failed");
    return keep(file);
  }

  /// Writes the module into the folder of --save_temps.
  bool keep(StringRef file) {
    if (options.tempDir.empty())
      return true;
    if (llvm::Error error = cpu::writeModule(*module, options.tempDir, file))
      return fail(std::move(error));
    return true;
  }

  bool checkPassNames(const graph::GraphPipelineOptions &graph, const cpu::CpuPipelineOptions &cpu);

  const AtcOptions &options;
  CompileSummary &summary;
  Diagnostics &diagnostics;
  MLIRContext &context;
  ContextMessages messages;
  OwningOpRef<ModuleOp> module;
};

bool Compilation::import() {
  if (!options.tempDir.empty())
    if (std::error_code code = llvm::sys::fs::create_directories(options.tempDir)) {
      diagnostics.error("E13004", "the folder '" + options.tempDir +
                                      "' of --save_temps cannot be made: " + code.message());
      return false;
    }
  if (options.isMlir()) {
    messages.setCode("E13005");
    module = parseSourceFile<ModuleOp>(options.model, ParserConfig(&context));
    messages.setCode("E19999");
    return module ? keep("1-import.mlir") : fail("the file '" + options.model + "' cannot be read");
  }
  FailureOr<OwningOpRef<ModuleOp>> imported =
      options.isTensorFlow()
          ? importTf(options.model, {options.inputShapes, options.outNodes, options.inputNodes},
                     context, diagnostics)
          : importOnnx(options.model,
                       {options.inputShapes, options.outNodes,
                        [&](Operation *op) {
                          return kernel::canGenerate(op, /*widenFloats=*/!options.soc);
                        }},
                       context, diagnostics);
  if (failed(imported) || diagnostics.hasErrors())
    return fail("the model '" + options.model + "' cannot be read");
  module = std::move(*imported);
  return keep("1-import.mlir");
}

bool Compilation::checkPassNames(const graph::GraphPipelineOptions &graph,
                                 const cpu::CpuPipelineOptions &cpu) {
  SmallVector<std::string> unknown = graph::findUnknownPasses(graph);
  npu::NpuPipelineOptions npu;
  if (options.soc)
    setOptions(npu);
  SmallVector<std::string> notOurs =
      options.soc ? npu::findUnknownPasses(npu) : cpu::findUnknownPasses(cpu);
  host::HostPipelineOptions host;
  disablePasses(host);
  SmallVector<std::string> notHost = host::findUnknownPasses(host);
  for (const std::string &name : unknown)
    if (llvm::is_contained(notOurs, name) && llvm::is_contained(notHost, name))
      diagnostics.error("E10001",
                        "the value \"" + name +
                            "\" of --disable_passes is invalid: there is no such pass, or "
                            "nothing compiles without it");
  return !diagnostics.hasErrors();
}

bool Compilation::runPasses() {
  func::FuncOp main = om::findMain(*module);
  if (!main || main.isExternal()) {
    diagnostics.error("E16004", "the model has no graph");
    return false;
  }
  graph::GraphPipelineOptions graph;
  cpu::CpuPipelineOptions cpu;
  disablePasses(graph);
  disablePasses(cpu);
  cpu.exactDot =
      !options.levels.empty() &&
      llvm::all_of(options.levels, [](const cpu::CpuLevel &level) { return level.hasExactDot(); });
  graph.releaseConstants = true;
  graph.integers = !options.soc || (!options.soc->split && npu::canSumIntegers(main));
  graph.widenFloats = !options.soc;
  if (!checkPassNames(graph, cpu))
    return false;
  if (options.ownSoc)
    (*module)->setAttr(om::kSocTableAttr, StringAttr::get(&context, npu::writeSoc(*options.soc)));
  return host::isHostProgram(main) ? compileParts(graph, cpu) : compileStatic(graph, cpu);
}

bool Compilation::compileStatic(const graph::GraphPipelineOptions &graph,
                                const cpu::CpuPipelineOptions &cpu) {
  func::FuncOp main = om::findMain(*module);
  auto holds = [&](StringRef dialect) {
    return main
        .walk([&](Operation *op) {
          return op->getName().getDialectNamespace() == dialect ? WalkResult::interrupt()
                                                                : WalkResult::advance();
        })
        .wasInterrupted();
  };
  if (!holds("kernel") && !holds("cpu") && !holds("om")) {
    if (!run("graph passes", "2-graph.mlir",
             [&](OpPassManager &pm) { graph::buildGraphPipeline(pm, graph); }))
      return false;
    if (options.soc)
      return runNpuPasses();
    if (!run("layout, buffers", "3-buffers.mlir",
             [&](OpPassManager &pm) { cpu::buildCpuBufferPipeline(pm, cpu); }))
      return false;
    // Weights are packed now; what they were packed from is of no use any more.
    graph::releaseUnusedConstants(*module);
  }
  return run("schedule", "4-schedule.mlir",
             [&](OpPassManager &pm) { cpu::buildCpuSchedulePipeline(pm, cpu); });
}

/// Compiles every part of a host program as a module of its own.
bool Compilation::compileParts(const graph::GraphPipelineOptions &graph,
                               const cpu::CpuPipelineOptions &cpu) {
  host::HostPipelineOptions host;
  disablePasses(host);
  if (!run("host program", "2-host.mlir",
           [&](OpPassManager &pm) { host::buildHostPipeline(pm, host); }))
    return false;
  OwningOpRef<ModuleOp> whole = std::move(module);
  bool done = true;
  for (func::FuncOp part : host::partsOf(*whole)) {
    module = ModuleOp::create(part.getLoc());
    (*module)->setAttrs((*whole)->getAttrs());
    // Other parts read constants too.
    (*module)->setAttr(graph::kSharedConstantsAttr, UnitAttr::get(&context));
    func::FuncOp main = part.clone();
    main.setName("main");
    main.setPublic();
    main->removeAttr(host::kPartAttr);
    module->push_back(main);
    done = compileStatic(graph, cpu);
    if (!done)
      break;
    std::swap(module, whole);
    takePart(part, *whole);
    std::swap(module, whole);
  }
  module = std::move(whole);
  return done;
}

/// Puts a compiled part in the place of `part`, with its kernels.
void Compilation::takePart(func::FuncOp part, ModuleOp compiled) {
  SymbolTable symbols(*module);
  for (Operation &symbol : llvm::make_early_inc_range(*compiled.getBody())) {
    auto function = dyn_cast<func::FuncOp>(symbol);
    const bool isMain = function && function.getSymName() == "main";
    if (!isMain && symbols.lookup(SymbolTable::getSymbolName(&symbol)))
      (void)SymbolTable(compiled).renameToUnique(&symbol, {&symbols});
  }
  for (Operation &symbol : llvm::make_early_inc_range(*compiled.getBody())) {
    auto function = dyn_cast<func::FuncOp>(symbol);
    symbol.remove();
    if (function && function.getSymName() == "main") {
      // @main still calls it, by the name and not by the type it has now.
      part.getBody().takeBody(function.getBody());
      part.setFunctionType(function.getFunctionType());
      part.setAllArgAttrs(function.getArgAttrsAttr());
      function.erase();
      continue;
    }
    symbols.insert(&symbol);
  }
  auto grow = [&](StringRef name, bool sum) {
    auto add = compiled->getAttrOfType<IntegerAttr>(name);
    if (!add)
      return;
    auto have = (*module)->getAttrOfType<IntegerAttr>(name);
    int64_t old = have ? have.getInt() : 0;
    int64_t now = sum ? old + add.getInt() : std::max(old, add.getInt());
    (*module)->setAttr(name, IntegerAttr::get(add.getType(), now));
  };
  // Parts run one after the other in the same arena.
  grow(om::kArenaSizeAttr, false);
  grow(om::kArenaLowerBoundAttr, false);
  grow(om::kIntermediateBytesAttr, true);
  for (StringRef name : {StringRef(om::kNpuSocAttr), StringRef(om::kSocTableAttr)})
    if (Attribute value = compiled->getAttr(name))
      (*module)->setAttr(name, value);
}

static std::string npuPrecision(Precision precision) {
  switch (precision) {
  case Precision::ForceFp16:
    return "force_fp16";
  case Precision::KeepOrigin:
    return "origin";
  // The cube has no f32; everything else has.
  case Precision::AllowFp32ToFp16:
  case Precision::CubeFp16InFp32Out:
    return "cube_fp16";
  }
  return "force_fp16";
}

void Compilation::setOptions(npu::NpuPipelineOptions &npu) const {
  npu.soc = options.soc->name;
  npu.precision = npuPrecision(options.precision);
  disablePasses(npu);
}

/// The way of a network to the NPU, from the graph's last form to a schedule whose
/// launches are npu.programs and CPU kernels.
bool Compilation::runNpuPasses() {
  npu::NpuPipelineOptions npu;
  setOptions(npu);
  // A table of the user's stands on the module, under its own name.
  (*module)->setAttr(om::kNpuSocAttr, StringAttr::get(&context, options.soc->name));
  if (!run("precision, layout, buffers", "3-buffers.mlir",
           [&](OpPassManager &pm) { npu::buildNpuBufferPipeline(pm, npu); }))
    return false;
  graph::releaseUnusedConstants(*module);
  return run("schedule", "4-schedule.mlir",
             [&](OpPassManager &pm) { npu::buildNpuSchedulePipeline(pm, npu); }) &&
         run("NPU programs", "5-programs.mlir",
             [&](OpPassManager &pm) { npu::buildNpuKernelPipeline(pm, npu); });
}

bool Compilation::makeFile(const std::string &commandLine) {
  cpu::KernelCompilerOptions compiler;
  compiler.threads = std::max(1u, std::thread::hardware_concurrency());
  compiler.tempDir = options.tempDir;
  compiler.onStage = [&](StringRef name) { summary.timer.begin(name); };
  std::vector<cpu::CompiledLevel> levels;
  // Where all launches are the NPU's there is no code to be made.
  compiler.hostKernels = om::hostKernelsOf(om::findMain(*module));
  compiler.hostTypes = om::hostTypesOf(om::findMain(*module));
  const bool hasKernels = !cpu::kernelsOf(*module).empty() || !compiler.hostKernels.empty();
  for (const cpu::CpuLevel &level : options.levels) {
    if (!hasKernels)
      break;
    auto compiled = cpu::compileKernels(*module, level, compiler);
    if (!compiled)
      return fail(compiled.takeError());
    summary.images.emplace_back(level.name, compiled->image.size());
    levels.push_back(std::move(*compiled));
  }

  summary.timer.begin("write file");
  auto description = om::moduleToOm(*module, levels);
  if (!description)
    return fail(description.takeError());
  om::OmModel &model = description->model;
  model.producer = std::string("OpenATC ") + om_version();
  model.commandLine = commandLine;
  model.name = llvm::sys::path::stem(options.model).str();
  std::string error;
  if (!om::writeOm(model, options.outputFile, error))
    return fail(error);
  summary.timer.end();

  summary.launches = model.schedule.size();
  summary.kernels = model.kernels.size();
  summary.arenaBytes = model.arenaSize;
  if (auto bound = (*module)->getAttrOfType<IntegerAttr>(om::kArenaLowerBoundAttr))
    summary.arenaLowerBound = bound.getInt();
  if (auto bytes = (*module)->getAttrOfType<IntegerAttr>(om::kIntermediateBytesAttr))
    summary.intermediateBytes = bytes.getInt();
  for (const auto *list : {&model.weights, &model.tables})
    for (const om::OmWeights &weights : *list)
      summary.weightsBytes += weights.size;
  llvm::sys::fs::file_size(options.outputFile, summary.fileBytes);
  return true;
}

} // namespace

std::unique_ptr<MLIRContext> makeCompilerContext() {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  graph::registerGraphDialect(registry);
  kernel::registerKernelDialect(registry);
  cpu::registerCpuDialect(registry);
  npu::ir::registerNpuDialect(registry);
  om::registerOmDialect(registry);
  cpu::registerEmitterDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  // Messages are for users, who have not written the op.
  context->printOpOnDiagnostic(false);
  return context;
}

OwningOpRef<ModuleOp> importModel(const AtcOptions &options, MLIRContext &context,
                                  Diagnostics &diagnostics) {
  CompileSummary summary;
  Compilation compilation(options, context, summary, diagnostics);
  if (!compilation.import())
    return {};
  return compilation.release();
}

void compileModule(OwningOpRef<ModuleOp> module, const AtcOptions &options,
                   const std::string &commandLine, CompileSummary &summary,
                   Diagnostics &diagnostics) {
  MLIRContext &context = *module->getContext();
  Compilation compilation(options, context, summary, diagnostics);
  compilation.take(std::move(module));
  bool done = compilation.runPasses() && compilation.makeFile(commandLine);
  summary.timer.end();
  if (!done && !diagnostics.hasErrors())
    diagnostics.error("E19999", "the model could not be compiled");
}

void compileModel(const AtcOptions &options, const std::string &commandLine,
                  CompileSummary &summary, Diagnostics &diagnostics) {
  std::unique_ptr<MLIRContext> context = makeCompilerContext();
  summary.timer.begin("import");
  OwningOpRef<ModuleOp> module = importModel(options, *context, diagnostics);
  if (module && !options.compressionConf.empty()) {
    summary.timer.begin("calibration");
    if (!quantizeImported(*module, options, diagnostics))
      module = {};
  }
  if (module)
    compileModule(std::move(module), options, commandLine, summary, diagnostics);
  summary.timer.end();
}

void checkModel(const AtcOptions &options, Diagnostics &diagnostics) {
  importModel(options, *makeCompilerContext(), diagnostics);
}

} // namespace atc::tools
