//===-- OpTraitsTest.cpp - which ops state which facts --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

using Names = std::set<std::string>;

/// Returns the names of the ops of the dialect that have a trait.
template <template <typename> class Trait> Names opsWith(Graph &graph) {
  Names names;
  for (RegisteredOperationName op : graph.context.getRegisteredOperationsByDialect("graph"))
    if (op.hasTrait<Trait>())
      names.insert(op.stripDialect().str());
  return names;
}

} // namespace

TEST_CASE("ops state their traits", "[traits]") {
  Graph graph;
  graph.context.loadDialect<GraphDialect>();
  CHECK(opsWith<IsContraction>(graph) ==
        Names{"conv", "conv_transpose", "fully_connected", "matmul"});
  CHECK(opsWith<AddsBias>(graph) == Names{"conv", "conv_transpose", "fully_connected"});
  CHECK(opsWith<OnlyMovesElements>(graph) == Names{"depth_to_space", "expand", "gather", "reshape",
                                                   "slice", "space_to_depth", "tile", "transpose"});
  CHECK(opsWith<ConvertsQuantized>(graph) == Names{"dequantize", "quantize", "storage_cast"});
  CHECK(opsWith<KeepsShape>(graph) ==
        Names{"cast", "dequantize", "quantize", "relayout", "storage_cast"});
  CHECK(opsWith<RunsOnHost>(graph) == Names{"all_gather", "all_reduce", "all_to_all", "broadcast",
                                            "host_call", "if", "loop", "receive", "reduce_scatter",
                                            "send"});
}

TEST_CASE("ops that only move elements make none", "[traits]") {
  const std::string input =
      constant("x",
               "[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[9.0, 10.0], [11.0, "
               "12.0]], [[13.0, 14.0], [15.0, 16.0]]]]",
               "tensor<1x4x2x2xf32>");
  const std::string from = " : (tensor<1x4x2x2xf32>) -> ";
  const std::string indices = constant("i", "[3, -4]", "tensor<2xi64>");
  const std::pair<std::string, std::string> moves[] = {
      {"tensor<1x1x4x4xf32>", "depth_to_space %x {block = 2, order = #graph<depth_order dcr>}"},
      {"tensor<1x16x1x1xf32>", "space_to_depth %x {block = 2}"},
      {"tensor<3x4x2x2xf32>", "expand %x"},
      {"tensor<2x8xf32>", "reshape %x"},
      {"tensor<1x2x1x2xf32>", "slice %x {starts = array<i64: 0, 3, 1, 0>, sizes = array<i64: 1, 2, "
                              "1, 2>, steps = array<i64: 1, -2, 1, 1>}"},
      {"tensor<1x8x2x2xf32>", "tile %x {repeats = array<i64: 1, 2, 1, 1>}"},
      {"tensor<2x2x4x1xf32>", "transpose %x {permutation = array<i64: 2, 3, 1, 0>}"}};
  auto areFromInput = [](const Numbers &result) {
    return !result.empty() && std::all_of(result.begin(), result.end(), [](double value) {
      return value >= 1 && value <= 16 && value == static_cast<int>(value);
    });
  };
  for (const auto &[type, op] : moves) {
    CAPTURE(op);
    CHECK(areFromInput(run(type, input + "%r = graph." + op + from + type)));
  }
  CHECK(areFromInput(
      run("tensor<1x2x2x2xf32>", input + indices +
                                     "%r = graph.gather %x, %i {axis = 1} : (tensor<1x4x2x2xf32>, "
                                     "tensor<2xi64>) -> tensor<1x2x2x2xf32>")));
}
