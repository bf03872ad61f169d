//===-- GenerateScan.cpp - running sums over dims known at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds a running sum or product along an axis that is an operand. Where that is not the last
/// dim, the rows along it are combined as vectors.
template <bool isProduct> bool scan(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  if (!in.isFloat() || in.rank() == 0 || !b.has(1) || isa<FloatType>(b.in(1).element) ||
      out.rank() != in.rank())
    return false;
  const bool exclusive = host::integerOf(call, "exclusive", 0) != 0;
  const bool reverse = host::integerOf(call, "reverse", 0) != 0;
  using arith::CmpIPredicate;
  Type wide = RowBuilder::computeType(in.element);
  Value identity = b.constant(wide, isProduct ? 1 : 0), one = b.index(1);
  Value axis = b.checked(b.loadIndex(b.in(1), b.index(0)), b.index(in.rank()));
  Value isLast = b.compare(CmpIPredicate::eq, axis, b.index(in.rank() - 1));
  auto combine = [&](Value a, Value x) -> Value {
    if (isProduct)
      return arith::MulFOp::create(b, a, x);
    return arith::AddFOp::create(b, a, x);
  };
  auto location = [&](Value i, Value count) { return reverse ? b.sub(b.sub(count, one), i) : i; };
  auto choose = [&](ArrayRef<Value> values) {
    Value chosen = values.front();
    for (size_t d = 1; d < values.size(); ++d)
      chosen = b.select(b.compare(CmpIPredicate::eq, axis, b.index(d)), values[d], chosen);
    return chosen;
  };
  Value size = choose(in.dims), stride = choose(in.strides);

  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    auto alongRow = [&] {
      b.fold(length, identity, [&](Value i, ValueRange carried) -> Indices {
        Value at = b.add(row, location(i, length));
        Value next = combine(carried.front(), b.loadWide(in, at));
        b.storeWide(out, exclusive ? carried.front() : next, at);
        return {next};
      });
    };
    if (indices.empty())
      return alongRow();
    Value position = choose(indices);
    auto alongAxis = [&] {
      // The first row of a lane computes all of them.
      b.ifThen(b.compare(CmpIPredicate::eq, position, b.index(0)), [&] {
        b.loop(size, [&](Value i) {
          Value to = b.add(row, b.mul(location(i, size), stride));
          Value isFirst = b.compare(CmpIPredicate::eq, i, b.index(0));
          Value before = b.select(isFirst, i, b.sub(i, one));
          Value from = b.add(row, b.mul(location(before, size), stride));
          b.ifElse(
              isFirst,
              [&] {
                b.loop(length, [&](Value j) {
                  Value at = b.add(to, j);
                  b.storeWide(out, exclusive ? identity : b.loadWide(in, at), at);
                });
              },
              [&] {
                b.loop(length, [&](Value j) {
                  Value x = b.loadWide(in, b.add(exclusive ? from : to, j));
                  Value sum = combine(b.loadWide(out, b.add(from, j)), x);
                  b.storeWide(out, sum, b.add(to, j));
                });
              });
        });
      });
    };
    b.ifElse(isLast, alongRow, alongAxis);
  });
  return true;
}

} // namespace

Generator findScanGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"CumProd", scan<true>},
      {"CumSum", scan<false>},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
