//===-- Target.h - what a model is compiled for ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TARGETS_TARGET_H
#define OPENATC_DRIVER_TARGETS_TARGET_H

#include "backends/cpu/KernelCompiler.h"
#include "backends/om/ModuleToOm.h"
#include "driver/Phase.h"
#include "driver/rules/PrecisionRules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>
#include <vector>

namespace atc::driver {

/// The passes of one of the phases Graph to Programs on a module of static shapes.
struct PhasePipeline {
  Phase phase;
  llvm::StringRef title; ///< of the stage in timings
  llvm::StringRef file;  ///< under --save_temps; empty: none
  std::function<void(mlir::OpPassManager &)> build;
  /// Whether it has passes whose decisions can be set (passes/Choices.h).
  bool readsChoices = false;
};

/// Options of Target::emit.
struct EmitOptions {
  unsigned threads = 2;    ///< that generate code
  std::string tempDir;     ///< of --save_temps; empty keeps nothing
  cpu::CacheOptions cache; ///< where the code of host kernels is kept
  /// Called when a stage begins, with its title.
  std::function<void(llvm::StringRef)> onStage;
};

/// The contents of an `.om` file. `description` borrows the weights from the module and
/// the code from `levels`.
struct EmittedModel {
  std::vector<cpu::CompiledLevel> levels;
  om::OmDescription description;
};

class CpuTarget;

/// A device that models are compiled for. Immutable, so that compilations and threads
/// may share one.
class Target {
public:
  virtual ~Target() = default;

  /// Returns whether code can be generated for a graph op as importers make it. An op without
  /// generated code is imported as a call of a host kernel.
  virtual bool canGenerate(mlir::Operation *op) const = 0;

  /// Returns the names of the target's own passes that `disable` may contain. The graph passes and
  /// those of the dynamic schedule are not among them.
  virtual llvm::ArrayRef<llvm::StringLiteral> optionalPasses() const = 0;

  /// Returns how nodes compute that no rule is about.
  virtual PrecisionBase precisionBase() const { return PrecisionBase::Float32; }
  /// Returns whether the target can compute in f16 what the model computes in f32.
  virtual bool hasHalf() const { return false; }

  /// Writes attributes that the target's passes read from the module, such as the NPU's
  /// table.
  virtual void annotate(mlir::ModuleOp module) const {}

  /// Returns whether a model may have inputs of dynamic shape. Where it may not, such a model
  /// is an error: it would run on the CPU, which nobody has asked for.
  virtual bool takesDynamicInputs() const { return true; }

  /// Returns whether products of real values and weights in bytes may round those values to bytes
  /// when the model runs, where its format does that.
  virtual bool roundsToBytes() const { return false; }

  /// Returns the pipelines of the phases Graph to Programs in their order, without the
  /// passes named in `disabled`. `main` is the function as it was imported. A phase that
  /// the target has no passes for has no pipeline.
  virtual std::vector<PhasePipeline> buildPipelines(mlir::func::FuncOp main,
                                                    std::vector<std::string> disabled) const = 0;

  /// Generates the remaining code and describes the file. The module has gone through all pipelines
  /// and must outlive the result. Errors that have a location in the model are diagnostics of the
  /// context; the returned error then only says that there are some.
  virtual llvm::Expected<EmittedModel> emit(mlir::ModuleOp module,
                                            const EmitOptions &options) const = 0;

  /// Returns the targets of the choices that its passes read (passes/Choices.h): the SoC, the CPU
  /// levels, and the one name for all of them.
  virtual std::vector<std::string> choiceTargets() const = 0;

  /// Returns the CPU target that runs what the device cannot; a CPU target returns itself.
  virtual const CpuTarget &cpu() const = 0;
};

/// The choices of a target for the graph passes; graph::GraphPipelineOptions has the same names.
struct GraphPassChoices {
  bool integers;          ///< quantized contractions become int8 contractions
  bool widenFloats;       ///< f16 and bf16 contractions are computed in f32
  bool mergeProducts;     ///< products of one tensor by several constants become one, in parts
  bool splitGroups;       ///< groups of convolutions that fill blocks of channels are separated
  bool keepPreprocessing; ///< convolutions preprocess the pixels that they read
  unsigned maxCode;       ///< most ops of all different maps, which share code beyond it
};

/// Returns the pipeline of the graph passes, which all targets share, without those that are
/// `disabled`.
PhasePipeline makeGraphPipeline(std::vector<std::string> disabled, const GraphPassChoices &choices);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TARGETS_TARGET_H
