//===-- MutateOnnx.cpp - changes ONNX models so that they stay models -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changed bytes make a message that cannot be parsed. This mutator changes the parts of a
// model: dims, types, attributes, the tensors that nodes read, constants, operators and opsets, and
// puts nodes into functions, branches and loops. Operators are those of the importer's page and of
// the kernels' signatures, with the attributes that these know.

#include <onnx/onnx_pb.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <random>
#include <sstream>

#include "frontends/onnx/OnnxImport.h"
#include "google/protobuf/stubs/logging.h"
#include "test/fuzz/SupportedOperators.h"
#include "test/fuzz/mutators/Mutators.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// An operator, and what its nodes may have.
struct Operator {
  std::string domain, name;
  unsigned inputs = 1;
  std::vector<std::string> attributes; ///< "i:axis": the type's letter, a capital one for a list
};

const std::vector<Operator> &allOperators() {
  static const std::vector<Operator> ops = [] {
    std::vector<Operator> all;
    auto add = [&](const char *name, const char *domain, uint64_t required,
                   const char *attributes) {
      Operator op = {domain, name, unsigned(64 - std::countl_zero(required)), {}};
      std::istringstream words(attributes);
      for (std::string word; words >> word;)
        op.attributes.push_back(word);
      all.push_back(std::move(op));
    };
#define SIGNATURE(Name, Domain, Since, Required, Max, Types, Attributes, Unread)                   \
  add(#Name, Domain, Required, Attributes);
#include "kernels/Signatures.def"
    for (const atc::fuzz::SupportedOperator &op :
         atc::fuzz::supportedOperators(atc::printOnnxSupport)) {
      const auto [domain, name] = llvm::StringRef(op.name).rsplit('.');
      const bool isOwn = llvm::StringRef(op.section).contains('.');
      all.push_back(name.empty() ? Operator{isOwn ? op.section : "", op.name, 2, {}}
                                 : Operator{domain.str(), name.str(), 2, {}});
    }
    return all;
  }();
  return ops;
}

class Mutator {
public:
  Mutator(onnx::ModelProto &model, unsigned seed) : model(model), random(seed) {
    addGraphs(*model.mutable_graph(), 0);
  }

  void mutateOnce() {
    onnx::GraphProto &graph = *graphs[below(graphs.size())];
    if (graph.node_size() == 0)
      return;
    onnx::NodeProto &node = *graph.mutable_node(int(below(size_t(graph.node_size()))));
    switch (below(22)) {
    case 0:
    case 1:
      return changeDims(graph);
    case 2:
      return changeType(graph);
    case 3:
    case 4:
      return changeAttribute(node);
    case 5:
      if (node.input_size() > 0)
        node.set_input(int(below(size_t(node.input_size()))), anyTensor(graph));
      return;
    case 6:
      return node.add_input(below(3) ? anyTensor(graph) : "");
    case 7:
      if (node.input_size() > 0)
        node.mutable_input()->RemoveLast();
      return;
    case 8:
      return node.set_op_type(anyNode().op_type());
    case 9:
    case 10:
      return changeConstant(graph);
    case 11:
      return exchangeConstant(graph);
    case 12:
      for (onnx::OperatorSetIdProto &opset : *model.mutable_opset_import())
        opset.set_version(below(4) ? int64_t(below(27)) : anyNumber());
      return;
    case 13:
      return makeFunction(node);
    case 14:
    case 15:
      return makeOperator(graph, node);
    case 16:
    case 17:
      return addNode(graph);
    case 18:
      return changeAttributes(node);
    case 19:
      return addConstant(graph, node);
    case 20:
      return rename(graph, node);
    default:
      return makeBranch(graph, node);
    }
  }

private:
  size_t below(size_t limit) { return random() % std::max<size_t>(limit, 1); }

  void addGraphs(onnx::GraphProto &graph, unsigned depth) {
    graphs.push_back(&graph);
    for (onnx::NodeProto &node : *graph.mutable_node())
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g() && depth < 8)
          addGraphs(*attribute.mutable_g(), depth + 1);
  }

  int64_t anyNumber() {
    static constexpr int64_t special[] = {-1,        0,         16,       1 << 16,
                                          1 << 20,   1 << 24,   1u << 31, int64_t(1) << 40,
                                          INT32_MIN, INT64_MAX, INT64_MIN};
    return below(3) == 0 ? special[below(std::size(special))] : int64_t(below(9)) - 3;
  }

  float anyFloat() {
    static constexpr float special[] = {NAN, INFINITY, -INFINITY, 1e-40f, 3e38f, -0.f};
    return below(4) == 0 ? special[below(std::size(special))] : float(anyNumber());
  }

  std::string anyText() {
    static constexpr const char *texts[] = {
        "SAME_UPPER", "VALID", "linear", "cubic",   "reflect", "add",  "none",    "ij,jk->ik",
        "",           "...ii", "%s%n",   "\xff",    "[a-z]+(", "RGB",  "reverse", "bidirectional",
        "Relu",       "NHWC",  "CRD",    "float32", "mean",    "tanh", "LINEAR",  "\xe2\x80\xae"};
    return below(32) ? texts[below(std::size(texts))] : std::string(1 << below(12), 'x');
  }

  const onnx::NodeProto &anyNode() {
    const onnx::GraphProto &graph = *graphs[below(graphs.size())];
    static const onnx::NodeProto none;
    return graph.node_size() ? graph.node(int(below(size_t(graph.node_size())))) : none;
  }

  std::string anyTensor(const onnx::GraphProto &graph) {
    const size_t kind = below(3);
    if (kind == 0 && graph.input_size())
      return graph.input(int(below(size_t(graph.input_size())))).name();
    if (kind == 1 && graph.initializer_size())
      return graph.initializer(int(below(size_t(graph.initializer_size())))).name();
    const onnx::NodeProto &node = graph.node(int(below(size_t(graph.node_size()))));
    return node.output_size() ? node.output(int(below(size_t(node.output_size())))) : "";
  }

  onnx::ValueInfoProto *anyInfo(onnx::GraphProto &graph) {
    auto &list = below(3) ? *graph.mutable_input() : *graph.mutable_output();
    return list.empty() ? nullptr : list.Mutable(int(below(size_t(list.size()))));
  }

  void changeDims(onnx::GraphProto &graph) {
    onnx::ValueInfoProto *info = anyInfo(graph);
    if (!info || !info->type().has_tensor_type())
      return;
    auto &type = *info->mutable_type()->mutable_tensor_type();
    auto &dims = *type.mutable_shape()->mutable_dim();
    switch (below(5)) {
    case 0:
      return type.clear_shape();
    case 1:
      return dims.Add()->set_dim_value(anyNumber());
    case 2:
      if (!dims.empty())
        dims.RemoveLast();
      return;
    case 3: // all of them are dynamic
      for (auto &dim : dims)
        dim.set_dim_param(std::string(1, char('a' + below(3))));
      return;
    default:
      if (!dims.empty())
        dims.Mutable(int(below(size_t(dims.size()))))->set_dim_value(anyNumber());
    }
  }

  void changeType(onnx::GraphProto &graph) {
    onnx::ValueInfoProto *info = anyInfo(graph);
    if (!info)
      return;
    onnx::TypeProto &type = *info->mutable_type();
    const onnx::TypeProto before = type;
    switch (below(4)) {
    case 0:
      return type.mutable_sequence_type()->mutable_elem_type()->CopyFrom(before);
    case 1:
      return type.mutable_optional_type()->mutable_elem_type()->CopyFrom(before);
    default:
      return type.mutable_tensor_type()->set_elem_type(int(below(27)));
    }
  }

  void changeAttribute(onnx::NodeProto &node) {
    if (node.attribute_size() == 0)
      return;
    const int index = int(below(size_t(node.attribute_size())));
    onnx::AttributeProto &attribute = *node.mutable_attribute(index);
    if (below(8) == 0)
      return node.mutable_attribute()->DeleteSubrange(index, 1);
    if (attribute.has_i())
      attribute.set_i(anyNumber());
    else if (attribute.has_f())
      attribute.set_f(anyFloat());
    else if (attribute.has_s())
      attribute.set_s(anyText());
    else if (attribute.ints_size() == 0 || below(8) == 0)
      attribute.add_ints(anyNumber());
    else if (below(8) == 0)
      attribute.mutable_ints()->RemoveLast();
    else
      attribute.set_ints(int(below(size_t(attribute.ints_size()))), anyNumber());
  }

  /// Adds an attribute of any name and type to a node.
  void changeAttributes(onnx::NodeProto &node) {
    const Operator &op = allOperators()[below(allOperators().size())];
    if (op.attributes.empty())
      return;
    addAttribute(node, op.attributes[below(op.attributes.size())]);
    if (below(4) == 0 && node.attribute_size())
      node.mutable_attribute(int(below(size_t(node.attribute_size()))))
          ->set_type(onnx::AttributeProto::AttributeType(below(15)));
  }

  void addAttribute(onnx::NodeProto &node, const std::string &known) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(known.substr(2));
    const bool isList = std::isupper(static_cast<unsigned char>(known[0]));
    const size_t count = below(6);
    using Kind = onnx::AttributeProto;
    switch (std::tolower(static_cast<unsigned char>(known[0]))) {
    case 'f':
      attribute.set_type(isList ? Kind::FLOATS : Kind::FLOAT);
      isList ? void() : attribute.set_f(anyFloat());
      for (size_t i = 0; isList && i < count; ++i)
        attribute.add_floats(anyFloat());
      return;
    case 's':
      attribute.set_type(isList ? Kind::STRINGS : Kind::STRING);
      isList ? void() : attribute.set_s(anyText());
      for (size_t i = 0; isList && i < count; ++i)
        attribute.add_strings(anyText());
      return;
    case 't':
      attribute.set_type(Kind::TENSOR);
      return makeTensor(*attribute.mutable_t());
    default:
      attribute.set_type(isList ? Kind::INTS : Kind::INT);
      isList ? void() : attribute.set_i(anyNumber());
      for (size_t i = 0; isList && i < count; ++i)
        attribute.add_ints(anyNumber());
    }
  }

  /// Makes another operator of a node, with the inputs and attributes that it needs.
  void makeOperator(onnx::GraphProto &graph, onnx::NodeProto &node) {
    const Operator &op = allOperators()[below(allOperators().size())];
    node.set_op_type(op.name);
    node.set_domain(op.domain);
    if (!op.domain.empty()) {
      onnx::OperatorSetIdProto &opset = *model.add_opset_import();
      opset.set_domain(op.domain);
      opset.set_version(1);
    }
    node.clear_attribute();
    for (const std::string &attribute : op.attributes)
      if (attribute[1] == '!' || below(3) == 0)
        addAttribute(node, attribute);
    while (unsigned(node.input_size()) < op.inputs)
      node.add_input(anyTensor(graph));
    while (unsigned(node.input_size()) > op.inputs + 1)
      node.mutable_input()->RemoveLast();
  }

  /// Adds a node whose result is a result of the graph, so that it is not left out.
  void addNode(onnx::GraphProto &graph) {
    onnx::NodeProto made;
    makeOperator(graph, made);
    made.add_output("fuzz" + std::to_string(random()));
    if (below(4) == 0)
      made.add_output("fuzz" + std::to_string(random()));
    graph.add_output()->set_name(made.output(0));
    *graph.add_node() = std::move(made);
  }

  void makeTensor(onnx::TensorProto &tensor) {
    static constexpr int types[] = {1, 1, 6, 7, 7, 8, 9, 10, 2, 14, 17, 22};
    const int type = types[below(std::size(types))];
    tensor.set_data_type(type);
    const size_t count = below(5);
    if (count != 1 || below(2))
      tensor.add_dims(int64_t(count));
    for (size_t i = 0; i < count; ++i) {
      if (type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::COMPLEX64)
        tensor.add_float_data(anyFloat());
      else if (type == onnx::TensorProto::INT64)
        tensor.add_int64_data(anyNumber());
      else if (type == onnx::TensorProto::STRING)
        tensor.add_string_data(anyText());
      else
        tensor.add_int32_data(int32_t(anyNumber()));
    }
  }

  /// Adds a constant that the node reads; some are sparse or in a file.
  void addConstant(onnx::GraphProto &graph, onnx::NodeProto &node) {
    const std::string name = "fuzz" + std::to_string(random());
    if (below(8) == 0) {
      onnx::SparseTensorProto &sparse = *graph.add_sparse_initializer();
      makeTensor(*sparse.mutable_values());
      sparse.mutable_values()->set_name(name);
      makeTensor(*sparse.mutable_indices());
      sparse.add_dims(anyNumber());
    } else {
      onnx::TensorProto &tensor = *graph.add_initializer();
      makeTensor(tensor);
      tensor.set_name(name);
      if (below(8) == 0) {
        tensor.set_data_location(onnx::TensorProto::EXTERNAL);
        for (const char *key : {"location", "offset", "length"}) {
          onnx::StringStringEntryProto &entry = *tensor.add_external_data();
          entry.set_key(key);
          entry.set_value(key[0] == 'l' && key[1] == 'o' ? anyText() : std::to_string(anyNumber()));
        }
      }
    }
    if (node.input_size() && below(4))
      node.set_input(int(below(size_t(node.input_size()))), name);
    else
      node.add_input(name);
  }

  /// Renames a tensor to the name of another one, or to an odd one, wherever it is read.
  void rename(onnx::GraphProto &graph, onnx::NodeProto &node) {
    if (node.output_size() == 0)
      return;
    const std::string before = node.output(0), after = below(2) ? anyTensor(graph) : anyText();
    node.set_output(0, after);
    if (below(2) == 0)
      return;
    for (onnx::NodeProto &each : *graph.mutable_node())
      for (std::string &input : *each.mutable_input())
        if (input == before)
          input = after;
    for (onnx::ValueInfoProto &output : *graph.mutable_output())
      if (output.name() == before)
        output.set_name(after);
  }

  void changeConstant(onnx::GraphProto &graph) {
    if (graph.initializer_size() == 0)
      return;
    onnx::TensorProto &tensor =
        *graph.mutable_initializer(int(below(size_t(graph.initializer_size()))));
    if (below(16) == 0)
      tensor.mutable_raw_data()->resize(below(65), '\xff');
    switch (below(4)) {
    case 0:
      return tensor.set_data_type(int(below(27)));
    case 1:
      return tensor.add_dims(below(2) ? 1 : anyNumber());
    case 2:
      if (tensor.dims_size())
        tensor.mutable_dims()->RemoveLast();
      return;
    default:
      const int64_t number = anyNumber();
      if (tensor.int64_data_size())
        tensor.set_int64_data(int(below(size_t(tensor.int64_data_size()))), number);
      else if (tensor.raw_data().size() >= sizeof(number))
        tensor.mutable_raw_data()->replace(
            below(tensor.raw_data().size() / sizeof(number)) * sizeof(number), sizeof(number),
            reinterpret_cast<const char *>(&number), sizeof(number));
    }
  }

  /// Makes an input of a constant: what was known is only known when the model runs.
  void exchangeConstant(onnx::GraphProto &graph) {
    if (graph.initializer_size() == 0)
      return;
    const int index = int(below(size_t(graph.initializer_size())));
    const onnx::TensorProto tensor = graph.initializer(index);
    graph.mutable_initializer()->DeleteSubrange(index, 1);
    onnx::ValueInfoProto &info = *graph.add_input();
    info.set_name(tensor.name());
    auto &type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    for (int64_t dim : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  void makeFunction(onnx::NodeProto &node) {
    const std::string name = "f" + std::to_string(below(3));
    onnx::FunctionProto &function = *model.add_functions();
    function.set_name(name);
    function.set_domain("fuzz");
    *function.mutable_input() = node.input();
    *function.mutable_output() = node.output();
    *function.mutable_opset_import() = model.opset_import();
    *function.add_node() = node;
    node.clear_attribute();
    node.set_domain("fuzz");
    node.set_op_type(name);
    onnx::OperatorSetIdProto &opset = *model.add_opset_import();
    opset.set_domain("fuzz");
    opset.set_version(1);
  }

  /// Puts a node into both branches of an If, or into the body of a loop.
  void makeBranch(onnx::GraphProto &graph, onnx::NodeProto &node) {
    onnx::GraphProto inner;
    inner.set_name("inner");
    *inner.add_node() = node;
    const bool isLoop = below(2) != 0;
    auto add = [](auto *list, const std::string &name, int type) {
      onnx::ValueInfoProto &info = *list->Add();
      info.set_name(name);
      info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    };
    if (isLoop) {
      add(inner.mutable_input(), "fuzz_i", onnx::TensorProto::INT64);
      add(inner.mutable_input(), "fuzz_go", onnx::TensorProto::BOOL);
      add(inner.mutable_output(), "fuzz_go", onnx::TensorProto::BOOL);
    }
    for (const std::string &output : node.output())
      add(inner.mutable_output(), output, int(1 + below(11)));
    const onnx::NodeProto before = node;
    node.Clear();
    node.set_op_type(isLoop ? "Loop" : "If");
    *node.mutable_output() = before.output();
    if (isLoop)
      node.add_input(anyTensor(graph));
    node.add_input(isLoop && below(2) ? "" : anyTensor(graph));
    for (const char *name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(isLoop ? "body" : name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      *attribute.mutable_g() = inner;
      if (isLoop)
        break;
    }
  }

  onnx::ModelProto &model;
  std::minstd_rand random;
  std::vector<onnx::GraphProto *> graphs;
};

} // namespace

size_t atc::fuzz::mutateOnnx(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  google::protobuf::LogSilencer silencer;
  onnx::ModelProto model;
  if (seed % 16 == 0 || !model.ParseFromArray(data, int(size)) || model.graph().node_size() == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned i = 0; i <= seed % 3; ++i)
    Mutator(model, seed + i).mutateOnce();
  if (model.ByteSizeLong() > maxSize)
    return size;
  model.SerializeToArray(data, int(maxSize));
  return model.ByteSizeLong();
}
