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
                               {GATHER, importGather},
                               {GATHER_ND, importGatherNd},
                               {ONE_HOT, importOneHot},
                               {UNIQUE, importUnique},
                               {WHERE, importWhere}};
  return rows;
}

} // namespace atc::tflite
