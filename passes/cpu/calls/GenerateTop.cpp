//===-- GenerateTop.cpp - the first of sorted elements, dims at run time --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "kernels/core/GeneratedCode.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds TopK of few elements: those found so far are sorted, and one that comes before the last
/// of them is inserted. NaN counts as the maximum; equal elements keep their order.
class Top {
public:
  Top(RowBuilder &b, int64_t axis, bool isLargest)
      : b(b), in(b.in(0)), axis(axis), isLargest(isLargest),
        wide(RowBuilder::computeType(in.element)) {}

  void build() {
    best = b.scratch(wide, kernels::kMaxTop);
    places = b.scratch(b.getIndexType(), kernels::kMaxTop);
    wanted = b.out().dims[axis];
    Value inner = b.product(ArrayRef(in.dims).drop_front(axis + 1));
    // A row is all lanes of one index of the dims in front of the axis.
    b.setRowDims(in.rank() - axis);
    b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
      Value from = b.mul(b.row(), b.mul(in.dims[axis], inner));
      b.loop(inner, [&](Value j) {
        find(b.add(from, j), inner);
        b.loop(wanted, [&](Value p) {
          Value to = b.add(b.add(row, j), b.mul(p, inner));
          b.storeWide(b.out(), b.load(best, p), to);
          if (b.numOutputs() > 1 && b.out(1)) {
            Value place = arith::IndexCastOp::create(b, b.out(1).element, b.load(places, p));
            b.store(b.out(1), place, to);
          }
        });
      });
    });
  }

private:
  /// Returns whether `x` comes before `y`, whatever their order in the input.
  Value precedes(Value x, Value y) {
    using arith::CmpFPredicate;
    // An unordered comparison holds where one of both is NaN: then the other must not be.
    Value number = isLargest ? y : x;
    return arith::AndIOp::create(
        b, b.compareF(isLargest ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, y),
        b.compareF(CmpFPredicate::ORD, number, number));
  }

  /// Finds the first elements of the lane at `base`, whose elements are `step` apart.
  void find(Value base, Value step) {
    Value one = b.index(1);
    b.fold(in.dims[axis], b.index(0), [&](Value i, ValueRange carried) -> Indices {
      using arith::CmpIPredicate;
      Value found = carried.front();
      Value x = b.loadWide(in, b.add(base, b.mul(i, step)));
      Value isMore = b.compare(CmpIPredicate::slt, found, wanted);
      // The places behind those found hold nothing yet.
      Value isBefore = precedes(x, b.load(best, b.max(b.sub(found, one), b.index(0))));
      b.ifThen(arith::OrIOp::create(b, isMore, isBefore), [&] { insert(x, i, found); });
      return {b.min(b.add(found, one), wanted)};
    });
  }

  void insert(Value x, Value i, Value found) {
    Value one = b.index(1);
    Value position = b.fold(found, b.index(0), [&](Value p, ValueRange carried) -> Indices {
      Value isBehind = precedes(x, b.load(best, p));
      return {b.add(carried.front(), b.select(isBehind, b.index(0), one))};
    })[0];
    Value end = b.min(found, b.sub(wanted, one));
    b.loop(b.sub(end, position), [&](Value steps) {
      Value to = b.sub(end, steps), from = b.sub(to, one);
      b.store(best, b.load(best, from), to);
      b.store(places, b.load(places, from), to);
    });
    b.store(best, x, position);
    b.store(places, i, position);
  }

  RowBuilder &b;
  const Port &in;
  int64_t axis;
  bool isLargest;
  Type wide;
  Port best, places;
  Value wanted;
};

bool topK(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const std::optional<int64_t> axis = axisOf(call, -1, in.rank());
  if (!axis || !in.isFloat() || b.out().rank() != in.rank())
    return false;
  Top(b, *axis, host::integerOf(call, "largest", 1) != 0).build();
  return true;
}

} // namespace

Generator findTopGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {{"TopK", topK}};
  return generators.lookup(kernel);
}

} // namespace atc::cpu
