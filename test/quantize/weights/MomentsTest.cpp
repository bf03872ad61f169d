//===-- MomentsTest.cpp - second moments, factors of matrices -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/LinearAlgebra.h"
#include "test/quantize/weights/RandomRows.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::quantize;

TEST_CASE("moments are means of products") {
  Moments moments(2);
  const std::vector<float> rows = {1, 2, 3, -4, 0, 0, 4, 6, -2, 1};
  moments.add(rows.data(), 5);
  CHECK(moments.count() == 5);
  CHECK(moments.mean() == std::vector<float>{1.2f, 1});
  const std::vector<float> plain = moments.matrix(/*centered=*/false, 0.5);
  CHECK(plain[0] == Approx((1 + 9 + 16 + 4) / 5.0 + 0.5));
  CHECK(plain[1] == Approx((2 - 12 + 24 - 2) / 5.0));
  CHECK(plain[2] == plain[1]);
  const std::vector<float> centered = moments.matrix(/*centered=*/true);
  CHECK(centered[1] == Approx(plain[1] - 1.2));
  CHECK(centered[3] == Approx((4 + 16 + 36 + 1) / 5.0 - 1));
}

TEST_CASE("the squared error is that of the products") {
  const std::vector<float> inputs = correlatedInputs(100, 7, 1), change = randomNumbers(14, 2);
  Moments moments(7);
  moments.add(inputs.data(), 100);
  double right = 0;
  for (int row = 0; row < 2; ++row)
    for (int x = 0; x < 100; ++x) {
      double product = 0;
      for (int i = 0; i < 7; ++i)
        product += double(change[row * 7 + i]) * inputs[x * 7 + i];
      right += product * product / 100;
    }
  CHECK(squaredError(change, 2, moments.matrix(false)) == Approx(right).epsilon(1e-4));
}

TEST_CASE("factors solve and invert") {
  const int64_t n = 9;
  const SquareMatrix matrix = dampedMatrix(correlatedMatrix(n, 3), n, 0.01);
  SquareMatrix lower = matrix;
  REQUIRE(factorize(lower));
  std::vector<double> x(n, 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      x[i] += matrix.row(i)[j] * static_cast<double>(j);
  solve(lower, x.data());
  for (int64_t i = 0; i < n; ++i)
    CHECK(x[i] == Approx(static_cast<double>(i)).margin(1e-6));

  // U^T U times the matrix is the identity, and U is upper.
  SquareMatrix upper = matrix;
  REQUIRE(factorizeInverse(upper));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        double inverse = 0;
        for (int64_t m = 0; m < n; ++m)
          inverse += upper.row(m)[i] * upper.row(m)[k];
        sum += inverse * matrix.row(k)[j];
      }
      CHECK(sum == Approx(i == j ? 1.0 : 0.0).margin(1e-7));
      if (i > j)
        CHECK(upper.row(i)[j] == 0);
    }
  SquareMatrix indefinite(2);
  indefinite.values = {1, 2, 2, 1};
  CHECK(!factorize(indefinite));
}

TEST_CASE("eigenvalues and eigenvectors") {
  for (const int64_t n : {1, 2, 3, 12}) {
    SquareMatrix matrix(n);
    const std::vector<float> values = correlatedMatrix(n, 5);
    std::copy(values.begin(), values.end(), matrix.values.begin());
    const Eigen eigen = findEigen(matrix);
    for (int64_t v = 0; v < n; ++v) {
      if (v)
        CHECK(eigen.values[v] <= eigen.values[v - 1]);
      const double *vector = eigen.vectors.row(v);
      double length = 0;
      for (int64_t i = 0; i < n; ++i) {
        double product = 0;
        for (int64_t j = 0; j < n; ++j)
          product += matrix.row(i)[j] * vector[j];
        CHECK(product == Approx(eigen.values[v] * vector[i]).margin(1e-6));
        length += vector[i] * vector[i];
      }
      CHECK(length == Approx(1));
    }
  }
}
