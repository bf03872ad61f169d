//===-- SavedModel.cpp - reads TensorFlow SavedModel folders --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/SavedModel.h"

#include "frontends/ModelFile.h"
#include "frontends/tf/LookupTables.h"
#include "frontends/tf/LowerControlFlow.h"
#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/CheckpointBundle.h"
#include "frontends/tf/variables/FreezeVariables.h"
#include "frontends/tf/variables/OptimizerSteps.h"
#include "frontends/tf/variables/VariableStates.h"
#include "frontends/tf/variables/VariableValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tf_import {

static std::string inFolder(StringRef folder, StringRef file) {
  SmallString<128> path(folder);
  sys::path::append(path, file);
  return path.str().str();
}

static pb::MetaGraphDef *chooseGraph(pb::SavedModel &model, StringRef path,
                                     Diagnostics &diagnostics) {
  std::vector<std::string> choices;
  for (pb::MetaGraphDef &graph : *model.mutable_meta_graphs()) {
    const auto &tags = graph.meta_info_def().tags();
    if (llvm::is_contained(tags, "serve"))
      return &graph;
    choices.push_back("'" + llvm::join(tags, "', '") + "'");
  }
  if (model.meta_graphs_size() == 1)
    return model.mutable_meta_graphs(0);
  diagnostics.error("E13005", "'" + path + "' has no graph with the tag 'serve'" +
                                  (choices.empty() ? "" : "; its graphs have the tags ") +
                                  llvm::join(choices, " / "));
  return nullptr;
}

static const pb::SignatureDef *chooseSignature(const pb::MetaGraphDef &graph, StringRef wanted,
                                               StringRef path, Diagnostics &diagnostics) {
  const auto &signatures = graph.signature_def();
  auto found = signatures.find(wanted.empty() ? "serving_default" : wanted.str());
  if (found != signatures.end())
    return &found->second;
  std::vector<std::string> names;
  const pb::SignatureDef *last = nullptr;
  for (const auto &[name, signature] : signatures) {
    // Functions that run once when a model is loaded are no signatures of the model.
    if (StringRef(name).starts_with("__saved_model"))
      continue;
    names.push_back("'" + name + "'");
    last = &signature;
  }
  if (wanted.empty() && names.size() == 1)
    return last;
  llvm::sort(names);
  diagnostics.error(
      "E13005",
      "'" + path + "' has no signature '" + (wanted.empty() ? "serving_default" : wanted) +
          "'; it has " +
          (names.empty() ? "none" : llvm::join(names, ", ") + ": choose one with --signature_def"));
  return nullptr;
}

static bool namedTensors(const google::protobuf::Map<std::string, pb::TensorInfo> &map,
                         StringRef path, std::vector<NamedTensor> &tensors,
                         Diagnostics &diagnostics) {
  for (const auto &[name, info] : map) {
    if (info.encoding_case() != pb::TensorInfo::kName) {
      diagnostics.error("E13005", "'" + path + "': '" + name +
                                      "' of the signature is no plain "
                                      "tensor (sparse or composite), which is not supported");
      return false;
    }
    tensors.push_back({name, info.name(), info.dtype(), info.tensor_shape()});
  }
  llvm::sort(tensors, [](const NamedTensor &a, const NamedTensor &b) { return a.name < b.name; });
  return true;
}

GraphBoundary FrozenModel::boundary() const {
  GraphBoundary boundary;
  for (const NamedTensor &input : inputs)
    boundary.inputs.emplace_back(input.name, input.tensor);
  for (const NamedTensor &output : outputs)
    boundary.outputs.emplace_back(output.name, output.tensor);
  for (const pb::NodeDef &node : graph.node())
    if (const pb::AttrValue *next = attributeOf(node, stateAttribute))
      boundary.states.emplace_back(node.name(), next->s());
  return boundary;
}

/// Returns what runs when the model is loaded, and what the outputs need.
static RunNodes nodesThatRun(const pb::MetaGraphDef &meta, ArrayRef<NamedTensor> outputs) {
  RunNodes run(meta.graph_def());
  for (const NamedTensor &output : outputs)
    run.add(output.tensor);
  if (!meta.saver_def().restore_op_name().empty())
    run.add(meta.saver_def().restore_op_name());
  for (const auto &[name, signature] : meta.signature_def())
    if (name == "__saved_model_init_op")
      for (const auto &[key, info] : signature.outputs())
        run.add(info.name());
  for (const auto &[name, collection] : meta.collection_def())
    if (name == "saved_model_main_op" || name == "legacy_init_op")
      for (const std::string &node : collection.node_list().value())
        run.add(node);
  return run;
}

/// Removes the nodes that the outputs do not need, as those that compute what a function returns
/// and its caller does not read. Variables stay: what else is known of them is asked for by name.
static void removeUnneeded(pb::GraphDef &graph, ArrayRef<NamedTensor> inputs,
                           const std::vector<NamedTensor> &outputs) {
  StringSet<> needed = neededNodes(graph, outputs);
  for (const NamedTensor &input : inputs)
    needed.insert(input.tensor);
  llvm::erase_if(*graph.mutable_node(), [&](const pb::NodeDef &node) {
    return node.op() != "VarHandleOp" && !needed.contains(node.name());
  });
}

/// Makes a graph without calls; variables that it changes become states where they can.
static bool inlineWithStates(pb::GraphDef &graph, const pb::OpList &operators, FrozenModel &frozen,
                             Diagnostics &diagnostics) {
  std::vector<NamedTensor> inputs, outputs;
  std::vector<VariableWrite> writes;
  // The next value of a state may need a variable that nothing else does, which is a state then.
  do {
    inputs = frozen.inputs;
    outputs = frozen.outputs;
    frozen.graph.Clear();
    writes.clear();
    if (!inlineFunctions(graph, operators, inputs, outputs, frozen.graph, writes, diagnostics))
      return false;
    if (!writes.empty())
      removeUnneeded(frozen.graph, inputs, outputs);
  } while (makeStates(graph, writtenResults(frozen.graph, writes), frozen.outputs));
  frozen.inputs = std::move(inputs);
  frozen.outputs = std::move(outputs);
  return checkWrites(frozen.graph, writes, diagnostics);
}

std::optional<FrozenModel> freezeModel(pb::SavedModel &model, StringRef path,
                                       CheckpointBundle *checkpoint, Diagnostics &diagnostics,
                                       StringRef signatureName) {
  pb::MetaGraphDef *meta = chooseGraph(model, path, diagnostics);
  if (!meta)
    return std::nullopt;
  const pb::SignatureDef *signature = chooseSignature(*meta, signatureName, path, diagnostics);
  if (!signature)
    return std::nullopt;
  FrozenModel frozen;
  if (!namedTensors(signature->inputs(), path, frozen.inputs, diagnostics) ||
      !namedTensors(signature->outputs(), path, frozen.outputs, diagnostics))
    return std::nullopt;
  if (frozen.outputs.empty()) {
    diagnostics.error("E13005", "'" + path + "': the signature has no outputs");
    return std::nullopt;
  }

  pb::GraphDef &graph = *meta->mutable_graph_def();
  const std::string assets = inFolder(sys::path::parent_path(path), "assets");
  unsigned errorsBefore = diagnostics.numErrors();
  markVariables(graph, checkpoint, diagnostics);
  expandOptimizerSteps(graph);
  passVariableValues(graph, frozen.outputs);
  std::vector<std::string *> tensors;
  for (NamedTensor &output : frozen.outputs)
    tensors.push_back(&output.tensor);
  if (diagnostics.numErrors() != errorsBefore ||
      !bindTables(graph, {assets, &meta->asset_file_def()}, nodesThatRun(*meta, frozen.outputs),
                  diagnostics) ||
      !lowerControlFlow(graph, tensors, diagnostics) ||
      !inlineWithStates(graph, meta->meta_info_def().stripped_op_list(), frozen, diagnostics) ||
      !freezeVariables(frozen.graph, checkpoint, diagnostics))
    return std::nullopt;
  freezeTables(frozen.graph);
  return frozen;
}

std::optional<FrozenModel> readSavedModel(StringRef folder, Diagnostics &diagnostics,
                                          StringRef signature) {
  std::string path = inFolder(folder, "saved_model.pb");
  pb::SavedModel model;
  if (!parseFile(path, {"a SavedModel", "SavedModel"}, model, diagnostics))
    return std::nullopt;
  // A model without variables may come without a checkpoint.
  std::unique_ptr<CheckpointBundle> checkpoint;
  std::string prefix = inFolder(inFolder(folder, "variables"), "variables");
  if (sys::fs::exists(prefix + ".index")) {
    checkpoint = CheckpointBundle::open(prefix, diagnostics);
    if (!checkpoint)
      return std::nullopt;
  }
  return freezeModel(model, path, checkpoint.get(), diagnostics, signature);
}

} // namespace atc::tf_import
