//===-- Pipelines.h - the passes on dynamic schedules in order ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_PIPELINES_H
#define OPENATC_PASSES_HOST_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace atc::host {

/// The options of the host pipeline.
struct HostPipelineOptions : mlir::PassPipelineOptions<HostPipelineOptions> {
  ListOption<std::string> disable{*this, "disable", llvm::cl::desc("Passes to leave out, by name")};
  Option<bool> graphProducts{*this, "graph-products", llvm::cl::init(true),
                             llvm::cl::desc("Whether products of static shapes may become host "
                                            "calls for their weights of few bits")};
  Option<bool> narrowGates{*this, "narrow-gates", llvm::cl::init(true),
                           llvm::cl::desc("Whether the CPUs are faster with narrow weights of "
                                          "recurrent cells")};
  Option<bool> byteGates{*this, "byte-gates", llvm::cl::init(true),
                         llvm::cl::desc("Whether they have products of bytes for those that are "
                                        "exact in 8 bits")};
  Option<bool> widenFloats{*this, "widen-floats", llvm::cl::init(true),
                           llvm::cl::desc("Whether calls on f16 and bf16 compute in f32")};
  Option<bool> convsAsRows{*this, "convs-as-rows", llvm::cl::init(false),
                           llvm::cl::desc("Whether convolutions become products of patches, which "
                                          "the target computes in tiles of rows")};
  Option<std::string> storage{*this, "storage", llvm::cl::init("exact"),
                              llvm::cl::desc("Element type of packed weights of f32: f32, exact, "
                                             "f16 or bf16")};
  Option<bool> convertsHalfs{*this, "converts-halfs", llvm::cl::init(true),
                             llvm::cl::desc("Whether all CPU levels have an instruction that makes "
                                            "floats of f16")};
};

/// Builds the passes from an imported dynamic schedule to one whose static regions are functions.
void buildHostPipeline(mlir::OpPassManager &pm, const HostPipelineOptions &options = {});

/// Returns the names of the passes that `disable` may contain: models compile without them.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();

/// Registers `host-pipeline`.
void registerHostPipelines();

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_PIPELINES_H
