//===-- GraphInputs.cpp - the inputs of a TensorFlow graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/DynamicInputs.h"
#include "frontends/MainFunction.h"
#include "frontends/Tensors.h"
#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/TensorData.h"
#include "frontends/tf/variables/VariableStates.h"
#include "support/NearestName.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace atc::tf_import {

static const std::vector<int64_t> *findShape(const InputShapes &shapes, StringRef name) {
  for (const auto &[input, dims] : shapes)
    if (TensorName::parse(input).str() == name)
      return &dims;
  return nullptr;
}

void GraphImporter::inferCutTypes() {
  TfImportOptions front;
  for (const auto &[name, dims] : options.inputShapes)
    if (!cuts.contains(name))
      front.inputShapes.emplace_back(name, dims);
  for (const auto &cut : cuts) {
    front.outputs = {cut.getKey().str()};
    pb::GraphDef copy = graph;
    Diagnostics ignored;
    OwningOpRef<ModuleOp> module =
        GraphImporter(copy, name, boundary, front, context, ignored).run();
    if (!module)
      continue;
    auto function = *module->getOps<func::FuncOp>().begin();
    if (auto type = dyn_cast<RankedTensorType>(function.getResultTypes().front()))
      cutTypes[cut.getKey()] = type;
  }
}

bool GraphImporter::resolveCuts() {
  unsigned before = diags->numErrors();
  for (const std::string &text : options.inputNodes) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags->error("E10016", "there is no node '" + tensor.node + "', asked for by --input_nodes" +
                                 didYouMean(tensor.node.str(), nodeNames()));
    else if (tensor.index != 0)
      diags->error("E10017", "--input_nodes=\"" + text +
                                 "\": only output 0 of a node can become an input of the model");
    else
      cuts.insert(tensor.node);
  }
  return diags->numErrors() == before;
}

/// Returns false after an error. Where the rank is not known `type` is null; inputs whose
/// shape is not fixed are added to `dynamic`.
bool GraphImporter::inputType(const pb::NodeDef &node, RankedTensorType &type,
                              std::vector<DynamicInput> &dynamic) {
  const std::vector<int64_t> *given = findShape(options.inputShapes, node.name());
  for (StringRef name : boundaryNames.lookup(node.name()))
    if (!given)
      given = findShape(options.inputShapes, name);
  RankedTensorType inferred = cutTypes.lookup(node.name());
  Type element = inferred ? inferred.getElementType() : Type();
  if (!element) {
    // The output of a cut node nearly always has the node's main type.
    pb::DataType stated = pb::DT_FLOAT;
    for (const char *attribute : {"dtype", "DstT", "T"})
      if (auto found = node.attr().find(attribute); found != node.attr().end()) {
        stated = found->second.type();
        break;
      }
    element = convertElementType(stated, &context);
    if (!element) {
      diags->error("E14001", "input '" + node.name() + "' has element type " +
                                 nameElementType(stated) +
                                 ", which is not supported; --input_nodes can cut it off");
      return false;
    }
  }
  SmallVector<int64_t> dims;
  std::string shape = "of unknown rank", example = node.name() + ":1,224,224,3";
  bool isRanked = true;
  if (given) {
    dims.assign(given->begin(), given->end());
    for (int64_t dim : dims)
      if (dim <= 0 && dim != -1) {
        diags->error("E10011", "--input_shape gives '" + node.name() + "' the dim " + Twine(dim) +
                                   "; a dim is positive, or -1 for any size");
        return false;
      }
  } else if (inferred) {
    dims.assign(inferred.getShape().begin(), inferred.getShape().end());
  } else if (auto stated = node.attr().find("shape"); stated != node.attr().end() &&
                                                      node.op() == "Placeholder" &&
                                                      !stated->second.shape().unknown_rank()) {
    for (const auto &dim : stated->second.shape().dim())
      dims.push_back(dim.size() < 0 ? -1 : dim.size());
  } else {
    isRanked = false;
  }
  if (isRanked && llvm::is_contained(dims, -1)) {
    shape = "[";
    example = node.name() + ":";
    for (auto [index, dim] : llvm::enumerate(dims)) {
      std::string comma = index ? "," : "";
      shape += comma + (dim < 0 ? "?" : std::to_string(dim));
      example += comma + std::to_string(dim < 0 ? 1 : dim);
    }
    shape += "]";
  }
  if (!isRanked || llvm::is_contained(dims, -1)) {
    dynamic.push_back({"'" + node.name() + "' " + shape, example});
  }
  if (!isRanked)
    return true;
  SmallVector<int64_t> known(dims);
  llvm::replace(known, int64_t(-1), int64_t(1));
  if (llvm::Expected<int64_t> count = countElements(known); !count) {
    diags->error("E14001", "input '" + node.name() + "': " + toString(count.takeError()));
    return false;
  }
  llvm::replace(dims, int64_t(-1), ShapedType::kDynamic);
  type = RankedTensorType::get(dims, element);
  return true;
}

void GraphImporter::checkShapeNames(ArrayRef<const pb::NodeDef *> inputs) {
  llvm::StringSet<> ofNodes, ofSignature;
  for (const pb::NodeDef *node : inputs) {
    ofNodes.insert(node->name());
    for (StringRef name : boundaryNames.lookup(node->name()))
      ofSignature.insert(name);
  }
  std::string names = llvm::join(
      llvm::map_range(inputs, [](auto *node) { return "'" + node->name() + "'"; }), ", ");
  std::vector<std::string> inputNames;
  for (const pb::NodeDef *node : inputs)
    inputNames.push_back(node->name());
  for (const auto &[name, dims] : options.inputShapes) {
    if (ofNodes.contains(TensorName::parse(name).node) || ofSignature.contains(name))
      continue;
    bool isNode = nodes.contains(TensorName::parse(name).node);
    diags->error(isNode ? ErrorCode("E10017") : ErrorCode("E12009"),
                 "'" + name + "' given with --input_shape is not " +
                     (isNode ? "an input of" : "in") + " the model; its inputs are " + names +
                     didYouMean(name, inputNames));
  }
}

/// An input of unknown rank is an error; dynamic dims only cost speed.
void GraphImporter::reportDynamic(ArrayRef<DynamicInput> dynamic, bool isError) {
  if (!isError) {
    diags->warning("W11001", describeDynamicInputs(dynamic));
    return;
  }
  auto shapes = llvm::map_range(dynamic, [](auto &input) { return input.shape; });
  auto examples = llvm::map_range(dynamic, [](auto &input) { return input.example; });
  diags->error("E10001", "the shape of these inputs is not fixed: " + llvm::join(shapes, ", ") +
                             "; give it, for example with --input_shape=\"" +
                             llvm::join(examples, ";") + "\"");
}

bool GraphImporter::importInputs(MainFunction &main) {
  unsigned before = diags->numErrors();
  std::vector<const pb::NodeDef *> inputs;
  llvm::DenseSet<const pb::NodeDef *> notYet(needed.begin(), needed.end());
  auto addOnce = [&](StringRef node) {
    const pb::NodeDef *input = nodes.lookup(node);
    if (input && notYet.erase(input))
      inputs.push_back(input);
  };
  for (const std::string &text : options.inputNodes)
    addOnce(TensorName::parse(text).node);
  for (const auto &[name, tensor] : boundary.inputs)
    addOnce(TensorName::parse(tensor).node);
  for (const pb::NodeDef &node : graph.node())
    if (isInput(node))
      addOnce(node.name());
  checkShapeNames(inputs);

  std::vector<RankedTensorType> types;
  std::vector<DynamicInput> dynamic;
  for (const pb::NodeDef *input : inputs) {
    RankedTensorType type;
    if (inputType(*input, type, dynamic))
      types.push_back(type);
  }
  if (!dynamic.empty() && diags->numErrors() == before)
    reportDynamic(dynamic, llvm::is_contained(types, RankedTensorType()));
  if (diags->numErrors() != before)
    return false;

  for (auto [input, type] : llvm::zip(inputs, types)) {
    std::string argumentName = input->name();
    if (auto names = boundaryNames.lookup(input->name());
        !cuts.contains(input->name()) && !names.empty())
      argumentName = names.back().str();
    define(TensorName{input->name()}, main.addInput(argumentName, input->name(), type));
  }
  return true;
}

/// Notes the pairs of inputs and outputs that are states, and what they begin with.
void GraphImporter::setStates(ModuleOp module) {
  SmallVector<Attribute> states;
  for (const auto &[input, output] : boundary.states) {
    pb::NodeDef *node = nodes.lookup(input);
    if (!llvm::is_contained(needed, node))
      continue;
    SmallVector<Attribute> state = {opBuilder.getStringAttr(input),
                                    opBuilder.getStringAttr(output)};
    if (auto first = node->mutable_attr()->find(firstValueAttribute);
        first != node->mutable_attr()->end()) {
      auto value = takeTensor(*first->second.mutable_tensor(), input, &context);
      if (!value) {
        diags->error("E13005",
                     "the value of variable '" + input + "' " + toString(value.takeError()));
        continue;
      }
      state.push_back(*value);
    }
    states.push_back(opBuilder.getArrayAttr(state));
  }
  if (!states.empty())
    module->setAttr(kStatesAttr, opBuilder.getArrayAttr(states));
}

} // namespace atc::tf_import
