//===-- Operator.cpp - operators of graphs ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/operator_factory.h"

#include "ascend/graph/Node.h"

#include <iterator>
#include <mutex>

namespace ge {

using detail::Node;

int32_t Node::findOutput(const std::string &outputName) const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == outputName)
      return int32_t(i);
  return -1;
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> released;
  const auto release = [&](Node &node) {
    for (detail::Input &input : node.inputs)
      released.push_back(std::move(input.source));
    std::move(node.before.begin(), node.before.end(), std::back_inserter(released));
    node.before.clear();
  };
  for (release(*this); !released.empty();) {
    const std::shared_ptr<Node> node = std::move(released.back());
    released.pop_back();
    // Nobody else can get hold of a node with a single owner.
    if (node && node.use_count() == 1)
      release(*node);
  }
}

static std::string textOf(const char *text) { return text ? text : ""; }

Operator::Operator() = default;
Operator::Operator(const char *type) : Operator("", type) {}
Operator::Operator(const AscendString &name, const AscendString &type)
    : Operator(name.GetString(), type.GetString()) {}
Operator::Operator(const char *name, const char *type) : held(std::make_shared<Node>()) {
  held->name = textOf(name);
  held->type = textOf(type);
}
Operator::Operator(std::shared_ptr<Node> node) : held(std::move(node)) {}
Operator::~Operator() = default;
Operator::Operator(const Operator &) = default;
Operator &Operator::operator=(const Operator &) = default;

bool Operator::IsEmpty() const { return !held; }
graphStatus Operator::GetName(AscendString &name) const {
  name = held ? detail::ascendOf(held->name) : AscendString();
  return held ? GRAPH_SUCCESS : GRAPH_FAILED;
}
graphStatus Operator::GetOpType(AscendString &type) const {
  type = held ? detail::ascendOf(held->type) : AscendString();
  return held ? GRAPH_SUCCESS : GRAPH_FAILED;
}

//===--- Inputs and outputs -----------------------------------------------===//

/// Returns the entry of a name in a list of inputs or outputs; null where there is none.
template <typename List> static auto findNamed(List &list, const std::string &name) {
  for (auto &item : list)
    if (item.name == name)
      return &item;
  return static_cast<decltype(&list[0])>(nullptr);
}

/// Connects an input, which is made where no declaration has made it.
static void connect(const std::shared_ptr<Node> &node, const std::string &name,
                    const Operator &source, const std::string &outputName, int32_t output) {
  if (!node || !source.node())
    return;
  detail::Input *input = findNamed(node->inputs, name);
  if (!input)
    input = &node->inputs.emplace_back(detail::Input{name});
  input->source = source.node();
  input->outputName = outputName;
  input->output = output;
  source.node()->readers.push_back(node);
}

Operator &Operator::SetInput(const char *name, const Operator &source) {
  connect(held, textOf(name), source, "", 0);
  return *this;
}
Operator &Operator::SetInput(const char *name, const Operator &source, const char *output) {
  connect(held, textOf(name), source, textOf(output), 0);
  return *this;
}
Operator &Operator::SetInput(const char *name, const Operator &source, uint32_t output) {
  connect(held, textOf(name), source, "", int32_t(output));
  return *this;
}
Operator &Operator::SetInput(uint32_t index, const Operator &source, uint32_t output) {
  if (!held)
    return *this;
  const bool isDeclared = index < held->inputs.size();
  connect(held, isDeclared ? held->inputs[index].name : "x" + std::to_string(index), source, "",
          int32_t(output));
  return *this;
}
Operator &Operator::AddControlInput(const Operator &source) {
  if (held && source.node())
    held->before.push_back(source.node());
  return *this;
}

size_t Operator::GetInputsSize() const { return held ? held->inputs.size() : 0; }
size_t Operator::GetOutputsSize() const { return held ? held->outputs.size() : 0; }

/// Returns the description of an input or output; that of what it reads where it states none.
static TensorDesc descOf(const detail::Input *input) {
  if (!input)
    return TensorDesc();
  if (input->desc)
    return *input->desc;
  if (!input->source)
    return TensorDesc();
  const int32_t output = Node::outputOf(*input);
  const auto &outputs = input->source->outputs;
  if (output < 0 || size_t(output) >= outputs.size())
    return TensorDesc();
  return outputs[output].desc.value_or(TensorDesc());
}

template <typename List> static auto itemAt(List &list, uint32_t index) {
  return index < list.size() ? &list[index] : nullptr;
}

TensorDesc Operator::GetInputDescByName(const char *name) const {
  return held ? descOf(findNamed(held->inputs, textOf(name))) : TensorDesc();
}
TensorDesc Operator::GetInputDesc(uint32_t index) const {
  return held ? descOf(itemAt(held->inputs, index)) : TensorDesc();
}
TensorDesc Operator::GetOutputDescByName(const char *name) const {
  const detail::Output *output = held ? findNamed(held->outputs, textOf(name)) : nullptr;
  return output ? output->desc.value_or(TensorDesc()) : TensorDesc();
}
TensorDesc Operator::GetOutputDesc(uint32_t index) const {
  const detail::Output *output = held ? itemAt(held->outputs, index) : nullptr;
  return output ? output->desc.value_or(TensorDesc()) : TensorDesc();
}
graphStatus Operator::TryGetInputDesc(const char *name, TensorDesc &desc) const {
  const detail::Input *input = held ? findNamed(held->inputs, textOf(name)) : nullptr;
  desc = descOf(input);
  return input && (input->desc || input->source) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

template <typename Item> static graphStatus update(Item *item, const TensorDesc &desc) {
  if (!item)
    return GRAPH_FAILED;
  item->desc = desc;
  return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateInputDesc(const char *name, const TensorDesc &desc) {
  return held ? update(findNamed(held->inputs, textOf(name)), desc) : GRAPH_FAILED;
}
graphStatus Operator::UpdateInputDesc(uint32_t index, const TensorDesc &desc) {
  return held ? update(itemAt(held->inputs, index), desc) : GRAPH_FAILED;
}
graphStatus Operator::UpdateOutputDesc(const char *name, const TensorDesc &desc) {
  return held ? update(findNamed(held->outputs, textOf(name)), desc) : GRAPH_FAILED;
}
graphStatus Operator::UpdateOutputDesc(uint32_t index, const TensorDesc &desc) {
  return held ? update(itemAt(held->outputs, index), desc) : GRAPH_FAILED;
}

void Operator::InputRegister(const char *name) { held->inputs.push_back({textOf(name)}); }
void Operator::OptionalInputRegister(const char *name) { InputRegister(name); }
void Operator::OutputRegister(const char *name) { held->outputs.push_back({textOf(name)}); }
void Operator::DynamicInputRegister(const char *name, uint32_t count, bool) {
  if (!held)
    return;
  size_t &end = held->dynamicEnds.try_emplace(textOf(name), held->inputs.size()).first->second;
  const size_t begin = end;
  for (uint32_t i = 0; i < count; ++i)
    held->inputs.insert(held->inputs.begin() + begin + i,
                        detail::Input{textOf(name) + std::to_string(i)});
  for (auto &[other, otherEnd] : held->dynamicEnds)
    if (otherEnd >= begin && (other == name || otherEnd > begin))
      otherEnd += count;
}
void Operator::DynamicOutputRegister(const char *name, uint32_t count, bool) {
  for (uint32_t i = 0; held && i < count; ++i)
    held->outputs.push_back({textOf(name) + std::to_string(i)});
}

//===--- Graphs that an operator calls ------------------------------------===//

void Operator::SubgraphRegister(const char *name, bool isDynamic) {
  if (held && !isDynamic)
    held->graphs.push_back({textOf(name)});
}
void Operator::SubgraphCountRegister(const char *name, uint32_t count) {
  for (uint32_t i = 0; held && i < count; ++i)
    held->graphs.push_back({textOf(name) + std::to_string(i)});
}

/// Returns the graph NAME, or that of a list; null where none is declared.
static detail::Subgraph *graphOf(Node *node, const std::string &name, uint32_t index) {
  if (!node)
    return nullptr;
  detail::Subgraph *whole = index == 0 ? findNamed(node->graphs, name) : nullptr;
  return whole ? whole : findNamed(node->graphs, name + std::to_string(index));
}

// The builder is called at once: what it refers to may be gone when the graph is compiled.
void Operator::SetSubgraphBuilder(const char *name, uint32_t index,
                                  const SubgraphBuilder &builder) {
  if (!held || !builder)
    return;
  if (detail::Subgraph *graph = graphOf(held.get(), textOf(name), index))
    graph->graph = builder().content();
  else if (held->error.empty())
    held->error = "it has no graph '" + textOf(name) + "' of number " + std::to_string(index) +
                  "; those of a list are created first";
}
Graph Operator::GetDynamicSubgraph(const char *name, uint32_t index) const {
  Graph result;
  const detail::Subgraph *graph = graphOf(held.get(), textOf(name), index);
  if (graph && graph->graph)
    *result.content() = *graph->graph;
  return result;
}
Graph Operator::GetSubgraph(const char *name) const { return GetDynamicSubgraph(name, 0); }
size_t Operator::GetSubgraphNamesCount() const { return held ? held->graphs.size() : 0; }

//===--- Attributes -------------------------------------------------------===//

Operator &Operator::SetAttr(const char *name, const AttrValue &value) {
  if (held)
    held->attributes[textOf(name)] = value;
  return *this;
}

#define GE_SET(type, held)                                                                         \
  Operator &Operator::SetAttr(const char *name, type value) {                                      \
    return SetAttr(name, AttrValue(held));                                                         \
  }
GE_SET(int64_t, value)
GE_SET(int32_t, int64_t(value))
GE_SET(uint32_t, int64_t(value))
GE_SET(float, value)
GE_SET(bool, value)
GE_SET(const char *, value)
GE_SET(const AscendString &, value)
GE_SET(const std::vector<AscendString> &, value)
GE_SET(const Tensor &, value)
GE_SET(const DataType &, value)
GE_SET(const std::vector<int64_t> &, value)
GE_SET(const std::vector<int32_t> &, std::vector<int64_t>(value.begin(), value.end()))
GE_SET(std::initializer_list<int64_t>, std::vector<int64_t>(value))
GE_SET(const std::vector<float> &, value)
GE_SET(const std::vector<bool> &, value)
GE_SET(const std::vector<DataType> &, value)
GE_SET(const std::vector<std::vector<int64_t>> &, value)
#undef GE_SET

AttrValue Operator::attribute(const char *name) const {
  if (!held)
    return AttrValue();
  auto found = held->attributes.find(textOf(name));
  return found == held->attributes.end() ? AttrValue() : found->second;
}

graphStatus Operator::GetAllAttrNamesAndTypes(std::map<AscendString, AscendString> &names) const {
  static constexpr const char *types[] = {"",
                                          "VT_INT",
                                          "VT_FLOAT",
                                          "VT_BOOL",
                                          "VT_STRING",
                                          "VT_DATA_TYPE",
                                          "VT_TENSOR",
                                          "VT_LIST_INT",
                                          "VT_LIST_FLOAT",
                                          "VT_LIST_BOOL",
                                          "VT_LIST_STRING",
                                          "VT_LIST_DATA_TYPE",
                                          "VT_LIST_LIST_INT"};
  if (!held)
    return GRAPH_FAILED;
  for (const auto &[name, value] : held->attributes)
    names[name.c_str()] = types[value.kind()];
  return GRAPH_SUCCESS;
}

//===--- By type ----------------------------------------------------------===//

namespace {

struct Creators {
  std::mutex mutex;
  std::map<std::string, OpCreatorV2> byType;
};

Creators &creators() {
  static auto &only = *new Creators;
  return only;
}

} // namespace

OperatorCreatorRegister::OperatorCreatorRegister(const char *type, OpCreatorV2 creator) {
  std::lock_guard lock(creators().mutex);
  creators().byType[textOf(type)] = std::move(creator);
}

Operator OperatorFactory::CreateOperator(const char *name, const char *type) {
  OpCreatorV2 creator;
  {
    std::lock_guard lock(creators().mutex);
    auto found = creators().byType.find(textOf(type));
    if (found == creators().byType.end())
      return Operator();
    creator = found->second;
  }
  return creator(AscendString(name));
}

graphStatus OperatorFactory::GetOpsTypeList(std::vector<AscendString> &types) {
  std::lock_guard lock(creators().mutex);
  for (const auto &[type, creator] : creators().byType)
    types.push_back(type.c_str());
  return GRAPH_SUCCESS;
}

bool OperatorFactory::IsExistOp(const char *type) {
  std::lock_guard lock(creators().mutex);
  return creators().byType.count(textOf(type)) != 0;
}

} // namespace ge
