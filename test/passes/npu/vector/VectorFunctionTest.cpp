//===-- VectorFunctionTest.cpp - functions without an instruction -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/vector/VectorRunner.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc::npu::test;

TEST_CASE("inverse functions at the ends of their ranges") {
  const double inf = INFINITY;
  Buffer x("f32", {16}), out("f32", {16});
  const double numbers[] = {0, 1,    -1,    1e-6, -1e-6, 0.99999994, inf,       -inf,
                            2, 1e30, -1e30, 0.5,  -0.5,  3e-20,      1.0000001, -2};
  for (int64_t i = 0; i < 16; ++i)
    x.set({i}, numbers[i]);
  const std::pair<std::string, double (*)(double)> functions[] = {
      {"atan", std::atan},   {"asin", std::asin},   {"acos", std::acos}, {"asinh", std::asinh},
      {"acosh", std::acosh}, {"atanh", std::atanh}, {"sinh", std::sinh}, {"cosh", std::cosh}};
  for (const std::string soc : {"Ascend310P3", "Ascend910B1"})
    for (const auto &[name, reference] : functions) {
      runVectorKernel("kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f32):\n%r = math." + name +
                          " %x : f32\nkernel.yield %r : f32\n}",
                      {&x, &out}, soc);
      for (int64_t i = 0; i < 16; ++i) {
        const double want = float(reference(x.get({i}))), got = out.get({i});
        INFO(soc << " " << name << " of " << numbers[i] << ": " << got);
        if (std::isnan(want))
          CHECK(std::isnan(got));
        else if (std::isinf(want))
          CHECK(got == want);
        else
          CHECK(std::abs(got - want) <= 1e-6 * std::max(1., std::abs(want)));
      }
    }
}

TEST_CASE("one operation between conversions has the bits of the operation in f32") {
  // Numbers of all sizes, from the smallest to those whose sums and products leave f16.
  constexpr int64_t count = 4096;
  Buffer x("f16", {count}), y("f16", {count}), out("f16", {count});
  for (int64_t i = 0; i < count; ++i) {
    x.set({i}, std::ldexp(double(i * 37 % 2048) - 1024, int(i % 29) - 24));
    y.set({i}, std::ldexp(double(i * 101 % 2048) - 1023.5, int(i / 29 % 29) - 24));
  }
  for (const std::string soc : {"Ascend310P3", "Ascend910B1"})
    for (const char *name : {"add", "sub", "mul", "div"}) {
      runVectorKernel(
          "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%a: f16, %b: f16):\n"
          "%x = arith.extf %a : f16 to f32\n%y = arith.extf %b : f16 to f32\n%s = arith." +
              std::string(name) +
              "f %x, %y : f32\n%r = arith.truncf %s : f32 to f16\nkernel.yield %r : f16\n}",
          {&x, &y, &out}, soc);
      int64_t different = 0;
      for (int64_t i = 0; i < count; ++i) {
        const float a = float(x.get({i})), b = float(y.get({i}));
        const float wide = *name == 'a'   ? a + b
                           : *name == 's' ? a - b
                           : *name == 'm' ? a * b
                                          : a / b;
        const auto want = float(_Float16(wide)), got = float(out.get({i}));
        different += !(want == got || (std::isnan(want) && std::isnan(got)));
      }
      INFO(soc << " " << name);
      CHECK(different == 0);
    }
}

TEST_CASE("erf of bytes, alone and in a gelu, is accurate in f32: integers are rounded behind it") {
  Buffer x("i8", {256}), out("f32", {256});
  for (int64_t i = 0; i < 256; ++i)
    x.set({i}, double(i) - 128);
  const std::string read = "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: i8):\n"
                           "%k = arith.constant 0.03 : f32\n%f = arith.sitofp %x : i8 to f32\n"
                           "%v = arith.mulf %f, %k : f32\n",
                    gelu = "%q = arith.constant 0.70710678 : f32\n%h = arith.constant 0.5 : f32\n"
                           "%c = arith.constant 1.0 : f32\n%s = arith.mulf %v, %q : f32\n"
                           "%e = math.erf %s : f32\n%d = arith.addf %e, %c : f32\n"
                           "%r = arith.mulf %d, %h : f32\n",
                    erf = "%r = math.erf %v : f32\n", end = "kernel.yield %r : f32\n}";
  for (const std::string soc : {"Ascend310P3", "Ascend910B1"})
    for (bool isGelu : {false, true}) {
      runVectorKernel(read + (isGelu ? gelu : erf) + end, {&x, &out}, soc);
      double largest = 0;
      for (int64_t i = 0; i < 256; ++i) {
        const double v = double(0.03f) * x.get({i});
        const double want = isGelu ? 0.5 * (1 + std::erf(v / std::sqrt(2.))) : std::erf(v);
        largest = std::max(largest, std::abs(out.get({i}) - want));
      }
      INFO(soc << " " << isGelu);
      CHECK(largest <= 3e-7);
    }
}
