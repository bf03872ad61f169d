//===-- GraphRewriter.h - adds nodes to a graph ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_GRAPHREWRITER_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_GRAPHREWRITER_H

#include <string>
#include <vector>

#include "frontends/tf/NodeDefs.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// A graph to which nodes are added.
class GraphRewriter {
public:
  explicit GraphRewriter(pb::GraphDef &graph) {
    for (pb::NodeDef &node : *graph.mutable_node()) {
      nodes[node.name()] = &node;
      names.insert(node.name());
    }
  }

  /// Makes `next` the current node.
  void begin(pb::NodeDef &next) { node = &next; }
  /// Returns the operator of the current node.
  llvm::StringRef op() const { return node->op(); }
  /// Returns the attribute of the current node; null where it has none.
  const pb::AttrValue *attribute(const char *name) const { return attributeOf(*node, name); }
  /// Returns the inputs that are no control edges.
  std::vector<std::string> inputs() const {
    std::vector<std::string> result;
    for (const std::string &input : node->input())
      if (!llvm::StringRef(input).starts_with("^"))
        result.push_back(input);
    return result;
  }
  /// Returns whether an input is a constant, perhaps passed on.
  bool isConstant(llvm::StringRef input) const {
    const pb::NodeDef *source = nodes.lookup(nodeOf(input));
    // Bounded: cycles are found when the graph is ordered, which is later.
    for (size_t passed = 0;
         source && source->op() == "Identity" && source->input_size() != 0 && passed < nodes.size();
         ++passed)
      source = nodes.lookup(nodeOf(source->input(0)));
    return source && source->op() == "Const";
  }
  /// Returns the integers of an input that is a constant of 32-bit ones; empty where it is none.
  std::vector<int64_t> constantInts(llvm::StringRef input) const {
    const pb::NodeDef *source = nodes.lookup(nodeOf(input));
    const pb::AttrValue *value = source ? attributeOf(*source, "value") : nullptr;
    if (!value || source->op() != "Const" || value->tensor().dtype() != pb::DT_INT32)
      return {};
    const pb::TensorProto &tensor = value->tensor();
    if (tensor.int_val_size() != 0) {
      std::vector<int64_t> values(tensor.int_val().begin(), tensor.int_val().end());
      // The last value stands for all that follow.
      const auto &dims = tensor.tensor_shape().dim();
      if (dims.size() == 1 && dims[0].size() <= 8 && dims[0].size() > int64_t(values.size()))
        values.resize(size_t(dims[0].size()), values.back());
      return values;
    }
    std::vector<int32_t> stored(tensor.tensor_content().size() / sizeof(int32_t));
    memcpy(stored.data(), tensor.tensor_content().data(), stored.size() * sizeof(int32_t));
    return {stored.begin(), stored.end()};
  }

  /// Adds a node in front of the current one and returns its name.
  std::string add(const char *op, std::vector<std::string> inputs,
                  llvm::ArrayRef<std::pair<const char *, const pb::AttrValue *>> attributes = {}) {
    pb::NodeDef &made = added.emplace_back();
    std::string name = node->name() + "/" + op;
    while (!names.insert(name).second)
      name += "_";
    made.set_name(name);
    fill(made, op, inputs, attributes);
    return name;
  }
  /// Adds a slice of `x` by the masks of the current node.
  std::string addSliceOf(const std::string &x, llvm::ArrayRef<std::string> ends) {
    std::vector<std::pair<const char *, const pb::AttrValue *>> masks;
    for (const char *name :
         {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "Index"})
      masks.emplace_back(name, attribute(name));
    return add("StridedSlice", {x, ends[0], ends[1], ends[2]}, masks);
  }
  /// Adds a constant: one float, a string, a 32-bit integer, or a vector of these.
  std::string constant(float value) {
    pb::TensorProto tensor;
    tensor.set_dtype(pb::DT_FLOAT);
    tensor.mutable_tensor_shape();
    tensor.add_float_val(value);
    return constant(std::move(tensor));
  }
  std::string text(const char *value) {
    pb::TensorProto tensor;
    tensor.set_dtype(pb::DT_STRING);
    tensor.mutable_tensor_shape();
    tensor.add_string_val(value);
    return constant(std::move(tensor));
  }
  std::string number(int32_t value) {
    pb::TensorProto tensor;
    tensor.set_dtype(pb::DT_INT32);
    tensor.mutable_tensor_shape();
    tensor.add_int_val(value);
    return constant(std::move(tensor));
  }
  /// Adds one number of `type`, exactly.
  std::string number(double value, pb::DataType type) {
    pb::TensorProto tensor;
    tensor.set_dtype(type);
    tensor.mutable_tensor_shape();
    if (type == pb::DT_DOUBLE)
      tensor.add_double_val(value);
    else if (type == pb::DT_INT64)
      tensor.add_int64_val(static_cast<int64_t>(value));
    else
      tensor.add_float_val(static_cast<float>(value));
    return constant(std::move(tensor));
  }
  std::string constant(llvm::ArrayRef<int32_t> values) {
    pb::TensorProto tensor;
    tensor.set_dtype(pb::DT_INT32);
    tensor.mutable_tensor_shape()->add_dim()->set_size(values.size());
    for (int32_t value : values)
      tensor.add_int_val(value);
    return constant(std::move(tensor));
  }
  /// Makes the current node the one whose outputs are `outputs`, of these types.
  void becomeAll(const std::vector<std::string> &outputs, llvm::ArrayRef<pb::DataType> types) {
    node->clear_attr();
    pb::AttrValue list;
    for (pb::DataType type : types)
      list.mutable_list()->add_type(type);
    set("T", list);
    become("IdentityN", outputs);
  }
  /// Makes the current node another one, which keeps its attributes and control edges.
  void become(const char *op, const std::vector<std::string> &inputs) {
    std::vector<std::string> all = inputs;
    for (const std::string &input : node->input())
      if (llvm::StringRef(input).starts_with("^"))
        all.push_back(input);
    fill(*node, op, all, {});
  }
  /// Sets an attribute of the current node.
  void set(const char *name, const pb::AttrValue &value) { (*node->mutable_attr())[name] = value; }
  /// Appends what was added to the graph.
  void finish(pb::GraphDef &graph) {
    for (pb::NodeDef &made : added)
      *graph.add_node() = std::move(made);
  }

private:
  std::string constant(pb::TensorProto &&tensor) {
    pb::AttrValue type, value;
    type.set_type(tensor.dtype());
    *value.mutable_tensor() = std::move(tensor);
    return add("Const", {}, {{"dtype", &type}, {"value", &value}});
  }
  static void fill(pb::NodeDef &made, const char *op, const std::vector<std::string> &inputs,
                   llvm::ArrayRef<std::pair<const char *, const pb::AttrValue *>> attributes) {
    made.set_op(op);
    made.clear_input();
    for (const std::string &input : inputs)
      made.add_input(input);
    for (const auto &[name, value] : attributes)
      if (value)
        (*made.mutable_attr())[name] = *value;
  }

  llvm::StringMap<const pb::NodeDef *> nodes;
  llvm::StringSet<> names;
  std::vector<pb::NodeDef> added;
  pb::NodeDef *node = nullptr;
};

/// The inputs of a node that are no control edges.
using Inputs = std::vector<std::string>;

/// The rewrite of an operator into several others.
struct Decomposed {
  llvm::StringLiteral op;
  unsigned minInputs;
  void (*rewrite)(GraphRewriter &, const Inputs &);
  llvm::StringLiteral becomes;
};

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_GRAPHREWRITER_H
