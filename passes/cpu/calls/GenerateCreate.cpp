//===-- GenerateCreate.cpp - tensors made of few values or of triangles ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds first + i * delta.
bool range(RowBuilder &b, graph::HostCallOp) {
  const Port &out = b.out();
  if (!out.isFloat() || out.rank() != 1 || !b.has(2) || b.in(0).element != out.element ||
      b.in(2).element != out.element)
    return false;
  Value first = b.loadWide(b.in(0), b.index(0)), delta = b.loadWide(b.in(2), b.index(0));
  b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
    b.loop(length, [&](Value i) {
      Value steps = b.toFloat(first.getType(), i);
      b.storeWide(out, b.addF(first, b.mulF(steps, delta)), b.add(row, i));
    });
  });
  return true;
}

/// Writes ones on a diagonal and zeros elsewhere.
bool eye(RowBuilder &b, graph::HostCallOp call) {
  const Port &out = b.out();
  if (!out.isFloat() || out.rank() != 2)
    return false;
  // Diagonals this far away are outside of any matrix.
  constexpr int64_t far = int64_t(1) << 60;
  const int64_t k = std::clamp(host::integerOf(call, "k", 0), -far, far);
  Value one = b.constant(out.element, 1), zero = b.constant(out.element, 0);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value position = b.add(indices.front(), b.index(k));
    b.loop(length, [&](Value j) {
      Value isOne = b.compare(arith::CmpIPredicate::eq, j, position);
      b.store(out, b.select(isOne, one, zero), b.add(row, j));
    });
  });
  return true;
}

/// Copies one triangle of each matrix and writes zeros to the other.
bool triangle(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  if (in.rank() < 2 || !in.isFloat() || out.rank() != in.rank() || (b.has(1) && b.in(1).isFloat()))
    return false;
  const bool isUpper = host::integerOf(call, "upper", 1) != 0;
  Value zero = b.index(0), rows = in.dims[in.rank() - 2], columns = in.dims.back();
  Value diagonal = b.has(1) ? b.loadIndex(b.in(1), zero) : zero;
  // A diagonal outside of the matrix selects all of it or nothing, so that it can be clamped to the
  // nearest such one.
  diagonal = b.max(b.min(diagonal, columns), b.sub(b.sub(zero, rows), b.index(1)));
  Value nothing = b.constant(out.element, 0);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    auto clear = [&](Value from, Value to) {
      b.loop(from, to, [&](Value j) { b.store(out, nothing, b.add(row, j)); });
    };
    // The columns from `edge` on are above the diagonal.
    Value edge = b.add(indices.back(), isUpper ? diagonal : b.add(diagonal, b.index(1)));
    edge = b.min(b.max(edge, zero), length);
    Value first = isUpper ? edge : zero, last = isUpper ? length : edge;
    clear(zero, first);
    b.copyRow(out, b.add(row, first), b.sub(last, first), in, b.add(row, first), b.index(1));
    clear(last, length);
  });
  return true;
}

} // namespace

Generator findCreateGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"EyeLike", eye},
      {"Range", range},
      {"Trilu", triangle},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
