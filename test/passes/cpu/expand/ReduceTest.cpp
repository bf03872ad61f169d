//===-- ReduceTest.cpp - runs reductions and softmax ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

/// The positions of the output and for each the input's numbers that belong to it.
std::map<Numbers, std::vector<double>> groups(const Buffer &in, const Numbers &axes) {
  std::map<Numbers, std::vector<double>> result;
  forEachPosition(in.shape(), [&](const Numbers &p) {
    Numbers kept = p;
    for (int64_t axis : axes)
      kept[axis] = 0;
    result[kept].push_back(in.get(p));
  });
  return result;
}

double reduceOf(const std::string &kind, const std::vector<double> &values) {
  double sum = 0, product = 1, largest = -INFINITY, min = INFINITY, absolute = 0, squares = 0;
  for (double x : values) {
    sum += x;
    product *= x;
    largest = std::max(largest, x);
    min = std::min(min, x);
    absolute += std::abs(x);
    squares += x * x;
  }
  double exponentials = 0;
  for (double x : values)
    exponentials += std::exp(x - largest);
  if (kind == "mean")
    return sum / double(values.size());
  if (kind == "max")
    return largest;
  if (kind == "min")
    return min;
  if (kind == "prod")
    return product;
  if (kind == "l1")
    return absolute;
  if (kind == "l2")
    return std::sqrt(squares);
  if (kind == "log_sum")
    return std::log(sum);
  if (kind == "log_sum_exp")
    return std::log(exponentials) + largest;
  return kind == "sum_square" ? squares : sum;
}

std::string listOf(const Numbers &numbers) {
  std::string text;
  for (int64_t n : numbers)
    text += (text.empty() ? "array<i64: " : ", ") + std::to_string(n);
  return text.empty() ? "array<i64>" : text + ">";
}

const char *const kinds[] = {"sum", "mean", "max",     "min",         "prod",
                             "l1",  "l2",   "log_sum", "log_sum_exp", "sum_square"};

void checkReduce(const std::string &kind, const Buffer &in, const Numbers &axes,
                 double tolerance = 4e-6, bool halo = false) {
  Numbers shape = in.shape();
  for (int64_t axis : axes)
    shape[axis] = 1;
  Numbers whole = shape;
  for (int64_t &size : whole)
    size += halo;
  Buffer out(in.element(), shape, halo ? stridesIn(whole) : Numbers()), expected = out;
  for (const auto &[position, values] : groups(in, axes)) {
    double value = reduceOf(kind, values);
    expected.set(position, in.element()[0] == 'i' ? std::trunc(value) : value);
  }
  std::string text = "kernel.reduce %0, %1 {kind = #graph<reduce_kind " + kind +
                     ">, axes = " + listOf(axes) + "} : $0, $1";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type());
    Buffer actual = out;
    Kernel(text, {&in, &actual}, level).run();
    checkClose(actual, expected, tolerance);
  }
}

} // namespace

TEST_CASE("reduce: every kind along every set of axes", "[reduce]") {
  for (std::string kind : kinds) {
    // Positive numbers: sums have logarithms.
    Buffer in = Buffer::random("f32", {2, 3, 5, 19}, {}, 0.5, 1.5);
    for (const Numbers &axes : {Numbers{3}, Numbers{2}, Numbers{0}, Numbers{2, 3}, Numbers{1, 3},
                                Numbers{0, 1, 2, 3}, Numbers{0, 2}, Numbers{}})
      checkReduce(kind, in, axes);
  }
}

TEST_CASE("reduce: mean of blocked planes", "[reduce]") {
  for (auto [h, w] : {std::pair(7, 7), {1, 1}, {2, 3}, {20, 15}}) {
    checkReduce("mean", Buffer::random("f32", {1, 5, h, w, 16}), {2, 3});
    checkReduce("mean",
                Buffer::random("f32", {2, 3, h, w, 16}, stridesIn({2, 3, h + 2, w + 2, 16})),
                {2, 3}, 4e-6, true);
    checkReduce("max", Buffer::random("f32", {1, 5, h, w, 3}), {2, 3});
  }
}

TEST_CASE("reduce: every tail", "[reduce]") {
  for (int64_t size : {1, 2, 3, 7, 8, 9, 15, 17, 32, 33, 63, 130})
    for (std::string kind : {"sum", "max", "log_sum_exp", "prod"}) {
      checkReduce(kind, Buffer::random("f32", {3, size}, {}, -1, 1), {1}, 1e-5);
      checkReduce(kind, Buffer::random("f32", {size, 3}, {}, -1, 1), {0}, 1e-5);
      checkReduce(kind, Buffer::random("f32", {3, size}, {}, -1, 1), {0}, 1e-5);
    }
}

TEST_CASE("reduce: strides, large numbers and many tasks", "[reduce]") {
  checkReduce("sum", Buffer::random("f32", {4, 9, 11}, {198, 22, 2}), {2});
  checkReduce("sum", Buffer::random("f32", {4, 9, 11}, {1, 4, 36}), {2});
  checkReduce("log_sum_exp", Buffer::random("f32", {3, 40}, {}, 80, 200), {1});
  checkReduce("log_sum_exp", Buffer::random("f32", {3, 40}, {}, -400, -200), {0});
  checkReduce("mean", Buffer::random("f32", {1, 64, 41, 50}), {2, 3});
  checkReduce("mean", Buffer::random("f32", {1, 64, 41, 50}), {1}, 1e-5);
}

TEST_CASE("reduce: other elements", "[reduce]") {
  for (std::string kind : {"sum", "max", "min", "prod", "mean", "l1", "sum_square"})
    for (std::string type : {"i32", "i64"})
      for (const Numbers &axes : {Numbers{1}, Numbers{0}})
        checkReduce(kind, Buffer::random(type, {3, 21}, {}, -3, 3), axes, 0);
  checkReduce("max", Buffer::random("i8", {3, 21}, {}, -100, 100), {1}, 0);
  for (std::string kind : {"sum", "max", "mean", "l2"}) {
    checkReduce(kind, Buffer::random("f64", {3, 21}), {1}, 1e-12);
    checkReduce(kind, Buffer::random("f16", {3, 21}), {1}, 2e-3);
  }
}

namespace {

void checkArgReduce(const Buffer &in, int64_t axis, bool smallest, bool last) {
  Numbers shape = in.shape();
  shape[axis] = 1;
  Buffer out("i64", shape), expected = out;
  for (const auto &[position, values] : groups(in, {axis})) {
    size_t best = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      bool better = smallest ? values[i] < values[best] : values[i] > values[best];
      if (better || (last && values[i] == values[best]))
        best = i;
    }
    expected.set(position, double(best));
  }
  std::string text = "kernel.arg_reduce %0, %1 {axis = " + std::to_string(axis) + " : i64" +
                     (smallest ? ", smallest" : "") + (last ? ", select_last" : "") + "} : $0, $1";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type());
    Buffer actual = out;
    Kernel(text, {&in, &actual}, level).run();
    checkClose(actual, expected, 0);
  }
}

} // namespace

TEST_CASE("arg_reduce", "[reduce]") {
  for (bool smallest : {false, true})
    for (bool last : {false, true})
      for (int64_t axis : {0, 1, 2}) {
        checkArgReduce(Buffer::random("f32", {3, 5, 21}), axis, smallest, last);
        // Equal numbers everywhere.
        checkArgReduce(Buffer::random("i32", {3, 5, 21}, {}, 0, 2), axis, smallest, last);
        checkArgReduce(Buffer::random("f32", {3, 5, 21}, {1, 3, 15}), axis, smallest, last);
      }
  checkArgReduce(Buffer::random("f32", {2, 1000}), 1, false, false);
  checkArgReduce(Buffer::random("f32", {1, 4, 60, 61}), 1, false, false);
  Buffer lowest("f32", {2, 13});
  forEachPosition(lowest.shape(), [&](const Numbers &p) { lowest.set(p, -INFINITY); });
  checkArgReduce(lowest, 1, false, false);
  checkArgReduce(lowest, 1, false, true);
}

namespace {

void checkSoftmax(const Buffer &in, int64_t axis, bool log, double tolerance = 4e-6,
                  Numbers outStrides = {}) {
  Buffer out(in.element(), in.shape(), outStrides), expected = out;
  auto all = groups(in, {axis});
  forEachPosition(in.shape(), [&](const Numbers &p) {
    Numbers kept = p;
    kept[axis] = 0;
    double total = reduceOf("log_sum_exp", all[kept]);
    expected.set(p, log ? in.get(p) - total : std::exp(in.get(p) - total));
  });
  std::string text = "kernel.softmax %0, %1 {axis = " + std::to_string(axis) + " : i64" +
                     (log ? ", log" : "") + "} : $0, $1";
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << in.type());
    Buffer actual = out;
    Kernel(text, {&in, &actual}, level).run();
    checkClose(actual, expected, tolerance, log ? 1.0 : 1e-6);
  }
}

} // namespace

TEST_CASE("softmax: a NaN spoils its row, wherever it is, and no other", "[softmax]") {
  for (int64_t axis : {0, 1})
    for (int64_t index = 0; index < 37; ++index) {
      const Numbers shape = axis ? Numbers{3, 37} : Numbers{37, 3};
      Buffer in = Buffer::random("f32", shape), out("f32", shape);
      in.set(axis ? Numbers{1, index} : Numbers{index, 1}, NAN);
      for (const CpuLevel &level : levels()) {
        INFO(level.name << " axis " << axis << ", element " << index);
        Kernel("kernel.softmax %0, %1 {axis = " + std::to_string(axis) + " : i64} : $0, $1",
               {&in, &out}, level)
            .run();
        forEachPosition(shape, [&](const Numbers &p) {
          if (std::isnan(out.get(p)) != (p[1 - axis] == 1))
            FAIL("row " << p[1 - axis] << " has " << out.get(p));
        });
      }
    }
}

TEST_CASE("softmax along every axis", "[softmax]") {
  for (bool log : {false, true}) {
    for (int64_t axis : {0, 1, 2, 3})
      checkSoftmax(Buffer::random("f32", {2, 3, 5, 19}, {}, -4, 4), axis, log);
    for (int64_t size : {1, 2, 3, 7, 8, 9, 16, 17, 31, 64, 1000})
      checkSoftmax(Buffer::random("f32", {3, size}, {}, -4, 4), 1, log);
    checkSoftmax(Buffer::random("f32", {6, 20}, {}, 100, 300), 1, log, 2e-4);
    checkSoftmax(Buffer::random("f32", {6, 20}, {}, -300, -100), 0, log, 2e-4);
    checkSoftmax(Buffer::random("f32", {1, 19, 40, 41}), 1, log);
    checkSoftmax(Buffer::random("f32", {200, 130}), 1, log);
    checkSoftmax(Buffer::random("f32", {5, 11}, {30, 2}), 1, log, 4e-6, {1, 5});
    checkSoftmax(Buffer::random("f32", {5, 11}), 1, log, 4e-6, {30, 2});
  }
  checkSoftmax(Buffer::random("f16", {5, 21}), 1, true, 2e-3);
}
