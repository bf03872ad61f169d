//===-- ResizeTest.cpp - runs kernel.resize and kernel.gather kernels -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Resize {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubic = -0.75;
};

struct Tap {
  int64_t position;
  double weight;
};

/// Returns the input positions and weights of an output position of one dim, as ONNX defines
/// them.
std::vector<Tap> tapsOf(const Resize &resize, int64_t i, int64_t in, int64_t out, float scale) {
  if (scale == 1 && in == out)
    return {{i, 1.0}};
  float x = float(i);
  if (resize.coordinates == "asymmetric")
    x = x / scale;
  else if (resize.coordinates == "align_corners")
    x = out == 1 ? 0.0f : x * float(in - 1) / float(out - 1);
  else if (resize.coordinates == "pytorch_half_pixel" && out == 1)
    x = 0;
  else
    x = (x + 0.5f) / scale - 0.5f;

  auto inside = [&](int64_t position) { return std::clamp<int64_t>(position, 0, in - 1); };
  if (resize.mode == "nearest") {
    double chosen;
    if (resize.nearest == "floor")
      chosen = std::floor(x);
    else if (resize.nearest == "ceil")
      chosen = std::ceil(x);
    else if (resize.nearest == "round_prefer_floor")
      chosen = x - std::floor(x) <= 0.5f ? std::floor(x) : std::ceil(x);
    else
      chosen = x - std::floor(x) < 0.5f ? std::floor(x) : std::ceil(x);
    return {{inside(int64_t(chosen)), 1.0}};
  }
  if (resize.mode == "linear") {
    x = std::clamp(x, 0.0f, float(in - 1));
    int64_t low = int64_t(x);
    double fraction = x - double(low);
    return {{low, 1 - fraction}, {inside(low + 1), fraction}};
  }
  int64_t low = int64_t(std::floor(x));
  double t = double(x) - double(low), a = resize.cubic;
  std::vector<Tap> taps;
  for (int64_t k = -1; k <= 2; ++k) {
    double d = std::abs(t - double(k));
    double weight = d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                           : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
    taps.push_back({inside(low + k), weight});
  }
  return taps;
}

void checkResize(const Resize &resize, const Buffer &in, const Numbers &outShape,
                 const std::vector<double> &scales, const Numbers &outStrides = {}) {
  Buffer out(in.element(), outShape, outStrides), expected = out;
  forEachPosition(outShape, [&](const Numbers &p) {
    std::vector<std::pair<Numbers, double>> terms{{{}, 1.0}};
    for (size_t d = 0; d < p.size(); ++d) {
      std::vector<std::pair<Numbers, double>> next;
      for (const auto &[position, weight] : terms)
        for (const Tap &tap : tapsOf(resize, p[d], in.shape()[d], outShape[d], float(scales[d]))) {
          Numbers moved = position;
          moved.push_back(tap.position);
          next.push_back({moved, weight * tap.weight});
        }
      terms = next;
    }
    double sum = 0;
    for (const auto &[position, weight] : terms)
      sum += weight * in.get(position);
    expected.set(p, sum);
  });

  std::string list;
  char number[32];
  for (double scale : scales) {
    snprintf(number, sizeof(number), "%.17e", scale);
    list += (list.empty() ? "" : ", ") + std::string(number);
  }
  std::string text = "kernel.resize %0, %1 {scales = array<f64: " + list +
                     ">, mode = #graph<resize_mode " + resize.mode +
                     ">, coordinates = #graph<coordinate_mode " + resize.coordinates +
                     ">, nearest = #graph<nearest_mode " + resize.nearest +
                     ">, cubic_coefficient = " + std::to_string(resize.cubic) + " : f64} : $0, $1";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type() << " " << out.type());
    Buffer actual = out;
    Kernel(text, {&in, &actual}, level).run();
    checkClose(actual, expected, resize.mode == "nearest" ? 0 : 1e-5);
  }
}

/// Resizes H and W of a plain and of a blocked buffer.
void checkPlanes(const Resize &resize, int64_t h, int64_t w, int64_t oh, int64_t ow) {
  double sh = double(oh) / double(h), sw = double(ow) / double(w);
  checkResize(resize, Buffer::random("f32", {1, 2, h, w}), {1, 2, oh, ow}, {1, 1, sh, sw});
  checkResize(resize, Buffer::random("f32", {1, 2, h, w, 16}), {1, 2, oh, ow, 16},
              {1, 1, sh, sw, 1});
}

const char *const coordinateModes[] = {"half_pixel", "asymmetric", "align_corners",
                                       "pytorch_half_pixel"};

} // namespace

TEST_CASE("resize: nearest in every mode", "[resize]") {
  for (std::string coordinates : coordinateModes)
    for (std::string nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
      Resize resize{"nearest", coordinates, nearest};
      checkPlanes(resize, 5, 7, 10, 14);
      checkPlanes(resize, 5, 6, 8, 13);
      checkPlanes(resize, 9, 20, 3, 1);
    }
}

TEST_CASE("resize: whole factors", "[resize]") {
  for (auto [h, w] : {std::pair(3, 5), {4, 8}, {2, 37}})
    for (int64_t factor : {2, 3, 4, 5})
      for (const Resize &resize : {Resize{}, Resize{"nearest", "asymmetric", "floor"}})
        checkPlanes(resize, h, w, factor * h, factor * w);
  checkPlanes({}, 2, 300, 4, 600);
  checkPlanes({}, 6, 7, 6, 14);
}

TEST_CASE("resize: linear and cubic in every mode", "[resize]") {
  for (std::string mode : {"linear", "cubic"})
    for (std::string coordinates : coordinateModes) {
      Resize resize{mode, coordinates};
      checkPlanes(resize, 5, 7, 10, 14);
      checkPlanes(resize, 5, 6, 8, 13);
      checkPlanes(resize, 9, 20, 3, 1);
    }
  checkPlanes({"cubic", "half_pixel", "floor", -0.5}, 4, 5, 7, 11);
}

TEST_CASE("resize: rows that grow by any factor", "[resize]") {
  for (std::string mode : {"linear", "cubic"})
    for (std::string coordinates : coordinateModes)
      for (int64_t w : {5, 17, 40})
        for (double factor : {1.02, 1.1, 1.25, 1.34, 2.0, 3.7, 16.0}) {
          const int64_t ow = std::llround(double(w) * factor);
          checkResize({mode, coordinates}, Buffer::random("f32", {2, 3, w}), {2, 5, ow},
                      {1, 5.0 / 3, double(ow) / double(w)});
        }
  // Neither do scales that are stated read outside of a row, nor halfs, nor a part of wider rows.
  const Resize linear{"linear", "half_pixel"};
  checkResize(linear, Buffer::random("f32", {2, 19}), {2, 61}, {1, 2.5});
  checkResize(linear, Buffer::random("f16", {2, 40}), {2, 80}, {1, 2});
  checkResize(linear, Buffer::random("f32", {3, 18}, {25, 1}), {3, 54}, {1, 3}, {60, 1});
}

TEST_CASE("resize: stated scales, one dim, views and other elements", "[resize]") {
  Resize nearest{"nearest", "asymmetric", "floor"}, linear{"linear", "half_pixel"};
  checkResize(nearest, Buffer::random("f32", {1, 2, 7, 7}), {1, 2, 18, 18}, {1, 1, 2.6, 2.6});
  checkResize(linear, Buffer::random("f32", {1, 2, 7, 7}), {1, 2, 18, 18}, {1, 1, 2.6, 2.6});
  checkResize(linear, Buffer::random("f32", {2, 3, 9}), {2, 3, 21}, {1, 1, 21.0 / 9});
  checkResize(linear, Buffer::random("f32", {1, 2, 3, 4, 5}), {1, 2, 6, 8, 10}, {1, 1, 2, 2, 2});
  checkResize(nearest, Buffer::random("f32", {2, 3, 4}), {4, 6, 8}, {2, 2, 2});
  checkResize(nearest, Buffer::random("f32", {1, 2, 4, 5, 16}, stridesIn({1, 2, 6, 7, 16})),
              {1, 2, 8, 10, 16}, {1, 1, 2, 2, 1}, stridesIn({1, 2, 10, 12, 16}));
  checkResize(nearest, Buffer::random("i64", {1, 2, 4, 5}, {}, -50, 50), {1, 2, 8, 10},
              {1, 1, 2, 2});
  checkResize(nearest, Buffer::random("ui8", {1, 2, 4, 5}, {}, 0, 200), {1, 2, 8, 10},
              {1, 1, 2, 2});
  checkResize(linear, Buffer::random("f64", {1, 2, 4, 5}), {1, 2, 8, 10}, {1, 1, 2, 2});
  checkResize(nearest, Buffer::random("f32", {1, 3, 40, 30, 16}), {1, 3, 80, 60, 16},
              {1, 1, 2, 2, 1});
}

namespace {

void checkGather(const Buffer &in, const Buffer &indices, Numbers outStrides = {}) {
  Numbers shape{in.shape()[0], indices.shape()[0], in.shape()[2]};
  Buffer out(in.element(), shape, outStrides), expected = out;
  int64_t size = in.shape()[1];
  forEachPosition(shape, [&](const Numbers &p) {
    int64_t index = int64_t(indices.get(Numbers{p[1]}));
    index = std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
    expected.set(p, in.get({p[0], index, p[2]}));
  });
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << in.type() << " " << indices.type());
    Buffer actual = out;
    Kernel("kernel.gather %0, %1, %2 : $0, $1, $2", {&in, &indices, &actual}, level).run();
    checkClose(actual, expected, 0);
  }
}

} // namespace

TEST_CASE("gather: rows, single elements and indices outside", "[gather]") {
  for (std::string type : {"i32", "i64"}) {
    Buffer indices = Buffer::random(type, {9}, {}, -15, 15);
    checkGather(Buffer::random("f32", {2, 7, 37}), indices);
    checkGather(Buffer::random("f32", {3, 7, 1}), indices);
    checkGather(Buffer::random("i8", {1, 7, 50}, {}, -9, 9), indices);
    checkGather(Buffer::random("i64", {1, 7, 5}, {}, -9, 9), indices);
    checkGather(Buffer::random("f32", {2, 7, 11}, {200, 22, 2}), indices, {120, 12, 1});
    checkGather(Buffer::random("f32", {2, 7, 11}), indices, {1, 40, 2});
  }
  checkGather(Buffer::random("f32", {1, 300, 64}), Buffer::random("i64", {400}, {}, 0, 299));
  for (std::string type : {"f32", "f64", "i8", "i64"})
    checkGather(Buffer::random(type, {2, 300, 1}, {}, -9, 9),
                Buffer::random("i32", {20011}, {}, -400, 400));
}
