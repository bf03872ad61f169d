//===-- PoolTest.cpp - runs kernel.pool kernels ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Pool {
  Numbers kernel, strides, pads, dilations{1, 1};
  bool ceil = false;

  int64_t outputs(int64_t in, int d) const {
    int64_t room = in + pads[d] + pads[2 + d] - (kernel[d] - 1) * dilations[d] - 1;
    int64_t out = (ceil ? (room + strides[d] - 1) / strides[d] : room / strides[d]) + 1;
    // A window that starts in the padding behind the input is left out.
    if (ceil && (out - 1) * strides[d] >= in + pads[d])
      --out;
    return out;
  }

  std::string attributes() const {
    auto list = [](const Numbers &numbers) {
      std::string text;
      for (int64_t n : numbers)
        text += (text.empty() ? "array<i64: " : ", ") + std::to_string(n);
      return text + ">";
    };
    return "kernel = " + list(kernel) + ", strides = " + list(strides) + ", pads = " + list(pads) +
           ", dilations = " + list(dilations);
  }
};

enum Mode { Max, Mean, MeanWithPads };

void reference(const Pool &pool, Mode mode, const Buffer &in, Buffer &out) {
  const Numbers &shape = in.shape();
  forEachPosition(out.shape(), [&](const Numbers &p) {
    double largest = -INFINITY, sum = 0;
    int64_t inside = 0, padded = 0;
    for (int64_t ky = 0; ky < pool.kernel[0]; ++ky)
      for (int64_t kx = 0; kx < pool.kernel[1]; ++kx) {
        int64_t y = p[2] * pool.strides[0] - pool.pads[0] + ky * pool.dilations[0];
        int64_t x = p[3] * pool.strides[1] - pool.pads[1] + kx * pool.dilations[1];
        padded += y < shape[2] + pool.pads[2] && x < shape[3] + pool.pads[3];
        if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3])
          continue;
        double value = in.get({p[0], p[1], y, x, p[4]});
        ++inside;
        sum += value;
        largest = std::isnan(value) || std::isnan(largest) ? NAN : std::max(largest, value);
      }
    out.set(p, mode == Max ? largest : sum / double(mode == Mean ? inside : padded));
  });
}

void checkPool(const Pool &pool, Mode mode, const Buffer &in, bool haloOut = false) {
  Numbers shape = in.shape();
  shape[2] = pool.outputs(shape[2], 0);
  shape[3] = pool.outputs(shape[3], 1);
  Numbers whole = shape;
  whole[2] += 2;
  whole[3] += 2;
  Buffer out(in.element(), shape, haloOut ? stridesIn(whole) : Numbers()), expected = out;
  reference(pool, mode, in, expected);
  std::string text = "kernel.pool %0, %1 {" + pool.attributes() + ", kind = #kernel<pool_kind " +
                     (mode == Max ? "max" : "average") + ">" +
                     (mode == MeanWithPads ? ", count_include_pad" : "") + "} : $0, $1";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type() << " " << out.type());
    Buffer actual = out;
    Kernel(text, {&in, &actual}, level).run();
    checkClose(actual, expected, in.element() == "f16" ? 2e-3 : 2e-6);
  }
}

} // namespace

TEST_CASE("pool: windows, strides and pads", "[pool]") {
  for (const Pool &pool :
       {Pool{{3, 3}, {2, 2}, {1, 1, 1, 1}}, Pool{{3, 3}, {2, 2}, {0, 0, 1, 1}},
        Pool{{2, 2}, {2, 2}, {0, 0, 0, 0}}, Pool{{5, 5}, {1, 1}, {2, 2, 2, 2}},
        Pool{{3, 3}, {1, 1}, {1, 1, 1, 1}}, Pool{{3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true},
        Pool{{3, 2}, {2, 3}, {1, 0, 0, 1}, {1, 1}, true},
        Pool{{3, 3}, {1, 2}, {1, 2, 2, 1}, {2, 2}}, Pool{{7, 7}, {1, 1}, {3, 3, 3, 3}},
        Pool{{13, 1}, {1, 1}, {6, 0, 6, 0}}, Pool{{9, 11}, {1, 1}, {0, 0, 0, 0}}})
    for (Mode mode : {Max, Mean, MeanWithPads})
      checkPool(pool, mode, Buffer::random("f32", {2, 2, 14, 17, 16}));
}

TEST_CASE("pool: windows larger than the input", "[pool]") {
  for (Mode mode : {Max, Mean, MeanWithPads}) {
    checkPool({{13, 13}, {1, 1}, {6, 6, 6, 6}}, mode, Buffer::random("f32", {1, 1, 5, 4, 16}));
    checkPool({{5, 5}, {1, 1}, {2, 2, 2, 2}}, mode, Buffer::random("f32", {1, 1, 2, 2, 16}));
    checkPool({{7, 7}, {1, 1}, {0, 0, 0, 0}}, mode, Buffer::random("f32", {1, 3, 7, 7, 16}));
  }
}

TEST_CASE("pool: blocks of any size and views", "[pool]") {
  Pool pool{{3, 3}, {2, 2}, {1, 1, 1, 1}};
  for (int64_t block : {1, 3, 4, 5, 8, 12, 16, 24})
    for (Mode mode : {Max, MeanWithPads}) {
      checkPool(pool, mode, Buffer::random("f32", {1, 2, 9, 11, block}), true);
      checkPool(pool, mode,
                Buffer::random("f32", {1, 2, 9, 11, block}, stridesIn({1, 2, 12, 13, block})));
    }
}

TEST_CASE("pool: other elements", "[pool]") {
  Pool pool{{3, 3}, {2, 2}, {1, 1, 1, 1}};
  for (std::string type : {"f64", "f16", "i8", "ui8", "i32"})
    checkPool(pool, Max,
              Buffer::random(type, {1, 2, 9, 11, 16}, {}, type == "ui8" ? 0 : -100, 100));
  checkPool(pool, Mean, Buffer::random("f16", {1, 2, 9, 11, 16}));
}

TEST_CASE("pool: NaN and infinities win", "[pool]") {
  Buffer in = Buffer::random("f32", {1, 1, 9, 9, 16});
  in.set({0, 0, 4, 4, 3}, NAN);
  in.set({0, 0, 0, 0, 5}, NAN);
  in.set({0, 0, 8, 8, 7}, -INFINITY);
  in.set({0, 0, 7, 8, 7}, INFINITY);
  checkPool({{3, 3}, {2, 2}, {1, 1, 1, 1}}, Max, in);
  checkPool({{1, 1}, {1, 1}, {0, 0, 0, 0}}, Max, in);
}

TEST_CASE("pool: many tasks", "[pool]") {
  Buffer in = Buffer::random("f32", {1, 4, 57, 61, 16});
  checkPool({{3, 3}, {2, 2}, {1, 1, 1, 1}}, Max, in);
  checkPool({{3, 3}, {2, 2}, {1, 1, 1, 1}}, MeanWithPads, in);
}
