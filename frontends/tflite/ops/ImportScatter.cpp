//===-- ImportScatter.cpp - scatters, segments, diagonals -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

#include <limits>

using llvm::Twine;

namespace atc::tflite {
namespace {

/// Limits what an index grid may take; models have far fewer elements in one.
constexpr int64_t maxGrid = 1 << 26;

Value filled(OpContext &c, unsigned like, double value, Value shape) {
  return c.node("Expand", {c.scalarLike(like, value), shape});
}

void importScatterNd(OpContext &c) {
  Value zeros = filled(c, 1, 0, c.indices(2));
  c.setOutput(
      c.node("ScatterND", {zeros, c.indices(0), c.in(1)}, {{"reduction", std::string("add")}}));
}

/// Indices are one number, a list of them, or one row per value.
void importSparseToDense(OpContext &c) {
  Value indices = c.indices(0), values = c.in(2);
  const int64_t rank = c.rank(0);
  if (rank < 2)
    indices = c.reshape(indices, {-1, 1});
  if (rank > 2)
    return c.fail("its indices have " + Twine(rank) + " dims, expected 2 at most");
  const Dims dims = c.dims(0);
  Value count = rank == 0 ? c.ints({1})
                : rank == 1
                    ? c.node("Shape", {c.raw(0)})
                    : c.node("Shape", {c.raw(0)}, {{"start", int64_t(0)}, {"end", int64_t(1)}});
  values = c.node("Expand", {values, count});
  Value result = c.node("Expand", {c.in(3), c.indices(1)});
  c.setOutput(c.node("ScatterND", {result, indices, values}));
}

//===--- Segments ---------------------------------------------------------===//

/// Returns the value that a reduction starts from, of the type of the first input.
Value startOf(OpContext &c, llvm::StringRef reduction) {
  if (reduction == "add" || reduction == "mul")
    return c.scalarLike(0, reduction == "mul");
  const bool isMax = reduction == "max";
  auto limitOf = [&](auto like, int type) {
    using Limits = std::numeric_limits<decltype(like)>;
    like = isMax ? Limits::lowest() : Limits::max();
    return c.constant(type, {}, bytesOf(llvm::ArrayRef(like)));
  };
  switch (c.inputTensor(0).type()) {
  case fb::TensorType::INT32:
    return limitOf(int32_t(), onnx::TensorProto::INT32);
  case fb::TensorType::INT64:
    return limitOf(int64_t(), onnx::TensorProto::INT64);
  default:
    return limitOf(float(), onnx::TensorProto::FLOAT);
  }
}

void importUnsortedSegments(OpContext &c) {
  const char *reduction = findOp(c.model.reader.code(c.proto))->onnxName;
  // One row per segment, of the dims of the values behind those that the indices have.
  Value rest = c.node("Shape", {c.raw(0)}, {{"start", c.rank(1)}});
  Value rows = c.reshape(c.indices(2), {1});
  Value shape = c.node("Concat", {rows, rest}, {{"axis", int64_t(0)}});
  Value start = c.node("Expand", {startOf(c, reduction), shape});
  c.setOutput(c.node("ScatterND", {start, c.unsqueeze(c.indices(1), {-1}), c.in(0)},
                     {{"reduction", std::string(reduction)}}));
}

/// Has as many rows as the last segment says.
void importSegmentSum(OpContext &c) {
  Value last = c.node("ReduceMax", {c.indices(1), c.ints({0})}, {{"keepdims", int64_t(1)}});
  Value rows = c.node("Add", {last, c.ints({1})});
  Value rest = c.node("Shape", {c.raw(0)}, {{"start", int64_t(1)}});
  Value shape = c.node("Concat", {rows, rest}, {{"axis", int64_t(0)}});
  c.setOutput(c.node("ScatterND",
                     {filled(c, 0, 0, shape), c.unsqueeze(c.indices(1), {-1}), c.in(0)},
                     {{"reduction", std::string("add")}}));
}

//===--- Updates ----------------------------------------------------------===//

/// Writes a block whose position is clamped so that it fits.
/// Writes an update whose size only a run knows: the indices of its elements are computed.
void updateComputedSlice(OpContext &c) {
  const Value into = c.in(0), update = c.in(1);
  Value size = c.node("Shape", {update});
  Value last = c.node("Sub", {c.node("Shape", {into}), size});
  Value start = c.node("Min", {c.node("Max", {c.indices(2), c.ints({0})}), last});
  Value ones = c.node("Expand", {c.intScalar(1), size});
  Value offsets = c.transpose(c.node("NonZero", {ones}), {1, 0});
  c.setOutput(
      c.node("ScatterND", {into, c.node("Add", {offsets, start}), c.reshape(update, {-1})}));
}

void importDynamicUpdateSlice(OpContext &c) {
  const Dims dims = c.dims(0), block = c.dims(1);
  if (!c.failed() && dims.size() != block.size())
    c.fail("its update has " + Twine(block.size()) + " dims, expected " + Twine(dims.size()));
  if (c.failed())
    return;
  const size_t rank = dims.size();
  int64_t elements = 1;
  bool isKnown = true;
  Dims limits;
  for (size_t i = 0; i < rank; ++i) {
    isKnown &= dims[i] >= 0 && block[i] >= 0;
    if (dims[i] >= 0 && block[i] > dims[i])
      return c.fail("its update is larger than what it is written to");
    limits.push_back(dims[i] - block[i]);
    isKnown &= !llvm::MulOverflow(elements, block[i], elements);
  }
  if (!isKnown || elements > maxGrid / std::max<int64_t>(1, static_cast<int64_t>(rank)))
    return updateComputedSlice(c);
  std::vector<int64_t> grid;
  for (int64_t element = 0; element < elements; ++element) {
    Dims at(rank);
    int64_t rest = element;
    for (size_t i = rank; i-- > 0; rest /= block[i])
      at[i] = rest % block[i];
    grid.insert(grid.end(), at.begin(), at.end());
  }
  Dims gridDims = block;
  gridDims.push_back(rank);
  Value start = c.node("Min", {c.node("Max", {c.indices(2), c.ints({0})}), c.ints(limits)});
  Value indices =
      c.node("Add", {c.constant(onnx::TensorProto::INT64, gridDims, bytesOf(grid)), start});
  c.setOutput(c.node("ScatterND", {c.in(0), indices, c.in(1)}));
}

/// Returns which elements of a [rows, columns] matrix are on its diagonal.
Value diagonal(OpContext &c, int64_t rows, int64_t columns) {
  if (rows * columns > maxGrid) {
    c.fail("its matrices are too large");
    return {};
  }
  std::string truths(rows * columns, 0);
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    truths[i * columns + i] = 1;
  return c.constant(onnx::TensorProto::BOOL, {rows, columns}, truths);
}

void importMatrixDiag(OpContext &c) {
  const int64_t rank = c.rank(0);
  if (rank < 1)
    c.fail("its input needs a dim");
  const Dims dims = c.knownDims(0, std::max<int64_t>(rank, 1) - 1);
  if (c.failed())
    return;
  c.setOutput(c.node("Where", {diagonal(c, dims.back(), dims.back()), c.unsqueeze(c.in(0), {-1}),
                               c.scalarLike(0, 0)}));
}

void importMatrixSetDiag(OpContext &c) {
  const int64_t rank = c.rank(0);
  if (rank < 2)
    c.fail("its input needs two dims");
  const Dims dims = c.knownDims(0, std::max<int64_t>(rank, 2) - 2);
  if (c.failed())
    return;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  Value values = c.unsqueeze(c.in(1), {rows <= columns ? -1 : -2});
  c.setOutput(c.node("Where", {diagonal(c, rows, columns), values, c.in(0)}));
}

} // namespace

llvm::ArrayRef<OpRow> scatterOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{DYNAMIC_UPDATE_SLICE, importDynamicUpdateSlice},
                               {MATRIX_DIAG, importMatrixDiag},
                               {MATRIX_SET_DIAG, importMatrixSetDiag},
                               {SCATTER_ND, importScatterNd},
                               {SEGMENT_SUM, importSegmentSum},
                               {SPARSE_TO_DENSE, importSparseToDense},
                               {UNSORTED_SEGMENT_MAX, importUnsortedSegments, "max"},
                               {UNSORTED_SEGMENT_MIN, importUnsortedSegments, "min"},
                               {UNSORTED_SEGMENT_PROD, importUnsortedSegments, "mul"},
                               {UNSORTED_SEGMENT_SUM, importUnsortedSegments, "add"}};
  return rows;
}

} // namespace atc::tflite
