//===-- GraphImporter.cpp - imports a frozen TensorFlow graph -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/GraphImporter.h"

#include "dialects/graph/ops/StructureOps.h"
#include "frontends/Attempt.h"
#include "frontends/Tensors.h"
#include "frontends/tf/Branches.h"
#include "frontends/tf/DynamicDim.h"
#include "frontends/tf/LoopImporter.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/Signatures.h"
#include "mlir/IR/Matchers.h"

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

void GraphImporter::makeWithPlaceholder(pb::NodeDef &node) {
  SmallVector<Value> inputs;
  for (const std::string &input : node.input())
    if (TensorName tensor = TensorName::parse(input); !tensor.isControl)
      inputs.push_back(lookup(tensor));
  const SizeNode sizes = sizeNodeOf(node, inputs);
  std::string why = placeholder->whyRefused(sizes);
  if (why.empty()) {
    makeOutputs(node);
    if (diags->hasErrors())
      return;
    SmallVector<Value> made;
    for (TensorName output{node.name()}; Value value = lookup(output); ++output.index)
      made.push_back(value);
    why = placeholder->whyUnsound(sizes, made);
  }
  if (!why.empty())
    diags->error("E14001", describeNode(node) + ": " + why);
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
