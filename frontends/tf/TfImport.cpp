//===-- TfImport.cpp - TensorFlow models to the graph dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/TfImport.h"

#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/SavedModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::tf_import {

/// Reads a frozen graph. False after an error.
static bool readGraph(StringRef path, pb::GraphDef &graph, Diagnostics &diags) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    diags.error("E13001", "file '" + path + "' cannot be read: " + buffer.getError().message());
    return false;
  }
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() > INT32_MAX) {
    diags.error("E13005", "file '" + path + "' is larger than 2 GB, which no GraphDef can be");
    return false;
  }
  if (!graph.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    diags.error("E13005",
                "file '" + path + "' cannot be parsed: it is cut short or not a frozen GraphDef");
    return false;
  }
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
  GraphBoundary boundary;
  if (llvm::sys::fs::is_directory(path)) {
    std::optional<tf_import::FrozenModel> model = tf_import::readSavedModel(path, diagnostics);
    if (!model)
      return failure();
    for (const tf_import::NamedTensor &input : model->inputs)
      boundary.inputs.emplace_back(input.name, input.tensor);
    for (const tf_import::NamedTensor &output : model->outputs)
      boundary.outputs.emplace_back(output.name, output.tensor);
    return importTfGraph(model->graph, name, boundary, options, context, diagnostics);
  }
  tf::pb::GraphDef graph;
  if (!tf_import::readGraph(path, graph, diagnostics))
    return failure();
  return importTfGraph(graph, name, boundary, options, context, diagnostics);
}
