//===-- ByteTables.cpp - tables of bytes in registers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/ByteTables.h"

#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Bytes of the parts of a table that one instruction permutes: of an SSE register, of two
/// registers of AVX-512.
constexpr int64_t kPart = 16, kWidePart = 64;

struct LowerLookup : OpRewritePattern<LookupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupOp op, PatternRewriter &rewriter) const override {
    LevelAttr level = levelOf(op);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const bool isWide = level.getPermute() == "vbmi";
    // A register holds as many bytes as four times its floats.
    const int64_t width = isWide ? kWidePart : std::max<int64_t>(4 * level.getLanes(), kPart);
    Value index = op.getIndex();
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type)
      index = vector::BroadcastOp::create(b, VectorType::get({1}, b.getI8Type()), index);
    const int64_t lanes = type ? type.getDimSize(0) : 1;
    Value found;
    for (int64_t first = 0; first < lanes; first += width) {
      const int64_t count = std::min(width, lanes - first);
      // The least register that holds what is left.
      const int64_t used =
          isWide ? width : std::max<int64_t>(kPart, llvm::PowerOf2Ceil(uint64_t(count)));
      Value part = lanesOf(b, index, first, count, used);
      part = isWide                       ? lookUpWide(b, part, op.getTable())
             : level.getPermute().empty() ? lookUpEach(b, part, op.getTable())
                                          : lookUpParts(b, part, op.getTable());
      part = lanesOf(b, part, 0, count, count);
      found = found ? join(b, found, part) : part;
    }
    if (!type)
      found = vector::ExtractOp::create(b, found, ArrayRef<int64_t>{0});
    rewriter.replaceOp(op, found);
    return success();
  }

private:
  /// Returns `count` lanes from `first` on in a vector of `width`; the others are any.
  static Value lanesOf(ImplicitLocOpBuilder &b, Value value, int64_t first, int64_t count,
                       int64_t width) {
    if (first == 0 && count == width && cast<VectorType>(value.getType()).getDimSize(0) == width)
      return value;
    SmallVector<int64_t> lanes(width, ShuffledAny);
    for (int64_t i = 0; i < count; ++i)
      lanes[i] = first + i;
    return vector::ShuffleOp::create(b, value, value, lanes);
  }

  static Value join(ImplicitLocOpBuilder &b, Value low, Value high) {
    const int64_t size = cast<VectorType>(low.getType()).getDimSize(0),
                  more = cast<VectorType>(high.getType()).getDimSize(0);
    return vector::ShuffleOp::create(b, low, high,
                                     llvm::to_vector(llvm::seq<int64_t>(0, size + more)));
  }

  static Value bytes(ImplicitLocOpBuilder &b, ArrayRef<int8_t> values) {
    auto type = VectorType::get({int64_t(values.size())}, b.getI8Type());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
  }

  static Value call(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, operands.front().getType(), b.getStringAttr(name),
                                         operands)
        .getResult(0);
  }

  /// Two registers are half of the table: the upper bit of an index selects the half.
  static Value lookUpWide(ImplicitLocOpBuilder &b, Value index, ArrayRef<int8_t> table) {
    auto half = [&](int64_t first) {
      return call(b, "llvm.x86.avx512.vpermi2var.qi.512",
                  {bytes(b, table.slice(first, kWidePart)), index,
                   bytes(b, table.slice(first + kWidePart, kWidePart))});
    };
    Value isHigh =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, splat(b, index.getType(), 0));
    Value low = half(0), high = half(2 * kWidePart);
    return arith::SelectOp::create(b, isHigh, high, low);
  }

  /// pshufb takes the lower four bits as an index, and makes zeros where the upper bit is set. Each
  /// step moves the index down by a part; the parts that it was not below before are those up to
  /// its own, of which a sum of differences is its own one.
  static Value lookUpParts(ImplicitLocOpBuilder &b, Value index, ArrayRef<int8_t> table) {
    const int64_t width = cast<VectorType>(index.getType()).getDimSize(0);
    StringRef name = width == 64   ? "llvm.x86.avx512.pshuf.b.512"
                     : width == 32 ? "llvm.x86.avx2.pshuf.b"
                                   : "llvm.x86.ssse3.pshuf.b.128";
    auto half = [&](int64_t first, Value at) {
      Value sum;
      for (int64_t part = 0; part < 128; part += kPart) {
        SmallVector<int8_t> differences;
        for (int64_t i = 0; i < width; ++i) {
          const int64_t from = first + part + i % kPart;
          differences.push_back(int8_t(table[from] ^ (part ? table[from - kPart] : 0)));
        }
        if (part)
          at = LLVM::SSubSat::create(b, at.getType(), at, splat(b, at.getType(), kPart));
        Value found = call(b, name, {bytes(b, differences), at});
        sum = sum ? arith::XOrIOp::create(b, sum, found).getResult() : found;
      }
      return sum;
    };
    // In the upper half, indices of the lower one are negative.
    Value low = half(0, index);
    Value high = half(128, arith::XOrIOp::create(b, index, splat(b, index.getType(), -128)));
    return arith::XOrIOp::create(b, low, high);
  }

  /// Without such instructions.
  static Value lookUpEach(ImplicitLocOpBuilder &b, Value index, ArrayRef<int8_t> table) {
    Value all = bytes(b, table);
    SmallVector<Value> found;
    for (int64_t i = 0; i < cast<VectorType>(index.getType()).getDimSize(0); ++i) {
      Value lane = vector::ExtractOp::create(b, index, ArrayRef<int64_t>{i});
      lane = arith::IndexCastUIOp::create(b, b.getIndexType(), lane);
      found.push_back(vector::ExtractOp::create(b, all, OpFoldResult(lane)));
    }
    return vector::FromElementsOp::create(b, index.getType(), found);
  }

  static constexpr int64_t ShuffledAny = vector::ShuffleOp::kPoisonIndex;
};

} // namespace

void populateByteTablePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerLookup>(patterns.getContext());
}

} // namespace atc::cpu
