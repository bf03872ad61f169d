//===-- SearchDecoder.h - the decoder of a search for tokens --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_SEARCHDECODER_H
#define OPENATC_FRONTENDS_ONNX_OPS_SEARCHDECODER_H

#include "frontends/onnx/TensorData.h"
#include "frontends/onnx/ops/FunctionWriter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::onnx_import {

/// Writes nodes to one graph, and constants that it reads to the graph around it.
class SearchWriter {
public:
  using Names = std::vector<std::string>;
  using Ints = llvm::SmallVector<int64_t>;

  SearchWriter(onnx::GraphProto &graph, onnx::GraphProto &constants, std::string prefix)
      : graph(graph), constants(constants), prefix(std::move(prefix)) {}

  /// Adds a node of one or more outputs.
  void add(const char *op, const Names &inputs, const Names &outputs,
           const OnnxAttributes &attributes = {}) {
    onnx::NodeProto &node = addOnnxNode(graph, op, outputs.front(), inputs, attributes);
    for (const std::string &output : outputs)
      node.add_output(output);
  }
  std::string name(const llvm::Twine &own) const { return (llvm::Twine(prefix) + own).str(); }
  /// Adds a node of one output and returns that output's name.
  std::string make(const char *op, const Names &inputs, const OnnxAttributes &attributes = {}) {
    const std::string output = name("value" + llvm::Twine(graph.node_size()));
    add(op, inputs, {output}, attributes);
    return output;
  }
  /// Makes two outputs: elements and their indices.
  std::pair<std::string, std::string> topK(const std::string &x, const std::string &count,
                                           bool largest = true) {
    const std::string values = name("value" + llvm::Twine(graph.node_size())),
                      indices = values + "/i";
    add("TopK", {x, count}, {values, indices},
        {{"axis", int64_t(1)}, {"largest", int64_t(largest)}, {"sorted", int64_t(1)}});
    return {values, indices};
  }

  /// Return constants: a vector of i64, and scalars of i64, i32 and f32.
  std::string integers(const Ints &values) {
    return constant(onnx::TensorProto::INT64, {int64_t(values.size())}, values);
  }
  std::string index(int64_t value) { return constant(onnx::TensorProto::INT64, {}, Ints{value}); }
  std::string token(int64_t value) {
    return constant(onnx::TensorProto::INT32, {}, std::vector<int32_t>{int32_t(value)});
  }
  std::string number(float value) {
    return constant(onnx::TensorProto::FLOAT, {}, std::vector<float>{value});
  }

  /// Returns x[..., begin:end, ...] along an axis.
  std::string slice(const std::string &x, int64_t begin, int64_t end, int64_t axis) {
    return make("Slice", {x, integers({begin}), integers({end}), integers({axis})});
  }
  /// Returns `x` of another shape.
  std::string reshape(const std::string &x, const Ints &shape) {
    return make("Reshape", {x, integers(shape)});
  }
  /// Returns the parts behind each other along an axis.
  std::string concat(const Names &parts, int64_t axis) {
    return make("Concat", parts, {{"axis", axis}});
  }
  /// Returns one dim of `x` as a vector.
  std::string dim(const std::string &x, int64_t axis) {
    return make("Gather", {make("Shape", {x}), integers({axis})});
  }
  std::string gather(const std::string &x, const std::string &at, int64_t axis) {
    return make("Gather", {x, at}, {{"axis", axis}});
  }
  /// Returns `x`; a run fails with the sentence where the condition does not hold.
  std::string require(const std::string &x, const std::string &condition,
                      const std::string &sentence) {
    return make("Require", {x, condition}, {{"message", sentence}});
  }
  /// Returns 0, 1, ... `count` - 1 (a vector of one number) times `factor`, as a column.
  std::string steps(const std::string &count, const std::string &factor) {
    const std::string all =
        make("Range", {index(0), make("Reshape", {count, integers({})}), index(1)});
    return make("Mul", {reshape(all, {-1, 1}), factor});
  }

private:
  template <typename T>
  std::string constant(int type, llvm::ArrayRef<int64_t> dims, const T &values) {
    const std::string own = name("constant" + llvm::Twine(constants.initializer_size()));
    addOnnxConstant(constants, own, type, dims,
                    values.empty() ? llvm::StringRef() : bytesOf(values));
    return own;
  }

  onnx::GraphProto &graph, &constants;
  std::string prefix;
};

/// A decoder: input_ids, position_ids, attention_mask and one past [2, batch, heads, length, size]
/// per layer to logits and one present per layer.
class SearchDecoder {
public:
  using Names = SearchWriter::Names;

  /// After inlining: the inputs, the first three in the order of `types`, and the outputs.
  Names inputs, outputs;
  std::vector<onnx::ValueInfoProto> pasts;
  /// The types of input_ids, position_ids and attention_mask.
  std::vector<int64_t> types;
  /// The size of the vocabulary; 0 where the decoder does not state it.
  int64_t vocabulary = 0;

  /// Reads the interface; returns what is wrong with it.
  std::string read(const onnx::GraphProto &graph) {
    llvm::StringSet<> stored;
    for (const onnx::TensorProto &weight : graph.initializer())
      stored.insert(weight.name());
    for (const char *name : {"input_ids", "position_ids", "attention_mask"}) {
      auto found = llvm::find_if(
          graph.input(), [&](const onnx::ValueInfoProto &one) { return one.name() == name; });
      if (found == graph.input().end())
        return "its decoder has no input '" + std::string(name) + "', which it must have beside " +
               "one past per layer";
      inputs.push_back(name);
      types.push_back(found->type().tensor_type().elem_type());
      if (types.back() != onnx::TensorProto::INT32 && types.back() != onnx::TensorProto::INT64)
        return "input '" + inputs.back() + "' of its decoder has the type " +
               nameElementType(types.back()) + ", expected INT32 or INT64";
    }
    for (const onnx::ValueInfoProto &input : graph.input())
      if (!stored.contains(input.name()) && !llvm::is_contained(inputs, input.name()))
        pasts.push_back(input);
    for (const onnx::ValueInfoProto &past : pasts)
      inputs.push_back(past.name());
    for (const onnx::ValueInfoProto &output : graph.output())
      outputs.push_back(output.name());
    if (pasts.empty() || outputs.size() != pasts.size() + 1)
      return "its decoder has " + std::to_string(inputs.size()) + " inputs and " +
             std::to_string(outputs.size()) +
             " outputs, expected input_ids, position_ids, attention_mask and one past per layer, "
             "and logits and one present per layer";
    if (outputs.front() != "logits")
      return "the first output of its decoder is '" + outputs.front() + "', expected 'logits'";
    const onnx::TensorShapeProto &logits = graph.output(0).type().tensor_type().shape();
    if (logits.dim_size() > 0)
      vocabulary = logits.dim(logits.dim_size() - 1).dim_value();
    for (const onnx::ValueInfoProto &past : pasts) {
      const int64_t type = past.type().tensor_type().elem_type();
      const onnx::TensorShapeProto &shape = past.type().tensor_type().shape();
      if (shape.dim_size() != 5 || shape.dim(2).dim_value() < 1 || shape.dim(4).dim_value() < 1)
        return "input '" + past.name() +
               "' of its decoder must have the shape [2, batch, heads, length, size], of which "
               "the heads and their size are numbers";
      if (type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::FLOAT16 &&
          type != onnx::TensorProto::BFLOAT16)
        return "input '" + past.name() + "' of its decoder has the type " + nameElementType(type) +
               ", expected FLOAT, FLOAT16 or BFLOAT16";
    }
    return "";
  }

  /// Gives all values names of their own.
  void nameOwn(onnx::GraphProto &graph, const SearchWriter &w) {
    llvm::StringMap<std::string> names;
    auto own = [&](const std::string &name) {
      if (!name.empty())
        names[name] = w.name("decoder/" + name);
    };
    llvm::for_each(inputs, own);
    for (const onnx::TensorProto &weight : graph.initializer())
      own(weight.name());
    for (const onnx::NodeProto &node : graph.node())
      llvm::for_each(node.output(), own);
    for (Names *list : {&inputs, &outputs})
      for (std::string &name : *list)
        if (auto found = names.find(name); found != names.end())
          name = found->second;
    rename(*graph.mutable_node(), names);
    for (onnx::TensorProto &weight : *graph.mutable_initializer())
      weight.set_name(names[weight.name()]);
  }

private:
  /// Renames what `names` has, in nodes and in the graphs inside them.
  static void rename(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                     const llvm::StringMap<std::string> &names) {
    auto replace = [&](std::string &name) {
      if (auto found = names.find(name); found != names.end())
        name = found->second;
    };
    for (onnx::NodeProto &node : nodes) {
      for (std::string &input : *node.mutable_input())
        replace(input);
      for (std::string &output : *node.mutable_output())
        replace(output);
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g()) {
          rename(*attribute.mutable_g()->mutable_node(), names);
          for (onnx::ValueInfoProto &output : *attribute.mutable_g()->mutable_output())
            replace(*output.mutable_name());
        }
    }
  }
};

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_SEARCHDECODER_H
