//===-- TileConvTest.cpp - cpu.integer_conv2d in tile registers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

/// A convolution without a border of its own: the input is what its windows read.
struct Conv {
  int64_t channels, blocks, height, width, kernel = 1, stride = 1, images = 1;
  int64_t extraColumns = 0; ///< of the input, that no window reads
  bool isInteger = false;   ///< adds the result's former bytes and clamps to bytes
  bool isSigned = false;    ///< bytes are i8

  int64_t inputHeight() const { return (height - 1) * stride + kernel; }
  int64_t inputWidth() const { return (width - 1) * stride + kernel + extraColumns; }
};

/// The tasks: see #cpu.tile.
struct Tasks {
  int64_t rows, groups;
  bool flatten;
  int64_t l2 = 0; ///< bytes of L2 that weights are compared with, where given
};

/// Chunks of adjacent steps: all bytes of a row of the window, divided evenly.
int64_t chunkOf(int64_t steps) {
  int64_t size = std::min<int64_t>(16, steps);
  while (steps % size)
    --size;
  return size;
}

void check(const Conv &conv, const Tasks &tasks) {
  const int64_t inputBlocks = conv.channels / 16, rowBytes = conv.inputWidth() * conv.channels;
  // [N][H][W][C] in memory.
  Buffer in =
      Buffer::random("i8", {conv.images, inputBlocks, conv.inputHeight(), conv.inputWidth(), 16},
                     {conv.inputHeight() * rowBytes, 16, rowBytes, conv.channels, 1}, -128, 127);
  const int64_t perRow = conv.kernel * conv.channels / 4, count = conv.kernel * perRow;
  // Two products stay within 16 bits, for levels without an exact dot product.
  Buffer filter = Buffer::random("i8", {conv.blocks * count, 16, 4}, {}, -64, 63);
  const int64_t outputs = conv.blocks * 16;
  Buffer bias = conv.isSigned ? Buffer::random("i32", {2, outputs}, {}, -100000, 100000)
                              : Buffer::random("i32", {outputs}, {}, -100000, 100000);
  // To signed bytes dot products add 128, tile registers nothing: each has a bias of its own.
  for (int64_t channel = 0; conv.isSigned && channel < outputs; ++channel) {
    double weights = 0;
    for (int64_t step = 0; step < count; ++step)
      for (int64_t i = 0; i < 4; ++i)
        weights += filter.get({channel / 16 * count + step, channel % 16, i});
    bias.set(channel, bias.get({1, channel}) - 128 * weights);
  }
  Buffer steps("i32", {count}), starts("i32", {conv.blocks + 1});
  for (int64_t i = 0; i < count; ++i)
    steps.set(i, double(i / perRow * rowBytes + i % perRow * 4));
  for (int64_t i = 0; i <= conv.blocks; ++i)
    starts.set(i, double(i * count));
  const Numbers shape{conv.images, conv.blocks, conv.height, conv.width, 16};
  Buffer out = conv.isInteger ? Buffer::random("i8", shape, {}, -128, 127) : Buffer("i32", shape);
  Buffer expected = out;
  forEachPosition(out.shape(), [&](const Numbers &p) {
    const int64_t output = p[1] * 16 + p[4];
    double sum = conv.isSigned ? bias.get({1, output}) : bias.get({output});
    for (int64_t step = 0; step < count; ++step)
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t column = step % perRow * 4 + i;
        const int64_t channel = column % conv.channels;
        const auto byte = static_cast<int8_t>(
            in.get({p[0], channel / 16, p[2] * conv.stride + step / perRow,
                    p[3] * conv.stride + column / conv.channels, channel % 16}));
        const double value = conv.isSigned ? byte : static_cast<uint8_t>(byte);
        sum += value * filter.get({p[1] * count + step, p[4], i});
      }
    if (conv.isInteger)
      sum = std::clamp(std::floor(sum / 16384) + out.get(p), -128.0, 127.0);
    expected.set(p, sum);
  });

  OpText op(conv.isInteger ? "cpu.integer_conv2d %0, %1, %2, %3, %4 inputs %5"
                           : "cpu.integer_conv2d %0, %1, %2, %3, %4",
            conv.isInteger ? std::vector<const Buffer *>{&in, &filter, &steps, &starts, &bias, &out}
                           : std::vector<const Buffer *>{&in, &filter, &steps, &starts, &bias});
  op.add("outs", out);
  const std::string stride = std::to_string(conv.stride);
  const std::string attributes = "strides = array<i64: " + stride + ", " + stride +
                                 ">, groups = array<i64: 1>, by_magnitude = array<i1: false>, "
                                 "products = 1 : i64, " +
                                 (conv.isSigned ? "signed_input, " : "") +
                                 "adjacent = " + std::to_string(chunkOf(perRow)) + " : i64";
  const std::string body = !conv.isInteger ? "" : R"( {
    ^bb0(%sum: i32, %old: i8):
      %bits = arith.constant 14 : i32
      %low = arith.constant -128 : i32
      %high = arith.constant 127 : i32
      %scaled = arith.shrsi %sum, %bits : i32
      %wide = arith.extsi %old : i8 to i32
      %all = arith.addi %scaled, %wide : i32
      %above = arith.maxsi %all, %low : i32
      %both = arith.minsi %above, %high : i32
      %byte = arith.trunci %both : i32 to i8
      cpu.integer_yield %byte : i8
    })";
  const std::string tile =
      ", tile = #cpu.tile<pixels = 16, blocks = 2, rows = " + std::to_string(tasks.rows) +
      ", groups = " + std::to_string(tasks.groups) +
      ", depth = 1, flatten = " + (tasks.flatten ? "true" : "false") + ", matrix = true>";
  for (CpuLevel level : levels()) {
    if (tasks.l2)
      level.l2 = tasks.l2;
    // Other levels run the same kernel with dot products.
    const std::string text = op.with(attributes + (level.hasTileRegisters() ? tile : "")) + body;
    INFO(level.name << " " << text);
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, conv.isInteger ? &out : nullptr);
    checkClose(actual, expected, 0);
  }
}

bool hasTileRegisters() {
  for (const CpuLevel &level : levels())
    if (level.hasTileRegisters())
      return true;
  WARN("skipped in tile registers: this processor has no AMX, or the system no permission for it");
  return false;
}

} // namespace

TEST_CASE("tile registers: products of matrices", "[integer]") {
  hasTileRegisters();
  // Rows that fill tiles, fewer than one, and a rest that needs one or two more.
  for (int64_t rows : {64, 7, 1, 33, 49, 40, 17})
    check({.channels = 64, .blocks = 2, .height = 1, .width = rows}, {1, 2, false});
  // Chunks that do not fill 64 bytes; an odd block; several tasks.
  check({.channels = 96, .blocks = 5, .height = 1, .width = 37}, {1, 2, false});
  check({.channels = 32, .blocks = 1, .height = 1, .width = 20}, {1, 2, false});
  check({.channels = 256, .blocks = 3, .height = 1, .width = 16}, {1, 4, false});
}

TEST_CASE("tile registers: convolutions", "[integer]") {
  hasTileRegisters();
  // A window of one pixel: all rows of a task are one run.
  check({.channels = 64, .blocks = 2, .height = 7, .width = 7}, {7, 2, true});
  check({.channels = 64, .blocks = 4, .height = 12, .width = 9}, {4, 2, true});
  check({.channels = 64, .blocks = 2, .height = 3, .width = 20}, {1, 2, false});
  // Rows with a border between them: positions that are no pixels.
  check({.channels = 32, .blocks = 3, .height = 14, .width = 14, .kernel = 3}, {7, 2, true});
  check({.channels = 64, .blocks = 2, .height = 4, .width = 5, .kernel = 3}, {2, 2, true});
  check({.channels = 64, .blocks = 2, .height = 6, .width = 18, .kernel = 3}, {3, 2, false});
  // Strides, where rows are a whole number of positions apart or not.
  check({.channels = 32,
         .blocks = 2,
         .height = 6,
         .width = 6,
         .kernel = 3,
         .stride = 2,
         .extraColumns = 1},
        {3, 2, true});
  check({.channels = 32, .blocks = 2, .height = 4, .width = 17, .stride = 2}, {2, 2, false});
  check({.channels = 48, .blocks = 2, .height = 5, .width = 6, .kernel = 3, .images = 2},
        {5, 2, true});
}

TEST_CASE("tile registers: rows that are tiles", "[integer]") {
  hasTileRegisters();
  // Even and odd numbers of rows; several tasks; an odd block.
  check({.channels = 32, .blocks = 2, .height = 7, .width = 7, .stride = 2}, {7, 2, true});
  check({.channels = 64, .blocks = 5, .height = 8, .width = 14, .kernel = 3}, {4, 2, true});
  check({.channels = 64, .blocks = 3, .height = 5, .width = 14, .kernel = 3, .isInteger = true},
        {5, 2, true});
}

TEST_CASE("tile registers: weights that do not fit L2", "[integer]") {
  hasTileRegisters();
  constexpr int64_t kSmall = 4096;
  // Pairs of tiles without a rest, with one of one tile and of two, and no pair.
  for (int64_t width : {64, 36, 49, 20, 7})
    check({.channels = 128, .blocks = 6, .height = 1, .width = width, .isInteger = true},
          {1, 4, true, kSmall});
  // Odd blocks in the last of several tasks, and in the only one.
  check({.channels = 192, .blocks = 5, .height = 1, .width = 49, .isInteger = true},
        {1, 2, true, kSmall});
  check({.channels = 192, .blocks = 5, .height = 1, .width = 37}, {1, 6, true, kSmall});
  check({.channels = 64, .blocks = 4, .height = 5, .width = 14, .kernel = 3}, {5, 4, true, kSmall});
}

TEST_CASE("tile registers: signed bytes", "[integer]") {
  hasTileRegisters();
  check({.channels = 64, .blocks = 2, .height = 1, .width = 33, .isSigned = true}, {1, 2, false});
  check({.channels = 96, .blocks = 5, .height = 1, .width = 37, .isSigned = true}, {1, 2, false});
  check({.channels = 32, .blocks = 3, .height = 14, .width = 14, .kernel = 3, .isSigned = true},
        {7, 2, true});
  check({.channels = 64, .blocks = 3, .height = 7, .width = 7, .isInteger = true, .isSigned = true},
        {7, 2, true});
}

TEST_CASE("tile registers: the result may be written over an input", "[integer]") {
  hasTileRegisters();
  // The last tiles overlap: a pixel that was finished twice would be added twice.
  check({.channels = 64, .blocks = 3, .height = 1, .width = 37, .isInteger = true}, {1, 2, false});
  check({.channels = 64, .blocks = 2, .height = 1, .width = 60, .isInteger = true}, {1, 2, false});
  check({.channels = 64, .blocks = 2, .height = 7, .width = 7, .isInteger = true}, {7, 2, true});
  check({.channels = 32, .blocks = 2, .height = 5, .width = 5, .kernel = 3, .isInteger = true},
        {5, 2, true});
}
