//===-- RoundAdaptively.cpp - learns whether weights round up or down -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each weight w of scale s becomes floor(w / s) + h(v) with a variable v, where h is a sigmoid that
// is stretched beyond [0, 1] and clamped. Adam minimizes the squared error of the products plus a
// penalty, r * sum(1 - |2 h - 1|^b), which pulls each h to 0 or 1, the more strongly the smaller b
// becomes. The error is quadratic in the weights, so that the inputs' second moments stand for all
// samples. It is measured in units in which rounding to nearest costs 0.01 per weight: the penalty
// means the same to layers of any magnitude.
// What the relaxation leaves is improved weight by weight, as are the nearest integers: the choices
// of the two with the smaller error are taken.
//
//===----------------------------------------------------------------------===//

#include "quantize/weights/RoundAdaptively.h"

#include <algorithm>
#include <cmath>

namespace atc::quantize {

namespace {

constexpr float kLow = -0.1f, kHigh = 1.1f; ///< the bounds of the stretched sigmoid

/// The iterations for which a gradient of the error serves: a step moves weights by little.
constexpr int64_t kIterationsPerGradient = 8;

/// The rounds of single changes: nearly always a few suffice.
constexpr int kMaxSweeps = 20;

/// The error per weight of rounding to nearest, in the units of the penalty.
constexpr double kNearestError = 0.01;

/// Finds how the weights of one row are rounded.
class Row {
public:
  Row(const float *weights, float scale, int64_t length, llvm::ArrayRef<float> matrix)
      : weights(weights), scale(scale), length(length), matrix(matrix), floors(length), v(length),
        first(length, 0), second(length, 0), gradient(length, 0) {
    for (int64_t i = 0; i < length; ++i) {
      const float units = std::clamp(weights[i] / scale, -127.0f, 127.0f);
      // The largest integer rounds up to itself.
      floors[i] = std::min(std::floor(units), 126.0f);
      // h(v) is the fraction at first.
      const float fraction = std::clamp(units - floors[i], 0.0f, 1.0f);
      v[i] = -std::log((kHigh - kLow) / (fraction - kLow) - 1);
    }
  }

  void optimize(const AdaptiveOptions &options);
  /// Rounds weights the other way, one after the other, as long as that reduces the error.
  void improve(std::vector<int8_t> &integers) const;
  /// Writes the better of the chosen integers and the nearest ones, both improved.
  void write(int8_t *integers) const;

private:
  float soft(int64_t i) const {
    return std::clamp((kHigh - kLow) / (1 + std::exp(-v[i])) + kLow, 0.0f, 1.0f);
  }
  void multiply(const std::vector<float> &difference, std::vector<float> &product) const {
    std::fill(product.begin(), product.end(), 0.0f);
    for (int64_t i = 0; i < length; ++i)
      if (const float d = difference[i]; d != 0)
        for (int64_t j = 0; j < length; ++j)
          product[j] += d * matrix[i * length + j];
  }
  std::vector<int8_t> nearestIntegers() const {
    std::vector<int8_t> nearest(length);
    for (int64_t i = 0; i < length; ++i)
      nearest[i] =
          static_cast<int8_t>(std::clamp(std::nearbyint(weights[i] / scale), -127.0f, 127.0f));
    return nearest;
  }
  double errorOf(const std::vector<int8_t> &integers) const {
    std::vector<float> difference(length);
    for (int64_t i = 0; i < length; ++i)
      difference[i] = static_cast<float>(integers[i]) * scale - weights[i];
    std::vector<float> product(length);
    multiply(difference, product);
    double error = 0;
    for (int64_t i = 0; i < length; ++i)
      error += double(product[i]) * difference[i];
    return error;
  }

  const float *weights;
  const float scale;
  const int64_t length;
  llvm::ArrayRef<float> matrix;
  std::vector<float> floors, v, first, second, gradient;
};

void Row::optimize(const AdaptiveOptions &options) {
  // Whatever their number, the steps together can carry v from one end of the sigmoid to the other.
  const auto iterations = static_cast<float>(options.iterations);
  const float rate = std::clamp(10 / iterations, 1e-3f, 0.1f);
  const float warm = static_cast<float>(options.warmStart) * iterations;
  const double nearest = errorOf(nearestIntegers());
  if (!(nearest > 0))
    return;
  const auto unit = static_cast<float>(kNearestError * static_cast<double>(length) / nearest);
  std::vector<float> difference(length);
  float decay1 = 1, decay2 = 1;
  bool moves = true;
  for (int64_t t = 0; t < options.iterations && moves; ++t) {
    if (t % kIterationsPerGradient == 0) {
      for (int64_t i = 0; i < length; ++i)
        difference[i] = (floors[i] + soft(i)) * scale - weights[i];
      multiply(difference, gradient);
    }
    const auto at = static_cast<float>(t);
    const bool penalizes = at >= warm;
    const float done = penalizes ? (at - warm) / std::max(1.0f, iterations - warm) : 0;
    const auto beta =
        static_cast<float>(options.betaStart + (options.betaEnd - options.betaStart) * done);
    const float penalty = static_cast<float>(options.regularization) * beta * 2;
    decay1 *= 0.9f;
    decay2 *= 0.999f;
    moves = false;
    for (int64_t i = 0; i < length; ++i) {
      const float sigmoid = 1 / (1 + std::exp(-v[i]));
      const float h = (kHigh - kLow) * sigmoid + kLow;
      if (h <= 0 || h >= 1)
        continue; // the clamp has no slope: the choice is made
      moves = true;
      float slope = 2 * unit * gradient[i] * scale;
      if (penalizes) {
        const float centered = 2 * h - 1;
        slope -= penalty * std::copysign(std::pow(std::fabs(centered), beta - 1), centered);
      }
      slope *= (kHigh - kLow) * sigmoid * (1 - sigmoid);
      first[i] = 0.9f * first[i] + 0.1f * slope;
      second[i] = 0.999f * second[i] + 0.001f * slope * slope;
      v[i] -= rate * (first[i] / (1 - decay1)) / (std::sqrt(second[i] / (1 - decay2)) + 1e-8f);
    }
  }
}

void Row::improve(std::vector<int8_t> &integers) const {
  std::vector<float> difference(length), product(length);
  for (int64_t i = 0; i < length; ++i)
    difference[i] = static_cast<float>(integers[i]) * scale - weights[i];
  multiply(difference, product);
  bool changes = true;
  for (int sweep = 0; sweep < kMaxSweeps && changes; ++sweep) {
    changes = false;
    for (int64_t i = 0; i < length; ++i) {
      const float other = static_cast<float>(integers[i]) > floors[i] ? floors[i] : floors[i] + 1;
      const float step = (other - static_cast<float>(integers[i])) * scale;
      const float own = step * step * matrix[i * length + i], shared = 2 * step * product[i];
      // Rounding errors of the sums must not flip a weight to and fro.
      if (!(shared + own < -1e-5f * own))
        continue;
      integers[i] = static_cast<int8_t>(other);
      changes = true;
      for (int64_t j = 0; j < length; ++j)
        product[j] += step * matrix[i * length + j];
    }
  }
}

void Row::write(int8_t *integers) const {
  std::vector<int8_t> chosen(length);
  for (int64_t i = 0; i < length; ++i)
    chosen[i] = static_cast<int8_t>(floors[i] + (soft(i) >= 0.5f ? 1 : 0));
  std::vector<int8_t> nearest = nearestIntegers();
  improve(chosen);
  improve(nearest);
  const std::vector<int8_t> &best = errorOf(chosen) < errorOf(nearest) ? chosen : nearest;
  std::copy(best.begin(), best.end(), integers);
}

} // namespace

std::vector<int8_t> roundAdaptively(llvm::ArrayRef<float> weights, int64_t rows,
                                    llvm::ArrayRef<float> scales, llvm::ArrayRef<float> matrix,
                                    const AdaptiveOptions &options) {
  const int64_t length = rows ? weights.size() / rows : 0;
  std::vector<int8_t> integers(weights.size());
  for (int64_t r = 0; r < rows; ++r) {
    Row row(weights.data() + r * length, scales.size() == 1 ? scales[0] : scales[r], length,
            matrix);
    row.optimize(options);
    row.write(integers.data() + r * length);
  }
  return integers;
}

} // namespace atc::quantize
