//===-- WinogradWeights.cpp - filters of cpu.float_winograd ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/pack/WinogradWeights.h"

#include "dialects/graph/ConstantData.h"
#include "passes/kernel/pack/OutputBlock.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mlir;

namespace atc::cpu {

namespace {

using kernel::kOutputBlock;

constexpr int64_t kMaxSide = 6;

/// The bytes of weights that a core reads from beyond L2 in the time of one vector operation.
constexpr double kBytesPerOperation = 4;
/// The bytes by which the weights of a model may grow in any case, and the part of all its weights
/// that they may grow by.
constexpr int64_t kFreeGrowth = 32 << 20;
constexpr double kMaxGrowth = 0.12;

/// The vector operations of a form per tile and block of 16 channels, loads and stores included.
struct TransformCosts {
  double input, output;
};
TransformCosts transformCosts(Winograd form) {
  return form.outputs == 2 ? TransformCosts{80, 60} : TransformCosts{300, 270};
}

/// Returns the cost of `operations` on vectors that read `taps` weights per pair of channels.
/// Weights are requested while the panel before them is in use: what takes longer hides half of the
/// other.
double costOf(const WinogradSizes &sizes, double operations, int64_t taps) {
  const double traffic =
      double(taps) * sizes.channels * sizes.outputs * sizeof(float) / kBytesPerOperation;
  return std::max(operations, traffic) + std::min(operations, traffic) / 2;
}

/// Returns the factors of a row of the input, for each position along a side.
ArrayRef<std::array<float, kMaxSide>> inputFactors(Winograd form) {
  static constexpr std::array<float, kMaxSide> two[] = {
      {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  constexpr float a = kernels::kWinogradPoint, a2 = kernels::kWinogradPoint2,
                  a3 = kernels::kWinogradPoint3, a4 = kernels::kWinogradPoint4;
  static constexpr std::array<float, kMaxSide> four[] = {
      {4 * a4, 0, -5 * a2, 0, 1, 0},  {0, -4 * a3, -4 * a2, a, 1, 0},
      {0, 4 * a3, -4 * a2, -a, 1, 0}, {0, -2 * a3, -a2, 2 * a, 1, 0},
      {0, 2 * a3, -a2, -2 * a, 1, 0}, {0, 4 * a4, 0, -5 * a2, 0, 1}};
  return form.outputs == 2 ? ArrayRef(two) : ArrayRef(four);
}

/// Returns the factors of a row of products, for each output along a side.
ArrayRef<std::array<float, kMaxSide>> outputFactors(Winograd form) {
  static constexpr std::array<float, kMaxSide> two[] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  constexpr float a = kernels::kWinogradPoint, a2 = kernels::kWinogradPoint2,
                  a3 = kernels::kWinogradPoint3;
  static constexpr std::array<float, kMaxSide> four[] = {{1, 1, 1, 1, 1, 0},
                                                         {0, a, -a, 2 * a, -2 * a, 0},
                                                         {0, a2, a2, 4 * a2, 4 * a2, 0},
                                                         {0, a3, -a3, 8 * a3, -8 * a3, 1}};
  return form.outputs == 2 ? ArrayRef(two) : ArrayRef(four);
}

/// The values of a tile, of at most kMaxSide rows and columns, row by row without gaps.
template <typename T> using Tile = std::array<T, kMaxSide * kMaxSide>;

/// Returns factors * matrix * transpose(factors); `matrix` has `side` rows and columns.
template <typename T, typename Factors>
Tile<T> transformed(Factors factors, const T *matrix, int64_t side) {
  const int64_t size = factors.size();
  Tile<T> half{}, result{};
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < side; ++j)
      for (int64_t k = 0; k < side; ++k)
        half[i * side + j] += factors[i][k] * matrix[k * side + j];
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j)
      for (int64_t k = 0; k < side; ++k)
        result[i * size + j] += half[i * side + k] * factors[j][k];
  return result;
}

} // namespace

double WinogradSizes::directCost() const {
  return costOf(*this, double(images) * height * width * 9 * channels * outputs / kOutputBlock, 9);
}

double WinogradSizes::cost(Winograd form) const {
  const double tiles = double(images) * form.tilesOf(height, width);
  const TransformCosts costs = transformCosts(form);
  const double operations = tiles *
                            (double(form.points()) * channels * outputs + costs.input * channels +
                             costs.output * outputs) /
                            kOutputBlock;
  return costOf(*this, operations, form.points());
}

double maxWinogradGrowth(int64_t bytes) {
  return std::max<double>(kFreeGrowth, kMaxGrowth * bytes);
}

std::array<double, 9> DirectFilter::window(int64_t output, int64_t channel) const {
  std::array<double, 9> result;
  const int64_t block = output / kOutputBlock * inputBlocks + channel / kOutputBlock;
  for (int64_t tap = 0; tap < 9; ++tap)
    result[tap] = data[((block * 9 + tap) * kOutputBlock + channel % kOutputBlock) * kOutputBlock +
                       output % kOutputBlock];
  return result;
}

ElementsAttr packFloatWinograd(const DirectFilter &filter, Winograd form, MLIRContext *context) {
  const int64_t points = form.points(), channels = filter.channels();
  auto type = RankedTensorType::get({filter.outputBlocks, points, channels, kOutputBlock},
                                    Float32Type::get(context));
  std::vector<char> bytes(type.getNumElements() * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t output = 0; output < filter.outputs(); ++output)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const Tile<double> values =
          transformed(form.floatWeights(), filter.window(output, channel).data(), 3);
      for (int64_t point = 0; point < points; ++point)
        to[((output / kOutputBlock * points + point) * channels + channel) * kOutputBlock +
           output % kOutputBlock] = static_cast<float>(values[point]);
    }
  return graph::makeConstant(type, std::move(bytes), "winograd");
}

double estimateWinogradError(const DirectFilter &filter, Winograd form) {
  constexpr int64_t kTiles = 8, kOutputs = 16;
  const int64_t side = form.side(), channels = filter.channels();
  const int64_t step = std::max<int64_t>(1, filter.outputs() / kOutputs);
  // Always the same values, so that compiling twice yields the same file.
  std::mt19937 random(1);
  std::vector<float> input(kTiles * channels * side * side);
  for (float &value : input)
    value = static_cast<float>(random()) * 0x1p-32f;
  std::vector<Tile<float>> positions;
  for (int64_t i = 0; i < kTiles * channels; ++i)
    positions.push_back(transformed(inputFactors(form), &input[i * side * side], side));

  double error = 0, smallest = HUGE_VAL, largest = -HUGE_VAL;
  for (int64_t output = 0; output < filter.outputs(); output += step) {
    std::array<Tile<float>, kTiles> products{};
    std::array<Tile<double>, kTiles> exact{};
    for (int64_t channel = 0; channel < channels; ++channel) {
      const std::array<double, 9> window = filter.window(output, channel);
      const Tile<double> weights = transformed(form.floatWeights(), window.data(), 3);
      for (int64_t tile = 0; tile < kTiles; ++tile) {
        const int64_t index = tile * channels + channel;
        for (int64_t point = 0; point < form.points(); ++point)
          products[tile][point] = std::fma(
              positions[index][point], static_cast<float>(weights[point]), products[tile][point]);
        for (int64_t y = 0; y < form.outputs; ++y)
          for (int64_t x = 0; x < form.outputs; ++x)
            for (int64_t tap = 0; tap < 9; ++tap)
              exact[tile][y * form.outputs + x] +=
                  window[tap] * input[(index * side + y + tap / 3) * side + x + tap % 3];
      }
    }
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      const Tile<float> sums = transformed(outputFactors(form), products[tile].data(), side);
      for (int64_t i = 0; i < form.outputs * form.outputs; ++i) {
        const double difference = std::abs(sums[i] - exact[tile][i]);
        if (!std::isfinite(difference))
          return HUGE_VAL;
        error = std::max(error, difference);
        smallest = std::min(smallest, exact[tile][i]);
        largest = std::max(largest, exact[tile][i]);
      }
    }
  }
  // Weights that are all zero have neither an error nor a range.
  return error == 0 ? 0 : error / (largest - smallest);
}

} // namespace atc::cpu
