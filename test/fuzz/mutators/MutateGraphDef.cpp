//===-- MutateGraphDef.cpp - changes graphs so that they stay graphs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Most changed bytes make a message that cannot be parsed, or an operator that
// nobody knows. This mutator changes the parts of a GraphDef, or of the graph of a SavedModel:
// nodes, their attributes and constants, of the graph and of its functions; it puts nodes into
// functions, branches and loops. Maps have no order of their own: they are read and written by
// their sorted keys, so that a seed gives the same bytes in every process.

#include <algorithm>
#include <cmath>
#include <random>

#include "frontends/tf/TfImport.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "test/fuzz/SupportedOperators.h"
#include "test/fuzz/mutators/Mutators.h"

using namespace atc::tf;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;
using Attributes = google::protobuf::Map<std::string, pb::AttrValue>;

/// Returns the operators of all tables, and those that no table has: they are resolved before.
const std::vector<std::string> &allOperators() {
  static const std::vector<std::string> ops = [] {
    std::vector<std::string> all = {"Placeholder",
                                    "PlaceholderWithDefault",
                                    "Const",
                                    "PartitionedCall",
                                    "StatefulPartitionedCall",
                                    "While",
                                    "StatelessWhile",
                                    "If",
                                    "StatelessIf",
                                    "Enter",
                                    "RefEnter",
                                    "Exit",
                                    "Merge",
                                    "Switch",
                                    "NextIteration",
                                    "LoopCond",
                                    "VarHandleOp",
                                    "ReadVariableOp",
                                    "VariableV2",
                                    "AssignVariableOp",
                                    "ResourceGather",
                                    "HashTableV2",
                                    "LookupTableFindV2",
                                    "LookupTableImportV2",
                                    "InitializeTableFromTextFileV2",
                                    "NoOp",
                                    "f0"};
    for (const atc::fuzz::SupportedOperator &op :
         atc::fuzz::supportedOperators(atc::printTfSupport))
      all.push_back(op.name);
    return all;
  }();
  return ops;
}

std::vector<std::string> keysOf(const Attributes &attributes) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : attributes)
    keys.push_back(name);
  std::sort(keys.begin(), keys.end());
  return keys;
}

class Mutator {
public:
  Mutator(pb::GraphDef &graph, unsigned seed) : graph(graph), random(seed) { random.discard(2); }

  void mutateOnce() {
    chooseNodes();
    if (nodes->empty())
      return;
    pb::NodeDef &node = *nodes->Mutable(below(nodes->size()));
    switch (below(12)) {
    case 0:
      return node.set_op(allOperators()[below(allOperators().size())]);
    case 1:
      if (node.input_size() > 0)
        node.set_input(below(node.input_size()), anyTensor());
      return;
    case 2:
      return node.add_input(anyTensor());
    case 3: {
      pb::NodeDef &copy = *nodes->Add();
      copy = nodes->Get(below(nodes->size() - 1));
      return copy.set_name("m" + std::to_string(random()));
    }
    case 4:
      return change((*node.mutable_attr())[anyAttribute()]);
    case 5:
      return addConstant();
    case 6:
      return makeFunction(node);
    case 7:
      return makeFrame(node);
    case 8:
      if (node.input_size() > 0)
        node.mutable_input()->RemoveLast();
      return;
    default:
      for (const std::string &name : keysOf(node.attr()))
        if (node.attr_size() == 1 || below(2) == 0)
          change((*node.mutable_attr())[name]);
    }
  }

private:
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }

  /// Chooses the nodes of the graph or of one of its functions.
  void chooseNodes() {
    nodes = graph.mutable_node();
    body = nullptr;
    const int functions = graph.library().function_size();
    if (functions == 0 || (!nodes->empty() && below(2) == 0))
      return;
    body = graph.mutable_library()->mutable_function(below(functions));
    nodes = body->mutable_node_def();
  }

  std::string anyTensor() {
    if (body && body->signature().input_arg_size() && below(3) == 0)
      return body->signature().input_arg(below(body->signature().input_arg_size())).name();
    const std::string &name = nodes->Get(below(nodes->size())).name();
    if (below(16) == 0)
      return "^" + name;
    if (body)
      return name + ":output:" + std::to_string(below(8) ? 0 : below(4));
    return below(8) == 0 ? name + ":" + std::to_string(below(4)) : name;
  }

  std::string anyAttribute() {
    static constexpr const char *known[] = {"axis", "T",     "dtype",       "value",       "shape",
                                            "N",    "f",     "then_branch", "else_branch", "cond",
                                            "body", "Tin",   "Tout",        "DstT",        "SrcT",
                                            "Tidx", "index", "frame_name",  "container"};
    if (below(3) == 0)
      return known[below(std::size(known))];
    const std::vector<std::string> keys = keysOf(nodes->Get(below(nodes->size())).attr());
    return keys.empty() ? "axis" : keys[below(keys.size())];
  }

  int64_t anyNumber() {
    static constexpr int64_t special[] = {-1,        0,         16,       1 << 16,
                                          1 << 20,   1 << 24,   1u << 31, int64_t(1) << 40,
                                          INT32_MIN, INT64_MAX, INT64_MIN};
    return below(3) == 0 ? special[below(std::size(special))] : int64_t(below(9)) - 3;
  }

  float anyFloat() {
    static constexpr float special[] = {NAN, INFINITY, -INFINITY, 1e-40f, 3e38f, -0.f};
    return below(4) == 0 ? special[below(std::size(special))] : static_cast<float>(anyNumber());
  }

  std::string anyText() {
    static constexpr const char *texts[] = {
        "SAME",         "VALID",     "EXPLICIT", "NCHW", "NHWC",   "NCDHW", "REFLECT",
        "SYMMETRIC",    "",          "f0",       "f1",   "outer",  "%s%n",  "\xff",
        "\xe2\x80\xae", "ij,jk->ik", "[0-9]",    "(",    "linear", "min",   "float32"};
    return below(32) ? texts[below(std::size(texts))] : std::string(1 << below(12), 'x');
  }

  pb::DataType anyType() {
    if (below(4) == 0)
      return pb::DT_STRING;
    return static_cast<pb::DataType>(below(16) ? below(31) : 100 + below(24));
  }

  void change(pb::TensorShapeProto &shape) {
    if (below(16) == 0)
      return shape.set_unknown_rank(!shape.unknown_rank());
    if (shape.dim_size() == 0 || below(4) == 0)
      shape.add_dim()->set_size(anyNumber());
    else
      shape.mutable_dim(below(shape.dim_size()))->set_size(anyNumber());
    if (below(16) == 0)
      shape.mutable_dim()->RemoveLast();
  }

  void changeFunction(pb::NameAttrList &function) {
    if (graph.library().function_size() && below(4))
      return function.set_name(
          graph.library().function(below(graph.library().function_size())).signature().name());
    function.set_name(anyText());
  }

  /// Makes a value of any kind.
  void make(pb::AttrValue &value) {
    switch (below(8)) {
    case 0:
      return value.set_i(anyNumber());
    case 1:
      return value.set_b(below(2));
    case 2:
      return value.set_f(anyFloat());
    case 3:
      return value.set_type(anyType());
    case 4:
      return change(*value.mutable_shape());
    case 5:
      return value.set_s(anyText());
    case 6:
      return changeFunction(*value.mutable_func());
    default:
      return change(*value.mutable_list());
    }
  }

  void change(pb::AttrValue::ListValue &list) {
    switch (below(8)) {
    case 0:
      return list.add_type(anyType());
    case 1:
      return list.add_s(anyText());
    case 2:
      return list.add_f(anyFloat());
    case 3:
      return change(list.shape_size() && below(2) ? *list.mutable_shape(below(list.shape_size()))
                                                  : *list.add_shape());
    default:
      if (list.type_size() && below(2))
        return list.set_type(below(list.type_size()), anyType());
      if (list.i_size() == 0 || below(8) == 0)
        return list.add_i(anyNumber());
      if (below(8) == 0)
        list.mutable_i()->RemoveLast();
      else
        list.set_i(below(list.i_size()), anyNumber());
    }
  }

  void change(pb::AttrValue &value) {
    if (below(16) == 0)
      return make(value);
    switch (value.value_case()) {
    case pb::AttrValue::kI:
      return value.set_i(anyNumber());
    case pb::AttrValue::kB:
      return value.set_b(!value.b());
    case pb::AttrValue::kF:
      return value.set_f(anyFloat());
    case pb::AttrValue::kType:
      return value.set_type(anyType());
    case pb::AttrValue::kShape:
      return change(*value.mutable_shape());
    case pb::AttrValue::kS:
      return value.set_s(anyText());
    case pb::AttrValue::kList:
      return change(*value.mutable_list());
    case pb::AttrValue::kTensor:
      return change(*value.mutable_tensor());
    case pb::AttrValue::kFunc:
      return changeFunction(*value.mutable_func());
    default:
      return make(value);
    }
  }

  void change(pb::TensorProto &tensor) {
    switch (below(6)) {
    case 0:
      return tensor.set_dtype(anyType());
    case 1:
      return change(*tensor.mutable_tensor_shape());
    case 2: // one value more
      tensor.add_int_val(static_cast<int32_t>(anyNumber()));
      if (tensor.tensor_shape().dim_size() == 1)
        tensor.mutable_tensor_shape()->mutable_dim(0)->set_size(tensor.int_val_size());
      return;
    case 3: // strings instead of numbers
      tensor.set_dtype(pb::DT_STRING);
      return tensor.add_string_val(anyText());
    case 4: {
      std::string &bytes = *tensor.mutable_tensor_content();
      bytes.resize(below(2) ? below(65) : bytes.size() & ~size_t(7), char(below(256)));
      return;
    }
    default:
      for (int i = 0; i < tensor.int_val_size(); ++i)
        if (below(2) == 0)
          tensor.set_int_val(i, static_cast<int32_t>(anyNumber()));
      for (int i = 0; i < tensor.float_val_size(); ++i)
        if (below(2) == 0)
          tensor.set_float_val(i, anyFloat());
      for (int i = 0; i < tensor.string_val_size(); ++i)
        if (below(2) == 0)
          tensor.set_string_val(i, anyText());
    }
  }

  /// Adds a constant that something reads.
  void addConstant() {
    pb::NodeDef &constant = *nodes->Add();
    constant.set_name("c" + std::to_string(random()));
    constant.set_op("Const");
    pb::TensorProto &tensor = *(*constant.mutable_attr())["value"].mutable_tensor();
    static constexpr pb::DataType types[] = {pb::DT_INT32,    pb::DT_FLOAT, pb::DT_STRING,
                                             pb::DT_BOOL,     pb::DT_INT64, pb::DT_HALF,
                                             pb::DT_COMPLEX64};
    tensor.set_dtype(types[below(std::size(types))]);
    const size_t count = below(5);
    for (size_t i = 0; i < count; ++i) {
      if (tensor.dtype() == pb::DT_STRING)
        tensor.add_string_val(anyText());
      else if (tensor.dtype() == pb::DT_FLOAT)
        tensor.add_float_val(anyFloat());
      else if (tensor.dtype() == pb::DT_INT64)
        tensor.add_int64_val(anyNumber());
      else if (tensor.dtype() == pb::DT_BOOL)
        tensor.add_bool_val(below(2));
      else
        tensor.add_int_val(static_cast<int32_t>(anyNumber()));
    }
    tensor.mutable_tensor_shape();
    if (count != 1 || below(2))
      tensor.mutable_tensor_shape()->add_dim()->set_size(int64_t(count));
    (*constant.mutable_attr())["dtype"].set_type(tensor.dtype());
    pb::NodeDef &reader = *nodes->Mutable(below(nodes->size()));
    const std::string name = constant.name() + (body ? ":output:0" : "");
    if (reader.input_size() > 0)
      reader.set_input(below(reader.input_size()), name);
  }

  /// Moves a node into a function, and calls that, as the branches of an If or as the body of a
  /// While.
  void makeFunction(pb::NodeDef &node) {
    const std::string name = "f" + std::to_string(below(3));
    const pb::NodeDef before = node;
    pb::FunctionDef function;
    function.mutable_signature()->set_name(name);
    pb::NodeDef inner = before;
    inner.clear_input();
    for (int i = 0; i < before.input_size(); ++i) {
      pb::OpDef::ArgDef &argument = *function.mutable_signature()->add_input_arg();
      argument.set_name("a" + std::to_string(i));
      argument.set_type(below(4) ? pb::DT_FLOAT : anyType());
      inner.add_input(argument.name());
    }
    *function.add_node_def() = inner;
    const int results = std::max(1, before.input_size());
    for (int i = 0; i < results; ++i) {
      pb::OpDef::ArgDef &result = *function.mutable_signature()->add_output_arg();
      result.set_name("r" + std::to_string(i));
      result.set_type(pb::DT_FLOAT);
      (*function.mutable_ret())[result.name()] =
          i == 0 || before.input_size() == 0 ? inner.name() + ":output:0" : "a" + std::to_string(i);
    }
    static constexpr const char *calls[] = {"PartitionedCall", "If", "While", "StatelessWhile"};
    const std::string op = below(5) ? calls[below(std::size(calls))] : name;
    node.set_op(op);
    node.clear_attr();
    if (op == "If")
      *node.mutable_input()->Add() = anyTensor();
    for (const char *attribute : {"f", "then_branch", "else_branch", "cond", "body"})
      (*node.mutable_attr())[attribute].mutable_func()->set_name(name);
    // The nodes of `body` may lie in the library, which grows here.
    graph.mutable_library()->mutable_function()->Add(std::move(function));
  }

  /// Makes a loop of version 1 around a node.
  void makeFrame(const pb::NodeDef &around) {
    // The graph that has `around` changes.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const pb::NodeDef before = around;
    if (before.input_size() == 0)
      return;
    const std::string tag = std::to_string(random());
    auto add = [&](const char *op, std::initializer_list<std::string> inputs) {
      pb::NodeDef &node = *nodes->Add();
      node.set_name(op + tag);
      node.set_op(op);
      for (const std::string &input : inputs)
        node.add_input(input);
      (*node.mutable_attr())["T"].set_type(pb::DT_FLOAT);
      return node.name();
    };
    const std::string enter = add("Enter", {before.input(0)});
    (*nodes->Mutable(nodes->size() - 1)->mutable_attr())["frame_name"].set_s("frame" + tag);
    const std::string merge = add("Merge", {enter, "NextIteration" + tag});
    const std::string cond = add("LoopCond", {below(2) ? anyTensor() : merge});
    const std::string fork = add("Switch", {merge, cond});
    pb::NodeDef &inner = *nodes->Add();
    inner = before;
    inner.set_name("inner" + tag);
    inner.set_input(0, fork + ":1");
    add("NextIteration", {inner.name()});
    const std::string exit = add("Exit", {fork});
    for (pb::NodeDef &node : *nodes)
      for (std::string &input : *node.mutable_input())
        if (input == before.name())
          input = exit;
  }

  pb::GraphDef &graph;
  Nodes *nodes = nullptr;
  pb::FunctionDef *body = nullptr; ///< of the nodes; null for the graph's
  std::minstd_rand random;
};

/// Writes a message by the sorted keys of its maps. Returns its size.
size_t write(const google::protobuf::Message &message, uint8_t *data, size_t size, size_t maxSize) {
  if (message.ByteSizeLong() > maxSize)
    return size;
  google::protobuf::io::ArrayOutputStream array(data, static_cast<int>(maxSize));
  google::protobuf::io::CodedOutputStream stream(&array);
  stream.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&stream);
  return static_cast<size_t>(stream.ByteCount());
}

void mutate(pb::GraphDef &graph, unsigned seed) {
  Mutator mutator(graph, seed);
  for (unsigned i = 0; i <= seed % 3; ++i)
    mutator.mutateOnce();
}

} // namespace

size_t atc::fuzz::mutateGraphDef(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  google::protobuf::LogSilencer silencer;
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  pb::GraphDef graph;
  if (graph.ParseFromArray(data, static_cast<int>(size)) && graph.node_size() > 0) {
    mutate(graph, seed);
    return write(graph, data, size, maxSize);
  }
  pb::SavedModel model;
  if (!model.ParseFromArray(data, static_cast<int>(size)) || model.meta_graphs_size() == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  mutate(*model.mutable_meta_graphs(0)->mutable_graph_def(), seed);
  return write(model, data, size, maxSize);
}
