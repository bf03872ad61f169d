//===-- RanksTest.cpp - collectives of the reference interpreter ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include "dialects/graph/interpreter/RankExchange.h"
#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

/// Runs one body on `count` ranks; rank i has the input `inputs[i]`, a vector %x.
std::vector<Numbers> runRanks(const std::string &body, const std::string &result,
                              ArrayRef<std::vector<float>> inputs) {
  Graph graph;
  const std::string type = "tensor<" + std::to_string(inputs[0].size()) + "xf32>";
  std::string text;
  for (size_t rank = 0; rank < inputs.size(); ++rank)
    text += "func.func @rank" + std::to_string(rank) + "(%x: " + type + ") -> " + result + " {" +
            body + "\n return %r : " + result + " }\n";
  auto module = graph.parse(text);
  REQUIRE(module);
  SmallVector<func::FuncOp> functions(module->getOps<func::FuncOp>());
  std::vector<SmallVector<Tensor>> tensors(inputs.size());
  const int64_t size = inputs[0].size();
  for (auto [own, values] : llvm::zip_equal(tensors, inputs))
    own.push_back(Tensor::copyOf(RankedTensorType::get({size}, Float32Type::get(&graph.context)),
                                 ArrayRef(values)));
  auto results = evaluateRanks(functions, tensors);
  REQUIRE(succeeded(results));
  std::vector<Numbers> numbers;
  for (SmallVector<Tensor> &own : *results)
    numbers.push_back(own[0].toDoubles());
  return numbers;
}

const std::vector<std::vector<float>> three = {{1, 2, 3}, {10, 20, -30}, {100, 200, 300}};

} // namespace

TEST_CASE("collectives of the interpreter", "[ranks]") {
  CHECK(runRanks(R"(%r = graph.all_reduce %x {kind = #graph<reduce_kind sum>,
                    ranks = array<i64: 0, 1, 2>} : (tensor<3xf32>) -> tensor<3xf32>)",
                 "tensor<3xf32>", three) == std::vector<Numbers>(3, {111, 222, 273}));
  CHECK(runRanks(R"(%r = graph.all_reduce %x {kind = #graph<reduce_kind max>,
                    ranks = array<i64: 0, 1, 2>} : (tensor<3xf32>) -> tensor<3xf32>)",
                 "tensor<3xf32>", three) == std::vector<Numbers>(3, {100, 200, 300}));
  CHECK(runRanks(R"(%r = graph.all_gather %x {axis = 0, ranks = array<i64: 2, 0, 1>}
                    : (tensor<3xf32>) -> tensor<9xf32>)",
                 "tensor<9xf32>",
                 three) == std::vector<Numbers>(3, {100, 200, 300, 1, 2, 3, 10, 20, -30}));
  CHECK(runRanks(R"(%r = graph.reduce_scatter %x {kind = #graph<reduce_kind min>, axis = 0,
                    ranks = array<i64: 0, 1, 2>} : (tensor<3xf32>) -> tensor<1xf32>)",
                 "tensor<1xf32>", three) == std::vector<Numbers>{{1}, {2}, {-30}});
  CHECK(runRanks(R"(%r = graph.all_to_all %x {split_axis = 0, concat_axis = 0,
                    ranks = array<i64: 0, 1, 2>} : (tensor<3xf32>) -> tensor<3xf32>)",
                 "tensor<3xf32>",
                 three) == std::vector<Numbers>{{1, 10, 100}, {2, 20, 200}, {3, -30, 300}});
  CHECK(runRanks(R"(%r = graph.broadcast %x {root = 1, ranks = array<i64: 0, 1, 2>}
                    : (tensor<3xf32>) -> tensor<3xf32>)",
                 "tensor<3xf32>", three) == std::vector<Numbers>(3, {10, 20, -30}));
}

TEST_CASE("a collective along another dim than the first", "[ranks]") {
  CHECK(runRanks(R"(%a = graph.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
                    %g = graph.all_gather %a {axis = 1, ranks = array<i64: 0, 1>}
                        : (tensor<2x2xf32>) -> tensor<2x4xf32>
                    %r = graph.reshape %g : (tensor<2x4xf32>) -> tensor<8xf32>)",
                 "tensor<8xf32>", {{1, 2, 3, 4}, {5, 6, 7, 8}}) ==
        std::vector<Numbers>(2, {1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST_CASE("messages between stages, and ranks that wait in vain", "[ranks]") {
  Graph graph;
  auto module = graph.parse(R"(
    func.func @first(%x: tensor<2xf32>) {
      graph.send %x {to = 1, tag = 0} : (tensor<2xf32>) -> ()
      return
    }
    func.func @second() -> tensor<2xf32> {
      %y = graph.receive {from = 0, tag = 0} : tensor<2xf32>
      return %y : tensor<2xf32>
    }
    func.func @never() -> tensor<2xf32> {
      %y = graph.receive {from = 0, tag = 1} : tensor<2xf32>
      return %y : tensor<2xf32>
    })");
  REQUIRE(module);
  SmallVector<func::FuncOp> functions(module->getOps<func::FuncOp>());
  std::vector<SmallVector<Tensor>> inputs(2);
  inputs[0].push_back(Tensor::copyOf(RankedTensorType::get({2}, Float32Type::get(&graph.context)),
                                     ArrayRef<float>({3, 4})));
  auto results = evaluateRanks({functions[0], functions[1]}, inputs);
  REQUIRE(succeeded(results));
  CHECK((*results)[1][0].toDoubles() == Numbers{3, 4});
  CHECK(failed(evaluateRanks({functions[0], functions[2]}, inputs)));
  CHECK(graph.lastMessage.find("waits for rank 0, which never sends") != std::string::npos);
  CHECK(failed(evaluateFunction(functions[1], {})));
  CHECK(graph.lastMessage.find("meets other ranks") != std::string::npos);
}
