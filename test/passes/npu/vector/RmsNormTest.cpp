//===-- RmsNormTest.cpp - norms that subtract no mean ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/vector/VectorRunner.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc::npu::test;

TEST_CASE("RMS norms between f16 and f32") {
  const int64_t rowCount = 9, length = 61;
  for (const std::string soc : {"Ascend310P3", "Ascend910B1"})
    for (const std::string from : {"f16", "f32"})
      for (const std::string to : {"f16", "f32"})
        for (bool hasGamma : {false, true}) {
          Buffer x = Buffer::random(from, {rowCount, length}, {}, -3, 5);
          Buffer gamma = Buffer::random("f32", {length}), out(to, {rowCount, length});
          std::vector<Buffer *> buffers{&x, &out};
          std::string text = "npu.layer_norm %0 outs %1 {epsilon = 1.0e-6 : f64, uncentered} "
                             ": $0, $1";
          if (hasGamma) {
            buffers = {&x, &gamma, &out};
            text = "npu.layer_norm %0 gamma %1 outs %2 {epsilon = 1.0e-6 : f64, uncentered} "
                   ": $0, $1, $2";
          }
          runVectorKernel(text, buffers, soc);
          for (int64_t row = 0; row < rowCount; ++row) {
            double squares = 0;
            for (int64_t i = 0; i < length; ++i)
              squares += std::pow(x.get({row, i}), 2) / double(length);
            for (int64_t i = 0; i < length; ++i) {
              const double want =
                  x.get({row, i}) / std::sqrt(squares + 1e-6) * (hasGamma ? gamma.get({i}) : 1);
              INFO(soc << " " << from << " to " << to << " at " << row << ", " << i);
              CHECK(std::abs(out.get({row, i}) - want) <= (to == "f16" ? 4e-3 : 1e-5));
            }
          }
        }
}
