//===-- GraphImporter.cpp - imports a frozen TensorFlow graph -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/GraphImporter.h"

#include "dialects/graph/Graph.h"
#include "frontends/Tensors.h"
#include "frontends/UnsupportedOps.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "support/NearestName.h"

using namespace mlir;

namespace atc::tf_import {

TensorName TensorName::parse(StringRef text) {
  TensorName tensor;
  tensor.isControl = text.consume_front("^");
  tensor.node = text;
  auto [node, number] = text.rsplit(':');
  // A node's name has no colons.
  if (unsigned index; !number.empty() && !number.getAsInteger(10, index)) {
    tensor.node = node;
    tensor.index = index;
  }
  return tensor;
}

std::string describeNode(const pb::NodeDef &node) {
  return "node '" + node.name() + "' (" + node.op() + ")";
}

static bool isPlaceholder(const pb::NodeDef &node) { return node.op() == "Placeholder"; }

GraphImporter::GraphImporter(pb::GraphDef &graph, StringRef name, const GraphBoundary &boundary,
                             const TfImportOptions &options, MLIRContext &context,
                             Diagnostics &diagnostics)
    : graph(graph), name(name), boundary(boundary), options(options), context(context),
      diags(diagnostics), opBuilder(&context) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  for (const auto &[name, tensor] : boundary.inputs)
    boundaryNames[TensorName::parse(tensor).node].push_back(name);
}

Location GraphImporter::tensorLocation(StringRef tensor, StringRef node) {
  auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
  return NameLoc::get(name(tensor), NameLoc::get(name(node)));
}

//===----------------------------------------------------------------------===//
// What is imported
//===----------------------------------------------------------------------===//

bool GraphImporter::indexNodes() {
  unsigned before = diags.numErrors();
  for (pb::NodeDef &node : *graph.mutable_node())
    if (!nodes.try_emplace(node.name(), &node).second)
      diags.error("E13009", "the graph has two nodes with the name '" + node.name() + "'");
  return diags.numErrors() == before;
}

std::vector<std::string> GraphImporter::nodeNames() const {
  std::vector<std::string> names;
  for (const pb::NodeDef &node : graph.node())
    names.push_back(node.name());
  return names;
}

bool GraphImporter::isInput(const pb::NodeDef &node) const {
  return isPlaceholder(node) || cuts.contains(node.name());
}

/// The outputs asked for, or of the signature, or what no node reads.
bool GraphImporter::resolveOutputs() {
  unsigned before = diags.numErrors();
  auto take = [&](const std::string &name, StringRef text, const Twine &origin) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags.error("E10016", "there is no node '" + tensor.node + "', asked for by " + origin +
                                didYouMean(tensor.node.str(), nodeNames()));
    else
      outputs.push_back({name, tensor});
  };
  for (const std::string &text : options.outputs)
    take(TensorName::parse(text).str(), text, "--out_nodes");
  if (options.outputs.empty())
    for (const auto &[name, text] : boundary.outputs)
      take(name, text, "the signature of the model");
  if (!outputs.empty() || diags.numErrors() != before)
    return diags.numErrors() == before;

  llvm::StringSet<> read;
  for (const pb::NodeDef &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(TensorName::parse(input).node);
  for (const pb::NodeDef &node : graph.node())
    if (!read.contains(node.name()) && !isPlaceholder(node) &&
        !llvm::is_contained({"Const", "NoOp", "Assert", "SaveV2"}, StringRef(node.op())))
      outputs.push_back({node.name(), TensorName{node.name()}});
  if (outputs.empty())
    diags.error("E16004", "the graph has no node that could be its output; --out_nodes names one");
  return !outputs.empty();
}

bool GraphImporter::resolveCuts() {
  unsigned before = diags.numErrors();
  for (const std::string &text : options.inputNodes) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags.error("E10016", "there is no node '" + tensor.node + "', asked for by --input_nodes" +
                                didYouMean(tensor.node.str(), nodeNames()));
    else if (tensor.index != 0)
      diags.error("E10017", "--input_nodes=\"" + text +
                                "\": only output 0 of a node can become an input of the model");
    else
      cuts.insert(tensor.node);
  }
  return diags.numErrors() == before;
}

bool GraphImporter::isNeeded(const TensorName &input) {
  if (!input.isControl)
    return true;
  // What a chain of Identity nodes begins with holds for all of them; a circle of them
  // begins with nothing.
  SmallVector<StringRef> chain;
  bool isSwitch = false;
  std::string name(input.node);
  for (;;) {
    auto [known, isNew] = switches.try_emplace(name, false);
    if (!isNew) {
      isSwitch = known->second;
      break;
    }
    chain.push_back(known->first());
    const pb::NodeDef *node = nodes.lookup(name);
    if (!node || isInput(*node))
      break;
    if (node->op() != "Identity" || node->input_size() == 0) {
      isSwitch = node->op() == "Switch";
      break;
    }
    name = TensorName::parse(node->input(0)).node;
  }
  for (StringRef link : chain)
    switches[link] = isSwitch;
  return isSwitch;
}

/// The nodes that the outputs need, up to the inputs.
bool GraphImporter::collectNodes() {
  unsigned before = diags.numErrors();
  llvm::StringSet<> reached;
  std::vector<StringRef> pending;
  for (const Output &output : outputs)
    pending.push_back(output.tensor.node);
  while (!pending.empty()) {
    StringRef name = pending.back();
    pending.pop_back();
    if (!reached.insert(name).second)
      continue;
    pb::NodeDef &node = *nodes.lookup(name);
    if (isInput(node))
      continue;
    for (const std::string &input : node.input()) {
      TensorName tensor = TensorName::parse(input);
      if (!isNeeded(tensor))
        continue;
      if (nodes.contains(tensor.node))
        pending.push_back(tensor.node);
      else
        diags.error("E14001",
                    "input '" + input + "' of " + describeNode(node) + ": there is no such node");
    }
  }
  for (const auto &cut : cuts)
    if (!reached.contains(cut.getKey()))
      diags.error("E10017",
                  "'" + cut.getKey() + "' given with --input_nodes is not needed by the outputs");
  for (pb::NodeDef &node : *graph.mutable_node())
    if (reached.contains(node.name()))
      needed.push_back(&node);
  return diags.numErrors() == before;
}

/// Whether an operator changes the variable that it reads first. Its result is the new
/// value; what else reads the variable would depend on the order of execution.
static bool changesVariable(StringRef op) {
  return op == "Assign" || (op.starts_with("Scatter") && op != "ScatterNd");
}

bool GraphImporter::checkVariables() {
  unsigned before = diags.numErrors();
  llvm::StringMap<unsigned> readers;
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node))
      for (const std::string &input : node->input())
        if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
          ++readers[tensor.node];
  for (const Output &output : outputs)
    ++readers[output.tensor.node];
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node) && changesVariable(node->op()) && node->input_size() != 0 &&
        readers[TensorName::parse(node->input(0)).node] > 1)
      diags.error("E13010", describeNode(*node) + " changes '" + node->input(0) +
                                "', which other nodes read: variables must not change");
  return diags.numErrors() == before;
}

/// One error that lists every node that has no row in the table.
bool GraphImporter::checkSupported() {
  UnsupportedOps unsupported;
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node) && node->op() != "Const" && !findOp(node->op()))
      unsupported.add(node->op(), node->name());
  if (unsupported.empty())
    return true;
  diags.error("E13010",
              "no importer for these operators: " + unsupported.str() +
                  ". The supported ones are listed in docs/tf-support.md; --out_nodes and "
                  "--input_nodes can cut off parts of the graph");
  return false;
}

/// Brings each node behind what it reads.
bool GraphImporter::sortNodes() {
  enum class State { Open, Done };
  llvm::StringMap<State> states;
  std::vector<pb::NodeDef *> sorted;
  for (pb::NodeDef *root : needed) {
    std::vector<pb::NodeDef *> stack{root};
    while (!stack.empty()) {
      pb::NodeDef *node = stack.back();
      auto [state, isNew] = states.try_emplace(node->name(), State::Open);
      if (!isNew) {
        // Everything that it reads stands in front of it by now.
        if (state->second == State::Open)
          sorted.push_back(node);
        state->second = State::Done;
        stack.pop_back();
        continue;
      }
      if (isInput(*node))
        continue;
      for (const std::string &input : node->input()) {
        TensorName tensor = TensorName::parse(input);
        if (!isNeeded(tensor))
          continue;
        auto known = states.find(tensor.node);
        if (known == states.end()) {
          stack.push_back(nodes.lookup(tensor.node));
        } else if (known->second == State::Open) {
          diags.error("E14001", describeNode(*node) + ": stands in a cycle of nodes");
          return false;
        }
      }
    }
  }
  needed = std::move(sorted);
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

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
    cutTypes[cut.getKey()] = cast<RankedTensorType>(function.getResultTypes().front());
  }
}

/// False after an error; `unknown` gets inputs whose shape is not fixed.
bool GraphImporter::inputType(const pb::NodeDef &node, RankedTensorType &type,
                              std::vector<std::string> &unknown) {
  const std::vector<int64_t> *given = findShape(options.inputShapes, node.name());
  for (StringRef name : boundaryNames.lookup(node.name()))
    if (!given)
      given = findShape(options.inputShapes, name);
  RankedTensorType inferred = cutTypes.lookup(node.name());
  Type element = inferred ? inferred.getElementType() : Type();
  if (!element) {
    // What a cut node makes is nearly always of its main type.
    pb::DataType stated = pb::DT_FLOAT;
    for (const char *attribute : {"dtype", "DstT", "T"})
      if (auto found = node.attr().find(attribute); found != node.attr().end()) {
        stated = found->second.type();
        break;
      }
    element = convertElementType(stated, &context);
    if (!element) {
      diags.error("E14001", "input '" + node.name() + "' has element type " +
                                nameElementType(stated) +
                                ", which is not supported; --input_nodes can cut it off");
      return false;
    }
  }
  SmallVector<int64_t> dims;
  std::string shape = "of unknown rank", example = node.name() + ":1,224,224,3";
  bool isKnown = true;
  if (given) {
    dims.assign(given->begin(), given->end());
  } else if (inferred) {
    dims.assign(inferred.getShape().begin(), inferred.getShape().end());
  } else if (auto stated = node.attr().find("shape"); stated != node.attr().end() &&
                                                      isPlaceholder(node) &&
                                                      !stated->second.shape().unknown_rank()) {
    shape = "[";
    example = node.name() + ":";
    for (const auto &dim : stated->second.shape().dim()) {
      bool isFixed = dim.size() >= 0;
      isKnown &= isFixed;
      std::string comma = dims.empty() ? "" : ",";
      shape += comma + (isFixed ? std::to_string(dim.size()) : "?");
      example += comma + std::to_string(isFixed ? dim.size() : 1);
      dims.push_back(dim.size());
    }
    shape += "]";
  } else {
    isKnown = false;
  }
  if (!isKnown) {
    unknown.push_back("'" + node.name() + "' " + shape);
    unknown.push_back(example);
    return true;
  }
  if (given)
    for (int64_t dim : dims)
      if (dim <= 0) {
        diags.error("E10011", "--input_shape gives '" + node.name() + "' the dim " + Twine(dim) +
                                  "; every dim must be fixed and positive");
        return false;
      }
  if (llvm::Expected<int64_t> count = countElements(dims); !count) {
    diags.error("E14001", "input '" + node.name() + "': " + toString(count.takeError()));
    return false;
  }
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
    diags.error(isNode ? ErrorCode("E10017") : ErrorCode("E12009"),
                "'" + name + "' given with --input_shape is not " +
                    (isNode ? "an input of" : "in") + " the model; its inputs are " + names +
                    didYouMean(name, inputNames));
  }
}

bool GraphImporter::importInputs(MainFunction &main) {
  unsigned before = diags.numErrors();
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
  std::vector<std::string> unknown;
  for (const pb::NodeDef *input : inputs) {
    RankedTensorType type;
    if (inputType(*input, type, unknown))
      types.push_back(type);
  }
  if (!unknown.empty() && diags.numErrors() == before) {
    std::string shapes, example;
    for (size_t i = 0; i < unknown.size(); i += 2) {
      shapes += (i ? ", " : "") + unknown[i];
      example += (i ? ";" : "") + unknown[i + 1];
    }
    diags.error("E10001", "the shape of these inputs is not fixed: " + shapes +
                              "; give it, for example with --input_shape=\"" + example + "\"");
  }
  if (diags.numErrors() != before)
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

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Guards GraphImporter::guardsOf(TensorName tensor) const {
  auto found = controlFlow.guards.find(tensor.str());
  if (found == controlFlow.guards.end())
    found = controlFlow.guards.find(tensor.node);
  return found == controlFlow.guards.end() ? Guards() : found->second;
}

void GraphImporter::importNode(pb::NodeDef &node) {
  makeOutputs(node);
  if (node.op() == "Switch" || node.op() == "Merge")
    return;
  Guards guards;
  for (const std::string &input : node.input())
    addGuards(guards, guardsOf(TensorName::parse(input)));
  if (!guards.empty())
    controlFlow.guards[node.name()] = guards;
  if (node.op() == "Identity" && node.input_size() != 0)
    if (auto state = controlFlow.arrays.find(TensorName::parse(node.input(0)).str());
        state != controlFlow.arrays.end())
      controlFlow.arrays[node.name()] = llvm::SmallVector<Value>(state->second);
}

/// Outputs must exist whatever the inputs of the model are.
bool GraphImporter::checkGuards() {
  unsigned before = diags.numErrors();
  for (const Output &output : outputs)
    for (const Guard &guard : guardsOf(output.tensor)) {
      ElementsAttr known;
      if (matchPattern(guard.predicate, m_Constant(&known)) &&
          (readInts(known).front() != 0) == guard.side)
        continue;
      diags.error("E13010", "output '" + output.tensor.str() +
                                "' exists only on one side of a condition (Switch)");
      break;
    }
  return diags.numErrors() == before;
}

void GraphImporter::makeOutputs(pb::NodeDef &node) {
  if (node.op() == "Const") {
    auto found = node.mutable_attr()->find("value");
    if (found == node.mutable_attr()->end() || !found->second.has_tensor()) {
      diags.error("E14001", "attribute 'value' of " + describeNode(node) + ": is missing");
      return;
    }
    auto value = takeTensor(*found->second.mutable_tensor(), node.name(), &context);
    if (!value) {
      diags.error("E14001", "constant '" + node.name() + "' " + toString(value.takeError()));
      return;
    }
    Location loc = tensorLocation(node.name(), node.name());
    define(TensorName{node.name()}, graph::ConstantOp::create(opBuilder, loc, *value));
    return;
  }
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl && !lookup(tensor)) {
      // Of a node that has failed, or an output that the builder did not make.
      if (!diags.hasErrors())
        diags.error("E14001", "input '" + input + "' of " + describeNode(node) +
                                  ": this output is not supported");
      return;
    }
  NodeContext context(*this, node);
  findOp(node.op())->build(context);
  context.finishOutputs();
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  if (!indexNodes() || !resolveCuts() || !resolveOutputs() || !collectNodes() ||
      !checkSupported() || !checkVariables() || !sortNodes())
    return {};
  inferCutTypes();

  MainFunction main(opBuilder, name);
  if (!importInputs(main))
    return {};
  for (pb::NodeDef *node : needed)
    if (!isInput(*node))
      importNode(*node);

  if (!diags.hasErrors() && !checkGuards())
    return {};
  std::vector<std::pair<std::string, Value>> results;
  for (const Output &output : outputs) {
    results.emplace_back(output.name, lookup(output.tensor));
    if (!results.back().second && !diags.hasErrors())
      diags.error("E10016", "output '" + output.tensor.str() + "': the node has no such output");
  }
  if (diags.hasErrors())
    return {};
  return main.finish(results, diags);
}

} // namespace atc::tf_import
