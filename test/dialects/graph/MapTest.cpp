//===-- MapTest.cpp - graph.map by its body -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>

using namespace atc::graph::test;

namespace {

const std::string three = constant("x", "[-2.0, 0.0, 3.0]", "tensor<3xf32>");

} // namespace

TEST_CASE("map: several ops, broadcast inputs", "[map]") {
  CHECK(run("tensor<2x3xf32>",
            three + constant("y", "[[10.0], [20.0]]", "tensor<2x1xf32>") +
                "%r = graph.map %x, %y : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> {\n"
                "^bb0(%a: f32, %b: f32):\n"
                "  %two = arith.constant 2.0 : f32\n"
                "  %c = arith.mulf %a, %two : f32\n"
                "  %d = arith.addf %c, %b : f32\n"
                "  %zero = arith.constant 0.0 : f32\n"
                "  %negative = arith.cmpf olt, %a, %zero : f32\n"
                "  %e = arith.select %negative, %zero, %d : f32\n"
                "  graph.yield %e : f32\n"
                "}") == Numbers{0, 10, 16, 0, 20, 26});
}

TEST_CASE("map: changes the element type", "[map]") {
  CHECK(run("tensor<3xui8>", three + "%r = graph.map %x : (tensor<3xf32>) -> tensor<3xui8> {\n"
                                     "^bb0(%a: f32):\n"
                                     "  %hundred = arith.constant 100.0 : f32\n"
                                     "  %b = arith.addf %a, %hundred : f32\n"
                                     "  %c = arith.fptoui %b : f32 to i8\n"
                                     "  %d = arith.addi %c, %c : i8\n"
                                     "  graph.yield %d : i8\n"
                                     "}") == Numbers{196, 200, 206});
}

TEST_CASE("map: every step rounds to its type", "[map]") {
  // 2048 + 1 is not a number of f16.
  CHECK(run("tensor<1xf16>", constant("x", "[2048.0]", "tensor<1xf16>") +
                                 "%r = graph.map %x : (tensor<1xf16>) -> tensor<1xf16> {\n"
                                 "^bb0(%a: f16):\n"
                                 "  %one = arith.constant 1.0 : f16\n"
                                 "  %b = arith.addf %a, %one : f16\n"
                                 "  %c = arith.subf %b, %a : f16\n"
                                 "  graph.yield %c : f16\n"
                                 "}") == Numbers{0});
}

TEST_CASE("map: integer arithmetic of a width", "[map]") {
  CHECK(run("tensor<2xi8>", constant("x", "[-128, 100]", "tensor<2xi8>") +
                                "%r = graph.map %x : (tensor<2xi8>) -> tensor<2xi8> {\n"
                                "^bb0(%a: i8):\n"
                                "  %two = arith.constant 2 : i8\n"
                                "  %b = arith.shrsi %a, %two : i8\n"
                                "  %c = arith.shrui %a, %two : i8\n"
                                "  %d = arith.subi %b, %c : i8\n"
                                "  graph.yield %d : i8\n"
                                "}") == Numbers{-64, 0});
}

TEST_CASE("map: an operation that the interpreter does not know", "[map]") {
  Graph graph;
  CHECK(graph.runToError("tensor<1xi8>", constant("x", "[1]", "tensor<1xi8>") +
                                             "%r = graph.map %x : (tensor<1xi8>) -> tensor<1xi8> "
                                             "{\n^bb0(%a: i8):\n  %b = math.ctlz %a : i8\n"
                                             "  graph.yield %b : i8\n}") ==
        "'graph.map' op cannot evaluate 'math.ctlz' of the body");
}
