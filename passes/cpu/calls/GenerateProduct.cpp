//===-- GenerateProduct.cpp - products of matrices of any sizes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where rows of the second matrix are contiguous, four rows of the result are summed up in blocks
// of columns that stay in the first cache: four rows of the second matrix at a time, so that
// sixteen products cost four loads and stores of a sum. Where its columns are, each result is a sum
// in a register.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "kernels/core/GeneratedCode.h"
#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kRows = 4, kDepth = 4, kColumns = 4, kBlock = 256;

/// Builds c = alpha * a * b + beta * bias for the matrices of a batch.
class Product {
public:
  explicit Product(RowBuilder &b)
      : b(b), left(b.in(0)), right(b.in(1)), out(b.out()),
        wide(RowBuilder::computeType(b.in(0).element)) {}

  Value m, n, k;
  Value leftRow, leftColumn, rightRow, rightColumn; ///< strides
  bool dotsColumns = false;                         ///< columns of the second matrix are contiguous
  double alpha = 1, beta = 1;
  /// Returns the offset of the bias of an element; null: none.
  std::function<Value(Value row, Value column)> biasAt;
  /// Returns the offsets of the matrices of a batch.
  std::function<std::pair<Value, Value>(Value number)> matricesOf;

  void build() {
    if (!dotsColumns)
      for (int64_t i = 0; i < kRows; ++i)
        sums.push_back(b.scratch(wide, kBlock));
    // A row is a task; matrices are numbered consecutively.
    Value begin = b.firstRow(), end = b.endRow(), up = b.sub(m, b.index(1));
    b.loop(b.div(begin, m), b.div(b.add(end, up), m), [&](Value number) {
      Value first = b.mul(number, m);
      Value low = b.sub(b.max(first, begin), first),
            high = b.sub(b.min(b.add(first, m), end), first);
      auto [x, y] = matricesOf(number);
      xBase = x;
      yBase = y;
      outBase = b.mul(first, n);
      if (dotsColumns)
        return b.loop(low, high, [&](Value row) { dotRow(row); });
      Value blocks = b.div(b.add(n, b.index(kBlock - 1)), b.index(kBlock));
      Value rest = b.add(low, b.mul(b.div(b.sub(high, low), b.index(kRows)), b.index(kRows)));
      b.loop(blocks, [&](Value block) {
        Value column = b.mul(block, b.index(kBlock));
        Value count = b.min(b.index(kBlock), b.sub(n, column));
        b.fold(low, rest, b.index(kRows), {}, [&](Value row, ValueRange) -> Indices {
          addRows(row, kRows, column, count);
          return {};
        });
        b.loop(rest, high, [&](Value row) { addRows(row, 1, column, count); });
      });
    });
  }

private:
  Value multiplyAdd(Value a, Value x, Value sum, arith::FastMathFlags more = {}) {
    const auto flags = arith::FastMathFlags::contract | more;
    Value product = arith::MulFOp::create(b, a, x, flags);
    return arith::AddFOp::create(b, sum, product, flags);
  }

  Value leftAt(Value row, Value depth) {
    Value at = b.add(b.mul(row, leftRow), b.mul(depth, leftColumn));
    return b.loadWide(left, b.add(xBase, at));
  }
  Value rightAt(Value depth, Value column) {
    Value at = b.add(b.mul(depth, rightRow), b.mul(column, rightColumn));
    return b.loadWide(right, b.add(yBase, at));
  }

  void finish(Value row, Value column, Value sum) {
    if (alpha != 1)
      sum = b.mulF(sum, b.constant(wide, alpha));
    if (biasAt) {
      Value bias = b.loadWide(b.in(2), biasAt(row, column));
      if (beta != 1)
        bias = b.mulF(bias, b.constant(wide, beta));
      sum = b.addF(sum, bias);
    }
    b.storeWide(out, sum, b.add(b.add(outBase, b.mul(row, n)), column));
  }

  /// Computes columns [column, column + count) of `rows` rows.
  void addRows(Value row, int64_t rows, Value column, Value count) {
    b.loop(count, [&](Value j) {
      for (int64_t r = 0; r < rows; ++r)
        b.store(sums[r], b.constant(wide, 0), j);
    });
    auto add = [&](Value depth, int64_t together) {
      SmallVector<SmallVector<Value>> factors(rows);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t l = 0; l < together; ++l)
          factors[r].push_back(leftAt(b.add(row, b.index(r)), b.add(depth, b.index(l))));
      b.loop(count, [&](Value j) {
        SmallVector<Value> values;
        for (int64_t l = 0; l < together; ++l)
          values.push_back(rightAt(b.add(depth, b.index(l)), b.add(column, j)));
        for (int64_t r = 0; r < rows; ++r) {
          Value sum = b.load(sums[r], j);
          for (auto [x, factor] : llvm::zip(values, factors[r]))
            sum = multiplyAdd(factor, x, sum);
          b.store(sums[r], sum, j);
        }
      });
    };
    Value whole = b.mul(b.div(k, b.index(kDepth)), b.index(kDepth));
    b.fold(b.index(0), whole, b.index(kDepth), {}, [&](Value depth, ValueRange) -> Indices {
      add(depth, kDepth);
      return {};
    });
    b.loop(whole, k, [&](Value depth) { add(depth, 1); });
    for (int64_t r = 0; r < rows; ++r)
      b.loop(count, [&](Value j) {
        finish(b.add(row, b.index(r)), b.add(column, j), b.load(sums[r], j));
      });
  }

  /// Computes a row of sums in registers.
  void dotRow(Value row) {
    auto dot = [&](Value column, int64_t columns) {
      Indices zeros(columns, b.constant(wide, 0));
      Indices results = b.fold(k, zeros, [&](Value depth, ValueRange carried) -> Indices {
        Value x = leftAt(row, depth);
        Indices next;
        for (int64_t c = 0; c < columns; ++c)
          next.push_back(multiplyAdd(x, rightAt(depth, b.add(column, b.index(c))), carried[c],
                                     arith::FastMathFlags::reassoc));
        return next;
      });
      for (int64_t c = 0; c < columns; ++c)
        finish(row, b.add(column, b.index(c)), results[c]);
    };
    Value whole = b.mul(b.div(n, b.index(kColumns)), b.index(kColumns));
    b.fold(b.index(0), whole, b.index(kColumns), {}, [&](Value column, ValueRange) -> Indices {
      dot(column, kColumns);
      return {};
    });
    b.loop(whole, n, [&](Value column) { dot(column, 1); });
  }

  RowBuilder &b;
  const Port &left, &right, &out;
  Type wide;
  std::vector<Port> sums;
  Value xBase, yBase, outBase;
};

bool hasForm(RowBuilder &b, graph::HostCallOp call) {
  return b.has(0) && b.has(1) && !isLarge(call.inputsByPosition()[1], kernels::kMaxProducts) &&
         b.in(0).isFloat() && b.in(1).element == b.in(0).element &&
         b.out().element == b.in(0).element && (!b.has(2) || b.in(2).element == b.in(0).element);
}

bool matMul(RowBuilder &b, graph::HostCallOp call) {
  if (!hasForm(b, call) || b.numInputs() != 2 || b.in(0).rank() < 2 || b.in(1).rank() < 2 ||
      b.out().rank() != std::max(b.in(0).rank(), b.in(1).rank()))
    return false;
  const int64_t rank = b.out().rank();
  Product product(b);
  Value one = b.index(1);
  product.m = b.out().dims[rank - 2];
  product.n = b.out().dims[rank - 1];
  product.k = b.in(0).dims.back();
  product.leftRow = product.k;
  product.leftColumn = one;
  product.rightRow = product.n;
  product.rightColumn = one;
  Indices steps[2];
  for (unsigned i = 0; i < 2; ++i)
    steps[i] = b.broadcastSteps(b.in(i));
  product.matricesOf = [&](Value number) {
    Indices position = b.split(number, ArrayRef(b.out().dims).drop_back(2));
    Value bases[2];
    for (unsigned i = 0; i < 2; ++i) {
      bases[i] = b.index(0);
      ArrayRef<Value> outer = ArrayRef(steps[i]).drop_back(2);
      for (auto [index, step] : llvm::zip(ArrayRef(position).take_back(outer.size()), outer))
        bases[i] = b.add(bases[i], b.mul(index, step));
    }
    return std::pair(bases[0], bases[1]);
  };
  product.build();
  return true;
}

bool gemm(RowBuilder &b, graph::HostCallOp call) {
  if (!hasForm(b, call) || b.in(0).rank() != 2 || b.in(1).rank() != 2 || b.out().rank() != 2 ||
      (b.has(2) && b.in(2).rank() > 2))
    return false;
  const bool transA = host::integerOf(call, "transA", 0) != 0;
  const bool transB = host::integerOf(call, "transB", 0) != 0;
  Product product(b);
  Value one = b.index(1), zero = b.index(0);
  product.m = b.out().dims[0];
  product.n = b.out().dims[1];
  product.k = b.in(0).dims[transA ? 0 : 1];
  product.leftRow = transA ? one : product.k;
  product.leftColumn = transA ? product.m : one;
  product.rightRow = transB ? one : product.n;
  product.rightColumn = transB ? product.k : one;
  product.dotsColumns = transB;
  product.alpha = host::numberOf(call, "alpha", 1);
  product.beta = host::numberOf(call, "beta", 1);
  if (b.has(2)) {
    Indices steps = b.broadcastSteps(b.in(2));
    product.biasAt = [=, &b](Value row, Value column) {
      Value at = zero;
      if (!steps.empty())
        at = b.add(at, b.mul(column, steps.back()));
      return steps.size() < 2 ? at : b.add(at, b.mul(row, steps.front()));
    };
  }
  product.matricesOf = [&](Value) { return std::pair(zero, zero); };
  product.build();
  return true;
}

} // namespace

Generator findProductGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Gemm", gemm},
      {"MatMul", matMul},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
