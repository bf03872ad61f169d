//===-- PoolTest.cpp - max_pool and average_pool --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>

using namespace atc::graph::test;

namespace {

struct Pool {
  std::string op, kernel, strides, pads, dilations = "1", flags = "";
};

/// Pools one row; `flags` are further attributes.
Numbers poolRow(const Pool &pool, const std::string &values, int inputs, int outputs,
                const std::string &element = "f32") {
  std::string input = "tensor<1x1x" + std::to_string(inputs) + "x" + element + ">";
  std::string output = "tensor<1x1x" + std::to_string(outputs) + "x" + element + ">";
  return run(output, constant("x", "[[" + values + "]]", input) + "%r = graph." + pool.op +
                         " %x {kernel = array<i64: " + pool.kernel + ">, strides = array<i64: " +
                         pool.strides + ">, pads = array<i64: " + pool.pads +
                         ">, dilations = array<i64: " + pool.dilations + ">" + pool.flags +
                         "} : (" + input + ") -> " + output);
}

const std::string five = "[1.0, 5.0, 2.0, 4.0, 3.0]", ceilMode = ", ceil_mode = true",
                  includePad = ", count_include_pad = true";

} // namespace

TEST_CASE("max_pool: floor and ceil mode", "[pool]") {
  CHECK(poolRow({"max_pool", "2", "2", "0, 0"}, five, 5, 2) == Numbers{5, 4});
  CHECK(poolRow({"max_pool", "2", "2", "0, 0", "1", ceilMode}, five, 5, 3) == Numbers{5, 4, 3});
  // The third window would start behind the input: it is left out.
  CHECK(poolRow({"max_pool", "2", "3", "1, 1", "1", ceilMode}, "[1.0, 5.0, 2.0, 4.0]", 4, 2) ==
        Numbers{1, 4});
}

TEST_CASE("max_pool: padding never wins", "[pool]") {
  CHECK(poolRow({"max_pool", "3", "2", "1, 1"}, "[-1.0, -5.0, -2.0]", 3, 2) == Numbers{-1, -2});
  CHECK(poolRow({"max_pool", "3", "2", "1, 1"}, "[-100, -128, -120]", 3, 2, "i8") ==
        Numbers{-100, -120});
  CHECK(poolRow({"max_pool", "2", "1", "1, 0"}, "[200, 100]", 2, 2, "ui8") == Numbers{200, 200});
}

TEST_CASE("max_pool: dilations and two dims", "[pool]") {
  CHECK(poolRow({"max_pool", "2", "1", "0, 0", "3"}, five, 5, 2) == Numbers{4, 5});
  CHECK(run("tensor<1x1x2x1xf32>",
            constant("x", "[[[[1.0, 2.0], [3.0, 0.0], [7.0, 5.0]]]]", "tensor<1x1x3x2xf32>") +
                "%r = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, "
                "pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : "
                "(tensor<1x1x3x2xf32>) -> tensor<1x1x2x1xf32>") == Numbers{3, 7});
}

TEST_CASE("average_pool: what counts", "[pool]") {
  std::string three = "[3.0, 6.0, 9.0]", four = "[1.0, 2.0, 3.0, 4.0]";
  checkClose(poolRow({"average_pool", "3", "1", "1, 1"}, three, 3, 3), {4.5, 6, 7.5});
  checkClose(poolRow({"average_pool", "3", "1", "1, 1", "1", includePad}, three, 3, 3), {3, 6, 5});
  // The last window of ceil mode reaches behind the padded input; what lies
  // there counts in no mode.
  checkClose(poolRow({"average_pool", "3", "2", "0, 0", "1", ceilMode}, four, 4, 2), {2, 3.5});
  checkClose(poolRow({"average_pool", "3", "2", "0, 0", "1", ceilMode + includePad}, four, 4, 2),
             {2, 3.5});
  checkClose(poolRow({"average_pool", "3", "2", "0, 1", "1", includePad}, four, 4, 2),
             {2, 7.0 / 3});
  checkClose(poolRow({"average_pool", "2", "1", "0, 0", "2"}, five, 5, 3), {1.5, 4.5, 2.5});
}
