//===-- BoxOperand.cpp - operands of a kernel in ub, a box at a time ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/BoxOperand.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::npu {

std::string BoxOperand::whyUnsupported() const {
  if (kind != LaneKind::Full && bytes() == 1 && !isScalarBool())
    return "bytes that are repeated along the last dim";
  if (kind != LaneKind::Scalar)
    return {};
  // Scalars of a box come as rows of them.
  int64_t outer = strides[strides.size() - 3], inner = strides[strides.size() - 2];
  if (inner == 1 || (inner == 0 && outer <= 1))
    return {};
  return "elements that are repeated along the last dim lie " + std::to_string(inner) + " apart";
}

bool BoxOperand::isFull() const {
  return kind == LaneKind::Full && strides[strides.size() - 3] && strides[strides.size() - 2];
}

int64_t BoxOperand::bytesPerElement() const {
  switch (kind) {
  case LaneKind::Full:
    return bytes();
  case LaneKind::Scalar:
    return 2 + bytes() + (isScalarBool() ? 2 : 0);
  case LaneKind::Periodic:
    return 2 * bytes();
  }
  return 0;
}

bool BoxOperand::isResident(const TileNest &nest) const {
  bool changes = false;
  for (size_t i = 0; i < nest.size(); ++i) {
    bool depends = strides[i] != 0 && !(kind == LaneKind::Periodic && i + 1 == nest.size());
    changes |= depends && !nest.isFixed(i);
  }
  return !changes;
}

Expr BoxOperand::addressIn(const TileNest &nest) const {
  Expr address;
  for (size_t i = 0; i < nest.size(); ++i)
    if (strides[i])
      address = address + nest.start(i) * (strides[i] * bytes());
  return address;
}

void BoxOperand::allocate(ProgramWriter &w, const BoxLayout &layout) {
  const TileNest &nest = layout.nest;
  int64_t row = layout.rowElements() * bytes();
  bool hasInner = strides[layout.inner()] != 0, hasOuter = strides[layout.outer()] != 0;
  inUb.type = element;
  inUb.steps.inner = hasInner ? row : 0;
  int64_t plane = row * (hasInner ? nest.axis(layout.inner()).tile : 1);
  inUb.steps.outer = hasOuter ? plane : 0;
  inUb.buffer =
      w.alloc(ir::MemoryKind::UB, plane * (hasOuter ? nest.axis(layout.outer()).tile : 1));
}

/// Spans of the outer axes, one position where the operand repeats.
static Span spanOf(const TileNest &nest, size_t axis, int64_t stride) {
  return stride ? nest.span(axis) : Span();
}

void BoxOperand::load(ProgramWriter &w, Value gm, const BoxLayout &layout) {
  if (kind == LaneKind::Scalar)
    return loadScalars(w, gm, layout);
  if (kind == LaneKind::Periodic)
    return loadPeriod(w, gm, layout);
  allocate(w, layout);
  size_t outer = layout.outer(), inner = layout.inner();
  w.move(inUb.buffer, {gm, addressIn(layout.nest)},
         layout.nest.span(layout.lanes(), layout.unit * bytes()),
         spanOf(layout.nest, outer, strides[outer]), inUb.steps,
         {strides[outer] * bytes(), strides[inner] * bytes()},
         spanOf(layout.nest, inner, strides[inner]));
}

void BoxOperand::store(ProgramWriter &w, Value gm, const BoxLayout &layout) {
  size_t outer = layout.outer(), inner = layout.inner();
  w.move({gm, addressIn(layout.nest)}, inUb.buffer,
         layout.nest.span(layout.lanes(), layout.unit * bytes()), layout.nest.span(outer),
         {strides[outer] * bytes(), strides[inner] * bytes()}, inUb.steps, layout.nest.span(inner));
}

/// Loads a block of 32 bytes per (outer, inner), filled with its element.
void BoxOperand::loadScalars(ProgramWriter &w, Value gm, const BoxLayout &layout) {
  const TileNest &nest = layout.nest;
  size_t outer = layout.outer(), inner = layout.inner();
  bool hasOuter = strides[outer] != 0, hasInner = strides[inner] != 0;
  // The axis along which they are contiguous.
  size_t along = hasInner ? inner : outer;
  Span run = spanOf(nest, along, strides[along]), rows;
  if (hasInner)
    rows = spanOf(nest, outer, strides[outer]);
  int64_t rowBytes = llvm::alignTo(run.length * bytes(), 32);
  Value packed = w.alloc(ir::MemoryKind::UB, rowBytes * rows.length);
  Span runBytes = run;
  runBytes.length *= bytes();
  runBytes.start = runBytes.start * bytes();
  if (runBytes.limit != INT64_MAX)
    runBytes.limit *= bytes();
  w.move(packed, {gm, addressIn(nest)}, runBytes, rows, {rowBytes, 0},
         {hasInner ? strides[outer] * bytes() : 0, 0});

  if (isScalarBool())
    packed = asHalf(w, packed, rowBytes, rows, run);
  const Type type = inUb.type = isScalarBool() ? Type(Float16Type::get(w.context())) : element;
  if (isScalarBool())
    rowBytes *= 2;
  int64_t plane = run.length * 32;
  inUb.buffer = w.alloc(ir::MemoryKind::UB, plane * rows.length);
  inUb.block = 0;
  inUb.steps.inner = hasInner ? 32 : 0;
  inUb.steps.outer = hasInner ? (hasOuter ? plane : 0) : hasOuter ? 32 : 0;
  w.vector(VectorOp::Broadcast, inUb.buffer, {plane, 32}, VectorSource{packed, {rowBytes, 0}, 32},
           {}, {}, rows, run, {}, type, type);
}

/// Returns packed rows of bools as numbers of f16: blocks are not filled with bytes.
Value BoxOperand::asHalf(ProgramWriter &w, Value packed, int64_t rowBytes, const Span &rows,
                         const Span &run) {
  Value half = w.alloc(ir::MemoryKind::UB, 2 * rowBytes * rows.length);
  Type f16 = Float16Type::get(w.context()),
       byte = IntegerType::get(w.context(), 8, IntegerType::Unsigned);
  w.vector(VectorOp::Cast, half, {2 * rowBytes, 0}, VectorSource{packed, {rowBytes, 0}, 32}, {}, {},
           rows, {}, run, byte, f16);
  return half;
}

/// Loads `unit` elements per (outer, inner).
void BoxOperand::loadPeriod(ProgramWriter &w, Value gm, const BoxLayout &layout) {
  const TileNest &nest = layout.nest;
  size_t outer = layout.outer(), inner = layout.inner();
  bool hasOuter = strides[outer] != 0, hasInner = strides[inner] != 0;
  int64_t period = layout.unit * bytes();
  int64_t plane = period * (hasInner ? nest.axis(inner).tile : 1);
  Steps steps{hasOuter ? plane : 0, hasInner ? period : 0};
  Value packed = w.alloc(ir::MemoryKind::UB, plane * (hasOuter ? nest.axis(outer).tile : 1));
  Expr address;
  for (size_t i = 0; i + 1 < nest.size(); ++i)
    if (strides[i])
      address = address + nest.start(i) * (strides[i] * bytes());
  w.move(packed, {gm, address}, {period, {}}, spanOf(nest, outer, strides[outer]), steps,
         {strides[outer] * bytes(), strides[inner] * bytes()}, spanOf(nest, inner, strides[inner]));
  inUb = {packed, {}, element, steps, 0};
  if (period == 32)
    return;
  // Longer periods are repeated in ub, block by block.
  BoxOperand whole(element, strides, LaneKind::Full);
  whole.allocate(w, layout);
  int64_t blocks = period / 32;
  // Integers of 64 bits are copied as words: the vector unit only reads them to cast them.
  const bool isWide = element.isInteger(64);
  const Type word = isWide ? Type(IntegerType::get(w.context(), 32)) : element;
  const int64_t words = layout.unit / blocks * (isWide ? 2 : 1);
  for (int64_t block = 0; block < blocks; ++block)
    w.vector(VectorOp::Copy, {whole.inUb.buffer, block * 32}, whole.inUb.steps,
             VectorSource{{packed, block * 32}, steps, 0}, {}, {},
             spanOf(nest, outer, strides[outer]), spanOf(nest, inner, strides[inner]),
             nest.span(layout.lanes(), words), word, word, 0, period);
  inUb = whole.inUb;
}

void flatten(MutableArrayRef<VectorOperand> operands, VectorShape &shape, const BoxLayout &layout) {
  if (layout.nest.axis(layout.lanes()).tile != layout.nest.axis(layout.lanes()).size)
    return;
  int64_t run = layout.rowElements();
  for (int level = 0; level < 2; ++level) {
    bool isLast = level == 1;
    // Steps do not count where there is one position.
    int64_t length = shape.inner.length;
    bool fits =
        length == 1 || llvm::all_of(operands, [&](const VectorOperand &operand) {
          int64_t bytes = (operand.type.getIntOrFloatBitWidth() + 7) / 8;
          return operand.block == 0 ? operand.steps.inner == 0 : operand.steps.inner == run * bytes;
        });
    if (!fits)
      return;
    shape.lanes.length = length * run;
    shape.lanes.start = shape.inner.start * run;
    shape.lanes.limit = shape.inner.limit == INT64_MAX ? INT64_MAX : shape.inner.limit * run;
    bool isCut = shape.inner.limit != INT64_MAX;
    shape.inner = shape.outer;
    shape.outer = {};
    for (VectorOperand &operand : operands)
      operand.steps = {0, operand.steps.outer};
    run *= length;
    // Elements that are clamped away inside leave gaps.
    if (isCut || isLast)
      return;
  }
}

} // namespace atc::npu
