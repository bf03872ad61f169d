//===-- KernelSpeed.cpp - measures kernels: cpu-kernels-test [.speed] -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

/// Prints the median time of a run and the bytes read and written per second.
void measure(const std::string &name, const std::string &text,
             const std::vector<const Buffer *> &buffers) {
  using Clock = std::chrono::steady_clock;
  Kernel kernel(text, buffers, levels().front());
  double bytes = 0;
  for (const Buffer *buffer : buffers)
    bytes += double(buffer->span()) * (buffer->element() == "f32" ? 4 : 8);
  std::vector<double> times;
  auto end = Clock::now() + std::chrono::milliseconds(60);
  while (times.size() < 5 || Clock::now() < end) {
    auto start = Clock::now();
    kernel.run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  double time = times[times.size() / 2];
  printf("%-44s %9.1f us %7.1f GB/s %4d tasks\n", name.c_str(), time, bytes / time / 1e3,
         int(kernel.tasks()));
}

} // namespace

TEST_CASE("speed of kernels", "[.speed]") {
  std::string add = "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%a: f32, %b: f32):\n"
                    "%s = arith.addf %a, %b : f32\n kernel.yield %s : f32\n}";
  std::string silu = "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%a: f32):\n"
                     "%c = arith.constant 1.0 : f32\n%n = arith.negf %a : f32\n"
                     "%e = math.exp %n : f32\n%d = arith.addf %e, %c : f32\n"
                     "%s = arith.divf %a, %d : f32\n kernel.yield %s : f32\n}";
  Numbers blocked{1, 8, 28, 28, 16}, plain{1, 128, 28, 28};
  Buffer a = Buffer::random("f32", blocked), b = Buffer::random("f32", blocked);
  Buffer halo = Buffer::random("f32", blocked, stridesIn({1, 8, 30, 30, 16}));
  Buffer channel = Buffer::random("f32", {1, 8, 1, 1, 16});
  Buffer p = Buffer::random("f32", plain),
         transposed = Buffer::random("f32", plain, {100352, 1, 3584, 128});
  measure("map add, 400 KB buffers", add, {&a, &a, &b});
  measure("map add, into a halo", add, {&a, &a, &halo});
  measure("map add of channels", add, {&a, &channel, &b});
  measure("map silu", silu, {&a, &b});
  measure("copy", "kernel.copy %0, %1 : $0, $1", {&a, &b});
  measure("copy transposed", "kernel.copy %0, %1 : $0, $1", {&p, &transposed});
  measure("copy transposed back", "kernel.copy %0, %1 : $0, $1", {&transposed, &p});
  measure("pack", "kernel.pack %0, %1 : $0, $1", {&p, &a});
  measure("pack into a halo", "kernel.pack %0, %1 : $0, $1", {&p, &halo});
  measure("unpack", "kernel.unpack %0, %1 : $0, $1", {&a, &p});
  Buffer picture = Buffer::random("f32", {1, 3, 224, 224}), pixels("f32", {1, 1, 224, 224, 3});
  measure("pack 3 channels", "kernel.pack %0, %1 : $0, $1", {&picture, &pixels});
  measure("unpack 3 channels", "kernel.unpack %0, %1 : $0, $1", {&pixels, &picture});

  Buffer large = Buffer::random("f32", {1, 4, 112, 112, 16}), half("f32", {1, 4, 56, 56, 16});
  std::string window = "dilations = array<i64: 1, 1>, strides = array<i64: ";
  std::string three = "kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, ";
  std::string types = "} : $0, $1", maximum = ", kind = #kernel<pool_kind max>";
  measure("max pool 3x3 stride 2",
          "kernel.pool %0, %1 {" + three + window + "2, 2>" + maximum + types, {&large, &half});
  measure("average pool 3x3 stride 2",
          "kernel.pool %0, %1 {" + three + window + "2, 2>, kind = #kernel<pool_kind average>" +
              types,
          {&large, &half});
  Buffer small = Buffer::random("f32", {1, 16, 20, 20, 16}), same("f32", {1, 16, 20, 20, 16});
  measure("max pool 5x5 stride 1",
          "kernel.pool %0, %1 {kernel = array<i64: 5, 5>, pads = array<i64: 2, 2, 2, 2>, " +
              window + "1, 1>" + maximum + types,
          {&small, &same});

  Buffer seven = Buffer::random("f32", {1, 128, 7, 7, 16}), one("f32", {1, 128, 1, 1, 16});
  measure("mean of planes",
          "kernel.reduce %0, %1 {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>" + types,
          {&seven, &one});
  Buffer rows = Buffer::random("f32", {1000, 128}), sums("f32", {1000, 1});
  measure("sum of rows",
          "kernel.reduce %0, %1 {kind = #graph<reduce_kind sum>, axes = array<i64: 1>" + types,
          {&rows, &sums});
  Buffer probabilities("f32", {1000, 128});
  measure("softmax of rows", "kernel.softmax %0, %1 {axis = 1 : i64" + types,
          {&rows, &probabilities});
  measure("softmax of columns", "kernel.softmax %0, %1 {axis = 0 : i64" + types,
          {&rows, &probabilities});
  Buffer classes = Buffer::random("f32", {1, 20, 100, 100}), labels("i64", {1, 1, 100, 100});
  measure("arg max of channels", "kernel.arg_reduce %0, %1 {axis = 1 : i64" + types,
          {&classes, &labels});

  std::string resize = ", cubic_coefficient = -0.75 : f64, coordinates = "
                       "#graph<coordinate_mode half_pixel>, nearest = #graph<nearest_mode "
                       "round_prefer_floor>, mode = #graph<resize_mode ";
  Buffer twice("f32", {1, 8, 56, 56, 16}), twicePlain("f32", {1, 128, 56, 56});
  for (std::string mode : {"nearest>", "linear>"}) {
    measure("resize blocked " + mode,
            "kernel.resize %0, %1 {scales = array<f64: 1.0, 1.0, 2.0, 2.0, 1.0>" + resize + mode +
                types,
            {&a, &twice});
    measure("resize plain " + mode,
            "kernel.resize %0, %1 {scales = array<f64: 1.0, 1.0, 2.0, 2.0>" + resize + mode + types,
            {&p, &twicePlain});
  }
}
