//===-- OlderOperatorTest.cpp - operators that are replaced by others -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "test/frontends/tf/GraphOfConstants.h"

using namespace atc::tf_test;

TEST_CASE("Older and fused operators become others") {
  auto norm = [](const std::string &op, const std::string &attributes) {
    Graph graph;
    graph.floats("x", {1, 1, 1, 2}, {3, -6})
        .floats("a", {2}, {1, 2})
        .floats("b", {2}, {2.75, 15.75});
    graph.floats("c", {2}, {10, -20}).floats("d", {2}, {4, 8}).floats("s", {1, 1, 1, 2}, {1, 17});
    return graph.node(op, "x " + std::string(op[0] == '_' ? "d c a b s" : "a b c d"), attributes)
        .evaluate();
  };
  const std::string ofVariables = "variance_epsilon f: 0.25; scale_after_normalization b: ";
  // (3 - 1) / sqrt(3), and (-6 - 2) / sqrt(16)
  const Numbers plain = norm("BatchNormWithGlobalNormalization", ofVariables + "false");
  CHECK(plain[0] == Approx(10 + 2 / std::sqrt(3.0)));
  CHECK(plain[1] == Approx(-22));
  CHECK(norm("BatchNormWithGlobalNormalization", ofVariables + "true")[1] == Approx(-36));
  const Numbers fused =
      norm("_FusedBatchNormEx", "epsilon f: 0.25; is_training b: false; "
                                "activation_mode s: 'Relu'; num_side_inputs i: 1");
  CHECK(fused[0] == Approx(10 + 8 / std::sqrt(3.0) + 1));
  CHECK(fused[1] == 0);
  Graph band;
  band.floats("x", {2, 2}, {1, 2, 3, 4}).ints("l", {}, {0}).ints("u", {}, {-1});
  CHECK(band.node("BatchMatrixBandPart", "x l u").evaluate() == Numbers{1, 2, 0, 4});
  Graph empty;
  empty.ints("s", {2}, {1, 2}).node("Empty", "s", "dtype type: DT_INT64; init b: true");
  CHECK(empty.evaluate() == Numbers{0, 0});
  // What is not complete stays, and is refused by its own name.
  Graph window;
  window.input("x", "FLOAT", {1, 4, 4, 1}).input("k", "INT32", {4}).ints("s", {4}, {1, 1, 1, 1});
  window.node("MaxPoolV2", "x k s", "padding s: 'SAME'");
  CHECK(window.errorText().find("MaxPoolV2") != std::string::npos);
}

TEST_CASE("Bits as elements of other widths") {
  Graph graph;
  graph.ints("x", {2}, {258, -2}).node("Bitcast", "x", "type type: DT_UINT8", "bytes");
  graph.node("Bitcast", "bytes", "type type: DT_INT32", "back");
  graph.node("Bitcast", "x", "type type: DT_INT64");
  CHECK(graph.evaluate("bytes") == Numbers{2, 1, 0, 0, 254, 255, 255, 255});
  CHECK(graph.evaluate("back") == Numbers{258, -2});
  CHECK(graph.evaluate() == Numbers{-8589934334.0});
  Graph odd;
  odd.ints("x", {3}, {1, 2, 3}).node("Bitcast", "x", "type type: DT_INT64");
  CHECK(odd.errorText().find("has 3 elements along its last dim, expected the 2") !=
        std::string::npos);
}

TEST_CASE("Crossed features have the same number of rows") {
  const std::string attributes = "hash_key i: 7; hashed_output b: true; num_buckets i: 10; N i: ";
  Graph graph;
  graph.input("at", "INT64", {3, 2}).input("v", "INT64", {3}).constant("s", "INT64", {2}, {2, 2});
  graph.input("d", "INT64", {5, 2}).node("SparseCross", "at v s d", attributes + "1");
  CHECK(graph.errorText().find("has 5 rows, expected 2") != std::string::npos);
  Graph many;
  many.input("at", "INT64", {3, 2}).input("v", "INT64", {3}).constant("s", "INT64", {2}, {2, 2});
  many.node("SparseCross", "at v s", attributes + "6148914691236517206");
  CHECK(many.errorText().find("which the inputs do not fit") != std::string::npos);
}

TEST_CASE("The shape of a sparse tensor has one open dim") {
  Graph graph;
  graph.input("at", "INT64", {2, 2}).constant("s", "INT64", {2}, {4, 4});
  graph.constant("n", "INT64", {3}, {-1, 2, -1}).node("SparseReshape", "at s n");
  CHECK(graph.errorText().find("leaves 2 dims open, expected at most one") != std::string::npos);
}
