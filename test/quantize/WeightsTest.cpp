//===-- WeightsTest.cpp - weights and biases as integers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/quant/QuantizeWeights.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::graph;

TEST_CASE("each channel reaches 127") {
  const std::vector<float> values = {1, -2, 0.5f, 100, 50, -25};
  const std::vector<int64_t> dims = {2, 3};
  const WeightView rows{values, dims, 0};
  const std::vector<float> scales = findWeightScales(rows, {}, 1);
  REQUIRE(scales.size() == 2);
  CHECK(scales[0] == Approx(2.0 / 127));
  CHECK(scales[1] == Approx(100.0 / 127));
  CHECK(quantizeWeights(rows, scales) == std::vector<int8_t>{64, -127, 32, 127, 64, -32});

  const WeightView columns{values, dims, 1};
  CHECK(findWeightScales(columns, {}, 1).size() == 3);
  const WeightView whole{values, dims, -1};
  const std::vector<float> one = findWeightScales(whole, {}, 1);
  REQUIRE(one.size() == 1);
  CHECK(quantizeWeights(whole, one) == std::vector<int8_t>{1, -3, 1, 127, 64, -32});
}

TEST_CASE("a channel of zeros") {
  const std::vector<float> values = {0, 0};
  const std::vector<int64_t> dims = {1, 2};
  const std::vector<float> scales = findWeightScales({values, dims, 0}, {}, 1);
  CHECK(scales == std::vector<float>{1});
}

TEST_CASE("a bias fits 32 bits whatever the weights are") {
  const std::vector<float> values = {1e-9f, 1e-9f};
  const std::vector<int64_t> dims = {2, 1};
  const std::vector<float> bias = {5, -1000}, none;
  const float inputScale = 0.01f;
  const std::vector<float> scales = findWeightScales({values, dims, 0}, bias, inputScale);
  const std::vector<int32_t> integers = quantizeBias(bias, scales, inputScale);
  for (size_t i = 0; i < bias.size(); ++i)
    CHECK(double(integers[i]) * scales[i] * inputScale == Approx(bias[i]));
}

TEST_CASE("what rounding takes from the means") {
  // Two outputs, two inputs, 1x1 kernels; the second weight of a row is rounded.
  const std::vector<float> values = {127, 0.25f, 127, 0.75f};
  const std::vector<int64_t> dims = {2, 2, 1, 1};
  const std::vector<float> ones = {1, 1};
  const std::vector<float> loss = lossOfMeans({values, dims, 0}, ones, {3.0, 10.0}, 1);
  REQUIRE(loss.size() == 2);
  CHECK(loss[0] == Approx(2.5));
  CHECK(loss[1] == Approx(-2.5));
  // The weights as a matrix [K, N] have the same loss.
  const std::vector<float> transposed = {127, 127, 0.25f, 0.75f};
  const std::vector<int64_t> square = {2, 2};
  const std::vector<float> same = lossOfMeans({transposed, square, 1}, ones, {3.0, 10.0}, 1);
  CHECK(same == loss);
  // A group sees its own inputs alone.
  const std::vector<int64_t> depthwise = {4, 1, 1, 1};
  const std::vector<float> four = {1, 1, 1, 1};
  const std::vector<float> groups =
      lossOfMeans({values, depthwise, 0}, four, {1.0, 2.0, 3.0, 4.0}, 4);
  REQUIRE(groups.size() == 4);
  CHECK(groups[1] == Approx(0.5));
  CHECK(groups[3] == Approx(-1.0));
}
