//===-- TfImport.cpp - TensorFlow models to the graph dialect -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/TfImport.h"

#include "frontends/ModelFile.h"
#include "frontends/tf/DecomposeNodes.h"
#include "frontends/tf/DynamicDim.h"
#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/LookupTables.h"
#include "frontends/tf/LowerControlFlow.h"
#include "frontends/tf/SavedModel.h"
#include "llvm/ADT/StringSet.h"
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

/// Makes a graph that calls functions one without calls: its placeholders are the inputs, its
/// outputs those that are asked for or else what no node reads. False after an error.
static bool inlineGraph(pb::GraphDef &graph, const TfImportOptions &options,
                        GraphBoundary &boundary, Diagnostics &diags) {
  llvm::StringSet<> read;
  for (const pb::NodeDef &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(TensorName::parse(input).node);
  std::vector<NamedTensor> inputs, outputs;
  std::vector<std::string> texts = options.outputs;
  for (const pb::NodeDef &node : graph.node()) {
    if (node.op() == "Placeholder") {
      NamedTensor input;
      input.name = input.tensor = node.name();
      if (auto type = node.attr().find("dtype"); type != node.attr().end())
        input.type = type->second.type();
      if (auto shape = node.attr().find("shape"); shape != node.attr().end())
        input.shape = shape->second.shape();
      else
        input.shape.set_unknown_rank(true);
      inputs.push_back(std::move(input));
    } else if (options.outputs.empty() && !read.contains(node.name()) && node.op() != "Const" &&
               node.op() != "NoOp") {
      texts.push_back(node.name());
    }
  }
  for (const std::string &text : texts) {
    TensorName tensor = TensorName::parse(text);
    std::string name = tensor.node.str() + (tensor.index ? "_" + std::to_string(tensor.index) : "");
    outputs.emplace_back();
    outputs.back().name = name;
    outputs.back().tensor = tensor.str();
  }
  std::vector<std::string *> tensors;
  for (NamedTensor &output : outputs)
    tensors.push_back(&output.tensor);
  pb::GraphDef result;
  std::vector<VariableWrite> writes;
  if (!lowerControlFlow(graph, tensors, diags) ||
      !inlineFunctions(graph, pb::OpList(), inputs, outputs, result, writes, diags) ||
      !checkWrites(result, writes, diags))
    return false;
  for (auto [text, output] : llvm::zip_equal(texts, outputs))
    boundary.outputs.emplace_back(TensorName::parse(text).str(), output.tensor);
  graph = std::move(result);
  return true;
}

} // namespace atc::tf_import

FailureOr<OwningOpRef<ModuleOp>>
atc::importTfGraph(tf::pb::GraphDef &graph, StringRef name, const GraphBoundary &boundary,
                   const TfImportOptions &options, MLIRContext &context, Diagnostics &diagnostics) {
  tf_import::decomposeNodes(graph);
  OwningOpRef<ModuleOp> module =
      tf_import::GraphImporter(graph, name, boundary, options, context, diagnostics).run();
  if (!module)
    return failure();
  return module;
}

namespace atc::tf_import {

namespace {

/// A graph without function calls, as read from a file.
struct LoadedGraph {
  pb::GraphDef graph;
  GraphBoundary boundary;
  TfImportOptions options; ///< those of the import, without outputs that `boundary` names
};

} // namespace

/// Reads a frozen graph or the folder of a SavedModel. Nothing after an error.
static std::optional<LoadedGraph> loadGraph(StringRef path, const TfImportOptions &options,
                                            Diagnostics &diags) {
  LoadedGraph result;
  result.options = options;
  if (llvm::sys::fs::is_directory(path)) {
    std::optional<FrozenModel> model = readSavedModel(path, diags, options.signature);
    if (!model)
      return std::nullopt;
    result.boundary = model->boundary();
    result.graph = std::move(model->graph);
    return result;
  }
  if (!readGraph(path, result.graph, diags))
    return std::nullopt;
  RunNodes run(result.graph);
  run.addFrozen(options.outputs);
  if (!bindTables(result.graph, {llvm::sys::path::parent_path(path)}, run, diags))
    return std::nullopt;
  if (hasCalls(result.graph)) {
    if (!inlineGraph(result.graph, options, result.boundary, diags))
      return std::nullopt;
    result.options.outputs.clear();
  }
  freezeTables(result.graph);
  return result;
}

} // namespace atc::tf_import

FailureOr<OwningOpRef<ModuleOp>> atc::importTf(StringRef path, const TfImportOptions &options,
                                               MLIRContext &context, Diagnostics &diagnostics) {
  const StringRef name = llvm::sys::path::stem(path.rtrim('/'));
  std::optional<tf_import::LoadedGraph> loaded = tf_import::loadGraph(path, options, diagnostics);
  if (!loaded)
    return failure();
  if (options.makeTiles)
    if (auto dim = tf_import::findDynamicDim(loaded->graph, loaded->boundary, loaded->options)) {
      TfImportOptions tiled = loaded->options;
      tiled.inputShapes = dim->inputShapes;
      tiled.placeholder = dim->size;
      // The target is asked about the tiles, whose sizes it will see.
      tiled.canGenerate = {};
      // An obstacle to tiling is not an error of the model.
      Diagnostics trial;
      auto import = [&] {
        return importTfGraph(loaded->graph, name, loaded->boundary, tiled, context, trial);
      };
      if (auto module = importTiles(context, *dim, import, options.makeTiles, trial))
        return module;
      // The attempt has changed the graph and taken constants out of it.
      loaded.reset();
      Diagnostics reported;
      loaded = tf_import::loadGraph(path, options, reported);
      if (!loaded) {
        for (const CodedMessage &message : reported.all())
          diagnostics.add(message);
        return failure();
      }
    }
  return importTfGraph(loaded->graph, name, loaded->boundary, loaded->options, context,
                       diagnostics);
}

std::vector<atc::ModelNode> atc::listTfNodes(StringRef path, StringRef signature,
                                             Diagnostics &diagnostics) {
  tf::pb::GraphDef graph;
  if (llvm::sys::fs::is_directory(path)) {
    std::optional<tf_import::FrozenModel> model =
        tf_import::readSavedModel(path, diagnostics, signature);
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
