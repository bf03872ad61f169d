//===-- DecomposeTest.cpp - convolutions that become two ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/Decompose.h"

#include "driver/Compiler.h"
#include "quantize/onnx/OnnxHost.h"
#include "test/quantize/SmallModel.h"
#include "test/quantize/weights/RandomRows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace atc;
using namespace atc::quantize;

namespace {

/// Returns a kernel [8, 6, 3, 3] that is a sum of `rank` products of a vertical and a horizontal
/// part.
std::vector<float> kernelOf(int64_t rank) {
  std::vector<float> kernel(8 * 6 * 9, 0);
  for (int64_t r = 0; r < rank; ++r) {
    const std::vector<float> vertical = randomNumbers(6 * 3, 10 + r);
    const std::vector<float> horizontal = randomNumbers(8 * 3, 20 + r);
    for (int64_t i = 0; i < static_cast<int64_t>(kernel.size()); ++i)
      kernel[i] += vertical[i / 9 % 6 * 3 + i / 3 % 3] * horizontal[i / 54 * 3 + i % 3];
  }
  return kernel;
}

void setInts(onnx::NodeProto &node, const char *name, std::initializer_list<int64_t> list) {
  auto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t value : list)
    attribute->add_ints(value);
}

std::unique_ptr<OnnxModel> makeModel(int64_t rank) {
  SmallModel model;
  model.input("x", {1, 6, 9, 7}).output("y", {1, 8, 5, 9});
  model.constant("w", {8, 6, 3, 3}, kernelOf(rank));
  model.constant("b", {8}, randomNumbers(8, 3));
  auto &conv = model.node("Conv", {"x", "w", "b"}, "y");
  setInts(conv, "strides", {2, 1});
  setInts(conv, "pads", {1, 2, 1, 2});
  setInts(conv, "kernel_shape", {3, 3});
  return model.finish();
}

std::vector<float> run(OnnxModel &model) {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  auto host = compileOnnx(model.proto, "small", {}, *context, diagnostics);
  REQUIRE(host);
  const std::vector<::om::Buffer> inputs = host->makeInputs();
  const std::vector<float> numbers = randomNumbers(6 * 9 * 7, 99);
  std::memcpy(inputs[0].data(), numbers.data(), inputs[0].size());
  REQUIRE(host->run(inputs, diagnostics));
  return host->floats(0).vec();
}

} // namespace

TEST_CASE("a kernel of small rank is two convolutions", "[decompose]") {
  auto model = makeModel(2);
  const std::vector<float> before = run(*model);
  const std::vector<DecomposedLayer> layers = decompose(*model, {0.9999});
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].rank == 2);
  CHECK(layers[0].cost == Approx(2 * (6 * 3 + 8 * 3) / (8 * 6 * 9.0)));
  CHECK(opsOf(*model) == std::vector<std::string>{"Conv", "Conv"});
  const std::vector<float> after = run(*model);
  REQUIRE(after.size() == before.size());
  for (size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] == Approx(before[i]).margin(1e-4));
}

TEST_CASE("the rank keeps the energy", "[decompose]") {
  const std::vector<int64_t> dims = {8, 6, 3, 3};
  const std::vector<float> kernel = kernelOf(6);
  double last = 0;
  for (const double energy : {0.3, 0.6, 0.9, 1.0}) {
    const KernelFactors factors = factorizeKernel(kernel, dims, energy);
    CHECK(factors.energy >= energy - 1e-6);
    CHECK(factors.rank >= last);
    last = static_cast<double>(factors.rank);
    double lost = 0, all = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(kernel.size()); ++i) {
      double sum = 0;
      for (int64_t r = 0; r < factors.rank; ++r)
        sum += double(factors.vertical[(r * 6 + i / 9 % 6) * 3 + i / 3 % 3]) *
               factors.horizontal[(i / 54 * factors.rank + r) * 3 + i % 3];
      lost += std::pow(sum - kernel[i], 2);
      all += double(kernel[i]) * kernel[i];
    }
    CHECK(1 - lost / all == Approx(factors.energy).margin(1e-4));
  }
}

TEST_CASE("what cannot be divided stays", "[decompose]") {
  // Too many channels between would be needed.
  auto model = makeModel(12);
  CHECK(decompose(*model, {0.9999}).empty());
  CHECK(opsOf(*model) == std::vector<std::string>{"Conv"});
  for (const char *reason : {"group", "dilations", "strides"}) {
    model = makeModel(2);
    onnx::NodeProto &conv = *model->graph().mutable_node(0);
    removeAttribute(conv, reason);
    if (std::string(reason) == "group")
      setAttribute(conv, reason, int64_t(2));
    else
      setInts(conv, reason, {3, 3});
    INFO(reason);
    CHECK(decompose(*model, {0.9999}).empty());
  }
}
