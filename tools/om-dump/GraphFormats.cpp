//===-- GraphFormats.cpp - graphs for Graphviz and for viewers of ONNX ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ModelText.h"
#include "tools/om-dump/ModelGraph.h"

#include <map>
#include <string_view>

namespace atc::tools {

namespace {
std::string typeOf(const GraphValue &value) {
  if (value.dtype == OM_UNDEFINED)
    return "";
  const std::string dtype = om_dtype_name(value.dtype);
  return value.isRanked ? typeText(dtype, value.dims, value.names) : dtype + "[*]";
}

//===----------------------------------------------------------------------===//
// Graphviz
//===----------------------------------------------------------------------===//

class DotWriter {
public:
  std::string run(const ModelGraph &graph) {
    text = "digraph " + quoted(graph.name) + " {\n  node [shape=box, style=rounded];\n";
    for (const GraphValue &input : graph.inputs)
      makers[input.name] = node(input.name + "\n" + typeOf(input), ", shape=ellipse");
    add(graph);
    for (const GraphValue &output : graph.outputs)
      edge(output.name, node(output.name + "\n" + typeOf(output), ", shape=ellipse"));
    return text + "}\n";
  }

private:
  static std::string quoted(const std::string &words) {
    std::string safe = "\"";
    for (char c : words)
      safe += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
    return safe + "\"";
  }

  std::string node(const std::string &label, const std::string &style) {
    const std::string id = "n" + std::to_string(nodes++);
    text += "  " + id + " [label=" + quoted(label) + style + "];\n";
    return id;
  }

  void edge(const std::string &value, const std::string &to) {
    auto maker = makers.find(value);
    if (maker == makers.end())
      return; // a constant
    auto type = types.find(value);
    text +=
        "  " + maker->second + " -> " + to +
        (type == types.end() || type->second.empty() ? ""
                                                     : " [label=" + quoted(type->second) + "]") +
        ";\n";
  }

  void add(const ModelGraph &graph) {
    for (const auto *list : {&graph.inputs, &graph.values, &graph.outputs})
      for (const GraphValue &value : *list)
        types[value.name] = typeOf(value);
    for (const GraphNode &each : graph.nodes) {
      const std::string id = node(each.name + "\n" + each.kernel,
                                  each.place == "npu"    ? ", fillcolor=lightblue, style=filled"
                                  : each.place == "host" ? ", fillcolor=lightyellow, style=filled"
                                                         : "");
      for (const std::string &input : each.inputs)
        edge(input, id);
      for (size_t i = 0; i < each.bodies.size(); ++i) {
        text += "  subgraph cluster_" + id + "_" + std::to_string(i) +
                " {\n  label=" + quoted(each.bodies[i].name) + ";\n";
        for (const GraphValue &input : each.bodies[i].inputs)
          makers[input.name] = node(input.name, ", shape=ellipse");
        add(each.bodies[i]);
        text += "  }\n";
      }
      for (const std::string &output : each.outputs)
        makers[output] = id;
    }
  }

  std::string text;
  unsigned nodes = 0;
  std::map<std::string, std::string> makers, types; ///< by the name of the value
};

//===----------------------------------------------------------------------===//
// ONNX
//===----------------------------------------------------------------------===//

/// Writes fields of protobuf messages; their numbers are those of onnx.proto.
class Message {
public:
  Message &number(unsigned field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message &text(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes.append(value);
    return *this;
  }
  Message &message(unsigned field, const Message &value) { return text(field, value.bytes); }
  const std::string &take() const { return bytes; }

private:
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }

  std::string bytes;
};

Message valueMessage(const GraphValue &value) {
  Message info;
  info.text(1, value.name);
  if (value.dtype == OM_UNDEFINED)
    return info;
  Message tensor;
  tensor.number(1, value.dtype); // the numbers are ONNX's
  if (value.isRanked) {
    Message shape;
    for (size_t i = 0; i < value.dims.size(); ++i) {
      Message dim;
      if (value.dims[i] >= 0)
        dim.number(1, static_cast<uint64_t>(value.dims[i]));
      else if (i < value.names.size() && !value.names[i].empty())
        dim.text(2, value.names[i]);
      shape.message(1, dim);
    }
    tensor.message(2, shape);
  }
  return info.message(2, Message().message(1, tensor));
}

/// The bodies of nodes are graphs as deep as the loader allows blocks.
Message graphMessage(const ModelGraph &graph) {
  Message out;
  for (const GraphNode &each : graph.nodes) {
    Message node;
    for (const std::string &input : each.inputs)
      node.text(1, input);
    for (const std::string &output : each.outputs)
      node.text(2, output);
    node.text(3, each.name).text(4, each.kernel);
    auto attribute = [&](const std::string &name, const std::string &value) {
      node.message(5, Message().text(1, name).text(4, value).number(20, 3));
    };
    attribute("place", each.place);
    for (size_t i = 0; i < each.bodies.size(); ++i)
      node.message(5, Message()
                          .text(1, each.bodies[i].name.empty() ? "body" + std::to_string(i)
                                                               : each.bodies[i].name)
                          .message(6, graphMessage(each.bodies[i]))
                          .number(20, 5));
    node.text(7, "openatc");
    out.message(1, node);
  }
  out.text(2, graph.name.empty() ? "model" : graph.name);
  for (const GraphValue &input : graph.inputs)
    out.message(11, valueMessage(input));
  for (const GraphValue &output : graph.outputs)
    out.message(12, valueMessage(output));
  for (const GraphValue &value : graph.values)
    out.message(13, valueMessage(value));
  return out;
}
} // namespace

std::string graphAsDot(const ModelGraph &graph) { return DotWriter().run(graph); }

std::string graphAsOnnx(const ModelGraph &graph) {
  return Message()
      .number(1, 8)
      .text(2, "OpenATC")
      .message(7, graphMessage(graph))
      .message(8, Message().text(1, "openatc").number(2, 1))
      .take();
}

} // namespace atc::tools
