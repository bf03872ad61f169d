//===-- MinCut.cpp - cheapest split of a flow network ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/MinCut.h"

#include <algorithm>

namespace atc::kernel {

void MinCut::addEdge(int from, int to, int64_t cost) {
  if (from == to || cost <= 0)
    return;
  adjacency[from].push_back(int(edges.size()));
  edges.push_back({to, std::min(cost, kInfinite)});
  adjacency[to].push_back(int(edges.size()));
  edges.push_back({from, 0});
}

bool MinCut::findLevels() {
  level.assign(adjacency.size(), -1);
  level[kSource] = 0;
  std::vector<int> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int index : adjacency[queue[i]]) {
      const Edge &edge = edges[index];
      if (edge.capacity > 0 && level[edge.to] < 0) {
        level[edge.to] = level[queue[i]] + 1;
        queue.push_back(edge.to);
      }
    }
  return level[kSink] >= 0;
}

/// Pushes up to `limit` from the source along one path at a time. The path is
/// kept in a list: graphs are as deep as networks, too deep for recursion.
int64_t MinCut::push(int start, int64_t limit) {
  std::vector<int> path;
  int node = start;
  while (node != kSink) {
    bool advanced = false;
    for (size_t &i = next[node]; i < adjacency[node].size(); ++i) {
      int index = adjacency[node][i];
      const Edge &edge = edges[index];
      if (edge.capacity > 0 && level[edge.to] == level[node] + 1) {
        path.push_back(index);
        node = edge.to;
        advanced = true;
        break;
      }
    }
    if (advanced)
      continue;
    if (path.empty())
      return 0;
    // A dead end: backtracks and tries the edge after the one that led here.
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[node];
  }
  for (int index : path)
    limit = std::min(limit, edges[index].capacity);
  for (int index : path) {
    edges[index].capacity -= limit;
    edges[index ^ 1].capacity += limit;
  }
  return limit;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    next.assign(adjacency.size(), 0);
    while (push(kSource, kInfinite) > 0) {
    }
  }
  // The sink's side is only what still leads to it.
  std::vector<bool> sourceSide(adjacency.size(), true);
  sourceSide[kSink] = false;
  std::vector<int> queue{kSink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int index : adjacency[queue[i]]) {
      // Edge `index` leaves the current node; its reverse leads to it.
      int node = edges[index].to;
      if (sourceSide[node] && edges[index ^ 1].capacity > 0) {
        sourceSide[node] = false;
        queue.push_back(node);
      }
    }
  return sourceSide;
}

} // namespace atc::kernel
