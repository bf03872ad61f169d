//===-- PackNpuWeightsTest.cpp - weights in the order of the cube ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every weight is looked up where the cube would read it.

#include "passes/npu/contraction/PackNpuWeights.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace mlir;
using namespace atc;
using namespace atc::npu;

namespace {

MLIRContext &context() {
  static MLIRContext context;
  return context;
}

/// 1, 2, 3, ... (all exact in f16).
ElementsAttr counted(ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, Float16Type::get(&context()));
  std::vector<uint16_t> data;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    data.push_back(halfOf(float(i % 2000 + 1)));
  return graph::makeConstant(type, ArrayRef<uint16_t>(data));
}

std::vector<float> valuesOf(FailureOr<ElementsAttr> attribute, ArrayRef<int64_t> shape) {
  REQUIRE(succeeded(attribute));
  CHECK(attribute->getShapedType().getShape() == shape);
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(*attribute);
  REQUIRE(succeeded(bytes));
  std::vector<float> values;
  for (uint16_t half : bytes->expandedAs<uint16_t>())
    values.push_back(atc::halfToFloat(half));
  return values;
}

float weightAt(int64_t index) { return float(index % 2000 + 1); }

void checkFilter(int64_t groups, int64_t inputs, int64_t outputs, int64_t kh, int64_t kw,
                 int64_t expectedGroups) {
  INFO(groups << " groups, " << inputs << " -> " << outputs << ", " << kh << "x" << kw);
  ChannelGroups channels{groups, inputs, outputs};
  int64_t g = channels.blockGroups();
  CHECK(g == expectedGroups);
  int64_t groupInputs = inputs / groups, groupOutputs = outputs / groups, taps = kh * kw;
  int64_t c1 = channels.inputBlocks() / g, n1 = channels.outputBlocks() / g;
  std::vector<float> packed =
      valuesOf(packConvFilter(counted({outputs, groupInputs, kh, kw}), channels, g),
               {g, c1 * taps, n1, 16, 16});
  int64_t wrong = 0;
  // Channels that blocks have beyond the last one are zero like those of other groups.
  for (int64_t part = 0; part < g; ++part)
    for (int64_t k1 = 0; k1 < c1 * taps; ++k1)
      for (int64_t block = 0; block < n1; ++block)
        for (int64_t n = 0; n < 16; ++n)
          for (int64_t k = 0; k < 16; ++k) {
            int64_t output = (part * n1 + block) * 16 + n;
            int64_t input = (part * c1 + k1 / taps) * 16 + k, tap = k1 % taps;
            bool same =
                output < outputs && input < inputs && output / groupOutputs == input / groupInputs;
            float expected =
                same ? weightAt((output * groupInputs + input % groupInputs) * taps + tap) : 0;
            float actual = packed[(((part * c1 * taps + k1) * n1 + block) * 16 + n) * 16 + k];
            wrong += actual != expected;
          }
  CHECK(wrong == 0);
  // None of them is in a part that does not exist.
  int64_t present = std::count_if(packed.begin(), packed.end(), [](float x) { return x != 0; });
  CHECK(present == outputs * groupInputs * taps);
}

} // namespace

TEST_CASE("Filters: dense, grouped, depthwise") {
  checkFilter(1, 16, 16, 1, 1, 1);
  checkFilter(1, 40, 24, 3, 2, 1);
  checkFilter(32, 32, 32, 3, 3, 2);
  checkFilter(40, 40, 40, 3, 3, 3);
  checkFilter(32, 32, 64, 3, 3, 2);
  checkFilter(4, 64, 128, 1, 1, 4);
  checkFilter(32, 128, 128, 3, 3, 8);
  checkFilter(3, 24, 24, 1, 1, 2);
  checkFilter(2, 40, 48, 1, 1, 1);
  checkFilter(2, 48, 48, 3, 3, 1);
}

TEST_CASE("Image filters: four channels a tap") {
  for (int64_t channels : {1, 3, 4}) {
    int64_t outputs = 20, taps = 9;
    std::vector<float> packed =
        valuesOf(packImageFilter(counted({outputs, channels, 3, 3})), {1, 3, 2, 16, 16});
    int64_t wrong = 0;
    for (int64_t k = 0; k < 48; ++k)
      for (int64_t n = 0; n < 32; ++n) {
        int64_t tap = k / 4, c = k % 4;
        bool real = tap < taps && c < channels && n < outputs;
        float expected = real ? weightAt((n * channels + c) * taps + tap) : 0;
        wrong += packed[((k / 16 * 2 + n / 16) * 16 + n % 16) * 16 + k % 16] != expected;
      }
    CHECK(wrong == 0);
  }
  CHECK(failed(packImageFilter(counted({8, 5, 1, 1}))));
}

TEST_CASE("Matrices, plain and transposed") {
  for (bool transposed : {false, true}) {
    int64_t depth = 37, columns = 21;
    SmallVector<int64_t> shape{transposed ? columns : depth, transposed ? depth : columns};
    std::vector<float> packed =
        valuesOf(packCubeMatrix(counted(shape), transposed), {3, 2, 16, 16});
    int64_t wrong = 0;
    for (int64_t k = 0; k < 48; ++k)
      for (int64_t n = 0; n < 32; ++n) {
        float expected = 0;
        if (k < depth && n < columns)
          expected = weightAt(transposed ? n * depth + k : k * columns + n);
        wrong += packed[((k / 16 * 2 + n / 16) * 16 + n % 16) * 16 + k % 16] != expected;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f16: nearest, and finite stays finite") {
  CHECK(halfOf(1.0f) == 0x3c00);
  CHECK(halfOf(-2.0f) == 0xc000);
  CHECK(halfOf(1e30f) == 0x7bff);
  CHECK(halfOf(-1e30f) == 0xfbff);
  CHECK(halfOf(INFINITY) == 0x7c00);
  CHECK(std::isnan(atc::halfToFloat(halfOf(NAN))));
  // Halfway between two f16: the even one.
  CHECK(halfOf(1.0f + 1.0f / 2048) == 0x3c00);
  CHECK(halfOf(1.0f + 3.0f / 2048) == 0x3c02);
  CHECK(atc::halfToFloat(halfOf(5.9604645e-8f)) == 5.9604645e-8f);
}

TEST_CASE("Vectors are padded and widened") {
  Type f32 = Float32Type::get(&context());
  FailureOr<ElementsAttr> wide = padChannels(counted({3}), 16, f32);
  REQUIRE(succeeded(wide));
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(*wide);
  REQUIRE(succeeded(bytes));
  ArrayRef<float> values = bytes->expandedAs<float>();
  REQUIRE(values.size() == 16);
  for (int64_t i = 0; i < 16; ++i)
    CHECK(values[i] == (i < 3 ? float(i + 1) : 0.0f));
}
