//===-- RowKernels.cpp - what kernels along rows have in common --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/RowKernels.h"

using namespace mlir;

namespace atc::npu {

Rows RowWriter::allocate(Type type, int64_t elements) {
  Rows result{{}, type, 0};
  result.pitch = int64_t(llvm::alignTo(elements, 16)) * result.bytes();
  result.buffer = w.alloc(ir::MemoryKind::UB, result.pitch * rows.length);
  return result;
}

Rows RowWriter::allocateScratch(Type type) {
  return allocate(type, half(length, 32 / (type.getIntOrFloatBitWidth() / 8)));
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

Rows rowsOf(const BoxOperand &operand, Type type, const BoxLayout &layout) {
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  return {operand.operand().buffer, type, layout.rowElements() * bytes};
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

/// Writes an instruction on one run per row or, one block of 32 bytes at a time, on all rows as one
/// run: whichever wastes fewer of the unit's repeats.
void RowWriter::lanes(VectorOp op, Part dst, Part a, std::optional<Part> b, int64_t count) {
  Type type = dst.rows.type;
  int64_t bytes = count * dst.rows.bytes(), repeat = 256, start = int64_t(w.soc().vectorStart);
  int64_t byRow = start + rows.length * llvm::divideCeil(bytes, repeat);
  int64_t byBlock = bytes / 32 * (start + llvm::divideCeil(rows.length * 32, repeat));
  unsigned depth = 0;
  for (Operation *op = w.builder().getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    depth += isa<ir::LoopOp>(op);
  if (bytes % 32 || byRow <= byBlock || (bytes > 32 && depth >= kMaxLoops)) {
    auto source = [](const Part &part) { return part.rows.source(part.fromByte); };
    w.vector(op, {dst.rows.buffer, dst.fromByte}, {0, dst.rows.pitch}, source(a),
             b ? std::optional(source(*b)) : std::nullopt, {}, {}, rows, {count, {}}, type, type);
    return;
  }
  auto block = [&](const Expr &number) {
    auto address = [&](const Part &part) {
      return BufferAddress(part.rows.buffer, number * 32 + part.fromByte);
    };
    auto source = [&](const Part &part) {
      return VectorSource{address(part), {}, part.rows.pitch};
    };
    w.vector(op, address(dst), {}, source(a), b ? std::optional(source(*b)) : std::nullopt, {}, {},
             {}, all(32 / dst.rows.bytes()), type, type, 0, dst.rows.pitch);
  };
  if (bytes == 32)
    return block(Expr(0));
  w.loop(bytes / 32, [&](Value number) { block(Expr(number)); });
}

Value RowWriter::reduce(VectorOp op, const Rows &a, const Rows &scratch) {
  int64_t bytes = a.bytes(), unit = 32 / bytes, kept = half(length, unit), joined = length - kept;
  if (length <= unit)
    return reduceInPlace(op, a, length);
  // Elements without a partner are copied.
  if (a.buffer != scratch.buffer && joined < kept) {
    int64_t first = joined / unit * unit * bytes;
    lanes(VectorOp::Copy, {scratch, first}, {a, first}, {}, kept - first / bytes);
  }
  lanes(op, {scratch}, {a}, Part{a, kept * bytes}, joined);
  return reduceInPlace(op, scratch, kept);
}

Value RowWriter::reduceSquares(const Rows &a, const Rows &scratch) {
  int64_t bytes = a.bytes(), unit = 32 / bytes, kept = std::min(half(length, unit), length);
  lanes(VectorOp::Mul, {scratch}, {a}, Part{a}, kept);
  if (kept < length)
    lanes(VectorOp::Madd, {scratch}, {a, kept * bytes}, Part{a, kept * bytes}, length - kept);
  return reduceInPlace(VectorOp::Add, scratch, kept);
}

Value RowWriter::reduceInPlace(VectorOp op, const Rows &a, int64_t left) {
  VectorOp whole = op == VectorOp::Add   ? VectorOp::ReduceSum
                   : op == VectorOp::Max ? VectorOp::ReduceMax
                                         : VectorOp::ReduceMin;
  int64_t bytes = a.bytes(), unit = 32 / bytes;
  while (left > unit) {
    int64_t kept = half(left, unit);
    lanes(op, {a}, {a}, Part{a, kept * bytes}, left - kept);
    left = kept;
  }
  Value result = w.alloc(ir::MemoryKind::UB, llvm::alignTo(rows.length * bytes, 32));
  w.vector(whole, result, {}, a.source(), {}, {}, {}, rows, {left, {}}, a.type, a.type);
  return result;
}

void RowWriter::packed(VectorOp op, Value value, Type type, double scalar) {
  w.vector(op, value, {}, VectorSource{value, {}, 32}, {}, {}, {}, {}, rows, type, type, scalar);
}

Value RowWriter::converted(Value packed, Type from, Type to) {
  int64_t bytes = to.getIntOrFloatBitWidth() / 8;
  Value result = w.alloc(ir::MemoryKind::UB, llvm::alignTo(rows.length * bytes, 32));
  w.vector(VectorOp::Cast, result, {}, VectorSource{packed, {}, 32}, {}, {}, {}, {}, rows, from,
           to);
  return result;
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

/// Rows that fit beside each other; each has some blocks beside its elements.
static int64_t rowsThatFit(const SocTable &soc, int64_t length, int64_t bytesPerElement,
                           int64_t resident) {
  int64_t elements = llvm::alignTo(length, 16);
  return (int64_t(soc.ubBytes) - 4096 - elements * resident) / (elements * bytesPerElement + 160);
}

TileNest RowNest::plan(const SocTable &soc, int64_t bytesPerElement, int64_t resident,
                       int64_t percent) const {
  int64_t max = std::max<int64_t>(1, rowsThatFit(soc, length, bytesPerElement, resident));
  SmallVector<Axis> axes;
  int64_t total = 1, cores = vectorCoreCount(soc);
  for (int64_t size : space.sizes) {
    axes.push_back({size});
    total *= size;
  }
  // Several steps per core, so that loads and stores overlap with the work.
  int64_t rows = std::min(max, scaledBox(llvm::divideCeil(total, cores * 4), percent));
  Axis &inner = axes.back();
  int64_t steps = llvm::divideCeil(inner.size, std::min(rows, inner.size));
  // Where this is the only axis, all cores get the same number of steps.
  if (inner.size == total && steps > cores)
    steps = std::min<int64_t>(inner.size, llvm::alignTo(steps, cores));
  inner.tile = llvm::divideCeil(inner.size, steps);
  axes.push_back({length, length});
  makeExact(axes, 3);
  return TileNest(axes, cores);
}

std::string RowNest::whyUnsupported(const SocTable &soc, int64_t bytesPerElement,
                                    int64_t resident) const {
  for (int64_t stride : along)
    if (stride != 1 && length != 1)
      return "rows with a stride of " + std::to_string(stride) + " elements";
  if (rowsThatFit(soc, length, bytesPerElement, resident) < 1)
    return "a row of " + std::to_string(length) + " elements does not fit into ub";
  if (!plan(soc, bytesPerElement, resident).fitsLoops())
    return "more than 6 loops";
  return {};
}

} // namespace atc::npu
