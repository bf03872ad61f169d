//===-- SingleOpGraph.cpp - the ONNX graph of an operator -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "support/NearestName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace atc::single_op {

int onnxType(int type) {
  switch (type) {
  case 0:
    return onnx::TensorProto::FLOAT;
  case 1:
    return onnx::TensorProto::FLOAT16;
  case 2:
    return onnx::TensorProto::INT8;
  case 3:
    return onnx::TensorProto::INT32;
  case 4:
    return onnx::TensorProto::UINT8;
  case 6:
    return onnx::TensorProto::INT16;
  case 7:
    return onnx::TensorProto::UINT16;
  case 8:
    return onnx::TensorProto::UINT32;
  case 9:
    return onnx::TensorProto::INT64;
  case 10:
    return onnx::TensorProto::UINT64;
  case 11:
    return onnx::TensorProto::DOUBLE;
  case 12:
    return onnx::TensorProto::BOOL;
  default:
    return onnx::TensorProto::BFLOAT16;
  }
}

static void describe(onnx::ValueInfoProto &info, const std::string &name,
                     const SingleOpTensor &tensor) {
  info.set_name(name);
  auto &type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnxType(tensor.type));
  auto &shape = *type.mutable_shape();
  for (auto [i, dim] : enumerate(tensor.dims))
    if (auto &added = *shape.add_dim(); dim >= 0)
      added.set_dim_value(dim);
    else
      added.set_dim_param(name + "_" + std::to_string(i));
}

std::string SingleOpGraph::serialize() {
  onnx::ModelProto model;
  model.set_ir_version(9);
  model.add_opset_import()->set_version(opset);
  *model.mutable_graph() = std::move(graph);
  return model.SerializeAsString();
}

void SingleOpGraph::addTensors() {
  for (auto [i, tensor] : enumerate(op.inputs)) {
    x.push_back(tensor.isAbsent ? "" : "x" + std::to_string(i));
    if (tensor.isConstant)
      addConstant(x.back(), onnxType(tensor.type), tensor.dims, tensor.values);
    else if (!tensor.isAbsent)
      describe(*graph.add_input(), x.back(), tensor);
  }
  for (auto [i, tensor] : enumerate(op.outputs)) {
    y.push_back("y" + std::to_string(i));
    describe(*graph.add_output(), y.back(), tensor);
  }
}

void SingleOpGraph::addConstant(const std::string &name, int type, const Ints &dims,
                                const std::vector<double> &values) {
  const bool isDouble = type == onnx::TensorProto::DOUBLE;
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(isDouble ? name : name + "_f64");
  tensor.set_data_type(onnx::TensorProto::DOUBLE);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  for (double value : values)
    tensor.add_double_data(value);
  if (!isDouble)
    setInt(node("Cast", {name + "_f64"}, {name}), "to", type);
}

std::string SingleOpGraph::addInts(const Ints &values) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(fresh());
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(values.size());
  for (int64_t value : values)
    tensor.add_int64_data(value);
  return tensor.name();
}

bool SingleOpGraph::holds(double value) const {
  // By AscendCL's numbers of the types of integers, which have this many bits.
  static constexpr std::pair<int, int> bits[] = {{2, 7},  {3, 31}, {4, 8},  {6, 15},
                                                 {7, 16}, {8, 32}, {9, 63}, {10, 64}};
  for (auto [type, count] : bits)
    if (type == op.inputs[0].type) {
      const bool isSigned = count % 2;
      return value == std::trunc(value) && value < std::ldexp(1, count) &&
             value >= (isSigned ? -std::ldexp(1, count) : 0);
    }
  return true;
}

std::string SingleOpGraph::addScalar(double value) {
  if (!holds(value)) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    fail("its number " + text +
         " is none of the type of its input, in which it computes; convert the input (Cast) first");
  }
  const std::string name = fresh();
  addConstant(name, isWide ? int(onnx::TensorProto::FLOAT) : onnxType(op.inputs[0].type), {},
              {value});
  return name;
}

static bool isHalf(int type) {
  return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

void SingleOpGraph::widen() {
  if (!isHalf(onnxType(op.inputs[0].type)))
    return;
  isWide = true;
  for (auto [tensor, name] : llvm::zip(op.inputs, x))
    if (!tensor.isAbsent && isHalf(onnxType(tensor.type))) {
      const std::string wide = fresh();
      setInt(node("Cast", {name}, {wide}), "to", onnx::TensorProto::FLOAT);
      name = wide;
    }
}

void SingleOpGraph::write(size_t output, const std::string &result) {
  if (const int type = onnxType(op.outputs[output].type); isWide && isHalf(type))
    setInt(node("Cast", {result}, {y[output]}), "to", type);
  else
    node("Identity", {result}, {y[output]});
}

onnx::NodeProto &SingleOpGraph::node(StringRef type, const Names &inputs, const Names &outputs) {
  onnx::NodeProto &added = *graph.add_node();
  added.set_op_type(type.str());
  added.set_name(op.type + (graph.node_size() == 1 ? "" : "_" + std::to_string(numbers)));
  for (const std::string &input : inputs)
    added.add_input(input);
  for (const std::string &output : outputs)
    added.add_output(output);
  return added;
}

std::string SingleOpGraph::value(StringRef type, const Names &inputs) {
  const std::string name = fresh();
  node(type, inputs, {name});
  return name;
}

static onnx::AttributeProto &attribute(onnx::NodeProto &node, const char *name,
                                       onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto &added = *node.add_attribute();
  added.set_name(name);
  added.set_type(type);
  return added;
}

void SingleOpGraph::setInt(onnx::NodeProto &node, const char *name, int64_t value) {
  attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void SingleOpGraph::setFloat(onnx::NodeProto &node, const char *name, double value) {
  attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void SingleOpGraph::setInts(onnx::NodeProto &node, const char *name, const Ints &values) {
  auto &list = attribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    list.add_ints(value);
}

void SingleOpGraph::setText(onnx::NodeProto &node, const char *name, const std::string &value) {
  attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}

std::string SingleOpGraph::transpose(const std::string &input, const Ints &permutation) {
  const std::string name = fresh();
  setInts(node("Transpose", {input}, {name}), "perm", permutation);
  return name;
}

int64_t SingleOpGraph::axisOf(int64_t axis) {
  const int64_t rank = rankOf(0);
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("the axis " + Twine(axis) + " is none of the " + Twine(rank) + " dims of the input");
  return -1;
}

std::string SingleOpGraph::image() {
  return op.inputs[0].format == kNHWC ? transpose(x[0], {0, 3, 1, 2}) : x[0];
}

void SingleOpGraph::finishImage(const std::string &result) {
  finish(op.outputs[0].format == kNHWC ? transpose(result, {0, 2, 3, 1}) : result);
}

const nlohmann::ordered_json *SingleOpGraph::find(StringRef name) const {
  asked.insert(name.str());
  for (const SingleOpAttribute &attribute : op.attributes)
    if (attribute.name == name)
      return &attribute.value;
  return nullptr;
}

template <typename Predicate>
const nlohmann::ordered_json *SingleOpGraph::findKind(StringRef name, Predicate isKind) const {
  const auto *value = find(name);
  if (!value)
    return nullptr;
  const bool isRead = isKind(*value);
  (isRead ? read : refused).insert(name.str());
  return isRead ? value : nullptr;
}

/// Returns an attribute as text. Strings of AIR models may be any bytes.
static std::string shownValue(const nlohmann::ordered_json &value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false,
                    nlohmann::ordered_json::error_handler_t::replace);
}

void SingleOpGraph::checkAttributes() {
  // From here on attributes that are read do not count.
  const std::set<std::string> known = asked;
  std::vector<std::string> open(known.begin(), known.end());
  llvm::erase_if(open, [&](const std::string &name) { return find(name) != nullptr; });
  for (const SingleOpAttribute &attribute : op.attributes) {
    const std::string &name = attribute.name;
    // Some rows try one kind after another.
    if (refused.count(name) && !read.count(name))
      diagnostics.error("E14001", "the operator " + op.type + " of --singleop: its attribute \"" +
                                      name + "\" is " + shownValue(attribute.value) +
                                      ", which is of another kind than the operator reads");
    else if (!known.count(name) && !isWithoutEffect(op.type, name, attribute.value))
      diagnostics.error("E14001", "the operator " + op.type + " of --singleop does not read the " +
                                      "attribute \"" + name + "\", which is " +
                                      shownValue(attribute.value) +
                                      (open.empty() ? "; take it out" : didYouMean(name, open)));
  }
}

static bool holdsInteger(const nlohmann::ordered_json &value) { return value.is_number_integer(); }

int64_t SingleOpGraph::getInt(StringRef name, int64_t otherwise) const {
  const auto *value = findKind(name, holdsInteger);
  return value ? value->get<int64_t>() : otherwise;
}

double SingleOpGraph::getFloat(StringRef name, double otherwise) const {
  const auto *value = findKind(name, [](const auto &given) { return given.is_number(); });
  return value ? value->get<double>() : otherwise;
}

bool SingleOpGraph::getBool(StringRef name) const {
  const auto *value =
      findKind(name, [](const auto &given) { return given.is_boolean() || holdsInteger(given); });
  return value && (value->is_boolean() ? value->get<bool>() : value->get<int64_t>() != 0);
}

std::string SingleOpGraph::getText(StringRef name, const char *otherwise) const {
  const auto *value = findKind(name, [](const auto &given) { return given.is_string(); });
  return value ? value->get<std::string>() : otherwise;
}

Ints SingleOpGraph::getInts(StringRef name, const Ints &otherwise) const {
  // Lists of lists are for the rows that read them themselves.
  const auto *value = findKind(name, [](const auto &given) {
    return holdsInteger(given) || (given.is_array() && llvm::all_of(given, [](const auto &item) {
                                     return holdsInteger(item) || item.is_array();
                                   }));
  });
  if (!value)
    return otherwise;
  if (!value->is_array())
    return {value->get<int64_t>()};
  Ints list;
  for (const auto &item : *value)
    if (holdsInteger(item))
      list.push_back(item.get<int64_t>());
  return list;
}

Ints SingleOpGraph::getIntsOfInput(size_t index, StringRef attribute) const {
  if (index >= op.inputs.size() || !op.inputs[index].isConstant)
    return getInts(attribute, {});
  return constantInts(op.inputs[index].values);
}

bool SingleOpGraph::isVariable(size_t index, StringRef attribute) const {
  return index < op.inputs.size() && !op.inputs[index].isAbsent && !op.inputs[index].isConstant &&
         !find(attribute);
}

Ints SingleOpGraph::getConstantInts(size_t index, StringRef attribute) {
  if (isVariable(index, attribute))
    fail("\"" + attribute +
         "\" must be an attribute, or a constant input: \"is_const\": true and \"const_value\"");
  return getIntsOfInput(index, attribute);
}

void SingleOpGraph::fail(const Twine &what) {
  diagnostics.error("E10030", "the operator " + op.type + " of --singleop: " + what);
}

bool SingleOpGraph::needs(size_t count) {
  const auto inputs = ArrayRef(op.inputs).take_front(count);
  const auto *absent =
      llvm::find_if(inputs, [](const SingleOpTensor &tensor) { return tensor.isAbsent; });
  if (absent == inputs.end() && inputs.size() == count)
    return true;
  std::string what =
      "has " + std::to_string(op.inputs.size()) + " inputs, but reads " + std::to_string(count);
  if (absent != inputs.end())
    what = "cannot do without input_desc[" + std::to_string(absent - inputs.begin()) +
           "], which is stated as absent";
  diagnostics.error("E10027", "the operator " + op.type + " of --singleop " + what);
  return false;
}

bool buildOfRows(SingleOpGraph &graph) {
  for (ArrayRef<OperatorRow> rows :
       {attentionRows(), composedRows(), elementwiseRows(), gradientRows(), layerRows(),
        movementRows(), neuralRows(), quantizedRows()})
    for (const OperatorRow &row : rows)
      if (row.type == graph.op.type) {
        if (graph.needs(row.inputs))
          row.build(graph);
        return true;
      }
  return false;
}

std::vector<std::string> namesOfRows() {
  std::vector<std::string> names;
  for (ArrayRef<OperatorRow> rows :
       {attentionRows(), composedRows(), elementwiseRows(), gradientRows(), layerRows(),
        movementRows(), neuralRows(), quantizedRows()})
    for (const OperatorRow &row : rows)
      names.push_back(row.type.str());
  return names;
}

} // namespace atc::single_op

int atc::singleOpType(const SingleOpTensor &tensor) { return single_op::onnxType(tensor.type); }
