//===-- ConvTest.cpp - runs cpu.conv2d and cpu.depthwise_conv2d kernels ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Conv {
  int64_t channels = 16, blocks = 1, height = 8, width = 8;
  Numbers kernel{3, 3}, strides{1, 1}, dilations{1, 1};
  int64_t block = 16, groups = 1, batch = 1;
  bool bias = true, residual = false, residualLast = false, inPlace = false, haloOut = false;
  std::string activation = "", tile = "";
  bool depthwise = false;
  Numbers image = {}; ///< top, left, height, width: all around it is zero
};

std::string pair(const Numbers &n) {
  return "array<i64: " + std::to_string(n[0]) + ", " + std::to_string(n[1]) + ">";
}

double activate(const std::string &kind, double x) {
  if (kind.empty())
    return x;
  if (kind == "relu")
    return std::max(x, 0.0);
  if (kind == "clip, 0.0, 6.0")
    return std::min(std::max(x, 0.0), 6.0);
  REQUIRE(kind == "silu");
  return x / (1 + std::exp(-x));
}

void checkConv(const Conv &c) {
  int64_t inBlocks = (c.channels + c.block - 1) / c.block * c.groups;
  if (c.depthwise)
    inBlocks = c.blocks;
  Numbers inShape{c.batch, inBlocks,
                  (c.height - 1) * c.strides[0] + (c.kernel[0] - 1) * c.dilations[0] + 1,
                  (c.width - 1) * c.strides[1] + (c.kernel[1] - 1) * c.dilations[1] + 1, c.block};
  Numbers outShape{c.batch, c.blocks, c.height, c.width, 16}, whole = outShape;
  whole[2] += 2;
  whole[3] += 3;
  Numbers filterShape =
      c.depthwise ? Numbers{c.blocks, c.kernel[0], c.kernel[1], 16}
                  : Numbers{c.blocks, inBlocks / c.groups, c.kernel[0], c.kernel[1], c.block, 16};

  Buffer in = Buffer::random("f32", inShape), filter = Buffer::random("f32", filterShape);
  Buffer bias = Buffer::random("f32", {c.blocks * 16});
  Numbers outStrides = c.haloOut ? stridesIn(whole) : Numbers();
  Buffer residual = Buffer::random("f32", outShape, c.inPlace ? outStrides : Numbers());
  Buffer out("f32", outShape, outStrides), expected = out;

  if (!c.image.empty())
    forEachPosition(inShape, [&](const Numbers &p) {
      if (p[2] < c.image[0] || p[2] >= c.image[0] + c.image[2] || p[3] < c.image[1] ||
          p[3] >= c.image[1] + c.image[3])
        in.set(p, 0);
    });

  // Values past the last channel must not matter, even NaN.
  if (!c.depthwise && c.channels % c.block)
    forEachPosition(inShape, [&](const Numbers &p) {
      if ((p[1] % (inBlocks / c.groups)) * c.block + p[4] >= c.channels)
        in.set(p, NAN);
    });

  forEachPosition(outShape, [&](const Numbers &p) {
    double sum = c.bias ? bias.get({p[1] * 16 + p[4]}) : 0;
    int64_t group = p[1] / (c.blocks / c.groups), perGroup = inBlocks / c.groups;
    for (int64_t ky = 0; ky < c.kernel[0]; ++ky)
      for (int64_t kx = 0; kx < c.kernel[1]; ++kx) {
        int64_t y = p[2] * c.strides[0] + ky * c.dilations[0];
        int64_t x = p[3] * c.strides[1] + kx * c.dilations[1];
        if (c.depthwise) {
          sum += in.get({p[0], p[1], y, x, p[4]}) * filter.get({p[1], ky, kx, p[4]});
          continue;
        }
        for (int64_t k = 0; k < c.channels; ++k)
          sum += in.get({p[0], group * perGroup + k / c.block, y, x, k % c.block}) *
                 filter.get({p[1], k / c.block, ky, kx, k % c.block, p[4]});
      }
    double addend = c.residual ? residual.get(p) : 0;
    expected.set(p, c.residualLast ? activate(c.activation, sum) + addend
                                   : activate(c.activation, sum + addend));
  });

  OpText op(std::string(c.depthwise ? "cpu.depthwise_conv2d" : "cpu.conv2d") + " %0, %1",
            {&in, &filter});
  if (c.bias)
    op.add("bias", bias);
  if (c.residual)
    op.add("residual", residual);
  op.add("outs", out);
  std::string attributes = "strides = " + pair(c.strides) + ", dilations = " + pair(c.dilations);
  if (!c.depthwise)
    attributes +=
        ", groups = " + std::to_string(c.groups) + ", channels = " + std::to_string(c.channels);
  if (!c.activation.empty())
    attributes += ", activation = #graph.activation<" + c.activation + ">";
  if (c.residualLast)
    attributes += ", residual_last";
  if (!c.image.empty())
    attributes += ", image = array<i64: " + std::to_string(c.image[0]) + ", " +
                  std::to_string(c.image[1]) + ", " + std::to_string(c.image[2]) + ", " +
                  std::to_string(c.image[3]) + ">";
  if (!c.tile.empty())
    attributes += ", tile = #cpu.tile<" + c.tile + ">";
  const std::string text = op.with(attributes);

  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type() << " -> " << out.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, c.inPlace ? &residual : nullptr);
    // Rounding grows with the length of the sum, also where it happens to be small.
    double terms = c.kernel[0] * c.kernel[1] * (c.depthwise ? 1 : c.channels);
    checkClose(actual, expected, 1e-5, std::sqrt(terms));
  }
}

std::string tile(int pixels, int blocks, int rows, int groups, int depth, bool flatten) {
  return "pixels = " + std::to_string(pixels) + ", blocks = " + std::to_string(blocks) +
         ", rows = " + std::to_string(rows) + ", groups = " + std::to_string(groups) +
         ", depth = " + std::to_string(depth) + ", flatten = " + (flatten ? "true" : "false");
}

} // namespace

TEST_CASE("conv2d: windows, strides and dilations", "[conv]") {
  checkConv({});
  checkConv({.kernel = {1, 1}});
  checkConv({.height = 5, .width = 7, .kernel = {5, 3}, .strides = {2, 1}});
  checkConv({.height = 4, .width = 6, .strides = {1, 2}, .dilations = {2, 3}});
  checkConv({.height = 3, .width = 3, .batch = 2});
}

TEST_CASE("conv2d: channels that do not fill a block", "[conv]") {
  checkConv({.channels = 24, .kernel = {1, 1}});
  checkConv({.channels = 5});
  checkConv({.channels = 40, .blocks = 2, .height = 4, .width = 4});
  checkConv({.channels = 3,
             .blocks = 4,
             .height = 6,
             .width = 9,
             .kernel = {7, 7},
             .strides = {2, 2},
             .block = 3});
  checkConv({.channels = 1, .block = 1});
}

TEST_CASE("conv2d: groups", "[conv]") {
  checkConv({.channels = 16, .blocks = 4, .height = 4, .width = 5, .groups = 2});
  checkConv({.channels = 32, .blocks = 3, .height = 4, .width = 5, .kernel = {1, 1}, .groups = 3});
}

TEST_CASE("conv2d: bias, residual, activation", "[conv]") {
  checkConv({.bias = false});
  checkConv({.haloOut = true, .activation = "relu"});
  checkConv({.residual = true, .haloOut = true, .activation = "relu"});
  checkConv({.residual = true, .residualLast = true, .activation = "silu"});
  checkConv({.activation = "clip, 0.0, 6.0"});
}

TEST_CASE("conv2d: every way to tile gives the same", "[conv]") {
  Conv c{.channels = 64, .blocks = 4, .height = 7, .width = 7, .activation = "relu"};
  for (const std::string &t :
       {tile(1, 1, 1, 1, 4, false), tile(6, 1, 2, 4, 1, false), tile(5, 2, 7, 2, 2, false),
        tile(4, 4, 3, 4, 4, false), tile(6, 1, 7, 3, 2, true), tile(3, 2, 7, 4, 1, true)}) {
    c.tile = t;
    checkConv(c);
  }
}

TEST_CASE("conv2d: taps that read only padding are left out", "[conv]") {
  // 8x8 pixels, of which each tap but the one in the middle reads five rows and three columns.
  Conv c{.channels = 40, .blocks = 2, .dilations = {3, 5}, .image = {3, 5, 8, 8}};
  for (const std::string &t :
       {tile(1, 1, 1, 1, 4, false), tile(3, 2, 2, 2, 1, false), tile(8, 1, 8, 1, 2, false),
        tile(5, 2, 8, 2, 2, true), tile(11, 1, 8, 1, 1, true)}) {
    c.tile = t;
    checkConv(c);
  }
  // Strides, windows that begin behind the image or end in front of it, and a window of padding
  // only.
  checkConv({.height = 4,
             .width = 5,
             .kernel = {3, 3},
             .strides = {3, 2},
             .dilations = {2, 4},
             .image = {6, 7, 3, 2}});
  checkConv({.height = 2, .width = 2, .dilations = {4, 4}, .image = {4, 4, 1, 1}});
  checkConv({.height = 3, .width = 3, .kernel = {1, 1}, .image = {1, 2, 1, 1}});
  checkConv(
      {.height = 7, .width = 7, .haloOut = true, .activation = "relu", .image = {1, 1, 7, 7}});
}

TEST_CASE("conv2d: tasks divide a signal, also where the last one is shorter", "[conv]") {
  for (int64_t width : {200, 203, 300}) {
    checkConv({.channels = 20,
               .blocks = 2,
               .height = 1,
               .width = width,
               .kernel = {1, 5},
               .dilations = {1, 3},
               .batch = 2,
               .residual = true,
               .activation = "relu",
               .tile = tile(6, 2, 1, 2, 1, false)});
    checkConv({.channels = 64,
               .blocks = 3,
               .height = 1,
               .width = width,
               .kernel = {1, 2},
               .strides = {1, 2},
               .tile = tile(4, 1, 1, 2, 2, true)});
    checkConv({.blocks = 2, .height = 1, .width = width, .kernel = {1, 3}, .depthwise = true});
  }
}

TEST_CASE("conv2d: a residual may share the output's memory, also between depth chunks", "[conv]") {
  checkConv({.channels = 64,
             .blocks = 2,
             .residual = true,
             .inPlace = true,
             .activation = "relu",
             .tile = tile(4, 1, 4, 1, 1, false)});
  checkConv({.channels = 64,
             .blocks = 2,
             .residual = true,
             .inPlace = true,
             .haloOut = true,
             .tile = tile(4, 2, 8, 2, 2, true)});
}

TEST_CASE("conv2d: a filter larger than L2 is prefetched and gives the same", "[conv]") {
  checkConv({.channels = 512, .blocks = 16, .height = 2, .width = 3, .kernel = {3, 3}});
}

TEST_CASE("depthwise_conv2d", "[conv]") {
  checkConv({.depthwise = true});
  checkConv({.blocks = 3,
             .height = 5,
             .width = 9,
             .kernel = {5, 5},
             .strides = {2, 2},
             .haloOut = true,
             .activation = "clip, 0.0, 6.0",
             .depthwise = true});
  checkConv({.blocks = 2,
             .height = 2,
             .width = 3,
             .dilations = {2, 2},
             .residual = true,
             .inPlace = true,
             .depthwise = true});
  checkConv({.height = 3,
             .width = 4,
             .kernel = {7, 7},
             .batch = 2,
             .bias = false,
             .residual = true,
             .residualLast = true,
             .activation = "silu",
             .depthwise = true});
  checkConv(
      {.blocks = 2, .height = 3, .width = 3, .tile = tile(4, 1, 3, 1, 1, true), .depthwise = true});
}
