//===-- IntegerDot.cpp - int8 and int16 dot products ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/IntegerDot.h"

#include "passes/cpu/tiles/LaneBuffer.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

IntegerDot::IntegerDot(KernelBuilder &builder, int64_t lanes)
    : b(builder), lanes(lanes), dot(builder.level().getDot()) {
  // There is no instruction for 128 bits beside these of VNNI.
  if (dot == "vnni" && lanes < 8)
    dot = "maddubs";
}

Value IntegerDot::bitcast(Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  int64_t count =
      type.getNumElements() * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(b, VectorType::get({count}, element), vector);
}

Value IntegerDot::repeat(Value word, Type element) {
  return bitcast(vector::BroadcastOp::create(b, VectorType::get({lanes}, word.getType()), word),
                 element);
}

Value IntegerDot::constant(Type element, int64_t perLane, int64_t value) {
  return splat(b, VectorType::get({lanes * perLane}, element), value);
}

Value IntegerDot::call(StringRef name, Type element, int64_t perLane, ValueRange args) {
  Type type = VectorType::get({lanes * perLane}, element);
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), args).getResult(0);
}

Value IntegerDot::maddPairs(Value x, Value w) {
  return call(lanes == 4   ? "llvm.x86.sse2.pmadd.wd"
              : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                           : "llvm.x86.avx512.pmaddw.d.512",
              b.getI32Type(), 1, {x, w});
}

Value IntegerDot::products(Value x, Value w, int64_t perLane, bool isUnsigned) {
  auto wide = VectorType::get({perLane * lanes}, b.getI32Type());
  Value left = isUnsigned ? arith::ExtUIOp::create(b, wide, x).getResult()
                          : arith::ExtSIOp::create(b, wide, x).getResult();
  Value all = arith::MulIOp::create(b, left, arith::ExtSIOp::create(b, wide, w));
  for (int64_t size = perLane / 2 * lanes; size >= lanes; size /= 2) {
    SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < size; ++i) {
      even.push_back(2 * i);
      odd.push_back(2 * i + 1);
    }
    all = arith::AddIOp::create(b, vector::ShuffleOp::create(b, all, all, even),
                                vector::ShuffleOp::create(b, all, all, odd));
  }
  return all;
}

ByteDot::ByteDot(KernelBuilder &builder, int64_t lanes, bool byMagnitude, bool isSigned)
    : IntegerDot(builder, lanes), byMagnitude(byMagnitude), isSigned(isSigned) {
  if (dot == "maddubs")
    ones = constant(b.getI16Type(), 2, 1);
}

ByteDot::Weights ByteDot::load(Value filter, Value at) {
  Value weights =
      vector::LoadOp::create(b, VectorType::get({4 * lanes}, b.getI8Type()), filter, at);
  if (!byMagnitude)
    return {weights, Value()};
  Value flip = arith::ShRSIOp::create(b, weights, constant(b.getI8Type(), 4, 7));
  if (!isSigned)
    flip = arith::XOrIOp::create(b, flip, constant(b.getI8Type(), 4, -128));
  return {math::AbsIOp::create(b, weights), flip};
}

std::optional<int64_t> ByteDot::heldWeights(int64_t sums) const {
  if (dot != "maddubs" || lanes != 8 || byMagnitude)
    return std::nullopt;
  // The rest are ones, bytes and pairs on their way; half of what is left was measured
  // to be the fastest.
  return std::max<int64_t>(0, (b.level().getRegisters() - sums - 4) / 2);
}

Value ByteDot::spreadBytes(Value flat, Value at) {
  Value four = vector::LoadOp::create(b, VectorType::get({4}, b.getI8Type()), flat, at);
  Value word = laneOf(b, bitcast(four, b.getI32Type()), 0);
  if (isSigned && !byMagnitude)
    word = arith::XOrIOp::create(
        b, word, arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(0x80808080))));
  return repeat(word, b.getI8Type());
}

void ByteDot::add(MutableArrayRef<Value> sums, ArrayRef<Value> bytes,
                  ArrayRef<SmallVector<Weights>> weights) {
  SmallVector<Value> pairs(sums.size());
  for (auto [x, step] : llvm::zip_equal(bytes, weights))
    for (auto [sum, pair, w] : llvm::zip_equal(sums, pairs, step)) {
      // Either operand is unsigned: the bytes, or the magnitudes.
      Value plain = x, other = w.factors;
      if (byMagnitude) {
        other = arith::XOrIOp::create(b, x, w.flip);
        plain = w.factors;
      }
      if (dot == "maddubs") {
        Value product = call(lanes == 4   ? "llvm.x86.ssse3.pmadd.ub.sw.128"
                             : lanes == 8 ? "llvm.x86.avx2.pmadd.ub.sw"
                                          : "llvm.x86.avx512.pmaddubs.w.512",
                             b.getI16Type(), 2, {plain, other});
        pair = pair ? arith::AddIOp::create(b, pair, product).getResult() : product;
      } else if (dot == "vnni") {
        sum = call(lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256" : "llvm.x86.avx512.vpdpbusd.512",
                   b.getI32Type(), 1, {sum, plain, other});
      } else {
        sum = arith::AddIOp::create(b, sum,
                                    products(plain, other, /*perLane=*/4, /*isUnsigned=*/true));
      }
    }
  if (dot == "maddubs")
    for (auto [sum, pair] : llvm::zip_equal(sums, pairs))
      sum = arith::AddIOp::create(b, sum, maddPairs(pair, ones));
}

Value PairDot::load(Value filter, Value at) {
  return vector::LoadOp::create(b, VectorType::get({2 * lanes}, b.getI16Type()), filter, at);
}

Value PairDot::spreadPair(Value flat, Value at) {
  Value two = vector::LoadOp::create(b, VectorType::get({2}, b.getI16Type()), flat, at);
  return repeat(laneOf(b, bitcast(two, b.getI32Type()), 0), b.getI16Type());
}

Value PairDot::add(Value sum, Value numbers, Value weights) {
  if (dot == "vnni")
    return call(lanes == 8 ? "llvm.x86.avx512.vpdpwssd.256" : "llvm.x86.avx512.vpdpwssd.512",
                b.getI32Type(), 1, {sum, numbers, weights});
  Value both = dot.empty() ? products(numbers, weights, /*perLane=*/2, /*isUnsigned=*/false)
                           : maddPairs(numbers, weights);
  return arith::AddIOp::create(b, sum, both);
}

} // namespace atc::cpu
