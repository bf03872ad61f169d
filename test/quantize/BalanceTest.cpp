//===-- BalanceTest.cpp - factors between channels and weights ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Balance.h"
#include "test/quantize/SmallModel.h"

#include <catch2/catch.hpp>

using namespace atc::quantize;
using Ops = std::vector<std::string>;

TEST_CASE("sizes of channels") {
  ChannelSizes sizes;
  const std::vector<float> values = {1, -2, 3, 4, 0, 0, 0, -8};
  sizes.add(values, {2, 2, 2});
  CHECK(sizes.largest == std::vector<double>{2, 8});
  CHECK(sizes.squares == std::vector<double>{5, 89});
  CHECK(sizes.count == 4);
}

TEST_CASE("depthwise weights take all of the difference") {
  ChannelSizes sizes;
  sizes.add(std::vector<float>{100, 1}, {1, 2, 1});
  const std::vector<float> weights = {0.01f, 1};
  const ReadingWeights reader{weights, 2, 1, 2};
  const std::vector<float> factors = findFactors(sizes, reader, 2);
  REQUIRE(factors.size() == 2);
  // Both channels reach as far then, as far as the tensor reached before.
  CHECK(100 / factors[0] == Approx(1 / factors[1]));
  CHECK(100 / factors[0] == Approx(100));
}

TEST_CASE("channels of one size are left alone") {
  ChannelSizes sizes;
  sizes.add(std::vector<float>{2, 2, -2}, {1, 3, 1});
  const std::vector<float> weights = {1, -1, 1, 0.5f, 1, 1};
  CHECK(findFactors(sizes, ReadingWeights{weights, 2, 3, 1}, 1.5).empty());
}

TEST_CASE("dead channels and dead weights") {
  ChannelSizes sizes;
  sizes.add(std::vector<float>{0, 50, 1}, {1, 3, 1});
  const std::vector<float> weights = {1, 0.02f, 1};
  const std::vector<float> factors = findFactors(sizes, ReadingWeights{weights, 1, 3, 1}, 1.5);
  REQUIRE(factors.size() == 3);
  for (float factor : factors) {
    CHECK(factor > 0);
    CHECK(factor < 1e6f);
  }
  const std::vector<float> zeros(3, 0.0f);
  CHECK(findFactors(sizes, ReadingWeights{zeros, 1, 3, 1}, 1.5).empty());
  CHECK(findFactors(ChannelSizes(), ReadingWeights{zeros, 1, 3, 1}, 1.5).empty());
}

namespace {

std::vector<float> weightsOf(OnnxModel &model, int node, int input) {
  return *readFloats(*model.findConstant(model.graph().node(node).input(input)));
}

} // namespace

TEST_CASE("factors go through a relu into the convolution in front") {
  SmallModel small;
  small.input("x", {1, 1, 2, 2}).output("y");
  small.constant("w", {2, 1, 1, 1}, {1, 2}).constant("b", {2}, {4, 6});
  small.constant("v", {1, 2, 1, 1}, {10, 20});
  small.node("Conv", {"x", "w", "b"}, "c");
  small.node("Relu", {"c"}, "r");
  small.node("Conv", {"r", "v"}, "y");
  auto model = small.finish();
  applyBalances(*model, Balance{"r", {"y"}, "c", {2, 0.5f}});
  CHECK(opsOf(*model) == Ops{"Conv", "Relu", "Conv"});
  CHECK(weightsOf(*model, 0, 1) == std::vector<float>{0.5f, 4});
  CHECK(weightsOf(*model, 0, 2) == std::vector<float>{2, 12});
  CHECK(weightsOf(*model, 2, 1) == std::vector<float>{20, 10});
}

TEST_CASE("else a multiplication divides") {
  SmallModel small;
  small.input("x", {1, 4, 2, 2}).output("y").output("z");
  small.constant("v", {2, 2, 1, 1}, {1, 1, 1, 1}).constant("u", {1, 4, 1, 1}, {1, 1, 1, 1});
  small.node("Sigmoid", {"x"}, "s");
  setAttribute(small.node("Conv", {"s", "v"}, "y"), "group", int64_t(2));
  small.node("Conv", {"s", "u"}, "z");
  auto model = small.finish();
  applyBalances(*model, Balance{"s", {"y", "z"}, "", {1, 2, 4, 8}});
  REQUIRE(opsOf(*model) == Ops{"Sigmoid", "Mul", "Conv", "Conv"});
  CHECK(weightsOf(*model, 1, 1) == std::vector<float>{1, 0.5f, 0.25f, 0.125f});
  CHECK(weightsOf(*model, 2, 1) == std::vector<float>{1, 2, 4, 8});
  CHECK(weightsOf(*model, 3, 1) == std::vector<float>{1, 2, 4, 8});
  CHECK(model->graph().node(2).input(0) == model->graph().node(1).output(0));
  CHECK(model->graph().node(3).input(0) == model->graph().node(1).output(0));
}
