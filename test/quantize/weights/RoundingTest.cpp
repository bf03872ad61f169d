//===-- RoundingTest.cpp - weights that are rounded with their inputs -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/InputScales.h"
#include "quantize/weights/NonUniform.h"
#include "quantize/weights/RoundAdaptively.h"
#include "quantize/weights/Sparsity.h"
#include "test/quantize/weights/RandomRows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace atc::quantize;

static double errorOf(const std::vector<float> &weights, const GroupedRows &rounded,
                      const std::vector<float> &matrix) {
  std::vector<float> difference;
  for (size_t i = 0; i < weights.size(); ++i)
    difference.push_back(rounded.value(static_cast<int64_t>(i)) - weights[i]);
  return squaredError(difference, rounded.rows, matrix);
}

TEST_CASE("levels span a group and have a zero") {
  const std::vector<float> weights = {0, 0.5f, 1.5f, -0.25f, 3, 6};
  const GroupedRows rows = roundToNearest(weights, 1, {4, 4});
  CHECK(rows.groups() == 2);
  CHECK(rows.scales[0] == Approx(1.75f / 15));
  CHECK(rows.zeros[0] == 2);
  CHECK(rows.levels[0] == 2);
  CHECK(rows.value(0) == 0);
  CHECK(rows.zeros[1] == 0);
  CHECK(rows.levels[5] == 15);
  CHECK(rows.value(5) == Approx(6));
}

TEST_CASE("weights absorb the errors of others") {
  const int64_t length = 70, rows = 5; // the last group is not whole
  const std::vector<float> weights = randomNumbers(rows * length, 1);
  const std::vector<float> matrix = correlatedMatrix(length, 2);
  const GroupForm form{4, 32};
  const double nearest = errorOf(weights, roundToNearest(weights, rows, form), matrix);
  const double absorbed = errorOf(weights, roundByMoments(weights, rows, form, matrix), matrix);
  CHECK(absorbed < 0.5 * nearest);
  // Inputs that do not depend on each other leave nothing to absorb.
  std::vector<float> identity(length * length, 0);
  for (int64_t i = 0; i < length; ++i)
    identity[i * length + i] = 1;
  CHECK(roundByMoments(weights, rows, form, identity).levels ==
        roundToNearest(weights, rows, form).levels);
}

TEST_CASE("large inputs get finer steps") {
  const int64_t length = 64, rows = 24;
  const std::vector<float> weights = randomNumbers(rows * length, 4);
  std::vector<float> matrix(length * length, 0);
  for (int64_t i = 0; i < length; ++i)
    matrix[i * length + i] = i % 8 == 0 ? 100 : 1;
  const GroupForm form{4, 32};
  const std::vector<float> factors = findInputScales(WeightRows{weights, rows}, form, matrix);
  REQUIRE(factors.size() == size_t(length));
  CHECK(factors[0] > factors[1]);
  const std::vector<float> scaled = scaleColumns(weights, factors);
  const GroupedRows rounded = roundToNearest(scaled, rows, form);
  std::vector<float> difference;
  for (size_t i = 0; i < weights.size(); ++i)
    difference.push_back(rounded.value(static_cast<int64_t>(i)) / factors[i % length] - weights[i]);
  CHECK(squaredError(difference, rows, matrix) <
        0.8 * errorOf(weights, roundToNearest(weights, rows, form), matrix));
  // Inputs of one size need no factors.
  for (int64_t i = 0; i < length; ++i)
    matrix[i * length + i] = 1;
  CHECK(findInputScales(WeightRows{weights, rows}, form, matrix).empty());
}

TEST_CASE("adaptive rounding keeps the products") {
  const int64_t length = 40, rows = 6;
  const std::vector<float> weights = randomNumbers(rows * length, 7);
  const std::vector<float> matrix = correlatedMatrix(length, 8);
  const std::vector<float> scales(rows, 1.0f / 7); // coarse, so that there is much to gain
  auto errorOfIntegers = [&](const std::vector<int8_t> &integers) {
    std::vector<float> difference;
    for (size_t i = 0; i < weights.size(); ++i)
      difference.push_back(static_cast<float>(integers[i]) / 7 - weights[i]);
    return squaredError(difference, rows, matrix);
  };
  std::vector<int8_t> nearest;
  for (float weight : weights)
    nearest.push_back(static_cast<int8_t>(std::nearbyint(weight * 7)));
  AdaptiveOptions options;
  options.iterations = 1000;
  const std::vector<int8_t> adaptive = roundAdaptively(weights, rows, scales, matrix, options);
  CHECK(errorOfIntegers(adaptive) < 0.5 * errorOfIntegers(nearest));
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(std::fabs(static_cast<float>(adaptive[i]) - weights[i] * 7) <= 1.0001f);
  CHECK(roundAdaptively(weights, rows, scales, matrix, options) == adaptive);
  // Inputs that do not depend on each other leave the nearest integers.
  std::vector<float> identity(length * length, 0);
  for (int64_t i = 0; i < length; ++i)
    identity[i * length + i] = 1;
  CHECK(roundAdaptively(weights, rows, scales, identity, options) == nearest);
}

TEST_CASE("few different integers") {
  const std::vector<int8_t> integers = {-127, -120, 0, 1, 2, 50, 127, 126};
  const std::vector<float> one = {1};
  CHECK(restrictIntegers(integers, 1, one, 16) == integers);
  const std::vector<int8_t> four = restrictIntegers(integers, 1, one, 4);
  CHECK(std::set<int8_t>(four.begin(), four.end()).size() == 4);
  CHECK(four[3] == 1);
  CHECK(four[0] == four[1]);
  CHECK(four[5] == 50);
  // Rows of larger scales count for more: the integers of the first one are kept.
  const std::vector<int8_t> rows = {10, 20, 30, 11, 21, 31};
  const std::vector<int8_t> scaled = restrictIntegers(rows, 2, {100, 0.1f}, 3);
  CHECK(scaled == std::vector<int8_t>{10, 20, 30, 10, 20, 30});
}

TEST_CASE("two of four weights stay") {
  // Two rows of 5 channels with 2 taps: the fifth channel stays whole.
  const std::vector<float> weights = {1, 8, -2, 7, 3, -6, -4, 5, 9, 9,
                                      4, 1, 3,  2, 2, 3,  1,  4, 0, 1};
  const std::vector<float> sparse = keepTwoOfFour(weights, 2, 5, 2);
  CHECK(sparse == std::vector<float>{0, 8, 0, 7, 3, 0, -4, 0, 9, 9, 4, 0, 3, 0, 0, 3, 0, 4, 0, 1});
  const int64_t channels = 14, taps = 3, rows = 4, length = channels * taps;
  const std::vector<float> many = randomNumbers(rows * length, 9);
  const std::vector<float> matrix = correlatedMatrix(length, 10);
  const std::vector<float> larger = keepTwoOfFour(many, rows, channels, taps);
  const std::vector<float> better = keepTwoOfFour(many, rows, channels, taps, matrix);
  auto error = [&](const std::vector<float> &values) {
    std::vector<float> difference;
    for (size_t i = 0; i < many.size(); ++i)
      difference.push_back(values[i] - many[i]);
    return squaredError(difference, rows, matrix);
  };
  CHECK(error(better) < 0.9 * error(larger));
  for (const std::vector<float> &each : {larger, better})
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t first = 0; first + 4 <= channels; first += 4)
        for (int64_t tap = 0; tap < taps; ++tap) {
          int zeros = 0;
          for (int64_t c = first; c < first + 4; ++c)
            zeros += each[row * length + c * taps + tap] == 0;
          CHECK(zeros == 2);
        }
}
