//===-- GraphImporter.cpp - imports a frozen TensorFlow graph -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/GraphImporter.h"

#include "dialects/graph/ops/StructureOps.h"
#include "frontends/Attempt.h"
#include "frontends/Tensors.h"
#include "frontends/UnsupportedOps.h"
#include "frontends/tf/Branches.h"
#include "frontends/tf/LoopImporter.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/Signatures.h"
#include "mlir/IR/Matchers.h"
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
      diags(&diagnostics), opBuilder(&context) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  for (const auto &[name, tensor] : boundary.inputs)
    boundaryNames[TensorName::parse(tensor).node].push_back(name);
  if (options.placeholder)
    placeholder.emplace(options.placeholder);
}

Location GraphImporter::tensorLocation(StringRef tensor, StringRef node) {
  auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
  return NameLoc::get(name(tensor), NameLoc::get(name(node)));
}

//===----------------------------------------------------------------------===//
// Selection of the nodes to import
//===----------------------------------------------------------------------===//

bool GraphImporter::indexNodes() {
  unsigned before = diags->numErrors();
  for (pb::NodeDef &node : *graph.mutable_node())
    if (!nodes.try_emplace(node.name(), &node).second)
      diags->error("E13009", "the graph has two nodes with the name '" + node.name() + "'");
  return diags->numErrors() == before;
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
  unsigned before = diags->numErrors();
  auto take = [&](const std::string &name, StringRef text, const Twine &origin) {
    TensorName tensor = TensorName::parse(text);
    if (!nodes.contains(tensor.node))
      diags->error("E10016", "there is no node '" + tensor.node + "', asked for by " + origin +
                                 didYouMean(tensor.node.str(), nodeNames()));
    else
      outputs.push_back({name, tensor});
  };
  for (const std::string &text : options.outputs)
    take(TensorName::parse(text).str(), text, "--out_nodes");
  // The next values of states are outputs in any case.
  for (const auto &[name, text] : boundary.outputs)
    if (options.outputs.empty() ||
        (llvm::any_of(boundary.states, [&](const auto &state) { return state.second == name; }) &&
         llvm::none_of(outputs, [&](const auto &output) { return output.name == name; })))
      take(name, text, "the signature of the model");
  if (!outputs.empty() || diags->numErrors() != before)
    return diags->numErrors() == before;

  llvm::StringSet<> read;
  for (const pb::NodeDef &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(TensorName::parse(input).node);
  for (const pb::NodeDef &node : graph.node())
    if (!read.contains(node.name()) && !isPlaceholder(node) &&
        !llvm::is_contained({"Const", "NoOp", "Assert", "SaveV2"}, StringRef(node.op())))
      outputs.push_back({node.name(), TensorName{node.name()}});
  if (outputs.empty())
    diags->error("E16004", "the graph has no node that could be its output; --out_nodes names one");
  return !outputs.empty();
}

void GraphImporter::findConditions() {
  auto isOfLoop = [&](const pb::NodeDef &node) {
    const pb::NodeDef *predicate =
        node.input_size() > 1 ? nodes.lookup(TensorName::parse(node.input(1)).node) : nullptr;
    return predicate && predicate->op() == "LoopCond";
  };
  llvm::StringMap<SmallVector<StringRef, 1>> standIns;
  std::vector<StringRef> pending;
  for (const pb::NodeDef &node : graph.node()) {
    if (isInput(node))
      continue;
    if (node.op() == "Switch" && !isOfLoop(node))
      pending.push_back(node.name());
    else if (node.op() == "Identity" && node.input_size() != 0)
      standIns[TensorName::parse(node.input(0)).node].push_back(node.name());
    else if (node.op() == "NoOp")
      for (const std::string &input : node.input())
        standIns[TensorName::parse(input).node].push_back(node.name());
  }
  while (!pending.empty()) {
    const StringRef name = pending.back();
    pending.pop_back();
    if (conditions.insert(name).second)
      if (auto found = standIns.find(name); found != standIns.end())
        llvm::append_range(pending, found->second);
  }
}

bool GraphImporter::isNeeded(const TensorName &input) const {
  return !input.isControl || conditions.contains(input.node);
}

/// The nodes that the outputs need, up to the inputs.
bool GraphImporter::collectNodes() {
  unsigned before = diags->numErrors();
  findConditions();
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
        diags->error("E14001",
                     "input '" + input + "' of " + describeNode(node) + ": there is no such node");
    }
  }
  // An input that a command names stays one where the outputs that it asks for do not read it.
  for (const auto &[name, dims] : options.inputShapes)
    if (const pb::NodeDef *node = nodes.lookup(TensorName::parse(name).node);
        node && isPlaceholder(*node))
      reached.insert(node->name());
  for (const auto &cut : cuts)
    if (!reached.contains(cut.getKey()))
      diags->error("E10017",
                   "'" + cut.getKey() + "' given with --input_nodes is not needed by the outputs");
  for (pb::NodeDef &node : *graph.mutable_node())
    if (reached.contains(node.name()))
      needed.push_back(&node);
  return diags->numErrors() == before;
}

/// Whether an operator changes the variable that it reads first. Its result is the new
/// value; what else reads the variable would depend on the order of execution.
static bool changesVariable(StringRef op) {
  return op == "Assign" || (op.starts_with("Scatter") && op != "ScatterNd");
}

bool GraphImporter::checkVariables() {
  unsigned before = diags->numErrors();
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
      diags->error("E13010", describeNode(*node) + " changes '" + node->input(0) +
                                 "', which other nodes read: variables must not change");
  return diags->numErrors() == before;
}

/// Reports all nodes that have no row in the table as one error, otherwise those that do not
/// have what their operator takes.
bool GraphImporter::checkSupported() {
  UnsupportedOps unsupported;
  for (const pb::NodeDef *node : needed)
    if (!isInput(*node) && node->op() != "Const" && node->op() != "NoOp" && !findOp(node->op()) &&
        !findDynamicOp(node->op()))
      unsupported.add(node->op(), node->name());
  if (unsupported.empty()) {
    const unsigned before = diags->numErrors();
    for (const pb::NodeDef *node : needed)
      if (!isInput(*node))
        checkSignature(*node, *diags);
    return diags->numErrors() == before;
  }
  diags->error("E13010",
               "no importer for these operators: " + unsupported.str() +
                   ". The supported ones are listed in docs/tf-support.md; --out_nodes and "
                   "--input_nodes can cut off parts of the graph");
  return false;
}

bool GraphImporter::findLoops() {
  return frames.find(
      needed, nodes, [this](const pb::NodeDef &node) { return isInput(node); }, *diags);
}

/// Brings each node behind what it reads; those of loops are kept by their frames.
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
      bool isAcyclic = true;
      auto visit = [&](StringRef name) {
        auto known = states.find(name);
        if (known == states.end())
          stack.push_back(nodes.lookup(name));
        else
          isAcyclic &= known->second == State::Done;
      };
      for (const std::string &input : node->input())
        if (TensorName tensor = TensorName::parse(input);
            isNeeded(tensor) && !frames.closesLoop(*node, tensor))
          visit(tensor.node);
      // A loop is over when its whole body has been run.
      if (const LoopFrame *loop = frames.ofExit(*node))
        for (const pb::NodeDef *next : loop->nextIterations)
          visit(next->name());
      if (!isAcyclic) {
        diags->error("E14001", describeNode(*node) + ": stands in a cycle of nodes");
        return false;
      }
    }
  }
  needed.clear();
  return frames.distribute(sorted, needed, *diags);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Guards GraphImporter::guardsOf(ArrayRef<TensorName> tensors) const {
  Guards guards;
  // Edges that only order the execution may form a cycle, or many paths.
  llvm::StringSet<> reached;
  std::vector<const pb::NodeDef *> walked;
  bool isAnySwitch = false;
  std::vector<TensorName> pending(tensors.rbegin(), tensors.rend());
  while (!pending.empty()) {
    const TensorName next = pending.back();
    pending.pop_back();
    auto found = controlFlow.guards.find(next.str());
    if (found == controlFlow.guards.end())
      found = controlFlow.guards.find(next.node);
    if (found != controlFlow.guards.end()) {
      addGuards(guards, found->second);
      continue;
    }
    // A constant stands outside of loops, the condition that it is under perhaps not. Only edges
    // that order the execution lead there, over nodes that are not imported for it.
    const pb::NodeDef *node = nodes.lookup(next.node);
    if (!node || !standsForCondition(*node))
      continue;
    if (controlFlow.guards.empty() && unguarded.contains(node))
      continue;
    if (!reached.insert(next.str()).second)
      continue;
    walked.push_back(node);
    if (node->op() == "Switch" && node->input_size() == 2) {
      isAnySwitch = true;
      const TensorName predicate = TensorName::parse(node->input(1));
      const pb::NodeDef *condition = nodes.lookup(predicate.node);
      Value value = condition && condition->op() != "LoopCond" ? lookup(predicate) : Value();
      if (value)
        addGuards(guards, Guard{value, next.index == 1});
    }
    for (const std::string &input : llvm::reverse(node->input()))
      pending.push_back(TensorName::parse(input));
  }
  if (controlFlow.guards.empty() && !isAnySwitch)
    unguarded.insert_range(walked);
  return guards;
}

Value GraphImporter::lookup(TensorName tensor) const {
  if (isImaginary)
    if (Value imaginary = imaginaryOf(tensor))
      return imaginary;
  const std::string name = tensor.str();
  for (const Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.values.find(name); found != scope.values.end())
      return found->second;
  return {};
}

const TensorList *GraphImporter::findList(TensorName tensor) const {
  const std::string name = tensor.str();
  for (const Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.lists.find(name); found != scope.lists.end())
      return &found->second;
  return nullptr;
}

void GraphImporter::setList(TensorName tensor, TensorList list) {
  scopes.back().lists[tensor.str()] = std::move(list);
}

std::optional<Diagnostics> GraphImporter::attempt(llvm::function_ref<bool()> import) {
  return attemptImport(diags, import);
}

bool GraphImporter::enterLoop(const LoopFrame &frame) {
  // The runtime takes blocks of one level less than 64.
  constexpr unsigned maxLoopDepth = 60;
  if (++loopDepth <= maxLoopDepth)
    return true;
  --loopDepth;
  diags->error("E16004", "loop '" + frame.name + "': more than " + Twine(maxLoopDepth) +
                             " loops stand inside each other");
  return false;
}

bool GraphImporter::spend(const LoopFrame &frame) {
  // Loops in loops whose types take several trials to find double with each level.
  constexpr uint64_t maxAdded = 500'000;
  spentNodes += frame.bodyNodes.size() + frame.conditionNodes.size();
  if (spentNodes <= maxAdded)
    return true;
  diags->error("E16006", "the bodies of loops inside each other, each as often as it is imported, "
                         "have more than " +
                             Twine(maxAdded) + " nodes (the last one is '" + frame.name +
                             "'): put fewer loops inside each other");
  return false;
}

void GraphImporter::importNodes(ArrayRef<pb::NodeDef *> list) {
  for (pb::NodeDef *node : list) {
    // A NoOp has no outputs; what it orders is found over its inputs.
    if (isInput(*node) || node->op() == "NoOp")
      continue;
    LoopFrame *loop = frames.ofExit(*node);
    if (placeholder && diags->hasErrors())
      return; // One obstacle to tiling is enough.
    if (!loop)
      importNode(*node);
    else if (placeholder)
      diags->error("E14001", describeNode(*node) + ": is in a loop");
    else if (!definesHere(TensorName{node->name()}))
      importLoop(*this, *loop);
  }
}

void GraphImporter::importNode(pb::NodeDef &node) {
  if (placeholder && node.op() != "Const")
    makeWithPlaceholder(node);
  else
    makeOutputs(node);
  if (node.op() == "Switch" || node.op() == "Merge")
    return;
  const Guards guards = guardsOf(llvm::map_to_vector(
      node.input(), [](const std::string &input) { return TensorName::parse(input); }));
  if (!guards.empty())
    controlFlow.guards[node.name()] = guards;
  if ((node.op() == "Identity" || node.op() == "Enter") && node.input_size() != 0)
    if (const TensorList *list = findList(TensorName::parse(node.input(0))))
      setList(TensorName{node.name()}, TensorList(*list));
}

/// Outputs must exist whatever the inputs of the model are.
bool GraphImporter::checkGuards() {
  unsigned before = diags->numErrors();
  for (const Output &output : outputs)
    for (const Guard &guard : guardsOf(output.tensor)) {
      ElementsAttr known;
      if (matchPattern(guard.predicate, m_Constant(&known)) &&
          (readInts(known).front() != 0) == guard.side)
        continue;
      diags->error("E13010", "output '" + output.tensor.str() +
                                 "' exists only on one side of a condition (Switch)");
      break;
    }
  return diags->numErrors() == before;
}

void GraphImporter::makeConstant(pb::NodeDef &node) {
  auto found = node.mutable_attr()->find("value");
  if (found == node.mutable_attr()->end() || !found->second.has_tensor()) {
    diags->error("E14001", "attribute 'value' of " + describeNode(node) + ": is missing");
    return;
  }
  auto make = [&](pb::TensorProto &tensor, const std::string &name) -> Value {
    auto value = takeTensor(tensor, name, &context);
    if (value)
      return graph::ConstantOp::create(opBuilder, tensorLocation(name, node.name()), *value);
    diags->error("E14001", "constant '" + node.name() + "' " + toString(value.takeError()));
    return {};
  };
  pb::TensorProto &tensor = *found->second.mutable_tensor();
  pb::TensorProto imaginary;
  const bool isComplex = splitComplex(tensor, imaginary);
  Value real = make(tensor, node.name());
  if (!real)
    return;
  if (isComplex) {
    Value part = make(imaginary, node.name() + "#imaginary");
    if (!part)
      return;
    defineImaginary(TensorName{node.name()}, part);
  }
  define(TensorName{node.name()}, real);
}

bool GraphImporter::hasStaticInputs(const pb::NodeDef &node) const {
  return llvm::all_of(node.input(), [&](StringRef input) {
    TensorName tensor = TensorName::parse(input);
    return tensor.isControl || graph::isPlainTensor(lookup(tensor));
  });
}

void GraphImporter::makeOutputs(pb::NodeDef &node) {
  if (node.op() == "Const")
    return makeConstant(node);
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl && !lookup(tensor)) {
      // The node has failed, or its builder did not create this output.
      if (!diags->hasErrors())
        diags->error("E14001", "input '" + input + "' of " + describeNode(node) +
                                   ": this output is not supported");
      return;
    }
  if (!takesStrings(node.op()) && !hasNumericInputs(node))
    return;
  if (!isImaginary && readsComplex(node))
    return makeComplexOutputs(node);
  if (hasStatedTypes(node))
    makeByRows(node);
}

bool GraphImporter::hasNumericInputs(const pb::NodeDef &node) {
  bool allNumeric = true;
  for (const std::string &input : node.input()) {
    TensorName tensor = TensorName::parse(input);
    if (tensor.isControl || !isa<graph::StringType>(NodeContext::elementType(lookup(tensor))))
      continue;
    allNumeric = false;
    diags->error("E14001", "input '" + input + "' of " + describeNode(node) +
                               ": holds strings, expected numbers");
  }
  return allNumeric;
}

bool GraphImporter::hasStatedTypes(const pb::NodeDef &node) {
  bool allFit = true;
  const SmallVector<pb::DataType> types = statedInputTypes(node);
  unsigned index = 0;
  for (const std::string &input : node.input()) {
    TensorName tensor = TensorName::parse(input);
    if (tensor.isControl || index >= types.size())
      continue;
    const pb::DataType stated = types[index++];
    // Handles of lists and tables, and complex numbers, are no elements here.
    const Type wanted = convertElementType(stated, &context),
               actual = NodeContext::elementType(lookup(tensor));
    if (!wanted || !actual || wanted == actual)
      continue;
    allFit = false;
    diags->error("E14001", "input '" + input + "' of " + describeNode(node) + ": holds " +
                               nameElementType(actual) + ", and the node states " +
                               nameElementType(stated));
  }
  return allFit;
}

void GraphImporter::makeByRows(pb::NodeDef &node) {
  const OpRow *row = findOp(node.op()), *dynamic = findDynamicOp(node.op());
  bool isLeftToHost = false;
  auto build = [&](const OpRow &by) {
    NodeContext context(*this, node);
    by.build(context);
    context.finishOutputs();
    isLeftToHost = context.isLeftToHost();
    return !context.failed();
  };
  if (!dynamic) {
    if (hasStaticInputs(node))
      build(*row);
    else
      diags->error("E14001", describeNode(node) +
                                 ": has an input whose shape is not fixed, which this operator "
                                 "does not take; give it with --input_shape");
    return;
  }
  if (!row || !hasStaticInputs(node) || row == dynamic) {
    build(*dynamic);
    return;
  }
  std::optional<Diagnostics> errors = attempt([&] { return build(*row); });
  // An error that the dynamic builder has too is reported in the words of the static builder.
  if (errors && (!isLeftToHost || attempt([&] { return build(*dynamic); })))
    for (const CodedMessage &message : errors->all())
      diags->add(message);
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  if (!indexNodes() || !resolveCuts() || !resolveOutputs() || !collectNodes() ||
      !checkSupported() || !checkVariables() || !findLoops() || !sortNodes())
    return {};
  scopes.emplace_back();
  inferCutTypes();

  MainFunction main(opBuilder, name);
  if (!importInputs(main))
    return {};
  importNodes(needed);

  if (!diags->hasErrors() && !checkGuards())
    return {};
  std::vector<std::pair<std::string, Value>> results;
  for (const Output &output : outputs) {
    results.emplace_back(output.name, lookup(output.tensor));
    if (imaginaryOf(output.tensor))
      diags->error("E13010", "output '" + output.tensor.str() +
                                 "' is complex; the outputs of a model are real: let --out_nodes "
                                 "name its real part, imaginary part or magnitude");
    if (!results.back().second && !diags->hasErrors())
      diags->error("E10016", "output '" + output.tensor.str() + "': the node has no such output");
  }
  if (diags->hasErrors())
    return {};
  OwningOpRef<ModuleOp> module = main.finish(results, *diags);
  if (module) {
    for (auto function : module->getOps<func::FuncOp>())
      fillBranches(function.front());
    setStates(*module);
  }
  return module;
}

} // namespace atc::tf_import
