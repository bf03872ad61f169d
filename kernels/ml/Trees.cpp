//===-- Trees.cpp - ensembles of decision trees ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three operators encode their trees differently; all are converted to one form.

#include "kernels/core/HashIndex.h"
#include "kernels/ml/Scores.h"

namespace atc::kernels {

namespace {

/// The branch modes, with the values of TreeEnsemble's nodes_modes, and leaves.
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

struct Node {
  double split;
  int64_t feature;
  /// The next node where the comparison holds and where it does not. For a leaf: its first vote and
  /// their number.
  int64_t yes, no;
  /// For Member: the values that it tests.
  int64_t firstMember, memberCount;
  Branch branch;
  bool missingIsTrue;
};

struct Vote {
  int64_t target;
  double weight;
};

/// The trees, built in scratch memory, and the walk through them.
struct Forest {
  Node *nodes = nullptr;
  int64_t nodeCount = 0;
  int64_t *roots = nullptr;
  int64_t rootCount = 0;
  Vote *votes = nullptr;
  int64_t voteCount = 0;
  List<double> members = {};
  int64_t targets = 0;

  bool allocate(Context &c, int64_t maxNodes, int64_t maxVotes) {
    nodes = c.scratch<Node>(maxNodes + 1);
    roots = c.scratch<int64_t>(maxNodes + 1);
    votes = c.scratch<Vote>(maxVotes + 1);
    return nodes && roots && votes;
  }
  bool holds(const Node &node, double value) const {
    if (node.missingIsTrue && isNan(value))
      return true;
    switch (node.branch) {
    case Branch::LessEqual:
      return value <= node.split;
    case Branch::Less:
      return value < node.split;
    case Branch::GreaterEqual:
      return value >= node.split;
    case Branch::Greater:
      return value > node.split;
    case Branch::Equal:
      return value == node.split;
    case Branch::NotEqual:
      return value != node.split;
    default:
      for (int64_t i = 0; i < node.memberCount; ++i)
        if (members[node.firstMember + i] == value)
          return true;
      return false;
    }
  }
  /// The leaf of one tree, or null: the nodes go in a circle.
  template <typename Feature> const Node *leaf(int64_t root, Feature &&feature) const {
    int64_t at = root;
    for (int64_t steps = 0; steps <= nodeCount; ++steps) {
      const Node &node = nodes[at];
      if (node.branch == Branch::Leaf)
        return &node;
      at = holds(node, feature(node.feature)) ? node.yes : node.no;
    }
    return nullptr;
  }
  /// Computes the aggregated votes of a row; `voted` says which targets received any. Sums are
  /// rounded to f32 where the features are no doubles: votes are stored so, and classes that are
  /// equal in exact numbers (0.8 = 0.2 + 0.6) must not differ by how their parts were rounded.
  template <typename T, typename Feature>
  bool scores(Feature &&feature, Aggregate aggregate, double *sums, uint8_t *voted) const {
    constexpr bool wide = __is_same(T, double);
    for (int64_t t = 0; t < targets; ++t)
      sums[t] = 0, voted[t] = 0;
    for (int64_t r = 0; r < rootCount; ++r) {
      const Node *found = leaf(roots[r], feature);
      if (!found)
        return false;
      for (int64_t v = found->yes; v < found->yes + found->no; ++v) {
        double &sum = sums[votes[v].target];
        const double weight = votes[v].weight;
        if (!voted[votes[v].target])
          sum = weight;
        else if (aggregate == Aggregate::Min)
          sum = minimum(sum, weight);
        else if (aggregate == Aggregate::Max)
          sum = maximum(sum, weight);
        else
          sum = wide ? sum + weight : double(float(sum + weight));
        voted[votes[v].target] = 1;
      }
    }
    for (int64_t t = 0; aggregate == Aggregate::Average && t < targets; ++t)
      sums[t] /= double(maximum(rootCount, int64_t(1)));
    return true;
  }

  /// Calls finish(row, sums, voted) for every row of the input.
  template <typename Finish>
  void run(Context &c, const Rows &rows, Aggregate aggregate, Finish &&finish) {
    for (int64_t i = 0; i < nodeCount; ++i)
      if (nodes[i].branch != Branch::Leaf &&
          (nodes[i].feature < 0 || nodes[i].feature >= rows.width))
        return c.fail("node % tests feature % of %", i, nodes[i].feature, rows.width);
    double *sums = c.scratch<double>(rows.count * targets + 1);
    uint8_t *voted = c.scratch<uint8_t>(rows.count * targets + 1);
    if (!sums || !voted)
      return;
    int circle = 0;
    const bool done = dispatchNumbers(rows.data.dtype(), [&](auto type) {
      using T = typename decltype(type)::Type;
      const T *data = rows.data.as<T>();
      c.parallel(rows.count, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          auto feature = [&](int64_t f) { return double(data[row * rows.width + f]); };
          if (scores<T>(feature, aggregate, sums + row * targets, voted + row * targets))
            finish(row, sums + row * targets, voted + row * targets);
          else
            __atomic_store_n(&circle, 1, __ATOMIC_RELAXED);
        }
      });
    });
    if (!done)
      c.failType(rows.data.dtype());
    else if (circle)
      c.fail("the nodes of a tree lead to themselves");
  }
};

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

/// Trees whose nodes have ids (TreeEnsembleClassifier, TreeEnsembleRegressor).
bool readById(Context &c, Forest &forest, const VoteNames &names) {
  const List<int64_t> trees = c.integers("nodes_treeids"), ids = c.integers("nodes_nodeids"),
                      features = c.integers("nodes_featureids"),
                      yes = c.integers("nodes_truenodeids"), no = c.integers("nodes_falsenodeids"),
                      missing = c.integers("nodes_missing_value_tracks_true");
  const List<String> modes = c.strings("nodes_modes");
  const List<double> splits = numbersOrTensor(c, "nodes_values", "nodes_values_as_tensor");
  const List<int64_t> voteTrees = c.integers(names.trees), voteNodes = c.integers(names.nodes),
                      voteTargets = c.integers(names.targets);
  const List<double> weights = numbersOrTensor(c, names.weights, names.weightsTensor);
  const int64_t count = ids.size, votes = voteTargets.size;
  if (trees.size != count || features.size != count || yes.size != count || no.size != count ||
      modes.size != count || splits.size != count || (missing.size && missing.size != count)) {
    c.fail("the attributes of the % nodes have different lengths", count);
    return false;
  }
  if (voteTrees.size != votes || voteNodes.size != votes || weights.size != votes) {
    c.fail("the attributes of the % votes have different lengths", votes);
    return false;
  }
  HashIndex index;
  if (!forest.allocate(c, count, votes) || !index.reserve(c, count))
    return false;
  auto hash = [](int64_t tree, int64_t id) {
    return mixHash(hashOf(uint64_t(tree)), uint64_t(id));
  };
  auto isNode = [&](int64_t tree, int64_t id) {
    return [&trees, &ids, tree, id](int64_t at) { return trees[at] == tree && ids[at] == id; };
  };
  auto find = [&](int64_t tree, int64_t id) {
    return index.find(hash(tree, id), isNode(tree, id));
  };
  for (int64_t i = 0; i < count; ++i)
    index.set(hash(trees[i], ids[i]), i, isNode(trees[i], ids[i]));
  uint8_t *isChild = c.scratch<uint8_t>(count + 1);
  if (!isChild)
    return false;
  __builtin_memset(isChild, 0, uint64_t(count));
  for (int64_t i = 0; i < count; ++i) {
    Node &node = forest.nodes[i];
    node = {splits[i], features[i], 0, 0, 0, 0, branchOf(modes[i]), missing.size && missing[i]};
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
  // Sorts votes by leaf: count, prefix sums, scatter.
  int64_t *leaves = c.scratch<int64_t>(votes + 1), *placed = c.scratch<int64_t>(count + 1);
  if (!leaves || !placed)
    return false;
  for (int64_t v = 0; v < votes; ++v) {
    leaves[v] = find(voteTrees[v], voteNodes[v]);
    if (leaves[v] < 0 || voteTargets[v] < 0 || voteTargets[v] >= forest.targets) {
      c.fail("vote % is for target % of %, by node % of tree %", v, voteTargets[v], forest.targets,
             voteNodes[v], voteTrees[v]);
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

/// Trees whose nodes have positions (TreeEnsemble).
bool readByPosition(Context &c, Forest &forest) {
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
    Node &node = forest.nodes[i];
    node = {splits[i],
            features[i],
            yes[i] + (yesLeaf[i] ? count : 0),
            no[i] + (noLeaf[i] ? count : 0),
            0,
            0,
            Branch(mode),
            missing.size && missing[i]};
    if (node.branch == Branch::Member) {
      node.firstMember = member;
      while (member < forest.members.size && !isNan(forest.members[member]))
        ++member;
      node.memberCount = member - node.firstMember;
      ++member; // the NaN after the set
    }
  }
  for (int64_t i = 0; i < leaves; ++i) {
    if (targets[i] < 0 || targets[i] >= forest.targets) {
      c.fail("leaf % is for target % of %", i, targets[i], forest.targets);
      return false;
    }
    forest.nodes[count + i] = {0, 0, i, 1, 0, 0, Branch::Leaf, false};
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

constexpr int64_t kMaxTargets = 1 << 24;

} // namespace

ATC_KERNEL(TreeEnsemble) {
  const Rows rows(in(0));
  const int64_t code = integer("post_transform", 0), how = integer("aggregate_function", 1);
  Forest forest;
  forest.targets = integer("n_targets", 1);
  if (!rows.valid(*this))
    return;
  if (code < 0 || code > 4 || how < 0 || how > 3 || forest.targets < 1 ||
      forest.targets > kMaxTargets)
    return fail("post_transform %, aggregate_function %, n_targets %", code, how, forest.targets);
  if (!isFloat(rows.data.dtype()))
    return failType(rows.data.dtype());
  char *out = make(0, rows.data.dtype(), Dims(rows.count, forest.targets));
  if (!out || !readByPosition(*this, forest))
    return;
  forest.run(*this, rows, Aggregate(how), [&](int64_t row, double *sums, const uint8_t *) {
    transformScores(Transform(code), sums, forest.targets);
    (void)dispatchFloats(rows.data.dtype(), [&](auto type) {
      using T = typename decltype(type)::Type;
      for (int64_t t = 0; t < forest.targets; ++t)
        reinterpret_cast<T *>(out)[row * forest.targets + t] = T(Compute<T>(sums[t]));
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
  Forest forest;
  forest.targets = integer("n_targets", 1);
  if (transform == Transform::Unknown || !rows.valid(*this))
    return;
  if (aggregate == Aggregate::Unknown)
    return fail("aggregate_function is none of AVERAGE, SUM, MIN, MAX");
  if (forest.targets < 1 || forest.targets > kMaxTargets)
    return fail("% targets", forest.targets);
  float *out = make<float>(0, F32, Dims(rows.count, forest.targets));
  if (!out)
    return;
  const List<double> base = numbersOrTensor(*this, "base_values", "base_values_as_tensor");
  if (base.size && base.size != forest.targets)
    return fail("% base values for % targets", base.size, forest.targets);
  if (!readById(*this, forest,
                {"target_treeids", "target_nodeids", "target_ids", "target_weights",
                 "target_weights_as_tensor"}))
    return;
  forest.run(*this, rows, aggregate, [&](int64_t row, double *sums, const uint8_t *) {
    for (int64_t t = 0; t < base.size; ++t)
      sums[t] += base[t];
    transformScores(transform, sums, forest.targets);
    for (int64_t t = 0; t < forest.targets; ++t)
      out[row * forest.targets + t] = float(sums[t]);
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
  Forest forest;
  forest.targets = maximum(classes, int64_t(2));
  if (!readById(*this, forest,
                {"class_treeids", "class_nodeids", "class_ids", "class_weights",
                 "class_weights_as_tensor"}))
    return;
  const List<double> base = numbersOrTensor(*this, "base_values", "base_values_as_tensor");
  if (base.size && base.size != classes && base.size != 1)
    return fail("% base values for % classes", base.size, classes);
  // Where all leaves vote for one of two classes, its score alone decides; votes for the first
  // class then count for the second one.
  bool first = classes <= 2 && base.size < 2, second = classes == 2, positive = true;
  for (int64_t v = 0; v < forest.voteCount; ++v) {
    first &= forest.votes[v].target == 0;
    second &= forest.votes[v].target == 1;
    positive &= forest.votes[v].weight >= 0;
  }
  forest.run(*this, rows, Aggregate::Sum, [&](int64_t row, double *sums, const uint8_t *voted) {
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
