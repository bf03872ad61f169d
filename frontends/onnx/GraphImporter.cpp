//===-- GraphImporter.cpp - imports the graph of a model ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/GraphImporter.h"

#include "dialects/graph/Graph.h"
#include "frontends/UnsupportedOps.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/GraphInputs.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/TensorData.h"

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

static bool isStandard(const onnx::NodeProto &node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

/// One error that lists every node that has no row in the table.
static bool checkSupported(ArrayRef<onnx::NodeProto *> nodes, int64_t opset, Diagnostics &diags) {
  UnsupportedOps unsupported;
  for (const onnx::NodeProto *node : nodes) {
    if (isStandard(*node) && findOp(node->op_type(), opset))
      continue;
    std::string op = node->op_type(), why;
    if (!isStandard(*node)) {
      op = node->domain() + "." + op;
      why = "domain " + node->domain();
    } else if (std::vector<const OpRow *> rows = findRows(op); !rows.empty()) {
      why = "supported in opset " + printOpsets(rows);
    }
    std::string name = node->name();
    if (name.empty() && node->output_size() > 0)
      name = "output " + node->output(0);
    unsupported.add(op, name, why);
  }
  if (unsupported.empty())
    return true;

  diags.error("E16002", "no importer for these operators of opset " + Twine(opset) + ": " +
                            unsupported.str() +
                            ". The supported ones are listed in docs/onnx-support.md; "
                            "--out_nodes can cut off a part of the graph");
  return false;
}

GraphImporter::GraphImporter(onnx::ModelProto &model, int64_t opset, StringRef folder,
                             const OnnxImportOptions &options, MLIRContext &context,
                             Diagnostics &diagnostics)
    : graph(*model.mutable_graph()), opset(opset), externalFiles(folder), options(options),
      context(context), diags(diagnostics), opBuilder(&context) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    initializers[tensor.name()] = &tensor;
  for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
    sparseInitializers[tensor.values().name()] = &tensor;
}

std::optional<SmallVector<int64_t>> GraphImporter::declaredShape(StringRef tensor) const {
  // Under other input shapes the stated ones need not hold.
  if (!options.inputShapes.empty())
    return std::nullopt;
  for (const auto *infos : {&graph.output(), &graph.value_info()})
    for (const onnx::ValueInfoProto &info : *infos) {
      if (info.name() != tensor || !info.type().tensor_type().has_shape())
        continue;
      SmallVector<int64_t> dims;
      for (const auto &dim : info.type().tensor_type().shape().dim()) {
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
  return std::nullopt;
}

Location GraphImporter::tensorLocation(StringRef tensor, StringRef node) {
  auto name = [&](StringRef text) { return StringAttr::get(&context, text); };
  if (node.empty())
    return NameLoc::get(name(tensor));
  return NameLoc::get(name(tensor), NameLoc::get(name(node)));
}

Value GraphImporter::lookup(StringRef tensor) {
  auto known = values.find(tensor);
  if (known != values.end())
    return known->second;
  Value value = importInitializer(tensor);
  values[tensor] = value;
  return value;
}

Value GraphImporter::importInitializer(StringRef tensor) {
  auto read = [&]() -> llvm::Expected<ElementsAttr> {
    if (auto dense = initializers.find(tensor); dense != initializers.end())
      return takeTensor(*dense->second, externalFiles, &context);
    if (auto sparse = sparseInitializers.find(tensor); sparse != sparseInitializers.end())
      return takeSparseTensor(*sparse->second, externalFiles, &context);
    return llvm::createStringError("is not defined");
  };
  llvm::Expected<ElementsAttr> value = read();
  if (!value) {
    diags.error("E14001", "initializer '" + tensor + "' " + toString(value.takeError()));
    return {};
  }
  return graph::ConstantOp::create(opBuilder, tensorLocation(tensor, ""), *value);
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
    if (!inside || change.from < 1 || differs) {
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
  if (!resolveInputs(graph, options, context, diags, inputs))
    return false;
  findBatchChange();
  for (const GraphInput &input : inputs)
    define(input.name, main.addInput(input.name, input.name, input.type));
  return true;
}

void GraphImporter::importNode(onnx::NodeProto &node) {
  bool inputsFailed = false;
  for (const std::string &input : node.input())
    if (!input.empty() && !lookup(input))
      inputsFailed = true;
  for (const std::string &output : node.output())
    if (!output.empty())
      define(output, {});
  if (inputsFailed)
    return;
  NodeContext context(*this, node, std::min(opset, latestOpset));
  findOp(node.op_type(), opset)->build(context);
  context.finishOutputs();
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  GraphIndex index(graph, diags);
  std::vector<std::string> outputs;
  std::vector<onnx::NodeProto *> nodes;
  if (diags.hasErrors() || !index.resolveOutputs(options.outputs, outputs) ||
      !index.order(outputs, nodes) || !checkSupported(nodes, opset, diags))
    return {};

  MainFunction main(opBuilder, graph.name());
  if (!importInputs(main))
    return {};
  for (onnx::NodeProto *node : nodes)
    importNode(*node);

  std::vector<std::pair<std::string, Value>> results;
  for (const std::string &output : outputs)
    results.emplace_back(output, lookup(output));
  if (diags.hasErrors())
    return {};
  return main.finish(results, diags);
}

} // namespace atc::onnx_import
