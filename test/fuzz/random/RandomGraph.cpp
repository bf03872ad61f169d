//===-- RandomGraph.cpp - random ONNX models ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/random/RandomGraph.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace atc::fuzz {

namespace {

using Dims = std::vector<int64_t>;

struct Value {
  std::string name;
  Dims dims;
};

class Maker {
public:
  Maker(uint64_t seed, bool dynamicBatch) : random(seed * 2 + 1), dynamicBatch(dynamicBatch) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    graph().set_name("random");
  }

  RandomGraph run() {
    batch = 1 + below(4);
    RandomGraph made;
    const int64_t inputs = 1 + below(2);
    for (int64_t i = 0; i < inputs; ++i) {
      Value input{"x" + std::to_string(i), chance(60) ? image() : row()};
      addPort(*graph().add_input(), input, true);
      made.inputs.push_back(input.dims);
      values.push_back(input);
    }
    const int64_t nodes = 3 + below(22);
    for (int64_t i = 0; i < nodes; ++i)
      addNode();
    // What nothing reads is a result; the last value is always one.
    for (const Value &value : values)
      if (value.name[0] == 'v' && !read.count(value.name))
        addPort(*graph().add_output(), value, false);
    model.SerializeToString(&made.bytes);
    return made;
  }

private:
  onnx::GraphProto &graph() { return *model.mutable_graph(); }
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }

  Dims image() {
    static constexpr int64_t channels[] = {1, 2, 3, 4, 5, 8, 16, 17, 32};
    return {batch, channels[below(9)], 1 + below(14), 1 + below(14)};
  }
  Dims row() {
    Dims dims{batch, 1 + below(chance(20) ? 200 : 40)};
    if (chance(40))
      dims.insert(dims.begin() + 1, 1 + below(9));
    return dims;
  }

  void addPort(onnx::ValueInfoProto &port, const Value &value, bool isInput) {
    port.set_name(value.name);
    auto &type = *port.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (size_t i = 0; i < value.dims.size(); ++i) {
      auto &dim = *type.mutable_shape()->add_dim();
      if (i == 0 && dynamicBatch)
        dim.set_dim_param("n");
      else
        dim.set_dim_value(value.dims[i]);
    }
  }

  std::string constant(const Dims &dims, float scale, float offset = 0) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name("c" + std::to_string(graph().initializer_size()));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t dim : dims) {
      tensor.add_dims(dim);
      count *= dim;
    }
    for (int64_t i = 0; i < count; ++i)
      tensor.add_float_data(offset + scale * (float(below(2001)) / 1000 - 1));
    return tensor.name();
  }
  std::string integers(const std::vector<int64_t> &list) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name("c" + std::to_string(graph().initializer_size()));
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(int64_t(list.size()));
    for (int64_t value : list)
      tensor.add_int64_data(value);
    return tensor.name();
  }

  onnx::NodeProto &node(const char *type, std::vector<std::string> inputs) {
    onnx::NodeProto &made = *graph().add_node();
    made.set_op_type(type);
    made.set_name("node" + std::to_string(graph().node_size()));
    for (std::string &input : inputs) {
      read.insert(input);
      made.add_input(std::move(input));
    }
    return made;
  }
  void result(onnx::NodeProto &made, const Dims &dims) {
    values.push_back({"v" + std::to_string(graph().node_size()), dims});
    made.add_output(values.back().name);
  }
  static void set(onnx::NodeProto &made, const char *name, int64_t value) {
    auto &attribute = *made.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void set(onnx::NodeProto &made, const char *name, float value) {
    auto &attribute = *made.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  static void set(onnx::NodeProto &made, const char *name, const std::vector<int64_t> &list) {
    auto &attribute = *made.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : list)
      attribute.add_ints(value);
  }

  /// Recent values are read more often.
  Value pick() {
    const size_t back = std::min<size_t>(size_t(below(chance(70) ? 2 : 8)), values.size() - 1);
    return values[values.size() - 1 - back];
  }

  void addNode() {
    const Value x = pick();
    const bool isImage = x.dims.size() == 4;
    switch (below(isImage ? 14 : 10)) {
    case 0:
    case 1:
      return addUnary(x);
    case 2:
    case 3:
      return addBinary(x);
    case 4:
      return addProduct(x);
    case 5:
      return addReduction(x);
    case 6:
      return addReshape(x);
    case 7:
      return addMovement(x);
    case 8:
      return addConcat(x);
    case 9:
      return addNorm(x);
    case 10:
      return addPool(x);
    default:
      return addConv(x);
    }
  }

  void addUnary(const Value &x) {
    static const char *const types[] = {"Relu",      "Sigmoid",  "Tanh",      "Abs",         "Neg",
                                        "Erf",       "Softplus", "LeakyRelu", "HardSigmoid", "Elu",
                                        "HardSwish", "Softsign", "Identity",  "Clip"};
    const char *type = types[below(14)];
    if (std::string(type) == "Clip") {
      const std::string low = constant({}, 0.2f, -0.5f), high = constant({}, 0.2f, 0.6f);
      return result(node(type, {x.name, low, high}), x.dims);
    }
    result(node(type, {x.name}), x.dims);
  }

  void addBinary(const Value &x) {
    static const char *const types[] = {"Add", "Sub", "Mul", "Max", "Min"};
    const char *type = types[below(5)];
    // Another value of equal dims, or a constant that is broadcast.
    for (size_t i = values.size(); i-- > 0 && chance(80);)
      if (values[i].dims == x.dims && values[i].name != x.name)
        return result(node(type, {x.name, values[i].name}), x.dims);
    Dims dims = x.dims;
    dims[0] = 1;
    for (size_t i = 1; i < dims.size(); ++i)
      if (chance(40))
        dims[i] = 1;
    while (dims.size() > 1 && dims[0] == 1 && chance(50))
      dims.erase(dims.begin());
    const std::string other = constant(dims, 1);
    result(chance(50) ? node(type, {x.name, other}) : node(type, {other, x.name}), x.dims);
  }

  void addProduct(const Value &x) {
    const int64_t depth = x.dims.back(), columns = 1 + below(chance(10) ? 130 : 33);
    const float scale = 1.5f / std::sqrt(float(depth));
    Dims dims = x.dims;
    dims.back() = columns;
    if (x.dims.size() == 2 && chance(50)) {
      const bool transposed = chance(50);
      onnx::NodeProto &gemm =
          node("Gemm",
               {x.name, constant(transposed ? Dims{columns, depth} : Dims{depth, columns}, scale),
                constant({columns}, 0.5f)});
      set(gemm, "transB", int64_t(transposed));
      if (chance(20))
        set(gemm, "alpha", 0.5f);
      return result(gemm, dims);
    }
    result(node("MatMul", {x.name, constant({depth, columns}, scale)}), dims);
  }

  void addReduction(const Value &x) {
    static const char *const types[] = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"};
    const int64_t rank = int64_t(x.dims.size()), axis = 1 + below(rank - 1);
    onnx::NodeProto &made = node(types[below(4)], {x.name});
    const bool keep = rank == 2 || chance(60);
    set(made, "axes", std::vector<int64_t>{chance(50) ? axis : axis - rank});
    set(made, "keepdims", int64_t(keep));
    Dims dims = x.dims;
    if (keep)
      dims[size_t(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
    result(made, dims);
  }

  void addReshape(const Value &x) {
    int64_t inner = 1;
    for (size_t i = 1; i < x.dims.size(); ++i)
      inner *= x.dims[i];
    std::vector<int64_t> divisors;
    for (int64_t i = 1; i <= inner; ++i)
      if (inner % i == 0)
        divisors.push_back(i);
    const int64_t first = divisors[size_t(below(int64_t(divisors.size())))];
    Dims to = chance(40) ? Dims{0, -1} : chance(50) ? Dims{0, first, -1} : Dims{0, first, 1, -1};
    Dims dims{batch, inner};
    if (to.size() > 2)
      dims =
          to.size() == 3 ? Dims{batch, first, inner / first} : Dims{batch, first, 1, inner / first};
    result(node("Reshape", {x.name, integers(to)}), dims);
  }

  void addMovement(const Value &x) {
    const int64_t rank = int64_t(x.dims.size()), axis = 1 + below(rank - 1);
    const int64_t size = x.dims[size_t(axis)];
    Dims dims = x.dims;
    switch (below(4)) {
    case 0: {
      std::vector<int64_t> order;
      for (int64_t i = 1; i < rank; ++i)
        order.push_back(i);
      std::shuffle(order.begin(), order.end(), random);
      order.insert(order.begin(), 0);
      for (int64_t i = 1; i < rank; ++i)
        dims[size_t(i)] = x.dims[size_t(order[size_t(i)])];
      onnx::NodeProto &made = node("Transpose", {x.name});
      set(made, "perm", order);
      return result(made, dims);
    }
    case 1: {
      const int64_t step = 1 + below(3), start = below(size), end = start + 1 + below(size - start);
      dims[size_t(axis)] = (end - start + step - 1) / step;
      return result(node("Slice", {x.name, integers({start}), integers({end}), integers({axis}),
                                   integers({step})}),
                    dims);
    }
    case 2: {
      std::vector<int64_t> pads(size_t(2 * rank));
      pads[size_t(axis)] = below(3);
      pads[size_t(axis + rank)] = below(3);
      dims[size_t(axis)] += pads[size_t(axis)] + pads[size_t(axis + rank)];
      return result(node("Pad", {x.name, integers(pads), constant({}, 1)}), dims);
    }
    default: {
      std::vector<int64_t> indices;
      for (int64_t i = 1 + below(5); i > 0; --i)
        indices.push_back(below(2 * size) - size);
      dims[size_t(axis)] = int64_t(indices.size());
      onnx::NodeProto &made = node("Gather", {x.name, integers(indices)});
      set(made, "axis", axis);
      return result(made, dims);
    }
    }
  }

  void addConcat(const Value &x) {
    const int64_t axis = 1 + below(int64_t(x.dims.size()) - 1);
    std::vector<std::string> parts{x.name};
    Dims dims = x.dims;
    for (const Value &other : values) {
      bool fits = other.dims.size() == x.dims.size() && parts.size() < 4 && chance(60);
      for (size_t i = 0; fits && i < x.dims.size(); ++i)
        fits = int64_t(i) == axis || other.dims[i] == x.dims[i];
      if (!fits)
        continue;
      parts.push_back(other.name);
      dims[size_t(axis)] += other.dims[size_t(axis)];
    }
    onnx::NodeProto &made = node("Concat", parts);
    set(made, "axis", axis);
    result(made, dims);
  }

  void addNorm(const Value &x) {
    const int64_t last = x.dims.back();
    if (x.dims.size() >= 3 && chance(30)) {
      onnx::NodeProto &made =
          node("BatchNormalization",
               {x.name, constant({x.dims[1]}, 0.5f, 1), constant({x.dims[1]}, 0.5f),
                constant({x.dims[1]}, 0.5f), constant({x.dims[1]}, 0.4f, 1)});
      return result(made, x.dims);
    }
    if (last > 1 && chance(50)) {
      onnx::NodeProto &made =
          node("LayerNormalization", {x.name, constant({last}, 0.5f, 1), constant({last}, 0.5f)});
      set(made, "axis", int64_t(-1));
      set(made, "epsilon", 0.01f);
      return result(made, x.dims);
    }
    onnx::NodeProto &made = node("Softmax", {x.name});
    set(made, "axis", 1 + below(int64_t(x.dims.size()) - 1));
    result(made, x.dims);
  }

  void addPool(const Value &x) {
    const int64_t h = x.dims[2], w = x.dims[3];
    if (chance(25))
      return result(node(chance(50) ? "GlobalAveragePool" : "GlobalMaxPool", {x.name}),
                    {batch, x.dims[1], 1, 1});
    const bool max = chance(50);
    const int64_t kernel = 1 + below(std::min<int64_t>({h, w, 3})), stride = 1 + below(2);
    const int64_t pad = kernel > 1 ? below(2) : 0;
    onnx::NodeProto &made = node(max ? "MaxPool" : "AveragePool", {x.name});
    set(made, "kernel_shape", {kernel, kernel});
    set(made, "strides", {stride, stride});
    set(made, "pads", {pad, pad, pad, pad});
    if (!max && chance(50))
      set(made, "count_include_pad", int64_t(1));
    auto out = [&](int64_t size) { return (size + 2 * pad - kernel) / stride + 1; };
    result(made, {batch, x.dims[1], out(h), out(w)});
  }

  void addConv(const Value &x) {
    static constexpr int64_t sizes[] = {1, 1, 3, 3, 5};
    const int64_t channels = x.dims[1], h = x.dims[2], w = x.dims[3];
    int64_t kernel = sizes[below(5)];
    const int64_t pad = kernel / 2 + (kernel > 1 && chance(20) ? 1 : 0);
    const bool depthwise = chance(20);
    const int64_t groups = depthwise ? channels : 1, out = depthwise ? channels : 1 + below(20);
    const int64_t stride = 1 + below(2);
    const int64_t dilation = kernel == 3 && h > 4 && w > 4 && chance(15) ? 2 : 1;
    const int64_t reach = (kernel - 1) * dilation + 1;
    const float scale = 1.5f / std::sqrt(float(channels / groups * kernel * kernel));
    std::vector<std::string> inputs{x.name,
                                    constant({out, channels / groups, kernel, kernel}, scale)};
    if (chance(70))
      inputs.push_back(constant({out}, 0.5f));
    auto size = [&](int64_t from) { return (from + 2 * pad - reach) / stride + 1; };
    if (h + 2 * pad < reach || w + 2 * pad < reach)
      return addUnary(x);
    onnx::NodeProto &made = node("Conv", inputs);
    set(made, "kernel_shape", {kernel, kernel});
    set(made, "strides", {stride, stride});
    set(made, "pads", {pad, pad, pad, pad});
    set(made, "dilations", {dilation, dilation});
    set(made, "group", groups);
    result(made, {batch, out, size(h), size(w)});
  }

  std::mt19937_64 random;
  const bool dynamicBatch;
  onnx::ModelProto model;
  int64_t batch = 1;
  std::vector<Value> values;
  std::set<std::string> read;
};

} // namespace

RandomGraph makeRandomGraph(uint64_t seed, bool dynamicBatch) {
  return Maker(seed, dynamicBatch).run();
}

std::vector<float> makeRandomValues(uint64_t seed, int64_t count) {
  std::mt19937_64 random(seed * 2 + 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = float(int64_t(random() % 2001) - 1000) / 1000;
  return values;
}

} // namespace atc::fuzz
