//===-- AirImport.cpp - graphs of the Ascend toolchain (.air) -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirImport.h"

#include "frontends/ModelFile.h"
#include "frontends/air/AirGraph.h"

using namespace mlir;

namespace atc {

FailureOr<OwningOpRef<ModuleOp>> importAir(StringRef path, const OnnxImportOptions &options,
                                           MLIRContext &context, Diagnostics &diagnostics) {
  const FileFormat format = {"an AIR graph of MindSpore or the Ascend toolchain", "AIR"};
  air::pb::Model model;
  if (!parseFile(path, format, model, diagnostics))
    return failure();
  if (!model.graph_size() || !model.graph(0).op_size()) {
    diagnostics.error("E16004", "'" + path + "' has no graph with operators");
    return failure();
  }
  air::AirGraph graph(*model.mutable_graph(0), options, context, diagnostics);
  if (!graph.run())
    return failure();
  // The outputs are those of the graph that was made, which has the types of its inputs.
  OnnxImportOptions ofGraph = options;
  ofGraph.outputs.clear();
  return importOnnxModel(graph.result(), path, ofGraph, context, diagnostics);
}

} // namespace atc
