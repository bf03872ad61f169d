//===-- MinCut.h - cheapest split of a flow network -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_MINCUT_H
#define OPENATC_PASSES_KERNEL_MINCUT_H

#include <cstdint>
#include <vector>

namespace atc::kernel {

/// Splits nodes into two sides so that the edges that lead from the source's
/// side to the sink's cost least (Dinic's algorithm).
class MinCut {
public:
  static constexpr int kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = INT64_MAX / 4;

  MinCut() : adjacency(2) {}

  int addNode() {
    adjacency.emplace_back();
    return int(adjacency.size()) - 1;
  }
  void addEdge(int from, int to, int64_t cost);

  /// For every node, whether it is on the source's side. Where both sides cost
  /// the same a node is on the source's.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    int64_t capacity;
  };

  bool findLevels();
  int64_t push(int node, int64_t flow);

  /// Edge 2i and 2i + 1 are each other's reverse.
  std::vector<Edge> edges;
  std::vector<std::vector<int>> adjacency;
  std::vector<int> level;
  std::vector<size_t> next;
};

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_MINCUT_H
