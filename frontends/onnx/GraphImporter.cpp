//===-- GraphImporter.cpp - imports the graph of a model ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/GraphImporter.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/Attempt.h"
#include "frontends/UnsupportedOps.h"
#include "frontends/onnx/ControlFlow.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/GraphInputs.h"
#include "frontends/onnx/GraphOutputs.h"
#include "frontends/onnx/HostForms.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"
#include "frontends/onnx/ops/FunctionAttributes.h"
#include "frontends/onnx/ops/KnownFunctions.h"
#include "frontends/onnx/ops/TokenSearch.h"

using namespace mlir;

namespace atc::onnx_import {

std::string describeNode(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return "node '" + node.name() + "' (" + node.op_type() + ")";
  for (const std::string &output : node.output())
    if (!output.empty())
      return "node of output '" + output + "' (" + node.op_type() + ")";
  return "unnamed node (" + node.op_type() + ")";
}

bool isStandard(const onnx::NodeProto &node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

/// Returns the row of a node's operator; null where there is none. The names of rows for other
/// domains begin with the domain.
static const OpRow *findRow(const onnx::NodeProto &node, int64_t opset) {
  return findOp(isStandard(node) ? node.op_type() : node.domain() + "." + node.op_type(), opset);
}

/// Domain, name and overload of a function or operator as one key.
static std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (domain == "ai.onnx" ? StringRef() : domain).str() + '\0' + name.str() + '\0' +
         overload.str();
}

GraphImporter::GraphImporter(onnx::ModelProto &model, int64_t opset, StringRef folder,
                             const OnnxImportOptions &options, MLIRContext &context,
                             Diagnostics &diagnostics)
    : graph(*model.mutable_graph()), mainScope(graph, opset, nullptr), externalFiles(folder),
      options(options), context(context), diags(&diagnostics), opBuilder(&context) {
  if (options.placeholder)
    placeholder.emplace(options.placeholder);
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  for (const onnx::FunctionProto &function : model.functions())
    functions.try_emplace(functionKey(function.domain(), function.name(), overloadOf(function)),
                          &function);
}

//===----------------------------------------------------------------------===//
// Supported operators
//===----------------------------------------------------------------------===//

const onnx::FunctionProto *GraphImporter::findFunction(const onnx::NodeProto &node) const {
  if (!functions.empty())
    if (const onnx::FunctionProto *own =
            functions.lookup(functionKey(node.domain(), node.op_type(), overloadOf(node))))
      return own;
  return nullptr;
}

/// ONNX Runtime writes this domain when it saves a model optimized for one machine: sizes of blocks
/// of channels are then in the weights and not in the file.
static constexpr StringLiteral kBlockedDomain = "com.microsoft.nchwc";

/// Reports one error that lists every node without an importer.
bool GraphImporter::checkSupported(ArrayRef<onnx::NodeProto *> nodes) {
  UnsupportedOps unsupported;
  bool blocked = false;
  std::function<void(const onnx::NodeProto &)> check = [&](const onnx::NodeProto &node) {
    forEachGraph(node, [&](const onnx::GraphProto &inner) {
      for (const onnx::NodeProto &node : inner.node())
        check(node);
    });
    if (findFunction(node) || findKnownFunction(node) ||
        !hostKernelOf(node.domain(), node.op_type()).empty() || findControlFlow(node) ||
        findRow(node, scope->opset))
      return;
    std::string op = node.op_type(), why;
    if (!isStandard(node)) {
      op = node.domain() + "." + op;
      why = "domain " + node.domain();
      blocked |= node.domain() == kBlockedDomain;
      if (isTokenSearch(node))
        why = "searches are supported in graphs, not in functions";
    } else if (std::vector<const OpRow *> rows = findRows(op); !rows.empty()) {
      why = "supported in opset " + printOpsets(rows);
    }
    if (const std::string overload = overloadOf(node); !overload.empty())
      why = "the model defines no function of overload '" + overload + "'";
    std::string name = node.name();
    if (name.empty() && node.output_size() > 0)
      name = "output " + node.output(0);
    unsupported.add(op, name, why);
  };
  for (const onnx::NodeProto *node : nodes)
    check(*node);
  if (unsupported.empty())
    return true;
  diags->error("E16002", "no importer for these operators of opset " + Twine(scope->opset) + ": " +
                             unsupported.str() +
                             ". The supported ones are listed in docs/onnx-support.md; "
                             "--out_nodes can cut off a part of the graph" +
                             (blocked ? "; ONNX Runtime optimized this file for one machine: "
                                        "compile the file it was made of, or save it with "
                                        "ORT_ENABLE_EXTENDED or less"
                                      : ""));
  return false;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> GraphImporter::declaredShape(StringRef tensor) const {
  // Under other input shapes the stated ones need not hold.
  if (!options.inputShapes.empty())
    return std::nullopt;
  const onnx::ValueInfoProto *info = scope->findInfo(tensor);
  if (!info)
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (const auto &dim : info->type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0)
      return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  if (llvm::Expected<int64_t> count = countElements(dims); !count) {
    llvm::consumeError(count.takeError());
    return std::nullopt;
  }
  return dims;
}

Location GraphImporter::tensorLocation(StringRef tensor, StringRef node) {
  auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
  if (node.empty())
    return NameLoc::get(name(tensor));
  return NameLoc::get(name(tensor), NameLoc::get(name(node)));
}

Value GraphImporter::lookup(StringRef tensor) {
  Scope *owner = scope->find(tensor);
  if (owner)
    if (auto known = owner->values.find(tensor); known != owner->values.end())
      return known->second;
  if (!owner)
    owner = scope;
  return owner->values[tensor] = importInitializer(*owner, tensor);
}

void GraphImporter::define(StringRef tensor, Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  // With a placeholder, a dim of the type may stand for any size.
  if (type && type.hasStaticShape() && type.getNumElements() == 0 && !placeholder &&
      type.getElementType().isIntOrFloat() && !value.getDefiningOp<graph::ConstantOp>())
    value = graph::ConstantOp::create(opBuilder, tensorLocation(tensor, ""),
                                      graph::makeConstant(type, std::vector<char>()));
  scope->values[tensor] = value;
}

Value GraphImporter::importInitializer(Scope &owner, StringRef tensor) {
  auto read = [&]() -> llvm::Expected<ElementsAttr> {
    if (auto dense = owner.initializers.find(tensor); dense != owner.initializers.end())
      return takeTensor(*dense->second, externalFiles, &context);
    if (auto sparse = owner.sparseInitializers.find(tensor);
        sparse != owner.sparseInitializers.end())
      return takeSparseTensor(*sparse->second, externalFiles, &context);
    return llvm::createStringError("is not defined");
  };
  llvm::Expected<ElementsAttr> value = read();
  if (!value) {
    diags->error("E14001", "initializer '" + tensor + "' " + toString(value.takeError()));
    return {};
  }
  OpBuilder::InsertionGuard guard(opBuilder);
  // A graph around the body may read the tensor later.
  const bool isOutside = scope != &owner;
  if (isOutside)
    opBuilder.setInsertionPointToStart(mainBlock);
  Value constant = graph::ConstantOp::create(opBuilder, tensorLocation(tensor, ""), *value);
  if (isOutside)
    statedConstants.insert(constant);
  else
    addStated(constant);
  return constant;
}

void GraphImporter::findBatchChange() {
  for (const onnx::ValueInfoProto &info : graph.input()) {
    auto given = llvm::find_if(options.inputShapes,
                               [&](const auto &option) { return option.first == info.name(); });
    const auto &shape = info.type().tensor_type().shape();
    if (given == options.inputShapes.end() || given->second.empty() ||
        shape.dim_size() != static_cast<int>(given->second.size()))
      continue;
    SmallVector<int64_t> stated;
    for (const auto &dim : shape.dim())
      stated.push_back(dim.has_dim_value() ? dim.dim_value() : 0);
    BatchChange change{stated.front(), given->second.front()};
    bool inside = ArrayRef(stated).drop_front() == ArrayRef(given->second).drop_front();
    bool differs = batch && (batch->from != change.from || batch->to != change.to);
    if (!inside || change.from < 1 || change.to < 1 || differs) {
      batch.reset();
      return;
    }
    batch = change;
  }
  if (batch && batch->from == batch->to)
    batch.reset();
}

bool GraphImporter::importInputs(MainFunction &main) {
  std::vector<GraphInput> inputs;
  if (!resolveInputs(graph, options, *this, *diags, inputs))
    return false;
  findBatchChange();
  for (const GraphInput &input : inputs)
    define(input.name, main.addInput(input.name, input.name, input.type));
  return true;
}

Type GraphImporter::convertType(const onnx::TypeProto &type, unsigned depth) {
  // The runtime takes no deeper ones.
  constexpr unsigned maxTypeDepth = 8;
  if (depth >= maxTypeDepth)
    return {};
  auto item = [&](const onnx::TypeProto &inner) { return convertType(inner, depth + 1); };
  if (type.has_sequence_type()) {
    Type inner = item(type.sequence_type().elem_type());
    return inner ? graph::SequenceType::get(&context, inner) : Type();
  }
  if (type.has_optional_type()) {
    Type inner = item(type.optional_type().elem_type());
    // An optional holds a tensor or a sequence.
    const bool isOne = isa_and_nonnull<graph::OptionalType>(inner);
    return inner && !isOne ? graph::OptionalType::get(&context, inner) : Type();
  }
  if (type.has_map_type()) {
    Type key = convertElementType(type.map_type().key_type(), &context);
    Type value = item(type.map_type().value_type());
    return key && value ? graph::MapType::get(&context, key, value) : Type();
  }
  if (!type.has_tensor_type())
    return {};
  const auto &tensor = type.tensor_type();
  Type element = convertElementType(tensor.elem_type(), &context);
  if (!element)
    return {};
  if (!tensor.has_shape())
    return UnrankedTensorType::get(element);
  // The rank of an input itself (depth 0) is checked elsewhere, with a message of its own.
  if (depth && tensor.shape().dim_size() > maxRank)
    return {};
  SmallVector<int64_t> dims;
  for (const auto &dim : tensor.shape().dim())
    dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value()
                                                               : ShapedType::kDynamic);
  return RankedTensorType::get(dims, element);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::optional<Diagnostics> GraphImporter::attempt(llvm::function_ref<bool()> import) {
  return attemptImport(diags, import);
}

/// Imports a node as graph ops, which need static dense tensors.
bool GraphImporter::importStatic(onnx::NodeProto &node) {
  Block *block = opBuilder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  NodeContext nodeContext(*this, node, std::min(scope->opset, latestOpset));
  findRow(node, scope->opset)->build(nodeContext);
  nodeContext.finishOutputs();
  if (nodeContext.failed() || !options.canGenerate)
    return !nodeContext.failed();
  for (Operation *op = block->empty() ? nullptr : &block->back(); op && op != last;
       op = op->getPrevNode())
    if (!options.canGenerate(op))
      return false;
  return true;
}

void GraphImporter::importOnHost(onnx::NodeProto &node) {
  if (llvm::Error error = importAsHostCall(*this, node, scope->opset))
    diags->error("E14001", describeNode(node) + ": " + toString(std::move(error)));
}

void GraphImporter::importNode(onnx::NodeProto &node) {
  // Undefined names inside a body are an error of the body.
  bool inputsFailed = false, plain = true;
  for (const std::string &input : node.input())
    if (!input.empty()) {
      Value value = lookup(input);
      inputsFailed |= !value;
      plain &= value && graph::isPlainTensor(value);
    }
  for (const std::string &output : node.output())
    if (!output.empty())
      define(output, {});
  if (inputsFailed)
    return;
  if (const onnx::FunctionProto *function = findFunction(node))
    return importFunction(node, *function);
  // A model's own words come first.
  if (const KnownFunction *known = findKnownFunction(node)) {
    std::string problem;
    const onnx::FunctionProto function = makeFunction(*known, node, problem);
    if (problem.empty())
      return importFunction(node, function);
    diags->error("E14001", describeNode(node) + ": " + problem);
    return;
  }
  if (ControlFlowBuilder build = findControlFlow(node))
    return build(*this, node);
  const bool hasKernel = !hostKernelOf(node.domain(), node.op_type()).empty();
  const bool hasRow = findRow(node, scope->opset) != nullptr;
  if (!hasRow || (!plain && hasKernel))
    return importOnHost(node);
  if (!plain) {
    diags->error("E14001", describeNode(node) +
                               ": there is no kernel for inputs whose shape is not fixed; give "
                               "it with --input_shape");
    return;
  }
  if (!hasKernel) {
    // The target's own words are better than any here.
    importStatic(node);
    return;
  }
  // Reading a constant moves the data out of the node.
  onnx::NodeProto copy;
  const bool takes = llvm::any_of(node.attribute(), [](const auto &a) { return a.has_t(); });
  if (takes)
    copy = node;
  std::optional<Diagnostics> errorLines = attempt([&] { return importStatic(node); });
  if (!errorLines)
    return;
  llvm::StringMap<Value> made;
  for (const std::string &output : node.output())
    if (!output.empty())
      made[output] = std::exchange(scope->values[output], Value());
  // A node that the host cannot run either is reported with the static importer's error.
  if (attempt([&] {
        importOnHost(takes ? copy : node);
        return true;
      })) {
    for (auto &[output, value] : made)
      define(output, value);
    for (const CodedMessage &message : errorLines->all())
      diags->add(message);
  }
}

void GraphImporter::importWithPlaceholder(onnx::NodeProto &node) {
  auto valuesOf = [&](const auto &names) {
    return llvm::map_to_vector(
        names, [&](const std::string &name) { return name.empty() ? Value() : lookup(name); });
  };
  const SmallVector<Value> inputs = valuesOf(node.input());
  const SizeNode sizes = sizeNodeOf(node, inputs);
  std::string why = placeholder->whyRefused(sizes);
  if (why.empty()) {
    importNode(node);
    if (diags->hasErrors())
      return;
    for (const std::string &output : node.output())
      if (!output.empty())
        scope->values[output] = placeholder->foldPositions(sizes, lookup(output));
    why = placeholder->whyUnsound(sizes, valuesOf(node.output()));
  }
  if (!why.empty())
    diags->error("E14001", describeNode(node) + ": " + why);
}

void GraphImporter::importNodes(ArrayRef<onnx::NodeProto *> nodes) {
  for (onnx::NodeProto *node : nodes)
    // More of the same would not make it smaller.
    if (!isTooLarge && placeholder && !diags->hasErrors())
      importWithPlaceholder(*node);
    else if (!isTooLarge && !placeholder)
      importNode(*node);
}

/// Nodes of a graph and of all graphs inside it.
static uint64_t countNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  uint64_t count = nodes.size();
  for (const onnx::NodeProto &node : nodes)
    forEachGraph(node, [&](const onnx::GraphProto &inner) { count += countNodes(inner.node()); });
  return count;
}

bool GraphImporter::spend(const onnx::GraphProto &body) {
  // Functions that call each other twice, or loops in loops whose types take several trials to
  // find, double with each level.
  constexpr uint64_t maxAdded = 500'000;
  imported += body.node_size();
  if (isTooLarge)
    return false;
  if (imported <= fileNodes + maxAdded)
    return true;
  isTooLarge = true;
  diags->error("E16006", "graph '" + graph.name() +
                             "': functions and bodies of loops, each as often as it is used, have "
                             "more than " +
                             Twine(maxAdded) + " nodes beside the " + Twine(fileNodes) +
                             " of the file (the last one is '" + body.name() +
                             "'): call functions less often, or put fewer loops inside each other");
  return false;
}

void GraphImporter::importFunction(onnx::NodeProto &node, const onnx::FunctionProto &function) {
  constexpr unsigned maxNested = 64;
  if (depth >= maxNested) {
    diags->error("E16004", describeNode(node) + ": functions call each other more than " +
                               Twine(maxNested) + " deep; a function must not call itself");
    return;
  }
  expanded.push_back(std::make_unique<onnx::GraphProto>());
  onnx::GraphProto &body = *expanded.back();
  body.set_name(function.name());
  for (const std::string &input : function.input())
    body.add_input()->set_name(input);
  for (const std::string &output : function.output())
    body.add_output()->set_name(output);
  const std::vector<onnx::AttributeProto> defaults = defaultsOf(function);
  for (const onnx::NodeProto &inner : function.node()) {
    *body.add_node() = inner;
    bindAttributes(*body.mutable_node(body.node_size() - 1), node, defaults);
  }
  int64_t opset = scope->opset;
  for (const onnx::OperatorSetIdProto &import : function.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      opset = import.version();

  SmallVector<Value> arguments, results;
  for (int i = 0; i < function.input_size(); ++i)
    arguments.push_back(i < node.input_size() && !node.input(i).empty() ? lookup(node.input(i))
                                                                        : Value());
  for (int i = function.output_size(); i < node.output_size(); ++i)
    if (!node.output(i).empty()) {
      diags->error("E14001", describeNode(node) + ": has output " + Twine(i) + " ('" +
                                 node.output(i) + "'), but its function has " +
                                 Twine(function.output_size()) + " outputs");
      return;
    }
  ++depth;
  if (importClosed(body, opset, arguments, results))
    for (int i = 0; i < node.output_size() && i < function.output_size(); ++i)
      if (!node.output(i).empty())
        define(node.output(i), results[i]);
  --depth;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool GraphImporter::importBody(onnx::GraphProto &body, ArrayRef<Value> arguments,
                               SmallVectorImpl<Value> &results) {
  Scope inner(body, scope->opset, scope);
  // The operators were checked together with the enclosing graph.
  return importGraph(inner, /*isChecked=*/true, arguments, results);
}

bool GraphImporter::importClosed(onnx::GraphProto &body, int64_t opset, ArrayRef<Value> arguments,
                                 SmallVectorImpl<Value> &results) {
  Scope inner(body, opset, nullptr);
  return importGraph(inner, /*isChecked=*/false, arguments, results);
}

bool GraphImporter::importGraph(Scope &inner, bool isChecked, ArrayRef<Value> arguments,
                                SmallVectorImpl<Value> &results) {
  if (!spend(inner.graph))
    return false;
  unsigned before = diags->numErrors();
  Scope *outer = scope;
  scope = &inner;
  // An omitted input is a name without a value; its readers read the empty name.
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    const std::string name = inner.graph.input(i).name();
    if (argument) {
      inner.values[name] = argument;
      continue;
    }
    for (onnx::NodeProto &node : *inner.graph.mutable_node())
      for (std::string &input : *node.mutable_input())
        if (input == name)
          input.clear();
  }
  std::vector<std::string> outputs;
  for (const onnx::ValueInfoProto &output : inner.graph.output())
    outputs.push_back(output.name());
  GraphIndex index(inner.graph, reads, *diags,
                   [&](StringRef name) { return outer && inner.parent && outer->find(name); });
  std::vector<onnx::NodeProto *> nodes;
  if (diags->numErrors() == before && index.order(outputs, nodes) &&
      (isChecked || checkSupported(nodes))) {
    importNodes(nodes);
    for (const std::string &output : outputs)
      if (!isTooLarge)
        results.push_back(lookup(output));
  }
  reads.forget(inner.graph);
  scope = outer;
  return !isTooLarge && diags->numErrors() == before && !llvm::is_contained(results, Value());
}

bool GraphImporter::importUntaken(llvm::function_ref<bool()> import) {
  ++untaken;
  const bool done = import();
  --untaken;
  return done;
}

bool GraphImporter::defer(const onnx::NodeProto &node, const std::string &reason) {
  if (!untaken)
    return false;
  diags->warning("W11011", describeNode(node) + " does not fit what it is given in a branch: " +
                               reason + "; a run that takes the branch fails");
  return true;
}

bool GraphImporter::enterRegion(const onnx::NodeProto &node) {
  if (++regions <= maxGraphDepth)
    return true;
  diags->error("E16004", describeNode(node) + ": with the functions that are called, more than " +
                             Twine(maxGraphDepth) +
                             " branches and bodies of loops stand inside "
                             "each other");
  return false;
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  fileNodes = countNodes(graph.node());
  for (const auto &function : functions)
    fileNodes += countNodes(function.second->node());
  GraphIndex index(graph, reads, *diags);
  std::vector<std::string> outputs;
  std::vector<onnx::NodeProto *> nodes;
  if (diags->hasErrors() || !index.resolveOutputs(options.outputs, outputs) ||
      !index.order(outputs, nodes) || !checkSupported(nodes))
    return {};

  MainFunction main(opBuilder, graph.name());
  mainBlock = opBuilder.getInsertionBlock();
  if (!importInputs(main))
    return {};
  importNodes(nodes);
  if (isTooLarge)
    return {};

  std::vector<std::pair<std::string, Value>> results;
  for (auto [output, name] : llvm::zip_equal(outputs, nameOutputs(outputs))) {
    results.emplace_back(name, lookup(output));
    if (!results.back().second && !diags->hasErrors())
      diags->error("E14001", "the node of output '" + output + "' does not make it");
    if (results.back().second)
      checkOutputType(graph, output, results.back().second, *this, *diags);
  }
  if (diags->hasErrors())
    return {};
  const auto made = [&](StringRef tensor) { return scope->values.lookup(tensor); };
  checkStatedTypes(graph, made, *this, *diags);
  // Under other input shapes the stated ones need not hold.
  if (options.inputShapes.empty() || options.hasStatedShapes)
    checkStatedShapes(graph, made, options.placeholder, *diags);
  return main.finish(results, *diags);
}

} // namespace atc::onnx_import
