//===-- MinCut.h - minimum cut of a flow network --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_MINCUT_H
#define OPENATC_PASSES_KERNEL_MINCUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atc::kernel {

/// Computes a minimum cut: splits nodes into two sides so that the edges from the source's side to
/// the sink's have the lowest total cost (Dinic's algorithm).
class MinCut {
public:
  static constexpr int kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = INT64_MAX / 4;

  MinCut() : adjacency(2) {}

  /// Adds a node and returns its index.
  int addNode() {
    adjacency.emplace_back();
    return int(adjacency.size()) - 1;
  }
  /// Adds an edge of nonnegative cost.
  void addEdge(int from, int to, int64_t cost);

  /// Returns for every node whether it is on the source's side. Where both sides cost the same, a
  /// node is on the source's.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    int64_t capacity;
  };

  bool findLevels();
  int64_t push(int node, int64_t flow);

  /// Edges 2i and 2i + 1 are the reverse of each other.
  std::vector<Edge> edges;
  std::vector<std::vector<int>> adjacency;
  std::vector<int> level;
  std::vector<size_t> next;
};

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_MINCUT_H
