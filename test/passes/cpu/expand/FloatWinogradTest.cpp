//===-- FloatWinogradTest.cpp - runs cpu.float_winograd kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "passes/kernel/pack/WinogradWeights.h"
#include "test/passes/cpu/KernelRunner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace atc;
using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Conv {
  int64_t positions = 36;
  int64_t inputBlocks = 1, outputBlocks = 1, height = 8, width = 8, batch = 1;
  bool bias = true, residual = false, residualLast = false, inPlace = false, halo = false;
  std::string activation{}, tile{};
};

/// A filter of cpu.conv2d with random weights.
struct Filter {
  Buffer data;
  DirectFilter direct;

  Filter(int64_t outputBlocks, int64_t inputBlocks)
      : data(Buffer::random("f32", {outputBlocks, inputBlocks, 3, 3, 16, 16})),
        direct{{static_cast<const float *>(data.data()), size_t(data.span())},
               outputBlocks,
               inputBlocks} {}
};

/// Returns the transformed filter as the kernel reads it.
Buffer transformed(const Filter &filter, int64_t positions) {
  static mlir::MLIRContext context;
  mlir::ElementsAttr packed =
      packFloatWinograd(filter.direct, *Winograd::ofPoints(positions), &context);
  Buffer result("f32", Numbers(packed.getShapedType().getShape()));
  auto bytes = graph::ConstantBytes::get(packed);
  REQUIRE(mlir::succeeded(bytes));
  llvm::ArrayRef<float> values = bytes->expandedAs<float>();
  REQUIRE(int64_t(values.size()) == result.span());
  std::copy(values.begin(), values.end(), static_cast<float *>(result.data()));
  return result;
}

double activate(const std::string &kind, double x) {
  return kind == "relu" ? std::max(x, 0.0) : kind == "silu" ? x / (1 + std::exp(-x)) : x;
}

void check(const Conv &c) {
  Numbers outShape{c.batch, c.outputBlocks, c.height, c.width, 16}, whole = outShape;
  whole[2] += 2;
  whole[3] += 3;
  const Numbers inShape{c.batch, c.inputBlocks, c.height + 2, c.width + 2, 16};
  Numbers inWhole = inShape;
  inWhole[3] += 1;
  Buffer in = Buffer::random("f32", inShape, c.halo ? stridesIn(inWhole) : Numbers());
  const Filter direct(c.outputBlocks, c.inputBlocks);
  const Buffer filter = transformed(direct, c.positions);
  Buffer bias = Buffer::random("f32", {c.outputBlocks * 16});
  const Numbers outStrides = c.halo ? stridesIn(whole) : Numbers();
  Buffer residual = Buffer::random("f32", outShape, c.inPlace ? outStrides : Numbers());
  Buffer out("f32", outShape, outStrides), expected = out;
  double smallest = HUGE_VAL, largest = -HUGE_VAL;
  forEachPosition(outShape, [&](const Numbers &p) {
    double sum = c.bias ? bias.get({p[1] * 16 + p[4]}) : 0;
    for (int64_t tap = 0; tap < 9; ++tap)
      for (int64_t k = 0; k < c.inputBlocks * 16; ++k)
        sum += in.get({p[0], k / 16, p[2] + tap / 3, p[3] + tap % 3, k % 16}) *
               direct.data.get({p[1], k / 16, tap / 3, tap % 3, k % 16, p[4]});
    const double addend = c.residual ? residual.get(p) : 0;
    const double value = c.residualLast ? activate(c.activation, sum) + addend
                                        : activate(c.activation, sum + addend);
    expected.set(p, value);
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  });

  OpText op("cpu.float_winograd %0, %1", {&in, &filter});
  if (c.bias)
    op.add("bias", bias);
  if (c.residual)
    op.add("residual", residual);
  op.add("outs", out);
  std::string attributes;
  if (!c.activation.empty())
    attributes += ", activation = #graph.activation<" + c.activation + ">";
  if (c.residualLast)
    attributes += ", residual_last";
  if (!c.tile.empty())
    attributes += ", tile = #cpu.tile<" + c.tile + ">";
  const std::string text = op.with(attributes.empty() ? "" : attributes.substr(2));

  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type() << " -> " << out.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, c.inPlace ? &residual : nullptr);
    const double range = largest - smallest;
    CHECK(largestError(actual, expected, /*floor=*/HUGE_VAL) == 0);
    double error = 0;
    forEachPosition(outShape, [&](const Numbers &p) {
      const double difference = std::abs(actual.get(p) - expected.get(p));
      error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
    });
    CHECK(error <= 1e-5 * range);
  }
}

std::string tile(int pixels, int blocks, int rows, int groups, int depth) {
  return "pixels = " + std::to_string(pixels) + ", blocks = " + std::to_string(blocks) +
         ", rows = " + std::to_string(rows) + ", groups = " + std::to_string(groups) +
         ", depth = " + std::to_string(depth) + ", flatten = false";
}

} // namespace

TEST_CASE("float_winograd: planes of any size", "[winograd]") {
  check({});
  for (int64_t positions : {16, 36}) {
    check({.positions = positions, .inputBlocks = 2, .height = 7, .width = 5, .batch = 2});
    check({.positions = positions, .height = 1, .width = 1});
    check({.positions = positions, .outputBlocks = 2, .height = 2, .width = 15, .halo = true});
  }
}

TEST_CASE("float_winograd: bias, residual, activation", "[winograd]") {
  check({.height = 7, .width = 6, .bias = false});
  check({.positions = 16, .residual = true, .halo = true, .activation = "relu"});
  check({.outputBlocks = 2, .residual = true, .inPlace = true, .halo = true, .activation = "relu"});
  check({.residual = true, .residualLast = true, .inPlace = true, .activation = "silu"});
}

TEST_CASE("float_winograd: every tiling computes the same", "[winograd]") {
  Conv c{.inputBlocks = 2, .outputBlocks = 8, .height = 17, .width = 10, .residual = true};
  for (const std::string &t :
       {tile(3, 2, 2, 4, 2), tile(5, 1, 3, 3, 3), tile(2, 4, 5, 8, 8), tile(4, 2, 4, 6, 4)}) {
    c.tile = t;
    check(c);
  }
}

TEST_CASE("float_winograd: the estimated error follows the weights", "[winograd]") {
  Filter filter(2, 4);
  const double two = estimateWinogradError(filter.direct, *Winograd::ofPoints(16));
  const double four = estimateWinogradError(filter.direct, *Winograd::ofPoints(36));
  CHECK(two > 0);
  CHECK(four > two);
  CHECK(four < 1e-5);
  // A weight that is no number fails every limit.
  filter.data.set(0, NAN);
  CHECK(std::isinf(estimateWinogradError(filter.direct, *Winograd::ofPoints(36))));
  for (int64_t i = 0; i < filter.data.span(); ++i)
    filter.data.set(i, 0);
  CHECK(estimateWinogradError(filter.direct, *Winograd::ofPoints(36)) == 0);
}
