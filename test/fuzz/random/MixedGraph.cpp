//===-- MixedGraph.cpp - random models of all element types ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/MixedGraph.h"

#include <algorithm>
#include <cmath>

namespace atc::fuzz {

using onnx::TensorProto;

MixedMaker::MixedMaker(uint64_t seed, bool dynamicDims)
    : random(seed * 2 + 1), dynamicDims(dynamicDims), current(model.mutable_graph()) {
  static constexpr int opsets[] = {17, 18, 21};
  opset = oneOf(opsets);
  model.set_ir_version(opset > 18 ? 10 : 8);
  model.add_opset_import()->set_version(opset);
  graph().set_name("mixed");
}

RandomGraph MixedMaker::run() {
  RandomGraph made;
  const int64_t inputs = 1 + below(3);
  for (int64_t i = 0; i < inputs; ++i) {
    static constexpr int types[] = {TensorProto::FLOAT,  TensorProto::FLOAT, TensorProto::FLOAT,
                                    TensorProto::FLOAT,  TensorProto::INT64, TensorProto::INT32,
                                    TensorProto::UINT8,  TensorProto::INT8,  TensorProto::FLOAT16,
                                    TensorProto::DOUBLE, TensorProto::BOOL};
    Value input{"x" + std::to_string(i), oneOf(types), randomDims(), 4, 0.125};
    if (!isFloat(input.type))
      input.grain = 1;
    if (input.type == TensorProto::BOOL)
      input.largest = 1;
    addPort(*graph().add_input(), input, true);
    made.inputs.push_back(input.dims);
    made.inputTypes.push_back(input.type);
    values.push_back(input);
  }
  const int64_t nodes = 2 + below(16);
  for (int64_t i = 0; i < nodes; ++i)
    addNode();
  // What is read by no node is a result. A list of no tensors may have read the only one.
  auto isResult = [&](const Value &value) {
    return value.name[0] == 'v' && !read.count(value.name);
  };
  if (std::none_of(values.begin(), values.end(), isResult))
    addUnary(Value(values[0]));
  for (const Value &value : values)
    if (isResult(value))
      addPort(*graph().add_output(), value, false);
  model.SerializeToString(&made.bytes);
  return made;
}

//===-- Random choices and values -----------------------------------------===//

MixedMaker::Dims MixedMaker::randomDims() {
  const int64_t rank = chance(50) ? 4 : below(6);
  Dims dims;
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(chance(15) ? 1 : 1 + below(chance(20) ? 17 : 7));
  if (rank && chance(3))
    dims[size_t(below(rank))] = 0;
  return dims;
}

int64_t MixedMaker::count(const Dims &dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

bool MixedMaker::isFloat(int type) {
  return type == TensorProto::FLOAT || type == TensorProto::FLOAT16 || type == TensorProto::DOUBLE;
}

/// The significand of float16 has 11 bits.
bool MixedMaker::isExact(const Value &value) {
  return value.grain > 0 && (!isFloat(value.type) || value.largest / value.grain <= 2048);
}

double MixedMaker::limitOf(int type) {
  switch (type) {
  case TensorProto::BOOL:
    return 1;
  case TensorProto::INT8:
    return 127;
  case TensorProto::UINT8:
    return 255;
  default:
    return 2000;
  }
}

MixedMaker::Value MixedMaker::pick() {
  const size_t back = std::min<size_t>(size_t(below(chance(70) ? 3 : 12)), values.size() - 1);
  return values[values.size() - 1 - back];
}

MixedMaker::Value MixedMaker::other(const Value &x, int type, bool positive) {
  for (size_t i = values.size(); !positive && i-- > 0 && chance(85);)
    if (values[i].type == type && canBroadcast(values[i].dims, x.dims) &&
        count(broadcast(values[i].dims, x.dims)) < 20000)
      return values[i];
  Dims dims = x.dims;
  for (int64_t &dim : dims)
    if (chance(40))
      dim = 1;
  while (!dims.empty() && chance(25))
    dims.erase(dims.begin());
  if (dims.size() < 5 && chance(8))
    dims.insert(dims.begin(), dims.size() == x.dims.size() ? 1 + below(3) : 1);
  const bool small = type == TensorProto::BOOL;
  return constant(type, dims, small ? 1 : 2, isFloat(type) ? 0.25 : 1, positive);
}

//===-- Parts of the graph ------------------------------------------------===//

onnx::NodeProto &MixedMaker::node(const char *type, const Names &inputs) {
  onnx::NodeProto &made = *graph().add_node();
  made.set_op_type(type);
  made.set_name("node" + std::to_string(++names));
  for (const std::string &input : inputs) {
    read.insert(input);
    made.add_input(input);
  }
  return made;
}

const MixedMaker::Value &MixedMaker::result(onnx::NodeProto &made, int type, const Dims &dims,
                                            double largest, double grain) {
  Value value{newName(), type, dims, largest, grain};
  // What may have wrapped has any value of its type.
  if (!isFloat(type) && largest > limitOf(type))
    value.largest = 1e18;
  made.add_output(value.name);
  values.push_back(value);
  return values.back();
}

/// Returns the elements of a tensor of `type` as they stand in memory.
static std::string bytesOf(int type, const std::vector<double> &list) {
  std::string raw;
  auto put = [&](auto value) { raw.append(reinterpret_cast<const char *>(&value), sizeof(value)); };
  for (double value : list)
    switch (type) {
    case TensorProto::FLOAT:
      put(float(value));
      break;
    case TensorProto::DOUBLE:
      put(value);
      break;
    case TensorProto::FLOAT16:
      put(_Float16(value));
      break;
    case TensorProto::INT64:
      put(int64_t(value));
      break;
    case TensorProto::INT32:
      put(int32_t(value));
      break;
    default:
      put(int8_t(int64_t(value)));
    }
  return raw;
}

std::string MixedMaker::numbers(int type, const Dims &dims, const std::vector<double> &list) {
  TensorProto &tensor = *graph().add_initializer();
  tensor.set_name("c" + std::to_string(++names));
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(bytesOf(type, list));
  return tensor.name();
}

std::string MixedMaker::integers(const Dims &list) {
  TensorProto &tensor = *graph().add_initializer();
  tensor.set_name("c" + std::to_string(++names));
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(int64_t(list.size()));
  for (int64_t value : list)
    tensor.add_int64_data(value);
  return tensor.name();
}

MixedMaker::Value MixedMaker::constant(int type, const Dims &dims, double largest, double grain,
                                       bool positive) {
  const int64_t steps = int64_t(largest / grain);
  const bool isUnsigned = type == TensorProto::UINT8 || type == TensorProto::BOOL;
  std::vector<double> list(static_cast<size_t>(count(dims)));
  for (double &value : list)
    value = grain * double(positive     ? 1 + below(steps)
                           : isUnsigned ? below(steps + 1)
                                        : below(2 * steps + 1) - steps);
  return {numbers(type, dims, list), type, dims, largest, grain};
}

void MixedMaker::setInt(onnx::NodeProto &made, const char *name, int64_t value) {
  auto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void MixedMaker::setFloat(onnx::NodeProto &made, const char *name, float value) {
  auto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

void MixedMaker::setInts(onnx::NodeProto &made, const char *name, const Dims &list) {
  auto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : list)
    attribute.add_ints(value);
}

void MixedMaker::setText(onnx::NodeProto &made, const char *name, const char *text) {
  auto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(text);
}

void MixedMaker::addPort(onnx::ValueInfoProto &port, const Value &value, bool isInput) {
  port.set_name(value.name);
  auto &type = *port.mutable_type()->mutable_tensor_type();
  type.set_elem_type(value.type);
  if (!isInput && dynamicDims)
    return;
  auto &shape = *type.mutable_shape();
  for (size_t i = 0; i < value.dims.size(); ++i)
    if (dynamicDims)
      shape.add_dim()->set_dim_param(value.name + "_" + std::to_string(i));
    else
      shape.add_dim()->set_dim_value(value.dims[i]);
}

bool MixedMaker::canBroadcast(const Dims &a, const Dims &b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t left = a[a.size() - i], right = b[b.size() - i];
    if (left != right && left != 1 && right != 1)
      return false;
  }
  return true;
}

MixedMaker::Dims MixedMaker::broadcast(const Dims &a, const Dims &b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (size_t i = 1; i <= dims.size(); ++i) {
    const int64_t left = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t right = i <= b.size() ? b[b.size() - i] : 1;
    dims[dims.size() - i] = left == 1 ? right : left;
  }
  return dims;
}

std::vector<char> makeMixedValues(uint64_t seed, int type, int64_t count) {
  std::mt19937_64 random(seed * 2 + 1);
  const bool isUnsigned = type == TensorProto::UINT8, isBool = type == TensorProto::BOOL;
  const bool isInteger = !isUnsigned && !isBool && type != TensorProto::FLOAT &&
                         type != TensorProto::FLOAT16 && type != TensorProto::DOUBLE;
  std::vector<double> list(static_cast<size_t>(count));
  for (double &value : list)
    value = isBool       ? double(random() % 2)
            : isUnsigned ? double(random() % 5)
            : isInteger  ? double(int64_t(random() % 9) - 4)
                         : double(int64_t(random() % 65) - 32) / 8;
  const std::string bytes = bytesOf(type, list);
  return {bytes.begin(), bytes.end()};
}

RandomGraph makeMixedGraph(uint64_t seed, bool dynamicDims) {
  return MixedMaker(seed, dynamicDims).run();
}

} // namespace atc::fuzz
