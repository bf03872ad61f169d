//===-- RowLanes.cpp - vectors of elements of a row -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code generator makes vectors of loops itself, but rows are short: what is left behind its
// blocks of several vectors took it one element at a time, as long as the rest. Here the last
// vector of a row begins where it ends with the row, and rows that are shorter than a vector are
// vectors of half its size, down to four elements.

#include "passes/cpu/calls/RowBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace atc::cpu {

/// Keeps the code generator from making vectors of a loop over few elements.
static void keepScalar(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto off =
      LLVM::LoopVectorizeAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, off, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}));
}

void RowBuilder::lanes(Value count, Type loaded, Body body) {
  if (!hasLanes(loaded))
    return loop(count, body);
  lanesOf(kLanes, count, body);
}

void RowBuilder::lanesOf(int64_t size, Value count, Body body) {
  Value whole = index(size);
  ifElse(
      compare(arith::CmpIPredicate::sge, count, whole),
      [&] {
        llvm::SaveAndRestore wide(width, size);
        Value last = sub(count, whole);
        fold(index(0), count, whole, {}, [&](Value j, ValueRange) -> Indices {
          body(min(j, last));
          return {};
        });
      },
      [&] {
        if (size > kFewLanes)
          return lanesOf(size / 2, count, body);
        auto single = scf::ForOp::create(*this, index(0), count, index(1));
        keepScalar(single);
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPointToStart(single.getBody());
        body(single.getInductionVar());
      });
}

Value RowBuilder::spread(Value number) {
  if (width == 1)
    return number;
  return vector::BroadcastOp::create(*this, VectorType::get({width}, number.getType()), number);
}

Value RowBuilder::loadLanes(const Port &port, Value at, int64_t step) {
  if (width == 1 || step == 1)
    return load(port, at);
  // The second half begins with the last element of the first one, so that nothing is read behind
  // the last element that is wanted.
  SmallVector<int64_t> positions;
  for (int64_t j = 0; j < width; ++j)
    positions.push_back(2 * j < width ? 2 * j : 2 * j + 1);
  Value low = load(port, at), high = load(port, add(at, index(width - 1)));
  return vector::ShuffleOp::create(*this, low, high, positions);
}

Value RowBuilder::reduceLanes(Value count, Type loaded, Value initial,
                              function_ref<Value(Value)> element,
                              function_ref<Value(Value, Value)> combine) {
  // Accumulators that do not wait for each other.
  constexpr int64_t chains = 4;
  const Type type = initial.getType();
  auto single = [&] {
    return fold(count, initial, [&](Value j, ValueRange carried) -> Indices {
      return {combine(carried.front(), element(j))};
    })[0];
  };
  if (!hasLanes(loaded))
    return single();
  auto branch = scf::IfOp::create(*this, TypeRange(type),
                                  compare(arith::CmpIPredicate::sge, count, index(kLanes)),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&branch.getElseRegion().front());
  Value few = single();
  keepScalar(few.getDefiningOp<scf::ForOp>());
  scf::YieldOp::create(*this, few);

  setInsertionPointToStart(&branch.getThenRegion().front());
  llvm::SaveAndRestore wide(width, kLanes);
  Value start = spread(initial), block = index(chains * kLanes);
  // Blocks end before the last element, so that the last vector has one at least.
  Value others = sub(count, index(1)), last = sub(count, index(kLanes));
  Value blocks = sub(others, rem(others, block));
  Indices sums = fold(index(0), blocks, block, SmallVector<Value>(chains, start),
                      [&](Value j, ValueRange carried) {
                        Indices next;
                        for (int64_t c = 0; c < chains; ++c)
                          next.push_back(combine(carried[c], element(add(j, index(c * kLanes)))));
                        return next;
                      });
  Value all = combine(combine(sums[0], sums[1]), combine(sums[2], sums[3]));
  all = fold(blocks, last, index(kLanes), all, [&](Value j, ValueRange carried) -> Indices {
    return {combine(carried.front(), element(j))};
  })[0];
  // The last vector overlaps the one before it: only the elements that no other vector has count.
  Value counts = lanesFrom(sub(index(kLanes - 1), rem(others, index(kLanes))));
  all = combine(all, arith::SelectOp::create(*this, counts, element(last), start));
  scf::YieldOp::create(*this, foldVector(all, combine));
  return branch.getResult(0);
}

Value RowBuilder::lanesFrom(Value first) {
  auto type = VectorType::get({width}, getI64Type());
  Value numbers = arith::ConstantOp::create(
      *this, DenseIntElementsAttr::get(type, llvm::to_vector(llvm::seq<int64_t>(0, width))));
  first = spread(arith::IndexCastOp::create(*this, getI64Type(), first));
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::sge, numbers, first);
}

Value RowBuilder::foldVector(Value all, function_ref<Value(Value, Value)> combine) {
  for (int64_t half = width / 2; half > 0; half /= 2) {
    auto part = [&](int64_t from) -> Value {
      return vector::ShuffleOp::create(*this, all, all,
                                       llvm::to_vector(llvm::seq<int64_t>(from, from + half)));
    };
    all = combine(part(0), part(half));
  }
  return vector::ExtractOp::create(*this, all, ArrayRef<int64_t>{0});
}

void RowBuilder::shortRow(Value count, Type loaded, function_ref<void(Value, Value)> few,
                          function_ref<void()> others) {
  if (!hasLanes(loaded))
    return others();
  using arith::CmpIPredicate;
  auto vectorsOf = [&](int64_t size) {
    llvm::SaveAndRestore wide(width, size);
    few(sub(count, index(size)), lanesFrom(sub(index(2 * size), count)));
  };
  Value isFew =
      compare(CmpIPredicate::ult, sub(count, index(kFewLanes)), index(2 * kShortLanes - kFewLanes));
  ifElse(
      isFew,
      [&] {
        ifElse(
            compare(CmpIPredicate::sge, count, index(kShortLanes)), [&] { vectorsOf(kShortLanes); },
            [&] { vectorsOf(kFewLanes); });
      },
      others);
}

} // namespace atc::cpu
