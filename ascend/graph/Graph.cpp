//===-- Graph.cpp - graphs and their nodes ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/graph/Node.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <fstream>
#include <set>

namespace ge {

using detail::GraphContent;
using detail::Node;
using NodePtr = std::shared_ptr<Node>;

Graph::Graph() : Graph("") {}
Graph::Graph(const char *name) : held(std::make_shared<GraphContent>()) {
  held->name = name ? name : "";
}
Graph::~Graph() = default;
Graph::Graph(const Graph &) = default;
Graph &Graph::operator=(const Graph &) = default;

//===--- Operators of a graph ---------------------------------------------===//

static bool contains(const GraphContent &graph, const NodePtr &node) {
  return std::find(graph.nodes.begin(), graph.nodes.end(), node) != graph.nodes.end();
}

/// Adds the nodes that read `starts`, through others, and all that these and `starts` need.
static void collect(GraphContent &graph, const std::vector<Operator> &starts) {
  std::set<NodePtr> seen(graph.nodes.begin(), graph.nodes.end());
  std::vector<NodePtr> work;
  auto visit = [&](const NodePtr &node) {
    if (!node || !seen.insert(node).second)
      return;
    graph.nodes.push_back(node);
    work.push_back(node);
  };
  for (const Operator &start : starts) {
    visit(start.node());
    while (!work.empty()) {
      const NodePtr node = work.back();
      work.pop_back();
      for (const detail::Input &input : node->inputs)
        visit(input.source);
      for (const NodePtr &source : node->before)
        visit(source);
      for (const std::weak_ptr<Node> &reader : node->readers)
        visit(reader.lock());
    }
  }
}

Graph &Graph::SetInputs(const std::vector<Operator> &inputs) {
  held->file.reset();
  collect(*held, inputs);
  return *this;
}

/// Adds an output, whose operator is collected by the caller; `index` -1 means that it is not
/// there.
static void addOutput(GraphContent &graph, const Operator &op, int64_t index) {
  if (!op.node())
    return graph.errors.push_back("an output of the graph is no operator");
  if (index < 0 || index > INT32_MAX)
    return graph.errors.push_back("operator '" + op.node()->name +
                                  "' has no output of the name or number that SetOutputs gives");
  graph.outputs.push_back({op.node(), int32_t(index)});
}

/// Collects the operators of outputs at once: one by one takes the square of their number.
template <typename List> static void collectFirsts(GraphContent &graph, const List &outputs) {
  std::vector<Operator> operators;
  for (const auto &output : outputs)
    operators.push_back(output.first);
  collect(graph, operators);
}

Graph &Graph::SetOutputs(const std::vector<Operator> &outputs) {
  held->outputs.clear();
  collect(*held, outputs);
  for (const Operator &op : outputs) {
    // All outputs of an operator, of which most have one.
    const size_t count = op.node() ? std::max<size_t>(op.node()->outputs.size(), 1) : 1;
    for (size_t i = 0; i < count; ++i)
      addOutput(*held, op, int64_t(i));
  }
  return *this;
}

Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs) {
  held->outputs.clear();
  collectFirsts(*held, outputs);
  for (const auto &[op, numbers] : outputs) {
    if (numbers.empty())
      addOutput(*held, op, 0);
    for (size_t number : numbers)
      addOutput(*held, op, int64_t(std::min<size_t>(number, INT64_MAX)));
  }
  return *this;
}

Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, AscendString>> &outputs) {
  held->outputs.clear();
  collectFirsts(*held, outputs);
  for (const auto &[op, name] : outputs)
    addOutput(*held, op, name == "" ? 0 : op.node() ? op.node()->findOutput(name.GetString()) : -1);
  return *this;
}

Graph &Graph::SetTargets(const std::vector<Operator> &targets) {
  collect(*held, targets);
  return *this;
}

bool Graph::IsValid() const { return held && (held->file || !held->nodes.empty()); }
graphStatus Graph::GetName(AscendString &name) const {
  name = held->name.c_str();
  return GRAPH_SUCCESS;
}
graphStatus Graph::SetName(const char *name) {
  held->name = name ? name : "";
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddOp(const Operator &op) {
  if (!op.node())
    return GRAPH_FAILED;
  if (!contains(*held, op.node()))
    held->nodes.push_back(op.node());
  return GRAPH_SUCCESS;
}

graphStatus Graph::FindOpByName(const char *name, Operator &op) const {
  const GNodePtr node = FindNodeByName(AscendString(name));
  if (!node)
    return GRAPH_FAILED;
  op = Operator(node->node());
  return GRAPH_SUCCESS;
}

graphStatus Graph::GetAllOpName(std::vector<AscendString> &names) const {
  for (const NodePtr &node : held->nodes)
    names.push_back(node->name.c_str());
  return GRAPH_SUCCESS;
}

std::vector<GNode> Graph::GetAllNodes() const {
  std::vector<GNode> nodes;
  for (const NodePtr &node : held->nodes)
    nodes.emplace_back(node);
  return nodes;
}
std::vector<GNode> Graph::GetDirectNode() const { return GetAllNodes(); }

GNodePtr Graph::FindNodeByName(const AscendString &name) const {
  for (const NodePtr &node : held->nodes)
    if (name == node->name.c_str())
      return std::make_shared<GNode>(node);
  return nullptr;
}

//===--- Changes ----------------------------------------------------------===//

GNode Graph::AddNodeByOp(const Operator &op) {
  return AddOp(op) == GRAPH_SUCCESS ? GNode(op.node()) : GNode();
}

graphStatus Graph::RemoveNode(GNode &node) {
  auto found = std::find(held->nodes.begin(), held->nodes.end(), node.node());
  if (found == held->nodes.end())
    return GRAPH_FAILED;
  for (const NodePtr &reader : held->nodes) {
    for (detail::Input &input : reader->inputs)
      if (input.source == node.node())
        input.source = nullptr;
    auto &before = reader->before;
    before.erase(std::remove(before.begin(), before.end(), node.node()), before.end());
  }
  held->nodes.erase(found);
  return GRAPH_SUCCESS;
}

graphStatus Graph::RemoveEdge(GNode &from, int32_t fromPort, GNode &to, int32_t toPort) {
  if (!from.node() || !to.node())
    return GRAPH_FAILED;
  if (fromPort < 0 && toPort < 0) {
    auto &before = to.node()->before;
    auto found = std::find(before.begin(), before.end(), from.node());
    if (found == before.end())
      return GRAPH_FAILED;
    before.erase(found);
    return GRAPH_SUCCESS;
  }
  if (toPort < 0 || size_t(toPort) >= to.node()->inputs.size())
    return GRAPH_FAILED;
  detail::Input &input = to.node()->inputs[toPort];
  if (input.source != from.node() || Node::outputOf(input) != fromPort)
    return GRAPH_FAILED;
  input.source = nullptr;
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddDataEdge(GNode &from, int32_t fromPort, GNode &to, int32_t toPort) {
  if (!from.node() || !to.node() || fromPort < 0 || toPort < 0 ||
      size_t(toPort) >= to.node()->inputs.size() ||
      size_t(fromPort) >= std::max<size_t>(from.node()->outputs.size(), 1))
    return GRAPH_FAILED;
  detail::Input &input = to.node()->inputs[toPort];
  if (input.source)
    return GRAPH_FAILED;
  input.source = from.node();
  input.outputName.clear();
  input.output = fromPort;
  from.node()->readers.push_back(to.node());
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddControlEdge(GNode &from, GNode &to) {
  if (!from.node() || !to.node())
    return GRAPH_FAILED;
  to.node()->before.push_back(from.node());
  return GRAPH_SUCCESS;
}

//===--- Files ------------------------------------------------------------===//

graphStatus Graph::SaveToFile(const char *path) const {
  if (!path)
    return GRAPH_PARAM_INVALID;
  if (held->file)
    return detail::fail(GRAPH_FAILED, __func__, "a graph of a model file has a file already");
  std::string error;
  const std::string bytes = detail::writeAir(*held, error);
  if (bytes.empty())
    return detail::fail(GRAPH_FAILED, __func__, error);
  return atc::writeWholeFile(path, bytes, error) ? GRAPH_SUCCESS
                                                 : detail::fail(GRAPH_FAILED, __func__, error);
}

graphStatus Graph::LoadFromFile(const char *path) {
  if (!path || !std::ifstream(path))
    return detail::fail(GRAPH_FAILED, __func__,
                        std::string(path ? path : "a null path") + " cannot be read");
  held->nodes.clear();
  held->outputs.clear();
  held->file = detail::GraphFile{1, path, "", ""};
  return GRAPH_SUCCESS;
}

//===--- Nodes ------------------------------------------------------------===//

graphStatus GNode::GetName(AscendString &name) const {
  return held ? Operator(held).GetName(name) : GRAPH_FAILED;
}
graphStatus GNode::GetType(AscendString &type) const {
  return held ? Operator(held).GetOpType(type) : GRAPH_FAILED;
}
size_t GNode::GetInputsSize() const { return held ? held->inputs.size() : 0; }
size_t GNode::GetOutputsSize() const { return held ? held->outputs.size() : 0; }

std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(int32_t index) const {
  if (!held || index < 0 || size_t(index) >= held->inputs.size() || !held->inputs[index].source)
    return {nullptr, -1};
  const detail::Input &input = held->inputs[index];
  return {std::make_shared<GNode>(input.source), Node::outputOf(input)};
}

graphStatus GNode::GetInputDesc(int32_t index, TensorDesc &desc) const {
  if (!held || index < 0 || size_t(index) >= held->inputs.size())
    return GRAPH_FAILED;
  desc = Operator(held).GetInputDesc(uint32_t(index));
  return GRAPH_SUCCESS;
}
graphStatus GNode::UpdateInputDesc(int32_t index, const TensorDesc &desc) {
  return held && index >= 0 ? Operator(held).UpdateInputDesc(uint32_t(index), desc) : GRAPH_FAILED;
}
graphStatus GNode::GetOutputDesc(int32_t index, TensorDesc &desc) const {
  if (!held || index < 0 || size_t(index) >= held->outputs.size())
    return GRAPH_FAILED;
  desc = Operator(held).GetOutputDesc(uint32_t(index));
  return GRAPH_SUCCESS;
}
graphStatus GNode::UpdateOutputDesc(int32_t index, const TensorDesc &desc) {
  return held && index >= 0 ? Operator(held).UpdateOutputDesc(uint32_t(index), desc) : GRAPH_FAILED;
}

graphStatus GNode::GetInputConstData(int32_t index, Tensor &data) const {
  const GNodePtr source = GetInDataNodesAndPortIndexs(index).first;
  if (!source || (source->node()->type != "Const" && source->node()->type != "Constant"))
    return GRAPH_FAILED;
  return source->GetAttr("value", data);
}

} // namespace ge
