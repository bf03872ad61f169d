//===-- VariableStatesTest.cpp - variables that keep a value for the next run -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/variables/VariableStates.h"
#include "frontends/tf/variables/OptimizerSteps.h"
#include "frontends/tf/variables/VariableValues.h"

#include <catch2/catch.hpp>

#include "google/protobuf/text_format.h"

using namespace atc;
using namespace atc::tf_import;

namespace {

/// y calls `outer`, which calls `inner`, where v becomes v + a; a node outside restores v.
const char *graphText = R"(
  node { name: "x" op: "Placeholder" }
  node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } }
  node { name: "y" op: "StatefulPartitionedCall" input: "x" input: "v"
    attr { key: "f" value { func { name: "outer" } } } }
  node { name: "restore" op: "AssignVariableOp" input: "v" input: "x" }
  library {
    function {
      signature { name: "outer" input_arg { name: "a" type: DT_FLOAT }
        input_arg { name: "h" type: DT_RESOURCE } output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "call" op: "PartitionedCall" input: "a" input: "h"
        attr { key: "f" value { func { name: "inner" } } } }
      ret { key: "r" value: "call:output:0" } }
    function {
      signature { name: "inner" input_arg { name: "a" type: DT_FLOAT }
        input_arg { name: "h" type: DT_RESOURCE } output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "read" op: "ReadVariableOp" input: "h" }
      node_def { name: "sum" op: "AddV2" input: "a" input: "read:value:0" }
      node_def { name: "set" op: "AssignVariableOp" input: "h" input: "sum:z:0" }
      ret { key: "r" value: "sum:z:0" } } })";

struct Model {
  pb::GraphDef graph;
  std::vector<NamedTensor> outputs;

  Model() {
    REQUIRE(google::protobuf::TextFormat::ParseFromString(graphText, &graph));
    outputs.emplace_back();
    outputs.back().name = "out";
    outputs.back().tensor = "y";
  }
  pb::FunctionDef &outer() { return *graph.mutable_library()->mutable_function(0); }
  pb::FunctionDef &inner() { return *graph.mutable_library()->mutable_function(1); }
  bool run() { return makeStates(graph, {"v"}, outputs); }
};

void addNode(pb::FunctionDef &function, const char *text) {
  pb::FunctionDef added;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &added));
  function.MergeFrom(added);
}

} // namespace

TEST_CASE("what a run writes once is returned to the caller of each function") {
  Model model;
  REQUIRE(model.run());
  CHECK(model.inner().ret().at("openatc_next_1") == "sum:z:0");
  CHECK(model.outer().ret().at("openatc_next_1") == "call:output:1");
  CHECK(model.outer().signature().output_arg(1).type() == pb::DT_FLOAT);
  REQUIRE(model.outputs.size() == 2);
  CHECK(model.outputs[1].name == "v/next");
  CHECK(model.outputs[1].tensor == "y:1");
  CHECK(model.outputs[1].type == pb::DT_FLOAT);
  CHECK(model.graph.node(1).attr().at(stateAttribute).s() == "v/next");
}

TEST_CASE("a read behind the write that nothing needs does not matter") {
  Model model;
  addNode(model.inner(),
          R"(node_def { name: "late" op: "ReadVariableOp" input: "h" input: "^set" })");
  CHECK(model.run());
}

TEST_CASE("a variable is no state where its value in the next run is not one tensor") {
  Model model;
  SECTION("what is written does not say what was read before") {
    model.inner().mutable_node_def(2)->set_input(1, "a");
  }
  SECTION("a read behind the write is needed") {
    addNode(model.inner(),
            R"(node_def { name: "late" op: "ReadVariableOp" input: "h" input: "^set" }
               node_def { name: "used" op: "Neg" input: "late:value:0" })");
  }
  SECTION("two writes") {
    addNode(model.outer(),
            R"(node_def { name: "set" op: "AssignVariableOp" input: "h" input: "a" })");
  }
  SECTION("two calls of the function that writes") {
    *model.outer().add_node_def() = model.outer().node_def(0);
    model.outer().mutable_node_def(1)->set_name("again");
  }
  SECTION("a write that is no assignment") {
    model.inner().mutable_node_def(2)->set_op("ResourceScatterAdd");
  }
  SECTION("a branch or a loop") {
    (*model.outer().mutable_node_def(0)->mutable_attr())["_openatc_lowered"].set_b(true);
  }
  SECTION("a handle that a condition chooses") {
    addNode(model.outer(), R"(node_def { name: "side" op: "Switch" input: "h" input: "a" })");
  }
  CHECK(!model.run());
  CHECK(model.outputs.size() == 1);
}

TEST_CASE("a long chain of writes and reads takes no time") {
  // Each write of v stores what was read behind the one before; those of u are a circle.
  constexpr int count = 40000;
  pb::GraphDef graph;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(
      R"(node { name: "y" op: "f" input: "a" input: "b" input: "c" }
         library { function { signature { name: "f" input_arg { name: "v" type: DT_RESOURCE }
           input_arg { name: "u" type: DT_RESOURCE } input_arg { name: "x" type: DT_FLOAT }
           output_arg { name: "r" type: DT_FLOAT } } } })",
      &graph));
  pb::FunctionDef &function = *graph.mutable_library()->mutable_function(0);
  auto add = [&](const std::string &name, const char *op, const std::vector<std::string> &inputs) {
    pb::NodeDef &node = *function.add_node_def();
    node.set_name(name);
    node.set_op(op);
    (*node.mutable_attr())["dtype"].set_type(pb::DT_FLOAT);
    for (const std::string &input : inputs)
      node.add_input(input);
  };
  auto pair = [&](const std::string &of, const std::string &number, const std::string &value) {
    add("w" + number, "AssignVariableOp", {of, value});
    add("r" + number, "ReadVariableOp", {of, "^w" + number});
  };
  const bool hasCircle = GENERATE(false, true);
  for (int i = 0; i < count; ++i)
    pair("v", std::to_string(i), i ? "r" + std::to_string(i - 1) + ":value:0" : "x");
  if (hasCircle) {
    pair("u", "a", "rb:value:0");
    pair("u", "b", "ra:value:0");
  }
  (*function.mutable_ret())["r"] = "r" + std::to_string(count - 1) + ":value:0";
  std::vector<NamedTensor> outputs(1);
  outputs[0].name = outputs[0].tensor = "y";
  const int before = function.node_def_size();
  passVariableValues(graph, outputs);
  // Nothing says in which order a circle runs.
  REQUIRE(function.node_def_size() == before + (hasCircle ? 0 : 2));
  if (hasCircle)
    return;
  const pb::NodeDef &write = function.node_def(before + 1);
  CHECK(write.op() == "AssignVariableOp");
  CHECK(write.input(1) == "r" + std::to_string(count - 2) + ":output:0");
  CHECK(function.ret().at("r") == "r" + std::to_string(count - 1) + ":output:0");
}

TEST_CASE("fused steps of optimizers become reads and writes of states") {
  pb::GraphDef graph;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(R"(
    node { name: "x" op: "Placeholder" }
    node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "m" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "PartitionedCall" input: "x" input: "v" input: "m"
      attr { key: "f" value { func { name: "step" } } }
      attr { key: "Tin" value { list { type: DT_FLOAT type: DT_RESOURCE type: DT_RESOURCE } } }
      attr { key: "Tout" value { list { type: DT_FLOAT } } } }
    library {
      function {
        signature { name: "step" input_arg { name: "a" type: DT_FLOAT }
          input_arg { name: "h" type: DT_RESOURCE } input_arg { name: "g" type: DT_RESOURCE }
          output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "apply" op: "ResourceApplyMomentum" input: "h" input: "g" input: "a"
          input: "a" input: "a" input: "^read" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "read" op: "ReadVariableOp" input: "h"
          attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "last" op: "ReadVariableOp" input: "h" input: "^apply"
          attr { key: "dtype" value { type: DT_FLOAT } } }
        node_def { name: "sum" op: "AddV2" input: "last:value:0" input: "read:value:0" }
        ret { key: "r" value: "sum:z:0" } } })",
                                                        &graph));
  expandOptimizerSteps(graph);
  const pb::FunctionDef &function = graph.library().function(0);
  CHECK(function.node_def(0).op() == "AssignSubVariableOp");
  std::vector<std::string> ops;
  for (const pb::NodeDef &node : function.node_def())
    ops.push_back(node.op());
  CHECK(std::count(ops.begin(), ops.end(), "AssignVariableOp") == 1);
  std::vector<NamedTensor> outputs(1);
  outputs[0].name = "out";
  outputs[0].tensor = "y";
  passVariableValues(graph, outputs);
  CHECK(makeStates(graph, {"v", "m"}, outputs));
  CHECK(outputs.size() == 3);
}
