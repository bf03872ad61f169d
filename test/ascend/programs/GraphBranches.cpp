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

} // namespace

int main() {
  EXPECT_OK(GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "0"}}));
  branches();
  loops();
  EXPECT_OK(GEFinalize());
  printf("branches: ok\n");
  return 0;
}
