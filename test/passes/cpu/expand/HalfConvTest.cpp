//===-- HalfConvTest.cpp - runs cpu.half_conv2d kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/HalfChunk.h"
#include "test/passes/cpu/KernelRunner.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace atc;
using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Conv {
  int64_t inputBlocks = 1, channels = 16, outputBlocks = 1, height = 5, width = 7, batch = 1;
  int64_t window = 1, stride = 1, dilation = 1;
  bool bias = true, residual = false, residualLast = false, inPlace = false, halo = false;
  std::string activation{}, tile{};
};

/// Whole numbers, whose sums of less than 2048 are exact in f16.
Buffer wholeNumbers(const std::string &element, const Numbers &shape, const Numbers &strides,
                    int64_t limit) {
  Buffer result = Buffer::random(element, shape, strides, -double(limit), double(limit));
  for (int64_t i = 0; i < result.span(); ++i)
    result.set(i, std::nearbyint(result.get(i)));
  return result;
}

/// The levels with a vector per block and with products of f16, for which alone these kernels are
/// selected: elsewhere LLVM rounds such a product from f64, by a function that no image has.
std::vector<CpuLevel> levelsOfHalves() {
  std::vector<CpuLevel> result;
  for (const CpuLevel &level : levels())
    if (level.lanes == 16 && llvm::is_contained(level.required, "avx512fp16"))
      result.push_back(level);
  if (result.empty())
    WARN("skipped: this processor has no products of f16 (AVX512-FP16)");
  return result;
}

/// Runs a convolution of whole numbers, whose result must be exact.
void check(const Conv &c) {
  const int64_t reach = (c.window - 1) * c.dilation + 1;
  const Numbers inShape{c.batch, c.inputBlocks, (c.height - 1) * c.stride + reach,
                        (c.width - 1) * c.stride + reach, c.channels};
  Numbers inWhole = inShape;
  inWhole[3] += 2;
  Buffer in = wholeNumbers("f32", inShape, c.halo ? stridesIn(inWhole) : Numbers(), 2);
  const int64_t pairs = HalfChunk::storedPairs(c.channels);
  Buffer filter =
      wholeNumbers("f16", {c.outputBlocks, c.inputBlocks, c.window, c.window, pairs, 32}, {}, 1);
  Buffer bias = wholeNumbers("f32", {c.outputBlocks * 16}, {}, 100);
  const Numbers outShape{c.batch, c.outputBlocks, c.height, c.width, 16};
  Numbers outWhole = outShape;
  outWhole[2] += 1;
  outWhole[3] += 3;
  const Numbers outStrides = c.halo ? stridesIn(outWhole) : Numbers();
  Buffer residual = wholeNumbers("f32", outShape, c.inPlace ? outStrides : Numbers(), 50);
  Buffer out("f32", outShape, outStrides), expected = out;
  auto activate = [&](double x) { return c.activation == "relu" ? std::max(x, 0.0) : x; };
  forEachPosition(outShape, [&](const Numbers &p) {
    double sum = c.bias ? bias.get({p[1] * 16 + p[4]}) : 0;
    for (int64_t block = 0; block < c.inputBlocks; ++block)
      for (int64_t tap = 0; tap < c.window * c.window; ++tap)
        for (int64_t k = 0; k < c.channels; ++k)
          sum += in.get({p[0], block, p[2] * c.stride + tap / c.window * c.dilation,
                         p[3] * c.stride + tap % c.window * c.dilation, k}) *
                 filter.get({p[1], block, tap / c.window, tap % c.window, k / 2, p[4] * 2 + k % 2});
    const double addend = c.residual ? residual.get(p) : 0;
    expected.set(p, c.residualLast ? activate(sum) + addend : activate(sum + addend));
  });

  OpText op("cpu.half_conv2d %0, %1", {&in, &filter});
  if (c.bias)
    op.add("bias", bias);
  if (c.residual)
    op.add("residual", residual);
  op.add("outs", out);
  auto both = [](const std::string &name, int64_t value) {
    const std::string text = std::to_string(value);
    return name + " = array<i64: " + text + ", " + text + ">";
  };
  std::string attributes = both("strides", c.stride) + ", " + both("dilations", c.dilation);
  if (!c.activation.empty())
    attributes += ", activation = #graph.activation<" + c.activation + ">";
  if (c.residualLast)
    attributes += ", residual_last";
  if (!c.tile.empty())
    attributes += ", tile = #cpu.tile<" + c.tile + ">";
  const std::string text = op.with(attributes);
  for (const CpuLevel &level : levelsOfHalves()) {
    INFO(level.name << " " << text << " " << in.type() << " -> " << out.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, c.inPlace ? &residual : nullptr);
    CHECK(largestError(actual, expected) == 0);
  }
}

std::string tile(int pixels, int blocks, int rows, int groups, bool flatten) {
  return "pixels = " + std::to_string(pixels) + ", blocks = " + std::to_string(blocks) +
         ", rows = " + std::to_string(rows) + ", groups = " + std::to_string(groups) +
         ", depth = 1, flatten = " + (flatten ? "true" : "false");
}

} // namespace

TEST_CASE("half_conv2d: windows, strides and blocks", "[half]") {
  check({});
  check({.inputBlocks = 8, .outputBlocks = 4, .batch = 2});
  check({.inputBlocks = 3, .outputBlocks = 2, .window = 3, .halo = true});
  check({.inputBlocks = 2, .outputBlocks = 3, .height = 9, .width = 4, .stride = 2});
  check({.inputBlocks = 2, .window = 3, .stride = 2, .dilation = 2});
  check({.inputBlocks = 2, .window = 5});
}

TEST_CASE("half_conv2d: rows of matrices", "[half]") {
  for (int64_t channels : {2, 30, 100, 312, 768, 1024})
    check({.channels = channels, .outputBlocks = 3, .height = 1, .width = 17});
  // A sum of f16 would stay at 2048.
  check({.channels = 4096, .outputBlocks = 1, .height = 1, .width = 8});
  check({.channels = 96, .outputBlocks = 4, .height = 3, .width = 11, .batch = 2, .halo = true});
}

TEST_CASE("half_conv2d: bias, residual, activation", "[half]") {
  check({.inputBlocks = 2, .bias = false});
  check({.inputBlocks = 2, .residual = true, .halo = true, .activation = "relu"});
  check({.inputBlocks = 9,
         .outputBlocks = 2,
         .residual = true,
         .inPlace = true,
         .halo = true,
         .activation = "relu"});
  check({.residual = true, .residualLast = true, .inPlace = true, .activation = "relu"});
}

TEST_CASE("half_conv2d: every tiling computes the same", "[half]") {
  Conv c{.inputBlocks = 2,
         .outputBlocks = 8,
         .height = 13,
         .width = 10,
         .window = 3,
         .residual = true};
  for (const std::string &t : {tile(3, 2, 2, 4, false), tile(5, 1, 3, 3, false),
                               tile(6, 4, 13, 8, true), tile(7, 2, 13, 6, true)}) {
    c.tile = t;
    check(c);
  }
}

TEST_CASE("half_conv2d: sums of many products stay near those of f32", "[half]") {
  const int64_t depth = 3072, rows = 8;
  Buffer in = Buffer::random("f32", {1, 1, 1, rows, depth}, {}, -1, 1);
  Buffer filter = Buffer::random("f16", {1, 1, 1, 1, depth / 2, 32}, {}, -1, 1);
  Buffer out("f32", {1, 1, 1, rows, 16});
  OpText op("cpu.half_conv2d %0, %1", {&in, &filter});
  op.add("outs", out);
  for (const CpuLevel &level : levelsOfHalves()) {
    Buffer actual = out;
    runOp(op.with("strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>"), op.buffers(), level,
          actual);
    double error = 0, size = 0;
    forEachPosition({rows, 16}, [&](const Numbers &p) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += in.get({0, 0, 0, p[0], k}) * filter.get({0, 0, 0, 0, k / 2, p[1] * 2 + k % 2});
      error += std::pow(actual.get({0, 0, 0, p[0], p[1]}) - sum, 2);
      size += sum * sum;
    });
    INFO(level.name);
    CHECK(error > 0);
    CHECK(std::sqrt(error / size) < 1.5e-3);
  }
}
