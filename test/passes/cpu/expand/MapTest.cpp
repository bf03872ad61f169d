//===-- MapTest.cpp - runs kernel.map kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

using Function = std::function<double(const std::vector<double> &)>;

/// Computes every element of `output` from those of the inputs; dims of size 1
/// of an input are broadcast.
void mapReference(const std::vector<const Buffer *> &inputs, Buffer &output,
                  const Function &function) {
  forEachPosition(output.shape(), [&](const Numbers &position) {
    std::vector<double> args;
    for (const Buffer *input : inputs) {
      Numbers own = position;
      for (size_t d = 0; d < own.size(); ++d)
        if (input->shape()[d] == 1)
          own[d] = 0;
      args.push_back(input->get(own));
    }
    output.set(position, function(args));
  });
}

void checkMap(const std::string &text, std::vector<const Buffer *> inputs, Buffer &output,
              const Function &function, double tolerance = 1e-6, double floor = 1.0) {
  for (const CpuLevel &level : levels()) {
    INFO(level.name);
    std::vector<const Buffer *> all = inputs;
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the kernel writes `actual`
    Buffer actual = output, expected = output;
    all.push_back(&actual);
    mapReference(inputs, expected, function);
    Kernel(text, all, level).run();
    checkClose(actual, expected, tolerance, floor);
  }
}

const char *addRelu = R"(
  kernel.map %0, %1 outs %2 : $0, $1, $2 {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %sum = arith.addf %a, %b : f32
    %max = arith.maximumf %sum, %zero : f32
    kernel.yield %max : f32
  })";
double addReluOf(const std::vector<double> &x) { return std::max(0.0, x[0] + x[1]); }

} // namespace

TEST_CASE("map: buffers of one layout and every tail", "[map]") {
  for (int64_t size : {1, 3, 4, 7, 8, 9, 16, 31, 33, 64, 77}) {
    Buffer a = Buffer::random("f32", {size}), b = Buffer::random("f32", {size}), out("f32", {size});
    checkMap(addRelu, {&a, &b}, out, addReluOf);
  }
}

TEST_CASE("map: views with halos", "[map]") {
  Numbers shape{1, 2, 5, 7, 16};
  Buffer a = Buffer::random("f32", shape, stridesIn({1, 2, 7, 9, 16}));
  Buffer b = Buffer::random("f32", shape), out("f32", shape, stridesIn({1, 2, 6, 8, 16}));
  checkMap(addRelu, {&a, &b}, out, addReluOf);
}

TEST_CASE("map: broadcast operands", "[map]") {
  Numbers shape{2, 3, 5, 6, 16};
  for (const Numbers &other :
       {Numbers{1, 3, 1, 1, 16}, Numbers{1, 1, 1, 1, 1}, Numbers{2, 1, 5, 6, 1},
        Numbers{2, 3, 5, 1, 16}, Numbers{1, 1, 1, 6, 1}}) {
    Buffer a = Buffer::random("f32", shape), b = Buffer::random("f32", other), out("f32", shape);
    checkMap(addRelu, {&a, &b}, out, addReluOf);
    checkMap(addRelu, {&b, &a}, out, addReluOf);
    checkMap(addRelu, {&b, &b}, out, addReluOf);
  }
}

TEST_CASE("map: many tasks", "[map]") {
  Numbers shape{1, 8, 30, 41, 16};
  Buffer a = Buffer::random("f32", shape), b = Buffer::random("f32", {1, 8, 1, 1, 16});
  Buffer out("f32", shape);
  checkMap(addRelu, {&a, &a}, out, addReluOf);
  checkMap(addRelu, {&a, &b}, out, addReluOf);
  Buffer c = Buffer::random("f32", {70001}), sum("f32", {70001});
  checkMap(addRelu, {&c, &c}, sum, addReluOf);
  Kernel kernel(addRelu, {&c, &c, &sum}, levels().front());
  CHECK(kernel.tasks() > 4);
  CHECK(kernel.tasks() < 64);
}

TEST_CASE("map: tiny data is one task", "[map]") {
  Buffer a = Buffer::random("f32", {1, 1000}), out("f32", {1, 1000});
  CHECK(Kernel(addRelu, {&a, &a, &out}, levels().front()).tasks() == 1);
}

TEST_CASE("map: strides inside rows and permuted dims", "[map]") {
  Buffer a = Buffer::random("f32", {3, 5, 11}, {165, 33, 3});
  Buffer b = Buffer::random("f32", {3, 5, 11}, {1, 3, 15});
  Buffer out("f32", {3, 5, 11}), strided("f32", {3, 5, 11}, {110, 22, 2});
  checkMap(addRelu, {&a, &b}, out, addReluOf);
  checkMap(addRelu, {&b, &a}, strided, addReluOf);
}

TEST_CASE("map: in place", "[map]") {
  for (const CpuLevel &level : levels()) {
    Buffer a = Buffer::random("f32", {3, 29}), b = Buffer::random("f32", {3, 29});
    Buffer expected("f32", {3, 29});
    mapReference({&a, &b}, expected, addReluOf);
    Kernel(addRelu, {&a, &b, &a}, level).run();
    checkClose(a, expected);
  }
}

TEST_CASE("map: no input, and constants outside of the body", "[map]") {
  Buffer out("f32", {2, 19});
  checkMap(R"(
    %c = arith.constant 2.5 : f32
    kernel.map outs %0 : $0 {
      kernel.yield %c : f32
    })",
           {}, out, [](auto &) { return 2.5; });
}

TEST_CASE("map: bool buffers take a byte an element", "[map]") {
  Buffer a = Buffer::random("f32", {5, 21}), b = Buffer::random("f32", {5, 21});
  Buffer less("i1", {5, 21}), out("f32", {5, 21});
  checkMap(R"(
    kernel.map %0, %1 outs %2 : $0, $1, $2 {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      kernel.yield %less : i1
    })",
           {&a, &b}, less, [](auto &x) { return x[0] < x[1]; });
  Buffer condition = Buffer::random("i1", {5, 21}, {}, 0, 1);
  checkMap(R"(
    kernel.map %0, %1, %2 outs %3 : $0, $1, $2, $3 {
    ^bb0(%c: i1, %a: f32, %b: f32):
      %x = arith.select %c, %a, %b : f32
      kernel.yield %x : f32
    })",
           {&condition, &a, &b}, out, [](auto &x) { return x[0] ? x[1] : x[2]; });
  checkMap(R"(
    kernel.map %0 outs %1 : $0, $1 {
    ^bb0(%c: i1):
      %x = arith.uitofp %c : i1 to f32
      kernel.yield %x : f32
    })",
           {&condition}, out, [](auto &x) { return x[0]; });
}

TEST_CASE("map: integers", "[map]") {
  for (std::string type : {"i8", "i32", "i64"}) {
    Buffer a = Buffer::random(type, {3, 37}, {}, -9, 9), out(type, {3, 37});
    Buffer b = Buffer::random(type, {3, 37}, {}, 1, 9);
    std::string body = "^bb0(%a: T, %b: T):\n %q = arith.divsi %a, %b : T\n"
                       "%s = arith.addi %q, %b : T\n kernel.yield %s : T\n }";
    for (size_t at; (at = body.find('T')) != std::string::npos;)
      body.replace(at, 1, type);
    checkMap("kernel.map %0, %1 outs %2 : $0, $1, $2 {\n" + body, {&a, &b}, out,
             [](auto &x) { return std::trunc(x[0] / x[1]) + x[1]; });
  }
}

TEST_CASE("map: conversions between element types", "[map]") {
  Buffer f32 = Buffer::random("f32", {41}, {}, -100, 100), i32("i32", {41}), f64("f64", {41});
  checkMap("kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f32):\n"
           "%y = arith.fptosi %x : f32 to i32\n kernel.yield %y : i32\n}",
           {&f32}, i32, [](auto &x) { return std::trunc(x[0]); });
  checkMap("kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f32):\n"
           "%y = arith.extf %x : f32 to f64\n kernel.yield %y : f64\n}",
           {&f32}, f64, [](auto &x) { return x[0]; });
  Buffer i64 = Buffer::random("i64", {41}, {}, -100, 100), out("f32", {41});
  checkMap("kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: i64):\n"
           "%y = arith.sitofp %x : i64 to f32\n kernel.yield %y : f32\n}",
           {&i64}, out, [](auto &x) { return x[0]; });
}

TEST_CASE("kernels compile for every level", "[map]") {
  Buffer a = Buffer::random("f32", {5, 77}), out("f32", {5, 77});
  Buffer turned = Buffer::random("f32", {5, 77}, {1, 5});
  for (const CpuLevel &level : cpuLevels()) {
    INFO(level.name);
    CHECK(Kernel(addRelu, {&a, &a, &out}, level).tasks() == 1);
    CHECK(Kernel("kernel.copy %0, %1 : $0, $1", {&turned, &out}, level).tasks() == 1);
    CHECK(Kernel("kernel.softmax %0, %1 {axis = 1 : i64} : $0, $1", {&a, &out}, level).tasks() ==
          1);
  }
}

TEST_CASE("map: floats of 16 bits", "[map]") {
  for (std::string type : {"f16", "bf16"}) {
    double tolerance = type == "f16" ? 2e-3 : 2e-2;
    Buffer a = Buffer::random(type, {3, 37}), b = Buffer::random(type, {3, 37});
    Buffer out(type, {3, 37}), wide("f32", {3, 37}), less("i1", {3, 37});
    checkMap(
        "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%a: " + type + ", %b: " + type +
            "):\n %s = arith.addf %a, %b : " + type + "\n %e = math.exp %s : " + type +
            "\n kernel.yield %e : " + type + "\n}",
        {&a, &b}, out, [](auto &x) { return std::exp(x[0] + x[1]); }, 2 * tolerance);
    checkMap(
        "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%a: " + type + "):\n %x = arith.extf %a : " + type +
            " to f32\n kernel.yield %x : f32\n}",
        {&a}, wide, [](auto &x) { return x[0]; }, 0);
    checkMap(
        "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%a: " + type + ", %b: " + type +
            "):\n %c = arith.cmpf olt, %a, %b : " + type + "\n kernel.yield %c : i1\n}",
        {&a, &b}, less, [](auto &x) { return x[0] < x[1]; }, 0);
  }
}

// Single numbers that become vectors are moved as bits: nothing may ask for a library.
TEST_CASE("map: a choice between two floats of 16 bits", "[map]") {
  for (std::string type : {"f16", "bf16"})
    for (int64_t columns : {1, 4, 37}) {
      Buffer rows = Buffer::random("i64", {2, 1}), line = Buffer::random("i64", {1, columns});
      Buffer on = Buffer::random(type, {1, 1}), off = Buffer::random(type, {1, 1});
      Buffer out(type, {2, columns});
      checkMap(
          "kernel.map %0, %1, %2, %3 outs %4 : $0, $1, $2, $3, $4 {\n^bb0(%a: i64, %b: i64, "
          "%on: " +
              type + ", %off: " + type +
              "):\n %c = arith.cmpi eq, %a, %b : i64\n %x = arith.select %c, %on, %off : " + type +
              "\n kernel.yield %x : " + type + "\n}",
          {&rows, &line, &on, &off}, out, [](auto &x) { return x[0] == x[1] ? x[2] : x[3]; }, 0);
    }
}

TEST_CASE("map: conversion to and from f16 is exact", "[map]") {
  // All numbers of f16, and f32 numbers around where f16 rounds and ends.
  Buffer halves("f16", {65536}), back("f32", {65536});
  for (int64_t i = 0; i < 65536; ++i)
    static_cast<uint16_t *>(halves.data())[i] = uint16_t(i);
  checkMap(
      "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%a: f16):\n %x = arith.extf %a : f16 to f32\n"
      " kernel.yield %x : f32\n}",
      {&halves}, back, [](auto &x) { return x[0]; }, 0, 1e-9);
  constexpr int64_t count = 100000;
  Buffer floats("f32", {count}), rounded("f16", {count});
  std::uniform_real_distribution<double> exponent(-27, 17), sign(-1, 1);
  for (int64_t i = 0; i < count; ++i)
    floats.set(i, std::copysign(std::exp2(exponent(generator())), sign(generator())));
  for (int64_t i = 0; i < 2048; ++i) // halfway between two numbers
    floats.set(i, std::ldexp(1 + (2 * double(i % 1024) + 1) / 2048, int(i / 1024) * -16));
  const double special[] = {INFINITY, -INFINITY, NAN, 65504, 65519, 65520, 1e9, -0.0};
  for (size_t i = 0; i < std::size(special); ++i)
    floats.set(5000 + int64_t(i), special[i]);
  checkMap(
      "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%a: f32):\n %x = arith.truncf %a : f32 to f16\n"
      " kernel.yield %x : f16\n}",
      {&floats}, rounded, [](auto &x) { return x[0]; }, 0, 1e-9);
}

namespace {

/// Checks one function of math in a range against the C library's in f64.
void checkFunction(const std::string &name, double low, double high, double (*function)(double),
                   double tolerance, double floor = 1e-30) {
  constexpr int64_t count = 200003;
  Buffer in("f32", {count}), out("f32", {count}), expected("f32", {count});
  for (int64_t i = 0; i < count; ++i)
    in.set(i, low + (high - low) * double(i) / (count - 1));
  for (const CpuLevel &level : levels()) {
    Kernel("kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f32):\n %y = math." + name +
               " %x : f32\n kernel.yield %y : f32\n}",
           {&in, &out}, level)
        .run();
    // In f64: the expected number must not be rounded.
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      double e = function(in.get(i)), a = out.get(i);
      largest = std::max(largest, std::abs(a - e) / std::max(std::abs(e), floor));
    }
    INFO(level.name << ": math." << name << " in [" << low << ", " << high << "]: largest error "
                    << largest);
    CHECK(largest <= tolerance);
    if (getenv("OPENATC_PRINT_ERRORS"))
      WARN(level.name << ": math." << name << " in [" << low << ", " << high << "]: largest error "
                      << largest);
  }
}

} // namespace

TEST_CASE("map: accuracy of transcendental functions", "[map][math]") {
  checkFunction("exp", -80, 80, std::exp, 2e-6);
  checkFunction("exp", -1, 1, std::exp, 2e-6);
  checkFunction("log", 1e-6, 1e6, std::log, 2e-6, 1e-2);
  checkFunction("log", 0.5, 2, std::log, 2e-6, 1e-2);
  checkFunction("tanh", -9, 9, std::tanh, 2e-6);
  checkFunction("tanh", -0.01, 0.01, std::tanh, 2e-6);
  checkFunction("erf", -4, 4, std::erf, 5e-7, 1e-2);
  checkFunction("erf", -1e-3, 1e-3, std::erf, 5e-7);
  checkFunction("erf", 3.5, 4.2, std::erf, 5e-7);
  checkFunction("sqrt", 0, 1e4, std::sqrt, 2e-7, 1e-2);
}

TEST_CASE("map: functions at the ends of their ranges", "[map][math]") {
  const std::vector<double> inputs = {-INFINITY, -1e4, -104, -88, 0, 88, 89, 1e4, INFINITY, NAN};
  Buffer in("f32", {int64_t(inputs.size())}), out = in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.set(i, inputs[i]);
  for (std::string name : {"exp", "tanh", "erf"}) {
    double (*function)(double) = name == "exp"    ? (double (*)(double))std::exp
                                 : name == "tanh" ? (double (*)(double))std::tanh
                                                  : (double (*)(double))std::erf;
    checkMap(
        "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f32):\n %y = math." + name +
            " %x : f32\n kernel.yield %y : f32\n}",
        {&in}, out, [&](auto &x) { return float(function(x[0])); }, 2e-6);
  }
}

TEST_CASE("map: bytes of a table, on every level of this machine", "[map]") {
  // A table in which no two parts are alike.
  std::string table;
  const auto entry = [](int i) { return int8_t(uint8_t(i * 89 + i / 16 * 7 + 5)); };
  for (int i = 0; i < 256; ++i)
    table += (i ? ", " : "") + std::to_string(entry(i));
  const std::string text =
      "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%a: i8):\n  %t = cpu.lookup %a in [" + table +
      "] : i8\n  kernel.yield %t : i8\n}";
  std::vector<CpuLevel> all = levels();
  llvm::Expected<CpuLevel> host = hostCpuLevel();
  REQUIRE(bool(host));
  for (const CpuLevel &level : cpuLevels())
    if (level.arch == host->arch && llvm::all_of(level.required, [&](const std::string &feature) {
          return llvm::is_contained(host->required, feature);
        }))
      all.push_back(level);
  all.push_back(cpuLevels().front());
  all.back().required.clear(); // no instruction that permutes bytes
  for (int64_t size : {1, 3, 15, 16, 33, 64, 77, 128, 256, 300}) {
    Buffer in("i8", {size}), out("i8", {size});
    for (int64_t i = 0; i < size; ++i)
      in.set({i}, double(int8_t(i)));
    for (const CpuLevel &level : all) {
      INFO(level.name << ", " << size << " bytes");
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the kernel writes `actual`
      Buffer actual = out, expected = out;
      for (int64_t i = 0; i < size; ++i)
        expected.set({i}, double(entry(int(i & 255))));
      Kernel(text, {&in, &actual}, level).run();
      checkClose(actual, expected, 0);
    }
  }
}
