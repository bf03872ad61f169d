//===-- NpuTarget.h - compiles for a simulated NPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TARGETS_NPUTARGET_H
#define OPENATC_DRIVER_TARGETS_NPUTARGET_H

#include "driver/targets/CpuTarget.h"
#include "npu/soc/Soc.h"

namespace atc::driver {

/// The element types in which an NPU computes (--precision_mode).
enum class Precision {
  ForceFp16,         ///< all floats as f16
  AllowFp32ToFp16,   ///< f16 where the NPU has no f32
  KeepOrigin,        ///< the types of the model
  CubeFp16InFp32Out, ///< f16 into the cube, f32 out of it and everywhere else
  Mixed              ///< f16, but f32 for operators that lose much in f16
};

/// Compiles for an NPU: kernels become programs of its instructions. Ops that the NPU has no
/// instructions for run on the CPU.
class NpuTarget : public Target {
public:
  /// Makes a target for the SoC `soc`. With `hasOwnTable` the table is not a built-in one, and the
  /// file has to carry it. `host` runs what the NPU cannot.
  /// Without `clipsWeights`, weights beyond the range of f16 become infinite.
  NpuTarget(npu::SocTable soc, bool hasOwnTable, Precision precision, bool clipsWeights,
            CpuTarget host)
      : soc(std::move(soc)), hasOwnTable(hasOwnTable), precision(precision),
        clipsWeights(clipsWeights), host(std::move(host)) {}

  bool canGenerate(mlir::Operation *op) const override;
  llvm::ArrayRef<llvm::StringLiteral> optionalPasses() const override;
  PrecisionBase precisionBase() const override;
  bool hasHalf() const override { return true; }
  void annotate(mlir::ModuleOp module) const override;
  bool takesDynamicInputs() const override { return false; }
  std::vector<PhasePipeline> buildPipelines(mlir::func::FuncOp main,
                                            std::vector<std::string> disabled) const override;
  /// Generates the code of the host's kernels; the programs are in the module.
  llvm::Expected<EmittedModel> emit(mlir::ModuleOp module,
                                    const EmitOptions &options) const override;
  const CpuTarget &cpu() const override { return host; }
  std::vector<std::string> choiceTargets() const override;

private:
  npu::SocTable soc;
  bool hasOwnTable;
  Precision precision;
  bool clipsWeights;
  CpuTarget host;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_TARGETS_NPUTARGET_H
