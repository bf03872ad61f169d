//===-- ConvTest.cpp - convolutions, matmuls, batch norm ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::graph::test;

namespace {

const std::string nine =
    constant("x", "[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]", "tensor<1x1x3x3xf32>");
const std::string four = constant("w", "[[[[1.0, 2.0], [3.0, 4.0]]]]", "tensor<1x1x2x2xf32>");

std::string window(const std::string &strides, const std::string &pads,
                   const std::string &dilations, int groups = 1) {
  return "strides = array<i64: " + strides + ">, pads = array<i64: " + pads +
         ">, dilations = array<i64: " + dilations + ">, groups = " + std::to_string(groups) +
         " : i64";
}

Numbers convolveNine(const std::string &attributes, const std::string &size) {
  std::string type = "tensor<1x1x" + size + "x" + size + "xf32>";
  return run(type, nine + four + "%r = graph.conv %x, %w {" + attributes +
                       "} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> " + type);
}

} // namespace

TEST_CASE("conv: strides, pads, dilations", "[conv]") {
  CHECK(convolveNine(window("1, 1", "0, 0, 0, 0", "1, 1"), "2") == Numbers{37, 47, 67, 77});
  CHECK(convolveNine(window("2, 2", "1, 1, 1, 1", "1, 1"), "2") == Numbers{4, 18, 36, 77});
  CHECK(convolveNine(window("1, 1", "0, 0, 0, 0", "2, 2"), "1") == Numbers{64});
}

TEST_CASE("conv: begins and ends of the padding differ", "[conv]") {
  // Begins 0, 1, ends 1, 0: a column of zeros at the left, a row below.
  CHECK(convolveNine(window("1, 1", "0, 1, 1, 0", "1, 1"), "3") ==
        Numbers{2 + 16, 37, 47, 8 + 28, 67, 77, 14, 7 + 16, 8 + 18});
}

TEST_CASE("conv: groups", "[conv]") {
  CHECK(run("tensor<1x2x1x2xf32>",
            constant("x", "[[[[1.0, 2.0]], [[3.0, 4.0]]]]", "tensor<1x2x1x2xf32>") +
                constant("w", "[[[[10.0]]], [[[100.0]]]]", "tensor<2x1x1x1xf32>") +
                "%r = graph.conv %x, %w {" + window("1, 1", "0, 0, 0, 0", "1, 1", 2) +
                "} : (tensor<1x2x1x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x1x2xf32>") ==
        Numbers{10, 20, 300, 400});
  // Two outputs a group: each sees the two channels of its group only.
  CHECK(
      run("tensor<1x4x1xf32>",
          constant("x", "[[[1.0], [2.0], [3.0], [4.0]]]", "tensor<1x4x1xf32>") +
              constant("w", "[[[1.0], [10.0]], [[2.0], [20.0]], [[1.0], [10.0]], [[3.0], [30.0]]]",
                       "tensor<4x2x1xf32>") +
              "%r = graph.conv %x, %w {" + window("1", "0, 0", "1", 2) +
              "} : (tensor<1x4x1xf32>, tensor<4x2x1xf32>) -> tensor<1x4x1xf32>") ==
      Numbers{21, 42, 43, 129});
}

TEST_CASE("conv: one and three spatial dims, two images", "[conv]") {
  CHECK(run("tensor<2x1x2xf32>",
            constant("x", "[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]", "tensor<2x1x4xf32>") +
                constant("w", "1.0", "tensor<1x1x2xf32>") + "%r = graph.conv %x, %w {" +
                window("2", "0, 0", "1") +
                "} : (tensor<2x1x4xf32>, tensor<1x1x2xf32>) -> tensor<2x1x2xf32>") ==
        Numbers{3, 7, 11, 15});
  CHECK(run("tensor<1x1x1x1x1xf32>",
            constant("x", "[[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]]",
                     "tensor<1x1x2x2x2xf32>") +
                constant("w", "1.0", "tensor<1x1x2x2x2xf32>") + "%r = graph.conv %x, %w {" +
                window("1, 1, 1", "0, 0, 0, 0, 0, 0", "1, 1, 1") +
                "} : (tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) -> tensor<1x1x1x1x1xf32>") ==
        Numbers{36});
}

TEST_CASE("conv: fused bias, residual and activation", "[conv]") {
  // conv + bias = [3, -3, 7].
  auto fused = [](const std::string &operands, const std::string &attributes,
                  const std::string &types) {
    return run("tensor<1x1x3xf32>",
               constant("x", "[[[1.0, -2.0, 3.0]]]", "tensor<1x1x3xf32>") +
                   constant("w", "2.0", "tensor<1x1x1xf32>") +
                   constant("b", "1.0", "tensor<1xf32>") +
                   constant("s", "[[[-4.0, 4.0, -8.0]]]", "tensor<1x1x3xf32>") +
                   constant("p", "0.5", "tensor<1xf32>") + "%r = graph.conv %x, %w bias %b " +
                   operands + " {" + window("1", "0, 0", "1") + ", " + attributes +
                   "} : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xf32>" + types +
                   ") -> tensor<1x1x3xf32>");
  };
  std::string residual = ", tensor<1x1x3xf32>", relu = "activation = #graph.activation<relu>";
  CHECK(fused("", relu, "") == Numbers{3, 0, 7});
  CHECK(fused("residual %s", relu, residual) == Numbers{0, 1, 0});
  CHECK(fused("residual %s", relu + ", residual_last", residual) == Numbers{-1, 4, -1});
  CHECK(fused("slope %p", "activation = #graph.activation<prelu>", ", tensor<1xf32>") ==
        Numbers{3, -1.5, 7});
  CHECK(fused("", "activation = #graph.activation<clip, -1.0, 6.0>", "") == Numbers{3, -1, 6});
  CHECK(fused("", "activation = #graph.activation<leaky_relu, 0.25>", "") == Numbers{3, -0.75, 7});
  CHECK(fused("", "activation = #graph.activation<hard_swish>", "") == Numbers{3, 0, 7});
  CHECK(fused("", "activation = #graph.activation<hard_sigmoid, 0.25, 0.5>", "") ==
        Numbers{1, 0, 1});
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  checkClose(fused("", "activation = #graph.activation<sigmoid>", ""),
             {sigmoid(3), sigmoid(-3), sigmoid(7)});
  checkClose(fused("", "activation = #graph.activation<silu>", ""),
             {3 * sigmoid(3), -3 * sigmoid(-3), 7 * sigmoid(7)});
  checkClose(fused("", "activation = #graph.activation<tanh>", ""),
             {std::tanh(3), std::tanh(-3), std::tanh(7)});
  auto mish = [](double x) { return x * std::tanh(std::log1p(std::exp(x))); };
  checkClose(fused("", "activation = #graph.activation<mish>", ""), {mish(3), mish(-3), mish(7)});
  auto gelu = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
  checkClose(fused("", "activation = #graph.activation<gelu>", ""), {gelu(3), gelu(-3), gelu(7)});
}

TEST_CASE("conv: other element types", "[conv]") {
  for (std::string type : {"f16", "bf16", "f64"}) {
    std::string x = "tensor<1x1x2x" + type + ">", w = "tensor<1x1x1x" + type + ">";
    CHECK(run(x, constant("x", "[[[1.5, -2.0]]]", x) + constant("w", "0.5", w) +
                     "%r = graph.conv %x, %w {" + window("1", "0, 0", "1") + "} : (" + x + ", " +
                     w + ") -> " + x) == Numbers{0.75, -1});
  }
  // 100 * 2 does not fit i8 and wraps.
  CHECK(run("tensor<1x1x2xi8>", constant("x", "[[[100, -3]]]", "tensor<1x1x2xi8>") +
                                    constant("w", "2", "tensor<1x1x1xi8>") +
                                    "%r = graph.conv %x, %w {" + window("1", "0, 0", "1") +
                                    "} : (tensor<1x1x2xi8>, tensor<1x1x1xi8>) -> "
                                    "tensor<1x1x2xi8>") == Numbers{-56, -6});
}

TEST_CASE("conv_transpose", "[conv]") {
  auto transposed = [](const std::string &attributes, const std::string &padding, int size) {
    std::string n = std::to_string(size), type = "tensor<1x1x" + n + "x" + n + "xf32>";
    return run(type, constant("x", "[[[[1.0, 2.0], [3.0, 4.0]]]]", "tensor<1x1x2x2xf32>") + four +
                         "%r = graph.conv_transpose %x, %w {" + attributes +
                         ", output_padding = array<i64: " + padding +
                         ">} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> " + type);
  };
  CHECK(transposed(window("1, 1", "0, 0, 0, 0", "1, 1"), "0, 0", 3) ==
        Numbers{1, 4, 4, 6, 20, 16, 9, 24, 16});
  CHECK(transposed(window("2, 2", "0, 0, 0, 0", "1, 1"), "0, 0", 4) ==
        Numbers{1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16});
  CHECK(transposed(window("2, 2", "1, 1, 1, 1", "1, 1"), "1, 1", 3) ==
        Numbers{4, 6, 8, 6, 4, 8, 12, 12, 16});
  CHECK(transposed(window("1, 1", "0, 0, 0, 0", "2, 2"), "0, 0", 4) ==
        Numbers{1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16});
}

TEST_CASE("conv_transpose: groups and bias", "[conv]") {
  CHECK(run("tensor<1x2x2xf32>",
            constant("x", "[[[2.0], [3.0]]]", "tensor<1x2x1xf32>") +
                constant("w", "[[[1.0, 10.0]], [[1.0, 10.0]]]", "tensor<2x1x2xf32>") +
                constant("b", "[0.5, -0.5]", "tensor<2xf32>") +
                "%r = graph.conv_transpose %x, %w bias %b {" + window("1", "0, 0", "1", 2) +
                ", output_padding = array<i64: 0>} : (tensor<1x2x1xf32>, tensor<2x1x2xf32>, "
                "tensor<2xf32>) -> tensor<1x2x2xf32>") == Numbers{2.5, 20.5, 2.5, 29.5});
}

TEST_CASE("matmul: batches and vectors", "[matmul]") {
  auto product = [](const std::string &lhs, const std::string &lhsType, const std::string &rhs,
                    const std::string &rhsType, const std::string &type) {
    return run(type, constant("a", lhs, lhsType) + constant("b", rhs, rhsType) +
                         "%r = graph.matmul %a, %b : (" + lhsType + ", " + rhsType + ") -> " +
                         type);
  };
  std::string square = "[[1.0, 2.0], [3.0, 4.0]]", vector = "[10.0, 1.0]";
  CHECK(product(square, "tensor<2x2xf32>", square, "tensor<2x2xf32>", "tensor<2x2xf32>") ==
        Numbers{7, 10, 15, 22});
  CHECK(product(vector, "tensor<2xf32>", square, "tensor<2x2xf32>", "tensor<2xf32>") ==
        Numbers{13, 24});
  CHECK(product(square, "tensor<2x2xf32>", vector, "tensor<2xf32>", "tensor<2xf32>") ==
        Numbers{12, 34});
  CHECK(product(vector, "tensor<2xf32>", vector, "tensor<2xf32>", "tensor<f32>") == Numbers{101});
  // Two matrices on the left meet one on the right.
  CHECK(product("[[[1.0, 2.0]], [[3.0, 4.0]]]", "tensor<2x1x2xf32>", "[[[1.0], [10.0]]]",
                "tensor<1x2x1xf32>", "tensor<2x1x1xf32>") == Numbers{21, 43});
  CHECK(product("[[1, -2]]", "tensor<1x2xi32>", "[[3], [5]]", "tensor<2x1xi32>",
                "tensor<1x1xi32>") == Numbers{-7});
}

TEST_CASE("fully_connected: transposed filter, bias, activation", "[matmul]") {
  std::string operands =
      constant("x", "[[1.0, 2.0], [3.0, 4.0]]", "tensor<2x2xf32>") +
      constant("w", "[[1.0, 10.0], [-1.0, 0.0], [2.0, 2.0]]", "tensor<3x2xf32>") +
      constant("b", "[0.5, 0.0, -20.0]", "tensor<3xf32>");
  std::string types = " : (tensor<2x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<2x3xf32>";
  CHECK(run("tensor<2x3xf32>", operands + "%r = graph.fully_connected %x, %w bias %b" + types) ==
        Numbers{21.5, -1, -14, 43.5, -3, -6});
  CHECK(run("tensor<2x3xf32>", operands +
                                   "%r = graph.fully_connected %x, %w bias %b {activation = "
                                   "#graph.activation<relu>}" +
                                   types) == Numbers{21.5, 0, 0, 43.5, 0, 0});
}

TEST_CASE("batch_norm", "[conv]") {
  checkClose(run("tensor<1x2x2xf32>",
                 constant("x", "[[[1.0, 3.0], [5.0, 9.0]]]", "tensor<1x2x2xf32>") +
                     constant("s", "[2.0, 1.0]", "tensor<2xf32>") +
                     constant("b", "[0.0, 10.0]", "tensor<2xf32>") +
                     constant("m", "[1.0, 5.0]", "tensor<2xf32>") +
                     constant("v", "[3.75, 15.75]", "tensor<2xf32>") +
                     "%r = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 0.25} : "
                     "(tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, "
                     "tensor<2xf32>) -> tensor<1x2x2xf32>"),
             {0, 2, 10, 11});
}
