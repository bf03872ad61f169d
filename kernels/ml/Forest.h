//===-- Forest.h - packed decision trees and the walk through them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step in a tree waits for a node and then for a feature, both of them loads, so that eight walks
// at a time take hardly longer than one. Many rows walk through one tree, few rows through eight
// trees. The nodes of trees that the compiler packed come out of a file: nothing here relies on
// what is in them, but that numbers of a node, a feature, a vote and a target are compared with how
// many there are before they are used.

#ifndef OPENATC_KERNELS_ML_FOREST_H
#define OPENATC_KERNELS_ML_FOREST_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// The comparison of a node, with the values of TreeEnsemble's nodes_modes, and leaves.
enum class Branch : uint8_t {
  LessEqual,
  Less,
  GreaterEqual,
  Greater,
  Equal,
  NotEqual,
  Member,
  Leaf
};

enum class Aggregate { Average, Sum, Min, Max, Unknown };

/// A node; S is float or double.
template <typename S> struct TreeNode {
  /// The number that the feature is compared with. For Member: the first of the values that it
  /// tests, up to a NaN. For a leaf: its first vote, or -1.
  S split;
  uint32_t test;
  /// The next node where the comparison holds and where it does not; of a leaf, itself.
  uint32_t yes, no;

  static constexpr uint32_t kMaxFeatures = 1 << 28;
  /// Return the word `test`, and its parts.
  static uint32_t testOf(int64_t feature, Branch branch, bool missingIsTrue) {
    return uint32_t(feature) | uint32_t(branch) << 28 | uint32_t(missingIsTrue) << 31;
  }
  uint32_t feature() const { return test & (kMaxFeatures - 1); }
  Branch branch() const { return Branch(test >> 28 & 7); }
  bool missingIsTrue() const { return test >> 31; }
};

/// A weight that a leaf adds to a target.
template <typename S> struct TreeVote {
  S weight;
  uint32_t packed;

  static constexpr uint32_t kMaxTargets = 1 << 24;
  /// Return the word `packed`, and its parts.
  static uint32_t packedOf(int64_t target, bool isLast) {
    return uint32_t(target) | uint32_t(isLast) << 31;
  }
  uint32_t target() const { return packed & (kMaxTargets - 1); }
  bool isLast() const { return packed >> 31; } ///< of its leaf
};

struct TreeRoot {
  uint32_t node, depth; ///< depth: the most steps to a leaf
};

/// Facts of all votes and nodes, which are needed before any tree is walked.
struct ForestFacts {
  int64_t targets = 0, features = 0; ///< features: one more than the last one that is tested
  /// The comparison of all nodes; Member where they differ.
  Branch branch = Branch::LessEqual;
  /// Whether all votes are for target 0 or target 1, and whether no weight is negative.
  bool allFirst = true, allSecond = true, allPositive = true;
};

/// Trees in the form of the walk; whoever makes it owns the memory.
template <typename S> struct Forest {
  const TreeNode<S> *nodes = nullptr;
  const TreeVote<S> *votes = nullptr;
  const TreeRoot *roots = nullptr;
  int64_t nodeCount = 0, voteCount = 0, rootCount = 0;
  List<double> members = {};
  ForestFacts facts;
};

constexpr int64_t kTreeLanes = 8;

/// The walk of rows of features X through the nodes of a forest, all of which compare by B, or each
/// by its own branch (Branch::Member).
template <typename X, typename S, Branch B> struct TreeWalk {
  const Forest<S> &forest;
  int64_t width; ///< features per row

  /// Returns whether the comparison of a node holds for a feature.
  [[gnu::always_inline]] bool holds(const TreeNode<S> &node, X value) const {
    const Branch branch = B == Branch::Member ? node.branch() : B;
    const bool missing = node.missingIsTrue() & (value != value);
    switch (branch) {
    case Branch::LessEqual:
      return (value <= X(node.split)) | missing;
    case Branch::Less:
      return (value < X(node.split)) | missing;
    case Branch::GreaterEqual:
      return (value >= X(node.split)) | missing;
    case Branch::Greater:
      return (value > X(node.split)) | missing;
    case Branch::Equal:
      return (value == X(node.split)) | missing;
    case Branch::NotEqual:
      return (value != X(node.split)) | missing;
    case Branch::Leaf:
      return true;
    default:
      if (!(node.split >= 0 && double(node.split) < double(forest.members.size)))
        return missing;
      for (auto i = int64_t(node.split); i < forest.members.size && !isNan(forest.members[i]); ++i)
        if (forest.members[i] == double(value))
          return true;
      return missing;
    }
  }

  /// Goes from the nodes `at`, one per lane, to their leaves in at most `depth` steps. Returns
  /// whether all lanes are at one.
  bool descend(uint32_t (&at)[kTreeLanes], const X *const (&rows)[kTreeLanes],
               uint32_t depth) const {
    const int64_t max = minimum(int64_t(depth), forest.nodeCount);
    for (int64_t step = 0; step < max; ++step) {
      uint32_t moved = 0;
#pragma clang loop unroll(full)
      for (int64_t lane = 0; lane < kTreeLanes; ++lane) {
        const TreeNode<S> &node = forest.nodes[at[lane]];
        if (__builtin_expect(node.feature() >= width, 0))
          return false;
        const uint32_t next = holds(node, rows[lane][node.feature()]) ? node.yes : node.no;
        if (__builtin_expect(next >= forest.nodeCount, 0))
          return false;
        moved |= next ^ at[lane];
        at[lane] = next;
      }
      if (!moved)
        break;
    }
    bool done = true;
    for (uint32_t node : at)
      done &= forest.nodes[node].branch() == Branch::Leaf;
    return done;
  }

  /// Adds the votes of a leaf. Sums are rounded to f32 where the features are no doubles: votes are
  /// stored so, and classes that are equal in exact numbers (0.8 = 0.2 + 0.6) must not differ by
  /// how their parts were rounded. Returns false for votes that there are not.
  bool vote(const TreeNode<S> &leaf, Aggregate aggregate, bool rounds, double *sums,
            uint8_t *voted) const {
    if (leaf.split == -1)
      return true;
    if (!(leaf.split >= 0 && double(leaf.split) < double(forest.voteCount)))
      return false;
    for (auto v = int64_t(leaf.split);; ++v) {
      if (v >= forest.voteCount || forest.votes[v].target() >= forest.facts.targets)
        return false;
      const uint32_t target = forest.votes[v].target();
      const double weight = forest.votes[v].weight, sum = sums[target];
      if (!voted[target])
        sums[target] = weight;
      else if (aggregate == Aggregate::Min)
        sums[target] = minimum(sum, weight);
      else if (aggregate == Aggregate::Max)
        sums[target] = maximum(sum, weight);
      else
        sums[target] = rounds ? double(float(sum + weight)) : sum + weight;
      voted[target] = 1;
      if (forest.votes[v].isLast())
        return true;
    }
  }

  /// Computes the aggregated votes of rows [begin, end), targets after each other, which are 0
  /// before; `voted` says which targets received any. Returns false where the trees are damaged.
  bool run(const X *data, int64_t begin, int64_t end, Aggregate aggregate, bool rounds,
           double *sums, uint8_t *voted) const {
    const int64_t targets = forest.facts.targets;
    uint32_t at[kTreeLanes];
    const X *rows[kTreeLanes];
    if (end - begin < kTreeLanes) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t first = 0; first < forest.rootCount; first += kTreeLanes) {
          const int64_t count = minimum(kTreeLanes, forest.rootCount - first);
          uint32_t depth = 0;
          for (int64_t lane = 0; lane < kTreeLanes; ++lane) {
            const TreeRoot root = forest.roots[first + minimum(lane, count - 1)];
            if (root.node >= forest.nodeCount)
              return false;
            at[lane] = root.node;
            rows[lane] = data + row * width;
            depth = maximum(depth, root.depth);
          }
          if (!descend(at, rows, depth))
            return false;
          for (int64_t lane = 0; lane < count; ++lane)
            if (!vote(forest.nodes[at[lane]], aggregate, rounds, sums + row * targets,
                      voted + row * targets))
              return false;
        }
      return true;
    }
    // Rows in blocks that stay in the cache from tree to tree.
    constexpr int64_t kBlock = 128;
    for (; begin < end; begin += kBlock)
      for (int64_t r = 0; r < forest.rootCount; ++r) {
        const TreeRoot root = forest.roots[r];
        if (root.node >= forest.nodeCount)
          return false;
        const int64_t last = minimum(begin + kBlock, end);
        for (int64_t first = begin; first < last; first += kTreeLanes) {
          for (int64_t lane = 0; lane < kTreeLanes; ++lane) {
            at[lane] = root.node;
            rows[lane] = data + minimum(first + lane, last - 1) * width;
          }
          if (!descend(at, rows, root.depth))
            return false;
          for (int64_t row = first; row < minimum(first + kTreeLanes, last); ++row)
            if (!vote(forest.nodes[at[row - first]], aggregate, rounds, sums + row * targets,
                      voted + row * targets))
              return false;
        }
      }
    return true;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_ML_FOREST_H
