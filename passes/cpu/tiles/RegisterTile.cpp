//===-- RegisterTile.cpp - the accumulators of a contraction --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/RegisterTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

RegisterTile::RegisterTile(KernelBuilder &builder, int64_t pixels, int64_t blocks, int64_t width,
                           Products products)
    : b(builder), pixels(pixels), blocks(blocks), width(width),
      lanes(std::min(width, builder.level().getLanes())), products(products),
      type(products == Products::Float32 ? VectorType::get({lanes}, builder.getF32Type())
                                         : VectorType::get({2 * lanes}, builder.getF16Type())) {
  accumulators.resize(pixels * blocks * vectors());
}

Value RegisterTile::at(Address address) { return b.add(address.base, address.offset); }

Value RegisterTile::loadVector(Value flat, Address address) {
  return vector::LoadOp::create(b, type, flat, at(address));
}

Value RegisterTile::loadVector(Value flat, Address address, int64_t valid) {
  if (valid == lanes)
    return loadVector(flat, address);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  if (valid == 0)
    return zero;
  return vector::MaskedLoadOp::create(b, type, flat, at(address), laneMask(valid), zero);
}

Value RegisterTile::loadWeights(Value flat, Address address, int64_t valid) {
  Type element = elementOf(flat);
  if (element == type.getElementType())
    return loadVector(flat, address, valid);
  assert(valid == lanes && "packed weights are full");
  Value narrow = vector::LoadOp::create(b, type.clone(element), flat, at(address));
  return arith::ExtFOp::create(b, type, narrow);
}

Value RegisterTile::laneMask(int64_t valid) {
  auto maskType = VectorType::get({lanes}, b.getI1Type());
  return vector::ConstantMaskOp::create(b, maskType, ArrayRef<int64_t>{valid});
}

void RegisterTile::zero() {
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  llvm::fill(accumulators, zero);
}

void RegisterTile::broadcast(Value flat, Address first, int64_t blockStride) {
  for (int64_t j = 0; j < blocks; ++j)
    for (int64_t v = 0; v < vectors(); ++v) {
      Value start = loadVector(flat, first + (j * blockStride + v * lanes));
      for (int64_t p = 0; p < pixels; ++p)
        acc(p, j, v) = start;
    }
}

void RegisterTile::load(Value flat, ArrayRef<Address> at, int64_t blockStride,
                        int64_t lastBlockWidth) {
  map([&](Value, int64_t p, int64_t j, int64_t v) {
    return loadVector(flat, at[p] + (j * blockStride + v * lanes),
                      validLanes(j, v, lastBlockWidth));
  });
}

void RegisterTile::map(MapFn fn) {
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t j = 0; j < blocks; ++j)
      for (int64_t v = 0; v < vectors(); ++v)
        acc(p, j, v) = fn(acc(p, j, v), p, j, v);
}

void RegisterTile::store(Value flat, ArrayRef<Address> to, int64_t blockStride,
                         int64_t lastBlockWidth) {
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t j = 0; j < blocks; ++j)
      for (int64_t v = 0; v < vectors(); ++v) {
        Value index = at(to[p] + (j * blockStride + v * lanes));
        int64_t valid = validLanes(j, v, lastBlockWidth);
        if (valid == lanes)
          vector::StoreOp::create(b, acc(p, j, v), flat, index);
        else if (valid > 0)
          vector::MaskedStoreOp::create(b, flat, index, laneMask(valid), acc(p, j, v));
      }
}

void RegisterTile::addTo(Value flat, ArrayRef<Address> to, int64_t blockStride) {
  assert(products == Products::HalfPairs && vectors() == 1);
  auto words = VectorType::get({lanes}, b.getI32Type());
  const Value half =
      arith::ConstantOp::create(b, DenseElementsAttr::get(words, b.getI32IntegerAttr(16)));
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t j = 0; j < blocks; ++j) {
      // The odd lanes move to the even ones; the lower halves of the words are the sums then.
      Value odd =
          arith::ShRUIOp::create(b, vector::BitCastOp::create(b, words, acc(p, j, 0)), half);
      Value sum =
          LLVM::FAddOp::create(b, type, acc(p, j, 0), vector::BitCastOp::create(b, type, odd));
      Value bits = arith::TruncIOp::create(b, words.clone(b.getI16Type()),
                                           vector::BitCastOp::create(b, words, sum));
      Value narrow = arith::BitcastOp::create(b, words.clone(b.getF16Type()), bits);
      Value wide = arith::ExtFOp::create(b, words.clone(b.getF32Type()), narrow);
      Value index = at(to[p] + j * blockStride);
      Value before = vector::LoadOp::create(b, wide.getType(), flat, index);
      vector::StoreOp::create(b, arith::AddFOp::create(b, before, wide), flat, index);
    }
}

/// Loads what all channels of a pixel are multiplied by: one element, or one pair of f16.
Value RegisterTile::spreadElement(Value lhs, Address address) {
  Value element = memref::LoadOp::create(b, lhs, at(address));
  if (products == Products::Float32)
    return vector::BroadcastOp::create(b, type, element);
  Value pairs = vector::BroadcastOp::create(b, VectorType::get({lanes}, b.getF32Type()), element);
  return vector::BitCastOp::create(b, type, pairs);
}

Value RegisterTile::multiplyAdd(Value x, Value y, Value sum) {
  if (products == Products::Float32)
    return b.madd(x, y, sum);
  // Operations of other dialects on f16 are computed in f32.
  return LLVM::FMAOp::create(b, type, x, y, sum);
}

/// Returns whether the code of a loop is repeated instead of jumping back.
static bool isStraight(const SumLoop &loop) {
  return !loop.begin && (loop.unroll || loop.trip == 1);
}

void RegisterTile::contract(Value lhs, ArrayRef<Address> lhsPixels, Value rhs, Address rhsFirst,
                            int64_t rhsBlockStride, ArrayRef<SumLoop> loops, int64_t lastBlockWidth,
                            const Lookahead *ahead) {
  auto step = [&](ArrayRef<Address> lhsAt, Address rhsAt) {
    SmallVector<Value> weights;
    for (int64_t j = 0; j < blocks; ++j)
      for (int64_t v = 0; v < vectors(); ++v)
        weights.push_back(loadWeights(rhs, rhsAt + (j * rhsBlockStride + v * lanes),
                                      validLanes(j, v, lastBlockWidth)));
    for (int64_t p = 0; p < pixels; ++p) {
      Value splat = spreadElement(lhs, lhsAt[p]);
      for (int64_t j = 0; j < blocks; ++j)
        for (int64_t v = 0; v < vectors(); ++v)
          acc(p, j, v) = multiplyAdd(splat, weights[j * vectors() + v], acc(p, j, v));
    }
  };
  if (!ahead)
    return sum(lhsPixels, rhsFirst, loops, step);

  // Iterations of the innermost loop, and the elements of rhs that each reads.
  int64_t iterations = 1, elements = loops.front().trip * loops.front().rhsStride;
  for (const SumLoop &loop : loops)
    if (!isStraight(loop)) {
      iterations *= loop.trip;
      elements = loop.rhsStride;
    }
  // Lines per iteration, and the tiles whose shares cover a panel; the others repeat the last
  // share.
  const int64_t line = 64 * 8 / elementOf(rhs).getIntOrFloatBitWidth();
  const int64_t panelLines = llvm::divideCeil(elements, line);
  const int64_t lines = llvm::divideCeil(panelLines, ahead->tiles);
  const int64_t shares = llvm::divideCeil(panelLines, lines);
  Value ordinal = arith::MinUIOp::create(b, ahead->ordinal, b.index(shares - 1));
  Value from = b.mulAdd(ordinal, iterations * lines * line, ahead->from);
  auto request = [&](Address rhsAt) {
    Value done = arith::SubIOp::create(b, rhsAt.base, rhsFirst.base);
    Value iteration = arith::DivUIOp::create(b, done, b.index(elements));
    Value first = b.mulAdd(iteration, lines * line, from);
    for (int64_t j = 0; j < blocks; ++j)
      for (int64_t i = 0; i < lines; ++i) {
        Value next = b.add(first, j * rhsBlockStride + i * line);
        memref::PrefetchOp::create(b, rhs, ValueRange{next}, /*isWrite=*/false,
                                   /*localityHint=*/2, /*isDataCache=*/true);
      }
  };
  if (iterations == 1)
    request(rhsFirst);
  sum(lhsPixels, rhsFirst, loops, step, request);
}

void RegisterTile::contractRows(Value lhs, ArrayRef<Address> lhsRows, int64_t lhsStride, Value rhs,
                                Address rhsFirst, int64_t rhsStride, int64_t rhsBlockStride,
                                int64_t depth, int64_t lastBlockWidth, const Lookahead *ahead) {
  const int64_t unroll = std::min<int64_t>(depth, 8), tail = depth % unroll;
  contract(lhs, lhsRows, rhs, rhsFirst, rhsBlockStride,
           {{depth / unroll, unroll * lhsStride, unroll * rhsStride},
            {unroll, lhsStride, rhsStride, /*unroll=*/true}},
           lastBlockWidth, ahead);
  if (tail == 0)
    return;
  SmallVector<Address> rest;
  for (Address address : lhsRows)
    rest.push_back(address + (depth - tail) * lhsStride);
  contract(lhs, rest, rhs, rhsFirst + (depth - tail) * rhsStride, rhsBlockStride,
           {{tail, lhsStride, rhsStride, /*unroll=*/true}}, lastBlockWidth);
}

void RegisterTile::multiply(Value lhs, ArrayRef<Address> lhsPixels, Value rhs, Address rhsFirst,
                            ArrayRef<SumLoop> loops) {
  sum(lhsPixels, rhsFirst, loops, [&](ArrayRef<Address> lhsAt, Address rhsAt) {
    SmallVector<Value> weights;
    for (int64_t v = 0; v < vectors(); ++v)
      weights.push_back(loadVector(rhs, rhsAt + v * lanes));
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t v = 0; v < vectors(); ++v)
        acc(p, 0, v) = b.madd(loadVector(lhs, lhsAt[p] + v * lanes), weights[v], acc(p, 0, v));
  });
}

void RegisterTile::sum(ArrayRef<Address> lhsPixels, Address rhsAt, ArrayRef<SumLoop> loops,
                       StepFn step, IterationFn iteration) {
  if (loops.empty())
    return step(lhsPixels, rhsAt);
  const SumLoop &loop = loops.front();

  SmallVector<Address> moved(lhsPixels);
  if (isStraight(loop)) {
    for (int64_t i = 0; i < loop.trip; ++i) {
      for (auto [to, from] : llvm::zip(moved, lhsPixels))
        to = from + i * loop.lhsStride;
      sum(moved, rhsAt + i * loop.rhsStride, loops.drop_front(), step, iteration);
    }
    return;
  }

  const Value begin = loop.begin ? loop.begin : b.index(0);
  const Value end = loop.end ? loop.end : b.index(loop.trip);
  accumulators = b.loop(begin, end, 1, accumulators, [&](Value i, ValueRange carried) {
    accumulators.assign(carried.begin(), carried.end());
    Value lhsStep = b.mul(i, loop.lhsStride);
    // Pixels of a row share their base, and so its increment.
    llvm::SmallDenseMap<Value, Value> bases;
    for (Address &address : moved) {
      Value &base = bases[address.base];
      if (!base)
        base = b.add(address.base, lhsStep);
      address.base = base;
    }
    Address rhsMoved{b.mulAdd(i, loop.rhsStride, rhsAt.base), rhsAt.offset};
    if (iteration && llvm::all_of(loops.drop_front(), isStraight))
      iteration(rhsMoved);
    sum(moved, rhsMoved, loops.drop_front(), step, iteration);
    return accumulators;
  });
}

} // namespace atc::cpu
