//===-- FreezeVariables.cpp - variables become constants ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/FreezeVariables.h"

#include "frontends/tf/NodeDefs.h"
#include "frontends/tf/variables/VariableStates.h"
#include "frontends/tf/variables/VariableWrites.h"

#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace atc::tf_import {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;
using NodeIndex = StringMap<const pb::NodeDef *>;

static constexpr const char *keyAttribute = "_checkpoint_key";

static bool isVariable(const pb::NodeDef &node) {
  StringRef op = node.op();
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

/// Whether a node hands on what its input 0 is: also into loops and conditions, where a
/// variable stays the one that it is.
static bool handsOn(const pb::NodeDef &node, const NodeIndex &nodes) {
  StringRef op = node.op();
  if (node.input_size() == 0)
    return false;
  if (op == "Identity" || op == "Enter" || op == "Exit" || op == "Switch")
    return true;
  return op == "Merge" && llvm::any_of(node.input(), [&](StringRef input) {
           auto from = nodes.find(nodeOf(input));
           return from != nodes.end() && from->second->op() == "NextIteration";
         });
}

namespace {
/// Answers where tensors of one list of nodes come from.
class Origins {
public:
  explicit Origins(const Nodes &list) {
    for (const pb::NodeDef &node : list)
      nodes[node.name()] = &node;
  }

  /// The node that `tensor` comes from when nodes that hand it on are passed over; `tensor`
  /// is then what the last one reads. Null where no node of the list is that.
  const pb::NodeDef *trace(StringRef &tensor) {
    std::vector<const pb::NodeDef *> passed;
    Origin origin{nullptr, tensor};
    while (true) {
      auto found = nodes.find(nodeOf(origin.tensor));
      if (found == nodes.end()) {
        origin.node = nullptr;
        break;
      }
      origin.node = found->second;
      // A node that is on the way already has no origin yet: a circle ends with none.
      auto [known, isNew] = origins.try_emplace(origin.node, Origin{nullptr, origin.tensor});
      if (!isNew) {
        // A node that hands nothing on is its own origin, of any of its outputs.
        if (known->second.node != origin.node)
          origin = known->second;
        break;
      }
      if (!handsOn(*origin.node, nodes)) {
        known->second.node = origin.node;
        break;
      }
      passed.push_back(origin.node);
      origin.tensor = origin.node->input(0);
    }
    // Each node is passed once, however many tensors come through it.
    for (const pb::NodeDef *node : passed)
      origins[node] = origin;
    tensor = origin.tensor;
    return origin.node;
  }

private:
  struct Origin {
    const pb::NodeDef *node;
    StringRef tensor;
  };
  NodeIndex nodes;
  DenseMap<const pb::NodeDef *, Origin> origins;
};
} // namespace

/// Finds the pairs of RestoreV2 and an assignment in one list of nodes and tells
/// `found` the variable's tensor and its key.
template <typename Found> static void findRestored(const Nodes &list, Found found) {
  if (llvm::none_of(list, [](const pb::NodeDef &node) { return node.op() == "RestoreV2"; }))
    return;
  Origins origins(list);
  for (const pb::NodeDef &assign : list) {
    if ((assign.op() != "AssignVariableOp" && assign.op() != "Assign") || assign.input_size() < 2)
      continue;
    StringRef value = assign.input(1);
    const pb::NodeDef *restore = origins.trace(value);
    if (!restore || restore->op() != "RestoreV2" || restore->input_size() < 2)
      continue;
    // "RestoreV2:tensors:5" in a function, "save/RestoreV2:5" in the main graph.
    auto [rest, number] = value.rsplit(':');
    unsigned index = 0;
    if (rest.size() != value.size() && number.getAsInteger(10, index))
      continue;
    StringRef keys = restore->input(1);
    const pb::NodeDef *names = origins.trace(keys);
    const pb::AttrValue *constant = names ? attributeOf(*names, "value") : nullptr;
    if (constant && index < static_cast<unsigned>(constant->tensor().string_val_size()))
      found(StringRef(assign.input(0)), constant->tensor().string_val(index));
  }
}

/// The keys of the object graph, by the names of the variables.
static StringMap<std::string> objectGraphKeys(CheckpointBundle &checkpoint,
                                              Diagnostics &diagnostics) {
  StringMap<std::string> keys;
  // A checkpoint of the old kind has none.
  static constexpr StringLiteral objectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH";
  if (!checkpoint.contains(objectGraph))
    return keys;
  std::optional<std::string> bytes = checkpoint.readString(objectGraph, diagnostics);
  google::protobuf::LogSilencer silencer;
  pb::TrackableObjectGraph objects;
  if (!bytes || !objects.ParseFromString(*bytes))
    return keys;
  for (const auto &object : objects.nodes())
    for (const auto &tensor : object.attributes())
      if (!tensor.full_name().empty())
        keys.try_emplace(tensor.full_name(), tensor.checkpoint_key());
  return keys;
}

void markVariables(pb::GraphDef &graph, CheckpointBundle *checkpoint, Diagnostics &diagnostics) {
  Origins origins(graph.node());
  StringMap<std::string> restored;
  auto note = [&](StringRef tensor, StringRef key) {
    const pb::NodeDef *variable = origins.trace(tensor);
    if (variable && isVariable(*variable))
      restored.try_emplace(variable->name(), key.str());
  };
  findRestored(graph.node(), note);

  StringMap<const pb::FunctionDef *> functions;
  for (const pb::FunctionDef &function : graph.library().function())
    functions[function.signature().name()] = &function;
  StringSet<> looked;
  for (const pb::NodeDef &call : graph.node()) {
    const pb::AttrValue *callee = attributeOf(call, "f");
    auto function = functions.find(callee ? callee->func().name() : call.op());
    // Visiting a function once is enough: every call passes the same variables.
    if (function == functions.end() || !looked.insert(function->first()).second)
      continue;
    StringMap<StringRef> arguments;
    int next = 0;
    for (const pb::OpDef::ArgDef &argument : function->second->signature().input_arg())
      if (next < call.input_size())
        arguments[argument.name()] = call.input(next++);
    findRestored(function->second->node_def(), [&](StringRef tensor, StringRef key) {
      auto outside = arguments.find(nodeOf(tensor));
      if (outside != arguments.end())
        note(outside->second, key);
    });
  }

  StringMap<std::string> saved;
  if (checkpoint)
    saved = objectGraphKeys(*checkpoint, diagnostics);
  for (pb::NodeDef &node : *graph.mutable_node()) {
    if (!isVariable(node))
      continue;
    const pb::AttrValue *shared = attributeOf(node, "shared_name");
    std::string own = shared && !shared->s().empty() ? shared->s() : node.name();
    auto byRestore = restored.find(node.name());
    auto byObject = saved.find(own);
    std::string key = byRestore != restored.end() ? byRestore->second
                      : byObject != saved.end()   ? byObject->second
                                                  : own;
    (*node.mutable_attr())[keyAttribute].set_s(key);
    (*node.mutable_attr())[variableNameAttribute].set_s(node.name());
  }
}

/// Whether a tensor of `shape` may be the value of a variable declared as `declared`.
static bool shapeFits(const pb::TensorShapeProto &declared, const pb::TensorShapeProto &shape) {
  if (declared.unknown_rank())
    return true;
  if (declared.dim_size() != shape.dim_size())
    return false;
  for (int i = 0; i < declared.dim_size(); ++i)
    if (declared.dim(i).size() >= 0 && declared.dim(i).size() != shape.dim(i).size())
      return false;
  return true;
}

/// Whether all elements of a tensor of a checkpoint are 0.
static bool isZeros(const pb::TensorProto &tensor) {
  return tensor.string_val_size() == 0 &&
         StringRef(tensor.tensor_content()).find_first_not_of('\0') == StringRef::npos;
}

static bool freezeOne(pb::NodeDef &node, CheckpointBundle *checkpoint, Diagnostics &diagnostics) {
  const pb::AttrValue *key = attributeOf(node, keyAttribute);
  if (!key || !checkpoint) {
    diagnostics.error("E13005", "variable '" + node.name() +
                                    "' has no value: the model has no "
                                    "checkpoint (folder 'variables')");
    return false;
  }
  pb::TensorProto tensor;
  if (!checkpoint->readTensor(key->s(), node.name(), tensor, diagnostics))
    return false;
  const pb::AttrValue *type = attributeOf(node, "dtype");
  const pb::AttrValue *shape = attributeOf(node, "shape");
  if ((type && type->type() != tensor.dtype()) ||
      (shape && !shapeFits(shape->shape(), tensor.tensor_shape()))) {
    diagnostics.error("E13005", "variable '" + node.name() + "': its value in the checkpoint ('" +
                                    key->s() + "') has another type or shape than the model says");
    return false;
  }
  node.clear_input();
  if (const pb::AttrValue *state = attributeOf(node, stateAttribute)) {
    const pb::AttrValue output = *state;
    node.set_op("Placeholder");
    node.clear_attr();
    (*node.mutable_attr())["dtype"].set_type(tensor.dtype());
    *(*node.mutable_attr())["shape"].mutable_shape() = tensor.tensor_shape();
    (*node.mutable_attr())[stateAttribute] = output;
    if (!isZeros(tensor))
      *(*node.mutable_attr())[firstValueAttribute].mutable_tensor() = std::move(tensor);
    return true;
  }
  node.set_op("Const");
  node.clear_attr();
  (*node.mutable_attr())["dtype"].set_type(tensor.dtype());
  *(*node.mutable_attr())["value"].mutable_tensor() = std::move(tensor);
  return true;
}

bool freezeVariables(pb::GraphDef &graph, CheckpointBundle *checkpoint, Diagnostics &diagnostics) {
  StringMap<pb::DataType> variables;
  unsigned errorsBefore = diagnostics.numErrors();
  for (pb::NodeDef &node : *graph.mutable_node())
    // Go on after an error: all of them reach the user at once.
    if (isVariable(node) && freezeOne(node, checkpoint, diagnostics))
      variables[node.name()] = node.attr().at("dtype").type();
  if (diagnostics.numErrors() != errorsBefore)
    return false;

  Origins origins(graph.node());
  StringSet<> names;
  for (const pb::NodeDef &node : graph.node())
    names.insert(node.name());
  auto variableType = [&](StringRef tensor) -> std::optional<pb::DataType> {
    const pb::NodeDef *node = origins.trace(tensor);
    auto found = node ? variables.find(node->name()) : variables.end();
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };

  std::vector<pb::NodeDef> axes;
  for (pb::NodeDef &node : *graph.mutable_node()) {
    bool isRead = node.op() == "ReadVariableOp", isGather = node.op() == "ResourceGather";
    if (isRead || isGather) {
      std::optional<pb::DataType> type;
      if (node.input_size() == (isRead ? 1 : 2))
        type = variableType(node.input(0));
      if (!type) {
        diagnostics.error("E13005", "node '" + node.name() + "' (" + node.op() +
                                        ") does not read a variable of the model");
        continue;
      }
      auto &attributes = *node.mutable_attr();
      if (isRead) {
        node.set_op("Identity");
        attributes.clear();
        attributes["T"].set_type(*type);
        continue;
      }
      pb::AttrValue indexType = attributes["Tindices"], batchDims = attributes["batch_dims"];
      node.set_op("GatherV2");
      attributes.clear();
      attributes["Tparams"].set_type(*type);
      attributes["Tindices"] = indexType;
      attributes["Taxis"].set_type(pb::DT_INT32);
      attributes["batch_dims"].set_i(batchDims.i());
      // The batch dimensions stand before the one that is gathered from.
      pb::NodeDef axis;
      axis.set_name(node.name() + "/axis");
      while (!names.insert(axis.name()).second)
        axis.set_name(axis.name() + "_");
      axis.set_op("Const");
      (*axis.mutable_attr())["dtype"].set_type(pb::DT_INT32);
      pb::TensorProto &value = *(*axis.mutable_attr())["value"].mutable_tensor();
      value.set_dtype(pb::DT_INT32);
      value.mutable_tensor_shape();
      value.add_int_val(static_cast<int>(batchDims.i()));
      node.add_input(axis.name());
      axes.push_back(std::move(axis));
    } else if (node.op() == "Identity" && node.input_size() == 1) {
      // An Identity of the handle is one of the value now.
      if (std::optional<pb::DataType> type = variableType(node.input(0)))
        (*node.mutable_attr())["T"].set_type(*type);
    }
  }
  for (pb::NodeDef &axis : axes)
    *graph.add_node() = std::move(axis);
  return diagnostics.numErrors() == errorsBefore;
}

} // namespace atc::tf_import
