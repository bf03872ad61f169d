//===-- OpContext.cpp - one operator while it becomes ONNX nodes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpContext.h"

#include <numeric>

using llvm::Twine;

namespace atc::tflite {

OpContext::OpContext(ModelState &model, GraphState &graph, const fb::Operator &op)
    : model(model), graph(graph), proto(op), firstNode(graph.graph.node_size()) {
  if (numOutputs())
    outputName = nameOf(model.reader.tensor(graph.subgraph, op.outputs()->Get(0))).str();
  else if (hasInput(0))
    outputName = nameOf(model.reader.tensor(graph.subgraph, op.inputs()->Get(0))).str();
}

void OpContext::fail(const Twine &text) {
  if (!hasFailed)
    model.diagnostics.error("E14001", "operator " + model.reader.opName(proto) + " of '" +
                                          outputName + "': " + text);
  hasFailed = true;
}

//===--- Inputs -----------------------------------------------------------===//

static const fb::Tensor &emptyTensor() {
  static const std::vector<uint8_t> bytes = [] {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb::CreateTensor(builder));
    return std::vector<uint8_t>(builder.GetBufferPointer(),
                                builder.GetBufferPointer() + builder.GetSize());
  }();
  return *flatbuffers::GetRoot<fb::Tensor>(bytes.data());
}

const fb::Tensor &OpContext::inputTensor(unsigned index) {
  if (hasInput(index))
    return model.reader.tensor(graph.subgraph, proto.inputs()->Get(index));
  fail("has no input " + Twine(index));
  return emptyTensor();
}

const fb::Tensor &OpContext::outputTensor(unsigned index) {
  if (index < numOutputs())
    return model.reader.tensor(graph.subgraph, proto.outputs()->Get(index));
  fail("has no output " + Twine(index));
  return emptyTensor();
}

Dims OpContext::knownDims(unsigned index, size_t first) {
  Dims result = dims(index);
  for (auto [axis, dim] : llvm::enumerate(result))
    if (dim < 0 && axis >= first) {
      fail("dim " + Twine(axis) + " of input " + Twine(index) +
           " must be known; convert the model with that dim");
      return Dims(result.size(), 1);
    }
  return result;
}

int64_t OpContext::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("axis " + Twine(axis) + " is out of range for " + Twine(rank) + " dims");
  return 0;
}

/// Returns int4 values, two per byte with the lower half first, as int8.
static std::string unpackInt4(llvm::StringRef bytes, size_t count) {
  std::string result(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i / 2]);
    const int half = i % 2 ? byte >> 4 : byte & 15;
    result[i] = static_cast<char>(half < 8 ? half : half - 16);
  }
  return result;
}

static int64_t countOf(llvm::ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
}

/// Returns the dims of a constant or of the initial value of a variable, which are all known.
static Dims storedDims(const fb::Tensor &tensor) {
  Dims dims;
  for (unsigned i = 0; tensor.shape() && i < tensor.shape()->size(); ++i)
    dims.push_back(tensor.shape()->Get(i));
  return dims;
}

Value OpContext::constantOf(const fb::Tensor &tensor) {
  const int type = onnxType(tensor.type());
  const Dims dims = storedDims(tensor);
  llvm::StringRef bytes = model.reader.data(tensor);
  std::string own;
  const size_t size = elementSize(tensor.type());
  if (bytes.empty())
    own.assign(countOf(dims) * size, 0);
  // A variable begins with the real value 0.
  if (bytes.empty() && isQuantized(tensor) && tensor.quantization()->zero_point() &&
      tensor.quantization()->zero_point()->size() == 1) {
    const int64_t zero = tensor.quantization()->zero_point()->Get(0);
    for (size_t at = 0; size && at < own.size(); at += size)
      memcpy(&own[at], &zero, size);
  }
  if (!bytes.empty() && tensor.type() == fb::TensorType::INT4)
    own = unpackInt4(bytes, countOf(dims));
  return constant(type, dims, own.empty() ? bytes : llvm::StringRef(own));
}

Value OpContext::raw(unsigned index) {
  const fb::Tensor &tensor = inputTensor(index);
  if (hasFailed)
    return {};
  const auto tensorIndex = static_cast<size_t>(proto.inputs()->Get(index));
  std::string &name = graph.names[tensorIndex];
  if (name.empty() && !onnxType(tensor.type()))
    fail("input " + Twine(index) + " '" + nameOf(tensor) + "' has the type " +
         typeName(tensor.type()) + ", which cannot be imported");
  else if (name.empty() && (!model.reader.data(tensor).empty() || tensor.is_variable() ||
                            countOf(storedDims(tensor)) == 0))
    name = constantOf(tensor).name;
  else if (name.empty())
    fail("input " + Twine(index) + " '" + nameOf(tensor) + "' is made by no operator before it");
  return {name, isQuantized(tensor)};
}

std::vector<Value> OpContext::scaleAndZero(const fb::Tensor &tensor) {
  const fb::QuantizationParameters &quantization = *tensor.quantization();
  const auto *scales = quantization.scale();
  const auto *zeros = quantization.zero_point();
  const unsigned count = scales->size();
  const Dims dims = count > 1 ? Dims{count} : Dims{};
  const size_t size = std::max<size_t>(1, elementSize(tensor.type()));
  std::string zeroBytes(count * size, 0);
  for (unsigned i = 0; zeros && zeros->size() && i < count; ++i) {
    const int64_t zero = zeros->Get(zeros->size() > 1 ? i : 0);
    memcpy(&zeroBytes[i * size], &zero, size);
  }
  return {constant(onnx::TensorProto::FLOAT, dims,
                   {reinterpret_cast<const char *>(scales->data()), count * sizeof(float)}),
          constant(onnxType(tensor.type()), dims, zeroBytes)};
}

Value OpContext::dequantize(Value value, const fb::Tensor &tensor, int64_t axis) {
  std::vector<Value> inputs = scaleAndZero(tensor);
  inputs.insert(inputs.begin(), {value.name});
  return node("DequantizeLinear", inputs, {{"axis", axis}});
}

Value OpContext::quantize(Value value, const fb::Tensor &tensor) {
  std::vector<Value> inputs = scaleAndZero(tensor);
  inputs.insert(inputs.begin(), value);
  Value result = node("QuantizeLinear", inputs,
                      {{"axis", int64_t(tensor.quantization()->quantized_dimension())}});
  result.isStored = true;
  return result;
}

Value OpContext::stored(Value value, const fb::Tensor &tensor) {
  return isQuantized(tensor) && !value.isStored ? quantize(value, tensor) : value;
}

Value OpContext::in(unsigned index) {
  Value value = raw(index);
  if (hasFailed || !value.isStored)
    return value;
  std::string &real = graph.dequantized[value.name];
  if (real.empty()) {
    madeReal.push_back(value.name);
    const fb::Tensor &tensor = inputTensor(index);
    real = dequantize(value, tensor, tensor.quantization()->quantized_dimension()).name;
  }
  return {real};
}

/// Reports whether integers of both tensors stand for the same real values.
static bool haveSameScale(const fb::Tensor &a, const fb::Tensor &b) {
  if (a.type() != b.type() || !isQuantized(a) || !isQuantized(b))
    return false;
  auto zero = [](const fb::Tensor &tensor) -> int64_t {
    const auto *zeros = tensor.quantization()->zero_point();
    return zeros && zeros->size() ? zeros->Get(0) : 0;
  };
  const auto *first = a.quantization()->scale(), *second = b.quantization()->scale();
  return first->size() == 1 && second->size() == 1 && first->Get(0) == second->Get(0) &&
         zero(a) == zero(b);
}

Value OpContext::moved(unsigned index) {
  const fb::Tensor &tensor = inputTensor(index);
  return haveSameScale(tensor, outputTensor(0)) ? raw(index) : in(index);
}

/// Returns the elements of a tensor in the order of its permuted dims.
static std::string permuteBytes(llvm::StringRef bytes, const Dims &dims, const Dims &permutation,
                                size_t size) {
  const size_t rank = dims.size();
  Dims strides(rank, 1), at(rank, 0);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  std::string result(bytes.size(), 0);
  for (size_t written = 0; written < bytes.size(); written += size) {
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i)
      offset += at[i] * strides[permutation[i]];
    memcpy(&result[written], bytes.data() + offset * size, size);
    for (size_t i = rank; i-- > 0;) {
      if (++at[i] < dims[permutation[i]])
        break;
      at[i] = 0;
    }
  }
  return result;
}

Value OpContext::elements(unsigned index, const Dims &permutation) {
  const fb::Tensor &tensor = inputTensor(index);
  if (hasFailed)
    return {};
  const llvm::StringRef bytes = model.reader.data(tensor);
  const Dims dims = storedDims(tensor);
  Dims permuted;
  for (int64_t axis : permutation)
    permuted.push_back(dims[axis]);
  const bool isInt4 = tensor.type() == fb::TensorType::INT4;
  const std::string wide = isInt4 ? unpackInt4(bytes, countOf(dims)) : std::string();
  return constant(onnxType(tensor.type()), permuted,
                  permuteBytes(isInt4 ? llvm::StringRef(wide) : bytes, dims, permutation,
                               isInt4 ? 1 : elementSize(tensor.type())));
}

Value OpContext::filter(unsigned index, const Dims &permutation) {
  const fb::Tensor &tensor = inputTensor(index);
  if (!hasFailed && rank(index) != static_cast<int64_t>(permutation.size()))
    fail("its filter has " + Twine(rank(index)) + " dims, expected " + Twine(permutation.size()));
  if (hasFailed)
    return {};
  if (model.reader.data(tensor).empty() || !onnxType(tensor.type()))
    return transpose(in(index), permutation);
  Value value = elements(index, permutation);
  if (tensor.type() == fb::TensorType::FLOAT16)
    return cast(value, onnx::TensorProto::FLOAT);
  if (!isQuantized(tensor))
    return value;
  const int64_t *axis = llvm::find(permutation, tensor.quantization()->quantized_dimension());
  return dequantize(value, tensor, axis == permutation.end() ? 0 : axis - permutation.begin());
}

Value OpContext::bias(unsigned index) {
  const fb::Tensor &tensor = inputTensor(index);
  const fb::QuantizationParameters *quantization = tensor.quantization();
  const bool hasScale = quantization && quantization->scale() && quantization->scale()->size();
  if (tensor.type() == fb::TensorType::INT64 && hasScale) {
    // The wide accumulators of int16 activations: their scale is that of the bias in float.
    Value scales = constant(onnx::TensorProto::FLOAT, {int64_t(quantization->scale()->size())},
                            {reinterpret_cast<const char *>(quantization->scale()->data()),
                             quantization->scale()->size() * sizeof(float)});
    return node("Mul", {cast(raw(index), onnx::TensorProto::FLOAT), scales});
  }
  if (tensor.type() != fb::TensorType::INT32 || !hasScale)
    return in(index);
  const unsigned count = quantization->scale()->size();
  if (count > 1 && dims(index) != Dims{int64_t(count)})
    fail("its bias has " + Twine(count) + " scales");
  return node("DequantizeLinear",
              {raw(index), constant(onnx::TensorProto::FLOAT, count > 1 ? Dims{count} : Dims{},
                                    {reinterpret_cast<const char *>(quantization->scale()->data()),
                                     count * sizeof(float)})},
              {{"axis", int64_t(0)}});
}

std::optional<Dims> OpContext::constantInts(unsigned index) {
  if (!hasInput(index))
    return std::nullopt;
  const fb::Tensor &tensor = inputTensor(index);
  const llvm::StringRef bytes = model.reader.data(tensor);
  const bool isWide = tensor.type() == fb::TensorType::INT64;
  if (!isWide && tensor.type() != fb::TensorType::INT32)
    return std::nullopt;
  if (bytes.empty())
    return countOf(storedDims(tensor)) == 0 ? std::optional(Dims()) : std::nullopt;
  Dims values;
  for (size_t i = 0; i < bytes.size(); i += isWide ? 8 : 4) {
    int32_t narrow = 0;
    int64_t wide = 0;
    memcpy(isWide ? static_cast<void *>(&wide) : &narrow, bytes.data() + i, isWide ? 8 : 4);
    values.push_back(isWide ? wide : narrow);
  }
  return values;
}

Dims OpContext::requireInts(unsigned index, const char *what) {
  if (std::optional<Dims> values = constantInts(index))
    return *values;
  fail(Twine("its ") + what + " must be constant");
  return {};
}

std::optional<float> OpContext::constantFloat(unsigned index) {
  if (!hasInput(index) || inputTensor(index).type() != fb::TensorType::FLOAT32)
    return std::nullopt;
  const llvm::StringRef bytes = model.reader.data(inputTensor(index));
  float value;
  if (bytes.size() != sizeof(value))
    return std::nullopt;
  memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

Value OpContext::indices(unsigned index) {
  const std::optional<Dims> known = constantInts(index);
  if (!known)
    return cast(raw(index), onnx::TensorProto::INT64);
  return constant(onnx::TensorProto::INT64, storedDims(inputTensor(index)), bytesOf(*known));
}

//===--- Nodes ------------------------------------------------------------===//

std::string OpContext::uniqueName(const char *what) {
  return model.uniqueName(outputName + "/" + what);
}

std::vector<Value> OpContext::nodes(const char *op, const std::vector<Value> &inputs,
                                    unsigned results, const OnnxAttributes &attributes) {
  return regionNode(
      op, inputs, results, {}, [](unsigned, onnx::GraphProto &) { return true; }, attributes);
}

std::vector<Value>
OpContext::regionNode(const char *op, const std::vector<Value> &inputs, unsigned results,
                      llvm::ArrayRef<const char *> graphs,
                      llvm::function_ref<bool(unsigned, onnx::GraphProto &)> fill,
                      const OnnxAttributes &attributes) {
  if (hasFailed)
    return std::vector<Value>(results);
  std::vector<std::string> names;
  for (const Value &input : inputs)
    names.push_back(input.name);
  onnx::NodeProto &made = addOnnxNode(graph.graph, op, uniqueName(op), names, attributes);
  for (auto [index, name] : llvm::enumerate(graphs)) {
    onnx::AttributeProto &attribute = *made.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.mutable_g()->set_name(uniqueName(name));
    hasFailed |= !fill(index, *attribute.mutable_g());
  }
  std::vector<Value> values;
  const bool isStored = llvm::any_of(inputs, [](const Value &value) { return value.isStored; });
  for (unsigned i = 0; i < results; ++i) {
    values.push_back({uniqueName("value"), isStored});
    made.add_output(values.back().name);
  }
  return values;
}

Value OpContext::node(const char *op, const std::vector<Value> &inputs,
                      const OnnxAttributes &attributes) {
  return nodes(op, inputs, 1, attributes).front();
}

Value OpContext::constant(int type, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes) {
  if (hasFailed)
    return {};
  const std::string name = uniqueName("constant");
  addOnnxConstant(model.main, name, type, dims, bytes);
  return {name};
}

Value OpContext::ints(llvm::ArrayRef<int64_t> values) {
  return constant(onnx::TensorProto::INT64, {int64_t(values.size())}, bytesOf(values));
}

Value OpContext::intScalar(int64_t value) {
  return constant(onnx::TensorProto::INT64, {}, bytesOf(llvm::ArrayRef(value)));
}

Value OpContext::scalar(float value) {
  return constant(onnx::TensorProto::FLOAT, {}, bytesOf(llvm::ArrayRef(value)));
}

Value OpContext::floats(llvm::ArrayRef<float> values) {
  return constant(onnx::TensorProto::FLOAT, {static_cast<int64_t>(values.size())}, bytesOf(values));
}

Value OpContext::slice(Value value, int64_t axis, int64_t begin, int64_t end) {
  return node("Slice", {value, ints({begin}), ints({end}), ints({axis})});
}

Value OpContext::scalarLike(unsigned index, double value) {
  const fb::Tensor &tensor = inputTensor(index);
  Value result = scalar(static_cast<float>(value));
  if (isQuantized(tensor) || tensor.type() == fb::TensorType::FLOAT32)
    return result;
  return cast(result, onnxType(tensor.type()));
}

Value OpContext::cast(Value value, int type) {
  return node("Cast", {value}, {{"to", int64_t(type)}});
}

Value OpContext::transpose(Value value, const Dims &permutation) {
  return node("Transpose", {value}, {{"perm", permutation}});
}

Value OpContext::reshape(Value value, const Dims &dims) {
  if (llvm::count(dims, -1) > 1)
    fail("more than one dim of its result is not known");
  return node("Reshape", {value, ints(dims)},
              {{"allowzero", int64_t(llvm::is_contained(dims, 0))}});
}

Value OpContext::unsqueeze(Value value, const Dims &axes) {
  return node("Unsqueeze", {value, ints(axes)});
}

Value OpContext::squeeze(Value value, const Dims &axes) {
  return node("Squeeze", {value, ints(axes)});
}

Value OpContext::channelsFirst(Value value, int64_t rank) {
  Dims permutation = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    permutation.push_back(i);
  return transpose(value, permutation);
}

Value OpContext::channelsLast(Value value, int64_t rank) {
  Dims permutation = {0};
  for (int64_t i = 2; i < rank; ++i)
    permutation.push_back(i);
  permutation.push_back(1);
  return transpose(value, permutation);
}

Value OpContext::activate(Value value, fb::Activation activation) {
  auto clip = [&](float low, float high) {
    return node("Clip", {value, scalar(low), scalar(high)});
  };
  switch (activation) {
  case fb::Activation::NONE:
    return value;
  case fb::Activation::RELU:
    return node("Relu", {value});
  case fb::Activation::RELU6:
    return clip(0, 6);
  case fb::Activation::RELU_N1_TO_1:
    return clip(-1, 1);
  case fb::Activation::TANH:
    return node("Tanh", {value});
  default:
    fail("the fused function " + Twine(static_cast<int>(activation)) + " is not supported");
    return value;
  }
}

//===--- Outputs ----------------------------------------------------------===//

bool OpContext::isOwn(const std::string &name) const {
  for (int i = firstNode; i < graph.graph.node_size(); ++i)
    if (llvm::is_contained(graph.graph.node(i).output(), name))
      return true;
  return false;
}

void OpContext::rename(const std::string &from, const std::string &to) {
  for (int i = firstNode; i < graph.graph.node_size(); ++i) {
    onnx::NodeProto &node = *graph.graph.mutable_node(i);
    for (std::string &input : *node.mutable_input())
      if (input == from)
        input = to;
    for (std::string &output : *node.mutable_output())
      if (output == from)
        output = to;
    // Names of nodes are what --out_nodes and messages refer to.
    if (node.output(0) == to)
      node.set_name(to);
  }
  // DEQUANTIZE sets the real values of its input, which later operators read as well.
  for (const std::string &integers : madeReal)
    if (std::string &real = graph.dequantized[integers]; real == from)
      real = to;
}

void OpContext::setOutput(Value value, unsigned index) {
  const fb::Tensor &tensor = outputTensor(index);
  if (hasFailed)
    return;
  value = stored(value, tensor);
  // A value that another operator made, or that is an output already, keeps its name.
  const bool isTaken = llvm::any_of(
      *proto.outputs(), [&](int32_t output) { return graph.names[output] == value.name; });
  if (isTaken || !isOwn(value.name))
    value = node("Identity", {value});
  const auto tensorIndex = static_cast<size_t>(proto.outputs()->Get(index));
  std::string name = nameOf(tensor).str();
  if (name.empty() || &graph.graph != &model.main || !model.claimName(name))
    name = model.uniqueName(name.empty() ? "tensor" : name);
  if (hasFailed)
    return;
  rename(value.name, name);
  graph.names[tensorIndex] = name;
}

} // namespace atc::tflite
