//===-- CpuTarget.h - compiles for CPUs -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TARGETS_CPUTARGET_H
#define OPENATC_DRIVER_TARGETS_CPUTARGET_H

#include "driver/targets/Target.h"

namespace atc::driver {

/// Generates code for one or several CPU levels; the loader picks the best that fits. Without a
/// level, models can be lowered but no code can be generated.
class CpuTarget : public Target {
public:
  /// `storage` is what weightStorage() returns; with `halfProducts` contractions may be computed in
  /// f16, and with `byteProducts` those of weights in bytes may round what they multiply.
  explicit CpuTarget(std::vector<cpu::CpuLevel> levels = {}, std::string storage = "exact",
                     bool halfProducts = false, bool byteProducts = true)
      : levels(std::move(levels)), storage(std::move(storage)), wantsHalves(halfProducts),
        wantsBytes(byteProducts) {}

  bool canGenerate(mlir::Operation *op) const override;
  bool roundsToBytes() const override { return wantsBytes; }
  llvm::ArrayRef<llvm::StringLiteral> optionalPasses() const override;
  std::vector<PhasePipeline> buildPipelines(mlir::func::FuncOp main,
                                            std::vector<std::string> disabled) const override;
  llvm::Expected<EmittedModel> emit(mlir::ModuleOp module,
                                    const EmitOptions &options) const override;
  const CpuTarget &cpu() const override { return *this; }
  std::vector<std::string> choiceTargets() const override;

  /// Returns the pipeline from kernel ops in @main to a schedule.
  PhasePipeline schedulePipeline(std::vector<std::string> disabled) const;
  /// Returns the pipeline that generates code for the host calls of a dynamic schedule.
  PhasePipeline callPipeline(std::vector<std::string> disabled) const;

  /// Returns whether the vector registers of all levels have `lanes` elements of f32 or more.
  bool hasVectorsOf(int64_t lanes) const;
  /// Returns whether all levels multiply bytes in registers of 64 bytes.
  bool hasWideDot() const;
  /// Returns whether all levels have an instruction that makes floats of f16.
  bool convertsHalfs() const;
  /// Returns how constant weights of products and convolutions are stored: f32, exact, f16 or bf16.
  const std::string &weightStorage() const { return storage; }
  /// Returns whether products of constant weights are computed in f16: where that is allowed and
  /// all levels have instructions for it.
  bool computesHalves() const;

private:
  std::vector<cpu::CpuLevel> levels;
  std::string storage;
  bool wantsHalves;
  bool wantsBytes;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_TARGETS_CPUTARGET_H
