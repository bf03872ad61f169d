//===-- Passes.h - passes and pipeline of the graph dialect ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_PASSES_H
#define OPENATC_PASSES_GRAPH_PASSES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace atc::graph {

#define GEN_PASS_DECL
#include "passes/graph/Passes.h.inc"

/// The default of max-code: time to generate code for a CPU grows with it.
inline constexpr unsigned kMaxCode = 8000;

/// The options of the graph pipeline.
struct GraphPipelineOptions : mlir::PassPipelineOptions<GraphPipelineOptions> {
  ListOption<std::string> disable{
      *this, "disable", llvm::cl::desc("Passes to leave out, by name (also canonicalize)")};
  Option<bool> releaseConstants{
      *this, "release-constants",
      llvm::cl::desc("Free folded constants; no other module may share the context's resources"),
      llvm::cl::init(false)};
  Option<bool> integers{*this, "integers",
                        llvm::cl::desc("Products of quantized tensors are sums of integers"),
                        llvm::cl::init(true)};
  Option<bool> widenFloats{*this, "widen-floats",
                           llvm::cl::desc("Products of f16 and bf16 tensors are made in f32"),
                           llvm::cl::init(false)};
  Option<bool> mergeProducts{
      *this, "merge-products",
      llvm::cl::desc("Products of one tensor by several constant matrices become one"),
      llvm::cl::init(false)};
  Option<bool> splitGroups{
      *this, "split-groups",
      llvm::cl::desc("Groups of convolutions that fill blocks of channels are apart from others"),
      llvm::cl::init(false)};
  Option<bool> keepPreprocessing{
      *this, "keep-preprocessing",
      llvm::cl::desc("Convolutions read the pixels of images and preprocess them"),
      llvm::cl::init(false)};
  Option<unsigned> maxCode{*this, "max-code",
                           llvm::cl::desc("Most ops of all different maps, max-code of "
                                          "graph-fuse-elementwise"),
                           llvm::cl::init(kMaxCode)};
};

/// Adds the passes that bring an imported module into the form that the targets compile: shapes
/// known, constants folded, fused convolutions, maps. `pm` must run on modules.
void buildGraphPipeline(mlir::OpPassManager &pm, const GraphPipelineOptions &options);

/// Adds its first passes, up to the point where weights are those that the targets see: calibration
/// starts there.
void buildWeightPasses(mlir::OpPassManager &pm);

/// Returns the names in `options.disable` that no pass of the pipeline has.
llvm::SmallVector<std::string> findUnknownPasses(const GraphPipelineOptions &options);

/// Registers every graph pass by name and the pipeline as `graph-pipeline`.
void registerGraphPassesAndPipelines();

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_PASSES_H
