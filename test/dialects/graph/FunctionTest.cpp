//===-- FunctionTest.cpp - whole functions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include "mlir/IR/Builders.h"

#include <array>
#include <catch2/catch.hpp>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

Tensor floats(MLIRContext &context, ArrayRef<int64_t> shape, ArrayRef<float> values) {
  return Tensor::copyOf(RankedTensorType::get(shape, Float32Type::get(&context)), values);
}

func::FuncOp firstFunction(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

} // namespace

TEST_CASE("a function: inputs, callback, several results", "[function]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %a = graph.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %b = graph.mul %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %b, %x : tensor<2xf32>, tensor<2xf32>
    })");
  REQUIRE(module);
  std::vector<Tensor> inputs;
  inputs.push_back(floats(graph.context, {2}, {1, 2}));
  inputs.push_back(floats(graph.context, {2}, {10, 20}));
  std::vector<Numbers> seen;
  auto outputs = evaluateFunction(firstFunction(*module), inputs,
                                  [&](Value, const Tensor &t) { seen.push_back(t.toDoubles()); });
  REQUIRE(succeeded(outputs));
  CHECK((*outputs)[0].toDoubles() == Numbers{11, 44});
  CHECK((*outputs)[1].toDoubles() == Numbers{1, 2});
  CHECK(seen == std::vector<Numbers>{{1, 2}, {10, 20}, {11, 22}, {11, 44}});
}

TEST_CASE("a function: unknown dims follow from the inputs", "[function]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
      %a = graph.reshape %x : (tensor<?x4xf32>) -> tensor<?x2xf32>
      %b = graph.relu %a : (tensor<?x2xf32>) -> tensor<?x2xf32>
      %c = graph.slice %b {starts = array<i64: 0, 0>, sizes = array<i64: -1, 1>,
          steps = array<i64: 1, 1>} : (tensor<?x2xf32>) -> tensor<?x1xf32>
      %d = graph.map %b, %c : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x2xf32> {
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        graph.yield %s : f32
      }
      return %d : tensor<?x2xf32>
    })");
  REQUIRE(module);
  Tensor input = floats(graph.context, {1, 4}, {1, -2, 3, 4});
  auto outputs = evaluateFunction(firstFunction(*module), input);
  INFO(graph.lastMessage);
  REQUIRE(succeeded(outputs));
  CHECK((*outputs)[0].getShape() == ArrayRef<int64_t>({2, 2}));
  CHECK((*outputs)[0].toDoubles() == Numbers{2, 1, 6, 7});
}

TEST_CASE("a function: layouts change nothing", "[function]") {
  Graph graph;
  auto module = graph.parse(R"(
    !blocked = tensor<1x2x1x1xf32, #graph.layout<block = 16, halo = [1, 1, 1, 1]>>
    func.func @main(%x: tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> {
      %a = graph.relayout %x : (tensor<1x2x1x1xf32>) -> !blocked
      %b = graph.neg %a : (!blocked) -> !blocked
      %c = graph.relayout %b : (!blocked) -> tensor<1x2x1x1xf32>
      return %c : tensor<1x2x1x1xf32>
    })");
  REQUIRE(module);
  Tensor input = floats(graph.context, {1, 2, 1, 1}, {1, -2});
  auto outputs = evaluateFunction(firstFunction(*module), input);
  REQUIRE(succeeded(outputs));
  CHECK((*outputs)[0].toDoubles() == Numbers{-1, 2});
}

TEST_CASE("a function: wrong inputs are errors", "[function]") {
  Graph graph;
  auto module = graph.parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                            "return %x : tensor<2xf32>\n}");
  REQUIRE(module);
  CHECK(failed(evaluateFunction(firstFunction(*module), {})));
  CHECK(graph.lastMessage == "has 1 inputs, but 0 are given");
  Tensor input = floats(graph.context, {3}, {1, 2, 3});
  CHECK(failed(evaluateFunction(firstFunction(*module), input)));
  CHECK(graph.lastMessage == "input 0 is 'tensor<2xf32>', but 'tensor<3xf32>' is given");
}

TEST_CASE("a function: ops of other dialects are errors", "[function]") {
  Graph graph;
  CHECK(graph.runToError("i32", "%r = arith.constant 1 : i32") ==
        "'arith.constant' op is not an operator that the graph interpreter knows");
}

TEST_CASE("a function: results too large to evaluate are errors", "[function]") {
  Graph graph;
  CHECK(
      graph.runToError("tensor<1000000x1000000xf32>", constant("x", "1.0", "tensor<f32>") +
                                                          "%r = graph.expand %x : (tensor<f32>) -> "
                                                          "tensor<1000000x1000000xf32>") ==
      "'graph.expand' op the result is too large to evaluate");
}

TEST_CASE("a function: host kernels compute what no graph op does", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
      %k = graph.constant dense<2> : tensor<1xi64>
      %v, %i = graph.host_call "TopK"(%x, %k) {axis = array<i64: -1>}
          : (tensor<?x3xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
      %r = graph.host_call "Relu"(%v) {} : (tensor<*xf32>) -> tensor<*xf32>
      return %r, %i : tensor<*xf32>, tensor<*xi64>
    })");
  INFO(graph.lastMessage);
  REQUIRE(module);
  Tensor input = floats(graph.context, {2, 3}, {1, 5, 3, -4, -6, -2});
  auto outputs = evaluateFunction(firstFunction(*module), input);
  INFO(graph.lastMessage);
  REQUIRE(succeeded(outputs));
  CHECK((*outputs)[0].getShape() == ArrayRef<int64_t>({2, 2}));
  CHECK((*outputs)[0].toDoubles() == Numbers{5, 3, 0, 0});
  CHECK((*outputs)[1].toDoubles() == Numbers{1, 2, 2, 0});
}

TEST_CASE("a function: elements below a byte go through host kernels", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<3xi4>) -> tensor<*xi4> {
      %r = graph.host_call "Identity"(%x) {} : (tensor<3xi4>) -> tensor<*xi4>
      return %r : tensor<*xi4>
    })");
  INFO(graph.lastMessage);
  REQUIRE(module);
  Tensor input = Tensor::copyOf<int8_t>(
      RankedTensorType::get({3}, IntegerType::get(&graph.context, 4)), {-8, 7, -1});
  auto outputs = evaluateFunction(firstFunction(*module), input);
  INFO(graph.lastMessage);
  REQUIRE(succeeded(outputs));
  CHECK((*outputs)[0].toDoubles() == Numbers{-8, 7, -1});
}

TEST_CASE("a function: one branch is taken, a loop repeats its body", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<f32>, %limit: tensor<f32>) -> (tensor<f32>, tensor<*xf32>) {
      %two = graph.constant dense<2.0> : tensor<f32>
      %go = graph.compare %x, %limit {predicate = #graph<compare_predicate lt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %r = graph.loop %go, %x : (tensor<i1>, tensor<f32>) -> tensor<f32> {
      ^bb0(%v: tensor<f32>):
        %next = graph.mul %v, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %again = graph.compare %next, %limit {predicate = #graph<compare_predicate lt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
        graph.leave %again, %next : tensor<i1>, tensor<f32>
      }
      %b = graph.if %go : (tensor<i1>) -> tensor<*xf32> {
        %s = graph.add %r, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
        graph.leave %s : tensor<f32>
      } else {
        graph.leave %x : tensor<f32>
      }
      return %r, %b : tensor<f32>, tensor<*xf32>
    })");
  INFO(graph.lastMessage);
  REQUIRE(module);
  for (auto [start, looped, branched] : {std::array{3.0f, 24.0f, 26.0f}, {30.0f, 30.0f, 30.0f}}) {
    std::vector<Tensor> inputs;
    inputs.push_back(floats(graph.context, {}, {start}));
    inputs.push_back(floats(graph.context, {}, {20}));
    auto outputs = evaluateFunction(firstFunction(*module), inputs);
    INFO(graph.lastMessage);
    REQUIRE(succeeded(outputs));
    CHECK((*outputs)[0].toDoubles() == Numbers{looped});
    CHECK((*outputs)[1].toDoubles() == Numbers{branched});
  }
}

TEST_CASE("a function: what a host kernel refuses is an error", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<?x3xf32>) -> tensor<*xf32> {
      %r = graph.host_call "MatMul"(%x, %x) {}
          : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<*xf32>
      return %r : tensor<*xf32>
    })");
  REQUIRE(module);
  Tensor input = floats(graph.context, {1, 3}, {1, 2, 3});
  CHECK(failed(evaluateFunction(firstFunction(*module), input)));
  CHECK(graph.lastMessage.find("the host kernel 'MatMul': ") == 0);
}

TEST_CASE("a function: values that are no tensors of numbers are errors", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<*xf32> {
      %s = graph.host_call "SequenceConstruct"(%x, %x) {}
          : (tensor<2xf32>, tensor<2xf32>) -> !graph.sequence<tensor<*xf32>>
      %r = graph.host_call "ConcatFromSequence"(%s) {axis = array<i64: 0>}
          : (!graph.sequence<tensor<*xf32>>) -> tensor<*xf32>
      return %r : tensor<*xf32>
    })");
  INFO(graph.lastMessage);
  REQUIRE(module);
  Tensor input = floats(graph.context, {2}, {1, 2});
  CHECK(failed(evaluateFunction(firstFunction(*module), input)));
  CHECK(graph.lastMessage ==
        "the host kernel 'SequenceConstruct': its result 0 is no tensor of numbers");
}

TEST_CASE("an op without a rank is an error of the evaluator of single ops", "[function][host]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<*xf32> {
      %r = graph.host_call "Relu"(%x) {} : (tensor<2xf32>) -> tensor<*xf32>
      return %r : tensor<*xf32>
    })");
  REQUIRE(module);
  Tensor input = floats(graph.context, {2}, {1, 2});
  const Tensor *operands[] = {&input};
  SmallVector<Tensor> results;
  std::string error;
  Operation &call = firstFunction(*module).getBody().front().front();
  CHECK(failed(evaluate(&call, operands, results, &error)));
  CHECK(error == "has a result without a rank, which only calls of host kernels may have");
}
