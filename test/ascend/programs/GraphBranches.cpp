//===-- GraphBranches.cpp - graphs that call graphs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: program. Builds branches, loops and calls as programs of the graph interface do, and runs
// them in a session.

#include "test/ascend/programs/Program.h"

#include "ge/ge_api.h"
#include "ge/ge_error_codes.h"
#include "ge/ge_ir_build.h"
#include "op_proto/all_ops.h"

#include <cmath>
#include <cstring>

namespace {

using namespace ge;
using Options = std::map<AscendString, AscendString>;

#define EXPECT_OK(call)                                                                            \
  do {                                                                                             \
    if ((call) != 0) {                                                                             \
      fprintf(stderr, "%s:%d: %s fails: %s\n", __FILE__, __LINE__, #call,                          \
              GEGetErrorMsgV2().GetString());                                                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

const TensorDesc vectorDesc(Shape({2}), FORMAT_ND, DT_FLOAT);
const TensorDesc numberDesc(Shape(std::vector<int64_t>()), FORMAT_ND, DT_INT32);

op::Data dataOf(const char *name, int64_t index, const TensorDesc &desc) {
  op::Data data(name);
  data.set_attr_index(index);
  data.update_input_desc_x(desc);
  data.update_output_desc_y(desc);
  return data;
}

Tensor number(int32_t value) {
  return Tensor(numberDesc, reinterpret_cast<const uint8_t *>(&value), sizeof(value));
}

op::Const constantOf(const char *name, int32_t value) {
  return op::Const(name).set_attr_value(number(value));
}

Tensor vectorOf(float first, float second) {
  const float values[] = {first, second};
  return Tensor(vectorDesc, reinterpret_cast<const uint8_t *>(values), sizeof(values));
}

/// Runs a graph with the vector (1, -3) behind `first`, and checks its result.
void expect(const Graph &graph, int32_t first, float left, float right) {
  Session session((Options()));
  EXPECT_OK(session.AddGraph(1, graph));
  std::vector<Tensor> outputs;
  EXPECT_OK(session.RunGraph(1, {number(first), vectorOf(1, -3)}, outputs));
  EXPECT(outputs.size() == 1 && outputs[0].GetSize() == 2 * sizeof(float));
  float values[2];
  memcpy(values, outputs[0].GetData(), sizeof(values));
  if (std::fabs(values[0] - left) > 1e-2f || std::fabs(values[1] - right) > 1e-2f) {
    fprintf(stderr, "%s: %f %f, expected %f %f\n", graph.GetName().c_str(), values[0], values[1],
            left, right);
    exit(1);
  }
}

/// A graph of one operator of a vector.
template <typename Op> Graph graphOf(const char *name, int64_t index = 0) {
  auto x = dataOf("x", index, vectorDesc);
  auto y = Op("y").set_input_x(x);
  Graph graph(name);
  graph.SetInputs({x}).SetOutputs(std::vector<Operator>{y});
  return graph;
}

void branches() {
  auto condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  // The branch that is not taken calls a branch itself, whose operators have the same names.
  auto inner = [&] {
    auto held = dataOf("x", 0, vectorDesc);
    auto two = constantOf("two", 2);
    auto choose = op::Case("choose")
                      .set_input_branch_index(two)
                      .create_dynamic_input_input(1)
                      .set_dynamic_input_input(0, held)
                      .create_dynamic_output_output(1)
                      .create_dynamic_subgraph_branches(3);
    choose.set_dynamic_subgraph_builder_branches(0, [] { return graphOf<op::Neg>("zero"); });
    choose.set_dynamic_subgraph_builder_branches(1, [] { return graphOf<op::Neg>("one"); });
    choose.set_dynamic_subgraph_builder_branches(2, [] { return graphOf<op::Square>("two"); });
    Graph graph("inner");
    graph.SetInputs({held}).SetOutputs(std::vector<Operator>{choose});
    return graph;
  };
  auto branch = op::If("branch")
                    .set_input_cond(condition)
                    .create_dynamic_input_input(1)
                    .set_dynamic_input_input(0, x)
                    .create_dynamic_output_output(1)
                    .set_subgraph_builder_then_branch([] { return graphOf<op::Abs>("then"); })
                    .set_subgraph_builder_else_branch(inner);
  EXPECT(branch.get_subgraph_then_branch().GetName() == "then");
  EXPECT(branch.GetSubgraphNamesCount() == 2);
  auto result = op::Relu("result").set_input_x(branch, "output0");
  Graph graph("branches");
  graph.SetInputs({condition, x}).SetOutputs(std::vector<Operator>{result});
  expect(graph, 1, 1, 3);
  expect(graph, 0, 1, 9);
  auto open = op::If("open")
                  .set_input_cond(condition)
                  .create_dynamic_input_input(1)
                  .set_dynamic_input_input(0, x)
                  .create_dynamic_output_output(1)
                  .set_subgraph_builder_then_branch([] { return graphOf<op::Abs>("then"); });
  Graph half("half");
  half.SetInputs({condition, x}).SetOutputs(std::vector<Operator>{open});
  EXPECT(half.SaveToFile("unwritten.air") != GRAPH_SUCCESS);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "else_branch"));
  open.set_subgraph_builder_else_branch([] { return Graph("nothing"); });
  EXPECT(half.SaveToFile("unwritten.air") != GRAPH_SUCCESS);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "'else_branch' of operator 'open'"));
}

/// Doubles the vector while the number, which counts down, is above 0; then once per step of a For.
void loops() {
  auto count = dataOf("count", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  auto loop =
      op::While("loop")
          .create_dynamic_input_input(2)
          .set_dynamic_input_input(0, count)
          .set_dynamic_input_input(1, x)
          .create_dynamic_output_output(2)
          .set_subgraph_builder_cond([] {
            auto left = dataOf("left", 0, numberDesc), held = dataOf("held", 1, vectorDesc);
            auto more = op::Greater("more").set_input_x1(left).set_input_x2(constantOf("none", 0));
            Graph graph("cond");
            graph.SetInputs({left, held}).SetOutputs(std::vector<Operator>{more});
            return graph;
          })
          .set_subgraph_builder_body([] {
            auto left = dataOf("left", 0, numberDesc), held = dataOf("held", 1, vectorDesc);
            auto less = op::Sub("less").set_input_x1(left).set_input_x2(constantOf("one", 1));
            auto twice = op::Add("twice").set_input_x1(held).set_input_x2(held);
            Graph graph("body");
            graph.SetInputs({left, held}).SetOutputs(std::vector<Operator>{less, twice});
            return graph;
          });
  auto steps = op::For("steps")
                   .set_input_start(constantOf("start", 0))
                   .set_input_limit(constantOf("limit", 3))
                   .set_input_delta(constantOf("delta", 1))
                   .create_dynamic_input_input(1)
                   .set_dynamic_input_input(0, loop, "output1")
                   .create_dynamic_output_output(1)
                   .set_subgraph_builder_body([] {
                     auto step = dataOf("step", 0, numberDesc),
                          held = dataOf("held", 1, vectorDesc);
                     auto twice = op::Add("twice").set_input_x1(held).set_input_x2(held);
                     Graph graph("body");
                     graph.SetInputs({step, held}).SetOutputs(std::vector<Operator>{twice});
                     return graph;
                   });
  auto call = op::PartitionedCall("call")
                  .create_dynamic_input_args(1)
                  .set_dynamic_input_args(0, steps)
                  .create_dynamic_output_output(1)
                  .set_subgraph_builder_f([] { return graphOf<op::Neg>("negative"); });
  Graph graph("loops");
  graph.SetInputs({count, x}).SetOutputs(std::vector<Operator>{call});
  expect(graph, 2, -32, 96);
  expect(graph, 0, -8, 24);
}

/// An If whose branches take two vectors.
op::If choiceOf(const char *name, const Operator &condition, const Operator &x,
                const SubgraphBuilder &taken, const SubgraphBuilder &other) {
  return op::If(name)
      .set_input_cond(condition)
      .create_dynamic_input_input(2)
      .set_dynamic_input_input(0, op::Abs((std::string(name) + "_abs").c_str()).set_input_x(x))
      .set_dynamic_input_input(1, x)
      .create_dynamic_output_output(1)
      .set_subgraph_builder_then_branch(taken)
      .set_subgraph_builder_else_branch(other);
}

/// `left` - `right`, both Data with these indices; -1: none is set.
Graph differenceOf(int64_t left, int64_t right) {
  op::Data data[] = {op::Data("left"), op::Data("right")};
  for (int i = 0; i < 2; ++i) {
    data[i].update_input_desc_x(vectorDesc);
    data[i].update_output_desc_y(vectorDesc);
    const int64_t index = i ? right : left;
    if (index >= 0)
      data[i].set_attr_index(index);
  }
  Graph graph("difference");
  graph.SetInputs({data[0], data[1]})
      .SetOutputs(
          std::vector<Operator>{op::Sub("result").set_input_x1(data[0]).set_input_x2(data[1])});
  return graph;
}

/// Data of branches is numbered by the order of the inputs where no index is set, and never twice.
void numbers() {
  auto condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  auto ordered = [] { return differenceOf(-1, -1); };
  Graph graph("numbers");
  graph.SetInputs({condition, x})
      .SetOutputs(std::vector<Operator>{
          choiceOf("choice", condition, x, ordered, [] { return differenceOf(1, -1); })});
  expect(graph, 1, 0, 6);
  expect(graph, 0, 0, -6);
  // Of inputs of its own: a graph has all that reads its inputs.
  condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  Graph twice("twice");
  twice.SetInputs({condition, x})
      .SetOutputs(std::vector<Operator>{
          choiceOf("choice", condition, x, ordered, [] { return differenceOf(1, 1); })});
  Session session((Options()));
  std::vector<Tensor> outputs;
  EXPECT(session.AddGraph(1, twice) != 0 ||
         session.RunGraph(1, {number(0), vectorOf(1, -3)}, outputs) != 0);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "its index is 1 as that of 'left'"));
}

/// A graph that an operator does not declare is an error, and none takes the place of another.
void declared() {
  auto condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  auto taken = [] { return graphOf<op::Abs>("taken"); };
  auto choice = choiceOf("choice", condition, x, taken, taken);
  choice.SetSubgraphBuilder("then_brunch", 0, taken);
  Graph graph("declared");
  graph.SetInputs({condition, x}).SetOutputs(std::vector<Operator>{choice});
  EXPECT(graph.SaveToFile("unwritten.air") != GRAPH_SUCCESS);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "operator 'choice': it has no graph 'then_brunch'"));
  condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  auto listed = op::Case("listed").set_input_branch_index(condition);
  listed.create_dynamic_input_input(1).set_dynamic_input_input(0, x);
  listed.create_dynamic_output_output(1).create_dynamic_subgraph_branches(1);
  listed.set_dynamic_subgraph_builder_branches(0, taken);
  listed.set_dynamic_subgraph_builder_branches(5, taken);
  Graph list("list");
  list.SetInputs({condition, x}).SetOutputs(std::vector<Operator>{listed});
  EXPECT(list.SaveToFile("unwritten.air") != GRAPH_SUCCESS);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "no graph 'branches' of number 5"));
}

/// Names of operators do not mix up graphs, and a graph that many call is written once.
void shared() {
  auto condition = dataOf("condition", 0, numberDesc), x = dataOf("x", 1, vectorDesc);
  // By the names of the callers both inner graphs would be "names/a/f/b/f".
  auto outer = [&](const char *name, const SubgraphBuilder &called) {
    return [name, called] {
      auto p = dataOf("p", 0, vectorDesc);
      auto call = op::PartitionedCall(name)
                      .create_dynamic_input_args(1)
                      .set_dynamic_input_args(0, p)
                      .create_dynamic_output_output(1)
                      .set_subgraph_builder_f(called);
      Graph graph("outer");
      graph.SetInputs({p}).SetOutputs(std::vector<Operator>{call});
      return graph;
    };
  };
  auto call = [&](const char *name, const Operator &from, const SubgraphBuilder &called) {
    return op::PartitionedCall(name)
        .create_dynamic_input_args(1)
        .set_dynamic_input_args(0, from)
        .create_dynamic_output_output(1)
        .set_subgraph_builder_f(called);
  };
  auto first = call("a", x, outer("b", [] { return graphOf<op::Neg>("neg"); }));
  auto second = call("a/f/b", first, [] { return graphOf<op::Square>("square"); });
  Graph names("names");
  names.SetInputs({condition, x}).SetOutputs(std::vector<Operator>{second});
  expect(names, 0, 1, 9);
  // 40 levels, each of which calls the one below twice.
  Graph below = graphOf<op::Neg>("below");
  auto twoCalls = [&](const Graph &graph) {
    auto p = dataOf("p", 0, vectorDesc);
    auto called = [graph] { return graph; };
    auto upper = call("upper", p, called), lower = call("lower", upper, called);
    Graph result("level");
    result.SetInputs({p}).SetOutputs(std::vector<Operator>{lower});
    return result;
  };
  for (int level = 0; level < 40; ++level)
    below = twoCalls(below);
  EXPECT_OK(below.SaveToFile("levels.air"));
  EXPECT(remove("levels.air") == 0);
  auto p = dataOf("p", 0, vectorDesc);
  Graph loop("loop");
  auto again = call("again", p, [&] { return loop; });
  loop.SetInputs({p}).SetOutputs(std::vector<Operator>{again});
  EXPECT(loop.SaveToFile("unwritten.air") != GRAPH_SUCCESS);
  EXPECT(strstr(GEGetErrorMsgV2().GetString(), "one that it is inside of"));
}

} // namespace

int main() {
  EXPECT_OK(GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "0"}}));
  branches();
  loops();
  numbers();
  declared();
  shared();
  EXPECT_OK(GEFinalize());
  printf("branches: ok\n");
  return 0;
}
