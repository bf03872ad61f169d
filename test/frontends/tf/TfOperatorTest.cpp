//===-- TfOperatorTest.cpp - operators that are composed of graph ops -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "test/frontends/tf/GraphOfConstants.h"

using namespace mlir;
using namespace atc::tf_test;

namespace {

using Dims = std::vector<int64_t>;

} // namespace

TEST_CASE("Segments combine rows by number") {
  auto segments = [](const std::string &op) {
    Graph graph;
    graph.floats("x", {4, 2}, {1, 2, 3, 4, 5, 6, -7, 8}).ints("ids", {4}, {0, 0, 3, 3});
    return graph.node(op, "x ids").evaluate();
  };
  CHECK(segments("SegmentSum") == Numbers{4, 6, 0, 0, 0, 0, -2, 14});
  CHECK(segments("SegmentMean") == Numbers{2, 3, 0, 0, 0, 0, -1, 7});
  CHECK(segments("SegmentMax") == Numbers{3, 4, 0, 0, 0, 0, 5, 8});
  CHECK(segments("SegmentMin") == Numbers{1, 2, 0, 0, 0, 0, -7, 6});
  CHECK(segments("SegmentProd") == Numbers{3, 8, 1, 1, 1, 1, -35, 48});

  auto unsorted = [](const std::string &op) {
    Graph graph;
    graph.floats("x", {4}, {1, 2, 3, 4}).ints("ids", {4}, {2, 0, -1, 2}).ints("n", {}, {3});
    return graph.node(op, "x ids n").evaluate();
  };
  double max = std::numeric_limits<float>::max();
  CHECK(unsorted("UnsortedSegmentSum") == Numbers{2, 0, 5});
  CHECK(unsorted("UnsortedSegmentProd") == Numbers{2, 1, 4});
  CHECK(unsorted("UnsortedSegmentMax") == Numbers{2, -max, 4});
  CHECK(unsorted("UnsortedSegmentMin") == Numbers{2, max, 1});
  Graph falling;
  falling.floats("x", {2}, {1, 2}).ints("ids", {2}, {1, 0}).node("SegmentSum", "x ids");
  CHECK(falling.errorText().find("does not rise") != std::string::npos);
}

TEST_CASE("Scatter changes rows") {
  auto scatter = [](const std::string &op) {
    Graph graph;
    graph.floats("v", {3, 2}, {8, 8, 6, 6, 4, 4}).ints("at", {3}, {2, 0, 2});
    graph.floats("u", {3, 2}, {1, 2, 2, 4, 4, 8});
    return graph.node(op, "v at u").evaluate();
  };
  CHECK(scatter("ScatterAdd") == Numbers{10, 12, 6, 6, 9, 14});
  CHECK(scatter("ScatterSub") == Numbers{6, 4, 6, 6, -1, -6});
  CHECK(scatter("ScatterMul") == Numbers{16, 32, 6, 6, 16, 64});
  CHECK(scatter("ScatterDiv") == Numbers{4, 2, 6, 6, 1, .25});
  CHECK(scatter("ScatterMin") == Numbers{2, 4, 6, 6, 1, 2});
  CHECK(scatter("ScatterMax") == Numbers{8, 8, 6, 6, 4, 8});
  CHECK(scatter("ScatterUpdate") == Numbers{2, 4, 6, 6, 4, 8});

  auto scatterNd = [](const std::string &op) {
    Graph graph;
    graph.floats("v", {2, 2}, {1, 2, 3, 4}).ints("at", {3, 2}, {0, 1, 1, 0, 0, 1});
    return graph.floats("u", {3}, {10, 20, 30}).node(op, "v at u").evaluate();
  };
  for (std::string stem : {"ScatterNd", "TensorScatter"}) {
    CHECK(scatterNd(stem + "Add") == Numbers{1, 42, 23, 4});
    CHECK(scatterNd(stem + "Sub") == Numbers{1, -38, -17, 4});
    CHECK(scatterNd(stem + "Update") == Numbers{1, 30, 20, 4});
  }
  Graph made;
  made.ints("at", {2, 1}, {3, 1}).floats("u", {2, 2}, {1, 2, 3, 4}).ints("s", {2}, {4, 2});
  CHECK(made.node("ScatterNd", "at u s").evaluate() == Numbers{0, 0, 3, 4, 0, 0, 1, 2});
  Graph outside;
  outside.ints("at", {1, 1}, {4}).floats("u", {1}, {1}).ints("s", {1}, {4});
  CHECK(outside.node("ScatterNd", "at u s").errorText().find("index 4, out of range") !=
        std::string::npos);
  Graph sparse;
  sparse.ints("at", {2, 2}, {0, 1, 0, 1}).ints("u", {2}, {1, 5}).ints("s", {2}, {2, 2});
  sparse.ints("d", {2, 2}, {1, 1, 1, 1});
  CHECK(sparse.node("SparseTensorDenseAdd", "at u s d").evaluate() == Numbers{1, 7, 1, 1});
  Graph gather;
  gather.floats("v", {2, 2}, {1, 2, 3, 4}).ints("at", {3, 2}, {1, 0, 0, 1, 1, 1});
  CHECK(gather.node("GatherNd", "v at").evaluate() == Numbers{3, 2, 4});
}

TEST_CASE("Gather refuses constant indices that are out of range") {
  // TensorFlow counts no indices from the end.
  for (int index : {7, 3, -1}) {
    Graph graph;
    graph.floats("v", {3, 1}, {1, 2, 3}).ints("at", {2}, {0, double(index)}).ints("axis", {}, {0});
    const std::string expected =
        "has the index " + std::to_string(index) + ", out of range for axis 0 of 3 elements";
    CHECK(graph.node("GatherV2", "v at axis").errorText().find(expected) != std::string::npos);
  }
}

TEST_CASE("An Assign initialises a variable that nothing else reads") {
  Graph graph;
  graph.floats("v", {2}, {0, 0}).floats("x", {2}, {3, 4}).node("Assign", "v x");
  CHECK(graph.evaluate() == Numbers{3, 4});
  graph.node("Add", "y v", "", "z");
  CHECK(graph.errorText("z").find("changes 'v', which other nodes read") != std::string::npos);
}

TEST_CASE("Elements are counted") {
  Graph counts;
  counts.ints("x", {4}, {1, 3, 1, 9}).ints("n", {}, {4}).ints("w", {0}, {});
  CHECK(counts.node("Bincount", "x n w").evaluate() == Numbers{0, 2, 0, 1});
  Graph sums;
  sums.ints("x", {3}, {1, 0, 1}).ints("n", {}, {2}).floats("w", {3}, {.5, 2, 1});
  CHECK(sums.node("Bincount", "x n w").evaluate() == Numbers{2, 1.5});
  Graph histogram;
  histogram.floats("x", {6}, {-1, 0, 1.5, 2, 5, 15}).floats("r", {2}, {0, 5}).ints("n", {}, {5});
  CHECK(histogram.node("HistogramFixedWidth", "x r n").evaluate() == Numbers{2, 1, 1, 0, 2});
}

TEST_CASE("A range of quantized numbers moves to 0") {
  Graph above;
  above.floats("x", {5}, {-1, 0, .25, 1.75, 9}).floats("l", {}, {1}).floats("h", {}, {8});
  above.node("FakeQuantWithMinMaxVars", "x l h", "num_bits i: 3");
  CHECK(above.evaluate() == Numbers{0, 0, 0, 2, 7});
  Graph below;
  below.floats("x", {5}, {1, 0, -.25, -1.75, -9}).floats("l", {}, {-8}).floats("h", {}, {-1});
  below.node("FakeQuantWithMinMaxVars", "x l h", "num_bits i: 3");
  CHECK(below.evaluate() == Numbers{0, 0, 0, -2, -7});
  Graph none;
  none.floats("x", {1}, {1}).floats("l", {}, {2}).floats("h", {}, {2});
  const std::string error = none.node("FakeQuantWithMinMaxVars", "x l h").errorText();
  CHECK(error.find("has the range [2.00, 2.00], whose end must be above its begin") !=
        std::string::npos);
}

TEST_CASE("Rows are parted and joined by number") {
  Graph parts;
  parts.floats("x", {3, 1}, {1, 2, 3}).ints("p", {3}, {1, 0, 1});
  parts.node("DynamicPartition", "x p", "num_partitions i: 2");
  CHECK(parts.evaluate() == Numbers{2});
  CHECK(parts.evaluate("y:1") == Numbers{1, 3});
  for (std::string op : {"DynamicStitch", "ParallelDynamicStitch"}) {
    Graph stitch;
    stitch.ints("i", {2}, {2, 0}).ints("j", {1}, {1});
    stitch.floats("a", {2, 1}, {1, 2}).floats("b", {1, 1}, {3});
    CHECK(stitch.node(op, "i j a b").evaluate() == Numbers{2, 3, 1});
  }
}

TEST_CASE("Running sums and products") {
  auto scan = [](const std::string &op, const std::string &attributes) {
    Graph graph;
    graph.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("axis", {}, {1});
    return graph.node(op, "x axis", attributes).evaluate();
  };
  CHECK(scan("Cumsum", "") == Numbers{1, 3, 6, 4, 9, 15});
  CHECK(scan("Cumsum", "exclusive b: true") == Numbers{0, 1, 3, 0, 4, 9});
  CHECK(scan("Cumsum", "reverse b: true") == Numbers{6, 5, 3, 15, 11, 6});
  CHECK(scan("Cumprod", "") == Numbers{1, 2, 6, 4, 20, 120});
  CHECK(scan("Cumprod", "exclusive b: true; reverse b: true") == Numbers{6, 3, 1, 30, 6, 1});
}

TEST_CASE("Sorted positions") {
  Graph graph;
  graph.floats("x", {2, 4}, {3, 9, 3, 1, 5, 6, 7, 8}).ints("k", {}, {3}).node("TopKV2", "x k");
  CHECK(graph.evaluate() == Numbers{9, 3, 3, 8, 7, 6});
  CHECK(graph.evaluate("y:1") == Numbers{1, 0, 2, 3, 2, 1});
  Graph old;
  old.floats("x", {3}, {3, 9, 4}).node("TopK", "x", "k i: 1");
  CHECK(old.evaluate() == Numbers{9});
  Graph nth;
  nth.floats("x", {4}, {3, 9, 3, 1}).ints("n", {}, {1}).node("NthElement", "x n");
  CHECK(nth.evaluate() == Numbers{3});
  nth.node("NthElement", "x n", "reverse b: true", "z");
  CHECK(nth.evaluate("z") == Numbers{3});
  Graph tooMany;
  tooMany.floats("x", {2}, {1, 2}).ints("k", {}, {3}).node("TopKV2", "x k");
  CHECK(tooMany.errorText().find("asks for 3 of 2 elements") != std::string::npos);
}

TEST_CASE("Diagonals") {
  Graph diag;
  diag.floats("d", {2}, {5, 6}).node("MatrixDiag", "d").node("Diag", "d", "", "z");
  CHECK(diag.evaluate() == Numbers{5, 0, 0, 6});
  CHECK(diag.evaluate("z") == Numbers{5, 0, 0, 6});
  Graph set;
  set.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("d", {2}, {-1, -2});
  set.node("MatrixSetDiag", "x d").node("MatrixDiagPart", "x", "", "part");
  CHECK(set.evaluate() == Numbers{-1, 2, 3, 4, -2, 6});
  CHECK(set.evaluate("part") == Numbers{1, 5});
  set.ints("lower", {}, {0})
      .ints("upper", {}, {-1})
      .node("MatrixBandPart", "x lower upper", "", "band");
  CHECK(set.evaluate("band") == Numbers{1, 2, 3, 0, 5, 6});
}

TEST_CASE("Several diagonals") {
  // Values are TensorFlow's.
  auto make = [](Graph &graph, const Numbers &numbers, const std::string &op,
                 const std::string &inputs, const std::string &attributes) {
    graph.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("k", {2}, numbers).floats("fill", {}, {9});
    graph.floats("d", {3, 2}, {-1, -2, -3, -4, -5, -6})
        .ints("own", {}, {-1})
        .floats("v", {3}, {7, 7, 7});
    graph.ints("rows", {}, {2}).ints("columns", {}, {3}).ints("few", {}, {1}).ints("many", {}, {4});
    graph.node(op, inputs, attributes);
  };
  auto valuesOf = [&](const Numbers &numbers, const std::string &op, const std::string &inputs,
                      const std::string &attributes = "") {
    Graph graph;
    make(graph, numbers, op, inputs, attributes);
    return graph.evaluate();
  };
  CHECK(valuesOf({-1, 1}, "MatrixDiagPartV3", "x k fill") == Numbers{2, 6, 1, 5, 4, 9});
  CHECK(valuesOf({-1, 1}, "MatrixDiagPartV3", "x k fill", "align s: 'LEFT_RIGHT'") ==
        Numbers{2, 6, 1, 5, 9, 4});
  CHECK(valuesOf({1, 2}, "MatrixDiagPartV3", "x k fill") == Numbers{9, 3, 2, 6});
  CHECK(valuesOf({1, 2}, "MatrixDiagPartV2", "x k fill") == Numbers{3, 9, 2, 6});
  CHECK(valuesOf({-1, 1}, "MatrixSetDiagV3", "x d k") == Numbers{-3, -1, 3, -5, -4, -2});
  CHECK(valuesOf({-1, 1}, "MatrixDiagV3", "d k rows columns fill") ==
        Numbers{-3, -1, 9, -5, -4, -2});
  CHECK(valuesOf({-1, 1}, "MatrixDiagV3", "d k own own fill") == Numbers{-3, -2, -5, -4});
  CHECK(valuesOf({0, 0}, "MatrixDiagV3", "d k rows columns fill") ==
        Numbers{-1, 9, 9, 9, -2, 9, -3, 9, 9, 9, -4, 9, -5, 9, 9, 9, -6, 9});
  auto errorOf = [&](const Numbers &numbers, const std::string &op, const std::string &inputs,
                     const std::string &attributes, const std::string &message) {
    Graph graph;
    make(graph, numbers, op, inputs, attributes);
    const std::string text = graph.errorText();
    INFO(text);
    CHECK(text.find(message) != std::string::npos);
  };
  errorOf({1, 0}, "MatrixDiagPartV3", "x k fill", "", "expected the number of a diagonal");
  errorOf({0, 3}, "MatrixDiagPartV3", "x k fill", "",
          "asks for diagonal 3 of a matrix with 3 columns");
  errorOf({-2, 1}, "MatrixSetDiagV3", "x d k", "", "asks for diagonal -2 of a matrix with 2 rows");
  errorOf({0, 1}, "MatrixDiagV3", "d k own own fill", "",
          "has 3 diagonals, expected 2 from 0 to 1");
  errorOf({-1, 1}, "MatrixDiagV3", "d k few own fill", "", "is 1, expected at least 2");
  errorOf({-1, 1}, "MatrixDiagV3", "d k many many fill", "", "too short for 4 rows and 4 columns");
  errorOf({0, 1}, "MatrixSetDiagV3", "x d k", "", "has 3 diagonals, expected 2");
  errorOf({3, 3}, "MatrixSetDiagV3", "x v k", "", "asks for diagonal 3 of a matrix");
  errorOf({0, 0}, "MatrixSetDiagV3", "x v k", "", "has the shape [3], expected [2]");
  errorOf({-1, 1}, "MatrixSetDiagV3", "x d k", "align s: 'CENTER'",
          "is 'CENTER', expected RIGHT_LEFT");
}

TEST_CASE("Sequences and lists") {
  Graph reverse;
  reverse.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("n", {2}, {2, 3});
  reverse.node("ReverseSequence", "x n", "seq_dim i: 1; batch_dim i: 0");
  CHECK(reverse.evaluate() == Numbers{2, 1, 3, 6, 5, 4});
  Graph where;
  where.constant("c", "BOOL", {2, 2}, {0, 1, 1, 0}).node("Where", "c");
  CHECK(where.evaluate() == Numbers{0, 1, 1, 0});
  CHECK(where.shape == Dims{2, 2});
  Graph difference;
  difference.ints("a", {4}, {1, 2, 3, 4}).ints("b", {2}, {3, 1}).node("ListDiff", "a b");
  CHECK(difference.evaluate() == Numbers{2, 4});
  CHECK(difference.evaluate("y:1") == Numbers{1, 3});
  Graph linear;
  linear.floats("a", {}, {1}).floats("b", {}, {2}).ints("n", {}, {5}).node("LinSpace", "a b n");
  CHECK(linear.evaluate() == Numbers{1, 1.25, 1.5, 1.75, 2});
  Graph args;
  args.ints("a", {3}, {2, 1, 4}).ints("b", {2}, {3, 1}).node("BroadcastArgs", "a b");
  CHECK(args.evaluate() == Numbers{2, 3, 4});
  Graph cross;
  cross.floats("a", {3}, {1, 0, 0}).floats("b", {3}, {0, 1, 0}).node("Cross", "a b");
  CHECK(cross.evaluate() == Numbers{0, 0, 1});
}

TEST_CASE("Padding by mirrors and by a value given later") {
  Graph symmetric;
  symmetric.floats("x", {3}, {1, 2, 3}).ints("p", {1, 2}, {2, 1});
  symmetric.node("MirrorPad", "x p", "mode s: 'SYMMETRIC'");
  CHECK(symmetric.evaluate() == Numbers{2, 1, 1, 2, 3, 3});
  Graph wide;
  wide.constant("x", "INT64", {1}, {5}).ints("p", {1, 2}, {1, 1}).constant("v", "INT64", {}, {-3});
  CHECK(wide.node("PadV2", "x p v").evaluate() == Numbers{-3, 5, -3});
  Graph later;
  later.floats("x", {1}, {5}).ints("p", {1, 2}, {1, 0}).input("v", "FLOAT", {});
  later.node("PadV2", "x p v").import("y");
  CHECK_FALSE(later.main().getOps<atc::graph::WhereOp>().empty());
}

TEST_CASE("Windows as slices") {
  Graph patches;
  patches.floats("x", {1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::string attributes = "ksizes list { i: [1, 2, 2, 1] }; strides list { i: [1, 1, 1, 1] }; "
                           "rates list { i: [1, 1, 1, 1] }; padding s: 'VALID'";
  patches.node("ExtractImagePatches", "x", attributes);
  CHECK(patches.evaluate() == Numbers{1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  patches.floats("f", {2, 2, 1}, {0, 10, 0, 0});
  patches.node("Dilation2D", "x f", attributes, "z");
  CHECK(patches.evaluate("z") == Numbers{12, 13, 15, 16});

  Graph volume;
  volume.floats("x", {1, 2, 2, 1, 1}, {1, 2, 3, 4})
      .floats("f", {2, 2, 1, 1, 1}, {1, 10, 100, 1000});
  std::string same = "strides list { i: [1, 1, 1, 1, 1] }; padding s: 'SAME'";
  CHECK(volume.node("Conv3D", "x f", same).evaluate() == Numbers{4321, 402, 43, 4});
  std::string pool = same + "; ksize list { i: [1, 2, 2, 1, 1] }";
  volume.node("MaxPool3D", "x", pool, "max").node("AvgPool3D", "x", pool, "mean");
  CHECK(volume.evaluate("max") == Numbers{4, 4, 4, 4});
  CHECK(volume.evaluate("mean") == Numbers{2.5, 3, 3.5, 4});

  Graph given;
  given.floats("x", {1, 2, 2, 1}, {1, 2, 3, 4}).input("f", "FLOAT", {2, 2, 1, 3});
  std::string flat = "strides list { i: [1, 1, 1, 1] }; padding s: 'VALID'";
  given.node("Conv2D", "x f", flat).node("DepthwiseConv2dNative", "x f", flat, "z").import("y");
  CHECK(given.main().getOps<atc::graph::ConvOp>().empty());
  CHECK_FALSE(given.main().getOps<atc::graph::MatMulOp>().empty());
  given.import("z");
  CHECK(given.main().getOps<atc::graph::ConvOp>().empty());
}

TEST_CASE("Losses and angles") {
  Graph loss;
  loss.floats("x", {1, 2}, {0, 0}).floats("l", {1, 2}, {.25, .75}).ints("c", {1}, {1});
  loss.node("SoftmaxCrossEntropyWithLogits", "x l");
  loss.node("SparseSoftmaxCrossEntropyWithLogits", "x c", "", "z");
  CHECK(loss.evaluate()[0] == Approx(0.693147));
  CHECK(loss.evaluate("y:1") == Numbers{.25, -.25});
  CHECK(loss.evaluate("z")[0] == Approx(0.693147));
  CHECK(loss.evaluate("z:1") == Numbers{.5, -.5});
  Graph angle;
  angle.floats("a", {6}, {1, 1, -1, -1, 0, 1}).floats("b", {6}, {1, -1, -1, 1, 0, 0});
  Numbers got = angle.node("Atan2", "a b").evaluate();
  Numbers want{.785398, 2.356194, -2.356194, -.785398, 0, 1.570796};
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(got[i] == Approx(want[i]));
}

TEST_CASE("Integers are multiplied without a kernel for them") {
  Graph graph;
  graph.ints("a", {2, 2}, {1, 2, 3, 4}).ints("b", {2, 2}, {1, 1, 0, 1}).node("MatMul", "a b");
  CHECK(graph.evaluate() == Numbers{1, 3, 3, 7});
}

TEST_CASE("Systems of equations and special functions") {
  auto solve = [](const std::string &op, const std::string &attributes) {
    Graph graph;
    graph.floats("a", {2, 2}, {2, 1, 0, 4}).floats("b", {2, 1}, {4, 8});
    return graph.node(op, "a b", attributes).evaluate();
  };
  CHECK(solve("MatrixSolve", "") == Numbers{1, 2});
  CHECK(solve("MatrixSolve", "adjoint b: true") == Numbers{2, 1.5});
  // Only the triangle that is asked for is read.
  CHECK(solve("MatrixTriangularSolve", "") == Numbers{2, 2});
  CHECK(solve("MatrixTriangularSolve", "lower b: false") == Numbers{1, 2});
  CHECK(solve("MatrixTriangularSolve", "lower b: false; adjoint b: true") == Numbers{2, 1.5});

  Graph graph;
  graph.floats("x", {2, 2}, {4, 0, 2, 5}).node("Cholesky", "x", "", "l");
  CHECK(graph.evaluate("l") == Numbers{2, 0, 1, 2});
  graph.floats("p", {1}, {1}).node("Lgamma", "p", "", "g").node("BesselI1", "zero", "", "i1");
  CHECK(graph.evaluate("g") == Numbers{0});
  CHECK(graph.floats("zero", {1}, {0}).evaluate("i1") == Numbers{0});
  graph.ints("n", {2}, {0, 5}).node("Invert", "n", "", "inverted");
  CHECK(graph.evaluate("inverted") == Numbers{-1, -6});
  graph.ints("dims", {4}, {1, 2, 3, 4}).node("DataFormatVecPermute", "dims", "", "nchw");
  CHECK(graph.evaluate("nchw") == Numbers{1, 4, 2, 3});
}

TEST_CASE("Both sides of a condition are computed, Merge chooses") {
  auto condition = [](bool value) {
    Graph graph;
    graph.constant("p", "BOOL", {}, {double(value)}).floats("x", {2}, {1, 2});
    graph.node("Switch", "x p", "", "s").node("Neg", "s:1", "", "t").node("Add", "s s", "", "f");
    return graph.node("Merge", "f t").evaluate();
  };
  CHECK(condition(true) == Numbers{-1, -2});
  CHECK(condition(false) == Numbers{2, 4});

  Graph later;
  later.input("p", "BOOL", {}).floats("x", {2}, {1, 2}).node("Switch", "x p", "", "s");
  later.node("Neg", "s:1", "", "t").node("Merge", "s t").import("y");
  CHECK_FALSE(later.main().getOps<atc::graph::WhereOp>().empty());
  CHECK(later.errorText("t").find("exists only on one side") != std::string::npos);
  later.node("Merge", "x s", "", "z");
  CHECK(later.errorText("z").find("not the two sides of one condition") != std::string::npos);

  // A constant is on the side that its control input names.
  Graph sided;
  sided.constant("p", "BOOL", {}, {1}).node("Switch", "p p", "", "s");
  sided.node("Identity", "s:1", "", "on").node("Identity", "s", "", "off");
  sided.floats("a0", {}, {7}).floats("b0", {}, {8});
  sided.node("Identity", "a0 ^on", "", "a").node("Identity", "b0 ^off", "", "b");
  CHECK(sided.node("Merge", "b a").evaluate() == Numbers{7});
  CHECK(sided.evaluate("y:1") == Numbers{1});
}

TEST_CASE("Arrays whose indices are known") {
  Graph graph;
  graph.ints("n", {}, {2}).ints("zero", {}, {0}).ints("one", {}, {1}).ints("both", {2}, {1, 0});
  graph.floats("x", {2}, {1, 2}).floats("z", {2}, {3, 4}).floats("m", {2, 2}, {5, 6, 7, 8});
  graph.node("TensorArrayV3", "n", "", "h");
  graph.node("TensorArrayWriteV3", "h zero x h:1", "", "w0");
  graph.node("TensorArrayWriteV3", "h one z w0", "", "w1").node("Identity", "w1", "", "state");
  graph.node("TensorArrayReadV3", "h one state").node("TensorArraySizeV3", "h w1", "", "size");
  graph.node("TensorArrayGatherV3", "h both w1", "", "g");
  graph.node("TensorArrayConcatV3", "h w1", "", "c");
  graph.node("TensorArrayScatterV3", "h both m h:1", "", "s")
      .node("TensorArrayReadV3", "h one s", "", "sr");
  graph.constant("l", "INT64", {2}, {1, 1}).node("TensorArraySplitV3", "h m l h:1", "", "p");
  graph.node("TensorArrayReadV3", "h one p", "", "pr")
      .node("TensorArrayReadV3", "h one w0", "", "gone");
  CHECK(graph.evaluate() == Numbers{3, 4});
  CHECK(graph.evaluate("size") == Numbers{2});
  CHECK(graph.evaluate("g") == Numbers{3, 4, 1, 2});
  CHECK(graph.evaluate("c") == Numbers{1, 2, 3, 4});
  CHECK(graph.evaluate("c:1") == Numbers{2, 2});
  CHECK(graph.evaluate("sr") == Numbers{5, 6});
  CHECK(graph.evaluate("pr") == Numbers{7, 8});
  CHECK(graph.errorText("gone").find("which was not written") != std::string::npos);
}

TEST_CASE("Recurrent cells") {
  // All weights are 0: every gate is 1/2, every new input 0.
  Graph gru;
  gru.floats("x", {1, 1}, {1}).floats("h", {1, 1}, {4}).floats("wg", {2, 2}, {0, 0, 0, 0});
  gru.floats("w", {2, 1}, {0, 0}).floats("bg", {2}, {0, 0}).floats("b", {1}, {0});
  gru.node("GRUBlockCell", "x h wg w bg b");
  CHECK(gru.evaluate("y") == Numbers{.5});
  CHECK(gru.evaluate("y:3") == Numbers{2});

  Graph lstm;
  lstm.floats("x", {1, 1}, {1}).floats("c", {1, 1}, {2}).floats("h", {1, 1}, {0});
  lstm.floats("w", {2, 4}, Numbers(8, 0)).floats("p", {1}, {0}).floats("b", {4}, Numbers(4, 0));
  lstm.node("LSTMBlockCell", "x c h w p p p b", "forget_bias f: 0; cell_clip f: 0");
  CHECK(lstm.evaluate("y:1") == Numbers{1});
  CHECK(lstm.evaluate("y:6")[0] == Approx(.5 * std::tanh(1.0)));
  lstm.constant("n", "INT64", {}, {2}).floats("xs", {3, 1, 1}, {1, 1, 1});
  lstm.node("BlockLSTM", "n xs c h w p p p b", "forget_bias f: 0; cell_clip f: 0", "z");
  CHECK(lstm.evaluate("z:1") == Numbers{1, .5, 0});
}

TEST_CASE("Ranks that do not fit are refused") {
  Graph graph;
  graph.floats("s", {}, {1}).floats("x", {1, 1}, {1}).floats("v", {1}, {1}).ints("axis", {}, {0});
  graph.node("ConcatV2", "s s axis", "", "concat");
  CHECK(graph.errorText("concat").find("axis 0 is out of range") != std::string::npos);
  graph.node("GRUBlockCell", "x x v v v v", "", "gru");
  CHECK(graph.errorText("gru").find("node 'gru'") != std::string::npos);
}

TEST_CASE("Tensors without elements") {
  Graph graph;
  graph.floats("x", {0, 2}, {}).floats("one", {1, 2}, {1, 2}).ints("axis", {}, {0});
  graph.node("Acos", "x").node("ConcatV2", "x one x axis", "", "c");
  CHECK(graph.evaluate() == Numbers{});
  CHECK(graph.shape == Dims{0, 2});
  CHECK(graph.evaluate("c") == Numbers{1, 2});
  double infinity = std::numeric_limits<double>::infinity();
  auto reduced = [&](const std::string &op) {
    graph.node(op, "x axis", "", op);
    return graph.evaluate(op);
  };
  CHECK(reduced("Sum") == Numbers{0, 0});
  CHECK(reduced("Prod") == Numbers{1, 1});
  CHECK(reduced("Max") == Numbers{-infinity, -infinity});
  CHECK(reduced("Min") == Numbers{infinity, infinity});
  CHECK(reduced("EuclideanNorm") == Numbers{0, 0});
  CHECK(std::isnan(reduced("Mean")[0]));
  graph.constant("flags", "BOOL", {0}, {});
  graph.node("All", "flags axis", "", "all").node("Any", "flags axis", "", "any");
  CHECK(graph.evaluate("all") == Numbers{1});
  CHECK(graph.evaluate("any") == Numbers{0});
}

TEST_CASE("Training statistics are those of the batch") {
  auto statistics = [](const std::string &output, const std::string &factor) {
    Graph graph;
    graph.floats("x", {1, 2, 2, 1}, {1, 2, 3, 6}).floats("s", {1}, {2}).floats("o", {1}, {1});
    graph.floats("m", {1}, {8}).floats("v", {1}, {4});
    graph.node("FusedBatchNormV3", "x s o m v",
               "is_training b: true; epsilon f: 0.5; exponential_avg_factor f: " + factor);
    return graph.node("Identity", "y:" + output, "", "z").evaluate("z");
  };
  // The mean is 3, the variance 3.5.
  CHECK(statistics("0", "1") == Numbers{-1, 0, 1, 4});
  CHECK(statistics("1", "1") == Numbers{3});
  CHECK(statistics("2", "1").front() == Approx(3.5 * 4 / 3));
  CHECK(statistics("1", "0.25") == Numbers{6.75});
  CHECK(statistics("2", "0.25").front() == Approx(3 + 3.5 / 3));
  CHECK(statistics("4", "0.25") == Numbers{3.5});
  Graph empty;
  empty.input("x", "FLOAT", {1, 2, 2, 3}).floats("s", {3}, {2, 2, 2}).floats("m", {0}, {});
  empty.node("FusedBatchNormV3", "x s s m m", "is_training b: true; exponential_avg_factor f: 0.5");
  CHECK(empty.node("Identity", "y:1", "", "z").errorText("z").find("one per channel") !=
        std::string::npos);
}

TEST_CASE("Complex tensors are kept as two parts") {
  // c is [1 + 3i, 2 - 4i], d is `op` of `inputs`.
  auto part = [](const std::string &part, const std::string &op, const std::string &inputs) {
    Graph graph;
    graph.floats("a", {2}, {1, 2}).floats("b", {2}, {3, -4}).node("Complex", "a b", "", "c");
    return graph.node(op, inputs, "", "d").node(part, "d").evaluate();
  };
  CHECK(part("Real", "Mul", "c c") == Numbers{-8, -12});
  CHECK(part("Imag", "Mul", "c c") == Numbers{6, -16});
  CHECK(part("Imag", "Neg", "c") == Numbers{-3, 4});
  CHECK(part("Identity", "Shape", "c") == Numbers{2});
  CHECK(part("Imag", "RealDiv", "c c") == Numbers{0, 0});
  CHECK(part("Imag", "Conj", "c") == Numbers{-3, 4});
  CHECK(part("Imag", "Exp", "c").front() == Approx(std::exp(1) * std::sin(3)));
}

TEST_CASE("Complex tensors that have no meaning are refused") {
  Graph output;
  output.floats("a", {2}, {1, 2}).node("Complex", "a a");
  CHECK(output.errorText().find("'y' is complex; the outputs of a model are real") !=
        std::string::npos);
  Graph reader;
  reader.floats("a", {2}, {1, 2}).node("Complex", "a a", "", "c").node("Softplus", "c");
  CHECK(reader.errorText().find("(Softplus): reads a complex tensor") != std::string::npos);
  Graph loop;
  loop.input("a", "FLOAT", {2}).input("go", "BOOL", {}).node("Complex", "a a", "", "c");
  loop.node("Enter", "c", "frame_name s: 'f'", "e").node("Merge", "e k", "", "m");
  loop.node("Enter", "go", "frame_name s: 'f'; is_constant b: true", "t");
  loop.node("LoopCond", "t", "", "w").node("Switch", "m w", "", "s").node("Neg", "s:1", "", "b");
  loop.node("NextIteration", "b", "", "k").node("Exit", "s", "", "x").node("Real", "x");
  CHECK(loop.errorText().find("(Enter): reads a complex tensor") != std::string::npos);
  Graph real;
  real.floats("a", {2}, {1, 2}).node("ComplexAbs", "a");
  CHECK(real.errorText().find("is real, expected a complex tensor") != std::string::npos);
  Graph length;
  length.floats("a", {2}, {1, 2}).ints("n", {1}, {0}).node("RFFT", "a n", "", "c");
  CHECK(length.node("Real", "c").errorText().find("has the length 0") != std::string::npos);
}

TEST_CASE("Resizes and counts state what they need") {
  Graph kernel;
  kernel.floats("x", {1, 2, 2, 1}, {1, 2, 3, 4}).ints("s", {2}, {4, 4}).floats("f", {2}, {2, 2});
  kernel.floats("t", {2}, {0, 0}).node("ScaleAndTranslate", "x s f t", "kernel_type s: 'sinc'");
  CHECK(kernel.errorText().find("is 'sinc', expected lanczos1") != std::string::npos);
  Graph gray;
  gray.input("x", "FLOAT", {2, 2, 1}).node("RGBToHSV", "x");
  CHECK(gray.errorText().find("has 1 channels, expected 3") != std::string::npos);
  Graph soft;
  soft.input("b", "FLOAT", {5, 4}).input("s", "FLOAT", {5}).ints("m", {}, {3});
  soft.floats("o", {}, {0.5}).floats("d", {}, {-1});
  soft.node("NonMaxSuppressionV5", "b s m o o d");
  CHECK(soft.errorText().find("is no deviation of at least 0") != std::string::npos);
  Graph counts;
  counts.input("x", "INT32", {4}).ints("n", {}, {-3}).floats("w", {0}, {});
  counts.node("DenseBincount", "x n w");
  CHECK(counts.errorText().find("is -3, expected 0 to") != std::string::npos);
}

TEST_CASE("The hue of an image around zero turns as that of any other") {
  Graph graph;
  graph.floats("x", {1, 1, 2, 3}, {-.5, -.25, -1, .5, .75, 0}).floats("by", {}, {.5});
  const Numbers turned = graph.node("AdjustHue", "x by").evaluate();
  REQUIRE(turned.size() == 6);
  const Numbers wanted{-.75, -1, -.25, .25, 0, .75};
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(turned[i] == Approx(wanted[i]).margin(1e-5));
}

TEST_CASE("Of bounds that contradict each other the lower one holds") {
  for (bool isVector : {false, true}) {
    Graph graph;
    graph.floats("x", {3}, {-2, .5, 4});
    if (isVector)
      graph.floats("low", {3}, {1, 1, 1}).floats("high", {3}, {-1, -1, -1});
    else
      graph.floats("low", {}, {1}).floats("high", {}, {-1});
    CHECK(graph.node("ClipByValue", "x low high").evaluate() == Numbers{1, 1, 1});
  }
}

TEST_CASE("Angles know the signs of zeros, and the diagonals at infinity") {
  const double inf = std::numeric_limits<double>::infinity();
  const Numbers values = {-inf, -1, -0.0, 0, 2, inf};
  const auto size = static_cast<int64_t>(values.size());
  Graph graph;
  graph.floats("a", {size, 1}, values).floats("b", {1, size}, values).node("Atan2", "a b");
  const Numbers angles = graph.evaluate();
  for (size_t i = 0; i < angles.size(); ++i) {
    const double y = values[i / values.size()], x = values[i % values.size()];
    CAPTURE(y, x);
    CHECK(angles[i] == Approx(std::atan2(y, x)));
    CHECK(std::signbit(angles[i]) == std::signbit(std::atan2(y, x)));
  }
}

TEST_CASE("Diagonals that a matrix lacks are errors") {
  auto part = [](Graph &graph, double k) -> Graph & {
    graph.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("k", {}, {k}).floats("fill", {}, {0});
    return graph.node("MatrixDiagPartV2", "x k fill");
  };
  Graph right, left, beside, below;
  CHECK(part(right, 2).evaluate() == Numbers{3});
  CHECK(part(left, -1).evaluate() == Numbers{4});
  CHECK(part(beside, 3).errorText().find("asks for diagonal 3 of a matrix with 3 columns") !=
        std::string::npos);
  CHECK(part(below, -2).errorText().find("asks for diagonal -2 of a matrix with 2 rows") !=
        std::string::npos);
}
