//===-- TransformerTest.cpp - runs attention and layer norm kernels -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Attention {
  int64_t batch = 1, heads = 2, rows = 5, keys = 7, depth = 6, columns = 6;
  bool transposedKeys = false; ///< keys are [depth][keys] in memory
  bool interleaved = true;     ///< the heads of a row are adjacent, as products write them
  bool mask = false;           ///< scale, and a mask [batch][1][1][keys] that is added
};

/// Strides of [batch][heads][rows][size] in rows of all heads, with a gap behind each.
Numbers interleavedStrides(const Attention &a, int64_t rows, int64_t size) {
  const int64_t row = a.heads * size + 3;
  return {rows * row, size, row, 1};
}

void check(const Attention &a) {
  auto strides = [&](int64_t rows, int64_t size) {
    return a.interleaved ? interleavedStrides(a, rows, size) : Numbers();
  };
  const Numbers outShape{a.batch, a.heads, a.rows, a.columns};
  Buffer query =
      Buffer::random("f32", {a.batch, a.heads, a.rows, a.depth}, strides(a.rows, a.depth));
  Numbers keyStrides;
  if (!a.transposedKeys) {
    keyStrides = interleavedStrides(a, a.keys, a.depth);
    std::swap(keyStrides[2], keyStrides[3]);
  }
  Buffer key = Buffer::random("f32", {a.batch, a.heads, a.depth, a.keys}, keyStrides);
  Buffer value =
      Buffer::random("f32", {a.batch, a.heads, a.keys, a.columns}, strides(a.keys, a.columns));
  Buffer mask = Buffer::random("f32", {a.batch, 1, 1, a.keys});
  Buffer out("f32", outShape, strides(a.rows, a.columns)), expected = out;

  std::vector<double> scores(a.keys);
  for (int64_t n = 0; n < a.batch; ++n)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t r = 0; r < a.rows; ++r) {
        double sum = 0;
        for (int64_t j = 0; j < a.keys; ++j) {
          double score = 0;
          for (int64_t k = 0; k < a.depth; ++k)
            score += query.get({n, h, r, k}) * key.get({n, h, k, j});
          scores[j] = a.mask ? score * 0.25 + mask.get({n, 0, 0, j}) : score;
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        for (double &score : scores)
          sum += score = std::exp(score - largest);
        for (int64_t c = 0; c < a.columns; ++c) {
          double result = 0;
          for (int64_t j = 0; j < a.keys; ++j)
            result += scores[j] / sum * value.get({n, h, j, c});
          expected.set({n, h, r, c}, result);
        }
      }

  OpText op("cpu.attention %0, %1, %2", {&query, &key, &value});
  if (a.mask)
    op.add("inputs", mask);
  op.add("outs", out);
  std::string text = op.with("");
  if (a.mask)
    text += " {\n^bb0(%score: f32, %m: f32):\n"
            "  %scale = arith.constant 0.25 : f32\n"
            "  %scaled = arith.mulf %score, %scale : f32\n"
            "  %masked = arith.addf %scaled, %m : f32\n"
            "  cpu.score_yield %masked : f32\n}";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << query.type() << " " << key.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual);
    checkClose(actual, expected, 2e-5);
  }
}

void checkNorm(int64_t rows, int64_t columns, bool gamma, bool beta, bool inPlace = false) {
  const Numbers shape{rows, columns}, strides = inPlace ? Numbers() : Numbers{columns + 5, 1};
  Buffer in = Buffer::random("f32", shape, strides);
  Buffer factors = Buffer::random("f32", {columns}), offsets = Buffer::random("f32", {columns});
  Buffer out("f32", shape), expected = out;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < columns; ++c)
      mean += in.get({r, c}) / columns;
    for (int64_t c = 0; c < columns; ++c)
      variance += (in.get({r, c}) - mean) * (in.get({r, c}) - mean) / columns;
    for (int64_t c = 0; c < columns; ++c)
      expected.set({r, c}, (in.get({r, c}) - mean) / std::sqrt(variance + 1e-5) *
                                   (gamma ? factors.get({c}) : 1) +
                               (beta ? offsets.get({c}) : 0));
  }
  OpText op("cpu.layer_norm %0", {&in});
  if (gamma)
    op.add("gamma", factors);
  if (beta)
    op.add("beta", offsets);
  op.add("outs", out);
  const std::string text = op.with("epsilon = 1.0e-5");
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, inPlace ? &in : nullptr);
    checkClose(actual, expected, 2e-5);
  }
}

} // namespace

TEST_CASE("attention: heads of any size", "[attention]") {
  check({});
  check({.rows = 1, .keys = 1, .depth = 1, .columns = 1});
  check({.batch = 2, .heads = 3, .rows = 33, .keys = 40, .depth = 26, .columns = 26});
  check({.heads = 1, .rows = 64, .keys = 64, .depth = 64, .columns = 64});
  check({.rows = 29, .keys = 17, .depth = 16, .columns = 40});
}

TEST_CASE("attention: keys that are transposed, and dense heads", "[attention]") {
  check({.rows = 13, .keys = 21, .transposedKeys = true});
  check({.rows = 13, .keys = 48, .depth = 16, .columns = 32, .transposedKeys = true});
  check({.keys = 33, .interleaved = false});
}

TEST_CASE("attention: values whose rows are far apart are copied", "[attention]") {
  check({.heads = 16, .rows = 61, .keys = 530, .depth = 4, .columns = 20});
  check({.heads = 16, .rows = 61, .keys = 530, .depth = 4, .columns = 17, .transposedKeys = true});
}

TEST_CASE("attention: scale and mask", "[attention]") {
  check({.batch = 2, .rows = 15, .keys = 19, .mask = true});
  check({.rows = 30, .keys = 32, .depth = 8, .mask = true});
}

TEST_CASE("layer_norm: rows of any length", "[layer_norm]") {
  checkNorm(3, 1, true, true);
  checkNorm(5, 26, true, true);
  checkNorm(40, 312, true, true);
  checkNorm(2, 768, true, true, /*inPlace=*/true);
  checkNorm(4, 7, false, true);
  checkNorm(4, 20, true, false);
  checkNorm(4, 33, false, false);
}
