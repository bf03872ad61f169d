//===-- GeneratePool.cpp - pools over dims that are known at run time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the result is computed in blocks of columns: for each tap of the window, the columns
// whose input exists are combined with the row of the input.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/CallWindow.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

class Pool {
public:
  Pool(RowBuilder &b, const Window &window, bool isMax, bool countsPads)
      : b(b), in(b.in(0)), window(window), isMax(isMax), countsPads(countsPads),
        wide(RowBuilder::computeType(in.element)) {}

  void build() {
    Port sums = b.scratch(wide, kBlock);
    if (b.numOutputs() > 1 && b.out(1))
      places = b.scratch(b.getI64Type(), kBlock);
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      Value blocks = b.div(b.add(length, b.index(kBlock - 1)), b.index(kBlock));
      b.loop(blocks, [&](Value number) {
        Value first = b.mul(number, b.index(kBlock));
        Value count = b.min(b.index(kBlock), b.sub(length, first));
        b.loop(count, [&](Value j) {
          b.store(sums, b.constant(wide, start()), j);
          if (places)
            b.store(places, b.constant(places.element, -1), j);
        });
        Value plane = b.add(b.mul(indices[0], in.strides[0]), b.mul(indices[1], in.strides[1]));
        addTaps(0, plane, indices.drop_front(2), first, count, sums);
        finish(indices.drop_front(2), row, first, count, sums);
        if (places)
          storePlaces(plane, b.add(row, first), count);
      });
    });
  }

private:
  static constexpr int64_t kBlock = 256;

  double start() const { return isMax ? -std::numeric_limits<double>::infinity() : 0; }

  /// Returns the input of dim `d` that tap `tap` of output `o` reads.
  Value positionOf(int64_t d, Value o, Value tap) {
    Value at = b.add(b.mul(o, b.index(window.stride[d])), b.mul(tap, b.index(window.dilation[d])));
    return b.sub(at, window.before[d]);
  }

  void addTaps(int64_t d, Value base, ArrayRef<Value> indices, Value first, Value count,
               const Port &sums) {
    const int64_t last = window.rank() - 1;
    b.loop(b.index(window.kernel[d]), [&](Value tap) {
      if (d < last) {
        Value at = positionOf(d, indices[d], tap);
        b.ifThen(b.compare(arith::CmpIPredicate::ult, at, in.dims[d + 2]), [&] {
          addTaps(d + 1, b.add(base, b.mul(at, in.strides[d + 2])), indices, first, count, sums);
        });
        return;
      }
      // Column j reads input j * stride + shift, which exists for columns [from, to).
      Value shift = positionOf(d, first, tap), zero = b.index(0);
      Value stride = b.index(window.stride[d]), up = b.index(window.stride[d] - 1);
      Value from = b.min(b.div(b.add(b.max(b.sub(zero, shift), zero), up), stride), count);
      Value room = b.max(b.sub(in.dims[d + 2], shift), zero);
      Value to = b.max(b.min(b.div(b.add(room, up), stride), count), from);
      b.loop(from, to, [&](Value j) {
        Value at = b.add(b.add(base, shift), b.mul(j, stride));
        Value x = b.loadWide(in, at), sum = b.load(sums, j);
        if (places)
          return choose(sums, j, sum, x, at);
        b.store(sums, isMax ? larger(sum, x) : arith::AddFOp::create(b, sum, x).getResult(), j);
      });
    });
  }

  /// Returns whether a maximum stays beside a value: the first of equal ones, and the first NaN.
  Value stays(Value best, Value x) {
    return arith::OrIOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, best, x),
                                arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, best, best));
  }

  Value larger(Value a, Value x) { return b.select(stays(a, x), a, x); }

  /// Keeps the larger of two values, and where it is: the first of equal ones.
  void choose(const Port &sums, Value j, Value best, Value x, Value at) {
    Value place = b.load(places, j), none = b.constant(places.element, 0);
    Value isAny = b.compare(arith::CmpIPredicate::sge, place, none);
    Value isKept = arith::AndIOp::create(b, stays(best, x), isAny);
    b.store(sums, b.select(isKept, best, x), j);
    Value own = arith::IndexCastOp::create(b, places.element, at);
    b.store(places, b.select(isKept, place, own), j);
  }

  /// Stores the places of `count` results; a window without elements has the first of its plane.
  void storePlaces(Value plane, Value row, Value count) {
    Value first = arith::IndexCastOp::create(b, places.element, plane);
    b.loop(count, [&](Value j) {
      Value place = b.load(places, j), none = b.constant(places.element, 0);
      Value isAny = b.compare(arith::CmpIPredicate::sge, place, none);
      b.store(b.out(1), b.select(isAny, place, first), b.add(row, j));
    });
  }

  /// Returns how many taps of output `o` in dim d count.
  Value countTaps(int64_t d, Value o) {
    Value begin = positionOf(d, o, b.index(0)), zero = b.index(0);
    Value low = countsPads ? b.sub(zero, window.before[d]) : zero;
    Value high = countsPads ? b.add(in.dims[d + 2], b.index(window.after[d])) : in.dims[d + 2];
    Value dilation = b.index(window.dilation[d]), up = b.index(window.dilation[d] - 1);
    Value kernel = b.index(window.kernel[d]);
    Value first = b.min(b.div(b.add(b.max(b.sub(low, begin), zero), up), dilation), kernel);
    Value last = b.min(b.div(b.add(b.max(b.sub(high, begin), zero), up), dilation), kernel);
    return b.max(b.sub(last, first), zero);
  }

  void finish(ArrayRef<Value> indices, Value row, Value first, Value count, const Port &sums) {
    Value taps = b.index(1);
    if (!isMax)
      for (auto [d, index] : llvm::enumerate(indices))
        taps = b.mul(taps, countTaps(int64_t(d), index));
    b.loop(count, [&](Value j) {
      Value result = b.load(sums, j);
      if (!isMax) {
        Value own = b.mul(taps, countTaps(window.rank() - 1, b.add(first, j)));
        Value integer = arith::IndexCastOp::create(b, b.getI64Type(), own);
        Value number = arith::SIToFPOp::create(b, wide, integer);
        Value isNone = b.compare(arith::CmpIPredicate::eq, own, b.index(0));
        result = b.select(isNone, b.constant(wide, 0),
                          arith::DivFOp::create(b, result, number).getResult());
      }
      b.storeWide(b.out(), result, b.add(b.add(row, first), j));
    });
  }

  RowBuilder &b;
  const Port &in;
  const Window &window;
  bool isMax, countsPads;
  Type wide;
  Port places; ///< of the maxima of a block in the input, where they are wanted
};

template <bool isMax> bool pool(RowBuilder &b, graph::HostCallOp call) {
  if (b.in(0).rank() < 3 || !b.in(0).isFloat() || b.out().rank() != b.in(0).rank() ||
      host::integerOf(call, "storage_order", 0) != 0)
    return false;
  FailureOr<Window> window = readWindow(call, b.in(0).rank() - 2);
  // Images in blocks of channels have their lanes in the last dim: the host kernel keeps these in
  // registers. Pads at the end depend on the dims where the mode computes them.
  const bool isAutomatic = hasText(call, "auto_pad", "NOTSET", "SAME_UPPER") ||
                           hasText(call, "auto_pad", "NOTSET", "SAME_LOWER");
  const bool countsPads = host::integerOf(call, "count_include_pad", 0) != 0;
  if (failed(window) || window->kernel.empty() ||
      (window->kernel.back() == 1 && window->rank() > 2) || (!isMax && countsPads && isAutomatic))
    return false;
  placeWindow(b, call, *window,
              llvm::map_to_vector(window->kernel, [&](int64_t size) { return b.index(size); }));
  Pool(b, *window, isMax, countsPads).build();
  return true;
}

} // namespace

Generator findPoolGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"AveragePool", pool<false>},
      {"MaxPool", pool<true>},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
