//===-- ImportGather.cpp - lookups, searches ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

using llvm::Twine;

namespace atc::tflite {
namespace {

/// With `batch` common dims in front, element i of a batch is looked up along the dim `axis`.
void gatherBatches(OpContext &c, Value data, int64_t axis, int64_t batch) {
  const int64_t rank = c.rank(0), indexRank = c.rank(1);
  if (batch > indexRank || batch > axis)
    return c.fail("its batch dims " + Twine(batch) + " do not fit its indices and axis");
  // [batch, middle, axis, rest] -> [batch, axis, middle, rest]
  Dims order, back;
  for (int64_t i = 0; i < batch; ++i)
    order.push_back(i);
  order.push_back(axis);
  for (int64_t i = batch; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  Value found = c.node("GatherND", {c.transpose(data, order), c.unsqueeze(c.indices(1), {-1})},
                       {{"batch_dims", batch}});
  // [batch, indices, middle, rest] -> [batch, middle, indices, rest]
  const int64_t numIndices = indexRank - batch, numMiddle = axis - batch;
  for (int64_t i = 0; i < batch; ++i)
    back.push_back(i);
  for (int64_t i = 0; i < numMiddle; ++i)
    back.push_back(batch + numIndices + i);
  for (int64_t i = 0; i < numIndices; ++i)
    back.push_back(batch + i);
  for (int64_t i = axis + 1; i < rank; ++i)
    back.push_back(numIndices - 1 + i);
  c.setOutput(c.transpose(found, back));
}

void importGather(OpContext &c) {
  const auto *p = c.options<fb::GatherOptions>();
  const int64_t axis = c.axis(p ? p->axis() : 0, c.rank(0));
  int64_t batch = p ? p->batch_dims() : 0;
  if (batch < 0)
    batch += c.rank(1);
  Value data = c.moved(0);
  if (c.failed())
    return;
  if (batch > 0)
    return gatherBatches(c, data, axis, batch);
  c.setOutput(c.node("Gather", {data, c.indices(1)}, {{"axis", axis}}));
}

void importGatherNd(OpContext &c) { c.setOutput(c.node("GatherND", {c.moved(0), c.indices(1)})); }

void importEmbeddingLookup(OpContext &c) {
  c.setOutput(c.node("Gather", {c.moved(1), c.indices(0)}));
}

/// Looks up the rows of keys; those without a key are zeros, and are no hits.
void importHashtableLookup(OpContext &c) {
  Value isFound = c.node("Equal", {c.unsqueeze(c.indices(0), {1}), c.unsqueeze(c.indices(1), {0})});
  isFound = c.cast(isFound, onnx::TensorProto::INT32);
  Value hits = c.node("ReduceMax", {isFound, c.ints({1})}, {{"keepdims", int64_t(0)}});
  Value at = c.node("ArgMax", {isFound}, {{"axis", int64_t(1)}, {"keepdims", int64_t(0)}});
  Value isHit = c.cast(hits, onnx::TensorProto::BOOL);
  Dims axes;
  for (int64_t i = 1; i < c.rank(2); ++i)
    axes.push_back(i);
  if (!axes.empty())
    isHit = c.unsqueeze(isHit, axes);
  Value rows = c.node("Gather", {c.in(2), at});
  c.setOutput(c.node("Where", {isHit, rows, c.scalarLike(2, 0)}));
  c.setOutput(c.cast(hits, onnx::TensorProto::UINT8), 1);
}

/// Adds weighted rows at the indices of a sparse tensor whose last dim lists them. Inputs: the rows
/// to look up, the indices, the dense shape, the weights, the table.
void importEmbeddingLookupSparse(OpContext &c) {
  const auto *p = c.options<fb::EmbeddingLookupSparseOptions>();
  const Dims indices = c.knownDims(1, 1);
  const int64_t rowRank = c.rank(4) - 1;
  if (!c.failed() && (indices.size() != 2 || indices[1] < 2 || rowRank < 1))
    c.fail("needs indices in 2 dims at least and rows of one dim at least");
  if (c.failed())
    return;
  Dims axes;
  for (int64_t i = 1; i <= rowRank; ++i)
    axes.push_back(i);
  Value at = c.slice(c.indices(1), 1, 0, indices[1] - 1);
  Value outer = c.slice(c.indices(2), 0, 0, indices[1] - 1);
  const OnnxAttributes adds = {{"reduction", std::string("add")}};
  auto sum = [&](Value values, Value shape) {
    return c.node("ScatterND", {c.node("Expand", {c.scalar(0), shape}), at, values}, adds);
  };
  Value weights = c.in(3);
  Value rows = c.node("Gather", {c.in(4), c.indices(0)});
  rows = c.node("Mul", {rows, c.unsqueeze(weights, axes)});
  Value inner = c.node("Shape", {c.raw(4)}, {{"start", int64_t(1)}});
  inner.isStored = false;
  Value result = sum(rows, c.node("Concat", {outer, inner}, {{"axis", int64_t(0)}}));
  const fb::Combiner combiner = p ? p->combiner() : fb::Combiner::SUM;
  if (combiner == fb::Combiner::SUM)
    return c.setOutput(result);
  const bool isMean = combiner == fb::Combiner::MEAN;
  Value total = sum(isMean ? weights : c.node("Mul", {weights, weights}), outer);
  if (!isMean)
    total = c.node("Sqrt", {total});
  // Elements without rows stay zero.
  Value counts = sum(c.node("Add", {c.node("Mul", {weights, c.scalar(0)}), c.scalar(1)}), outer);
  Value isEmpty = c.node("Equal", {counts, c.scalar(0)});
  total = c.node("Where", {isEmpty, c.scalar(1), total});
  Dims behind;
  for (int64_t i = 1; i <= rowRank; ++i)
    behind.push_back(-i);
  c.setOutput(c.node("Div", {result, c.unsqueeze(total, behind)}));
}

void importOneHot(OpContext &c) {
  const auto *p = c.options<fb::OneHotOptions>();
  Value on = c.unsqueeze(c.in(2), {0}), off = c.unsqueeze(c.in(3), {0});
  Value values = c.node("Concat", {off, on}, {{"axis", int64_t(0)}});
  // ONNX counts negative indices from the end; here no element of their row is on.
  Value depth = c.indices(1), index = c.indices(0);
  index = c.node("Where", {c.node("Less", {index, c.intScalar(0)}), depth, index});
  c.setOutput(c.node("OneHot", {index, depth, values}, {{"axis", int64_t(p ? p->axis() : -1)}}));
}

void importWhere(OpContext &c) { c.setOutput(c.transpose(c.node("NonZero", {c.raw(0)}), {1, 0})); }

void importUnique(OpContext &c) {
  std::vector<Value> found = c.nodes("Unique", {c.raw(0)}, 4, {{"sorted", int64_t(0)}});
  c.setOutput(found[0]);
  found[2].isStored = false;
  c.setOutput(c.cast(found[2], onnxType(c.outputTensor(1).type())), 1);
}

} // namespace

llvm::ArrayRef<OpRow> gatherOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{EMBEDDING_LOOKUP, importEmbeddingLookup},
                               {EMBEDDING_LOOKUP_SPARSE, importEmbeddingLookupSparse},
                               {GATHER, importGather},
                               {GATHER_ND, importGatherNd},
                               {HASHTABLE_LOOKUP, importHashtableLookup},
                               {ONE_HOT, importOneHot},
                               {UNIQUE, importUnique},
                               {WHERE, importWhere}};
  return rows;
}

} // namespace atc::tflite
