//===-- TfImport.cpp - TensorFlow models to the graph dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/TfImport.h"

#include "frontends/ModelFile.h"
#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/SavedModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::tf_import {

/// Reads a frozen graph. False after an error.
static bool readGraph(StringRef path, pb::GraphDef &graph, Diagnostics &diags) {
  if (!parseFile(path, {"a frozen GraphDef", "GraphDef"}, graph, diags))
    return false;
  if (graph.node_size() == 0) {
    diags.error("E16004", "'" + path +
                              "' holds no graph: it is not a frozen GraphDef (a "
                              "SavedModel is given by its folder)");
    return false;
  }
  return true;
}

} // namespace atc::tf_import

FailureOr<OwningOpRef<ModuleOp>>
atc::importTfGraph(tf::pb::GraphDef &graph, StringRef name, const GraphBoundary &boundary,
                   const TfImportOptions &options, MLIRContext &context, Diagnostics &diagnostics) {
  OwningOpRef<ModuleOp> module =
      tf_import::GraphImporter(graph, name, boundary, options, context, diagnostics).run();
  if (!module)
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> atc::importTf(StringRef path, const TfImportOptions &options,
                                               MLIRContext &context, Diagnostics &diagnostics) {
  StringRef trimmed = path.rtrim('/');
  StringRef name = llvm::sys::path::stem(trimmed);
  if (llvm::sys::fs::is_directory(path)) {
    std::optional<tf_import::FrozenModel> model = tf_import::readSavedModel(path, diagnostics);
    if (!model)
      return failure();
    return importTfGraph(model->graph, name, model->boundary(), options, context, diagnostics);
  }
  tf::pb::GraphDef graph;
  if (!tf_import::readGraph(path, graph, diagnostics))
    return failure();
  return importTfGraph(graph, name, {}, options, context, diagnostics);
}

std::vector<atc::ModelNode> atc::listTfNodes(StringRef path, Diagnostics &diagnostics) {
  tf::pb::GraphDef graph;
  if (llvm::sys::fs::is_directory(path)) {
    std::optional<tf_import::FrozenModel> model = tf_import::readSavedModel(path, diagnostics);
    if (!model)
      return {};
    graph = std::move(model->graph);
  } else if (!tf_import::readGraph(path, graph, diagnostics)) {
    return {};
  }
  std::vector<atc::ModelNode> nodes;
  for (const tf::pb::NodeDef &node : graph.node())
    nodes.push_back({node.name(), node.op()});
  return nodes;
}
