//===-- OnnxImport.cpp - ONNX models to the graph dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OnnxImport.h"

#include <onnx/onnx_pb.h>
#include <optional>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "frontends/ModelFile.h"
#include "frontends/onnx/AscendNodes.h"
#include "frontends/onnx/DynamicDim.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/ModelFacts.h"
#include "frontends/onnx/OnnxModel.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"
#include "frontends/onnx/TrainingGraph.h"
#include "frontends/onnx/ops/FunctionAttributes.h"
#include "frontends/onnx/ops/TokenSearch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::onnx_import {

static bool isStandardDomain(StringRef domain) { return domain.empty() || domain == "ai.onnx"; }

/// The version of the standard operators that the model is written for.
static std::optional<int64_t> readOpset(const onnx::ModelProto &model, Diagnostics &diags) {
  std::optional<int64_t> opset;
  for (const onnx::OperatorSetIdProto &import : model.opset_import()) {
    if (!isStandardDomain(import.domain()))
      continue;
    if (opset && *opset != import.version()) {
      diags.error("E16005", "the model imports opset " + Twine(*opset) + " and opset " +
                                Twine(import.version()) + " of the domain ai.onnx");
      return std::nullopt;
    }
    opset = import.version();
  }
  if (model.opset_import().empty()) {
    diags.error("E16005", "the model imports no opset of the domain ai.onnx: the file is cut "
                          "short or not an ONNX model");
    return std::nullopt;
  }
  // A model that uses only other domains need not import the standard one.
  if (!opset)
    return latestOpset;
  if (*opset < oldestOpset) {
    diags.error("E16005", "the model has opset " + Twine(*opset) + "; supported are " +
                              Twine(oldestOpset) + " to " + Twine(latestOpset) +
                              ". Convert it with onnx.version_converter");
    return std::nullopt;
  }
  if (*opset > latestOpset)
    diags.warning("W11001", "the model has opset " + Twine(*opset) +
                                "; it is read by the rules of opset " + Twine(latestOpset));
  return opset;
}

/// The format of ONNX files. Each nested graph takes three messages: node, attribute and graph. The
/// limit is high enough for checkNodes() to report the error.
constexpr FileFormat fileFormat{"an ONNX model", "ONNX", ": store the weights as external data",
                                /*maxDepth=*/4096};

/// Rejects a node that gives an attribute twice: nothing tells which of the values is meant, and
/// readers differ in which they take.
static bool checkAttributeNames(const onnx::NodeProto &node, Diagnostics &diags) {
  llvm::SmallDenseSet<StringRef, 8> names;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (names.insert(attribute.name()).second)
      continue;
    diags.error("E14001",
                describeNode(node) + ": attribute '" + attribute.name() + "' is given twice");
    return false;
  }
  return true;
}

/// Rejects a model whose graphs are nested too deeply, or one of whose nodes gives an attribute
/// twice. Not recursive: no other function can process such a model.
static bool checkNodes(const onnx::ModelProto &model, Diagnostics &diags) {
  std::vector<std::pair<const onnx::NodeProto *, unsigned>> work;
  auto add = [&](const auto &nodes, unsigned depth) {
    for (const onnx::NodeProto &node : nodes)
      if (node.attribute_size() != 0)
        work.emplace_back(&node, depth);
  };
  add(model.graph().node(), 0);
  for (const onnx::FunctionProto &function : model.functions())
    add(function.node(), 0);
  bool areGood = true;
  while (!work.empty()) {
    auto [node, depth] = work.back();
    work.pop_back();
    areGood &= checkAttributeNames(*node, diags);
    bool isTooDeep = false;
    forEachGraph(*node, [&](const onnx::GraphProto &inner) {
      isTooDeep |= depth >= maxGraphDepth;
      add(inner.node(), depth + 1);
    });
    if (!isTooDeep)
      continue;
    diags.error("E16004", describeNode(*node) + ": more than " + Twine(maxGraphDepth) +
                              " graphs (branches, bodies of loops) stand inside each other");
    return false;
  }
  return areGood;
}

/// Rejects functions of one name and overload: nothing tells which of them a node calls.
static bool checkFunctionNames(const onnx::ModelProto &model, Diagnostics &diags) {
  llvm::StringSet<> names;
  unsigned before = diags.numErrors();
  for (const onnx::FunctionProto &function : model.functions()) {
    const std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    const std::string overload = overloadOf(function);
    if (!names.insert(domain + '\0' + function.name() + '\0' + overload).second)
      diags.error("E13009", "function '" + function.name() + "' of domain '" + domain + "'" +
                                (overload.empty() ? "" : " and overload '" + overload + "'") +
                                " is defined twice: give each function a name or an overload of "
                                "its own");
  }
  return diags.numErrors() == before;
}

/// Marks the arguments that were initializers, and hands over their values. Returns false after an
/// error.
static bool markWeights(ModuleOp module, std::vector<TrainingInput> &weights, StringRef folder,
                        const OnnxImportOptions &options, Diagnostics &diags) {
  if (weights.empty())
    return true;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  llvm::StringMap<unsigned> arguments;
  for (unsigned index = 0; index < main.getNumArguments(); ++index)
    arguments[main.getArgAttrOfType<StringAttr>(index, "om.name").getValue()] = index;
  ExternalFiles files(folder);
  Builder builder(module.getContext());
  for (TrainingInput &weight : weights) {
    const std::string name = weight.tensor.name();
    llvm::Expected<ElementsAttr> value = takeTensor(weight.tensor, files, module.getContext());
    if (!value) {
      diags.error("E14001", "initializer '" + name + "' " + toString(value.takeError()));
      continue;
    }
    if (weight.next.empty())
      main.setArgAttr(arguments.lookup(name), "train.parameter", builder.getUnitAttr());
    else
      main.setArgAttr(arguments.lookup(name), "train.statistic",
                      builder.getStringAttr(weight.next));
    if (options.onParameter)
      options.onParameter(name, *value, weight.next.empty());
  }
  return !diags.hasErrors();
}

static FailureOr<OwningOpRef<ModuleOp>> importModel(onnx::ModelProto &model, StringRef name,
                                                    StringRef folder,
                                                    const OnnxImportOptions &options,
                                                    MLIRContext &context, Diagnostics &diags) {
  if (!model.has_graph() || (model.graph().node_size() == 0 && model.graph().output_size() == 0)) {
    diags.error("E16004", "'" + name +
                              "' holds no graph: the file is cut short or not an ONNX "
                              "model");
    return failure();
  }
  std::optional<int64_t> opset = readOpset(model, diags);
  if (!opset || !checkNodes(model, diags) || !checkFunctionNames(model, diags) ||
      !expandAscendNodes(*model.mutable_graph(), diags) ||
      !expandTokenSearches(*model.mutable_graph(), *opset, diags))
    return failure();
  std::vector<TrainingInput> weights;
  if (options.training) {
    auto made = makeTrainingGraph(*model.mutable_graph(), *options.training, diags);
    if (!made)
      return failure();
    weights = std::move(*made);
  }
  OwningOpRef<ModuleOp> module =
      GraphImporter(model, *opset, folder, options, context, diags).run();
  if (!module || !markWeights(*module, weights, folder, options, diags))
    return failure();
  nameDims(*module, model.graph());
  keepMetadata(*module, model);
  return module;
}

/// Imports a model with a placeholder for its dynamic dim; null, and no error reported, where it
/// cannot be tiled.
static OwningOpRef<ModuleOp> importTiled(onnx::ModelProto &model, StringRef name, StringRef folder,
                                         const DynamicDim &dim, OnnxImportOptions options,
                                         MLIRContext &context, Diagnostics &diags) {
  options.hasStatedShapes = options.inputShapes.empty();
  options.inputShapes = dim.inputShapes;
  options.placeholder = dim.size;
  // The target is asked about the tiles, whose sizes it will see.
  options.canGenerate = {};
  // An obstacle to tiling is not an error of the model.
  Diagnostics trial;
  auto import = [&]() -> FailureOr<OwningOpRef<ModuleOp>> {
    auto module = importModel(model, name, folder, options, context, trial);
    if (trial.hasErrors())
      return failure();
    return module;
  };
  OwningOpRef<ModuleOp> module = importTiles(context, dim, import, options.makeTiles, trial);
  // Warnings about what the file states wrongly hold for every import, so they are taken over
  // from this one.
  for (const CodedMessage &message : trial.all())
    if (module && (message.code == "W11013" || message.code == "W11014"))
      diags.add(message);
  return module;
}

/// Imports the model that `parse` reads.
static FailureOr<OwningOpRef<ModuleOp>>
importParsed(llvm::function_ref<bool(onnx::ModelProto &)> parse, StringRef name, StringRef folder,
             const OnnxImportOptions &options, MLIRContext &context, Diagnostics &diags) {
  onnx::ModelProto model;
  if (!parse(model))
    return failure();
  if (options.makeTiles)
    if (auto dim = findDynamicDim(model.graph(), options.inputShapes)) {
      if (auto tiled = importTiled(model, name, folder, *dim, options, context, diags))
        return tiled;
      // The attempt has changed the model and taken constants out of it.
      model.Clear();
      if (!parse(model))
        return failure();
    }
  return importModel(model, name, folder, options, context, diags);
}

} // namespace atc::onnx_import

FailureOr<OwningOpRef<ModuleOp>> atc::importOnnx(StringRef path, const OnnxImportOptions &options,
                                                 MLIRContext &context, Diagnostics &diagnostics) {
  auto parse = [&](onnx::ModelProto &model) {
    return parseFile(path, onnx_import::fileFormat, model, diagnostics);
  };
  return onnx_import::importParsed(parse, path, llvm::sys::path::parent_path(path), options,
                                   context, diagnostics);
}

FailureOr<OwningOpRef<ModuleOp>> atc::importOnnxBuffer(StringRef bytes, StringRef name,
                                                       StringRef folder,
                                                       const OnnxImportOptions &options,
                                                       MLIRContext &context,
                                                       Diagnostics &diagnostics) {
  auto parse = [&](onnx::ModelProto &model) {
    return parseBytes(bytes, name, onnx_import::fileFormat, model, diagnostics);
  };
  return onnx_import::importParsed(parse, name, folder, options, context, diagnostics);
}

std::vector<atc::ModelNode> atc::listOnnxNodes(StringRef path,
                                               const std::optional<std::string> &bytes,
                                               Diagnostics &diagnostics) {
  onnx::ModelProto model;
  if (bytes ? !parseBytes(*bytes, path, onnx_import::fileFormat, model, diagnostics)
            : !parseFile(path, onnx_import::fileFormat, model, diagnostics))
    return {};
  std::vector<atc::ModelNode> nodes;
  const llvm::StringMap<const onnx::NodeProto *> made = onnx_import::madeNames(model.graph());
  llvm::DenseMap<const onnx::NodeProto *, StringRef> aliases;
  for (const auto &entry : made)
    aliases[entry.second] = entry.getKey();
  // Whoever compiles a model has had its depth checked.
  std::function<void(const onnx::GraphProto &)> add = [&](const onnx::GraphProto &graph) {
    for (const onnx::NodeProto &node : graph.node()) {
      nodes.push_back({onnx_import::nameOf(node), node.op_type(), aliases.lookup(&node).str()});
      onnx_import::forEachGraph(node, add);
    }
  };
  add(model.graph());
  return nodes;
}

FailureOr<OwningOpRef<ModuleOp>> atc::importOnnxModel(onnx::ModelProto &model, StringRef name,
                                                      const OnnxImportOptions &options,
                                                      MLIRContext &context,
                                                      Diagnostics &diagnostics) {
  return onnx_import::importModel(model, name, /*folder=*/"", options, context, diagnostics);
}

FailureOr<OwningOpRef<ModuleOp>>
atc::importOnnxModel(llvm::function_ref<bool(onnx::ModelProto &)> make, StringRef name,
                     const OnnxImportOptions &options, MLIRContext &context,
                     Diagnostics &diagnostics) {
  return onnx_import::importParsed(make, name, /*folder=*/"", options, context, diagnostics);
}
