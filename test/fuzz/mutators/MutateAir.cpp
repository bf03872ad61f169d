//===-- MutateAir.cpp - changes .air graphs so that they stay graphs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes the fields of a graph by the descriptions of its messages, and knows four things beside:
// operators have types that have an importer, inputs name operators that exist, attributes have
// names that operators read, and constants have the bytes that their shapes state.

#include "frontends/air/AirOps.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"
#include "google/protobuf/stubs/logging.h"
#include "test/fuzz/mutators/MessageMutator.h"
#include "llvm/ADT/STLExtras.h"

namespace pb = atc::air::pb;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// Operators that call graphs.
const std::vector<std::string> controlTypes = {"If", "While", "Case", "For", "PartitionedCall"};

std::vector<std::string> allTypes() {
  std::vector<std::string> types = atc::single_op::namesOfRows();
  types.insert(types.end(), {"Data", "Const", "Variable", "NetOutput", "Conv2D", "MatMulV2",
                             "ReduceMean", "Concat", "Transpose", "Reshape", "Flatten", "SqueezeV2",
                             "UnsqueezeV2", "ExpandDims", "TransData", "Cast"});
  types.insert(types.end(), controlTypes.begin(), controlTypes.end());
  return types;
}

class Mutator : public atc::fuzz::MessageMutator {
public:
  Mutator(pb::Model &model, size_t index, unsigned seed)
      : MessageMutator(seed), model(model), graph(*model.mutable_graph(int(index))) {}

  void mutateOnce() {
    pb::Op &op = anyOp();
    switch (below(9)) {
    case 0:
      return op.set_type(anyType());
    case 1:
      if (op.input_size() && below(3))
        return op.set_input(int(below(size_t(op.input_size()))), anyTensor());
      return op.add_input(anyTensor());
    case 2:
      return copyOp();
    case 3:
      return addOp();
    case 4:
      return fitConstant();
    case 5:
      return change((*op.mutable_attr())[anyAttribute()]);
    case 6:
      return graph.add_output(anyTensor());
    case 7:
      return change(graph);
    default:
      return change(op);
    }
  }

private:
  const std::string &anyType() {
    static const std::vector<std::string> types = allTypes();
    return types[below(types.size())];
  }
  pb::Op &anyOp() { return *graph.mutable_op(int(below(size_t(graph.op_size())))); }
  std::string anyTensor() {
    return below(16) ? anyOp().name() + ":" + std::to_string(below(8) ? 0 : below(4)) : anyText();
  }
  /// Most of the time one that some operator has, because operators share their names.
  std::string anyAttribute() {
    static constexpr const char *names[] = {"axis", "axes",        "value", "strides",
                                            "pads", "data_format", "ksize", "keep_dims"};
    const pb::Op &op = anyOp();
    if (op.attr_size() && below(2))
      return std::next(op.attr().begin(), ptrdiff_t(below(size_t(op.attr_size()))))->first;
    return names[below(std::size(names))];
  }
  std::string anyText() override {
    static constexpr const char *texts[] = {"",     "NCHW", "NHWC", "NC1HWC0", "ND",
                                            ":",    ":-1",  "a:b",  "VALID",   "CALCULATED",
                                            "%s%n", "\xff", "x:0"};
    const size_t kind = below(4);
    return kind == 0   ? std::string(1 << below(10), 'x')
           : kind == 1 ? anyType()
                       : texts[below(std::size(texts))];
  }
  /// Operators are added by functions that know what belongs to them.
  bool mayGrow(const google::protobuf::FieldDescriptor &field) override {
    return field.containing_type() != pb::Graph::descriptor();
  }

  std::string newName() { return "m" + std::to_string(graph.op_size()); }

  /// Adds a copy of an operator that others read, or the same operator read by one more.
  void copyOp() {
    const pb::Op op = anyOp();
    pb::Op &copy = *graph.add_op();
    copy = op;
    copy.set_name(newName());
    for (std::string &input : *copy.mutable_input())
      if (below(2))
        input = anyTensor();
    anyOp().add_input(copy.name() + ":0");
  }

  /// Adds an operator of any type with some attributes, which reads operators that there are.
  void addOp() {
    pb::Op op;
    op.set_name(newName());
    op.set_type(anyType());
    for (size_t i = below(3) + 1; i--;)
      op.add_input(anyTensor());
    for (size_t i = below(3); i--;)
      (*op.mutable_attr())[anyAttribute()] = pb::Attribute();
    for (auto &attribute : *op.mutable_attr())
      change(attribute.second);
    if (llvm::is_contained(controlTypes, op.type()))
      for (size_t i = below(4); i--;)
        op.add_subgraph_name(model.graph(int(below(size_t(model.graph_size())))).name());
    *graph.add_op() = std::move(op);
  }

  /// Sets small dims of a constant, and the bytes that they need.
  void fitConstant() {
    pb::Op &op = anyOp();
    if (op.type() != "Const")
      return;
    pb::Tensor &value = *(*op.mutable_attr())["value"].mutable_t();
    if (below(2))
      value.mutable_desc()->set_dtype(int32_t(below(13)));
    value.mutable_desc()->mutable_shape()->clear_dim();
    size_t elements = 1;
    for (size_t i = below(5); i--;) {
      const size_t dim = below(6);
      value.mutable_desc()->mutable_shape()->add_dim(int64_t(dim));
      elements *= dim;
    }
    const auto bytes =
        size_t(atc::air::elementBytes(atc::air::typeOf(value.desc().dtype()).value_or(0)));
    value.mutable_data()->assign(elements * bytes, '\0');
    for (size_t i = 0; i < elements * bytes; i += std::max<size_t>(bytes, 1))
      (*value.mutable_data())[i] = char(anyNumber());
  }

  pb::Model &model;
  pb::Graph &graph;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  google::protobuf::LogSilencer silencer;
  pb::Model model;
  if (seed % 16 == 0 || !model.ParseFromArray(data, int(size)) || !model.graph_size())
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0; i <= seed % 3; ++i) {
    const size_t graph = (seed / 3 + i) % unsigned(model.graph_size());
    if (!model.graph(int(graph)).op_size())
      return LLVMFuzzerMutate(data, size, maxSize);
    Mutator(model, graph, seed + i).mutateOnce();
  }
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > maxSize)
    return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
