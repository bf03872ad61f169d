//===-- AirImport.cpp - graphs of the Ascend toolchain (.air) -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirImport.h"

#include "frontends/ModelFile.h"
#include "frontends/air/AirGraph.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"

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
  const unsigned before = diagnostics.numErrors();
  onnx::ModelProto made;
  made.set_ir_version(9);
  made.add_opset_import()->set_version(single_op::opset);
  made.mutable_graph()->set_name(model.graph(0).name());
  air::AirFile file(model, options, context, diagnostics);
  air::AirGraph graph(*model.mutable_graph(0), file, *made.mutable_graph());
  if (diagnostics.numErrors() != before || !graph.run())
    return failure();
  // The outputs are those of the graph that was made, which has the types of its inputs.
  OnnxImportOptions ofGraph = options;
  ofGraph.outputs.clear();
  return importOnnxModel(made, path, ofGraph, context, diagnostics);
}

} // namespace atc
