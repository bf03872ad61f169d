//===-- BatchLikeDimsTest.cpp - dims along which nothing is mixed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/BatchLikeDims.h"
#include "driver/Compiler.h"
#include "passes/om/Schedule.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using atc::graph::FollowedDim;
using atc::graph::FollowedDims;
using Catch::Matchers::Contains;

namespace {

struct Graph {
  /// `body` is that of @main with the arguments `arguments`.
  Graph(MLIRContext &context, const std::string &arguments, const std::string &body,
        const std::string &results)
      : module(parseSourceString<ModuleOp>("func.func @main(" + arguments + ") -> (" + results +
                                               ") {\n" + body + "\n}",
                                           ParserConfig(&context))) {
    REQUIRE(module);
  }
  func::FuncOp main() { return atc::om::findMain(*module); }

  OwningOpRef<ModuleOp> module;
};

struct Fixture {
  std::unique_ptr<MLIRContext> context = atc::driver::makeCompilerContext();
  std::string reason;

  /// Follows dim `dim` of the first argument, of 4 positions, through one op that makes %y;
  /// returns where the result has it, or nothing.
  std::optional<FollowedDim> through(const std::string &x, int64_t dim, const std::string &op,
                                     const std::string &y) {
    Graph graph(*context, "%x: " + x, op + "\nreturn %y : " + y, y);
    reason.clear();
    auto followed = atc::graph::followDim(graph.main(), {{0u, dim}}, 4, reason);
    if (!followed)
      return std::nullopt;
    Value result = graph.main().getBody().front().getTerminator()->getOperand(0);
    auto found = followed->find(result);
    return found == followed->end() ? FollowedDim{-1, 1} : found->second;
  }
};

} // namespace

TEST_CASE_METHOD(Fixture, "ops that leave positions apart keep the dim") {
  using Dim = std::optional<FollowedDim>;
  CHECK(through("tensor<4x3xf32>", 0, "%y = graph.exp %x : (tensor<4x3xf32>) -> tensor<4x3xf32>",
                "tensor<4x3xf32>") == Dim({0, 1}));
  CHECK(through("tensor<2x4xf32>", 1,
                "%c = graph.constant dense<1.0> : tensor<5x1x1xf32>\n"
                "%y = graph.add %x, %c : (tensor<2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>",
                "tensor<5x2x4xf32>") == Dim({2, 1}));
  CHECK(through("tensor<4x3xf32>", 0,
                "%y = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> "
                "tensor<3x4xf32>",
                "tensor<3x4xf32>") == Dim({1, 1}));
  CHECK(through("tensor<4x3xf32>", 0,
                "%y = graph.softmax %x {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>",
                "tensor<4x3xf32>") == Dim({0, 1}));
  CHECK(through("tensor<4x3xf32>", 0,
                "%y = graph.cumulative_sum %x {axis = 1 : i64} : "
                "(tensor<4x3xf32>) -> tensor<4x3xf32>",
                "tensor<4x3xf32>") == Dim({0, 1}));
  CHECK(!through("tensor<4x3xf32>", 0,
                 "%y = graph.cumulative_sum %x {axis = 0 : i64} "
                 ": (tensor<4x3xf32>) -> tensor<4x3xf32>",
                 "tensor<4x3xf32>"));
  CHECK(through("tensor<3x4xf32>", 1,
                "%y = graph.arg_max %x {axis = 0 : i64, keepdims = false} : (tensor<3x4xf32>) -> "
                "tensor<4xi64>",
                "tensor<4xi64>") == Dim({0, 1}));
  CHECK(through("tensor<4xi64>", 0,
                "%t = graph.constant dense<1.0> : tensor<7x5xf32>\n"
                "%y = graph.gather %t, %x {axis = 0 : i64} : (tensor<7x5xf32>, tensor<4xi64>) -> "
                "tensor<4x5xf32>",
                "tensor<4x5xf32>") == Dim({0, 1}));
  CHECK(through("tensor<4x2x3xf32>", 0,
                "%w = graph.constant dense<1.0> : tensor<3x5xf32>\n"
                "%y = graph.matmul %x, %w : (tensor<4x2x3xf32>, tensor<3x5xf32>) -> "
                "tensor<4x2x5xf32>",
                "tensor<4x2x5xf32>") == Dim({0, 1}));
}

TEST_CASE_METHOD(Fixture, "a dim that is merged with others is found again") {
  CHECK(through("tensor<4x6xf32>", 0,
                "%a = graph.reshape %x : (tensor<4x6xf32>) -> tensor<8x3xf32>\n"
                "%b = graph.exp %a : (tensor<8x3xf32>) -> tensor<8x3xf32>\n"
                "%y = graph.reshape %b : (tensor<8x3xf32>) -> tensor<4x2x3xf32>",
                "tensor<4x2x3xf32>") == std::optional<FollowedDim>({0, 1}));
  CHECK(through("tensor<2x4x6xf32>", 1,
                "%y = graph.reshape %x : (tensor<2x4x6xf32>) -> tensor<1x2x4x3x2xf32>",
                "tensor<1x2x4x3x2xf32>") == std::optional<FollowedDim>({2, 1}));
  // A result that has it together with another dim cannot be cropped.
  CHECK_FALSE(through("tensor<4x6xf32>", 0,
                      "%y = graph.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>",
                      "tensor<24xf32>"));
  CHECK_THAT(reason, Contains("output 0 has the dim together with another one"));
  CHECK_FALSE(through("tensor<3x4xf32>", 1,
                      "%y = graph.reshape %x : (tensor<3x4xf32>) -> tensor<12xf32>",
                      "tensor<12xf32>"));
  CHECK_THAT(reason, Contains("mixes"));
}

TEST_CASE_METHOD(Fixture, "ops that mix positions are named") {
  auto mixes = [&](const std::string &x, int64_t dim, const std::string &op, const std::string &y,
                   const char *word) {
    CHECK_FALSE(through(x, dim, op + " loc(\"here\")", y));
    CHECK_THAT(reason, Contains(word));
    CHECK_THAT(reason, Contains("'here'"));
  };
  mixes("tensor<3x4xf32>", 1,
        "%y = graph.softmax %x {axis = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>",
        "tensor<3x4xf32>", "mixes");
  mixes("tensor<4x3xf32>", 0,
        "%y = graph.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = "
        "array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<2x3xf32>",
        "tensor<2x3xf32>", "takes some positions");
  mixes("tensor<4x3xf32>", 0,
        "%y = graph.concat %x, %x {axis = 0 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> "
        "tensor<8x3xf32>",
        "tensor<8x3xf32>", "mixes");
  mixes("tensor<4x4xf32>", 0,
        "%y = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
        "tensor<4x4xf32>", "mixes");
  // The right side's rows are contracted.
  mixes("tensor<4x3xf32>", 0,
        "%w = graph.constant dense<1.0> : tensor<5x4xf32>\n"
        "%y = graph.matmul %w, %x : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>",
        "tensor<5x3xf32>", "mixes");
  mixes("tensor<4x4xf32>", 0,
        "%t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> "
        "tensor<4x4xf32>\n"
        "%y = graph.add %x, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
        "tensor<4x4xf32>", "mixes");
}

TEST_CASE_METHOD(Fixture, "a constant may be broadcast along the dim, but not have rows for it") {
  auto add = [&](const std::string &constant) {
    return through("tensor<4x2xf32>", 0,
                   "%c = graph.constant " + constant +
                       " : tensor<4x2xf32>\n"
                       "%y = graph.add %x, %c : (tensor<4x2xf32>, tensor<4x2xf32>) -> "
                       "tensor<4x2xf32>",
                   "tensor<4x2xf32>");
  };
  CHECK(add("dense<1.0>"));
  CHECK(add("dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]>"));
  CHECK_FALSE(add("dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]>"));
  CHECK_THAT(reason, Contains("other values for each position"));
}

TEST_CASE_METHOD(Fixture, "what does not depend on the dim does not have it") {
  CHECK(through("tensor<4x2xf32>", 0, "%y = graph.constant dense<1.0> : tensor<3xf32>",
                "tensor<3xf32>") == std::optional<FollowedDim>({-1, 1}));
}

TEST_CASE_METHOD(Fixture, "graphs of two sizes must have one meaning") {
  auto equal = [&](const std::string &four, const std::string &six) {
    auto graphOf = [&](const std::string &n, const std::string &constant) {
      return Graph(*context, "%x: tensor<" + n + "x2xf32>",
                   "%c = graph.constant " + constant + "\n%y = graph.add %x, %c : (tensor<" + n +
                       "x2xf32>, " + constant.substr(constant.rfind("tensor")) + ") -> tensor<" +
                       n + "x2xf32>\nreturn %y : tensor<" + n + "x2xf32>",
                   "tensor<" + n + "x2xf32>");
    };
    Graph left = graphOf("4", four), right = graphOf("6", six);
    auto ours = atc::graph::followDim(left.main(), {{0u, 0}}, 4, reason);
    auto theirs = atc::graph::followDim(right.main(), {{0u, 0}}, 6, reason);
    REQUIRE(ours);
    REQUIRE(theirs);
    return atc::graph::haveEqualMeaning(left.main(), {*ours}, right.main(), {*theirs}, reason);
  };
  CHECK(equal("dense<1.0> : tensor<2xf32>", "dense<1.0> : tensor<2xf32>"));
  // A constant made of the size.
  CHECK_FALSE(equal("dense<4.0> : tensor<2xf32>", "dense<6.0> : tensor<2xf32>"));
  CHECK_THAT(reason, Contains("depends on the size of the dim"));
  CHECK(equal("dense<1.0> : tensor<4x2xf32>", "dense<1.0> : tensor<6x2xf32>"));
  CHECK(equal("dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : tensor<4x2xf32>",
              "dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : "
              "tensor<6x2xf32>"));
  CHECK_FALSE(equal("dense<1.0> : tensor<4x2xf32>", "dense<2.0> : tensor<6x2xf32>"));
}

TEST_CASE_METHOD(Fixture, "attributes that a size has gone into are found") {
  auto graphOf = [&](const std::string &n) {
    return Graph(*context, "%x: tensor<" + n + "x8xf32>",
                 "%y = graph.slice %x {starts = array<i64: 0, " + n +
                     ">, sizes = array<i64: -1, 1>, steps = array<i64: 1, 1>} : (tensor<" + n +
                     "x8xf32>) -> tensor<" + n + "x1xf32>\nreturn %y : tensor<" + n + "x1xf32>",
                 "tensor<" + n + "x1xf32>");
  };
  Graph left = graphOf("4"), right = graphOf("6");
  auto ours = atc::graph::followDim(left.main(), {{0u, 0}}, 4, reason);
  auto theirs = atc::graph::followDim(right.main(), {{0u, 0}}, 6, reason);
  REQUIRE(ours);
  REQUIRE(theirs);
  CHECK_FALSE(atc::graph::haveEqualMeaning(left.main(), {*ours}, right.main(), {*theirs}, reason));
}
