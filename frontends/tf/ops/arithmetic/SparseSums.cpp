//===-- SparseSums.cpp - elements of sparse tensors at the same positions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/SparseParts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The numbers that stand in a list, rising and each once, where each stands first, how many these
/// are, and for each element of the list which of them it is.
struct Numbers {
  Value each, first, count, which;
};

Numbers numbersIn(TensorMath &m, Value list) {
  NodeContext &n = m.n;
  graph::HostCall call{
      "Unique", {list}, n.builder().getDictionaryAttr({n.hostInts("sorted", {1})}), 4};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return {};
  Value each = withKnownDims(n, results[0], {ShapedType::kDynamic}, 0);
  return {each, withKnownDims(n, results[1], {ShapedType::kDynamic}, 0), m.dim(each, 0),
          withKnownDims(n, results[2], {ShapedType::kDynamic}, 0)};
}

/// Adds the elements of a list that have the same number.
Value sumOfEach(TensorMath &m, Value list, const Numbers &numbers) {
  return m.squeeze(sumOfRows(m, m.unsqueeze(list, {1}), numbers.which, numbers.count), {1});
}

/// Two sparse tensors of one shape, the numbers of the positions of both, and each position once.
struct Pair {
  Value values[2], shape;
  Numbers numbers;
  Value positions;
};

/// Returns the shape of a pair, which both state: other ones are refused.
Value sharedShape(TensorMath &m, Value shape, Value other) {
  NodeContext &n = m.n;
  ElementsAttr known, wanted;
  if (!matchPattern(shape, m_Constant(&known)) || !matchPattern(other, m_Constant(&wanted)))
    return m.required(shape, m.equal(shape, other), "the sparse tensors have different shapes");
  const SmallVector<int64_t> dims = readInts(known), others = readInts(wanted);
  if (dims != others)
    n.failInput(5, "is the shape " + printDims(others) + ", expected " + printDims(dims) +
                       " as of the other sparse tensor");
  return shape;
}

std::optional<Pair> readPair(NodeContext &n) {
  Value positions[2] = {withRank(n, 0, 2), withRank(n, 3, 2)};
  Pair pair{{withRank(n, 1, 1), withRank(n, 4, 1)}, withRank(n, 2, 1), {}, {}};
  Value other = withRank(n, 5, 1);
  if (n.failed())
    return std::nullopt;
  TensorMath m(n);
  pair.shape = indexVector(n, pair.shape);
  Value shape = sharedShape(m, pair.shape, indexVector(n, other));
  if (n.failed())
    return std::nullopt;
  Value all = m.concat({m.toIndex(positions[0]), m.toIndex(positions[1])}, 0);
  pair.numbers = numbersIn(m, numbersOf(m, all, shape));
  if (n.failed() || !pair.numbers.each)
    return std::nullopt;
  // The positions as they are stated: of one outside the shape the number says too little.
  pair.positions = m.gather(all, pair.numbers.first, 0);
  return pair;
}

/// Adds two sparse tensors; sums below a threshold are left out.
void importSparseAdd(NodeContext &n) {
  const SmallVector<double> threshold = n.constantFloats(6);
  std::optional<Pair> pair = readPair(n);
  if (n.failed() || !pair)
    return;
  TensorMath m(n);
  Value sums = sumOfEach(m, m.concat({pair->values[0], pair->values[1]}, 0), pair->numbers);
  Value positions = pair->positions;
  if (!threshold.empty() && threshold[0] > 0) {
    Value isKept =
        n.compare(m.abs(sums), n.scalarLike(threshold[0], sums), graph::ComparePredicate::Ge);
    Value kept = m.indicesWhere(isKept);
    sums = m.gather(sums, kept, 0);
    positions = m.gather(positions, kept, 0);
  }
  setRanked(n, 0, positions, 2);
  setRanked(n, 1, sums, 1);
  n.setOutput(2, pair->shape);
}

/// The larger or smaller element at each position; one that only one tensor has is compared with 0.
template <typename OpTy> void importExtreme(NodeContext &n) {
  std::optional<Pair> pair = readPair(n);
  if (n.failed() || !pair)
    return;
  TensorMath m(n);
  Value nothing[2];
  for (unsigned i : {0u, 1u})
    nothing[i] =
        n.callHost("Expand", {n.scalarLike(0, pair->values[i]), shapeVector(n, pair->values[i])});
  Value first = sumOfEach(m, m.concat({pair->values[0], nothing[1]}, 0), pair->numbers);
  Value second = sumOfEach(m, m.concat({nothing[0], pair->values[1]}, 0), pair->numbers);
  setRanked(n, 0, pair->positions, 2);
  setRanked(n, 1, n.create<OpTy>(first, second), 1);
}

/// Counts the numbers of a vector, or of each row of a matrix. Outputs: a sparse tensor of how
/// often each stands there, or of the sum of its weights.
void importCounts(NodeContext &n) {
  Value values = n.input(0), weights = n.input(1);
  const int64_t minLength = n.intAttr("minlength", -1), maxLength = n.intAttr("maxlength", -1);
  const bool isBinary = n.boolAttr("binary_output", false);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(values) || n.rank(values) < 1 || n.rank(values) > 2)
    return n.failInput(0, "is neither a vector nor a matrix");
  const int64_t rank = n.rank(values);
  const Type element = NodeContext::elementType(weights);
  const bool isWeighted =
      !(NodeContext::isStatic(weights) && llvm::is_contained(n.shape(weights), 0));
  TensorMath m(n);
  Value one = m.index(1), all = m.toIndex(values);
  Value flat = m.reshape(all, ArrayRef<int64_t>{-1});
  // A negative number would be counted in the row before its own.
  flat = m.required(flat, n.compare(flat, m.index(0), graph::ComparePredicate::Ge),
                    "negative values cannot be counted");
  // Where there are no numbers, the largest one is 0.
  Value size = maxLength > 0 ? m.index(maxLength)
                             : m.max(m.add(m.largestSize(flat), one),
                                     m.index(std::max<int64_t>(minLength, 0)));
  Value rows = rank == 2 ? m.dim(values, 0) : one;
  Value numbers = flat;
  if (rank == 2)
    numbers =
        m.reshape(m.add(all, m.unsqueeze(m.mul(m.count(rows), size), {1})), ArrayRef<int64_t>{-1});
  Value kept = m.indicesWhere(m.less(flat, size));
  const Numbers found = numbersIn(m, m.gather(numbers, kept, 0));
  if (n.failed() || !found.each)
    return;
  Value counts;
  if (isBinary) {
    counts = n.callHost("Expand", {n.scalar(1, element), m.shapeOf({found.count})});
  } else {
    Value each = isWeighted
                     ? m.gather(m.reshape(weights, ArrayRef<int64_t>{-1}), kept, 0)
                     : n.callHost("Expand", {n.scalar(1, element), m.shapeOf({m.dim(kept, 0)})});
    counts = sumOfEach(m, each, found);
  }
  Value shape = rank == 2 ? m.shapeOf({rows, size}) : m.shapeOf({size});
  setRanked(n, 0, indicesOf(m, m.unsqueeze(found.each, {1}), shape), 2);
  setRanked(n, 1, counts, 1);
  n.setOutput(2, shape);
}

} // namespace

ArrayRef<OpRow> sparseSumRows() {
  static const OpRow rows[] = {
      {"DenseCountSparseOutput", importCounts},
      {"SparseAdd", importSparseAdd, "a constant threshold"},
      {"SparseSparseMaximum", importExtreme<graph::MaxOp>},
      {"SparseSparseMinimum", importExtreme<graph::MinOp>},
  };
  return rows;
}

} // namespace atc::tf_import
