//===-- MutateGraphDef.cpp - changes graphs so that they stay graphs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Most changed bytes make a message that cannot be parsed, or an operator that
// nobody knows. This mutator changes the parts of a GraphDef.

#include <random>

#include "frontends/tf/OpTable.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "google/protobuf/stubs/logging.h"

using namespace atc::tf;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

class Mutator {
public:
  Mutator(pb::GraphDef &graph, unsigned seed) : graph(graph), random(seed) {}

  void mutateOnce() {
    pb::NodeDef &node = *graph.mutable_node(below(graph.node_size()));
    switch (below(7)) {
    case 0:
      return node.set_op(anyOperator());
    case 1:
      if (node.input_size() > 0)
        node.set_input(below(node.input_size()), anyTensor());
      return;
    case 2:
      return node.add_input(anyTensor());
    case 3: {
      pb::NodeDef &copy = *graph.add_node();
      copy = graph.node(below(graph.node_size() - 1));
      return copy.set_name("m" + std::to_string(random()));
    }
    case 4:
      (*node.mutable_attr())[anyAttribute()].set_i(anyNumber());
      return;
    default:
      for (auto &[name, value] : *node.mutable_attr())
        if (node.attr_size() == 1 || below(2) == 0)
          change(value);
    }
  }

private:
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }

  std::string anyOperator() {
    using namespace atc::tf_import;
    static const std::vector<std::string> ops = [] {
      std::vector<std::string> all;
      for (auto rows :
           {elementwiseRows(), convRows(), poolRows(), reduceRows(), shapeRows(), moveRows()})
        for (const OpRow &row : rows)
          all.push_back(row.op.str());
      return all;
    }();
    return ops[below(ops.size())];
  }

  std::string anyTensor() {
    const std::string &name = graph.node(below(graph.node_size())).name();
    return below(8) == 0 ? name + ":" + std::to_string(below(4)) : name;
  }

  std::string anyAttribute() {
    for (const pb::NodeDef &node : graph.node())
      for (const auto &[name, value] : node.attr())
        if (below(8) == 0)
          return name;
    return "axis";
  }

  int64_t anyNumber() {
    static constexpr int64_t special[] = {-1,        0,         16,       1 << 16,
                                          1 << 20,   1 << 24,   1u << 31, int64_t(1) << 40,
                                          INT32_MIN, INT64_MAX, INT64_MIN};
    return below(3) == 0 ? special[below(std::size(special))] : int64_t(below(9)) - 3;
  }

  void change(pb::TensorShapeProto &shape) {
    if (shape.dim_size() == 0 || below(4) == 0)
      shape.add_dim()->set_size(anyNumber());
    else
      shape.mutable_dim(below(shape.dim_size()))->set_size(anyNumber());
    if (below(16) == 0)
      shape.mutable_dim()->RemoveLast();
  }

  void change(pb::AttrValue &value) {
    switch (value.value_case()) {
    case pb::AttrValue::kI:
      return value.set_i(anyNumber());
    case pb::AttrValue::kB:
      return value.set_b(!value.b());
    case pb::AttrValue::kF:
      return value.set_f(static_cast<float>(anyNumber()));
    case pb::AttrValue::kType:
      return value.set_type(anyType());
    case pb::AttrValue::kShape:
      return change(*value.mutable_shape());
    case pb::AttrValue::kS: {
      static constexpr const char *texts[] = {"SAME", "VALID", "EXPLICIT", "NCHW",
                                              "NHWC", "NCDHW", "REFLECT",  "SYMMETRIC"};
      return value.set_s(texts[below(std::size(texts))]);
    }
    case pb::AttrValue::kList: {
      auto &ints = *value.mutable_list()->mutable_i();
      if (ints.empty() || below(8) == 0)
        return ints.Add(anyNumber());
      return ints.Set(below(ints.size()), anyNumber());
    }
    case pb::AttrValue::kTensor:
      return change(*value.mutable_tensor());
    default:
      return;
    }
  }

  pb::DataType anyType() { return static_cast<pb::DataType>(below(24)); }

  void change(pb::TensorProto &tensor) {
    switch (below(4)) {
    case 0:
      return tensor.set_dtype(anyType());
    case 1:
      return change(*tensor.mutable_tensor_shape());
    case 2: // one value more
      tensor.add_int_val(static_cast<int32_t>(anyNumber()));
      if (tensor.tensor_shape().dim_size() == 1)
        tensor.mutable_tensor_shape()->mutable_dim(0)->set_size(tensor.int_val_size());
      return;
    default:
      for (int i = 0; i < tensor.int_val_size(); ++i)
        if (below(2) == 0)
          tensor.set_int_val(i, static_cast<int32_t>(anyNumber()));
      for (int i = 0; i < tensor.float_val_size(); ++i)
        if (below(2) == 0)
          tensor.set_float_val(i, static_cast<float>(anyNumber()));
    }
  }

  pb::GraphDef &graph;
  std::minstd_rand random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  google::protobuf::LogSilencer silencer;
  pb::GraphDef graph;
  if (seed % 16 == 0 || !graph.ParseFromArray(data, static_cast<int>(size)) ||
      graph.node_size() == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator mutator(graph, seed);
  for (unsigned i = 0; i <= seed % 3; ++i)
    mutator.mutateOnce();
  if (graph.ByteSizeLong() > maxSize)
    return size;
  graph.SerializeToArray(data, static_cast<int>(maxSize));
  return graph.ByteSizeLong();
}
