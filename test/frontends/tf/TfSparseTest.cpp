//===-- TfSparseTest.cpp - sparse tensors of numbers and of labels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/tf/GraphOfConstants.h"

using namespace atc::tf_test;

TEST_CASE("Counts and sums that are sparse") {
  auto count = [](Graph &graph, std::initializer_list<int64_t> dims, const Numbers &values) {
    graph.ints("x", dims, values).floats("w", {0}, {});
    graph.node("DenseCountSparseOutput", "x w", "", "count");
    graph.node("Identity", "count:0", "", "places").node("Identity", "count:2", "", "shape");
  };
  Graph rows, none, noColumns, negative;
  count(rows, {2, 2}, {1, 2, 2, 2});
  CHECK(rows.evaluate("places") == Numbers{0, 1, 0, 2, 1, 2});
  CHECK(rows.evaluate("shape") == Numbers{2, 3});
  // Without numbers the largest one is 0, as TensorFlow says.
  count(none, {0}, {});
  CHECK(none.evaluate("shape") == Numbers{1});
  count(noColumns, {2, 0}, {});
  CHECK(noColumns.evaluate("shape") == Numbers{2, 1});
  // It would be counted in the row before.
  count(negative, {2, 2}, {1, 2, -1, 2});
  CHECK(negative.errorText("places").find("'count'") != std::string::npos);

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
