//===-- Compiler.h - from a model to an .om file --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   auto context = makeCompilerContext();
//   Compiler compiler(*context, options, diagnostics);
//   if (compiler.lower(Phase::Graph))       // stop after a phase and look at the module,
//     compiler.module().dump();
//   compiler.emitFile("model.om");          // or go through all phases

#ifndef OPENATC_DRIVER_COMPILER_H
#define OPENATC_DRIVER_COMPILER_H

#include "backends/om/FindStates.h"
#include "backends/om/OmSink.h"
#include "driver/ContextMessages.h"
#include "driver/InsertedPasses.h"
#include "driver/ModelImport.h"
#include "driver/PassEdits.h"
#include "driver/Placement.h"
#include "driver/Remarks.h"
#include "driver/StageTimer.h"
#include "driver/targets/CpuTarget.h"
#include "frontends/aipp/InsertAipp.h"

#include <map>

namespace atc::driver {

/// The Quantize phase: writes scales into an imported module. Returns false after an error.
using Quantizer = std::function<bool(mlir::ModuleOp, Diagnostics &)>;

/// Bounds what a compilation may use of the machine.
struct ResourceLimits {
  unsigned threads = 0; ///< that generate code; 0: one per processor
};

/// The options of a compilation.
struct CompilerOptions {
  ModelSource source;
  /// The target; never null. The default can lower models but has no levels to generate code for.
  std::shared_ptr<const Target> target = std::make_shared<CpuTarget>();
  std::vector<std::string> disabledPasses; ///< names; one that is not optional is an error
  /// Whether inputs may have dims of any size where the target's programs have fixed sizes: what
  /// depends on them runs on the host, but for tiles.
  bool hasOpenDims = false;
  std::string tempDir;     ///< --save_temps; created if needed; empty keeps nothing
  cpu::CacheOptions cache; ///< --op_compiler_cache_mode, --op_compiler_cache_dir
  Quantizer quantizer;     ///< empty: the model stays as it is
  std::string aippFile;    ///< --insert_op_conf: inputs become images; empty: they stay as they are
  std::string states;      ///< --state: pairs of inputs and outputs (findStates); empty: "auto"
  /// First values of the states that a pass has given the module; null: all begin with zeros.
  std::shared_ptr<const std::vector<om::InitialState>> initialStates;
  ImageLayout imageLayout = ImageLayout::ChannelsFirst; ///< of the model's images, for aippFile
  std::string fusionRules; ///< --fusion_rules, applied behind Import; empty: there are none
  std::vector<InsertedPasses> insertedPasses;   ///< --extra_passes
  std::vector<PassEdit> passEdits;              ///< changes of the pipelines of the phases
  PhaseHook phaseHook;                          ///< called behind each phase up to Programs
  std::function<void(llvm::StringRef)> onStage; ///< called with the name of each stage as it begins
  /// Decisions of passes that are set from outside (passes/Choices.h), by their keys.
  std::map<std::string, std::string> choices;
  int64_t proposals = 0; ///< how many alternatives passes note beside their decisions
  ResourceLimits limits;
  RemarkOptions remarks;   ///< --remarks; none at first
  std::string commandLine; ///< as the file states it
};

/// Sizes and times of a compilation, for --verbose and --json. Sizes are in bytes.
struct CompileSummary {
  StageTimer timer;
  uint64_t launches = 0, kernels = 0, arenaBytes = 0, arenaLowerBound = 0, intermediateBytes = 0,
           weightsBytes = 0, fileBytes = 0;
  std::vector<std::pair<std::string, uint64_t>> images; ///< level, bytes of code
  std::optional<Placement> placement; ///< of a model for an NPU; with gears that of the largest
  std::string largestGear;            ///< its name; empty for a model without gears
  uint64_t hostStateBytes = 0;        ///< of states that no program of the NPU reads or writes
  uint64_t hostCalls = 0;             ///< calls of host kernels, of a dynamic model
  uint64_t scratchBytes = 0;          ///< per thread, of the level that needs the most
  std::vector<std::string> inputs, outputs; ///< "image f32[batch,1,28,28]"

  /// Fills in what the description of the file and its bytes tell.
  void describe(const om::OmModel &model, uint64_t bytes);
};

/// Returns a context with every dialect that a compilation goes through.
std::unique_ptr<mlir::MLIRContext> makeCompilerContext();

/// Returns a copy of a module in another context, which must have the dialects: compiling frees and
/// makes constants, so that a module that is still needed is compiled as a copy. Returns null where
/// the module cannot be written as bytecode.
mlir::OwningOpRef<mlir::ModuleOp> copyModule(mlir::ModuleOp module, mlir::MLIRContext &context);

/// Compiles one model. While it lives, it takes the diagnostics of the context. A function that
/// fails adds at least one error, and then the compiler must not be used again.
class Compiler {
public:
  /// `context` comes from makeCompilerContext, has no other module while phases behind
  /// Quantize run, and outlives the compiler, as `diagnostics` does.
  Compiler(mlir::MLIRContext &context, CompilerOptions options, Diagnostics &diagnostics);
  ~Compiler();

  /// Sets a module of the context as if it had just been imported from options.source.
  void setModule(mlir::OwningOpRef<mlir::ModuleOp> imported);

  /// Imports the model and runs the phases as far as no pass reads choices, so that it can be
  /// compiled with many choices from there: module() is then one for setPrepared(), and shares its
  /// constants with its clones. In place of lower(). Returns false after an error, and where that
  /// is not possible: in dynamic models, and with passes of the user.
  bool prepare();
  /// Sets a clone, in the same context, of a module that prepare() has made for the same options
  /// but for choices and proposals. lower() goes on from there.
  void setPrepared(mlir::OwningOpRef<mlir::ModuleOp> clone);

  /// Runs the phases from Import, or from Quantize on a module that was set, up to `last`,
  /// at most Programs. To be called once. Returns false after an error.
  bool lower(Phase last);

  /// Returns the module as the last phase left it; null before Import and after an error.
  mlir::ModuleOp module() { return *current; }
  /// Hands over the module; module() is null afterwards.
  mlir::OwningOpRef<mlir::ModuleOp> releaseModule() { return std::move(current); }

  /// Writes the file into `sink`, after lower(Phase::Programs) or in place of it. After an error it
  /// returns false, and there is no file.
  bool emit(om::OmSink &sink);
  /// Writes the file at `path`, as emit() does.
  bool emitFile(const std::string &path);
  /// Returns the bytes of the file, at a multiple of OM_ALIGNMENT so that om_model_load_memory uses
  /// them without a copy; nothing after an error.
  std::optional<::om::Buffer> emitBytes();

  /// Runs all phases and returns the contents of the file, which refer to memory of the module,
  /// instead of writing it. Returns nothing after an error.
  std::optional<EmittedModel> describe();
  /// Adds to a description what the file states about its compilation.
  void stamp(om::OmModel &model) const;

  /// Returns the sizes and times so far.
  const CompileSummary &summary() const { return compileSummary; }

private:
  bool makeTempDir();
  bool import(Phase last);
  bool lowerToGraph(Phase last);
  bool quantize();
  bool insertPreprocessing();
  bool applyUserChanges();
  bool callHook(Phase phase);
  void setChoices();
  std::optional<EmittedModel> generate();
  bool writeOm(om::OmSink &sink);
  bool finish(bool done);

  mlir::MLIRContext &context;
  const CompilerOptions options;
  Diagnostics &diagnostics;
  ContextMessages messages;
  CompileSummary compileSummary;
  mlir::OwningOpRef<mlir::ModuleOp> current;
  std::vector<om::InitialState> firstValues; ///< of states of the module; the file borrows them
  std::optional<Phase> reached;              ///< the last phase that has run
  bool isPrepared = false;                   ///< up to the first pass that reads choices
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_COMPILER_H
