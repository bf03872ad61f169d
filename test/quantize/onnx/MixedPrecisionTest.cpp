//===-- MixedPrecisionTest.cpp - which layers stay float ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/MixedPrecision.h"

#include "driver/Compiler.h"
#include "quantize/onnx/SwitchedModel.h"
#include "test/quantize/SmallModel.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc;
using namespace atc::quantize;

namespace {

constexpr int64_t kChannels = 4, kPixels = 64;

/// Supplies images whose first channel is 500 times as large as the others.
class LoudChannel : public DataSource {
public:
  void begin(const std::vector<::om::Tensor> &, Diagnostics &) override {}
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &) override {
    if (done++ == 2)
      return false;
    for (int64_t i = 0; i < kChannels * kPixels; ++i)
      inputs[0].data<float>()[i] = (i < kPixels ? 500 : 1) * noise(unsigned(i * 2 + done));
    return true;
  }
  /// Returns a number from -1 to 1 that depends on the seed only.
  static float noise(unsigned seed) {
    seed = seed * 747796405u + 2891336453u;
    seed = ((seed >> ((seed >> 28) + 4)) ^ seed) * 277803737u;
    return float(seed >> 8) / float(1 << 23) - 1;
  }

private:
  int done = 0;
};

/// Returns convolutions of 1x1 in a row with relus between them. The first all but ignores the loud
/// channel, so that rounding its input costs far more than rounding anything after it.
std::unique_ptr<OnnxModel> makeModel() {
  SmallModel model;
  model.input("x", {1, kChannels, 8, 8}).output("y", {1, kChannels, 8, 8});
  std::string from = "x";
  for (int layer = 0; layer < 4; ++layer) {
    std::vector<float> weights;
    for (int64_t i = 0; i < kChannels * kChannels; ++i)
      weights.push_back((layer == 0 && i % kChannels == 0 ? 1e-5f : 1) *
                        (0.2f + LoudChannel::noise(unsigned(1000 + layer * 16 + i))));
    const std::string name = std::to_string(layer), weight = "w" + name;
    model.constant(weight, {kChannels, kChannels, 1, 1}, weights);
    model.node("Conv", {from, weight}, layer == 3 ? "y" : "c" + name);
    if (layer < 3)
      model.node("Relu", {"c" + name}, from = "r" + name);
  }
  return model.finish();
}

QuantizeOptions makeOptions() {
  QuantizeOptions options;
  options.name = "small";
  options.config.balance = false; // it would mend the loud channel
  return options;
}

std::vector<std::string> tensorsOf(const Quantization &result) {
  std::vector<std::string> names;
  for (const TensorEntry &tensor : result.calibration.table.tensors)
    names.push_back(tensor.name);
  return names;
}

} // namespace

TEST_CASE("the layer that adds the error stays float, not the deepest", "[mixed]") {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  LoudChannel data;
  auto all = quantizeOnnx(makeModel(), makeOptions(), data, *context, diagnostics);
  REQUIRE(all);
  const double plain = all->report.outputs[0].cosine;
  const double wanted = 1 - (1 - plain) / 10;
  LoudChannel again;
  auto mixed = quantizeToCosine(makeModel(), makeOptions(), wanted, again, *context, diagnostics);
  REQUIRE(mixed);
  CHECK(mixed->report.outputs[0].cosine >= wanted);
  CHECK(mixed->report.floatLayers == std::vector<std::string>{"node_c0"});
  CHECK(mixed->report.floatMacs == Approx(0.25));
  CHECK(floatLayersText(mixed->report) ==
        "1 layer (25.0 % of the multiply-accumulates) stays float: node_c0");
  CHECK(mixed->calibration.table.layers.size() == 3);
  // The layers after it keep their scales, and it is computed together with its relu.
  CHECK(tensorsOf(*mixed) == std::vector<std::string>{"r0", "r1", "r2"});
  for (const TensorEntry &tensor : mixed->calibration.table.tensors)
    CHECK(tensor.params.scale == all->calibration.table.findTensor(tensor.name)->params.scale);
  CHECK_FALSE(diagnostics.hasErrors());
}

TEST_CASE("switches are float, int8 and everything between", "[mixed]") {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  LoudChannel data;
  auto all = quantizeOnnx(makeModel(), makeOptions(), data, *context, diagnostics);
  REQUIRE(all);
  auto switched = SwitchedModel::compile(*all, "small", *context, diagnostics);
  REQUIRE(switched);
  const auto &samples = all->calibration.kept.samples;
  REQUIRE(switched->setSamples(samples, samples.size(), diagnostics));
  auto none = switched->measure({false, false, false, false}, diagnostics);
  REQUIRE(none);
  CHECK(none->at(0) == Approx(1).epsilon(1e-12));
  auto every = switched->measure({true, true, true, true}, diagnostics);
  REQUIRE(every);
  CHECK(1 - every->at(0) == Approx(1 - all->report.outputs[0].cosine).epsilon(0.1));
  auto first = switched->measure({true, false, false, false}, diagnostics);
  auto last = switched->measure({false, false, false, true}, diagnostics);
  REQUIRE((first && last));
  CHECK(1 - first->at(0) > 10 * (1 - last->at(0)));
}

TEST_CASE("a budget that no layer meets is an error", "[mixed]") {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  LoudChannel data;
  CHECK_FALSE(quantizeToCosine(makeModel(), makeOptions(), 1, data, *context, diagnostics));
  REQUIRE(diagnostics.hasErrors());
  CHECK(diagnostics.all().back().code == "E10014");
}

TEST_CASE("a skipped layer is computed together with its activation", "[mixed]") {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  LoudChannel data;
  QuantizeOptions options = makeOptions();
  options.config.skipLayers = {"node_c1"};
  auto result = quantizeOnnx(makeModel(), options, data, *context, diagnostics);
  REQUIRE(result);
  CHECK(tensorsOf(*result) == std::vector<std::string>{"x", "r1", "r2"});
}
