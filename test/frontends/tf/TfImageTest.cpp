//===-- TfImageTest.cpp - projections of images, gradients of resizes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <numeric>

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

static Numbers counted(int64_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

static void checkNear(const Numbers &values, const Numbers &expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("Gradients of resizes go to the pixels that were read") {
  struct Case {
    const char *attributes;
    Numbers linear, nearest;
  };
  const Case cases[] = {
      {"align_corners b: false",
       {4.73333, 8.53333, 15.0667, 21.6667, 28.6667, 41.3333},
       {16, 24, 15, 23, 27, 15}},
      {"half_pixel_centers b: true", {7.3, 12.6, 15.1, 23.3, 30.6, 31.1}, {3, 3, 9, 36, 21, 48}},
      {"align_corners b: true", {6.75, 14, 14.25, 21.75, 34, 29.25}, {1, 5, 9, 17, 40, 48}},
  };
  for (const Case &c : cases) {
    INFO(c.attributes);
    Graph linear, nearest;
    linear.floats("g", {1, 3, 5, 1}, counted(15)).floats("x", {1, 2, 3, 1}, counted(6));
    checkNear(linear.node("ResizeBilinearGrad", "g x", c.attributes).evaluate(), c.linear);
    CHECK(linear.shape == std::vector<int64_t>{1, 2, 3, 1});
    nearest.floats("g", {1, 3, 5, 1}, counted(15)).ints("size", {2}, {2, 3});
    checkNear(nearest.node("ResizeNearestNeighborGrad", "g size", c.attributes).evaluate(),
              c.nearest);
  }
}

TEST_CASE("Gradients of means go to the pixels of a window that are no pads") {
  auto gradient = [](Graph &graph, int64_t height, int64_t width, const std::string &padding) {
    graph.ints("shape", {4}, {1, 3, 5, 1})
        .floats("g", {1, height, width, 1}, counted(height * width))
        .node("AvgPoolGrad", "shape g",
              "ksize list { i: 1 i: 3 i: 2 i: 1 }; strides list { i: 1 i: 2 i: 2 i: 1 }; "
              "padding s: '" +
                  padding + "'");
  };
  Graph same, valid, other;
  gradient(same, 2, 3, "SAME");
  checkNear(same.evaluate(),
            {0.25, 0.25, 0.5, 0.5, 1.5, 1.25, 1.25, 1.75, 1.75, 4.5, 1, 1, 1.25, 1.25, 3});
  gradient(valid, 1, 2, "VALID");
  const double sixth = 1.0 / 6, third = 1.0 / 3;
  checkNear(valid.evaluate(), {sixth, sixth, third, third, 0, sixth, sixth, third, third, 0, sixth,
                               sixth, third, third, 0});
  gradient(other, 2, 2, "VALID");
  CHECK(other.errorText().find("has 2 pixels along axis 1, expected 1") != std::string::npos);
}
