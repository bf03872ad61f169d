//===-- RandomRows.h - weights and inputs of tests ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_QUANTIZE_WEIGHTS_RANDOMROWS_H
#define OPENATC_TEST_QUANTIZE_WEIGHTS_RANDOMROWS_H

#include "quantize/weights/Moments.h"

#include <random>

/// Returns numbers from -1 to 1 of a seed.
inline std::vector<float> randomNumbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(random() % 20001) / 10000 - 1);
  return numbers;
}

/// Returns vectors whose neighboring elements are similar, and whose every fifth element is ten
/// times as large: inputs as layers have them.
inline std::vector<float> correlatedInputs(int64_t count, int64_t length, unsigned seed) {
  std::vector<float> rows = randomNumbers(count * length, seed);
  for (int64_t row = 0; row < count; ++row)
    for (int64_t i = 1; i < length; ++i)
      rows[row * length + i] = 0.8f * rows[row * length + i - 1] + 0.3f * rows[row * length + i];
  for (size_t i = 0; i < rows.size(); i += 5)
    rows[i] *= 10;
  return rows;
}

/// Returns E[x x^T] of such vectors.
inline std::vector<float> correlatedMatrix(int64_t length, unsigned seed) {
  atc::quantize::Moments moments(length);
  moments.add(correlatedInputs(512, length, seed).data(), 512);
  return moments.matrix(/*centered=*/false);
}

#endif // OPENATC_TEST_QUANTIZE_WEIGHTS_RANDOMROWS_H
