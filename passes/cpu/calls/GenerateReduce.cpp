//===-- GenerateReduce.cpp - reductions over dims known at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the last dim is reduced, each result is one register. Otherwise a row of the result is
// computed in blocks of columns, so that memory is read in order. Of few columns, as images in
// blocks of channels have, the results are in registers.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

enum class Kind { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

double initialOf(Kind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == Kind::Max ? -infinity : kind == Kind::Min ? infinity : kind == Kind::Prod ? 1 : 0;
}

Value before(RowBuilder &b, Kind kind, Value x) {
  if (kind == Kind::L1)
    return math::AbsFOp::create(b, x);
  if (kind == Kind::L2 || kind == Kind::SumSquare)
    return arith::MulFOp::create(b, x, x);
  return x;
}

Value combine(RowBuilder &b, Kind kind, Value a, Value x) {
  if (kind == Kind::Max || kind == Kind::Min)
    return b.extremeF(a, x, kind == Kind::Max);
  if (kind == Kind::Prod)
    return arith::MulFOp::create(b, a, x, kReassociate);
  return arith::AddFOp::create(b, a, x, kReassociate);
}

Value after(RowBuilder &b, Kind kind, Value a, Value count) {
  if (kind == Kind::L2)
    return math::SqrtOp::create(b, a);
  if (kind == Kind::LogSum || kind == Kind::LogSumExp)
    return math::LogOp::create(b, a);
  if (kind != Kind::Mean)
    return a;
  Value number = b.toFloat(getElementTypeOrSelf(a.getType()), count);
  return arith::DivFOp::create(b, a, b.spread(number));
}

/// Builds one reduction.
class Reduction {
public:
  Reduction(RowBuilder &b, Kind kind, ArrayRef<bool> isReduced, bool keepsDims)
      : b(b), in(b.in(0)), kind(kind), isReduced(isReduced), keepsDims(keepsDims) {
    for (auto [d, dim] : llvm::enumerate(in.dims))
      if (isReduced[d] && d > 0 && isReduced[d - 1]) {
        // Reduced dims next to each other are one.
        dims.back() = b.mul(dims.back(), dim);
        strides.back() = in.strides[d];
      } else if (isReduced[d]) {
        dims.push_back(dim);
        strides.push_back(in.strides[d]);
      }
    count = b.product(dims);
    wide = RowBuilder::computeType(in.element);
  }

  /// Reduces the dims whose flags are set when the code runs; all dims are kept. `none` has as many
  /// flags, all of them false.
  Reduction(RowBuilder &b, Kind kind, ArrayRef<Value> flags, ArrayRef<bool> none)
      : b(b), in(b.in(0)), kind(kind), isReduced(none), keepsDims(true), strides(in.strides) {
    for (auto [flag, dim] : llvm::zip_equal(flags, in.dims))
      dims.push_back(b.select(flag, dim, b.index(1)));
    isLastReduced = flags.back();
    count = b.product(dims);
    wide = RowBuilder::computeType(in.element);
  }

  void build() {
    if (isLastReduced)
      b.ifElse(isLastReduced, [&] { elements(); }, [&] { columns(); });
    else if (in.rank() == 0 || b.out().rank() == 0 || isReduced.back())
      elements();
    else
      columns();
  }

private:
  void elements() {
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      b.loop(length, [&](Value j) { element(indices, row, j); });
    });
  }

  /// Returns the offset of the first element that is reduced to the result at `position`.
  Value baseOf(ArrayRef<Value> position) {
    Value base = b.index(0);
    size_t next = 0;
    for (int64_t d = 0; d < in.rank(); ++d) {
      if (!isReduced[d])
        base = b.add(base, b.mul(position[keepsDims ? d : next], in.strides[d]));
      next += keepsDims || !isReduced[d];
    }
    return base;
  }

  /// Combines all elements of a result; the innermost loop is the last dim, which is reduced.
  Value foldAll(Kind what, Value base, function_ref<Value(Value)> element) {
    Value initial = b.constant(wide, initialOf(what));
    auto join = [&](Value a, Value x) { return combine(b, what, a, x); };
    auto descend = [&](auto &&self, size_t d, Value at) -> Value {
      if (d == dims.size())
        return element(at);
      if (d + 1 == dims.size())
        return b.reduceLanes(
            dims[d], in.element, initial, [&](Value i) { return element(b.add(at, i)); }, join);
      return b.fold(dims[d], initial, [&](Value i, ValueRange inside) -> Indices {
        return {join(inside.front(), self(self, d + 1, b.add(at, b.mul(i, strides[d]))))};
      })[0];
    };
    return descend(descend, 0, base);
  }

  Value foldKind(Kind what, Value base) {
    return foldAll(what, base, [&](Value at) { return before(b, what, b.loadWide(in, at)); });
  }

  void element(ArrayRef<Value> indices, Value row, Value j) {
    Indices position(indices);
    if (b.out().rank() > 0)
      position.push_back(j);
    Value base = baseOf(position), result;
    if (kind == Kind::LogSumExp) {
      Value shift = finite(foldKind(Kind::Max, base));
      Value sum = foldAll(kind, base, [&](Value at) -> Value {
        Value moved = arith::SubFOp::create(b, b.loadWide(in, at), b.spread(shift));
        return math::ExpOp::create(b, moved);
      });
      result = arith::AddFOp::create(b, shift, math::LogOp::create(b, sum));
    } else {
      result = after(b, kind, foldKind(kind, base), count);
    }
    b.storeWide(b.out(), result, b.add(row, j));
  }

  /// Returns 0 for an infinite maximum, whose difference to itself is NaN.
  Value finite(Value max) {
    Value infinity = b.constant(wide, std::numeric_limits<double>::infinity());
    Value isInfinite =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, max), infinity);
    return b.select(isInfinite, b.constant(wide, 0), max);
  }

  Port scratch() {
    constexpr int64_t block = kBlock;
    Port port;
    port.element = wide;
    port.flat = memref::AllocaOp::create(b, MemRefType::get({block}, wide));
    return port;
  }

  /// Computes rows of results whose columns are those of the input.
  void columns() {
    Port sums = scratch(), shifts = kind == Kind::LogSumExp ? scratch() : Port();
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      if (!hasRegisters())
        return columnsOfRow(indices, row, length, sums, shifts);
      Value areFew = b.compare(arith::CmpIPredicate::ule, length, b.index(kFewColumns));
      b.ifElse(
          areFew, [&] { lanesOfRow(indices, row, length); },
          [&] { columnsOfRow(indices, row, length, sums, shifts); });
    });
  }

  /// Returns whether few columns are computed as vectors.
  bool hasRegisters() const {
    return !isLastReduced && !dims.empty() && RowBuilder::hasLanes(in.element) &&
           kind != Kind::LogSum && kind != Kind::LogSumExp;
  }

  void lanesOfRow(ArrayRef<Value> indices, Value row, Value length) {
    b.lanes(length, in.element, [&](Value j) {
      Indices position(indices);
      position.push_back(j);
      Value result = foldLanes(0, baseOf(position));
      b.storeWide(b.out(), after(b, kind, result, count), b.add(row, j));
    });
  }

  /// Combines all elements from dim `d` of those that are reduced on, by accumulators that do not
  /// wait for each other.
  Value foldLanes(size_t d, Value at) {
    constexpr int64_t chains = 4;
    Value start = b.spread(b.constant(wide, initialOf(kind)));
    auto join = [&](Value a, Value x) { return combine(b, kind, a, x); };
    auto next = [&](Value a, Value i) {
      Value here = b.add(at, b.mul(i, strides[d]));
      return join(a, d + 1 < dims.size() ? foldLanes(d + 1, here)
                                         : before(b, kind, b.loadWide(in, here)));
    };
    auto single = [&](Value from, Value carried) {
      return b.fold(from, dims[d], b.index(1), carried, [&](Value i, ValueRange inside) -> Indices {
        return {next(inside.front(), i)};
      })[0];
    };
    if (d + 1 < dims.size())
      return single(b.index(0), start);
    Value blocks = b.sub(dims[d], b.rem(dims[d], b.index(chains)));
    Indices sums = b.fold(b.index(0), blocks, b.index(chains), SmallVector<Value>(chains, start),
                          [&](Value i, ValueRange inside) {
                            Indices values;
                            for (int64_t c = 0; c < chains; ++c)
                              values.push_back(next(inside[c], b.add(i, b.index(c))));
                            return values;
                          });
    return single(blocks, join(join(sums[0], sums[1]), join(sums[2], sums[3])));
  }

  void columnsOfRow(ArrayRef<Value> indices, Value row, Value length, const Port &sums,
                    const Port &shifts) {
    Value blocks = b.div(b.add(length, b.index(kBlock - 1)), b.index(kBlock));
    b.loop(blocks, [&](Value number) {
      Value first = b.mul(number, b.index(kBlock));
      Value n = b.min(b.index(kBlock), b.sub(length, first));
      Indices position(indices);
      position.push_back(first);
      Value base = baseOf(position);
      if (kind == Kind::LogSumExp) {
        foldColumns(shifts, n, base, Kind::Max, nullptr);
        b.loop(n, [&](Value j) { b.store(shifts, finite(b.load(shifts, j)), j); });
      }
      foldColumns(sums, n, base, kind, kind == Kind::LogSumExp ? &shifts : nullptr);
      b.loop(n, [&](Value j) {
        Value result = after(b, kind, b.load(sums, j), count);
        if (kind == Kind::LogSumExp)
          result = arith::AddFOp::create(b, result, b.load(shifts, j));
        b.storeWide(b.out(), result, b.add(b.add(row, first), j));
      });
    });
  }

  void foldColumns(const Port &to, Value n, Value base, Kind what, const Port *shifts) {
    b.loop(n, [&](Value j) { b.store(to, b.constant(wide, initialOf(what)), j); });
    b.nest(dims, [&](ArrayRef<Value> indices) {
      Value at = base;
      for (auto [i, stride] : llvm::zip_equal(indices, strides))
        at = b.add(at, b.mul(i, stride));
      b.loop(n, [&](Value j) {
        Value x = b.loadWide(in, b.add(at, j));
        if (shifts)
          x = math::ExpOp::create(b, arith::SubFOp::create(b, x, b.load(*shifts, j)));
        b.store(to, combine(b, what, b.load(to, j), before(b, what, x)), j);
      });
    });
  }

  static constexpr int64_t kBlock = 256, kFewColumns = 64;

  RowBuilder &b;
  const Port &in;
  Kind kind;
  ArrayRef<bool> isReduced;
  bool keepsDims;
  Indices dims, strides; ///< those that are reduced
  Value isLastReduced;   ///< null where it is known when compiling
  Value count;
  Type wide;
};

bool buildReduce(RowBuilder &b, Kind kind, ArrayRef<bool> isReduced, bool keepsDims) {
  const int64_t kept = b.in(0).rank() - llvm::count(isReduced, true);
  if (!b.in(0).isFloat() || b.out().rank() != (keepsDims ? b.in(0).rank() : kept))
    return false;
  Reduction(b, kind, isReduced, keepsDims).build();
  return true;
}

/// Builds a reduction along axes that are an operand. All dims are kept: the rank of another result
/// depends on how many they are.
bool reduceGiven(RowBuilder &b, Kind kind, graph::HostCallOp call) {
  using arith::CmpIPredicate;
  const Port &in = b.in(0), &axes = b.in(1);
  const int64_t rank = in.rank();
  if (!in.isFloat() || rank == 0 || b.out().rank() != rank || axes.rank() != 1 || axes.isFloat() ||
      host::integerOf(call, "keepdims", 1) == 0)
    return false;
  Value no = arith::ConstantIntOp::create(b, 0, 1), zero = b.index(0);
  Value isEmpty = b.compare(CmpIPredicate::eq, axes.dims[0], zero);
  const bool meansAll = host::integerOf(call, "noop_with_empty_axes", 0) == 0;
  Indices initial(rank, meansAll ? isEmpty : no);
  Indices flags = b.fold(axes.dims[0], initial, [&](Value i, ValueRange carried) -> Indices {
    Value axis = b.loadIndex(axes, i);
    Value isNegative = b.compare(CmpIPredicate::slt, axis, zero);
    axis = b.select(isNegative, b.add(axis, b.index(rank)), axis);
    Indices next;
    for (int64_t d = 0; d < rank; ++d)
      next.push_back(
          arith::OrIOp::create(b, carried[d], b.compare(CmpIPredicate::eq, axis, b.index(d))));
    return next;
  });
  SmallVector<bool> none(rank, false);
  Reduction(b, kind, flags, none).build();
  return true;
}

template <Kind kind> bool reduce(RowBuilder &b, graph::HostCallOp call) {
  const int64_t rank = b.in(0).rank();
  SmallVector<bool> isReduced(rank, false);
  std::optional<SmallVector<int64_t>> axes = SmallVector<int64_t>();
  if (b.has(1))
    axes = constantIntegers(call.inputsByPosition()[1]);
  if (!axes)
    return reduceGiven(b, kind, call);
  if (axes->empty() && host::integerOf(call, "noop_with_empty_axes", 0) == 0)
    isReduced.assign(rank, true);
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      return false;
    isReduced[axis < 0 ? axis + rank : axis] = true;
  }
  return buildReduce(b, kind, isReduced, host::integerOf(call, "keepdims", 1) != 0);
}

template <Kind kind> bool reduceGlobal(RowBuilder &b, graph::HostCallOp) {
  if (b.in(0).rank() < 3)
    return false;
  SmallVector<bool> isReduced(b.in(0).rank(), true);
  isReduced[0] = isReduced[1] = false;
  return buildReduce(b, kind, isReduced, /*keepsDims=*/true);
}

/// Builds ArgMax and ArgMin; NaN counts as the extreme. Along the last dim the extreme is found
/// first and then where it is: both are reductions of vectors. Along other dims, columns are
/// compared in loops that vectorize.
class Argument {
public:
  Argument(RowBuilder &b, int64_t axis, bool largest, bool last, bool keepsDims)
      : b(b), in(b.in(0)), out(b.out()), axis(axis), largest(largest), last(last),
        keepsDims(keepsDims), wide(RowBuilder::computeType(in.element)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    initial = b.constant(wide, largest ? -infinity : infinity);
  }

  void build() {
    // An empty axis has no extreme.
    (void)b.checked(b.index(0), in.dims[axis]);
    if (axis + 1 == in.rank())
      alongRows();
    else
      alongColumns();
  }

private:
  static constexpr int64_t kBlock = 256;

  /// Returns the offset of the first element of a result along the axis.
  Value baseOf(ArrayRef<Value> indices, Value j) {
    Indices position(indices);
    if (out.rank() > 0)
      position.push_back(j);
    if (keepsDims)
      position[axis] = b.index(0);
    else
      position.insert(position.begin() + axis, b.index(0));
    return b.offset(in, position);
  }
  void storeIndex(Value index, Value at) {
    b.store(out, arith::IndexCastOp::create(b, out.element, index), at);
  }

  void alongRows() {
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      b.loop(length, [&](Value j) {
        storeIndex(indexOfExtreme(b, in, baseOf(indices, j), in.dims[axis], largest, last),
                   b.add(row, j));
      });
    });
  }

  /// Compares blocks of columns, so that memory is read in order.
  void alongColumns() {
    using arith::CmpFPredicate;
    Port bests = b.scratch(wide, kBlock), found = b.scratch(b.getI64Type(), kBlock);
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      Value blocks = b.div(b.add(length, b.index(kBlock - 1)), b.index(kBlock));
      b.loop(blocks, [&](Value block) {
        Value first = b.mul(block, b.index(kBlock));
        Value n = b.min(b.index(kBlock), b.sub(length, first));
        Value base = baseOf(indices, first);
        b.loop(n, [&](Value j) {
          b.store(bests, initial, j);
          b.store(found, b.constant(b.getI64Type(), 0), j);
        });
        b.loop(in.dims[axis], [&](Value i) {
          Value at = b.add(base, b.mul(i, in.strides[axis]));
          Value index = arith::IndexCastOp::create(b, b.getI64Type(), i);
          b.loop(n, [&](Value j) {
            Value x = b.loadWide(in, b.add(at, j)), best = b.load(bests, j);
            // An unordered comparison takes the first NaN, behind which nothing is better.
            Value better =
                last ? arith::OrIOp::create(
                           b, b.compareF(CmpFPredicate::UNO, x, x),
                           b.compareF(largest ? CmpFPredicate::OGE : CmpFPredicate::OLE, x, best))
                           .getResult()
                     : arith::AndIOp::create(
                           b, b.compareF(CmpFPredicate::ORD, best, best),
                           b.compareF(largest ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, best))
                           .getResult();
            b.store(bests, b.select(better, x, best), j);
            b.store(found, b.select(better, index, b.load(found, j)), j);
          });
        });
        b.loop(n, [&](Value j) {
          Value index = arith::IndexCastOp::create(b, b.getIndexType(), b.load(found, j));
          storeIndex(index, b.add(b.add(row, first), j));
        });
      });
    });
  }

  RowBuilder &b;
  const Port &in, &out;
  int64_t axis;
  bool largest, last, keepsDims;
  Type wide;
  Value initial;
};

template <bool largest> bool argument(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const int64_t rank = in.rank();
  const std::optional<int64_t> axis = axisOf(call, 0, rank);
  const bool keepsDims = host::integerOf(call, "keepdims", 1) != 0;
  const bool last = host::integerOf(call, "select_last_index", 0) != 0;
  if (!axis || !in.isFloat() || !b.out() || b.out().rank() != (keepsDims ? rank : rank - 1))
    return false;
  Argument(b, *axis, largest, last, keepsDims).build();
  return true;
}

} // namespace

Value indexOfExtreme(RowBuilder &b, const Port &in, Value base, Value count, bool largest,
                     bool last) {
  using arith::CmpFPredicate;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto element = [&](Value j) { return b.loadWide(in, b.add(base, j)); };
  Value initial = b.constant(RowBuilder::computeType(in.element), largest ? -infinity : infinity);
  Value extreme = b.reduceLanes(count, in.element, initial, element,
                                [&](Value x, Value y) { return b.extremeF(x, y, largest); });
  // Where the extreme is a number, there is no NaN.
  const int64_t farthest = last ? -1 : std::numeric_limits<int64_t>::max();
  Value none = arith::ConstantIntOp::create(b, farthest, 64);
  auto positionOf = [&](Value j) -> Value {
    Value x = element(j);
    Value isExtreme = arith::OrIOp::create(b, b.compareF(CmpFPredicate::OEQ, x, b.spread(extreme)),
                                           b.compareF(CmpFPredicate::UNO, x, x));
    return b.select(isExtreme, b.numbersFrom(j), b.spread(none));
  };
  Value index = b.reduceLanes(count, in.element, none, positionOf, [&](Value x, Value y) -> Value {
    if (last)
      return arith::MaxSIOp::create(b, x, y);
    return arith::MinSIOp::create(b, x, y);
  });
  return arith::IndexCastOp::create(b, b.getIndexType(), index);
}

Generator findReduceGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"ArgMax", argument<true>},
      {"ArgMin", argument<false>},
      {"GlobalAveragePool", reduceGlobal<Kind::Mean>},
      {"GlobalMaxPool", reduceGlobal<Kind::Max>},
      {"ReduceL1", reduce<Kind::L1>},
      {"ReduceL2", reduce<Kind::L2>},
      {"ReduceLogSum", reduce<Kind::LogSum>},
      {"ReduceLogSumExp", reduce<Kind::LogSumExp>},
      {"ReduceMax", reduce<Kind::Max>},
      {"ReduceMean", reduce<Kind::Mean>},
      {"ReduceMin", reduce<Kind::Min>},
      {"ReduceProd", reduce<Kind::Prod>},
      {"ReduceSum", reduce<Kind::Sum>},
      {"ReduceSumSquare", reduce<Kind::SumSquare>},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
