//===-- ForestBuilder.h - decision trees before they are packed -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_ML_FORESTBUILDER_H
#define OPENATC_KERNELS_ML_FORESTBUILDER_H

#include "kernels/ml/Forest.h"

namespace atc::kernels {

/// A forest as a kernel reads it from attributes, in scratch memory. `yes` of a leaf is its first
/// vote and `no` their number.
struct ForestBuilder {
  struct Node {
    double split;
    int64_t feature, yes, no;
    Branch branch;
    bool missingIsTrue;
  };
  struct Vote {
    int64_t target;
    double weight;
  };
  Node *nodes = nullptr;
  int64_t nodeCount = 0;
  int64_t *roots = nullptr;
  int64_t rootCount = 0;
  Vote *votes = nullptr;
  int64_t voteCount = 0;
  List<double> members = {};
  int64_t targets = 0;

  /// Makes room for as many nodes and votes; returns false where the kernel must return.
  bool allocate(Context &c, int64_t maxNodes, int64_t maxVotes) {
    nodes = c.scratch<Node>(maxNodes + 1);
    roots = c.scratch<int64_t>(maxNodes + 1);
    votes = c.scratch<Vote>(maxVotes + 1);
    return nodes && roots && votes;
  }

  /// Returns what holds for all nodes and votes.
  ForestFacts facts() const {
    ForestFacts facts;
    facts.targets = targets;
    bool any = false;
    for (int64_t i = 0; i < nodeCount; ++i) {
      if (nodes[i].branch == Branch::Leaf)
        continue;
      facts.features = maximum(facts.features, nodes[i].feature + 1);
      if (any && nodes[i].branch != facts.branch)
        facts.branch = Branch::Member;
      else if (!any)
        facts.branch = nodes[i].branch;
      any = true;
    }
    for (int64_t v = 0; v < voteCount; ++v) {
      facts.allFirst &= votes[v].target == 0;
      facts.allSecond &= votes[v].target == 1;
      facts.allPositive &= votes[v].weight >= 0;
    }
    return facts;
  }

  /// Returns whether floats hold all splits, weights and numbers of votes.
  bool fitsFloats() const {
    bool fits = maximum(voteCount, members.size) < 1 << 24;
    auto isFloat = [](double value) { return isNan(value) || double(float(value)) == value; };
    for (int64_t i = 0; i < nodeCount; ++i)
      fits &= isFloat(nodes[i].split);
    for (int64_t v = 0; v < voteCount; ++v)
      fits &= isFloat(votes[v].weight);
    return fits;
  }

  /// Finds the most steps from each root to a leaf. Fails the call where nodes go in a circle.
  bool findDepths(Context &c, TreeRoot *to) const {
    constexpr uint32_t kUnknown = ~0u, kOnPath = kUnknown - 1;
    uint32_t *depth = c.scratch<uint32_t>(nodeCount + 1),
             *path = c.scratch<uint32_t>(nodeCount + 1);
    if (!depth || !path)
      return false;
    for (int64_t i = 0; i < nodeCount; ++i)
      depth[i] = nodes[i].branch == Branch::Leaf ? 0 : kUnknown;
    for (int64_t r = 0; r < rootCount; ++r) {
      int64_t length = 0;
      if (depth[roots[r]] == kUnknown)
        path[length++] = uint32_t(roots[r]);
      while (length) {
        const uint32_t at = path[length - 1];
        depth[at] = kOnPath;
        uint32_t deepest = 0;
        bool waits = false;
        const int64_t children[] = {nodes[at].yes, nodes[at].no};
        for (int64_t next : children) {
          if (depth[next] == kOnPath)
            return c.fail("the nodes of a tree lead to themselves"), false;
          if (depth[next] == kUnknown && !waits) {
            path[length++] = uint32_t(next);
            waits = true;
          }
          deepest = maximum(deepest, waits ? 0 : depth[next]);
        }
        if (waits)
          continue;
        depth[at] = deepest + 1;
        --length;
      }
      to[r] = {uint32_t(roots[r]), depth[roots[r]]};
    }
    return true;
  }

  /// Writes the nodes and votes in the form of the walk.
  template <typename S> void write(TreeNode<S> *toNodes, TreeVote<S> *toVotes) const {
    for (int64_t i = 0; i < nodeCount; ++i) {
      const Node &node = nodes[i];
      const bool isLeaf = node.branch == Branch::Leaf;
      toNodes[i] = {S(!isLeaf   ? node.split
                      : node.no ? double(node.yes)
                                : -1),
                    TreeNode<S>::testOf(isLeaf ? 0 : node.feature, node.branch, node.missingIsTrue),
                    uint32_t(isLeaf ? i : node.yes), uint32_t(isLeaf ? i : node.no)};
      if (!isLeaf)
        continue;
      for (int64_t v = node.yes; v < node.yes + node.no; ++v)
        toVotes[v] = {S(votes[v].weight),
                      TreeVote<S>::packedOf(votes[v].target, v + 1 == node.yes + node.no)};
    }
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_ML_FORESTBUILDER_H
