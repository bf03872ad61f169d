//===-- GeneratePool.cpp - pools over dims that are known at run time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the result is computed in blocks of columns. First the rows of the input that a window
// reads are combined, column by column, to a line, which has pads at both ends; then the columns of
// each window: so a window of 3 x 3 takes 6 steps on neighbouring elements, and where the pads are
// is asked once per row. Some lines are made before any is read: a vector of elements that have
// just been stored in two vectors would have to wait until these are in the cache. Where the index
// of a maximum is wanted, each tap is combined with the result of the taps before it.

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
    const int64_t last = window.rank() - 1,
                  reach = (window.kernel[last] - 1) * window.dilation[last];
    const bool hasIndices = b.numOutputs() > 1 && b.out(1);
    // A line holds the columns that the windows of a block read, the last of them to its reach.
    const int64_t fitting = (kLine - 1 - reach) / window.stride[last] + 1;
    if (!hasIndices && window.kernel[last] <= kMaxUnrolled && reach < kLine / 2)
      return buildByLines(std::min(kBlock, fitting));
    Port sums = b.scratch(wide, kBlock);
    if (hasIndices)
      maxIndices = b.scratch(b.getI64Type(), kBlock);
    forEachBlock(kBlock,
                 [&](ArrayRef<Value> indices, Value plane, Value row, Value first, Value count) {
                   b.loop(count, [&](Value j) {
                     b.store(sums, b.constant(wide, start()), j);
                     if (maxIndices)
                       b.store(maxIndices, b.constant(maxIndices.element, -1), j);
                   });
                   addTaps(0, plane, indices, first, count, sums);
                   finish(indices, row, first, count, [&](Value j) { return b.load(sums, j); });
                   if (maxIndices)
                     storeIndices(plane, b.add(row, first), count);
                 });
  }

private:
  static constexpr int64_t kBlock = 256, kLine = 512, kLines = 8, kMaxUnrolled = 16, kFewTaps = 4;

  /// Calls body(indices behind the channel, plane, row of the result, first column, columns).
  void forEachBlock(int64_t block,
                    function_ref<void(ArrayRef<Value>, Value, Value, Value, Value)> body) {
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      Value blocks = b.div(b.add(length, b.index(block - 1)), b.index(block));
      Value plane = b.add(b.mul(indices[0], in.strides[0]), b.mul(indices[1], in.strides[1]));
      b.loop(blocks, [&](Value number) {
        Value first = b.mul(number, b.index(block));
        body(indices.drop_front(2), plane, row, first, b.min(b.index(block), b.sub(length, first)));
      });
    });
  }

  Value asNumber(Value count) {
    Value integer = arith::IndexCastOp::create(b, b.getI64Type(), count);
    return arith::SIToFPOp::create(b, wide, integer);
  }

  /// Returns the range of the taps of output `o` in dim d between two columns of the input.
  std::pair<Value, Value> tapsBetween(int64_t d, Value o, Value low, Value high) {
    Value begin = positionOf(d, o, b.index(0)), zero = b.index(0);
    Value dilation = b.index(window.dilation[d]), up = b.index(window.dilation[d] - 1);
    Value kernel = b.index(window.kernel[d]);
    Value first = b.min(b.div(b.add(b.max(b.sub(low, begin), zero), up), dilation), kernel);
    Value last = b.min(b.div(b.add(b.max(b.sub(high, begin), zero), up), dilation), kernel);
    return {first, b.max(last, first)};
  }

  /// Returns the range of the taps of output `o` in dim d that read the input.
  std::pair<Value, Value> tapsOf(int64_t d, Value o) {
    return tapsBetween(d, o, b.index(0), in.dims[d + 2]);
  }

  void buildByLines(int64_t block) {
    const int64_t last = window.rank() - 1, stride = window.stride[last];
    // The lines of neighbouring rows.
    Port lines = b.scratch(wide, kLines * kLine);
    Port counts = isMax ? Port() : b.scratch(wide, block);
    Port factors = isMax ? Port() : b.scratch(wide, kLines);
    Value length = b.out().dims.back(), zero = b.index(0), one = b.index(1);
    b.loop(b.div(b.add(length, b.index(block - 1)), b.index(block)), [&](Value number) {
      Value first = b.mul(number, b.index(block));
      Value count = b.min(b.index(block), b.sub(length, first));
      // Column c of the line is column `begin` + c of the input, which exists for [from, to).
      Value begin = positionOf(last, first, zero);
      Value width = b.add(b.mul(b.sub(count, one), b.index(stride)),
                          b.index((window.kernel[last] - 1) * window.dilation[last] + 1));
      Value from = b.min(b.max(b.sub(zero, begin), zero), width);
      Value to = b.max(b.min(b.sub(in.dims[last + 2], begin), width), from);
      if (!isMax)
        b.loop(count, [&](Value j) {
          b.store(counts, asNumber(b.max(countTaps(last, b.add(first, j)), one)), j);
        });
      auto direct = [&] {
        b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
          const Rows rows = rowsOf(indices, begin);
          b.lanes(count, in.element, [&](Value j) {
            Value at = b.add(rows.base, b.mul(j, b.index(stride)));
            Value result = combineRows(rows.taps, at, window.kernel[last], stride,
                                       b.spread(b.constant(wide, start())));
            store(result, b.add(b.add(row, first), j), counts, j, rows.count);
          });
        });
      };
      auto byLines = [&] {
        b.loop(b.mul(width, b.index(kLines)),
               [&](Value c) { b.store(lines, b.constant(wide, start()), c); });
        b.forEachRow([&](ArrayRef<Value> indices, Value row, Value) {
          const Rows rows = rowsOf(indices, b.add(begin, from));
          Value line = b.rem(b.sub(b.row(), b.firstRow()), b.index(kLines));
          Value index = b.add(b.mul(line, width), from);
          b.lanes(b.sub(to, from), in.element, [&](Value c) {
            Value initial = b.spread(b.constant(wide, start()));
            b.store(lines, combineRows(rows.taps, b.add(rows.base, c), 1, 1, initial),
                    b.add(index, c));
          });
          if (!isMax)
            b.store(factors, rows.count, line);
          Value isLast = arith::OrIOp::create(
              b, b.compare(arith::CmpIPredicate::eq, line, b.index(kLines - 1)),
              b.compare(arith::CmpIPredicate::eq, b.add(b.row(), one), b.endRow()));
          b.ifThen(isLast, [&] {
            b.loop(b.add(line, one), [&](Value before) {
              Value result = b.sub(b.add(row, first), b.mul(b.sub(line, before), length));
              finishLine(lines, b.mul(before, width), count, result, counts,
                         isMax ? Value() : b.load(factors, before));
            });
          });
        });
      };
      // Of few taps none is worth a line.
      if (stride > 2 || !RowBuilder::hasLanes(in.element) ||
          llvm::product_of(window.kernel) > kFewTaps)
        return byLines();
      Value isInside = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::eq, from, zero),
                                             b.compare(arith::CmpIPredicate::eq, to, width));
      b.ifElse(isInside, direct, byLines);
    });
  }

  /// The rows that the windows of a row of the result read: the input at index 0 of the spatial
  /// dims but the last, the taps of these that exist, and how many count, as a number.
  struct Rows {
    Value base, count;
    SmallVector<std::pair<Value, Value>> taps;
  };
  Rows rowsOf(ArrayRef<Value> indices, Value column) {
    Rows rows;
    Value count = b.index(1);
    rows.base = b.add(b.mul(indices[0], in.strides[0]), b.mul(indices[1], in.strides[1]));
    rows.base = b.add(rows.base, column);
    for (auto [d, index] : llvm::enumerate(indices.drop_front(2))) {
      rows.taps.push_back(tapsOf(int64_t(d), index));
      count = isMax ? count : b.mul(count, countTaps(int64_t(d), index));
      rows.base =
          b.add(rows.base, b.mul(positionOf(int64_t(d), index, b.index(0)), in.strides[d + 2]));
    }
    rows.count = isMax ? Value() : asNumber(b.max(count, b.index(1)));
    return rows;
  }

  /// Stores what the taps of window `j` combine to; a mean is by those that count of its rows and
  /// of its columns. A window of padding alone has the sum 0.
  void store(Value result, Value at, const Port &counts, Value j, Value rows) {
    if (!isMax)
      result = b.divF(result, b.mulF(b.spread(rows), b.load(counts, j)));
    b.storeWide(b.out(), result, at);
  }

  /// Combines the columns of each window of a line, and stores `count` results from `to` on.
  void finishLine(const Port &lines, Value line, Value count, Value to, const Port &counts,
                  Value factor) {
    const int64_t last = window.rank() - 1, stride = window.stride[last];
    auto finishColumn = [&](Value j) {
      Value at = b.add(line, b.mul(j, b.index(stride))), result;
      for (int64_t tap = 0; tap < window.kernel[last]; ++tap) {
        Value x = b.loadLanes(lines, b.add(at, b.index(tap * window.dilation[last])), stride);
        result = result ? combine(result, x) : x;
      }
      store(result, b.add(to, j), counts, j, factor);
    };
    if (stride <= 2)
      b.lanes(count, in.element, finishColumn);
    else
      b.loop(count, finishColumn);
  }

  /// Combines some columns from `at` on, of windows that are `stride` apart, of the rows of a
  /// window that exist: `taps` of each dim that is left.
  Value combineRows(ArrayRef<std::pair<Value, Value>> taps, Value at, int64_t columns,
                    int64_t stride, Value carried) {
    if (taps.empty()) {
      for (int64_t tap = 0; tap < columns; ++tap) {
        Value index = b.add(at, b.index(tap * window.dilation.back()));
        carried = combine(carried, b.widen(b.loadLanes(in, index, stride)));
      }
      return carried;
    }
    const int64_t d = window.rank() - 1 - int64_t(taps.size());
    Value step = b.mul(b.index(window.dilation[d]), in.strides[d + 2]);
    auto [first, end] = taps.front();
    return b.fold(first, end, b.index(1), carried, [&](Value tap, ValueRange inside) -> Indices {
      Value next = b.add(at, b.mul(tap, step));
      return {combineRows(taps.drop_front(), next, columns, stride, inside.front())};
    })[0];
  }

  Value combine(Value a, Value x) {
    return isMax ? larger(a, x) : arith::AddFOp::create(b, a, x).getResult();
  }

  double start() const {
    if (!isMax || (in.isUnsigned && !in.isFloat()))
      return 0;
    return in.isFloat() ? -std::numeric_limits<double>::infinity()
                        : std::numeric_limits<int8_t>::min();
  }

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
        if (maxIndices)
          return choose(sums, j, sum, x, at);
        b.store(sums, combine(sum, x), j);
      });
    });
  }

  /// Returns whether a maximum stays beside a value: the first of equal ones, and the first NaN.
  Value stays(Value best, Value x) {
    if (!in.isFloat())
      return b.compare(in.isUnsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge, best,
                       x);
    return arith::OrIOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, best, x),
                                arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, best, best));
  }

  Value larger(Value a, Value x) {
    return in.isFloat() ? b.extremeF(a, x, /*isGreatest=*/true) : b.select(stays(a, x), a, x);
  }

  /// Keeps the larger of two values, and where it is: the first of equal ones.
  void choose(const Port &sums, Value j, Value best, Value x, Value at) {
    Value index = b.load(maxIndices, j), none = b.constant(maxIndices.element, 0);
    Value isAny = b.compare(arith::CmpIPredicate::sge, index, none);
    Value isKept = arith::AndIOp::create(b, stays(best, x), isAny);
    b.store(sums, b.select(isKept, best, x), j);
    Value own = arith::IndexCastOp::create(b, maxIndices.element, at);
    b.store(maxIndices, b.select(isKept, index, own), j);
  }

  /// Stores the indices of `count` results; a window without elements has the first of its plane.
  void storeIndices(Value plane, Value row, Value count) {
    Value first = arith::IndexCastOp::create(b, maxIndices.element, plane);
    b.loop(count, [&](Value j) {
      Value index = b.load(maxIndices, j), none = b.constant(maxIndices.element, 0);
      Value isAny = b.compare(arith::CmpIPredicate::sge, index, none);
      b.store(b.out(1), b.select(isAny, index, first), b.add(row, j));
    });
  }

  /// Returns how many taps of output `o` in dim d count.
  Value countTaps(int64_t d, Value o) {
    Value zero = b.index(0);
    Value low = countsPads ? b.sub(zero, window.before[d]) : zero;
    Value high = countsPads ? b.add(in.dims[d + 2], b.index(window.after[d])) : in.dims[d + 2];
    auto [first, last] = tapsBetween(d, o, low, high);
    return b.sub(last, first);
  }

  /// Stores the results of a block; `combined(j)` is what the taps of column j combine to.
  void finish(ArrayRef<Value> indices, Value row, Value first, Value count,
              function_ref<Value(Value)> combined) {
    Value taps = b.index(1);
    if (!isMax)
      for (auto [d, index] : llvm::enumerate(indices))
        taps = b.mul(taps, countTaps(int64_t(d), index));
    b.loop(count, [&](Value j) {
      Value result = combined(j);
      if (!isMax) {
        Value own = b.mul(taps, countTaps(window.rank() - 1, b.add(first, j)));
        Value number = asNumber(own);
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
  Port maxIndices; ///< of the maxima of a block in the input, where they are wanted
};

template <bool isMax> bool pool(RowBuilder &b, graph::HostCallOp call) {
  const bool isByte = b.in(0).element.isInteger(8);
  if (b.in(0).rank() < 3 || !(b.in(0).isFloat() || (isMax && isByte)) ||
      b.out().rank() != b.in(0).rank() || host::integerOf(call, "storage_order", 0) != 0)
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
  setWindow(b, call, *window,
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
