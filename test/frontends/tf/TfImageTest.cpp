//===-- TfImageTest.cpp - images that are rotated, sheared, projected -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/tf/GraphOfConstants.h"

using namespace mlir;
using namespace atc::tf_test;

// All expected values are TensorFlow's.

static Graph &project(Graph &graph, const std::string &method, const std::string &mode) {
  return graph.floats("x", {1, 3, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
      .floats("t", {1, 8}, {0.8, -0.6, 1.25, 0.6, 0.8, -2.5, 0.02, -0.01})
      .ints("size", {2}, {4, 3})
      .floats("fill", {}, {-1})
      .node("ImageProjectiveTransformV3", "x t size fill",
            "interpolation s: '" + method + "'; fill_mode s: '" + mode + "'");
}

TEST_CASE("Images are read where a projective transform says") {
  struct Case {
    const char *method, *mode;
    Numbers expected;
  };
  const Case cases[] = {
      {"NEAREST", "CONSTANT", {-1, -1, -1, -1, -1, 3, -1, 2, 3, -1, 5, 6}},
      {"NEAREST", "NEAREST", {2, 3, 4, 2, 2, 3, 1, 2, 3, 1, 5, 6}},
      {"NEAREST", "REFLECT", {10, 7, 4, 6, 2, 3, 1, 2, 3, 1, 5, 6}},
      {"NEAREST", "WRAP", {10, 7, 12, 6, 10, 11, 9, 10, 3, 12, 5, 6}},
      {"BILINEAR",
       "CONSTANT",
       {-1, -1, -1, -1, -1, 1.15317, -0.83257, 0.995, 3.79412, -0.223297, 3.27273, 6.39604}},
      {"BILINEAR",
       "NEAREST",
       {2.25, 3.0098, 3.74038, 1.65657, 2.43564, 3.18447, 1.05102, 1.85, 3.79412, 1, 3.27273,
        6.39604}},
      {"BILINEAR",
       "REFLECT",
       {8.25, 6.46078, 4.74038, 4.52525, 2.79208, 3.18447, 1.05102, 1.85, 3.79412, 1, 3.27273,
        6.39604}},
      {"BILINEAR",
       "WRAP",
       {10.25, 7.55882, 10.7404, 6.78788, 10.0792, 11.1845, 9.05102, 9.85, 3.79412, 12, 3.27273,
        6.39604}},
  };
  for (const Case &c : cases) {
    INFO(c.method << " " << c.mode);
    Graph graph;
    const Numbers values = project(graph, c.method, c.mode).evaluate();
    CHECK(graph.shape == std::vector<int64_t>{1, 4, 3, 1});
    REQUIRE(values.size() == c.expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == Approx(c.expected[i]).epsilon(1e-4));
  }
}

TEST_CASE("Positions many pixels outside are moved as often as that takes") {
  auto line = [](const std::string &mode) {
    Graph graph;
    return graph.floats("x", {1, 1, 4, 1}, {1, 2, 3, 4})
        .floats("t", {1, 8}, {2, 0, -9, 0, 1, 0, 0, 0})
        .ints("size", {2}, {1, 13})
        .node("ImageProjectiveTransformV2", "x t size",
              "interpolation s: 'NEAREST'; fill_mode s: '" + mode + "'")
        .evaluate();
  };
  CHECK(line("WRAP") == Numbers{4, 4, 4, 4, 4, 2, 4, 2, 1, 1, 1, 1, 1});
  CHECK(line("REFLECT") == Numbers{1, 2, 4, 3, 1, 2, 4, 3, 1, 2, 4, 3, 1});
  CHECK(line("CONSTANT") == Numbers{0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("Modes of projections that there are not are refused") {
  Graph method, mode;
  CHECK(
      project(method, "CUBIC", "WRAP").errorText().find("'CUBIC', expected NEAREST or BILINEAR") !=
      std::string::npos);
  CHECK(project(mode, "NEAREST", "MIRROR").errorText().find("'MIRROR', expected CONSTANT") !=
        std::string::npos);
}
