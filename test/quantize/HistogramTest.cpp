//===-- HistogramTest.cpp - nothing that was counted is lost --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Histogram.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace atc::quantize;

static uint64_t sumOf(const Histogram &histogram) {
  uint64_t sum = 0;
  for (size_t bin = 0; bin < histogram.numBins(); ++bin)
    sum += histogram.binCount(bin);
  return sum;
}

TEST_CASE("values lie in the bins around them") {
  Histogram histogram;
  const std::vector<float> values = {-4, -1, 0, 0.5f, 2, 4};
  histogram.add(values.data(), values.size());
  CHECK(histogram.count() == values.size());
  CHECK(sumOf(histogram) == values.size());
  CHECK(histogram.seen().min == -4);
  CHECK(histogram.seen().max == 4);
  for (size_t bin = 0; bin < histogram.numBins(); ++bin)
    for (uint64_t i = 0; i < histogram.binCount(bin); ++i) {
      const double center = histogram.binCenter(bin);
      const bool isNear = std::any_of(values.begin(), values.end(), [&](float value) {
        return std::fabs(value - center) <= histogram.binWidth();
      });
      CHECK(isNear);
    }
}

TEST_CASE("the interval grows with the values") {
  std::mt19937 random(5);
  Histogram grown, once;
  std::vector<float> all;
  for (double scale : {0.01, 1.0, 0.1, 30.0}) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(1000);
    for (float &value : values)
      value = normal(random);
    grown.add(values.data(), values.size());
    all.insert(all.end(), values.begin(), values.end());
  }
  once.add(all.data(), all.size());
  CHECK(grown.count() == 4000);
  CHECK(sumOf(grown) == 4000);
  CHECK(grown.seen().min == once.seen().min);
  CHECK(grown.seen().max == once.seen().max);
  // The interval has at most doubled once too often.
  CHECK(grown.binWidth() < 2 * once.binWidth());
  double below = 0;
  for (size_t bin = 0; bin < Histogram::half; ++bin)
    below += grown.binCount(bin);
  CHECK(below == std::count_if(all.begin(), all.end(), [](float value) { return value < 0; }));
}

TEST_CASE("zeros, and what is no number") {
  Histogram histogram;
  const std::vector<float> zeros(10, 0.0f);
  histogram.add(zeros.data(), zeros.size());
  CHECK(histogram.count() == 10);
  CHECK(histogram.seen().max == 0);
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> odd = {infinity, -infinity, std::nanf(""), 3};
  histogram.add(odd.data(), odd.size());
  CHECK(histogram.notFinite() == 3);
  CHECK(histogram.count() == 11);
  CHECK(sumOf(histogram) == 11);
  CHECK(histogram.seen().max == 3);
}

TEST_CASE("the smallest and the largest numbers") {
  Histogram histogram;
  const std::vector<float> values = {1e-42f, -1e-44f};
  histogram.add(values.data(), values.size());
  CHECK(sumOf(histogram) == 2);
  const float largest = std::numeric_limits<float>::max();
  histogram.add(&largest, 1);
  CHECK(sumOf(histogram) == 3);
  CHECK(histogram.seen().max == largest);
}

TEST_CASE("histograms add up") {
  Histogram left, right;
  const std::vector<float> a = {1, 2, 3}, b = {-40, 5};
  left.add(a.data(), a.size());
  right.add(b.data(), b.size());
  left.add(right);
  CHECK(left.count() == 5);
  CHECK(sumOf(left) == 5);
  CHECK(left.seen().min == -40);
  CHECK(left.seen().max == 5);
}
