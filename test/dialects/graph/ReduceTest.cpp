//===-- ReduceTest.cpp - reductions, arg_max, softmax ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::graph::test;

namespace {

Numbers reduceRows(const std::string &kind, const std::string &values,
                   const std::string &element = "f32") {
  return run("tensor<2x" + element + ">",
             constant("x", values, "tensor<2x3x" + element + ">") +
                 "%r = graph.reduce %x {kind = #graph<reduce_kind " + kind +
                 ">, axes = array<i64: 1>, keepdims = false} : (tensor<2x3x" + element +
                 ">) -> tensor<2x" + element + ">");
}

const std::string floats = "[[1.0, -2.0, 4.0], [3.0, 0.5, 2.0]]",
                  positive = "[[1.0, 2.0, 4.0], "
                             "[3.0, 0.5, 2.0]]",
                  integers = "[[1, -2, 4], [3, 5, -9]]";

} // namespace

TEST_CASE("reduce: every kind", "[reduce]") {
  checkClose(reduceRows("sum", floats), {3, 5.5});
  checkClose(reduceRows("mean", floats), {1, 5.5 / 3});
  checkClose(reduceRows("max", floats), {4, 3});
  checkClose(reduceRows("min", floats), {-2, 0.5});
  checkClose(reduceRows("prod", floats), {-8, 3});
  checkClose(reduceRows("l1", floats), {7, 5.5});
  checkClose(reduceRows("l2", floats), {std::sqrt(21.0), std::sqrt(13.25)});
  checkClose(reduceRows("log_sum", positive), {std::log(7.0), std::log(5.5)});
  checkClose(reduceRows("log_sum_exp", floats),
             {std::log(std::exp(1) + std::exp(-2) + std::exp(4)),
              std::log(std::exp(3) + std::exp(0.5) + std::exp(2))});
  checkClose(reduceRows("sum_square", floats), {21, 13.25});
}

TEST_CASE("reduce: log_sum_exp does not overflow", "[reduce]") {
  checkClose(reduceRows("log_sum_exp", "[[1000.0, 1000.0, 1000.0], [-1000.0, -1000.0, -1000.0]]"),
             {1000 + std::log(3.0), -1000 + std::log(3.0)});
}

TEST_CASE("reduce: integers", "[reduce]") {
  CHECK(reduceRows("sum", integers, "i32") == Numbers{3, -1});
  CHECK(reduceRows("mean", integers, "i32") == Numbers{1, 0});
  CHECK(reduceRows("max", integers, "i32") == Numbers{4, 5});
  CHECK(reduceRows("min", integers, "i32") == Numbers{-2, -9});
  CHECK(reduceRows("prod", integers, "i32") == Numbers{-8, -135});
  CHECK(reduceRows("l1", integers, "i32") == Numbers{7, 17});
  CHECK(reduceRows("sum_square", integers, "i32") == Numbers{21, 115});
  CHECK(reduceRows("max", "[[1, 200, 4], [3, 5, 255]]", "ui8") == Numbers{200, 255});
}

TEST_CASE("reduce: several axes, kept and not", "[reduce]") {
  std::string x =
      constant("x", "[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]", "tensor<2x2x2xf32>");
  CHECK(run("tensor<1x2x1xf32>",
            x + "%r = graph.reduce %x {kind = #graph<reduce_kind sum>, axes = array<i64: 0, 2>} : "
                "(tensor<2x2x2xf32>) -> tensor<1x2x1xf32>") == Numbers{14, 22});
  CHECK(run("tensor<f32>",
            x + "%r = graph.reduce %x {kind = #graph<reduce_kind max>, axes = array<i64: 0, 1, "
                "2>, keepdims = false} : (tensor<2x2x2xf32>) -> tensor<f32>") == Numbers{8});
}

TEST_CASE("reduce: of nothing", "[reduce]") {
  Graph graph;
  auto of = [](const std::string &kind) {
    return "%x = graph.constant dense<> : tensor<2x0xf32>\n%r = graph.reduce %x {kind = "
           "#graph<reduce_kind " +
           kind +
           ">, axes = array<i64: 1>, keepdims = false} : "
           "(tensor<2x0xf32>) -> tensor<2xf32>";
  };
  CHECK(graph.run("tensor<2xf32>", of("sum")) == Numbers{0, 0});
  CHECK(graph.run("tensor<2xf32>", of("prod")) == Numbers{1, 1});
  CHECK(graph.runToError("tensor<2xf32>", of("max")) ==
        "'graph.reduce' op has no elements to take the max of");
}

TEST_CASE("arg_max and arg_min", "[reduce]") {
  auto arg = [](const std::string &op, const std::string &more) {
    return run("tensor<2x1xi64>",
               constant("x", "[[1.0, 4.0, 4.0], [3.0, 2.0, 2.0]]", "tensor<2x3xf32>") +
                   "%r = graph." + op + " %x {axis = 1 : i64" + more +
                   "} : (tensor<2x3xf32>) -> tensor<2x1xi64>");
  };
  CHECK(arg("arg_max", "") == Numbers{1, 0});
  CHECK(arg("arg_max", ", select_last = true") == Numbers{2, 0});
  CHECK(arg("arg_min", "") == Numbers{0, 1});
  CHECK(arg("arg_min", ", select_last = true") == Numbers{0, 2});
  CHECK(run("tensor<3xi64>",
            constant("x", "[[1, -4, 4], [3, 2, -2]]", "tensor<2x3xi32>") +
                "%r = graph.arg_max %x {axis = 0 : i64, keepdims = false} : (tensor<2x3xi32>) -> "
                "tensor<3xi64>") == Numbers{1, 1, 0});
}

TEST_CASE("softmax and log_softmax", "[reduce]") {
  std::string x = constant("x", "[[0.0, 1000.0], [0.0, 1000.0]]", "tensor<2x2xf32>");
  auto along = [&](const std::string &op, int axis) {
    return run("tensor<2x2xf32>", x + "%r = graph." + op + " %x {axis = " + std::to_string(axis) +
                                      " : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>");
  };
  checkClose(along("softmax", 0), {0.5, 0.5, 0.5, 0.5});
  checkClose(along("softmax", 1), {0, 1, 0, 1});
  checkClose(along("log_softmax", 0), {-std::log(2), -std::log(2), -std::log(2), -std::log(2)});
  checkClose(along("log_softmax", 1), {-1000, 0, -1000, 0});
}
