//===-- FunctionTest.cpp - whole functions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include "mlir/IR/Builders.h"

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
