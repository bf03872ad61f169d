//===-- Trees.cpp - ensembles of decision trees ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three operators encode their trees differently; all are converted to one form, by the kernel
// PackTrees when a model is compiled, or else in each call.

#include "kernels/core/HashIndex.h"
#include "kernels/ml/ForestBuilder.h"
#include "kernels/ml/Scores.h"

namespace atc::kernels {

namespace {

Branch branchOf(String mode) {
  return equal(mode, "LEAF")         ? Branch::Leaf
         : equal(mode, "BRANCH_LEQ") ? Branch::LessEqual
         : equal(mode, "BRANCH_LT")  ? Branch::Less
         : equal(mode, "BRANCH_GTE") ? Branch::GreaterEqual
         : equal(mode, "BRANCH_GT")  ? Branch::Greater
         : equal(mode, "BRANCH_EQ")  ? Branch::Equal
         : equal(mode, "BRANCH_NEQ") ? Branch::NotEqual
                                     : Branch::Member;
}

/// The names of the attributes that map leaves to votes.
struct VoteNames {
  const char *trees, *nodes, *targets, *weights, *weightsTensor;
};

/// Returns whether the walk has room for a number of a feature; fails the call otherwise.
bool isFeature(Context &c, int64_t node, int64_t feature) {
  const bool is = feature >= 0 && feature < TreeNode<float>::kMaxFeatures;
  if (!is)
    c.fail("node % tests feature %", node, feature);
  return is;
}

/// Trees whose nodes have ids (TreeEnsembleClassifier, TreeEnsembleRegressor): the attributes, one
/// element per node or per vote, and the nodes by tree and id.
class NumberedTrees {
  static uint64_t hash(int64_t tree, int64_t id) {
    return mixHash(hashOf(uint64_t(tree)), uint64_t(id));
  }
  auto isNode(int64_t tree, int64_t id) const {
    return [this, tree, id](int64_t at) { return trees[at] == tree && ids[at] == id; };
  }
  /// Returns the position of a node; -1 where there is none.
  int64_t find(int64_t tree, int64_t id) { return index.find(hash(tree, id), isNode(tree, id)); }

public:
  NumberedTrees(Context &c, const VoteNames &names)
      : c(c), trees(c.integers("nodes_treeids")), ids(c.integers("nodes_nodeids")),
        features(c.integers("nodes_featureids")), yes(c.integers("nodes_truenodeids")),
        no(c.integers("nodes_falsenodeids")),
        missing(c.integers("nodes_missing_value_tracks_true")), modes(c.strings("nodes_modes")),
        splits(numbersOrTensor(c, "nodes_values", "nodes_values_as_tensor")),
        voteTrees(c.integers(names.trees)), voteNodes(c.integers(names.nodes)),
        voteTargets(c.integers(names.targets)),
        weights(numbersOrTensor(c, names.weights, names.weightsTensor)), count(ids.size),
        votes(voteTargets.size) {}

  /// Returns false where the call has failed.
  bool read(ForestBuilder &forest) {
    if (!haveOneLength() || !forest.allocate(c, count, votes) || !index.reserve(c, count))
      return false;
    for (int64_t i = 0; i < count; ++i)
      index.set(hash(trees[i], ids[i]), i, isNode(trees[i], ids[i]));
    return readNodes(forest) && readVotes(forest);
  }

private:
  bool haveOneLength() {
    if (trees.size != count || features.size != count || yes.size != count || no.size != count ||
        modes.size != count || splits.size != count || (missing.size && missing.size != count)) {
      c.fail("the attributes of the % nodes have different lengths", count);
      return false;
    }
    if (voteTrees.size != votes || voteNodes.size != votes || weights.size != votes) {
      c.fail("the attributes of the % votes have different lengths", votes);
      return false;
    }
    return true;
  }

  /// Reads the nodes; those that no other leads to are roots.
  bool readNodes(ForestBuilder &forest) {
    uint8_t *isChild = c.scratch<uint8_t>(count + 1);
    if (!isChild)
      return false;
    __builtin_memset(isChild, 0, uint64_t(count));
    for (int64_t i = 0; i < count; ++i) {
      ForestBuilder::Node &node = forest.nodes[i];
      node = {splits[i], features[i], 0, 0, branchOf(modes[i]), missing.size && missing[i]};
      if (node.branch != Branch::Leaf && !isFeature(c, i, features[i]))
        return false;
      if (node.branch == Branch::Member) {
        c.fail("node % has an unknown mode", i);
        return false;
      }
      if (node.branch == Branch::Leaf)
        continue;
      node.yes = find(trees[i], yes[i]);
      node.no = find(trees[i], no[i]);
      if (node.yes < 0 || node.no < 0) {
        c.fail("node % leads to node % or % of tree %, which is not there", ids[i], yes[i], no[i],
               trees[i]);
        return false;
      }
      isChild[node.yes] = isChild[node.no] = 1;
    }
    forest.nodeCount = count;
    for (int64_t i = 0; i < count; ++i)
      if (!isChild[i])
        forest.roots[forest.rootCount++] = i;
    return true;
  }

  /// Sorts votes by leaf: count, prefix sums, scatter.
  bool readVotes(ForestBuilder &forest) {
    int64_t *leaves = c.scratch<int64_t>(votes + 1), *placed = c.scratch<int64_t>(count + 1);
    if (!leaves || !placed)
      return false;
    for (int64_t v = 0; v < votes; ++v) {
      leaves[v] = find(voteTrees[v], voteNodes[v]);
      if (leaves[v] < 0 || voteTargets[v] < 0 || voteTargets[v] >= forest.targets) {
        c.fail("vote % is for target % of %, by node % of tree %", v, voteTargets[v],
               forest.targets, voteNodes[v], voteTrees[v]);
        return false;
      }
      if (forest.nodes[leaves[v]].branch == Branch::Leaf)
        ++forest.nodes[leaves[v]].no;
    }
    int64_t start = 0;
    for (int64_t i = 0; i < count; ++i)
      if (forest.nodes[i].branch == Branch::Leaf) {
        placed[i] = forest.nodes[i].yes = start;
        start += forest.nodes[i].no;
      }
    for (int64_t v = 0; v < votes; ++v)
      if (forest.nodes[leaves[v]].branch == Branch::Leaf)
        forest.votes[placed[leaves[v]]++] = {voteTargets[v], weights[v]};
    forest.voteCount = start;
    return true;
  }

  Context &c;
  const List<int64_t> trees, ids, features, yes, no, missing;
  const List<String> modes;
  const List<double> splits;
  const List<int64_t> voteTrees, voteNodes, voteTargets;
  const List<double> weights;
  const int64_t count, votes;
  HashIndex index;
};

/// Trees whose nodes have positions (TreeEnsemble).
bool readByPosition(Context &c, ForestBuilder &forest) {
  const List<int64_t> roots = c.integers("tree_roots"), features = c.integers("nodes_featureids"),
                      yes = c.integers("nodes_truenodeids"), no = c.integers("nodes_falsenodeids"),
                      yesLeaf = c.integers("nodes_trueleafs"),
                      noLeaf = c.integers("nodes_falseleafs"),
                      missing = c.integers("nodes_missing_value_tracks_true"),
                      targets = c.integers("leaf_targetids");
  const Tensor modes = c.tensor("nodes_modes");
  const List<double> splits = numbersOrTensor(c, "", "nodes_splits"),
                     weights = numbersOrTensor(c, "", "leaf_weights");
  forest.members = numbersOrTensor(c, "", "membership_values");
  const int64_t count = features.size, leaves = targets.size;
  if (yes.size != count || no.size != count || yesLeaf.size != count || noLeaf.size != count ||
      !modes || modes.count() != count || splits.size != count ||
      (missing.size && missing.size != count) || weights.size != leaves) {
    c.fail("the attributes of the % nodes and % leaves have different lengths", count, leaves);
    return false;
  }
  if (!forest.allocate(c, count + leaves, leaves))
    return false;
  forest.nodeCount = count + leaves;
  forest.voteCount = leaves;
  int64_t member = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t mode = integerAt(modes, i);
    const bool inside = yes[i] >= 0 && yes[i] < (yesLeaf[i] ? leaves : count) && no[i] >= 0 &&
                        no[i] < (noLeaf[i] ? leaves : count);
    if (mode < 0 || mode > int64_t(Branch::Member) || !inside) {
      c.fail("node % has mode % and leads to % and %", i, mode, yes[i], no[i]);
      return false;
    }
    if (!isFeature(c, i, features[i]))
      return false;
    ForestBuilder::Node &node = forest.nodes[i];
    node = {splits[i],
            features[i],
            yes[i] + (yesLeaf[i] ? count : 0),
            no[i] + (noLeaf[i] ? count : 0),
            Branch(mode),
            missing.size && missing[i]};
    if (node.branch == Branch::Member) {
      node.split = double(member);
      while (member < forest.members.size && !isNan(forest.members[member]))
        ++member;
      ++member; // the NaN after the set
    }
  }
  for (int64_t i = 0; i < leaves; ++i) {
    if (targets[i] < 0 || targets[i] >= forest.targets) {
      c.fail("leaf % is for target % of %", i, targets[i], forest.targets);
      return false;
    }
    forest.nodes[count + i] = {0, 0, i, 1, Branch::Leaf, false};
    forest.votes[i] = {targets[i], weights[i]};
  }
  for (int64_t i = 0; i < roots.size; ++i) {
    if (roots[i] < 0 || roots[i] >= count || i >= forest.nodeCount) {
      c.fail("tree % begins at node % of %", i, roots[i], count);
      return false;
    }
    forest.roots[forest.rootCount++] = roots[i];
  }
  return true;
}

/// Reads the trees of a call, whichever operator it is, with votes for `targets`.
bool readTrees(Context &c, ForestBuilder &forest, int64_t targets) {
  forest.targets = targets;
  if (c.has("tree_roots"))
    return readByPosition(c, forest);
  if (c.has("classlabels_int64s") || c.has("classlabels_strings"))
    return NumberedTrees(c, {"class_treeids", "class_nodeids", "class_ids", "class_weights",
                             "class_weights_as_tensor"})
        .read(forest);
  return NumberedTrees(c, {"target_treeids", "target_nodeids", "target_ids", "target_weights",
                           "target_weights_as_tensor"})
      .read(forest);
}

/// The trees of a call: floats where the compiler packed them and floats hold all numbers.
struct Trees {
  Forest<float> narrow;
  Forest<double> wide;
  bool isNarrow = false;

  const ForestFacts &facts() const { return isNarrow ? narrow.facts : wide.facts; }

  /// Reads the trees; returns false where the kernel must return.
  bool read(Context &c, int64_t targets) {
    const Tensor nodes = c.tensor("packed_nodes");
    if (!nodes) {
      ForestBuilder builder;
      return readTrees(c, builder, targets) && build(c, builder);
    }
    isNarrow = nodes.rank() == 2 && nodes.dim(1) * 4 == sizeof(TreeNode<float>);
    const bool valid = isNarrow ? readPacked(c, narrow, nodes) : readPacked(c, wide, nodes);
    if (!valid || facts().targets != targets)
      c.fail("the packed trees are damaged");
    return valid && facts().targets == targets;
  }

  /// Computes the aggregated votes and calls finish(row, sums, voted) for every row.
  template <typename Finish>
  void run(Context &c, const Rows &rows, Aggregate aggregate, Finish &&finish) {
    if (facts().features > rows.width)
      return c.fail("a node tests feature % of %", facts().features - 1, rows.width);
    const int64_t targets = facts().targets;
    double *sums = c.scratch<double>(rows.count * targets + 1);
    uint8_t *voted = c.scratch<uint8_t>(rows.count * targets + 1);
    if (!sums || !voted)
      return;
    if (rows.data.dtype() == F32 && isNarrow)
      return walk<float>(c, narrow, rows, rows.data.as<float>(), aggregate, sums, voted, finish);
    const double *data = rows.asDoubles(c);
    if (!data)
      return;
    if (isNarrow)
      walk<double>(c, narrow, rows, data, aggregate, sums, voted, finish);
    else
      walk<double>(c, wide, rows, data, aggregate, sums, voted, finish);
  }

private:
  bool build(Context &c, const ForestBuilder &builder) {
    auto *nodes = c.scratch<TreeNode<double>>(builder.nodeCount + 1);
    auto *votes = c.scratch<TreeVote<double>>(builder.voteCount + 1);
    auto *roots = c.scratch<TreeRoot>(builder.rootCount + 1);
    if (!nodes || !votes || !roots || !builder.findDepths(c, roots))
      return false;
    builder.write(nodes, votes);
    wide = {nodes,
            votes,
            roots,
            builder.nodeCount,
            builder.voteCount,
            builder.rootCount,
            builder.members,
            builder.facts()};
    return true;
  }

  template <typename S> static bool readPacked(Context &c, Forest<S> &forest, Tensor nodes) {
    const Tensor votes = c.tensor("packed_votes"), roots = c.tensor("packed_roots"),
                 members = c.tensor("packed_members"), facts = c.tensor("packed_facts");
    auto isTable = [](Tensor table, uint64_t bytes) {
      return table && table.dtype() == I32 && table.rank() == 2 &&
             uint64_t(table.dim(1)) * 4 == bytes;
    };
    if (!isTable(nodes, sizeof(TreeNode<S>)) || !isTable(votes, sizeof(TreeVote<S>)) ||
        !isTable(roots, sizeof(TreeRoot)) || !members || members.dtype() != F64 || !facts ||
        facts.dtype() != I64 || facts.count() != 6)
      return false;
    const int64_t *fact = facts.as<int64_t>();
    forest = {nodes.as<TreeNode<S>>(),
              votes.as<TreeVote<S>>(),
              roots.as<TreeRoot>(),
              nodes.dim(0),
              votes.dim(0),
              roots.dim(0),
              {members.as<double>(), members.count(), true},
              {fact[0], fact[1], Branch(fact[2] & 7), fact[3] != 0, fact[4] != 0, fact[5] != 0}};
    return true;
  }

  template <typename X, typename S, typename Finish>
  static void walk(Context &c, const Forest<S> &forest, const Rows &rows, const X *data,
                   Aggregate aggregate, double *sums, uint8_t *voted, Finish &finish) {
    const int64_t targets = forest.facts.targets;
    const bool rounds = rows.data.dtype() != F64;
    int damaged = 0;
    c.parallel(rows.count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * targets; i < end * targets; ++i)
        sums[i] = 0, voted[i] = 0;
      const Branch branch = forest.facts.branch;
      const bool done =
          branch == Branch::LessEqual ? TreeWalk<X, S, Branch::LessEqual>{forest, rows.width}.run(
                                            data, begin, end, aggregate, rounds, sums, voted)
          : branch == Branch::Less
              ? TreeWalk<X, S, Branch::Less>{forest, rows.width}.run(data, begin, end, aggregate,
                                                                     rounds, sums, voted)
              : TreeWalk<X, S, Branch::Member>{forest, rows.width}.run(data, begin, end, aggregate,
                                                                       rounds, sums, voted);
      if (!done)
        __atomic_store_n(&damaged, 1, __ATOMIC_RELAXED);
      for (int64_t row = begin; done && row < end; ++row) {
        double *of = sums + row * targets;
        for (int64_t t = 0; aggregate == Aggregate::Average && t < targets; ++t)
          of[t] /= double(maximum(forest.rootCount, int64_t(1)));
        finish(row, of, voted + row * targets);
      }
    });
    if (damaged)
      c.fail("the packed trees are damaged");
  }
};

constexpr int64_t kMaxTargets = TreeVote<float>::kMaxTargets;

/// Returns for how many targets the votes of a call with labels are.
int64_t targetsOf(int64_t classes) { return maximum(classes, int64_t(2)); }

} // namespace

/// Packs the trees of any of the three operators, whose attributes it takes, and has no inputs.
/// Results: the nodes, votes and roots (TreeNode, TreeVote and TreeRoot as rows of words), the
/// values that nodes test for, and ForestFacts.
ATC_KERNEL(PackTrees) {
  const Labels labels(*this, "classlabels_int64s", "classlabels_strings");
  const int64_t targets = labels.size() ? targetsOf(labels.size()) : integer("n_targets", 1);
  if (targets < 1 || targets > kMaxTargets)
    return fail("% targets", targets);
  ForestBuilder builder;
  if (!readTrees(*this, builder, targets))
    return;
  const bool narrow = builder.fitsFloats();
  const int64_t nodeWords = narrow ? 4 : 6, voteWords = narrow ? 2 : 4;
  char *nodes = make(0, I32, Dims(builder.nodeCount, nodeWords));
  char *votes = make(1, I32, Dims(builder.voteCount, voteWords));
  auto *roots = make<TreeRoot>(2, I32, Dims(builder.rootCount, int64_t(2)));
  auto *members = make<double>(3, F64, Dims(builder.members.size));
  auto *facts = make<int64_t>(4, I64, Dims(int64_t(6)));
  if (!nodes || !votes || !roots || !members || !facts || !builder.findDepths(*this, roots))
    return;
  // Rows of doubles end with a word that nothing writes.
  __builtin_memset(nodes, 0, uint64_t(builder.nodeCount * nodeWords * 4));
  __builtin_memset(votes, 0, uint64_t(builder.voteCount * voteWords * 4));
  if (narrow)
    builder.write(reinterpret_cast<TreeNode<float> *>(nodes),
                  reinterpret_cast<TreeVote<float> *>(votes));
  else
    builder.write(reinterpret_cast<TreeNode<double> *>(nodes),
                  reinterpret_cast<TreeVote<double> *>(votes));
  copyBytes(members, builder.members.data, builder.members.size * 8);
  const ForestFacts found = builder.facts();
  const int64_t listed[] = {found.targets,  found.features,  int64_t(found.branch),
                            found.allFirst, found.allSecond, found.allPositive};
  copyBytes(facts, listed, sizeof listed);
}

ATC_KERNEL(TreeEnsemble) {
  const Rows rows(in(0));
  const int64_t code = integer("post_transform", 0), how = integer("aggregate_function", 1);
  const int64_t targets = integer("n_targets", 1);
  Trees trees;
  if (!rows.valid(*this))
    return;
  if (code < 0 || code > 4 || how < 0 || how > 3 || targets < 1 || targets > kMaxTargets)
    return fail("post_transform %, aggregate_function %, n_targets %", code, how, targets);
  if (!isFloat(rows.data.dtype()))
    return failType(rows.data.dtype());
  char *out = make(0, rows.data.dtype(), Dims(rows.count, targets));
  if (!out || !trees.read(*this, targets))
    return;
  trees.run(*this, rows, Aggregate(how), [&](int64_t row, double *sums, const uint8_t *) {
    transformTargets(Transform(code), sums, targets);
    (void)dispatchFloats(rows.data.dtype(), [&](auto type) {
      using T = typename decltype(type)::Type;
      for (int64_t t = 0; t < targets; ++t)
        reinterpret_cast<T *>(out)[row * targets + t] = T(Compute<T>(sums[t]));
    });
  });
}

ATC_KERNEL(TreeEnsembleRegressor) {
  const Rows rows(in(0));
  const Transform transform = transformOf(*this);
  const String name = text("aggregate_function", "SUM");
  const Aggregate aggregate = equal(name, "SUM")       ? Aggregate::Sum
                              : equal(name, "AVERAGE") ? Aggregate::Average
                              : equal(name, "MIN")     ? Aggregate::Min
                              : equal(name, "MAX")     ? Aggregate::Max
                                                       : Aggregate::Unknown;
  const int64_t targets = integer("n_targets", 1);
  Trees trees;
  if (transform == Transform::Unknown || !rows.valid(*this))
    return;
  if (aggregate == Aggregate::Unknown)
    return fail("aggregate_function is none of AVERAGE, SUM, MIN, MAX");
  if (targets < 1 || targets > kMaxTargets)
    return fail("% targets", targets);
  float *out = make<float>(0, F32, Dims(rows.count, targets));
  if (!out)
    return;
  const List<double> base = numbersOrTensor(*this, "base_values", "base_values_as_tensor");
  if (base.size && base.size != targets)
    return fail("% base values for % targets", base.size, targets);
  if (!trees.read(*this, targets))
    return;
  trees.run(*this, rows, aggregate, [&](int64_t row, double *sums, const uint8_t *) {
    for (int64_t t = 0; t < base.size; ++t)
      sums[t] += base[t];
    transformTargets(transform, sums, targets);
    for (int64_t t = 0; t < targets; ++t)
      out[row * targets + t] = float(sums[t]);
  });
}

ATC_KERNEL(TreeEnsembleClassifier) {
  const Rows rows(in(0));
  const Transform transform = transformOf(*this);
  Labels labels(*this, "classlabels_int64s", "classlabels_strings");
  const int64_t classes = labels.size();
  if (transform == Transform::Unknown || !rows.valid(*this))
    return;
  if (classes < 1 || classes > kMaxTargets)
    return fail("% classes", classes);
  if (wants(0) && !labels.make(*this, 0, rows.count))
    return;
  float *out = wants(1) ? make<float>(1, F32, Dims(rows.count, classes)) : nullptr;
  if (wants(1) && !out)
    return;
  Trees trees;
  if (!trees.read(*this, targetsOf(classes)))
    return;
  const List<double> base = numbersOrTensor(*this, "base_values", "base_values_as_tensor");
  if (base.size && base.size != classes && base.size != 1)
    return fail("% base values for % classes", base.size, classes);
  // Where all leaves vote for one of two classes, its score alone decides; votes for the first
  // class then count for the second one.
  const ForestFacts facts = trees.facts();
  const bool first = classes <= 2 && base.size < 2 && facts.allFirst,
             second = classes == 2 && facts.allSecond, positive = facts.allPositive;
  trees.run(*this, rows, Aggregate::Sum, [&](int64_t row, double *sums, const uint8_t *voted) {
    if (first) {
      const double score = sums[0] + (base.size ? base[base.size - 1] : 0);
      double two[2];
      labels.set(row, positive ? score > 0.5 : score > 0);
      transformBinary(transform, score, positive, two);
      for (int64_t i = 0; out && i < classes; ++i)
        out[row * classes + i] = float(two[classes == 1 ? 1 : i]);
      return;
    }
    for (int64_t t = 0; t < base.size; ++t)
      sums[t] += base[t];
    int64_t best = indexOfLargest(sums, classes);
    if (second)
      best = sums[1] > (positive ? 0.5 : 0);
    else if (!base.size) // a class without a vote is not chosen
      for (int64_t t = 0; t < classes; ++t)
        if (voted[t] && (!voted[best] || sums[t] > sums[best]))
          best = t;
    labels.set(row, best);
    transformScores(transform, sums, classes);
    for (int64_t i = 0; out && i < classes; ++i)
      out[row * classes + i] = float(sums[i]);
  });
}

} // namespace atc::kernels
