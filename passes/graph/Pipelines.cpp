//===-- Pipelines.cpp - the order of the graph passes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/PipelineRegistration.h"
#include "passes/graph/PassNames.h"
#include "passes/graph/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <set>

using namespace mlir;
using namespace atc::graph;

namespace atc::graph {
#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

namespace {

/// Adds passes to a pipeline unless they are disabled.
class PipelineBuilder {
public:
  using Add = llvm::function_ref<void(std::unique_ptr<Pass>, bool onFunctions)>;
  explicit PipelineBuilder(Add add) : add(add) {}

  struct Choices {
    bool releaseConstants, integers, widenFloats, mergeProducts, splitGroups, keepPreprocessing,
        expandSums;
    unsigned maxCode;
  };
  /// Every pass that any target uses.
  static constexpr Choices kAll = {true, true, true, true, true, true, true, kMaxCode};

  void build(const Choices &choices) {
    if (choices.widenFloats)
      addPass(createGraphWidenFloats());
    GraphExpandPreprocessingOptions preprocessing;
    preprocessing.keepForConv = choices.keepPreprocessing;
    addPass(createGraphExpandPreprocessing(preprocessing));
    if (choices.expandSums)
      addPass(createGraphExpandCumulativeSum());
    buildSimplification();

    // While the scales of quantized tensors are still known.
    addPass(createGraphFoldPad());
    if (choices.integers)
      addPass(createGraphDecomposeConvTranspose({/*onlyQuantized=*/true}));
    addPass(createGraphPropagateQdq());
    if (choices.integers)
      addPass(createGraphFoldQdqContractions());
    addPass(createGraphLowerQuantized());
    addCleanup();
    addPass(createGraphFoldConstants());

    buildWeights(choices.releaseConstants);
    // Not among the passes of buildWeightPasses: calibrated weights have the model's shape.
    addPass(createGraphTrimKernels());

    // Fuses conv + add + activation first, then additions behind activations.
    addPass(createGraphFuseConvAdd());
    addPass(createGraphFuseConvActivation());
    addPass(createGraphFuseConvAdd());

    addPass(createGraphRaiseTo2D());
    if (choices.splitGroups)
      addPass(createGraphSplitGroups());
    addPass(createGraphSimplifySlicesConcats());
    addPass(createGraphEliminateTransposes());
    addCleanup();
    addPass(createGraphFoldConstants());
    if (choices.mergeProducts)
      addPass(createGraphMergeProducts());
    GraphFuseElementwiseOptions maps;
    maps.maxCode = choices.maxCode;
    addPass(createGraphFuseElementwise(maps));
    if (choices.integers)
      addPass(createGraphFuseIntegerEpilogue());
    addCleanup();
    if (choices.releaseConstants)
      add(createGraphReleaseConstants(), /*onFunctions=*/false);
  }

  void buildSimplification() {
    addPass(createGraphInferShapes());
    addCleanup();
    addPass(createGraphFoldConstants());
    addPass(createGraphComposeDepthToSpace());
    addPass(createGraphSimplifySlicesConcats());
    addPass(createGraphEliminateTransposes());
    addPass(createGraphComposeActivations());
    addPass(createGraphExpandPow());
    addCleanup();
  }

  void buildWeights(bool releaseConstants) {
    // All passes that change weights come before fusions behind the weights.
    GraphMatMulToFullyConnectedOptions products;
    products.releaseConstants = releaseConstants;
    addPass(createGraphMatMulToFullyConnected(products));
    addPass(createGraphFuseConvBn());
    addPass(createGraphLowerBatchNorm());
    addPass(createGraphFoldScaleIntoConv());
    addPass(createGraphFoldPad());
    addPass(createGraphDecomposeConvTranspose());
  }

private:
  void addPass(std::unique_ptr<Pass> pass) { add(std::move(pass), /*onFunctions=*/true); }
  void addCleanup() {
    addPass(createCanonicalizerPass());
    addPass(createGraphCse());
  }
  Add add;
};

} // namespace

void atc::graph::buildGraphPipeline(OpPassManager &pm, const GraphPipelineOptions &options) {
  auto add = [&](std::unique_ptr<Pass> pass, bool onFunctions) {
    if (llvm::is_contained(options.disable, pass->getArgument()))
      return;
    if (onFunctions)
      pm.addNestedPass<func::FuncOp>(std::move(pass));
    else
      pm.addPass(std::move(pass));
  };
  PipelineBuilder(add).build({options.releaseConstants, options.integers, options.widenFloats,
                              options.mergeProducts, options.splitGroups, options.keepPreprocessing,
                              /*expandSums=*/!options.widenFloats, options.maxCode});
}

void atc::graph::buildWeightPasses(OpPassManager &pm) {
  auto add = [&](std::unique_ptr<Pass> pass, bool) {
    pm.addNestedPass<func::FuncOp>(std::move(pass));
  };
  PipelineBuilder builder(add);
  builder.buildSimplification();
  builder.buildWeights(/*releaseConstants=*/false);
}

std::vector<std::string> atc::graph::listPassNames() {
  std::set<std::string> names;
  auto add = [&](std::unique_ptr<Pass> pass, bool) { names.insert(pass->getArgument().str()); };
  PipelineBuilder(add).build(PipelineBuilder::kAll);
  return {names.begin(), names.end()};
}

SmallVector<std::string> atc::graph::findUnknownPasses(const GraphPipelineOptions &options) {
  SmallVector<std::string> unknown(options.disable.begin(), options.disable.end());
  auto remove = [&](std::unique_ptr<Pass> pass, bool) {
    llvm::erase(unknown, pass->getArgument());
  };
  PipelineBuilder(remove).build(PipelineBuilder::kAll);
  return unknown;
}

void atc::graph::registerGraphPassesAndPipelines() {
  registerGraphPasses();
  using ErrorHandler = function_ref<LogicalResult(const Twine &)>;
  registerCheckedPipeline<GraphPipelineOptions>(
      "graph-pipeline", "The graph passes in the order of the compiler",
      [](OpPassManager &pm, const GraphPipelineOptions &options,
         ErrorHandler emitError) -> LogicalResult {
        SmallVector<std::string> unknown = findUnknownPasses(options);
        if (!unknown.empty())
          return emitError("graph-pipeline has no pass named " + llvm::join(unknown, ", ") +
                           "; see the pipeline's passes with --dump-pass-pipeline");
        buildGraphPipeline(pm, options);
        return success();
      });
}
