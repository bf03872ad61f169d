//===-- RangeSearchTest.cpp - ranges of known distributions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/RangeSearch.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace atc::quantize;

namespace {

template <typename Distribution> Histogram draw(Distribution distribution, size_t count) {
  std::mt19937 random(17);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random);
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

RangeOptions with(RangeMethod method, bool symmetric = false) {
  RangeOptions options;
  options.method = method;
  options.symmetric = symmetric;
  return options;
}

} // namespace

TEST_CASE("zero is exact, and the ends are covered") {
  for (Interval range :
       {Interval{-1, 3}, Interval{0, 6}, Interval{-5, 0}, Interval{2, 7}, Interval{-0.001, 1000}})
    for (bool isSigned : {true, false}) {
      const QuantParams params = coverInterval(range, /*symmetric=*/false, isSigned);
      INFO(range.min << " " << range.max << " " << isSigned);
      CHECK(params.dequantize(params.quantize(0)) == 0);
      CHECK(params.dequantize(params.min()) <= std::min(range.min, 0.0) + params.scale);
      CHECK(params.dequantize(params.max()) >= std::max(range.max, 0.0) - params.scale);
      CHECK(params.scale <= (std::max(range.max, 0.0) - std::min(range.min, 0.0)) / 254);
    }
  const QuantParams relu = coverInterval({0, 6}, false, true);
  CHECK(relu.zeroPoint == -128);
  CHECK(coverInterval({0, 6}, false, false).zeroPoint == 0);
}

TEST_CASE("symmetric parameters have the zero in the middle") {
  const QuantParams params = coverInterval({-1, 12.7}, true, true);
  CHECK(params.zeroPoint == 0);
  CHECK(params.scale == Approx(0.1));
  CHECK(coverInterval({-1, 12.7}, true, false).zeroPoint == 128);
}

TEST_CASE("a tensor of zeros has a scale") {
  for (bool symmetric : {true, false}) {
    const QuantParams params = coverInterval({0, 0}, symmetric, true);
    CHECK(params.scale == 1);
    CHECK(params.quantize(0) == params.zeroPoint);
  }
}

TEST_CASE("halves go to the even integer") {
  QuantParams params;
  params.scale = 1;
  CHECK(params.quantize(0.5) == 0);
  CHECK(params.quantize(1.5) == 2);
  CHECK(params.quantize(-2.5) == -2);
  CHECK(params.quantize(1000) == 127);
  CHECK(params.quantize(-1000) == -128);
}

TEST_CASE("min and max keep everything") {
  const Histogram histogram = draw(std::uniform_real_distribution<float>(-2, 5), 10000);
  const Interval kept = searchRange(histogram, with(RangeMethod::MinMax));
  CHECK(kept.min == histogram.seen().min);
  CHECK(kept.max == histogram.seen().max);
}

TEST_CASE("a percentile cuts as much as it says") {
  const Histogram histogram = draw(std::uniform_real_distribution<float>(0, 1), 100000);
  RangeOptions options = with(RangeMethod::Percentile);
  options.maxPercentile = 0.99;
  options.minPercentile = 1;
  const Interval kept = searchRange(histogram, options);
  CHECK(kept.max == Approx(0.99).margin(0.003));
  CHECK(kept.min == Approx(histogram.seen().min).margin(1e-3));
  options.minPercentile = 0.9;
  CHECK(searchRange(histogram, options).min == Approx(0.1).margin(0.005));
}

TEST_CASE("an outlier is given up by KL, percentile and MSE") {
  Histogram histogram = draw(std::normal_distribution<float>(0, 1), 1000000);
  histogram.add(300.0, 1);
  CHECK(searchRange(histogram, with(RangeMethod::MinMax)).max == 300);
  RangeOptions percentile = with(RangeMethod::Percentile);
  percentile.maxPercentile = percentile.minPercentile = 0.9999;
  CHECK(searchRange(histogram, percentile).max == Approx(3.72).margin(0.3));
  CHECK(searchRange(histogram, with(RangeMethod::Kl)).max < 100);
  // The search begins at a percentile and goes to 0.7 of it.
  RangeOptions mse = with(RangeMethod::Mse);
  mse.maxPercentile = mse.minPercentile = 0.9999;
  const Interval kept = searchRange(histogram, mse);
  CHECK(kept.max > 2.5);
  CHECK(kept.max < 5);
}

TEST_CASE("the MSE search finds the least error among its factors") {
  const Histogram histogram = draw(std::normal_distribution<float>(0, 1), 200000);
  RangeOptions options = with(RangeMethod::Mse, /*symmetric=*/true);
  const Interval kept = searchRange(histogram, options);
  const double min = quantizationError(histogram, coverInterval(kept, true, true));
  const Interval seen = histogram.seen();
  for (int percent = 70; percent < 130; ++percent) {
    const double factor = percent / 100.0;
    const Interval other = {seen.min * factor, seen.max * factor};
    CHECK(min <= quantizationError(histogram, coverInterval(other, true, true)) * 1.0001);
  }
  // A normal distribution in 8 bits is best cut at about four deviations.
  CHECK(std::max(-kept.min, kept.max) == Approx(4.0).margin(0.6));
}

TEST_CASE("the error is that of the numbers themselves") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(1, 2);
  std::vector<float> values(50000);
  for (float &value : values)
    value = normal(random);
  Histogram histogram;
  histogram.add(values.data(), values.size());
  const QuantParams params = coverInterval({-6, 8}, false, true);
  double sum = 0;
  for (float value : values) {
    const double error = params.dequantize(params.quantize(value)) - value;
    sum += error * error;
  }
  CHECK(quantizationError(histogram, params) == Approx(sum / values.size()).epsilon(0.02));
}

TEST_CASE("what has no outlier is not cut") {
  const Histogram histogram = draw(std::uniform_real_distribution<float>(0, 8), 200000);
  for (RangeMethod method :
       {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Kl, RangeMethod::Mse}) {
    INFO(methodName(method));
    CHECK(searchRange(histogram, with(method)).max == Approx(8).epsilon(0.02));
  }
}

TEST_CASE("methods have names") {
  for (const char *name : {"minmax", "percentile", "kl", "mse"})
    CHECK(std::string(methodName(*findMethod(name))) == name);
  CHECK(!findMethod("best"));
}

TEST_CASE("an empty tensor, and one of zeros") {
  Histogram histogram;
  for (RangeMethod method :
       {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Kl, RangeMethod::Mse}) {
    CHECK(searchRange(histogram, with(method)).max == 0);
    Histogram zeros;
    const float zero = 0;
    zeros.add(&zero, 1);
    CHECK(searchRange(zeros, with(method)).max == 0);
  }
}
