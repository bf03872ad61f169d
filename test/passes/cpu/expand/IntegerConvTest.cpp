//===-- IntegerConvTest.cpp - runs cpu.integer_conv2d kernels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

/// Rows of `depth` bytes by a matrix in `blocks` blocks of 16 columns. The blocks share their list
/// of steps, or each has its own.
void check(int64_t rows, int64_t depth, int64_t blocks, bool shares, int64_t tileBlocks,
           int64_t groups) {
  const int64_t count = depth / 4;
  Buffer in = Buffer::random("i8", {1, 1, 1, rows, depth}, {}, 0, 127);
  Buffer filter = Buffer::random("i8", {blocks * count, 16, 4}, {}, -3, 3);
  Buffer bias = Buffer::random("i32", {blocks * 16}, {}, -100, 100);
  Buffer steps("i32", {shares ? count : blocks * count}), starts("i32", {blocks + 1});
  for (int64_t i = 0; i < steps.span(); ++i)
    steps.set(i, double(i % count * 4));
  for (int64_t i = 0; i <= blocks; ++i)
    starts.set(i, double(i * count));
  Buffer out("i32", {1, blocks, 1, rows, 16}), expected = out;
  forEachPosition(out.shape(), [&](const Numbers &p) {
    double sum = bias.get({p[1] * 16 + p[4]});
    for (int64_t k = 0; k < depth; ++k)
      sum += in.get({0, 0, 0, p[3], k}) * filter.get({p[1] * count + k / 4, p[4], k % 4});
    expected.set(p, sum);
  });
  OpText op("cpu.integer_conv2d %0, %1, %2, %3, %4", {&in, &filter, &steps, &starts, &bias});
  op.add("outs", out);
  const std::string text = op.with(
      "strides = array<i64: 1, 1>, groups = array<i64: 1>, by_magnitude = array<i1: false>, "
      "products = 1 : i64, tile = #cpu.tile<pixels = 5, blocks = " +
      std::to_string(tileBlocks) + ", rows = 1, groups = " + std::to_string(groups) +
      ", depth = 1, flatten = false>");
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << filter.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual);
    checkClose(actual, expected, 0);
  }
}

} // namespace

TEST_CASE("integer_conv2d: blocks that share their steps", "[integer]") {
  check(13, 32, 4, true, 2, 2);
  check(13, 32, 4, true, 2, 4);
  check(7, 8, 3, true, 2, 2);
  check(7, 8, 3, true, 2, 4);
  check(3, 16, 5, true, 1, 1);
}

TEST_CASE("integer_conv2d: a list of steps per block", "[integer]") {
  check(13, 32, 4, false, 1, 2);
  check(6, 8, 3, false, 2, 2);
  check(6, 8, 1, false, 1, 1);
}
