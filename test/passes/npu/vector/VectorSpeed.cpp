//===-- VectorSpeed.cpp - times of kernels of the vector queue ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/vector/VectorRunner.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

void report(const char *what, const Statistics &s, double bound) {
  std::printf("%-44s %9.0f cycles, bound %9.0f, %5.1f %%; busy V %.0f MTE2 %.0f MTE3 %.0f\n", what,
              s.cycles - s.startCycles, bound, 100 * bound / (s.cycles - s.startCycles),
              s.busy[int(Queue::V)] / double(s.coreCount),
              s.busy[int(Queue::MTE2)] / double(s.coreCount),
              s.busy[int(Queue::MTE3)] / double(s.coreCount));
}

} // namespace

TEST_CASE("speed", "[.speed]") {
  for (const std::string name : {"Ascend310P3", "Ascend910B1"}) {
    const SocTable &soc = *findSoc(name);
    std::printf("%s\n", name.c_str());
    double cores = double(soc.cores(soc.split)), shares = double(soc.cubeCores);
    // Rates of all cores: shares of L2, and ports of the cores.
    double read = std::min(soc.l2Read * shares, soc.gmToUb * cores);
    double write = std::min(soc.l2Write * shares, soc.ubToGm * cores);
    auto gmBound = [&](double in, double out) { return std::max(in / read, out / write); };
    auto run = [&](const char *what, const std::string &text, std::vector<std::string> types,
                   double bound) { report(what, timeVectorKernel(text, types, name), bound); };
    std::string big = "memref<8x16x28x28x16xf16>";
    double bytes = 8. * 16 * 28 * 28 * 16 * 2;
    run("add f16",
        "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%x: f16, %y: f16):\n"
        "%r = arith.addf %x, %y : f16\nkernel.yield %r : f16\n}",
        {big, big, big}, gmBound(2 * bytes, bytes));
    run("relu f16",
        "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f16):\n"
        "%z = arith.constant 0.0 : f16\n%r = arith.maximumf %x, %z : f16\n"
        "kernel.yield %r : f16\n}",
        {big, big}, gmBound(bytes, bytes));
    run("bias per channel f16",
        "kernel.map %0, %1 outs %2 : $0, $1, $2 {\n^bb0(%x: f16, %y: f16):\n"
        "%r = arith.addf %x, %y : f16\nkernel.yield %r : f16\n}",
        {big, "memref<1x16x1x1x16xf16>", big}, gmBound(bytes, bytes));
    run("silu f16",
        "kernel.map %0 outs %1 : $0, $1 {\n^bb0(%x: f16):\n"
        "%c = arith.constant 1.0 : f16\n%n = arith.negf %x : f16\n"
        "%e = math.exp %n : f16\n%d = arith.addf %e, %c : f16\n"
        "%r = arith.divf %x, %d : f16\nkernel.yield %r : f16\n}",
        {big, big}, gmBound(bytes, bytes));
    std::string scores = "memref<12x16x197x197xf16>";
    double elements = 12. * 16 * 197 * 197;
    // Cast, subtract, exp (twice), multiply, cast in f32; halves for max and sum.
    run("softmax 12x16x197x197", "kernel.softmax %0, %1 {axis = 3 : i64} : $0, $1",
        {scores, scores}, elements * (6 + 2 + 0.5) * 4 / (soc.vectorBytes * cores));
    std::string tokens = "memref<3152x768xf16>", row = "memref<768xf32>";
    // Casts, mean, subtract, square, variance, three products and sums.
    run("layer norm 3152x768",
        "npu.layer_norm %0 gamma %1 beta %2 outs %3 {epsilon = 1.0e-5 : f64} : $0, $1, $2, $3",
        {tokens, row, row, tokens}, 3152. * 768 * 9 * 4 / (soc.vectorBytes * cores));
    double plane = 4. * 4 * 112 * 112 * 16 * 2;
    run("max pool 3x3/2 4x4x112x112",
        "kernel.pool %0, %1 {kind = #kernel<pool_kind max>, kernel = array<i64: 3, 3>, strides = "
        "array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : $0, $1",
        {"memref<4x4x112x112x16xf16>", "memref<4x4x56x56x16xf16>"}, gmBound(plane, plane / 4));
    run("copy of heads 1x12x3152x64", "kernel.copy %0, %1 : $0, $1",
        {"memref<12x3152x64xf16, strided<[64, 768, 1]>>", "memref<12x3152x64xf16>"},
        gmBound(3152. * 768 * 2, 3152. * 768 * 2));
    run("transpose 3152x768", "kernel.copy %0, %1 : $0, $1",
        {"memref<768x3152xf16, strided<[1, 768]>>", "memref<768x3152xf16>"},
        gmBound(3152. * 768 * 2, 3152. * 768 * 2));
    run("mean of 16x80x7x7x16",
        "kernel.reduce %0, %1 {kind = #graph<reduce_kind mean>, axes = array<i64: 2, 3>} : $0, $1",
        {"memref<16x80x7x7x16xf16>", "memref<16x80x1x1x16xf16>"},
        gmBound(16. * 80 * 49 * 32, 16. * 80 * 32));
  }
}
