//===-- Pipelines.cpp - the passes on host programs in order --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/Pipelines.h"

#include "passes/DisabledPasses.h"
#include "passes/PipelineRegistration.h"
#include "passes/graph/Passes.h"
#include "passes/host/Passes.h"

using namespace mlir;

namespace atc::host {

void buildHostPipeline(OpPassManager &pm, const HostPipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // First of all: each pass visits every branch.
  if (isOn(options, "host-merge-branches"))
    functions.addPass(createHostMergeBranches());
  // Before outlining: what constants give may be a weight of any part.
  if (isOn(options, "graph-fold-constants"))
    functions.addPass(graph::createGraphFoldConstants());
  // Other passes know f32 only. Weights of 16 bits are packed before, so that they stay so.
  if (options.widenFloats && isOn(options, "host-widen-floats")) {
    if (isOn(options, "host-pack-weights"))
      functions.addPass(
          createHostPackWeights({options.storage, options.convertsHalfs, /*onlyNarrow=*/true}));
    functions.addPass(createHostWidenFloats());
  }
  // Before what stands behind a Transpose can become part of a convolution.
  if (isOn(options, "host-sink-transposes"))
    functions.addPass(createHostSinkTransposes());
  if (isOn(options, "host-fold-batch-norm"))
    functions.addPass(createHostFoldBatchNorm());
  if (isOn(options, "host-fuse-dequantize"))
    functions.addPass(createHostFuseDequantize({options.graphProducts}));
  if (isOn(options, "host-move-quantization"))
    functions.addPass(createHostMoveQuantization());
  if (isOn(options, "host-integer-calls"))
    functions.addPass(createHostIntegerCalls());
  if (isOn(options, "host-scale-sums"))
    functions.addPass(createHostScaleSums());
  if (isOn(options, "host-fold-byte-tables"))
    functions.addPass(createHostFoldByteTables());
  if (isOn(options, "host-pack-attributes"))
    functions.addPass(createHostPackAttributes());
  if (isOn(options, "host-pack-gates"))
    functions.addPass(createHostPackGates());
  if (options.narrowGates && isOn(options, "host-narrow-gates"))
    functions.addPass(createHostNarrowGates({options.byteGates}));
  // Behind the normalizations that convolutions take in.
  if (options.convsAsRows && isOn(options, "host-tile-rows") && isOn(options, "host-convs-as-rows"))
    functions.addPass(createHostConvsAsRows());
  // Before x * sigmoid(x) becomes a call of its own.
  if (isOn(options, "host-fuse-conv"))
    functions.addPass(createHostFuseConv());
  if (isOn(options, "host-fuse-normalization"))
    functions.addPass(createHostFuseNormalization());
  if (isOn(options, "host-fuse-rotary"))
    functions.addPass(createHostFuseRotary());
  if (isOn(options, "host-fuse-attention"))
    functions.addPass(createHostFuseAttention());
  // Behind the casts that host-widen-floats has made.
  if (isOn(options, "host-narrow-caches"))
    functions.addPass(createHostNarrowCaches());
  if (isOn(options, "host-block-channels"))
    pm.addNestedPass<func::FuncOp>(createHostBlockChannels());
  // Sums of blocked images, which become known as such only now.
  if (isOn(options, "host-block-channels") && isOn(options, "host-fuse-conv"))
    pm.addNestedPass<func::FuncOp>(createHostFuseConv());
  if (isOn(options, "host-select-winograd"))
    pm.addNestedPass<func::FuncOp>(createHostSelectWinograd());
  // Exporters compute the same shapes for each use; what fusions leave of them is needed once.
  pm.addNestedPass<func::FuncOp>(graph::createGraphCse());
  if (isOn(options, "host-tile-rows"))
    pm.addPass(createHostTileRows());
  if (isOn(options, "host-pack-weights"))
    pm.addNestedPass<func::FuncOp>(
        createHostPackWeights({options.storage, options.convertsHalfs, /*onlyNarrow=*/false}));
  if (isOn(options, "host-pack-bytes"))
    pm.addNestedPass<func::FuncOp>(createHostPackBytes());
  pm.addPass(createHostOutlineStatic());
}

ArrayRef<StringLiteral> optionalPasses() {
  static constexpr StringLiteral names[] = {
      "host-fold-batch-norm",    "host-move-quantization", "host-integer-calls",
      "host-pack-gates",         "host-fuse-conv",         "host-tile-dynamic-dim",
      "host-fuse-normalization", "host-fuse-attention",    "host-pack-weights",
      "host-tile-rows",          "host-block-channels",    "host-fuse-dequantize",
      "host-fuse-rotary",        "host-expand-recurrent",  "host-expand-weights",
      "host-narrow-gates",       "host-select-winograd",   "host-widen-floats",
      "host-merge-branches",     "host-expand-top-k",      "host-narrow-caches",
      "host-expand-volumes",     "host-expand-scatter",    "host-pack-attributes",
      "host-pack-bytes",         "host-scale-sums",        "host-fold-byte-tables",
      "host-expand-attention",   "host-expand-fused",      "host-expand-grid-sample",
      "host-convs-as-rows",      "host-sink-transposes"};
  return names;
}

void registerHostPipelines() {
  registerPipeline<HostPipelineOptions>(
      "host-pipeline",
      "Folds and quantizes calls of a dynamic schedule, and outlines static regions",
      buildHostPipeline);
}

} // namespace atc::host
