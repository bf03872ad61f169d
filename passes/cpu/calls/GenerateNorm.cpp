//===-- GenerateNorm.cpp - softmax and norms, dims known at run time ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value sum(RowBuilder &b, Type wide, Value count, function_ref<Value(Value)> element) {
  return b.fold(count, b.constant(wide, 0), [&](Value i, ValueRange carried) -> Indices {
    return {arith::AddFOp::create(b, carried.front(), element(i), kReassociate)};
  })[0];
}

Value asFloat(RowBuilder &b, Type wide, Value count) {
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), count);
  return arith::SIToFPOp::create(b, wide, integer);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

enum class Softmax { Plain, Log, Hard };

/// Computes rows along the last dim.
void softmaxRows(RowBuilder &b, Softmax kind) {
  const Port &in = b.in(0), &out = b.out();
  Type wide = RowBuilder::computeType(in.element);
  // The instructions for it return one of two operands where one is NaN. Whichever that is, the
  // sum of the row is NaN, and so are its results.
  auto larger = [&](Value a, Value x) { return b.maximumOfNumbers(a, x); };
  auto sum = [&](Value a, Value x) -> Value {
    return arith::AddFOp::create(b, a, x, kReassociate);
  };
  auto at = [&](Value row, Value i) { return b.loadWide(in, b.add(row, i)); };
  // A row of a few vectors, which may overlap, stays in registers: no exponential is stored before
  // their sum is known.
  auto fewElements = [&](Value row, ArrayRef<Value> starts, ArrayRef<Value> areNew) {
    SmallVector<Value> values, powers;
    for (Value start : starts)
      values.push_back(at(row, start));
    Value max = values.front(), total;
    for (Value x : ArrayRef(values).drop_front())
      max = larger(max, x);
    max = b.spread(b.foldVector(max, larger));
    for (auto [x, isNew] : llvm::zip_equal(values, areNew)) {
      x = b.subF(x, max);
      powers.push_back(math::ExpOp::create(b, x));
      Value counted =
          total ? b.select(isNew, powers.back(), b.spread(b.constant(wide, 0))) : powers.back();
      total = total ? sum(total, counted) : counted;
    }
    total = b.foldVector(total, sum);
    const bool isLog = kind == Softmax::Log;
    Value by = b.spread(isLog ? math::LogOp::create(b, total).getResult()
                              : arith::DivFOp::create(b, b.constant(wide, 1), total).getResult());
    for (auto [x, power, start] : llvm::zip_equal(values, powers, starts))
      b.storeWide(out, isLog ? b.subF(x, by) : b.mulF(power, by), b.add(row, start));
  };
  auto manyElements = [&](Value row, Value length) {
    auto inRow = [&](Value i) { return at(row, i); };
    Value max = b.reduceLanes(length, in.element, b.constant(wide, -kInfinity), inRow, larger);
    // A row of minus infinity has no maximum to subtract.
    auto exponential = [&](Value i) -> Value {
      return math::ExpOp::create(b, b.subF(inRow(i), b.spread(max)));
    };
    // 16-bit results are no place for intermediate values.
    const bool keeps = kind == Softmax::Plain && wide == out.element;
    auto kept = [&](Value i) {
      Value value = exponential(i);
      if (keeps)
        b.store(out, value, b.add(row, i));
      return value;
    };
    Value total = b.reduceLanes(length, in.element, b.constant(wide, 0), kept, sum);
    if (kind == Softmax::Log) {
      Value shift = math::LogOp::create(b, total);
      b.lanes(length, in.element, [&](Value i) {
        Value moved = b.subF(inRow(i), b.spread(max));
        b.storeWide(out, b.subF(moved, b.spread(shift)), b.add(row, i));
      });
      return;
    }
    Value factor = arith::DivFOp::create(b, b.constant(wide, 1), total);
    if (keeps)
      // In place, where each element must be multiplied once.
      return b.loop(length, [&](Value i) {
        Value at = b.add(row, i);
        b.store(out, b.mulF(b.load(out, at), factor), at);
      });
    b.lanes(length, in.element, [&](Value i) {
      b.storeWide(out, b.mulF(exponential(i), b.spread(factor)), b.add(row, i));
    });
  };
  b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
    b.shortRow(
        length, in.element,
        [&](ArrayRef<Value> starts, ArrayRef<Value> areNew) { fewElements(row, starts, areNew); },
        [&] { manyElements(row, length); });
  });
}

/// Computes along another dim than the last, in blocks of columns.
void softmaxColumns(RowBuilder &b, Softmax kind, int64_t axis) {
  constexpr int64_t block = 256;
  const Port &in = b.in(0), &out = b.out();
  Type wide = RowBuilder::computeType(in.element);
  auto scratch = [&] {
    Port port;
    port.element = wide;
    port.flat = memref::AllocaOp::create(b, MemRefType::get({block}, wide));
    return port;
  };
  Port max = scratch(), total = scratch();
  // A row is all lanes of one index of the dims in front of the axis.
  b.setRowDims(in.rank() - axis);
  Value length = b.product(ArrayRef(in.dims).drop_front(axis + 1));
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    Value blocks = b.div(b.add(length, b.index(block - 1)), b.index(block));
    b.loop(blocks, [&](Value number) {
      Value first = b.mul(number, b.index(block));
      Value n = b.min(b.index(block), b.sub(length, first));
      auto forAll = [&](function_ref<void(Value, Value)> body) {
        b.loop(in.dims[axis], [&](Value i) {
          Value base = b.add(b.add(row, first), b.mul(i, in.strides[axis]));
          b.loop(n, [&](Value j) { body(b.add(base, j), j); });
        });
      };
      auto exponential = [&](Value at, Value j) -> Value {
        Value moved = arith::SubFOp::create(b, b.loadWide(in, at), b.load(max, j));
        return math::ExpOp::create(b, moved);
      };
      b.loop(n, [&](Value j) {
        b.store(max, b.constant(wide, -kInfinity), j);
        b.store(total, b.constant(wide, 0), j);
      });
      forAll([&](Value at, Value j) {
        b.store(max, arith::MaximumFOp::create(b, b.load(max, j), b.loadWide(in, at)), j);
      });
      forAll([&](Value at, Value j) {
        Value sum = arith::AddFOp::create(b, b.load(total, j), exponential(at, j));
        b.store(total, sum, j);
      });
      b.loop(n, [&](Value j) {
        Value sum = b.load(total, j);
        b.store(total,
                kind == Softmax::Log
                    ? math::LogOp::create(b, sum).getResult()
                    : arith::DivFOp::create(b, b.constant(wide, 1), sum).getResult(),
                j);
      });
      forAll([&](Value at, Value j) {
        Value result;
        if (kind == Softmax::Log) {
          Value moved = arith::SubFOp::create(b, b.loadWide(in, at), b.load(max, j));
          result = arith::SubFOp::create(b, moved, b.load(total, j));
        } else {
          result = arith::MulFOp::create(b, exponential(at, j), b.load(total, j));
        }
        b.storeWide(out, result, at);
      });
    });
  });
}

/// Writes 1 for the first maximum (or NaN) along an axis and 0 elsewhere.
void hardmax(RowBuilder &b, int64_t axis) {
  const Port &in = b.in(0), &out = b.out();
  Type wide = RowBuilder::computeType(in.element);
  if (axis + 1 == in.rank())
    return b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
      b.ifThen(b.compare(arith::CmpIPredicate::ne, length, b.index(0)), [&] {
        Value best = indexOfExtreme(b, in, row, length, /*largest=*/true, /*last=*/false);
        b.loop(length, [&](Value i) { b.storeWide(out, b.constant(wide, 0), b.add(row, i)); });
        b.storeWide(out, b.constant(wide, 1), b.add(row, best));
      });
    });
  b.setRowDims(in.rank() - axis);
  Value inner = b.product(ArrayRef(in.dims).drop_front(axis + 1));
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    b.loop(inner, [&](Value j) {
      Value base = b.add(row, j);
      auto at = [&](Value i) { return b.add(base, b.mul(i, in.strides[axis])); };
      Value first = b.loadWide(in, base);
      Indices best =
          b.fold(in.dims[axis], {first, b.index(0)}, [&](Value i, ValueRange carried) -> Indices {
            Value x = b.loadWide(in, at(i));
            // Nothing is better than a NaN.
            Value better = arith::AndIOp::create(
                b, b.compareF(arith::CmpFPredicate::ORD, carried[0], carried[0]),
                b.compareF(arith::CmpFPredicate::UGT, x, carried[0]));
            return {b.select(better, x, carried[0]), b.select(better, i, carried[1])};
          });
      b.loop(in.dims[axis], [&](Value i) {
        Value isBest = b.compare(arith::CmpIPredicate::eq, i, best[1]);
        b.storeWide(out, b.select(isBest, b.constant(wide, 1), b.constant(wide, 0)), at(i));
      });
    });
  });
}

template <Softmax kind> bool softmax(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const std::optional<int64_t> axis = axisOf(call, -1, in.rank());
  if (!axis || !in.isFloat() || in.rank() == 0 || b.out().rank() != in.rank())
    return false;
  if (kind == Softmax::Hard)
    hardmax(b, *axis);
  else if (*axis + 1 == in.rank())
    softmaxRows(b, kind);
  else
    softmaxColumns(b, kind, *axis);
  return true;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The mean and 1 / sqrt(variance + epsilon) of a range of elements.
struct Moments {
  Value mean, inverse;
};

Moments momentsOf(RowBuilder &b, Value base, Value count, double epsilon, bool centers) {
  const Port &in = b.in(0);
  Type wide = RowBuilder::computeType(in.element);
  auto at = [&](Value i) { return b.loadWide(in, b.add(base, i)); };
  Value number = asFloat(b, wide, count), mean;
  if (centers)
    mean = arith::DivFOp::create(b, sum(b, wide, count, at), number);
  Value squares = sum(b, wide, count, [&](Value i) -> Value {
    Value x = at(i);
    if (centers)
      x = arith::SubFOp::create(b, x, mean);
    return arith::MulFOp::create(b, x, x);
  });
  Value variance = arith::DivFOp::create(b, squares, number);
  Value shifted = arith::AddFOp::create(b, variance, b.constant(wide, epsilon));
  Value inverse =
      arith::DivFOp::create(b, b.constant(wide, 1), math::SqrtOp::create(b, shifted).getResult());
  return {mean, inverse};
}

/// Builds LayerNormalization and RMSNormalization, where scale and bias have the normalized dims.
template <bool centers> bool normalizeLayer(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, -1, in.rank());
  if (!axis || !in.isFloat() || in.rank() == 0 || !out || !b.has(1))
    return false;
  const int64_t normalized = in.rank() - *axis;
  for (unsigned i = 1; i < b.numInputs(); ++i)
    if (b.has(i) && (b.in(i).rank() != normalized || b.in(i).element != in.element))
      return false;
  const double epsilon = host::numberOf(call, "epsilon", 1e-5f);
  const ArrayRef<Value> shape = ArrayRef(in.dims).drop_front(*axis);
  for (unsigned i = 1; i < b.numInputs(); ++i)
    if (b.has(i))
      b.requireBroadcast(b.in(i), shape);
  Value count = b.product(shape);
  // As a rule nothing is broadcast, and the loop over a row then reads neighbours.
  Value isWhole = b.compare(arith::CmpIPredicate::eq, b.product(b.in(1).dims), count);
  if (b.has(2))
    isWhole = arith::AndIOp::create(
        b, isWhole, b.compare(arith::CmpIPredicate::eq, b.product(b.in(2).dims), count));
  b.setRowDims(normalized);
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    Moments moments = momentsOf(b, row, count, epsilon, centers);
    auto normalize = [&](function_ref<Value(const Port &, Value)> parameter) {
      b.loop(count, [&](Value i) {
        Value x = b.loadWide(in, b.add(row, i));
        if (centers)
          x = arith::SubFOp::create(b, x, moments.mean);
        x = arith::MulFOp::create(b, x, moments.inverse);
        x = arith::MulFOp::create(b, x, parameter(b.in(1), i));
        if (b.has(2))
          x = arith::AddFOp::create(b, x, parameter(b.in(2), i));
        b.storeWide(out, x, b.add(row, i));
      });
    };
    b.ifElse(
        isWhole, [&] { normalize([&](const Port &port, Value i) { return b.loadWide(port, i); }); },
        [&] {
          normalize([&](const Port &port, Value i) {
            Value at = b.index(0);
            Indices steps = b.broadcastSteps(port);
            for (auto [index, step] : llvm::zip_equal(b.split(i, shape), steps))
              at = b.add(at, b.mul(index, step));
            return b.loadWide(port, at);
          });
        });
    Value number = b.row();
    if (b.numOutputs() > 1 && b.out(1))
      b.storeWide(b.out(1), moments.mean, number);
    if (b.numOutputs() > 2 && b.out(2))
      b.storeWide(b.out(2), moments.inverse, number);
  });
  return true;
}

bool normalizeInstance(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  if (in.rank() < 3 || !in.isFloat() || !b.has(1) || !b.has(2))
    return false;
  const double epsilon = host::numberOf(call, "epsilon", 1e-5f);
  b.setRowDims(in.rank() - 2);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value count) {
    Moments moments = momentsOf(b, row, count, epsilon, /*centers=*/true);
    Value scale = b.loadWide(b.in(1), indices[1]), bias = b.loadWide(b.in(2), indices[1]);
    scale = arith::MulFOp::create(b, scale, moments.inverse);
    b.loop(count, [&](Value i) {
      Value x = arith::SubFOp::create(b, b.loadWide(in, b.add(row, i)), moments.mean);
      x = arith::AddFOp::create(b, arith::MulFOp::create(b, x, scale), bias);
      b.storeWide(out, x, b.add(row, i));
    });
  });
  return true;
}

bool normalizeBatch(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  if (in.rank() < 2 || !in.isFloat() || b.numInputs() < 5 ||
      host::integerOf(call, "training_mode", 0) != 0)
    return false;
  for (unsigned i = 1; i < 5; ++i)
    if (b.in(i).element != in.element)
      return false;
  Type wide = RowBuilder::computeType(in.element);
  Value epsilon = b.constant(wide, host::numberOf(call, "epsilon", 1e-5f));
  auto normalize = [&](Value x, Value channel) -> Value {
    Value variance = arith::AddFOp::create(b, b.loadWide(b.in(4), channel), epsilon);
    Value factor = arith::DivFOp::create(b, b.loadWide(b.in(1), channel),
                                         math::SqrtOp::create(b, variance).getResult());
    Value moved = arith::SubFOp::create(b, x, b.loadWide(b.in(3), channel));
    return arith::AddFOp::create(b, arith::MulFOp::create(b, moved, factor),
                                 b.loadWide(b.in(2), channel));
  };
  b.setRowDims(in.rank() - 2);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    b.loop(length, [&](Value j) {
      Value at = b.add(row, j);
      Value channel = in.rank() > 2 ? indices[1] : j;
      b.storeWide(out, normalize(b.loadWide(in, at), channel), at);
    });
  });
  return true;
}

/// Builds GroupNormalization: the first channel of a group that is reached computes all of it.
bool normalizeGroup(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const int64_t groups = host::integerOf(call, "num_groups", 1);
  if (in.rank() < 3 || !in.isFloat() || groups < 1 || !b.has(1) || !b.has(2) ||
      out.rank() != in.rank() || b.in(1).element != in.element || b.in(2).element != in.element)
    return false;
  const double epsilon = host::numberOf(call, "epsilon", 1e-5f);
  Value members = b.div(in.dims[1], b.index(groups));
  b.setRowDims(in.rank() - 2);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value member = b.rem(indices[1], members);
    b.ifThen(b.compare(arith::CmpIPredicate::eq, member, b.index(0)), [&] {
      Moments moments = momentsOf(b, row, b.mul(members, length), epsilon, /*centers=*/true);
      b.loop(members, [&](Value i) {
        Value channel = b.add(indices[1], i), base = b.add(row, b.mul(i, length));
        Value scale = b.mulF(b.loadWide(b.in(1), channel), moments.inverse);
        Value bias = b.loadWide(b.in(2), channel);
        b.loop(length, [&](Value j) {
          Value at = b.add(base, j);
          Value x = b.subF(b.loadWide(in, at), moments.mean);
          b.storeWide(out, b.addF(b.mulF(x, scale), bias), at);
        });
      });
    });
  });
  return true;
}

/// Builds LpNormalization in blocks of lanes, which are columns where the axis is not the last dim.
/// A lane of zeros stays zero.
bool normalizeLp(RowBuilder &b, graph::HostCallOp call) {
  constexpr int64_t block = 256;
  const Port &in = b.in(0), &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, -1, in.rank());
  const int64_t p = host::integerOf(call, "p", 2);
  if (!axis || !in.isFloat() || out.rank() != in.rank() || (p != 1 && p != 2))
    return false;
  Type wide = RowBuilder::computeType(in.element);
  Value zero = b.constant(wide, 0);
  auto part = [&](Value x) -> Value {
    return p == 1 ? math::AbsFOp::create(b, x).getResult() : b.mulF(x, x);
  };
  auto normOf = [&](Value total) -> Value {
    return p == 1 ? total : math::SqrtOp::create(b, total).getResult();
  };
  auto divided = [&](Value x, Value norm) {
    Value isZero = b.compareF(arith::CmpFPredicate::OEQ, norm, zero);
    return b.select(isZero, zero, b.divF(x, norm));
  };
  if (*axis + 1 == in.rank()) {
    b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
      auto at = [&](Value i) { return b.loadWide(in, b.add(row, i)); };
      Value norm = normOf(sum(b, wide, length, [&](Value i) { return part(at(i)); }));
      b.loop(length, [&](Value i) { b.storeWide(out, divided(at(i), norm), b.add(row, i)); });
    });
    return true;
  }
  Port norms = b.scratch(wide, block);
  b.setRowDims(in.rank() - *axis);
  Value length = b.product(ArrayRef(in.dims).drop_front(*axis + 1));
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    b.loop(b.div(b.add(length, b.index(block - 1)), b.index(block)), [&](Value number) {
      Value first = b.mul(number, b.index(block));
      Value n = b.min(b.index(block), b.sub(length, first));
      auto forAll = [&](function_ref<void(Value, Value)> body) {
        b.loop(in.dims[*axis], [&](Value i) {
          Value base = b.add(b.add(row, first), b.mul(i, in.strides[*axis]));
          b.loop(n, [&](Value j) { body(b.add(base, j), j); });
        });
      };
      b.loop(n, [&](Value j) { b.store(norms, zero, j); });
      forAll([&](Value at, Value j) {
        b.store(norms, b.addF(b.load(norms, j), part(b.loadWide(in, at))), j);
      });
      b.loop(n, [&](Value j) { b.store(norms, normOf(b.load(norms, j)), j); });
      forAll([&](Value at, Value j) {
        b.storeWide(out, divided(b.loadWide(in, at), b.load(norms, j)), at);
      });
    });
  });
  return true;
}

/// Divides by a power of the sum of squares of neighbouring channels.
bool normalizeLocal(RowBuilder &b, graph::HostCallOp call) {
  constexpr int64_t block = 256;
  const Port &in = b.in(0), &out = b.out();
  const int64_t size = host::integerOf(call, "size", 0);
  if (in.rank() < 3 || !in.isFloat() || out.rank() != in.rank() || size < 1)
    return false;
  Type wide = RowBuilder::computeType(in.element);
  Port sums = b.scratch(wide, block);
  Value alpha = b.constant(wide, host::numberOf(call, "alpha", 1e-4) / double(size));
  Value bias = b.constant(wide, host::numberOf(call, "bias", 1));
  Value power = b.constant(wide, -host::numberOf(call, "beta", 0.75));
  b.setRowDims(in.rank() - 2);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value channel = indices[1], zero = b.index(0);
    Value first = b.max(zero, b.sub(channel, b.index((size - 1) / 2)));
    Value last = b.min(in.dims[1], b.add(channel, b.index(size / 2 + 1)));
    Value image = b.mul(indices[0], in.strides[0]);
    b.loop(b.div(b.add(length, b.index(block - 1)), b.index(block)), [&](Value number) {
      Value begin = b.mul(number, b.index(block));
      Value n = b.min(b.index(block), b.sub(length, begin));
      b.loop(n, [&](Value j) { b.store(sums, b.constant(wide, 0), j); });
      b.loop(first, last, [&](Value other) {
        Value base = b.add(b.add(image, b.mul(other, in.strides[1])), begin);
        b.loop(n, [&](Value j) {
          Value x = b.loadWide(in, b.add(base, j));
          b.store(sums, b.addF(b.load(sums, j), b.mulF(x, x)), j);
        });
      });
      b.loop(n, [&](Value j) {
        Value at = b.add(b.add(row, begin), j);
        Value sum = b.addF(bias, b.mulF(alpha, b.load(sums, j)));
        // The sum is not negative, so that this is its power.
        Value factor =
            math::ExpOp::create(b, b.mulF(math::LogOp::create(b, sum).getResult(), power));
        b.storeWide(out, b.mulF(b.loadWide(in, at), factor), at);
      });
    });
  });
  return true;
}

} // namespace

Generator findNormGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"BatchNormalization", normalizeBatch},
      {"GroupNormalization", normalizeGroup},
      {"Hardmax", softmax<Softmax::Hard>},
      {"InstanceNormalization", normalizeInstance},
      {"LRN", normalizeLocal},
      {"LayerNormalization", normalizeLayer<true>},
      {"LogSoftmax", softmax<Softmax::Log>},
      {"LpNormalization", normalizeLp},
      {"RMSNormalization", normalizeLayer<false>},
      {"Softmax", softmax<Softmax::Plain>},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
