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
