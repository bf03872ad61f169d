//===-- AirGraph.cpp - makes an ONNX graph of an .air graph ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirGraph.h"

#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::air {

/// The largest constant that operators read as axes, shapes and permutations.
constexpr int64_t maxSettings = 1024;

static bool isData(StringRef type) {
  return llvm::is_contained({"Data", "RefData", "AnnData", "AippData", "Placeholder"}, type);
}

static bool isConstant(StringRef type) {
  return llvm::is_contained({"Const", "Constant", "Variable"}, type);
}

/// Returns AscendCL's number of an element type; nullopt where it has none.
static std::optional<int> typeOf(Type type) {
  if (type.isF32())
    return 0;
  if (type.isF16())
    return 1;
  if (type.isBF16())
    return 27;
  if (type.isF64())
    return 11;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 12;
  case 8:
    return isUnsigned ? 4 : 2;
  case 16:
    return isUnsigned ? 7 : 6;
  case 32:
    return isUnsigned ? 8 : 3;
  case 64:
    return isUnsigned ? 10 : 9;
  default:
    return std::nullopt;
  }
}

/// Splits "conv1:0" into the operator and the output's number; -1 for an order of execution.
static std::pair<StringRef, int64_t> splitInput(StringRef input) {
  auto [name, number] = input.rsplit(':');
  int64_t index = 0;
  if (number.empty() || number.getAsInteger(10, index))
    return {input, 0};
  return {name, index};
}

static std::string keyOf(StringRef op, int64_t output) { return (op + ":" + Twine(output)).str(); }

/// Returns the names of the tensors that an operator reads; "" for those that are not given.
static std::vector<std::string> dataInputs(const pb::Op &op) {
  std::vector<std::string> names;
  for (const std::string &input : op.input()) {
    if (input.empty()) {
      names.push_back("");
      continue;
    }
    if (auto [name, index] = splitInput(input); index >= 0)
      names.push_back(keyOf(name, index));
  }
  return names;
}

void AirGraph::fail(ErrorCode code, const pb::Op &op, const Twine &what) {
  diagnostics.error(code, "operator '" + op.name() + "' (" + op.type() + "): " + what);
}

bool AirGraph::run() {
  const unsigned before = diagnostics.numErrors();
  model.set_ir_version(9);
  model.add_opset_import()->set_version(single_op::opset);
  model.mutable_graph()->set_name(graph.name());
  for (auto [i, op] : llvm::enumerate(graph.op()))
    if (!positions.try_emplace(op.name(), i).second)
      fail("E13009", op, "another operator has this name");
  if (diagnostics.numErrors() != before || !sortOps())
    return false;
  findOutputs();
  importInputs();
  for (size_t index : order)
    if (isNeeded[index])
      importOp(*graph.mutable_op(index));
  if (!unsupported.empty())
    diagnostics.error("E13010", "there is no importer for these operators: " + unsupported.str());
  if (diagnostics.numErrors() == before)
    addOutputs();
  return diagnostics.numErrors() == before;
}

bool AirGraph::sortOps() {
  // Without recursion: a file may have a chain of any length.
  enum State : char { New, Open, Done };
  std::vector<State> states(graph.op_size(), New);
  std::vector<std::pair<size_t, int>> stack;
  for (int root = 0; root < graph.op_size(); ++root) {
    if (states[root] == New)
      stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const pb::Op &op = graph.op(index);
      states[index] = Open;
      if (next == op.input_size()) {
        states[index] = Done;
        order.push_back(index);
        stack.pop_back();
        continue;
      }
      auto found = positions.find(splitInput(op.input(next++)).first);
      if (found == positions.end() || states[found->second] == Done)
        continue;
      if (states[found->second] == Open) {
        fail("E16004", op, "it reads, through others, what it computes itself");
        return false;
      }
      stack.push_back({found->second, 0});
    }
  }
  return true;
}

void AirGraph::findOutputs() {
  outputs = options.outputs;
  for (std::string &output : outputs) {
    auto [name, index] = splitInput(output);
    output = keyOf(name, index);
  }
  if (outputs.empty())
    for (const pb::Op &op : graph.op())
      if (op.type() == "NetOutput")
        llvm::append_range(outputs, dataInputs(op));
  if (outputs.empty())
    for (const std::string &output : graph.output()) {
      auto [name, index] = splitInput(output);
      // A file may list its NetOutput here, which is there no more.
      if (auto found = positions.find(name);
          found != positions.end() && graph.op(found->second).type() != "NetOutput")
        outputs.push_back(keyOf(name, std::max<int64_t>(index, 0)));
    }
  if (outputs.empty()) {
    llvm::StringMap<bool> isRead;
    for (const pb::Op &op : graph.op())
      for (const std::string &input : dataInputs(op))
        isRead[splitInput(input).first] = true;
    for (const pb::Op &op : graph.op())
      if (!isData(op.type()) && !isConstant(op.type()) && !isRead.contains(op.name()))
        outputs.push_back(keyOf(op.name(), 0));
  }
  isNeeded.assign(graph.op_size(), false);
  SmallVector<size_t> work;
  auto visit = [&](StringRef tensor) {
    auto found = positions.find(splitInput(tensor).first);
    if (found == positions.end() || isNeeded[found->second])
      return;
    isNeeded[found->second] = true;
    work.push_back(found->second);
  };
  for (const std::string &output : outputs)
    visit(output);
  while (!work.empty())
    for (const std::string &input : dataInputs(graph.op(work.pop_back_val())))
      visit(input);
}

void AirGraph::importInputs() {
  // Inputs stay inputs, whoever reads them, in the order of their numbers, and then of the file.
  std::vector<std::pair<int64_t, int>> inputs;
  for (auto [i, op] : llvm::enumerate(graph.op())) {
    if (!isData(op.type()))
      continue;
    auto found = op.attr().find("index");
    inputs.push_back({found == op.attr().end() ? 0 : found->second.i(), int(i)});
  }
  llvm::sort(inputs);
  for (auto [number, index] : inputs)
    importData(graph.op(index));
}

void AirGraph::importOp(pb::Op &op) {
  if (isData(op.type()))
    return;
  if (isConstant(op.type()))
    return importConstant(op);
  if (op.type() != "NetOutput")
    importOther(op);
}

void AirGraph::importData(const pb::Op &op) {
  if (!op.output_desc_size())
    return fail("E14001", op, "it describes no tensor");
  const pb::TensorDesc &desc = op.output_desc(0);
  const std::optional<int> type = typeOf(desc.dtype());
  if (!type)
    return fail("E14001", op,
                "the element type " + Twine(desc.dtype()) + " of its tensor is not supported");
  Value value = {op.name(), {*type, formatOf(desc.layout()), {}}};
  value.tensor.dims.assign(desc.shape().dim().begin(), desc.shape().dim().end());
  for (const auto &[name, shape] : options.inputShapes)
    if (name == op.name())
      value.tensor.dims.assign(shape.begin(), shape.end());
  for (int64_t &dim : value.tensor.dims) {
    if (dim == -2)
      return fail("E10002", op, "its rank is not known: give its shape with --input_shape");
    dim = dim > 0 ? dim : -1;
  }
  onnx::ValueInfoProto &info = *model.mutable_graph()->add_input();
  info.set_name(op.name());
  onnx::TypeProto::Tensor &stated = *info.mutable_type()->mutable_tensor_type();
  stated.set_elem_type(singleOpType(value.tensor));
  stated.mutable_shape();
  for (int64_t dim : value.tensor.dims)
    if (auto &added = *stated.mutable_shape()->add_dim(); dim > 0)
      added.set_dim_value(dim);
  values[keyOf(op.name(), 0)] = std::move(value);
}

void AirGraph::importConstant(pb::Op &op) {
  auto found = op.mutable_attr()->find("value");
  if (found == op.attr().end() || !found->second.has_t())
    return fail("E14001", op, "its value is missing: a graph of an inference has constants only");
  pb::Tensor &tensor = *found->second.mutable_t();
  const std::optional<int> type = typeOf(tensor.desc().dtype());
  if (!type)
    return fail("E14001", op,
                "the element type " + Twine(tensor.desc().dtype()) + " is not supported");
  Value value = {op.name() + ":0", {*type, formatOf(tensor.desc().layout()), {}}, &tensor};
  // What the operator states of its output counts, as a program may have changed only that.
  if (op.output_desc_size() && tensor.desc().layout().empty())
    value.tensor.format = formatOf(op.output_desc(0).layout());
  int64_t elements = 1;
  for (int64_t dim : tensor.desc().shape().dim()) {
    if (dim < 0 || (dim && elements > (int64_t(1) << 40) / dim))
      return fail("E14001", op, "the dim " + Twine(dim) + " of a constant is not valid");
    elements *= dim;
    value.tensor.dims.push_back(dim);
  }
  const int64_t bytes = elements * elementBytes(*type);
  if (int64_t(tensor.data().size()) != bytes)
    return fail("E13002", op,
                "its value has " + Twine(tensor.data().size()) + " bytes, but its shape has " +
                    Twine(bytes));
  onnx::TensorProto &added = *model.mutable_graph()->add_initializer();
  added.set_name(value.name);
  added.set_data_type(singleOpType(value.tensor));
  for (int64_t dim : value.tensor.dims)
    added.add_dims(dim);
  // Settings are read here again.
  if (elements <= maxSettings)
    added.set_raw_data(tensor.data());
  else
    added.set_raw_data(std::move(*tensor.mutable_data()));
  values[keyOf(op.name(), 0)] = std::move(value);
}

bool AirGraph::readInputs(const pb::Op &op, SingleOp &single, std::vector<std::string> &names) {
  std::vector<std::string> read = dataInputs(op);
  while (!read.empty() && read.back().empty())
    read.pop_back();
  bool isComplete = true;
  for (auto [i, key] : llvm::enumerate(read)) {
    if (key.empty()) {
      single.inputs.push_back({});
      single.inputs.back().isAbsent = true;
      names.push_back("");
      continue;
    }
    auto found = values.find(key);
    if (found == values.end()) {
      isComplete = false;
      // An error of the operator that makes it has been reported.
      if (!positions.contains(splitInput(key).first))
        fail("E16001", op, "it reads '" + key + "', which no operator makes");
      continue;
    }
    SingleOpTensor tensor = found->second.tensor;
    // A reader may name the order of dims that its input does not state.
    if (const int format =
            int(i) < op.input_desc_size() ? formatOf(op.input_desc(i).layout()) : single_op::kND;
        format != single_op::kND && tensor.dims.size() == 4)
      tensor.format = format;
    names.push_back(found->second.name);
    // Axes, shapes and paddings are integers that the operator's nodes are made of.
    if (found->second.values && (tensor.type == 3 || tensor.type == 9))
      if (auto settings = valuesOf(*found->second.values, maxSettings)) {
        tensor.isConstant = true;
        tensor.values = std::move(*settings);
      }
    single.inputs.push_back(std::move(tensor));
  }
  return isComplete;
}

void AirGraph::readOutputs(const pb::Op &op, SingleOp &single) {
  auto attribute = [&](StringRef name) -> const nlohmann::ordered_json * {
    auto found =
        llvm::find_if(single.attributes, [&](const auto &item) { return item.name == name; });
    return found == single.attributes.end() ? nullptr : &found->value;
  };
  // Where nothing states the order of an image's dims, an attribute of many operators does, and
  // filters have that of TensorFlow beside images whose channels come last.
  if (const auto *layout = attribute("data_format");
      layout && layout->is_string() && !single.inputs.empty() &&
      single.inputs[0].dims.size() == 4 && single.inputs[0].format == single_op::kND)
    single.inputs[0].format = formatOf(layout->get<std::string>());
  if (single.inputs.size() > 1 && single.inputs[0].format == single_op::kNHWC &&
      single.inputs[1].dims.size() == 4 && single.inputs[1].format == single_op::kND)
    single.inputs[1].format = single_op::kHWCN;
  for (int i = 0; i < std::max(op.output_desc_size(), 1); ++i) {
    SingleOpTensor tensor;
    if (!single.inputs.empty())
      tensor.type = single.inputs[0].type, tensor.format = single.inputs[0].format;
    if (i < op.output_desc_size()) {
      const pb::TensorDesc &desc = op.output_desc(i);
      tensor.type = typeOf(desc.dtype()).value_or(tensor.type);
      tensor.dims.assign(desc.shape().dim().begin(), desc.shape().dim().end());
    }
    single.outputs.push_back(std::move(tensor));
  }
  if (op.type() == "Cast")
    if (const auto *type = attribute("dst_type"); type && type->is_number_integer())
      single.outputs[0].type = type->get<int>();
}

/// Returns whether an operator states the dims of its outputs, for the inputs that it has.
static bool statesOutputs(const pb::Op &op, const SingleOp &single) {
  if (!op.output_desc_size())
    return false;
  for (const pb::TensorDesc &desc : op.output_desc())
    if (!desc.has_shape() || !typeOf(desc.dtype()) ||
        llvm::any_of(desc.shape().dim(), [](int64_t dim) { return dim < 0; }))
      return false;
  for (auto [i, input] : llvm::enumerate(single.inputs))
    if (!input.isAbsent && (int(i) >= op.input_desc_size() || !op.input_desc(i).has_shape() ||
                            !llvm::equal(op.input_desc(i).shape().dim(), input.dims)))
      return false;
  return true;
}

void AirGraph::importOther(const pb::Op &op) {
  SingleOp single;
  single.type = op.type();
  single.name = op.name();
  single.attributes = attributesOf(op);
  std::vector<std::string> names;
  if (!readInputs(op, single, names))
    return;
  readOutputs(op, single);
  const bool isStated = statesOutputs(op, single);
  if (!isStated && !inferMovedShape(single)) {
    if (readsOutputShape(op.type()))
      return fail("E14001", op, "the dims of its result do not follow from constants");
    for (SingleOpTensor &output : single.outputs)
      output.dims.clear();
  }
  Diagnostics ofOp;
  std::optional<std::string> bytes = makeSingleOpModel(single, ofOp);
  if (!bytes) {
    for (const CodedMessage &error : ofOp.all())
      if (error.code == "E10055")
        unsupported.add(op.type(), op.name());
      else
        fail("E14001", op, error.text);
    return;
  }
  if (!isStated && !inferOutputs(*bytes, op, single))
    return;
  onnx::ModelProto part;
  if (!part.ParseFromString(*bytes))
    return fail("E14001", op, "it cannot be converted");
  append(*part.mutable_graph(), op, names);
  for (auto [i, output] : llvm::enumerate(single.outputs))
    values[keyOf(op.name(), i)] = {keyOf(op.name(), i), output};
}

bool AirGraph::inferOutputs(const std::string &bytes, const pb::Op &op, SingleOp &single) {
  onnx::ModelProto part;
  if (!part.ParseFromString(bytes))
    return false;
  // Outputs are described by nothing, so that nothing contradicts what is inferred.
  for (onnx::ValueInfoProto &output : *part.mutable_graph()->mutable_output())
    output.clear_type();
  Diagnostics ofOp;
  FailureOr<OwningOpRef<ModuleOp>> module =
      importOnnxModel(part, op.name(), OnnxImportOptions{}, context, ofOp);
  if (failed(module)) {
    for (const CodedMessage &error : ofOp.all())
      fail("E14001", op, error.text);
    return false;
  }
  for (func::FuncOp function : (*module)->getOps<func::FuncOp>()) {
    if (function.getSymName() != "main")
      continue;
    for (auto [type, output] : llvm::zip(function.getResultTypes(), single.outputs)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return fail("E14001", op, "the rank of its result is not known"), false;
      output.dims.clear();
      for (int64_t dim : tensor.getShape())
        output.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
      output.type = typeOf(tensor.getElementType()).value_or(output.type);
    }
  }
  return true;
}

void AirGraph::append(onnx::GraphProto &part, const pb::Op &op, ArrayRef<std::string> inputs) {
  llvm::StringMap<std::string> renamed;
  for (auto [i, input] : llvm::enumerate(inputs))
    renamed["x" + std::to_string(i)] = input;
  for (auto [i, output] : llvm::enumerate(part.output()))
    renamed[output.name()] = keyOf(op.name(), i);
  // A setting that the operator has read itself is a constant of its own.
  for (const onnx::NodeProto &node : part.node())
    for (const std::string &output : node.output())
      if (StringRef(output).starts_with("x"))
        renamed.erase(output);
  auto rename = [&](std::string &name) {
    if (name.empty())
      return;
    auto found = renamed.find(name);
    name = found == renamed.end() ? op.name() + "/" + name : found->second;
  };
  onnx::GraphProto &whole = *model.mutable_graph();
  for (onnx::TensorProto &constant : *part.mutable_initializer()) {
    rename(*constant.mutable_name());
    whole.add_initializer()->Swap(&constant);
  }
  int number = 0;
  for (onnx::NodeProto &node : *part.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      rename(input);
    for (std::string &output : *node.mutable_output())
      rename(output);
    // The node that makes the first output is the operator for who names it.
    const bool isLast = llvm::is_contained(node.output(), keyOf(op.name(), 0));
    node.set_name(isLast ? op.name() : op.name() + "/" + std::to_string(number++));
    whole.add_node()->Swap(&node);
  }
}

void AirGraph::addOutputs() {
  llvm::StringMap<bool> isListed;
  for (const std::string &output : outputs) {
    auto found = values.find(output);
    if (found == values.end()) {
      diagnostics.error("E10016", "'" + output + "' is no tensor of the graph");
      continue;
    }
    if (isListed.insert({found->second.name, true}).second)
      model.mutable_graph()->add_output()->set_name(found->second.name);
  }
  if (outputs.empty())
    diagnostics.error("E16004", "the graph has no output");
}

} // namespace atc::air
