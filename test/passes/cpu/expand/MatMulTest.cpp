//===-- MatMulTest.cpp - runs cpu.matmul kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/cpu/KernelRunner.h"

#include <catch2/catch.hpp>

using namespace atc::cpu;
using namespace atc::cpu::test;

namespace {

struct Shape {
  int64_t batch, lhsBatch, rhsBatch, rows, depth, columns;
};

void run(const Shape &s, bool packed, bool bias, const std::string &attributes,
         bool residual = false) {
  int64_t panels = (s.columns + 15) / 16;
  Buffer lhs = Buffer::random("f32", {s.lhsBatch, s.rows, s.depth});
  Buffer rhs = packed ? Buffer::random("f32", {panels, s.depth, 16})
                      : Buffer::random("f32", {s.rhsBatch, s.depth, s.columns});
  Buffer offsets = Buffer::random("f32", {panels * 16});
  Buffer out("f32", {s.batch, s.rows, s.columns}), expected = out;
  Buffer addend = Buffer::random("f32", out.shape());

  forEachPosition(out.shape(), [&](const Numbers &p) {
    double sum = bias ? offsets.get({p[2]}) : 0;
    for (int64_t k = 0; k < s.depth; ++k)
      sum += lhs.get({s.lhsBatch == 1 ? 0 : p[0], p[1], k}) *
             (packed ? rhs.get({p[2] / 16, k, p[2] % 16})
                     : rhs.get({s.rhsBatch == 1 ? 0 : p[0], k, p[2]}));
    sum += residual ? addend.get(p) : 0;
    expected.set(p, attributes.empty() ? sum : std::max(sum, 0.0));
  });

  OpText op("cpu.matmul %0, %1", {&lhs, &rhs});
  if (bias)
    op.add("bias", offsets);
  if (residual)
    op.add("residual", addend);
  op.add("outs", out);
  const std::string comma = packed && !attributes.empty() ? ", " : "";
  const std::string text = op.with((packed ? "packed" : "") + comma + attributes);
  for (const CpuLevel &level : levels()) {
    INFO(level.name << " " << text << " " << lhs.type() << " by " << rhs.type());
    Buffer actual = out;
    runOp(text, op.buffers(), level, actual, residual ? &addend : nullptr);
    // Longer sums round more often.
    checkClose(actual, expected, s.depth > 200 ? 1e-4 : 2e-5);
  }
}

} // namespace

TEST_CASE("matmul: packed weights", "[matmul]") {
  run({1, 1, 1, 1, 64, 16}, true, false, "");
  run({1, 1, 1, 1, 37, 1000}, true, true, "");
  run({1, 1, 1, 1, 7, 10}, true, true, "activation = #graph.activation<relu>");
  run({1, 1, 1, 13, 20, 40}, true, true, "");
  run({3, 3, 1, 5, 9, 70}, true, false, "activation = #graph.activation<relu>");
}

TEST_CASE("matmul: a sum in chunks, and panels that are prefetched", "[matmul]") {
  // Rows are more than half of the L2 of x86-64-v3.
  run({1, 1, 1, 70, 640, 80}, true, true, "activation = #graph.activation<relu>");
  run({1, 1, 1, 65, 640, 64}, true, false, "");
  run({1, 1, 1, 3, 640, 72}, true, true, "");
}

TEST_CASE("matmul: a residual in the memory of the result", "[matmul]") {
  run({1, 1, 1, 13, 20, 48}, true, true, "", true);
  run({1, 1, 1, 5, 9, 70}, true, false, "activation = #graph.activation<relu>", true);
  run({1, 1, 1, 70, 640, 80}, true, true, "activation = #graph.activation<relu>", true);
}

TEST_CASE("matmul: plain matrices", "[matmul]") {
  run({1, 1, 1, 4, 8, 16}, false, false, "");
  run({2, 2, 2, 4, 8, 5}, false, false, "");
  run({2, 1, 2, 7, 3, 33}, false, false, "");
  run({4, 4, 1, 1, 1, 1}, false, false, "");
  run({1, 1, 1, 20, 130, 48}, false, false, "activation = #graph.activation<relu>");
}
