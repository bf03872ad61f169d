//===-- ElementwiseTest.cpp - elementwise ops by their values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::graph::test;

namespace {

Numbers unary(const std::string &op, const std::string &values, int count,
              const std::string &element = "f32", const std::string &attributes = "",
              const std::string &resultElement = "") {
  std::string shape = "tensor<" + std::to_string(count) + "x", input = shape + element + ">";
  std::string output = shape + (resultElement.empty() ? element : resultElement) + ">";
  return run(output, constant("x", values, input) + "%r = graph." + op + " %x {" + attributes +
                         "} : (" + input + ") -> " + output);
}

Numbers binary(const std::string &op, const std::string &lhs, const std::string &rhs,
               const std::string &element, const std::string &attributes = "",
               const std::string &resultElement = "") {
  std::string input = "tensor<3x" + element + ">";
  std::string output = "tensor<3x" + (resultElement.empty() ? element : resultElement) + ">";
  return run(output, constant("a", lhs, input) + constant("b", rhs, input) + "%r = graph." + op +
                         " %a, %b {" + attributes + "} : (" + input + ", " + input + ") -> " +
                         output);
}

const std::string negativePositive = "[-2.0, 0.0, 3.0]";

} // namespace

TEST_CASE("unary functions of floats", "[elementwise]") {
  const std::string &x = negativePositive;
  CHECK(unary("abs", x, 3) == Numbers{2, 0, 3});
  CHECK(unary("neg", x, 3) == Numbers{2, 0, -3});
  CHECK(unary("sign", x, 3) == Numbers{-1, 0, 1});
  CHECK(unary("relu", x, 3) == Numbers{0, 0, 3});
  checkClose(unary("exp", x, 3), {std::exp(-2), 1, std::exp(3)});
  checkClose(unary("sigmoid", x, 3), {1 / (1 + std::exp(2)), 0.5, 1 / (1 + std::exp(-3))});
  checkClose(unary("softplus", x, 3),
             {std::log1p(std::exp(-2)), std::log(2), std::log1p(std::exp(3))});
  checkClose(unary("softsign", x, 3), {-2.0 / 3, 0, 0.75});
  checkClose(unary("hard_swish", x, 3), {-2 * (0.5 - 2.0 / 6), 0, 3});
  checkClose(unary("reciprocal", "[-2.0, 4.0]", 2), {-0.5, 0.25});
  checkClose(unary("rsqrt", "[4.0, 0.25]", 2), {0.5, 2});
  CHECK(unary("is_nan", "[0x7FC00000, 1.0]", 2, "f32", "", "i1") == Numbers{1, 0});
}

TEST_CASE("rounding", "[elementwise]") {
  std::string x = "[-1.5, -0.5, 0.5, 1.5, 2.5, 2.6]";
  CHECK(unary("round", x, 6) == Numbers{-2, 0, 0, 2, 2, 3});
  CHECK(unary("floor", x, 6) == Numbers{-2, -1, 0, 1, 2, 2});
  CHECK(unary("ceil", x, 6) == Numbers{-1, 0, 1, 2, 3, 3});
}

TEST_CASE("functions with parameters", "[elementwise]") {
  const std::string &x = negativePositive;
  CHECK(unary("leaky_relu", x, 3, "f32", "alpha = 0.25") == Numbers{-0.5, 0, 3});
  checkClose(unary("elu", x, 3, "f32", "alpha = 2.0"), {2 * std::expm1(-2), 0, 3});
  checkClose(unary("selu", x, 3, "f32", "alpha = 2.0, gamma = 3.0"), {6 * std::expm1(-2), 0, 9});
  CHECK(unary("hard_sigmoid", x, 3, "f32", "alpha = 0.25, beta = 0.5") == Numbers{0, 0.5, 1});
  CHECK(unary("thresholded_relu", x, 3, "f32", "alpha = 1.0") == Numbers{0, 0, 3});
  CHECK(unary("clip", x, 3, "f32", "min = -1.0, max = 2.0") == Numbers{-1, 0, 2});
  // Bounds that are not integers shrink to the integers between them.
  CHECK(unary("clip", "[-5, 0, 5]", 3, "i32", "min = -1.5, max = 2.5") == Numbers{-1, 0, 2});
  checkClose(unary("gelu", "[1.0]", 1), {0.5 * (1 + std::erf(std::sqrt(0.5)))});
  checkClose(unary("gelu", "[1.0]", 1, "f32", "approximate = true"), {0.8411919906});
}

TEST_CASE("results overflow only where they must", "[elementwise]") {
  checkClose(unary("softplus", "[1000.0, -1000.0]", 2), {1000, 0});
  checkClose(unary("mish", "[1000.0, -1000.0]", 2), {1000, 0});
  checkClose(unary("sigmoid", "[1000.0, -1000.0]", 2), {1, 0});
}

TEST_CASE("integers wrap and keep their signedness", "[elementwise]") {
  CHECK(unary("neg", "[-128, 5]", 2, "i8") == Numbers{-128, -5});
  CHECK(binary("add", "[100, 1, -100]", "[100, 1, -100]", "i8") == Numbers{-56, 2, 56});
  CHECK(binary("add", "[200, 1, 255]", "[100, 1, 1]", "ui8") == Numbers{44, 2, 0});
  CHECK(binary("max", "[200, 1, 3]", "[100, 2, 3]", "ui8") == Numbers{200, 2, 3});
  CHECK(binary("div", "[7, -7, -128]", "[2, 2, -1]", "i8") == Numbers{3, -3, -128});
  CHECK(binary("div", "[200, 7, 9]", "[3, 2, 9]", "ui8") == Numbers{66, 3, 1});
  CHECK(binary("pow", "[2, -3, 1]", "[10, 3, -5]", "i32") == Numbers{1024, -27, 1});
}

TEST_CASE("remainders", "[elementwise]") {
  CHECK(binary("mod", "[7, -7, 7]", "[3, 3, -3]", "i32") == Numbers{1, 2, -2});
  CHECK(binary("mod", "[7, -7, 7]", "[3, 3, -3]", "i32", "fmod = true") == Numbers{1, -1, 1});
  CHECK(binary("mod", "[7.5, -7.5, 6.0]", "[3.0, 3.0, -3.0]", "f32") == Numbers{1.5, 1.5, 0});
  CHECK(binary("mod", "[7.5, -7.5, 6.0]", "[3.0, 3.0, -3.0]", "f32", "fmod = true") ==
        Numbers{1.5, -1.5, 0});
}

TEST_CASE("division of an integer by zero is an error", "[elementwise]") {
  Graph graph;
  CHECK(graph.runToError("tensor<i32>",
                         constant("a", "1", "tensor<i32>") + constant("b", "0", "tensor<i32>") +
                             "%r = graph.div %a, %b : (tensor<i32>, tensor<i32>) "
                             "-> tensor<i32>") == "'graph.div' op divides an integer by zero");
}

TEST_CASE("NaN wins in max and min", "[elementwise]") {
  std::string nan = "[0x7FC00000, 1.0, 2.0]", other = "[1.0, 0x7FC00000, 3.0]";
  checkClose(binary("max", nan, other, "f32"), {NAN, NAN, 3});
  checkClose(binary("min", nan, other, "f32"), {NAN, NAN, 2});
  checkClose(unary("relu", "[0x7FC00000]", 1), {NAN});
}

TEST_CASE("comparisons", "[elementwise]") {
  auto compare = [](const std::string &predicate, const std::string &element) {
    bool isFloat = element == "f32";
    return binary("compare", isFloat ? "[1.0, 2.0, 3.0]" : "[1, 2, 3]",
                  isFloat ? "[2.0, 2.0, 2.0]" : "[2, 2, 2]", element,
                  "predicate = #graph<compare_predicate " + predicate + ">", "i1");
  };
  for (std::string element : {"f32", "i32", "ui8"}) {
    CHECK(compare("eq", element) == Numbers{0, 1, 0});
    CHECK(compare("ne", element) == Numbers{1, 0, 1});
    CHECK(compare("lt", element) == Numbers{1, 0, 0});
    CHECK(compare("le", element) == Numbers{1, 1, 0});
    CHECK(compare("gt", element) == Numbers{0, 0, 1});
    CHECK(compare("ge", element) == Numbers{0, 1, 1});
  }
  std::string less = "predicate = #graph<compare_predicate lt>";
  CHECK(binary("compare", "[-1, 1, -1]", "[1, -1, -1]", "i8", less, "i1") == Numbers{1, 0, 0});
  CHECK(binary("compare", "[255, 1, 0]", "[1, 255, 0]", "ui8", less, "i1") == Numbers{0, 1, 0});
}

TEST_CASE("logic", "[elementwise]") {
  std::string a = "[true, true, false]", b = "[true, false, false]";
  CHECK(binary("and", a, b, "i1") == Numbers{1, 0, 0});
  CHECK(binary("or", a, b, "i1") == Numbers{1, 1, 0});
  CHECK(binary("xor", a, b, "i1") == Numbers{0, 1, 0});
  CHECK(unary("not", a, 3, "i1") == Numbers{0, 0, 1});
}

TEST_CASE("broadcasting", "[elementwise]") {
  CHECK(run("tensor<2x2x2xf32>",
            constant("a", "[[[1.0], [2.0]], [[3.0], [4.0]]]", "tensor<2x2x1xf32>") +
                constant("b", "[10.0, 20.0]", "tensor<2xf32>") +
                "%r = graph.add %a, %b : (tensor<2x2x1xf32>, tensor<2xf32>) -> "
                "tensor<2x2x2xf32>") == Numbers{11, 21, 12, 22, 13, 23, 14, 24});
  CHECK(run("tensor<2x2xi32>",
            constant("c", "[[true], [false]]", "tensor<2x1xi1>") +
                constant("a", "[1, 2]", "tensor<2xi32>") + constant("b", "7", "tensor<i32>") +
                "%r = graph.where %c, %a, %b : (tensor<2x1xi1>, tensor<2xi32>, tensor<i32>) -> "
                "tensor<2x2xi32>") == Numbers{1, 2, 7, 7});
}

TEST_CASE("casts", "[elementwise]") {
  auto cast = [](const std::string &values, int count, const std::string &from,
                 const std::string &to) { return unary("cast", values, count, from, "", to); };
  CHECK(cast("[-2.7, 2.7, 300.0]", 3, "f32", "i8") == Numbers{-2, 2, 127});
  CHECK(cast("[0.0, 0.5]", 2, "f32", "i1") == Numbers{0, 1});
  CHECK(cast("[true, false]", 2, "i1", "f32") == Numbers{1, 0});
  CHECK(cast("[300, -1]", 2, "i32", "ui8") == Numbers{44, 255});
  CHECK(cast("[256, 0]", 2, "i32", "i1") == Numbers{1, 0});
  CHECK(cast("[200, 1]", 2, "ui8", "i32") == Numbers{200, 1});
  CHECK(cast("[2049.0, 65504.0]", 2, "f32", "f16") == Numbers{2048, 65504});
  CHECK(cast("[257.0, 1.0]", 2, "f32", "bf16") == Numbers{256, 1});
  CHECK(cast("[1.5, -2.0]", 2, "f16", "bf16") == Numbers{1.5, -2});
}
