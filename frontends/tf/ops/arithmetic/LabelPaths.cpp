//===-- LabelPaths.cpp - labels from the outputs of CTC --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/SparseParts.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

Value turned(NodeContext &n, Value matrix) {
  return n.callHost("Transpose", {matrix}, {n.hostInts("perm", {1, 0})});
}

/// The best label of each step [steps, batch, labels], without repetitions and blanks. Outputs: a
/// sparse matrix of labels, and the negative sum of the scores.
void importGreedyDecoder(NodeContext &n) {
  Value scores = withRank(n, 0, 3), lengths = withRank(n, 1, 1);
  const int64_t blank = n.intAttr("blank_index", -1);
  const bool merges = n.boolAttr("merge_repeated", false);
  if (n.failed())
    return;
  TensorMath m(n);
  auto along = [&](StringRef kernel, Value value, int64_t axis) {
    return n.callHost(kernel, {value, n.intList({axis})}, {n.hostInts("keepdims", {0})});
  };
  Value best = turned(
      n, n.callHost("ArgMax", {scores}, {n.hostInts("axis", {2}), n.hostInts("keepdims", {0})}));
  Value none = blank < 0 ? m.add(m.dim(scores, 2), m.index(blank)) : m.index(blank);
  Value isUsed = m.less(m.count(m.dim(scores, 0)), m.unsqueeze(m.toIndex(lengths), {1}));
  Value isKept = m.both(isUsed, n.compare(best, none, graph::ComparePredicate::Ne));
  if (merges) {
    Value before = n.callHost("Expand", {m.index(-1), m.shapeOf({m.dim(best, 0), m.index(1)})});
    before = m.concat({before, m.slice(best, 0, -1, 1)}, 1);
    isKept = m.both(isKept, n.compare(best, before, graph::ComparePredicate::Ne));
  }
  Value counted = m.toIndex(isKept);
  Value indices = m.sub(n.callHost("CumSum", {counted, m.index(1)}), m.index(1));
  Value at = m.positionsWhere(isKept);
  Value positions = m.unsqueeze(n.callHost("GatherND", {indices, at}), {1});
  setRanked(n, 0, m.concat({m.slice(at, 0, 1, 1), positions}, 1), 2);
  setRanked(n, 1, n.callHost("GatherND", {best, at}), 1);
  // Without a batch the longest row has no labels.
  Value longest = m.largestSize(along("ReduceSum", counted, 1));
  n.setOutput(2, m.shapeOf({m.dim(best, 0), longest}));
  Value highest = along("ReduceMax", scores, 2);
  Value sum = along("ReduceSum", m.select(turned(n, isUsed), highest, n.scalarLike(0, scores)), 0);
  n.setOutput(3, m.unsqueeze(n.callHost("Neg", {sum}), {1}));
}

/// The most probable paths of a beam search. Outputs: the indices, the labels and the shape of a
/// sparse matrix for each path, in this order of all paths, and the logarithms of probabilities.
void importBeamSearch(NodeContext &n) {
  Value scores = withRank(n, 0, 3), lengths = withRank(n, 1, 1);
  const int64_t beams = n.requiredInt("beam_width"), paths = n.requiredInt("top_paths");
  const bool merges = n.boolAttr("merge_repeated", true);
  // Each path has outputs and operators of its own.
  const int64_t maxPaths = std::min<int64_t>(beams, 1000);
  if (!n.failed() && (paths < 1 || paths > maxPaths))
    n.failAttribute("top_paths", "is " + Twine(paths) + ", expected 1 to " + Twine(maxPaths) +
                                     (maxPaths < beams ? "" : ", the 'beam_width'"));
  if (n.failed())
    return;
  graph::HostCall call{
      "CtcBeams",
      {scores, lengths},
      n.builder().getDictionaryAttr({n.hostInts("beams", {beams}), n.hostInts("paths", {paths}),
                                     n.hostInts("merge_repeated", {merges})}),
      2};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  TensorMath m(n);
  Value batch = m.dim(scores, 1), none = m.index(0);
  for (int64_t p = 0; p < paths; ++p) {
    Value labels = m.squeeze(m.slice(results[0], p, p + 1, 1), {1});
    Value isLabel = n.compare(labels, none, graph::ComparePredicate::Ge);
    Value at = m.positionsWhere(isLabel);
    Value counts = m.sum(m.toIndex(isLabel), 1);
    // Without a batch the longest path has no labels.
    Value longest = m.largestSize(m.reshape(counts, ArrayRef<int64_t>{-1}));
    setRanked(n, p, at, 2);
    setRanked(n, paths + p, n.callHost("GatherND", {labels, at}), 1);
    n.setOutput(2 * paths + p, m.shapeOf({batch, longest}));
  }
  setRanked(n, 3 * paths, results[1], 2);
}

} // namespace

ArrayRef<OpRow> labelRows() {
  static const OpRow rows[] = {
      {"CTCBeamSearchDecoder", importBeamSearch},
      {"CTCGreedyDecoder", importGreedyDecoder},
  };
  return rows;
}

} // namespace atc::tf_import
