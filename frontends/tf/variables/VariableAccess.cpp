//===-- VariableAccess.cpp - operators that read and write variables -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/VariableAccess.h"

#include "frontends/tf/NodeDefs.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace atc::tf_import {

bool VariableUse::add(const VariableUse &more, const std::string &prefix) {
  if (more.type != pb::DT_INVALID && type != pb::DT_INVALID && more.type != type)
    return false;
  if (more.type != pb::DT_INVALID)
    type = more.type;
  if (more.writes && !writes) {
    writes = true;
    writer = prefix + more.writer;
    writerOp = more.writerOp;
  }
  return true;
}

namespace {

/// How an operator takes and changes a variable that is its first input.
enum class Access {
  Unknown,
  Read,
  Shape,
  Gather,
  GatherNd,
  Assign,
  Add,
  Subtract,
  Scatter,
  ScatterNd,
  Slice
};

Access accessOf(StringRef op) {
  return StringSwitch<Access>(op)
      .Case("ReadVariableOp", Access::Read)
      .Case("VariableShape", Access::Shape)
      .Case("ResourceGather", Access::Gather)
      .Case("ResourceGatherNd", Access::GatherNd)
      .Case("AssignVariableOp", Access::Assign)
      .Case("AssignAddVariableOp", Access::Add)
      .Case("AssignSubVariableOp", Access::Subtract)
      .Cases({"ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub",
              "ResourceScatterMin", "ResourceScatterMax"},
             Access::Scatter)
      .Cases({"ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub",
              "ResourceScatterNdMin", "ResourceScatterNdMax"},
             Access::ScatterNd)
      .Case("ResourceStridedSliceAssign", Access::Slice)
      .Default(Access::Unknown);
}

/// The attribute with the type of the variable's elements.
const char *typeAttribute(Access access) {
  return access == Access::ScatterNd || access == Access::Slice ? "T" : "dtype";
}

/// Removes what a node does, but not its position in the order of execution.
void makeNoOp(pb::NodeDef &node) {
  std::vector<std::string> order;
  for (const std::string &input : node.input())
    if (StringRef(input).starts_with("^"))
      order.push_back(input);
  node.set_op("NoOp");
  node.clear_attr();
  node.clear_input();
  for (std::string &input : order)
    node.add_input(std::move(input));
}

} // namespace

bool addAccess(const pb::NodeDef &node, VariableUse &use) {
  const Access access = accessOf(node.op());
  if (access == Access::Unknown)
    return false;
  const int wanted = access == Access::Read || access == Access::Shape          ? 1
                     : access == Access::Scatter || access == Access::ScatterNd ? 3
                     : access == Access::Slice                                  ? 5
                                                                                : 2;
  if (node.input_size() < wanted || StringRef(node.input(wanted - 1)).starts_with("^"))
    return false;
  const pb::AttrValue *type = attributeOf(node, typeAttribute(access));
  if (access != Access::Shape) {
    if (!type || type->type() == pb::DT_INVALID)
      return false;
    use.type = type->type();
  }
  if (access >= Access::Assign) {
    use.writes = true;
    use.writer = node.name();
    use.writerOp = node.op();
  }
  return true;
}

pb::NodeDef &addNode(pb::FunctionDef &function, const std::string &name, const char *op) {
  pb::NodeDef &node = *function.add_node_def();
  node.set_name(name);
  node.set_op(op);
  return node;
}

/// Adds a constant of one int32.
static std::string addNumber(pb::FunctionDef &function, const std::string &name, int64_t number) {
  pb::NodeDef &node = addNode(function, name, "Const");
  (*node.mutable_attr())["dtype"].set_type(pb::DT_INT32);
  pb::TensorProto &value = *(*node.mutable_attr())["value"].mutable_tensor();
  value.set_dtype(pb::DT_INT32);
  value.mutable_tensor_shape();
  value.add_int_val(static_cast<int>(number));
  return name + ":output:0";
}

void rewriteAccess(pb::FunctionDef &function, int number, VariableValue &value,
                   StringMap<std::string> &renamed) {
  const Access access = accessOf(function.node_def(number).op());
  std::string extra, deep;
  const std::string name = function.node_def(number).name();
  if (access == Access::Gather) {
    const pb::AttrValue *batch = attributeOf(function.node_def(number), "batch_dims");
    extra = addNumber(function, name + "/openatc_axis", batch ? batch->i() : 0);
  } else if (access == Access::Scatter) {
    const std::string dim = addNumber(function, name + "/openatc_dim", -1);
    pb::NodeDef &node = addNode(function, name + "/openatc_rows", "ExpandDims");
    node.add_input(function.node_def(number).input(1));
    node.add_input(dim);
    deep = node.name() + ":output:0";
    if (const pb::AttrValue *type = attributeOf(function.node_def(number), "Tindices"))
      (*node.mutable_attr())["T"] = *type;
    (*node.mutable_attr())["Tdim"].set_type(pb::DT_INT32);
  }
  pb::NodeDef &node = *function.mutable_node_def(number);
  if (access == Access::Assign) {
    value.tensor = node.input(1);
    makeNoOp(node);
    return;
  }
  node.set_input(0, value.tensor);
  auto retype = [&](const char *attribute) {
    node.mutable_attr()->erase(typeAttribute(access));
    (*node.mutable_attr())[attribute].set_type(value.type);
  };
  switch (access) {
  case Access::Read:
    node.set_op("Identity");
    retype("T");
    renamed[name + ":value:0"] = name + ":output:0";
    break;
  case Access::Shape:
    node.set_op("Shape");
    (*node.mutable_attr())["T"].set_type(value.type);
    break;
  case Access::Gather: {
    node.set_op("GatherV2");
    retype("Tparams");
    (*node.mutable_attr())["Taxis"].set_type(pb::DT_INT32);
    std::vector<std::string> inputs(node.input().begin(), node.input().end());
    inputs.insert(inputs.begin() + 2, extra);
    node.clear_input();
    for (std::string &input : inputs)
      node.add_input(std::move(input));
    break;
  }
  case Access::GatherNd:
    node.set_op("GatherNd");
    retype("Tparams");
    break;
  case Access::Add:
  case Access::Subtract:
    node.set_op(access == Access::Add ? "AddV2" : "Sub");
    retype("T");
    value.tensor = name + ":z:0";
    break;
  case Access::Scatter:
    node.set_input(1, deep);
    [[fallthrough]];
  case Access::ScatterNd: {
    StringRef kind = node.op();
    kind.consume_front("ResourceScatter");
    kind.consume_front("Nd");
    node.set_op("TensorScatter" + kind.str());
    retype("T");
    value.tensor = name + ":output:0";
    break;
  }
  case Access::Slice:
    node.set_op("TensorStridedSliceUpdate");
    value.tensor = name + ":output:0";
    break;
  case Access::Unknown:
  case Access::Assign:
    break;
  }
}

} // namespace atc::tf_import
