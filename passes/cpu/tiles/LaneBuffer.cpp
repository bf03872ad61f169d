//===-- LaneBuffer.cpp - buffers read and written by vectors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/LaneBuffer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace atc::cpu {

//===----------------------------------------------------------------------===//
// Values of any width
//===----------------------------------------------------------------------===//

Type laneType(Type element, int64_t width) {
  return width == 1 ? element : VectorType::get({width}, element);
}

int64_t widthOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

Value spread(KernelBuilder &b, Value scalar, int64_t width) {
  if (width == 1)
    return scalar;
  return vector::BroadcastOp::create(b, VectorType::get({width}, scalar.getType()), scalar);
}

Value laneConstant(KernelBuilder &b, Type element, int64_t width, double value) {
  TypedAttr attr;
  if (auto type = dyn_cast<FloatType>(element)) {
    attr = b.getFloatAttr(type, value);
  } else {
    // Values outside of the type become its limits: they represent infinities.
    unsigned bits = element.getIntOrFloatBitWidth();
    APInt number;
    if (value >= std::ldexp(1.0, bits))
      number = APInt::getSignedMaxValue(bits);
    else if (value <= -std::ldexp(1.0, bits - 1))
      number = APInt::getSignedMinValue(bits);
    else
      number = APInt(bits, value < 0 ? uint64_t(int64_t(value)) : uint64_t(value),
                     /*isSigned=*/value < 0, /*implicitTrunc=*/true);
    attr = b.getIntegerAttr(element, number);
  }
  if (width > 1)
    attr = DenseElementsAttr::get(VectorType::get({width}, element), attr);
  return arith::ConstantOp::create(b, attr);
}

Value laneOf(KernelBuilder &b, Value value, int64_t i) {
  if (!isa<VectorType>(value.getType()))
    return value;
  return vector::ExtractOp::create(b, value, i);
}

Type computeType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

Value widen(KernelBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (computeType(element) == element)
    return value;
  return arith::ExtFOp::create(b, laneType(computeType(element), widthOf(value)), value);
}

Value narrow(KernelBuilder &b, Value value, Type element) {
  if (getElementTypeOrSelf(value.getType()) == element)
    return value;
  return arith::TruncFOp::create(b, laneType(element, widthOf(value)), value);
}

//===----------------------------------------------------------------------===//
// LaneBuffer
//===----------------------------------------------------------------------===//

LaneBuffer::LaneBuffer(KernelBuilder &builder, Value buffer) : b(builder), flat(b.flat(buffer)) {
  elementType = elementOf(buffer);
  unsignedElements = elementType.isUnsignedInteger() || elementType.isInteger(1);
  const bool isBool = elementType.isInteger(1);
  if (!isBool && elementType.isSignlessIntOrFloat()) {
    storedType = elementType;
    return;
  }
  // arith knows signless integers only.
  elementType = b.getIntegerType(elementType.getIntOrFloatBitWidth());
  storedType = isBool ? b.getI8Type() : elementType;
  auto type = MemRefType::get(cast<MemRefType>(flat.getType()).getShape(), storedType);
  flat = UnrealizedConversionCastOp::create(b, type, flat).getResult(0);
}

int64_t LaneBuffer::bytes() const {
  return std::max<int64_t>(1, elementType.getIntOrFloatBitWidth() / 8);
}

/// Returns whether to use masked accesses: where vectors of 16 lanes exist they are as fast as
/// whole ones; otherwise splitting into powers of two is faster.
bool LaneBuffer::masks() const { return b.level().getLanes() >= 16; }

Value LaneBuffer::valueOf(Value stored) {
  if (storedType == elementType)
    return stored;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored,
                               laneConstant(b, storedType, widthOf(stored), 0));
}

Value LaneBuffer::storedOf(Value value) {
  if (storedType == elementType)
    return value;
  return arith::ExtUIOp::create(b, laneType(storedType, widthOf(value)), value);
}

Value LaneBuffer::splat(Value at, int64_t width) {
  return spread(b, valueOf(memref::LoadOp::create(b, flat, at)), width);
}

Value LaneBuffer::gather(ArrayRef<Value> at, int64_t width, Value pad) {
  if (width == 1)
    return valueOf(memref::LoadOp::create(b, flat, at.front()));
  SmallVector<Value> elements;
  for (Value offset : at)
    elements.push_back(valueOf(memref::LoadOp::create(b, flat, offset)));
  if (int64_t(elements.size()) < width) {
    Value filler = pad ? laneOf(b, pad, 0) : laneConstant(b, elementType, 1, 1.0);
    elements.resize(width, filler);
  }
  return vector::FromElementsOp::create(b, VectorType::get({width}, elementType), elements);
}

bool LaneBuffer::hasGathers() const {
  return masks() && storedType == elementType && elementType.getIntOrFloatBitWidth() == 32;
}

Value LaneBuffer::gather(Value base, Value offsets) {
  const int64_t width = widthOf(offsets);
  auto maskType = VectorType::get({width}, b.getI1Type());
  Value all = vector::ConstantMaskOp::create(b, maskType, ArrayRef<int64_t>{width});
  Value none = laneConstant(b, elementType, width, 0.0);
  return valueOf(vector::GatherOp::create(b, VectorType::get({width}, storedType), flat, base,
                                          offsets, all, none));
}

Value LaneBuffer::load(Value at, int64_t width, int64_t count, int64_t stride, Value pad) {
  if (width == 1)
    return valueOf(memref::LoadOp::create(b, flat, at));
  if (stride == 0)
    return splat(at, width);
  if (stride != 1) {
    SmallVector<Value> offsets;
    for (int64_t i = 0; i < count; ++i)
      offsets.push_back(b.add(at, i * stride));
    return gather(offsets, width, pad);
  }

  auto type = VectorType::get({width}, storedType);
  if (count == width)
    return valueOf(vector::LoadOp::create(b, type, flat, at));
  pad = pad ? storedOf(pad) : laneConstant(b, storedType, width, 1.0);
  if (masks()) {
    auto maskType = VectorType::get({width}, b.getI1Type());
    Value mask = vector::ConstantMaskOp::create(b, maskType, ArrayRef<int64_t>{count});
    return valueOf(vector::MaskedLoadOp::create(b, type, flat, at, mask, pad));
  }
  Value part = vector::LoadOp::create(b, VectorType::get({count}, storedType), flat, at);
  return valueOf(vector::InsertStridedSliceOp::create(b, part, pad, ArrayRef<int64_t>{0},
                                                      ArrayRef<int64_t>{1}));
}

void LaneBuffer::store(Value value, Value at, int64_t count, int64_t stride) {
  int64_t width = widthOf(value);
  value = storedOf(value);
  if (width == 1) {
    memref::StoreOp::create(b, value, flat, at);
    return;
  }
  // LLVM 22 makes a store of one lane of its own out of a mask with one lane, and then stores the
  // lane as wide as it was before a truncation: bytes behind it are overwritten.
  if (stride != 1 || count == 1) {
    for (int64_t i = 0; i < count; ++i)
      memref::StoreOp::create(b, laneOf(b, value, i), flat, b.add(at, i * stride));
    return;
  }
  if (count < width && masks()) {
    auto maskType = VectorType::get({width}, b.getI1Type());
    Value mask = vector::ConstantMaskOp::create(b, maskType, ArrayRef<int64_t>{count});
    vector::MaskedStoreOp::create(b, flat, at, mask, value);
    return;
  }
  if (count < width)
    value = vector::ExtractStridedSliceOp::create(b, value, ArrayRef<int64_t>{0},
                                                  ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
  vector::StoreOp::create(b, value, flat, at);
}

//===----------------------------------------------------------------------===//
// Moving lanes between vectors
//===----------------------------------------------------------------------===//

namespace {

/// A lane of one of several vectors.
struct Lane {
  int64_t vector, lane;
};

/// Builds vectors from the lanes of the given ones: `from(r, j)` returns the source of lane j of
/// result r.
SmallVector<Value> pickLanes(KernelBuilder &b, ArrayRef<Value> vectors,
                             function_ref<Lane(int64_t, int64_t)> from) {
  int64_t width = widthOf(vectors.front());
  SmallVector<Value> results;
  for (size_t r = 0; r < vectors.size(); ++r) {
    Value result = vectors[0];
    for (size_t v = 1; v < vectors.size(); ++v) {
      SmallVector<int64_t> mask(width, -1);
      for (int64_t j = 0; j < width; ++j) {
        Lane lane = from(r, j);
        if (lane.vector == int64_t(v))
          mask[j] = width + lane.lane;
        else if (lane.vector < int64_t(v))
          mask[j] = v == 1 ? lane.lane : j;
      }
      result = vector::ShuffleOp::create(b, result, vectors[v], mask);
    }
    results.push_back(result);
  }
  return results;
}

/// Shuffles two vectors in the same way in every group of 4 lanes; lanes 4..7 of the mask are those
/// of `hi`.
Value shuffleQuads(KernelBuilder &b, Value lo, Value hi, std::array<int64_t, 4> quad) {
  int64_t width = widthOf(lo);
  SmallVector<int64_t> mask;
  for (int64_t j = 0; j < width; ++j) {
    int64_t from = quad[j % 4], base = j / 4 * 4;
    mask.push_back(from < 4 ? base + from : width + base + from - 4);
  }
  return vector::ShuffleOp::create(b, lo, hi, mask);
}

} // namespace

SmallVector<Value> interleave(KernelBuilder &b, ArrayRef<Value> vectors) {
  int64_t n = vectors.size(), width = widthOf(vectors.front());
  return pickLanes(b, vectors, [&](int64_t r, int64_t j) {
    return Lane{(r * width + j) % n, (r * width + j) / n};
  });
}

SmallVector<Value> deinterleave(KernelBuilder &b, ArrayRef<Value> vectors) {
  int64_t n = vectors.size(), width = widthOf(vectors.front());
  return pickLanes(b, vectors, [&](int64_t r, int64_t j) {
    return Lane{(j * n + r) / width, (j * n + r) % width};
  });
}

SmallVector<Value> transposeBlock(KernelBuilder &b, ArrayRef<Value> given) {
  SmallVector<Value> rows(given);
  int64_t width = rows.size();
  // Blocks of 4 x 4 are exchanged first (moves of 128 bits), then each is transposed inside its 128
  // bits, which is the cheap kind of shuffle.
  for (int64_t half = width / 2; half >= 4; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t j = 0; j < width; ++j) {
      int64_t base = j / (2 * half) * (2 * half), inside = j % (2 * half);
      bool fromFirst = inside < half;
      int64_t lane = base + inside % half;
      low.push_back(fromFirst ? lane : width + lane);
      high.push_back(fromFirst ? lane + half : width + lane + half);
    }
    for (int64_t i = 0; i < width; ++i) {
      if (i % (2 * half) >= half)
        continue;
      Value first = rows[i], second = rows[i + half];
      rows[i] = vector::ShuffleOp::create(b, first, second, low);
      rows[i + half] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
  for (int64_t i = 0; i < width; i += 4) {
    Value low01 = shuffleQuads(b, rows[i], rows[i + 1], {0, 4, 1, 5});
    Value high01 = shuffleQuads(b, rows[i], rows[i + 1], {2, 6, 3, 7});
    Value low23 = shuffleQuads(b, rows[i + 2], rows[i + 3], {0, 4, 1, 5});
    Value high23 = shuffleQuads(b, rows[i + 2], rows[i + 3], {2, 6, 3, 7});
    rows[i] = shuffleQuads(b, low01, low23, {0, 1, 4, 5});
    rows[i + 1] = shuffleQuads(b, low01, low23, {2, 3, 6, 7});
    rows[i + 2] = shuffleQuads(b, high01, high23, {0, 1, 4, 5});
    rows[i + 3] = shuffleQuads(b, high01, high23, {2, 3, 6, 7});
  }
  return rows;
}

} // namespace atc::cpu
