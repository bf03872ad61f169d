//===-- ResizeTest.cpp - resize in each mode ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include <catch2/catch.hpp>

using namespace atc::graph::test;

namespace {

struct Resize {
  std::string mode, coordinates, nearest = "floor", more = "";
};

/// Resamples one row of `inputs` numbers to `outputs`.
Numbers resizeRow(const Resize &resize, const std::string &values, int inputs, int outputs,
                  double scale) {
  std::string input = "tensor<1x1x" + std::to_string(inputs) + "xf32>";
  std::string output = "tensor<1x1x" + std::to_string(outputs) + "xf32>";
  return run(output, constant("x", "[[" + values + "]]", input) +
                         "%r = graph.resize %x {scales = array<f64: 1.0, 1.0, " +
                         std::to_string(scale) + ">, mode = #graph<resize_mode " + resize.mode +
                         ">, coordinates = #graph<coordinate_mode " + resize.coordinates +
                         ">, nearest = #graph<nearest_mode " + resize.nearest + ">" + resize.more +
                         "} : (" + input + ") -> " + output);
}

const std::string two = "[10.0, 20.0]", four = "[1.0, 2.0, 3.0, 4.0]";

} // namespace

TEST_CASE("resize: nearest", "[resize]") {
  // Coordinates 0, 0.5, 1, 1.5.
  CHECK(resizeRow({"nearest", "asymmetric", "floor"}, two, 2, 4, 2) == Numbers{10, 10, 20, 20});
  CHECK(resizeRow({"nearest", "asymmetric", "ceil"}, two, 2, 4, 2) == Numbers{10, 20, 20, 20});
  CHECK(resizeRow({"nearest", "asymmetric", "round_prefer_floor"}, two, 2, 4, 2) ==
        Numbers{10, 10, 20, 20});
  CHECK(resizeRow({"nearest", "asymmetric", "round_prefer_ceil"}, two, 2, 4, 2) ==
        Numbers{10, 20, 20, 20});
  // Coordinates 0.5, 2.5.
  CHECK(resizeRow({"nearest", "half_pixel", "round_prefer_floor"}, four, 4, 2, 0.5) ==
        Numbers{1, 3});
  CHECK(resizeRow({"nearest", "half_pixel", "round_prefer_ceil"}, four, 4, 2, 0.5) ==
        Numbers{2, 4});
}

TEST_CASE("resize: nearest keeps numbers that a double cannot hold", "[resize]") {
  CHECK(run("tensor<1x2xi64>",
            constant("x", "[[9007199254740993, -2]]", "tensor<1x2xi64>") +
                constant("y", "9007199254740992", "tensor<i64>") +
                "%s = graph.resize %x {scales = array<f64: 1.0, 2.0>, mode = #graph<resize_mode "
                "nearest>, coordinates = #graph<coordinate_mode asymmetric>, nearest = "
                "#graph<nearest_mode floor>} : (tensor<1x2xi64>) -> tensor<1x4xi64>\n"
                "%t = graph.sub %s, %y : (tensor<1x4xi64>, tensor<i64>) -> tensor<1x4xi64>\n"
                "%r = graph.slice %t {starts = array<i64: 0, 0>, sizes = array<i64: 1, 2>, steps = "
                "array<i64: 1, 1>} : (tensor<1x4xi64>) -> tensor<1x2xi64>") == Numbers{1, 1});
}

TEST_CASE("resize: linear", "[resize]") {
  std::string values = "[1.0, 3.0]";
  CHECK(resizeRow({"linear", "half_pixel"}, values, 2, 4, 2) == Numbers{1, 1.5, 2.5, 3});
  CHECK(resizeRow({"linear", "asymmetric"}, values, 2, 4, 2) == Numbers{1, 2, 3, 3});
  CHECK(resizeRow({"linear", "align_corners"}, values, 2, 3, 1.5) == Numbers{1, 2, 3});
  CHECK(resizeRow({"linear", "align_corners"}, values, 2, 1, 0.5) == Numbers{1});
  CHECK(resizeRow({"linear", "pytorch_half_pixel"}, four, 4, 1, 0.25) == Numbers{1});
  CHECK(resizeRow({"linear", "half_pixel"}, four, 4, 1, 0.25) == Numbers{2.5});
}

TEST_CASE("resize: linear in two dims", "[resize]") {
  CHECK(run("tensor<1x1x3x3xf32>",
            constant("x", "[[[[1.0, 2.0], [3.0, 6.0]]]]", "tensor<1x1x2x2xf32>") +
                "%r = graph.resize %x {scales = array<f64: 1.0, 1.0, 1.5, 1.5>, mode = "
                "#graph<resize_mode linear>, coordinates = #graph<coordinate_mode align_corners>, "
                "nearest = #graph<nearest_mode floor>} : (tensor<1x1x2x2xf32>) -> "
                "tensor<1x1x3x3xf32>") == Numbers{1, 1.5, 2, 2, 3, 4, 3, 4.5, 6});
}

TEST_CASE("resize: cubic", "[resize]") {
  // Position 2 lies at 0.75: weights -0.03515625, 0.26171875, 0.87890625,
  // -0.10546875 of the elements -1 (that is 0), 0, 1 and 2.
  Numbers result = resizeRow({"cubic", "half_pixel"}, four, 4, 8, 2);
  REQUIRE(result.size() == 8);
  CHECK(result[2] == Approx(1.66796875));
  // At the mirrored position the mirrored value.
  CHECK(result[5] == Approx(5 - 1.66796875));
  // With the coefficient -0.5: -0.0234375, 0.2265625, 0.8671875, -0.0703125.
  result = resizeRow({"cubic", "half_pixel", "floor", ", cubic_coefficient = -0.5"}, four, 4, 8, 2);
  CHECK(result[2] == Approx(-0.0234375 + 0.2265625 + 2 * 0.8671875 - 3 * 0.0703125));
}
