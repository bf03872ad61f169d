//===-- RowKernels.cpp - what kernels along rows have in common --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/RowKernels.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::npu {

Rows RowWriter::allocate(Type type) {
  Rows result{{}, type, 0};
  result.pitch = int64_t(llvm::alignTo(length, 16)) * result.bytes();
  result.buffer = w.alloc(ir::MemoryKind::UB, result.pitch * rows.length);
  return result;
}

/// All rows as one run.
Span RowWriter::all(int64_t rowElements) const {
  Span span = rows;
  span.length *= rowElements;
  span.start = span.start * rowElements;
  if (span.limit != INT64_MAX)
    span.limit *= rowElements;
  return span;
}

void RowWriter::apply(VectorOp op, const Rows &dst, const Rows &a, const Rows *b, double scalar) {
  auto whole = [](const Rows &rows) { return VectorSource{rows.buffer, {}, 32}; };
  w.vector(op, dst.buffer, {}, whole(a), b ? std::optional(whole(*b)) : std::nullopt, {}, {}, {},
           all(dst.pitch / dst.bytes()), a.type, dst.type, scalar);
}

void RowWriter::cast(const Rows &dst, const Rows &a) {
  apply(a.type == dst.type ? VectorOp::Copy : VectorOp::Cast, dst, a);
}

void RowWriter::applyScalars(VectorOp op, const Rows &dst, const Rows &a, Value blocks) {
  w.vector(op, dst.buffer, {0, dst.pitch}, a.source(), VectorSource{blocks, {0, 32}, 0}, {}, {},
           rows, {length, {}}, a.type, dst.type);
}

void RowWriter::applyRow(VectorOp op, const Rows &dst, const Rows &a, Value row) {
  w.vector(op, dst.buffer, {0, dst.pitch}, a.source(), VectorSource{row, {}, 32}, {}, {}, rows,
           {length, {}}, a.type, dst.type);
}

void RowWriter::pair(VectorOp op, const Rows &dst, const VectorSource &a,
                     std::optional<VectorSource> b, int64_t lanes, int64_t toByte) {
  w.vector(op, {dst.buffer, toByte}, {0, dst.pitch}, a, b, {}, {}, rows, {lanes, {}}, dst.type,
           dst.type);
}

Value RowWriter::reduce(VectorOp op, const Rows &a, const Rows &scratch) {
  VectorOp whole = op == VectorOp::Add   ? VectorOp::ReduceSum
                   : op == VectorOp::Max ? VectorOp::ReduceMax
                                         : VectorOp::ReduceMin;
  int64_t bytes = a.bytes(), unit = 32 / bytes, left = length;
  Rows from = a;
  while (left > unit) {
    int64_t kept = llvm::alignTo(llvm::divideCeil(left, 2), unit), joined = left - kept;
    // What has no partner is taken over as it is, once.
    if (from.buffer != scratch.buffer && joined < kept) {
      int64_t first = joined / unit * unit;
      pair(VectorOp::Copy, scratch, from.source(first * bytes), {}, kept - first, first * bytes);
    }
    pair(op, scratch, from.source(), from.source(kept * bytes), joined);
    from = scratch;
    left = kept;
  }
  Value result = w.alloc(ir::MemoryKind::UB, llvm::alignTo(rows.length * bytes, 32));
  w.vector(whole, result, {}, from.source(), {}, {}, {}, rows, {left, {}}, a.type, a.type);
  return result;
}

void RowWriter::packed(VectorOp op, Value value, Type type, double scalar) {
  w.vector(op, value, {}, VectorSource{value, {}, 32}, {}, {}, {}, {}, rows, type, type, scalar);
}

Value RowWriter::blocks(Value packed, Type type) {
  Value result = w.alloc(ir::MemoryKind::UB, rows.length * 32);
  w.vector(VectorOp::Broadcast, result, {0, 32}, VectorSource{packed, {}, 32}, {}, {}, {}, rows, {},
           type, type);
  return result;
}

//===----------------------------------------------------------------------===//
// RowNest
//===----------------------------------------------------------------------===//

RowNest::RowNest(ArrayRef<int64_t> shape, ArrayRef<Value> operands, int64_t axis)
    : space(shape, operands), length(shape[axis]) {
  for (auto &strides : space.strides)
    along.push_back(strides[axis]);
  space.removeDim(axis);
  space.normalize(operands.size() - 1);
  space.pad(2);
}

BoxOperand RowNest::operand(unsigned index, Type element) const {
  SmallVector<int64_t> strides = space.strides[index];
  strides.push_back(along[index]);
  return BoxOperand(element, strides, LaneKind::Full);
}

TileNest RowNest::plan(const SocTable &soc, int64_t bytesPerElement) const {
  // Beside the rows there are some blocks for each of them.
  int64_t row = int64_t(llvm::alignTo(length, 16)) * bytesPerElement + 160;
  int64_t most = std::max<int64_t>(1, (int64_t(soc.ubBytes) - 4096) / row);
  SmallVector<Axis> axes;
  int64_t total = 1, cores = vectorCoreCount(soc);
  for (int64_t size : space.sizes) {
    axes.push_back({size});
    total *= size;
  }
  // Some steps for each core, that loads and stores run beside the work.
  int64_t rows = std::min(most, std::max<int64_t>(llvm::divideCeil(total, cores * 4), 1));
  Axis &inner = axes.back();
  int64_t steps = llvm::divideCeil(inner.size, std::min(rows, inner.size));
  inner.tile = llvm::divideCeil(inner.size, steps);
  axes.push_back({length, length});
  makeExact(axes, 3);
  return TileNest(axes, cores);
}

std::string RowNest::whyUnsupported(const SocTable &soc, int64_t bytesPerElement) const {
  for (int64_t stride : along)
    if (stride != 1 && length != 1)
      return "rows with a stride of " + std::to_string(stride) + " elements";
  if (int64_t(llvm::alignTo(length, 16)) * bytesPerElement + 160 > int64_t(soc.ubBytes) - 4096)
    return "a row of " + std::to_string(length) + " elements does not fit into ub";
  if (!plan(soc, bytesPerElement).fitsLoops())
    return "more than 6 loops";
  return {};
}

} // namespace atc::npu
