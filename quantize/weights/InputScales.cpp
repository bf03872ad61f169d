//===-- InputScales.cpp - scales inputs so that large ones round well -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/InputScales.h"

#include <algorithm>
#include <cmath>

namespace atc::quantize {

namespace {

/// The multiplications that scoring one choice may take: of large layers some rows stand for all.
constexpr int64_t kMaxScoreWork = int64_t(1) << 28;

std::vector<float> factorsOf(llvm::ArrayRef<float> matrix, int64_t length, double strength) {
  std::vector<double> sizes;
  double largest = 0;
  for (int64_t i = 0; i < length; ++i) {
    sizes.push_back(std::sqrt(std::max(0.0f, matrix[i * length + i])));
    largest = std::max(largest, sizes.back());
  }
  double low = 0, high = 0;
  for (double &size : sizes) {
    // An element that is nearly always 0 would get weights without bound.
    size = std::pow(std::max(size, largest * 1e-4), strength);
    low = low > 0 ? std::min(low, size) : size;
    high = std::max(high, size);
  }
  const double middle = std::sqrt(low * high);
  std::vector<float> factors;
  for (double size : sizes)
    factors.push_back(middle > 0 ? static_cast<float>(size / middle) : 1);
  return factors;
}

/// Returns the error of the rows' products when they are rounded after being multiplied by
/// `factors`.
double errorWith(llvm::ArrayRef<float> rows, int64_t count, llvm::ArrayRef<float> factors,
                 const GroupForm &form, llvm::ArrayRef<float> matrix) {
  const std::vector<float> scaled = scaleColumns(rows, factors);
  const GroupedRows rounded = roundToNearest(scaled, count, form);
  std::vector<float> difference(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    difference[i] = rounded.value(static_cast<int64_t>(i)) / factors[i % factors.size()] - rows[i];
  return squaredError(difference, count, matrix);
}

} // namespace

std::vector<float> scaleColumns(llvm::ArrayRef<float> rows, llvm::ArrayRef<float> factors) {
  std::vector<float> scaled(rows.begin(), rows.end());
  for (size_t i = 0; i < scaled.size(); ++i)
    scaled[i] *= factors[i % factors.size()];
  return scaled;
}

std::vector<float> findInputScales(llvm::ArrayRef<WeightRows> readers, const GroupForm &form,
                                   llvm::ArrayRef<float> matrix) {
  const auto length = static_cast<int64_t>(std::llround(std::sqrt(double(matrix.size()))));
  std::vector<std::vector<float>> scored;
  std::vector<int64_t> counts;
  const int64_t limit = std::max<int64_t>(32, kMaxScoreWork / std::max<int64_t>(1, matrix.size()));
  for (const WeightRows &reader : readers) {
    const int64_t step = std::max<int64_t>(1, reader.rows / limit);
    std::vector<float> &rows = scored.emplace_back();
    for (int64_t row = 0; row < reader.rows; row += step)
      rows.insert(rows.end(), reader.values.begin() + row * length,
                  reader.values.begin() + (row + 1) * length);
    counts.push_back(static_cast<int64_t>(rows.size()) / length);
  }
  std::vector<float> best;
  double min = 0;
  for (int step = 0; step <= 10; ++step) {
    const std::vector<float> factors = factorsOf(matrix, length, step / 10.0);
    double error = 0;
    for (size_t i = 0; i < scored.size(); ++i)
      error += errorWith(scored[i], counts[i], factors, form, matrix);
    if (step == 0)
      min = error;
    else if (error < min) {
      min = error;
      best = factors;
    }
  }
  return best;
}

} // namespace atc::quantize
