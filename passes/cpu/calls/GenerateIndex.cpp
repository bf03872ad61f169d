//===-- GenerateIndex.cpp - gathers and scatters, dims known at run time --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

bool isIndices(RowBuilder &b, unsigned i) {
  return b.has(i) && isa<IntegerType>(b.in(i).element) &&
         b.in(i).element.getIntOrFloatBitWidth() > 1;
}

/// Gathers by indices that count from the end where they are negative.
bool gather(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, 0, in.rank());
  if (!axis || !b.has(1) || isa<FloatType>(b.in(1).element) ||
      out.rank() != in.rank() + b.in(1).rank() - 1)
    return false;
  const Port &which = b.in(1);
  const bool isLast = *axis + 1 == in.rank();
  const int64_t behind = in.rank() - *axis - 1;
  b.setRowDims(behind);
  // The indices of the result are those before the axis, those of `which`, and those behind it.
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    auto baseOf = [&](ArrayRef<Value> all) {
      Value chosen = b.loadIndex(which, b.offset(which, all.slice(*axis, which.rank())));
      Indices position(all.take_front(*axis));
      position.push_back(b.checked(chosen, in.dims[*axis]));
      llvm::append_range(position, all.drop_front(*axis + which.rank()));
      return b.offset(in, position);
    };
    Indices all(indices);
    if (!isLast) {
      all.append(behind, b.index(0));
      b.copyRow(out, row, length, in, baseOf(all), b.index(1));
      return;
    }
    b.loop(length, [&](Value j) {
      Indices own(all);
      if (out.rank() > 0)
        own.push_back(j);
      b.store(out, b.load(in, baseOf(own)), b.add(row, j));
    });
  });
  return true;
}

bool gatherElements(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, 0, in.rank());
  if (!axis || !b.has(1) || isa<FloatType>(b.in(1).element) || b.in(1).rank() != in.rank() ||
      out.rank() != in.rank())
    return false;
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    b.loop(length, [&](Value j) {
      Indices position(indices);
      position.push_back(j);
      for (auto [d, index] : llvm::enumerate(position))
        index = b.checked(int64_t(d) == *axis ? b.loadIndex(b.in(1), b.add(row, j)) : index,
                          in.dims[d]);
      b.store(out, b.load(in, b.offset(in, position)), b.add(row, j));
    });
  });
  return true;
}

/// Writes `on` where the index along the axis is the one of the position, else `off`.
bool oneHot(RowBuilder &b, graph::HostCallOp call) {
  const Port &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, -1, out.rank());
  if (!axis || !isIndices(b, 0) || !b.has(2) || b.in(2).element != out.element ||
      b.in(0).rank() + 1 != out.rank())
    return false;
  Value off = b.load(b.in(2), b.index(0)), on = b.load(b.in(2), b.index(1));
  Value depth = out.dims[*axis];
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    b.loop(length, [&](Value j) {
      Indices position(indices);
      position.push_back(j);
      Value own = position[*axis];
      position.erase(position.begin() + *axis);
      Value wanted = b.loadIndex(b.in(0), b.offset(b.in(0), position));
      Value isNegative = b.compare(arith::CmpIPredicate::slt, wanted, b.index(0));
      wanted = b.select(isNegative, b.add(wanted, depth), wanted);
      Value isHot = b.compare(arith::CmpIPredicate::eq, wanted, own);
      b.store(out, b.select(isHot, on, off), b.add(row, j));
    });
  });
  return true;
}

/// Returns what a scatter stores for an element and an update; null for another reduction.
Value combine(RowBuilder &b, graph::HostCallOp call, Value old, Value update) {
  auto is = [&](StringRef name) { return hasText(call, "reduction", "none", name); };
  if (is("none"))
    return update;
  if (is("add"))
    return arith::AddFOp::create(b, old, update);
  if (is("mul"))
    return arith::MulFOp::create(b, old, update);
  if (is("max"))
    return arith::MaximumFOp::create(b, old, update);
  return is("min") ? arith::MinimumFOp::create(b, old, update).getResult() : Value();
}

/// Copies the input and applies the updates in their order, as one task. `position` returns the
/// offset that update `u` goes to.
bool scatter(RowBuilder &b, graph::HostCallOp call, function_ref<Value(Value)> position) {
  const Port &in = b.in(0), &out = b.out(), &updates = b.in(2);
  if (in.rank() == 0 || !in.isFloat() || updates.element != in.element || out.rank() != in.rank())
    return false;
  bool isKnown = true;
  b.setRowDims(in.rank());
  b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
    b.copyRow(out, row, length, in, row, b.index(1));
    b.loop(b.product(updates.dims), [&](Value u) {
      Value at = position(u);
      Value result = combine(b, call, b.loadWide(out, at), b.loadWide(updates, u));
      isKnown = result != nullptr;
      if (isKnown)
        b.storeWide(out, result, at);
    });
  });
  return isKnown;
}

bool scatterElements(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const std::optional<int64_t> axis = axisOf(call, 0, in.rank());
  if (!axis || !isIndices(b, 1) || !b.has(2) || b.in(1).rank() != in.rank() ||
      b.in(2).rank() != in.rank())
    return false;
  // The updates have the shape of the indices.
  b.requireEqual(b.in(1).dims, b.in(2).dims);
  return scatter(b, call, [&](Value u) {
    Indices position = b.split(u, b.in(2).dims);
    for (auto [d, index] : llvm::enumerate(position))
      index = b.checked(int64_t(d) == *axis ? b.loadIndex(b.in(1), u) : index, in.dims[d]);
    return b.offset(in, position);
  });
}

} // namespace

Generator findIndexGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Gather", gather},
      {"GatherElements", gatherElements},
      {"OneHot", oneHot},
      {"ScatterElements", scatterElements},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
