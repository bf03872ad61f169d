//===-- GeneratePool.cpp - pools over dims that are known at run time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of floats, windows of few elements that lie inside of the input are computed from these elements
// in registers. Otherwise a row of the result is computed in blocks of columns. First the rows of
// the input that a window reads are combined, column by column, then the columns of each window: so
// a window of 3 x 3 takes 6 steps, most of them on neighbouring elements, and where the pads are is
// asked once per row. Where the place of a maximum is wanted, each tap is combined with the result
// of the taps before it.

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
    const bool hasPlaces = b.numOutputs() > 1 && b.out(1);
    if (!hasPlaces && RowBuilder::hasLanes(in.element) && window.stride[last] <= 2 &&
        llvm::product_of(window.kernel) <= kMaxUnrolled)
      return buildByVectors();
    // A line holds the columns that the windows of a block read, the last of them to its reach.
    const int64_t fitting = (kLine - 1 - reach) / window.stride[last] + 1;
    if (!hasPlaces && window.kernel[last] <= kMaxUnrolled && reach < kLine / 2)
      return buildByLines(std::min(kBlock, fitting));
    Port sums = b.scratch(wide, kBlock);
    if (hasPlaces)
      places = b.scratch(b.getI64Type(), kBlock);
    forEachBlock(kBlock,
                 [&](ArrayRef<Value> indices, Value plane, Value row, Value first, Value count) {
                   b.loop(count, [&](Value j) {
                     b.store(sums, b.constant(wide, start()), j);
                     if (places)
                       b.store(places, b.constant(places.element, -1), j);
                   });
                   addTaps(0, plane, indices, first, count, sums);
                   finish(indices, row, first, count, [&](Value j) { return b.load(sums, j); });
                   if (places)
                     storePlaces(plane, b.add(row, first), count);
                 });
  }

private:
  static constexpr int64_t kBlock = 256, kLine = 2048, kMaxUnrolled = 16;

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

  /// The windows of a row: the input at index 0 of the spatial dims, and of each dim but the last
  /// the first tap that reads the input, the one behind the last, and their inputs.
  struct Row {
    Value base, row, taps; ///< `taps`: those that count, of all dims but the last
    SmallVector<std::pair<Value, Value>> ranges;
    Indices begins;
  };

  void buildByVectors() {
    const int64_t last = window.rank() - 1, stride = window.stride[last];
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      Row r = {b.add(b.mul(indices[0], in.strides[0]), b.mul(indices[1], in.strides[1])),
               row,
               b.index(1),
               {},
               {}};
      Value areInside = arith::ConstantIntOp::create(b, 1, 1), zero = b.index(0), inside = r.base;
      for (auto [d, index] : llvm::enumerate(indices.drop_front(2))) {
        r.ranges.push_back(tapsOf(int64_t(d), index));
        r.begins.push_back(positionOf(int64_t(d), index, zero));
        Value count = b.sub(r.ranges.back().second, r.ranges.back().first);
        Value isInside = b.compare(arith::CmpIPredicate::eq, count, b.index(window.kernel[d]));
        areInside = arith::AndIOp::create(b, areInside, isInside);
        inside = b.add(inside, b.mul(r.begins.back(), in.strides[d + 2]));
        r.taps = b.mul(r.taps, isMax ? b.index(1) : countTaps(int64_t(d), index));
      }
      // The windows of columns [from, to) are inside.
      Value by = b.index(stride), up = b.index(stride - 1);
      const int64_t reach = (window.kernel[last] - 1) * window.dilation[last];
      // Negative pads let windows begin behind the first input.
      Value before = b.max(window.before[last], zero);
      Value from = b.min(b.div(b.add(before, up), by), length);
      Value room = b.sub(b.add(in.dims[last + 2], window.before[last]), b.index(reach));
      Value to = b.max(b.min(b.div(b.add(b.max(room, zero), up), by), length), from);
      clipped(r, zero, from);
      auto store = [&](Value column, Value result, Value number) {
        if (!isMax)
          result = b.divF(result, b.spread(number));
        b.storeWide(b.out(), result, b.add(row, column));
      };
      // A window of padding alone has the sum 0.
      Value number = asNumber(b.max(b.mul(r.taps, b.index(window.kernel[last])), b.index(1)));
      auto whole = [&](Value j) {
        Value column = b.add(from, j);
        SmallVector<Value> elements;
        load(elements, 0, b.add(inside, positionOf(last, column, zero)));
        store(column, combineAll(elements), number);
      };
      auto someRows = [&](Value j) {
        Value column = b.add(from, j);
        Value at = b.add(r.base, positionOf(last, column, zero));
        store(column, combineRows(r, 0, at, b.spread(b.constant(wide, start()))), number);
      };
      b.ifElse(
          areInside, [&] { b.lanes(b.sub(to, from), in.element, whole); },
          [&] { b.lanes(b.sub(to, from), in.element, someRows); });
      clipped(r, to, length);
    });
  }

  /// Loads all elements of a window that is inside, from the first one on.
  void load(SmallVector<Value> &elements, int64_t d, Value at) {
    for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
      Value next = b.add(at, b.mul(b.index(tap * window.dilation[d]), in.strides[d + 2]));
      if (d + 1 < window.rank())
        load(elements, d + 1, next);
      else
        elements.push_back(b.loadLanes(in, next, window.stride[d]));
    }
  }

  /// Combines the rows of windows that exist, of columns that all do.
  Value combineRows(const Row &r, int64_t d, Value at, Value carried) {
    if (d == window.rank() - 1) {
      for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
        Value next = b.add(at, b.index(tap * window.dilation[d]));
        carried = combine(carried, b.loadLanes(in, next, window.stride[d]));
      }
      return carried;
    }
    auto [first, end] = r.ranges[d];
    return b.fold(first, end, b.index(1), carried, [&](Value tap, ValueRange inside) -> Indices {
      Value place = b.add(r.begins[d], b.mul(tap, b.index(window.dilation[d])));
      Value next = b.add(at, b.mul(place, in.strides[d + 2]));
      return {combineRows(r, d + 1, next, inside.front())};
    })[0];
  }

  /// Combines elements, or vectors, in pairs, which wait less for each other.
  Value combineAll(ArrayRef<Value> elements) {
    SmallVector<Value> values(elements);
    while (values.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < values.size(); i += 2)
        next.push_back(isMax ? b.maximumOfNumbers(values[i], values[i + 1])
                             : b.addF(values[i], values[i + 1]));
      if (values.size() % 2)
        next.push_back(values.back());
      values = next;
    }
    if (!isMax)
      return values[0];
    // A comparison finds a NaN in either of two.
    Value anyNan;
    for (size_t i = 0; i < elements.size(); i += 2) {
      Value isNan = b.compareF(arith::CmpFPredicate::UNO, elements[i],
                               elements[std::min(i + 1, elements.size() - 1)]);
      anyNan = anyNan ? arith::OrIOp::create(b, anyNan, isNan).getResult() : isNan;
    }
    Value nan = b.constant(wide, std::numeric_limits<double>::quiet_NaN());
    return b.select(anyNan, b.spread(nan), values[0]);
  }

  /// Computes columns [from, to) of a row one by one, of windows that may reach beyond the input.
  void clipped(const Row &r, Value from, Value to) {
    const int64_t last = window.rank() - 1;
    b.loop(from, to, [&](Value column) {
      const auto columns = tapsOf(last, column);
      Value begin = positionOf(last, column, b.index(0));
      auto fold = [&](auto &&self, int64_t d, Value at, Value carried) -> Value {
        if (d > last)
          return combine(carried, b.loadWide(in, at));
        auto [first, end] = d < last ? r.ranges[d] : columns;
        Value own = d < last ? r.begins[d] : begin;
        return b.fold(first, end, b.index(1), carried,
                      [&](Value tap, ValueRange inside) -> Indices {
                        Value place = b.add(own, b.mul(tap, b.index(window.dilation[d])));
                        Value next = b.add(at, b.mul(place, in.strides[d + 2]));
                        return {self(self, d + 1, next, inside.front())};
                      })[0];
      };
      Value result = fold(fold, 0, r.base, b.constant(wide, start()));
      if (!isMax) {
        Value taps = b.mul(r.taps, countTaps(last, column));
        Value isNone = b.compare(arith::CmpIPredicate::eq, taps, b.index(0));
        result = b.select(isNone, b.constant(wide, 0), b.divF(result, asNumber(taps)));
      }
      b.storeWide(b.out(), result, b.add(r.row, column));
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
    Port line = b.scratch(wide, kLine);
    forEachBlock(
        block, [&](ArrayRef<Value> indices, Value plane, Value row, Value first, Value count) {
          // Column c of the line is column `begin` + c of the input, which exists for [from, to).
          Value begin = positionOf(last, first, b.index(0)), zero = b.index(0);
          Value width = b.add(b.mul(b.sub(count, b.index(1)), b.index(stride)),
                              b.index((window.kernel[last] - 1) * window.dilation[last] + 1));
          Value from = b.min(b.max(b.sub(zero, begin), zero), width);
          Value to = b.max(b.min(b.sub(in.dims[last + 2], begin), width), from);
          b.loop(width, [&](Value c) { b.store(line, b.constant(wide, start()), c); });
          addRows(0, b.add(plane, begin), indices, from, to, line);
          finish(indices, row, first, count, [&](Value j) {
            Value at = b.mul(j, b.index(stride)), result;
            for (int64_t tap = 0; tap < window.kernel[last]; ++tap) {
              Value x = b.load(line, b.add(at, b.index(tap * window.dilation[last])));
              result = result ? combine(result, x) : x;
            }
            return result;
          });
        });
  }

  /// Combines columns [from, to) of the line with those of each row that a window reads. `base`:
  /// the input that column 0 of the line stands for.
  void addRows(int64_t d, Value base, ArrayRef<Value> indices, Value from, Value to,
               const Port &line) {
    if (d == window.rank() - 1)
      return b.loop(from, to, [&](Value c) {
        b.store(line, combine(b.load(line, c), b.loadWide(in, b.add(base, c))), c);
      });
    b.loop(b.index(window.kernel[d]), [&](Value tap) {
      Value at = positionOf(d, indices[d], tap);
      b.ifThen(b.compare(arith::CmpIPredicate::ult, at, in.dims[d + 2]), [&] {
        addRows(d + 1, b.add(base, b.mul(at, in.strides[d + 2])), indices, from, to, line);
      });
    });
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
        if (places)
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
  Port places; ///< of the maxima of a block in the input, where they are wanted
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
