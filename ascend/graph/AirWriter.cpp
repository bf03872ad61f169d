//===-- AirWriter.cpp - graphs as .air files ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fields have the numbers of frontends/air/schema/air.proto. They are written by hand, so that the
// library needs nothing of the compiler.

#include "ascend/graph/Node.h"

#include <cstring>
#include <map>
#include <set>

namespace ge::detail {

namespace {

/// A message of protobuf that grows by its fields.
class Message {
public:
  void number(int field, int64_t value) {
    varint(uint64_t(field) << 3);
    varint(uint64_t(value));
  }
  void real(int field, float value) {
    varint(uint64_t(field) << 3 | 5);
    raw(value);
  }
  void text(int field, const std::string &value) {
    varint(uint64_t(field) << 3 | 2);
    varint(value.size());
    bytes += value;
  }
  void message(int field, const Message &value) { text(field, value.bytes); }
  template <typename List> void numbers(int field, const List &list) {
    Message packed;
    for (auto value : list)
      packed.varint(uint64_t(int64_t(value)));
    if (!packed.bytes.empty())
      message(field, packed);
  }
  void reals(int field, const std::vector<float> &list) {
    Message packed;
    for (float value : list)
      packed.raw(value);
    if (!packed.bytes.empty())
      message(field, packed);
  }

  std::string bytes;

private:
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes += char(value | 128);
    bytes += char(value);
  }
  void raw(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 4; ++i)
      bytes += char(bits >> 8 * i);
  }
};

/// Returns the file's number of an element type; 0: none.
int typeNumber(DataType type) {
  switch (type) {
  case DT_FLOAT:
    return 1;
  case DT_FLOAT16:
    return 2;
  case DT_INT8:
    return 3;
  case DT_UINT8:
    return 4;
  case DT_INT16:
    return 5;
  case DT_UINT16:
    return 6;
  case DT_INT32:
    return 7;
  case DT_INT64:
    return 8;
  case DT_UINT32:
    return 9;
  case DT_UINT64:
    return 10;
  case DT_BOOL:
    return 11;
  case DT_DOUBLE:
    return 12;
  case DT_BF16:
    return 27;
  default:
    return 0;
  }
}

const char *layoutName(Format format) {
  switch (format) {
  case FORMAT_NCHW:
    return "NCHW";
  case FORMAT_NHWC:
    return "NHWC";
  case FORMAT_NC1HWC0:
    return "NC1HWC0";
  case FORMAT_FRACTAL_Z:
    return "FRACTAL_Z";
  case FORMAT_HWCN:
    return "HWCN";
  case FORMAT_NDHWC:
    return "NDHWC";
  case FORMAT_FRACTAL_NZ:
    return "FRACTAL_NZ";
  case FORMAT_NCDHW:
    return "NCDHW";
  default:
    return "ND";
  }
}

/// `isExact`: dims are written also where there are none, which is a scalar then.
Message describe(const TensorDesc &desc, bool isExact) {
  Message message;
  message.number(2, typeNumber(desc.GetDataType()));
  const std::vector<int64_t> dims = desc.GetShape().GetDims();
  if (isExact || !dims.empty()) {
    Message shape;
    shape.numbers(1, dims);
    message.message(3, shape);
  }
  message.text(4, layoutName(desc.GetFormat()));
  return message;
}

/// Returns the value of an attribute that holds a T.
template <typename T> T get(const AttrValue &value) {
  T held{};
  value.GetValue(held);
  return held;
}

/// Returns an attribute; its bytes are empty where it has no value.
Message attribute(const AttrValue &value) {
  Message message, list;
  switch (value.kind()) {
  case AttrValue::INTEGER:
    message.number(3, get<int64_t>(value));
    return message;
  case AttrValue::REAL:
    message.real(4, get<float>(value));
    return message;
  case AttrValue::TRUTH:
    message.number(5, get<bool>(value));
    return message;
  case AttrValue::TEXT:
    message.text(2, get<std::string>(value));
    return message;
  case AttrValue::TYPE:
    message.number(15, get<DataType>(value));
    return message;
  case AttrValue::TENSOR: {
    const Tensor held = get<Tensor>(value);
    Message tensor;
    tensor.message(1, describe(held.GetTensorDesc(), true));
    tensor.text(2, std::string(reinterpret_cast<const char *>(held.GetData()), held.GetSize()));
    message.message(12, tensor);
    return message;
  }
  case AttrValue::INTEGERS:
    list.numbers(3, get<std::vector<int64_t>>(value));
    list.number(20, 2);
    break;
  case AttrValue::REALS:
    list.reals(4, get<std::vector<float>>(value));
    list.number(20, 3);
    break;
  case AttrValue::TRUTHS:
    list.numbers(5, get<std::vector<bool>>(value));
    list.number(20, 4);
    break;
  case AttrValue::TEXTS:
    for (const std::string &text : get<std::vector<std::string>>(value))
      list.text(2, text);
    list.number(20, 1);
    break;
  case AttrValue::TYPES:
    list.numbers(12, get<std::vector<DataType>>(value));
    list.number(20, 10);
    break;
  case AttrValue::INTEGER_LISTS: {
    Message lists;
    for (const std::vector<int64_t> &numbers : get<std::vector<std::vector<int64_t>>>(value)) {
      Message each;
      each.numbers(1, numbers);
      lists.message(1, each);
    }
    message.message(14, lists);
    return message;
  }
  case AttrValue::NONE:
    return message;
  }
  message.message(1, list);
  return message;
}

/// The graphs that have been written into a file. Several operators may call one of them.
struct Written {
  Message model;
  std::map<const GraphContent *, std::string> names;
  std::set<const GraphContent *> begun;
  std::set<const GraphContent *> open; ///< those around the one that is being written, and it

  /// Returns the name by which the file has a graph that an operator calls. All start with that of
  /// the first graph and have numbers of their own.
  const std::string &nameOf(const GraphContent &called) {
    std::string &name = names[&called];
    if (name.empty())
      name = first + "/" + std::to_string(names.size()) + "/" + called.name;
    return name;
  }
  std::string first;
};

class Writer {
public:
  Writer(const GraphContent &graph, Written &written, std::string &error)
      : graph(graph), written(written), error(error) {}

  /// Adds the graph, by a name of its own, and those that its operators call and that are not yet
  /// there. Returns false after an error.
  bool run(const std::string &name) {
    if (!graph.errors.empty())
      return refuse(graph.errors.front());
    if (graph.file)
      return refuse("it is a model file, which no operator can call");
    if (graph.outputs.empty())
      return refuse("the graph has no outputs: call SetOutputs");
    for (const auto &node : graph.nodes)
      if (!node->error.empty())
        return refuse("operator '" + node->name + "': " + node->error);
      else if (!names.emplace(node->name, node.get()).second)
        return refuse("two operators have the name '" + node->name + "'");
    Message whole;
    whole.text(1, name);
    written.begun.insert(&graph);
    written.open.insert(&graph);
    for (const auto &node : graph.nodes)
      if (!write(*node, whole))
        return false;
    Message end;
    end.text(1, "Node_Output");
    end.text(2, "NetOutput");
    for (const auto &[node, output] : graph.outputs) {
      if (!holds(*node))
        return refuse("the output '" + node->name + "' is no operator of the graph");
      end.text(5, node->name + ":" + std::to_string(output));
    }
    whole.message(6, end);
    written.model.message(7, whole);
    for (const auto &node : graph.nodes)
      for (const Subgraph &called : node->graphs) {
        if (written.begun.count(called.graph.get()))
          continue;
        if (written.open.size() > maxDepth)
          return refuse("graphs call each other more than " + std::to_string(maxDepth) +
                        " levels deep");
        if (!Writer(*called.graph, written, error).run(written.nameOf(*called.graph))) {
          error = "the graph '" + called.name + "' of operator '" + node->name + "': " + error;
          return false;
        }
      }
    written.open.erase(&graph);
    return true;
  }

private:
  /// Returns whether a node, and not only one of its name, is in the graph.
  bool holds(const Node &node) const {
    const auto found = names.find(node.name);
    return found != names.end() && found->second == &node;
  }
  bool refuse(const std::string &text) {
    error = text;
    return false;
  }

  bool write(const Node &node, Message &whole) {
    Message op;
    op.text(1, node.name);
    op.text(2, node.type);
    for (const Input &input : node.inputs) {
      if (!input.source) {
        op.text(5, "");
        op.message(33, Message());
        continue;
      }
      const int32_t output = Node::outputOf(input);
      if (output < 0 || !holds(*input.source)) {
        error = "input '" + input.name + "' of operator '" + node.name + "' reads output '" +
                input.outputName + "' of '" + input.source->name + "', which is not there";
        return false;
      }
      op.text(5, input.source->name + ":" + std::to_string(output));
      // A description without dims is only about the order of dims.
      op.message(33, input.desc ? describe(*input.desc, false) : Message());
    }
    for (const auto &source : node.before) {
      if (!holds(*source)) {
        error = "operator '" + node.name + "' runs after '" + source->name +
                "', which is no operator of the graph";
        return false;
      }
      op.text(5, source->name + ":-1");
    }
    const bool isData = node.type == "Data" || node.type == "RefData";
    for (const Output &output : node.outputs) {
      // Data may have stated its tensor as its input only.
      const std::optional<TensorDesc> &stated =
          output.desc || !isData || node.inputs.empty() ? output.desc : node.inputs[0].desc;
      op.message(34, stated ? describe(*stated, isData) : Message());
    }
    for (const Subgraph &called : node.graphs) {
      if (!called.graph)
        return refuse("operator '" + node.name + "' has no graph '" + called.name +
                      "': set its builder");
      if (written.open.count(called.graph.get()))
        return refuse("operator '" + node.name + "' calls, as its graph '" + called.name +
                      "', one that it is inside of");
      op.text(35, written.nameOf(*called.graph));
    }
    for (const auto &[key, value] : node.attributes) {
      const Message held = attribute(value);
      if (held.bytes.empty())
        continue;
      Message entry;
      entry.text(1, key);
      entry.message(2, held);
      op.message(10, entry);
    }
    whole.message(6, op);
    return true;
  }

  static constexpr size_t maxDepth = 100;
  const GraphContent &graph;
  Written &written;
  std::string &error;
  std::map<std::string, const Node *> names; ///< of the graph's operators
};

} // namespace

std::string writeAir(const GraphContent &graph, std::string &error) {
  Written written;
  written.first = graph.name;
  written.model.text(1, graph.name);
  return Writer(graph, written, error).run(graph.name) ? std::move(written.model.bytes) : "";
}

} // namespace ge::detail
