//===-- TfSparseTest.cpp - sparse tensors of numbers and of labels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/tf/GraphOfConstants.h"

using namespace atc::tf_test;

TEST_CASE("Counts and sums that are sparse") {
  auto count = [](Graph &graph, std::initializer_list<int64_t> dims, const Numbers &values) {
    graph.ints("x", dims, values).floats("w", {0}, {});
    graph.node("DenseCountSparseOutput", "x w", "", "count");
    graph.node("Identity", "count:0", "", "positions").node("Identity", "count:2", "", "shape");
  };
  Graph rows, none, noColumns, negative;
  count(rows, {2, 2}, {1, 2, 2, 2});
  CHECK(rows.evaluate("positions") == Numbers{0, 1, 0, 2, 1, 2});
  CHECK(rows.evaluate("shape") == Numbers{2, 3});
  // Without numbers the largest one is 0, as TensorFlow says.
  count(none, {0}, {});
  CHECK(none.evaluate("shape") == Numbers{1});
  count(noColumns, {2, 0}, {});
  CHECK(noColumns.evaluate("shape") == Numbers{2, 1});
  // It would be counted in the row before.
  count(negative, {2, 2}, {1, 2, -1, 2});
  CHECK(negative.errorText("positions").find("'count'") != std::string::npos);

  for (const std::string op : {"SparseAdd", "SparseSparseMaximum", "SparseSparseMinimum"}) {
    auto join = [&](Graph &graph, double last) {
      graph.constant("a", "INT64", {1, 1}, {1}).floats("av", {1}, {1});
      graph.constant("as", "INT64", {1}, {8}).floats("least", {}, {0});
      graph.constant("b", "INT64", {1, 1}, {7}).floats("bv", {1}, {2});
      graph.constant("bs", "INT64", {1}, {last});
      graph.node(op, op == "SparseAdd" ? "a av as b bv bs least" : "a av as b bv bs", "", "sum");
      graph.node("Identity", "sum:0");
    };
    Graph same, other;
    join(same, 8);
    CHECK(same.evaluate() == Numbers{1, 7});
    join(other, 10);
    CHECK(other.errorText().find("is the shape [10], expected [8]") != std::string::npos);
  }
}

TEST_CASE("Beams have a bounded number of paths") {
  auto beams = [](const std::string &width, const std::string &paths) {
    Graph graph;
    graph.floats("x", {1, 1, 2}, {1, 2}).ints("n", {1}, {1});
    graph.node("CTCBeamSearchDecoder", "x n", "beam_width i: " + width + "; top_paths i: " + paths);
    return graph.errorText();
  };
  CHECK(beams("2000000000", "2000000000").find("expected 1 to 1000") != std::string::npos);
  CHECK(beams("3", "4").find("expected 1 to 3, the 'beam_width'") != std::string::npos);
  CHECK(beams("3", "0").find("expected 1 to 3") != std::string::npos);
}

TEST_CASE("Sets and matrices that do not fit are refused") {
  auto sets = [](const std::string &operation, std::initializer_list<int64_t> dims) {
    Graph graph;
    graph.ints("x", {2, 2}, {1, 2, 3, 4}).ints("z", dims, {1, 5, 4, 4});
    graph.node("DenseToDenseSetOperation", "x z", "set_operation s: '" + operation + "'", "set");
    return graph.node("Identity", "set:1").errorText();
  };
  Graph apart;
  apart.ints("x", {2, 2}, {1, 2, 3, 4}).ints("z", {2, 2}, {1, 5, 4, 4});
  apart.node("DenseToDenseSetOperation", "x z", "set_operation s: 'A-B'", "set");
  CHECK(apart.node("Identity", "set:1").evaluate() == Numbers{2, 3});
  CHECK(sets("or", {2, 2}).find("expected union, intersection, a-b or b-a") != std::string::npos);
  CHECK(sets("union", {1, 4}).find("of shape [2] and [1]") != std::string::npos);

  Graph perturbed, product, colors;
  perturbed.floats("d", {3, 2}, {1, 1, 1, 1, 1, 1}).floats("r", {2, 1}, {1, 2});
  perturbed.node("TridiagonalSolve", "d r", "perturb_singular b: true");
  CHECK(perturbed.errorText().find("perturb_singular") != std::string::npos);
  product.floats("a", {1, 1}, {1}).floats("d", {1, 3}, {1, 1, 1}).floats("r", {3, 1}, {1, 2, 3});
  product.node("TridiagonalMatMul", "a d d r");
  CHECK(product.errorText().find("for the rows of input 3") != std::string::npos);
  colors.floats("i", {1, 1, 1, 3}, {0, 0, 0}).floats("b", {1, 1, 4}, {0, 0, 1, 1});
  colors.floats("c", {2, 1}, {1, 2}).node("DrawBoundingBoxesV2", "i b c");
  CHECK(colors.errorText().find("expected at least as many") != std::string::npos);
}

TEST_CASE("Names of operators that stand for others") {
  auto segments = [](const std::string &op) {
    Graph graph;
    graph.floats("x", {3}, {4, 2, 3}).ints("i", {3}, {0, 0, 1}).ints("n", {}, {2});
    return graph.node(op, "x i n").evaluate();
  };
  CHECK(segments("SegmentSumV2") == Numbers{6, 3});
  CHECK(segments("SegmentProdV2") == Numbers{8, 3});
  CHECK(segments("SegmentMaxV2") == Numbers{4, 3});
  CHECK(segments("SegmentMinV2") == Numbers{2, 3});

  Graph same;
  same.floats("x", {2}, {4, 2}).node("RefIdentity", "x");
  CHECK(same.evaluate() == Numbers{4, 2});
}
