//===-- GenerateQuantize.cpp - to and from quantized elements -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Returns whether elements are integers of at most 16 bits: float32 holds them, and their zero
/// points and sums, exactly.
bool isSmallInteger(const Port &port) {
  return isa<IntegerType>(port.element) && port.element.getIntOrFloatBitWidth() >= 8 &&
         port.element.getIntOrFloatBitWidth() <= 16;
}

Value asFloat(RowBuilder &b, const Port &port, Value element) {
  if (port.isFloat())
    return b.widen(element);
  Type single = b.getF32Type();
  if (port.isUnsigned)
    return arith::UIToFPOp::create(b, single, element);
  return arith::SIToFPOp::create(b, single, element);
}

/// Returns a whole number in the element type of a port of small integers: limited to its range,
/// and NaN as 0.
Value saturate(RowBuilder &b, const Port &port, Value whole) {
  const unsigned bits = port.element.getIntOrFloatBitWidth();
  Type single = b.getF32Type();
  Value min = b.constant(single, port.isUnsigned ? 0 : -double(int64_t(1) << (bits - 1)));
  Value max = b.constant(single, double((int64_t(1) << (bits - !port.isUnsigned)) - 1));
  Value isNan = b.compareF(arith::CmpFPredicate::UNO, whole, whole);
  whole = b.select(isNan, b.constant(single, 0), whole);
  whole = b.smallerF(b.largerF(whole, min), max);
  Value integer = arith::FPToSIOp::create(b, b.getI32Type(), whole);
  return arith::TruncIOp::create(b, port.element, integer);
}

/// Calls body(offset, offset of the scale) for all elements. One scale serves all of them, or there
/// is one per index of an axis.
bool forEachScaled(RowBuilder &b, graph::HostCallOp call, function_ref<void(Value, Value)> body) {
  const Port &in = b.in(0), &scale = b.in(1);
  if (b.out().rank() != in.rank() || scale.rank() > 1 ||
      host::integerOf(call, "block_size", 0) != 0)
    return false;
  if (in.rank() == 0) {
    b.forEachRow([&](ArrayRef<Value>, Value row, Value) { body(row, b.index(0)); });
    return true;
  }
  std::optional<int64_t> axis;
  if (scale.rank() == 1) {
    axis = axisOf(call, 1, in.rank());
    // A single scale needs no axis, but whether there is one is known at run time.
    if (!axis)
      return false;
  }
  const bool isLast = axis == in.rank() - 1;
  Value isOne = axis ? b.compare(arith::CmpIPredicate::eq, scale.dims[0], b.index(1)) : Value();
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    auto withOne = [&](Value at) { b.loop(length, [&](Value j) { body(b.add(row, j), at); }); };
    if (!axis)
      return withOne(b.index(0));
    if (!isLast)
      return withOne(b.select(isOne, b.index(0), indices[*axis]));
    b.ifElse(
        isOne, [&] { withOne(b.index(0)); },
        [&] { b.loop(length, [&](Value j) { body(b.add(row, j), j); }); });
  });
  return true;
}

bool quantize(RowBuilder &b, graph::HostCallOp call) {
  if (!b.has(1))
    return false;
  const Port &in = b.in(0), &scale = b.in(1), &out = b.out();
  const bool hasZero = b.has(2);
  if (!in.isFloat() || !scale.element.isF32() || in.element.isF64() || !isSmallInteger(out) ||
      host::integerOf(call, "precision", 0) != 0 ||
      (hasZero && (b.in(2).element != out.element || b.in(2).rank() != scale.rank())))
    return false;
  // The host kernel knows the scale of a run before it starts, but scales of the last axis change
  // with each element.
  const bool perElement = scale.rank() == 1 && axisOf(call, 1, in.rank()) == in.rank() - 1;
  if (in.element.isF32() && out.element.isInteger(8) && !perElement)
    return false;
  return forEachScaled(b, call, [&](Value at, Value which) {
    Value x = b.divF(b.loadWide(in, at), b.load(scale, which));
    x = math::RoundEvenOp::create(b, x);
    if (hasZero)
      x = b.addF(x, asFloat(b, b.in(2), b.load(b.in(2), which)));
    b.store(out, saturate(b, out, x), at);
  });
}

bool dequantize(RowBuilder &b, graph::HostCallOp call) {
  if (!b.has(1))
    return false;
  const Port &in = b.in(0), &scale = b.in(1), &out = b.out();
  const bool hasZero = b.has(2);
  if (!isSmallInteger(in) || !scale.isFloat() || scale.element.isF64() || !out.isFloat() ||
      out.element.isF64() ||
      (hasZero && (b.in(2).element != in.element || b.in(2).rank() != scale.rank())))
    return false;
  return forEachScaled(b, call, [&](Value at, Value which) {
    Value x = asFloat(b, in, b.load(in, at));
    if (hasZero)
      x = b.subF(x, asFloat(b, b.in(2), b.load(b.in(2), which)));
    b.storeWide(out, b.mulF(x, b.loadWide(scale, which)), at);
  });
}

} // namespace

Generator findQuantizeGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"DequantizeLinear", dequantize},
      {"QuantizeLinear", quantize},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
