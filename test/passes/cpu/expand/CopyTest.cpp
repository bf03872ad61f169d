//===-- CopyTest.cpp - runs the kernels that move data --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

void checkCopy(const Buffer &in, const Buffer &out) {
  Buffer expected = out;
  forEachPosition(in.shape(), [&](const Numbers &p) { expected.set(p, in.get(p)); });
  for (const CpuLevel &level : levels()) {
    INFO(level.name << ": " << in.type() << " to " << out.type());
    Buffer actual = out;
    Kernel("kernel.copy %0, %1 : $0, $1", {&in, &actual}, level).run();
    checkClose(actual, expected, 0);
  }
}

/// The strides of a row-major buffer of shape `whole` whose dims are `order`.
Numbers permuted(const Numbers &whole, const std::vector<size_t> &order) {
  Numbers strides = contiguous(whole), result;
  for (size_t d : order)
    result.push_back(strides[d]);
  return result;
}

} // namespace

TEST_CASE("copy: rows and views", "[copy]") {
  for (int64_t size : {1, 5, 8, 13, 40, 100})
    checkCopy(Buffer::random("f32", {2, 3, size}), Buffer("f32", {2, 3, size}));
  checkCopy(Buffer::random("f32", {1, 3, 5, 7, 16}),
            Buffer("f32", {1, 3, 5, 7, 16}, stridesIn({1, 3, 8, 9, 16})));
  checkCopy(Buffer::random("f32", {2, 4, 9}, stridesIn({2, 7, 11})), Buffer("f32", {2, 4, 9}));
}

TEST_CASE("copy: element types", "[copy]") {
  for (std::string type : {"f64", "f16", "bf16", "i8", "ui8", "i16", "i32", "i64", "i1"}) {
    double low = type == "i1" || type == "ui8" ? 0 : -50, high = type == "i1" ? 1 : 50;
    checkCopy(Buffer::random(type, {3, 37}, {}, low, high), Buffer(type, {3, 37}, {50, 1}));
    checkCopy(Buffer::random(type, {19, 37}, {1, 19}, low, high), Buffer(type, {19, 37}));
    checkCopy(Buffer::random(type, {41, 3}, {1, 41}, low, high), Buffer(type, {41, 3}));
  }
}

TEST_CASE("copy: steps and repetition", "[copy]") {
  checkCopy(Buffer::random("f32", {3, 5, 21}, {210, 42, 2}), Buffer("f32", {3, 5, 21}));
  checkCopy(Buffer::random("f32", {3, 5, 21}), Buffer("f32", {3, 5, 21}, {315, 63, 3}));
  checkCopy(Buffer::random("f32", {3, 5, 21}, {21, 0, 1}), Buffer("f32", {3, 5, 21}));
  checkCopy(Buffer::random("f32", {3, 5, 21}, {5, 1, 0}), Buffer("f32", {3, 5, 21}));
  checkCopy(Buffer::random("f32", {3, 1, 21}, {21, 0, 1}), Buffer("f32", {3, 1, 21}));
}

TEST_CASE("copy: transposes", "[copy]") {
  for (auto [m, n] : {std::pair(8, 8),
                      {16, 16},
                      {5, 30},
                      {33, 70},
                      {1, 9},
                      {40, 3},
                      {3, 40},
                      {2, 17},
                      {4, 64},
                      {64, 4},
                      {200, 150}}) {
    checkCopy(Buffer::random("f32", {m, n}, {1, m}), Buffer("f32", {m, n}));
    checkCopy(Buffer::random("f32", {m, n}), Buffer("f32", {m, n}, {1, m}));
  }
  // All permutations of a tensor.
  std::vector<size_t> order{0, 1, 2, 3};
  Numbers whole{2, 5, 11, 19};
  do {
    Numbers shape;
    for (size_t d : order)
      shape.push_back(whole[d]);
    Buffer in = Buffer::random("f32", shape, permuted(whole, order));
    checkCopy(in, Buffer("f32", shape));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("copy: depth to space and back", "[copy]") {
  for (int64_t r : {2, 3, 4, 5}) {
    Numbers inner{1, r, r, 2, 5, 13};
    // Output [1][2][5][r][13][r] seen in the order of the input's dims.
    Buffer in = Buffer::random("f32", inner);
    Buffer out("f32", inner, permuted({1, 2, 5, r, 13, r}, {0, 3, 5, 1, 2, 4}));
    checkCopy(in, out);
    Buffer back = Buffer::random("f32", inner, out.strides());
    checkCopy(back, Buffer("f32", inner));
  }
}

TEST_CASE("pack and unpack", "[copy]") {
  for (int64_t block : {1, 3, 4, 5, 8, 16})
    for (int64_t channels : {1, 3, 8, 24, 35}) {
      int64_t blocks = (channels + block - 1) / block;
      for (auto [h, w] : {std::pair(3, 9), {1, 1}}) {
        // Every tail for the blocks that networks have, some for the others.
        if (block != 3 && block != 16 && channels % 8 == 3)
          continue;
        Numbers plainShape{2, channels, h, w}, shape{2, blocks, h, w, block};
        for (bool halo : {false, true}) {
          Numbers strides = halo ? stridesIn({2, blocks, h + 2, w + 3, block}) : Numbers();
          Buffer plain = Buffer::random("f32", plainShape), blocked("f32", shape, strides);
          Buffer expected = blocked;
          forEachPosition(shape, [&](const Numbers &p) {
            int64_t c = p[1] * block + p[4];
            expected.set(p, c < channels ? plain.get({p[0], c, p[2], p[3]}) : 0.0);
          });
          Buffer unpacked("f32", plainShape), source = Buffer::random("f32", shape, strides);
          Buffer unpackedExpected = unpacked;
          forEachPosition(plainShape, [&](const Numbers &p) {
            unpackedExpected.set(p, source.get({p[0], p[1] / block, p[2], p[3], p[1] % block}));
          });
          for (const CpuLevel &level : levels()) {
            INFO(level.name << " " << plain.type() << " " << blocked.type());
            Buffer actual = blocked;
            Kernel("kernel.pack %0, %1 : $0, $1", {&plain, &actual}, level).run();
            checkClose(actual, expected, 0);
            Buffer back = unpacked;
            Kernel("kernel.unpack %0, %1 : $0, $1", {&source, &back}, level).run();
            checkClose(back, unpackedExpected, 0);
          }
        }
      }
    }
}

TEST_CASE("pack: many tasks", "[copy]") {
  Buffer plain = Buffer::random("f32", {1, 40, 61, 53}), blocked("f32", {1, 3, 61, 53, 16});
  Buffer expected = blocked, back = plain;
  forEachPosition(blocked.shape(), [&](const Numbers &p) {
    int64_t c = p[1] * 16 + p[4];
    expected.set(p, c < 40 ? plain.get({0, c, p[2], p[3]}) : 0.0);
  });
  for (const CpuLevel &level : levels()) {
    Kernel pack("kernel.pack %0, %1 : $0, $1", {&plain, &blocked}, level);
    CHECK(pack.tasks() > 4);
    pack.run();
    checkClose(blocked, expected, 0);
    forEachPosition(back.shape(), [&](const Numbers &p) { back.set(p, -1); });
    Kernel unpack("kernel.unpack %0, %1 : $0, $1", {&blocked, &back}, level);
    CHECK(unpack.tasks() > 4);
    unpack.run();
    checkClose(back, plain, 0);
  }
}

TEST_CASE("fill: whole buffers", "[fill]") {
  for (std::string type : {"f32", "f16", "i8", "ui8", "i64", "i1"})
    for (const Numbers &strides : {Numbers(), Numbers{60, 12, 1}, Numbers{100, 20, 2}}) {
      Buffer out = Buffer::random(type, {3, 5, 9}, strides, 0, 1), expected = out;
      forEachPosition(out.shape(), [&](const Numbers &p) { expected.set(p, 1); });
      for (const CpuLevel &level : levels()) {
        Buffer actual = out;
        Kernel("kernel.fill %0 {value = 1.0 : f64} : $0", {&actual}, level).run();
        checkClose(actual, expected, 0);
      }
    }
}

TEST_CASE("fill: borders", "[fill]") {
  for (Numbers border : {Numbers{1, 1, 1, 1}, Numbers{0, 0, 1, 1}, Numbers{2, 0, 0, 3},
                         Numbers{3, 3, 3, 3}, Numbers{0, 0, 0, 0}})
    for (Numbers shape : {Numbers{2, 3, 6, 7, 16}, Numbers{1, 2, 8, 9, 3}, Numbers{1, 3, 7, 11}}) {
      Buffer out = Buffer::random("f32", shape), expected = out;
      forEachPosition(shape, [&](const Numbers &p) {
        if (p[2] < border[0] || p[3] < border[1] || p[2] >= shape[2] - border[2] ||
            p[3] >= shape[3] - border[3])
          expected.set(p, -1.5);
      });
      std::string list;
      for (int64_t n : border)
        list += (list.empty() ? "" : ", ") + std::to_string(n);
      for (const CpuLevel &level : levels()) {
        Buffer actual = out;
        Kernel("kernel.fill %0 {value = -1.5 : f64, border = array<i64: " + list + ">} : $0",
               {&actual}, level)
            .run();
        checkClose(actual, expected, 0);
      }
    }
}

namespace {

int64_t padSource(const std::string &mode, int64_t i, int64_t size) {
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "wrap")
    return (i % size + size) % size;
  while (i < 0 || i >= size)
    i = i < 0 ? -i : 2 * (size - 1) - i;
  return i;
}

} // namespace

TEST_CASE("pad: edge, reflect and wrap", "[pad]") {
  struct Case {
    Numbers in, low, out;
  };
  for (std::string mode : {"edge", "reflect", "wrap"})
    for (const Case &c :
         {Case{{2, 3, 5, 9}, {0, 0, 1, 2}, {2, 3, 7, 14}},
          Case{{1, 2, 4, 6, 16}, {0, 0, 2, 1, 0}, {1, 2, 8, 9, 16}}, Case{{5}, {9}, {30}},
          Case{{3, 7}, {1, 0}, {6, 7}}, Case{{2, 4, 9}, {0, 0, -2}, {2, 4, 8}},
          Case{{1, 3, 40, 50}, {0, 0, 3, 3}, {1, 3, 46, 56}},
          // Lines that are divided among tasks.
          Case{{40003}, {201}, {40407}}, Case{{40003}, {-7}, {70000}},
          Case{{2, 17000}, {0, 16999}, {2, 50998}}, Case{{20000}, {-30}, {19950}}}) {
      Buffer in = Buffer::random("f32", c.in), out("f32", c.out), expected = out;
      forEachPosition(c.out, [&](const Numbers &p) {
        Numbers from = p;
        for (size_t d = 0; d < p.size(); ++d)
          from[d] = padSource(mode, p[d] - c.low[d], c.in[d]);
        expected.set(p, in.get(from));
      });
      std::string list;
      for (int64_t n : c.low)
        list += (list.empty() ? "" : ", ") + std::to_string(n);
      for (const CpuLevel &level : levels()) {
        INFO(level.name << " " << mode << " " << in.type() << " " << out.type());
        Buffer actual = out;
        Kernel("kernel.pad %0, %1 {low = array<i64: " + list + ">, mode = #graph<pad_mode " + mode +
                   ">} : $0, $1",
               {&in, &actual}, level)
            .run();
        checkClose(actual, expected, 0);
      }
    }
}
