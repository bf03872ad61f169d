//===-- MoveTest.cpp - ops that move elements -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>

using namespace atc::graph::test;

namespace {

const std::string six = constant("x", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "tensor<2x3xf32>");

/// An operator of one operand of 2x3 numbers.
Numbers runOnSix(const std::string &op, const std::string &attributes, const std::string &type) {
  return run(type,
             six + "%r = graph." + op + " %x {" + attributes + "} : (tensor<2x3xf32>) -> " + type);
}

std::string slice(const std::string &starts, const std::string &sizes, const std::string &steps) {
  return "starts = array<i64: " + starts + ">, sizes = array<i64: " + sizes +
         ">, steps = array<i64: " + steps + ">";
}

std::string pad(const std::string &low, const std::string &high, const std::string &mode) {
  return "low = array<i64: " + low + ">, high = array<i64: " + high + ">, mode = #graph<pad_mode " +
         mode + ">, value = 9.0";
}

} // namespace

TEST_CASE("transpose and reshape", "[move]") {
  CHECK(runOnSix("transpose", "permutation = array<i64: 1, 0>", "tensor<3x2xf32>") ==
        Numbers{1, 4, 2, 5, 3, 6});
  CHECK(runOnSix("reshape", "", "tensor<3x2xf32>") == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(run("tensor<2x1x3xi8>", constant("x", "[[[1, 2], [3, 4], [5, 6]]]", "tensor<1x3x2xi8>") +
                                    "%r = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : "
                                    "(tensor<1x3x2xi8>) -> tensor<2x1x3xi8>") ==
        Numbers{1, 3, 5, 2, 4, 6});
}

TEST_CASE("expand and tile", "[move]") {
  CHECK(run("tensor<2x2x2xf32>", constant("x", "[[1.0], [2.0]]", "tensor<2x1xf32>") +
                                     "%r = graph.expand %x : (tensor<2x1xf32>) -> "
                                     "tensor<2x2x2xf32>") == Numbers{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(runOnSix("tile", "repeats = array<i64: 2, 1>", "tensor<4x3xf32>") ==
        Numbers{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(runOnSix("tile", "repeats = array<i64: 1, 2>", "tensor<2x6xf32>") ==
        Numbers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
}

TEST_CASE("concat", "[move]") {
  std::string operands = six + constant("y", "[[7.0], [8.0]]", "tensor<2x1xf32>") +
                         constant("z", "[[9.0, 9.5, 10.0]]", "tensor<1x3xf32>");
  CHECK(run("tensor<2x4xf32>", operands + "%r = graph.concat %x, %y {axis = 1 : i64} : "
                                          "(tensor<2x3xf32>, tensor<2x1xf32>) -> "
                                          "tensor<2x4xf32>") == Numbers{1, 2, 3, 7, 4, 5, 6, 8});
  CHECK(run("tensor<3x3xf32>", operands +
                                   "%r = graph.concat %z, %x {axis = 0 : i64} : (tensor<1x3xf32>, "
                                   "tensor<2x3xf32>) -> tensor<3x3xf32>") ==
        Numbers{9, 9.5, 10, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("slice: steps, also backwards", "[move]") {
  CHECK(runOnSix("slice", slice("0, 1", "2, 2", "1, 1"), "tensor<2x2xf32>") == Numbers{2, 3, 5, 6});
  CHECK(runOnSix("slice", slice("1, 2", "2, 2", "-1, -2"), "tensor<2x2xf32>") ==
        Numbers{6, 4, 3, 1});
  CHECK(runOnSix("slice", slice("1, 0", "1, -1", "1, 1"), "tensor<1x3xf32>") == Numbers{4, 5, 6});
  CHECK(runOnSix("slice", slice("0, 0", "0, 3", "1, 1"), "tensor<0x3xf32>").empty());
}

TEST_CASE("pad: every mode", "[move]") {
  CHECK(runOnSix("pad", pad("0, 1", "1, 0", "constant"), "tensor<3x4xf32>") ==
        Numbers{9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9});
  CHECK(runOnSix("pad", pad("0, 2", "0, 1", "edge"), "tensor<2x6xf32>") ==
        Numbers{1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6});
  CHECK(runOnSix("pad", pad("0, 2", "0, 1", "reflect"), "tensor<2x6xf32>") ==
        Numbers{3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5});
  CHECK(runOnSix("pad", pad("0, 2", "0, 1", "wrap"), "tensor<2x6xf32>") ==
        Numbers{2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4});
}

TEST_CASE("pad: negative sizes crop first", "[move]") {
  CHECK(runOnSix("pad", pad("-1, 0", "0, -1", "constant"), "tensor<1x2xf32>") == Numbers{4, 5});
  CHECK(runOnSix("pad", pad("0, 2", "0, -1", "wrap"), "tensor<2x4xf32>") ==
        Numbers{1, 2, 1, 2, 4, 5, 4, 5});
}

TEST_CASE("gather: negative indices, every axis", "[move]") {
  std::string indices = constant("i", "[-1, 0]", "tensor<2xi64>");
  auto gather = [&](int axis, const std::string &type) {
    return run(type, six + indices + "%r = graph.gather %x, %i {axis = " + std::to_string(axis) +
                         " : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> " + type);
  };
  CHECK(gather(0, "tensor<2x3xf32>") == Numbers{4, 5, 6, 1, 2, 3});
  CHECK(gather(1, "tensor<2x2xf32>") == Numbers{3, 1, 6, 4});
  CHECK(run("tensor<3xf32>", six + constant("i", "1", "tensor<i32>") +
                                 "%r = graph.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, "
                                 "tensor<i32>) -> tensor<3xf32>") == Numbers{4, 5, 6});
}

TEST_CASE("gather: an index outside is an error", "[move]") {
  Graph graph;
  auto at = [](const std::string &index) {
    return six + constant("i", index, "tensor<i64>") +
           "%r = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<i64>) -> "
           "tensor<2xf32>";
  };
  CHECK(graph.runToError("tensor<2xf32>", at("3")) ==
        "'graph.gather' op index 3 is not in [-3, 3), the elements of dim 1");
  CHECK(graph.runToError("tensor<2xf32>", at("-4")) ==
        "'graph.gather' op index -4 is not in [-3, 3), the elements of dim 1");
}

TEST_CASE("depth_to_space and space_to_depth", "[move]") {
  std::string channels = constant("x", "[[[[0]], [[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]]]]",
                                  "tensor<1x8x1x1xi32>");
  auto toSpace = [&](const std::string &order) {
    return run("tensor<1x2x2x2xi32>", channels +
                                          "%r = graph.depth_to_space %x {block = 2 : i64, order = "
                                          "#graph<depth_order " +
                                          order +
                                          ">} : (tensor<1x8x1x1xi32>) -> tensor<1x2x2x2xi32>");
  };
  CHECK(toSpace("dcr") == Numbers{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(toSpace("crd") == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  // Space to depth undoes the order dcr.
  CHECK(run("tensor<1x8x1x1xi32>",
            channels + "%s = graph.depth_to_space %x {block = 2 : i64, order = #graph<depth_order "
                       "dcr>} : (tensor<1x8x1x1xi32>) -> tensor<1x2x2x2xi32>\n"
                       "%r = graph.space_to_depth %s {block = 2 : i64} : (tensor<1x2x2x2xi32>) -> "
                       "tensor<1x8x1x1xi32>") == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(run("tensor<1x4x1x2xi32>",
            constant("x", "[[[[0, 1, 2, 3], [4, 5, 6, 7]]]]", "tensor<1x1x2x4xi32>") +
                "%r = graph.space_to_depth %x {block = 2 : i64} : (tensor<1x1x2x4xi32>) -> "
                "tensor<1x4x1x2xi32>") == Numbers{0, 2, 1, 3, 4, 6, 5, 7});
}
