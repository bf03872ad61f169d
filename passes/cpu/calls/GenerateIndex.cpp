//===-- GenerateIndex.cpp - gathers and scatters, dims known at run time --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/CallWindow.h"
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

/// Gathers slices by tuples of indices, whose length follows from the ranks.
bool gatherNd(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const int64_t batch = host::integerOf(call, "batch_dims", 0);
  if (!isIndices(b, 1) || batch < 0 || batch >= std::min(in.rank(), b.in(1).rank()))
    return false;
  const Port &tuples = b.in(1);
  const int64_t depth = tuples.rank() - 1 + in.rank() - batch - out.rank();
  if (depth < 1 || depth > in.rank() - batch)
    return false;
  const int64_t inner = in.rank() - batch - depth;
  auto sourceOf = [&](ArrayRef<Value> position, Value tuple) {
    Value at = b.index(0), first = b.mul(tuple, b.index(depth));
    for (int64_t d = 0; d < batch; ++d)
      at = b.add(at, b.mul(position[d], in.strides[d]));
    for (int64_t k = 0; k < depth; ++k) {
      Value given = b.loadIndex(tuples, b.add(first, b.index(k)));
      at = b.add(at, b.mul(b.checked(given, in.dims[batch + k]), in.strides[batch + k]));
    }
    return at;
  };
  b.setRowDims(inner);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    if (inner > 0)
      return b.copyRow(out, row, length, in, sourceOf(indices, b.row()), b.index(1));
    b.loop(length, [&](Value j) {
      Indices position(indices);
      position.push_back(j);
      Value at = b.add(row, j);
      b.store(out, b.load(in, sourceOf(position, at)), at);
    });
  });
  return true;
}

/// Copies the slices along an axis whose condition holds; without an axis, elements. A condition
/// that is shorter than the dim drops what is behind its end.
bool compress(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const bool isFlat = !call.getParameters().get("axis");
  const std::optional<int64_t> axis = isFlat ? 0 : axisOf(call, 0, in.rank());
  if (!axis || !b.has(1) || b.in(1).rank() != 1 || !b.in(1).element.isInteger(1) ||
      out.rank() != (isFlat ? 1 : in.rank()))
    return false;
  const Port &condition = b.in(1);
  Value size = isFlat ? b.product(in.dims) : in.dims[*axis];
  Value inner = isFlat ? b.index(1) : b.product(ArrayRef(in.dims).drop_front(*axis + 1));
  Value count = b.min(condition.dims[0], size);
  // A row is one index of the dims in front of the axis.
  b.setRowDims(out.rank() - *axis);
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    Value base = b.mul(b.row(), b.mul(size, inner));
    b.fold(count, row, [&](Value i, ValueRange carried) -> Indices {
      Value to = carried.front(), isChosen = b.load(condition, i);
      b.ifThen(isChosen,
               [&] { b.copyRow(out, to, inner, in, b.add(base, b.mul(i, inner)), b.index(1)); });
      return {b.select(isChosen, b.add(to, inner), to)};
    });
  });
  return true;
}

/// Returns element `at` of a port of floats as an index; one that is too large, or NaN, as one that
/// is out of the range of any dim.
Value indexIn(RowBuilder &b, const Port &port, Value at) {
  Value far = b.constant(port.element, 0x1p62), number = b.load(port, at);
  return b.toIndex(b.smallerF(far, b.largerF(b.constant(port.element, -0x1p62), number)));
}

/// Writes `on` where the index along the axis is the one of the position, else `off`.
bool oneHot(RowBuilder &b, graph::HostCallOp call) {
  const Port &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, -1, out.rank());
  const bool hasFloats = b.in(0).element.isF32() || b.in(0).element.isF64();
  if (!axis || (!isIndices(b, 0) && !hasFloats) || !b.has(2) || b.in(2).element != out.element ||
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
      Value at = b.offset(b.in(0), position);
      Value wanted = hasFloats ? indexIn(b, b.in(0), at) : b.loadIndex(b.in(0), at);
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

/// Copies the input and applies `count` slices of updates of `inner` elements in their order, as
/// one task. `position` returns the offset that slice `u` goes to.
bool scatter(RowBuilder &b, graph::HostCallOp call, Value count, Value inner,
             function_ref<Value(Value)> position) {
  const Port &in = b.in(0), &out = b.out(), &updates = b.in(2);
  if (in.rank() == 0 || !in.isFloat() || updates.element != in.element || out.rank() != in.rank())
    return false;
  bool isKnown = true;
  b.setRowDims(in.rank());
  b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
    b.copyRow(out, row, length, in, row, b.index(1));
    b.loop(count, [&](Value u) {
      Value base = position(u), first = b.mul(u, inner);
      b.loop(inner, [&](Value j) {
        Value at = b.add(base, j);
        Value update = b.loadWide(updates, b.add(first, j));
        Value result = combine(b, call, b.loadWide(out, at), update);
        isKnown = result != nullptr;
        if (isKnown)
          b.storeWide(out, result, at);
      });
    });
  });
  return isKnown;
}

/// Applies rows of updates that go along another dim than their own. Where an index is repeated in
/// all elements of a row, as graph networks do it, neighbours go to neighbours.
bool scatterRows(RowBuilder &b, graph::HostCallOp call, int64_t axis) {
  const Port &in = b.in(0), &out = b.out(), &indices = b.in(1), &updates = b.in(2);
  if (!in.isFloat() || updates.element != in.element || out.rank() != in.rank())
    return false;
  bool isKnown = true;
  ArrayRef<Value> outer = ArrayRef(updates.dims).drop_back();
  Value inner = updates.dims.back(), none = b.index(0);
  Value isEmpty = b.compare(arith::CmpIPredicate::eq, inner, none);
  Value rows = b.select(isEmpty, none, b.product(outer));
  b.setRowDims(in.rank());
  b.forEachRow([&](ArrayRef<Value>, Value whole, Value length) {
    b.copyRow(out, whole, length, in, whole, b.index(1));
    b.loop(rows, [&](Value row) {
      Value first = b.mul(row, inner), index = b.loadIndex(indices, first);
      Indices position = b.split(row, outer);
      position.push_back(b.sub(inner, b.index(1)));
      for (auto [d, location] : llvm::enumerate(position))
        location = int64_t(d) == axis ? none : b.checked(location, in.dims[d]);
      position.back() = none;
      Value start = b.offset(in, position);
      auto apply = [&](Value at, Value j) {
        Value update = b.loadWide(updates, b.add(first, j));
        Value result = combine(b, call, b.loadWide(out, at), update);
        isKnown = result != nullptr;
        if (isKnown)
          b.storeWide(out, result, at);
      };
      auto offsetOf = [&](Value location) {
        return b.add(start, b.mul(b.checked(location, in.dims[axis]), in.strides[axis]));
      };
      Value differs = b.fold(inner, none, [&](Value j, ValueRange carried) -> Indices {
        Value other = b.loadIndex(indices, b.add(first, j));
        Value bits = arith::XOrIOp::create(b, other, index);
        return {arith::OrIOp::create(b, carried.front(), bits)};
      })[0];
      b.ifElse(
          b.compare(arith::CmpIPredicate::eq, differs, none),
          [&] {
            Value base = offsetOf(index);
            b.loop(inner, [&](Value j) { apply(b.add(base, j), j); });
          },
          [&] {
            b.loop(inner, [&](Value j) {
              apply(b.add(offsetOf(b.loadIndex(indices, b.add(first, j))), j), j);
            });
          });
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
  if (*axis + 1 < in.rank())
    return scatterRows(b, call, *axis);
  return scatter(b, call, b.product(b.in(2).dims), b.index(1), [&](Value u) {
    Indices position = b.split(u, b.in(2).dims);
    for (auto [d, index] : llvm::enumerate(position))
      index = b.checked(int64_t(d) == *axis ? b.loadIndex(b.in(1), u) : index, in.dims[d]);
    return b.offset(in, position);
  });
}

/// The updates are slices; tuples of indices say where they go. Their length follows from the
/// ranks.
bool scatterNd(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  if (!isIndices(b, 1) || !b.has(2) || b.in(1).rank() < 1)
    return false;
  const Port &tuples = b.in(1);
  const int64_t depth = tuples.rank() - 1 + in.rank() - b.in(2).rank();
  if (depth < 0 || depth > in.rank())
    return false;
  Value count = b.product(ArrayRef(tuples.dims).drop_back());
  Value inner = b.product(ArrayRef(in.dims).drop_front(depth));
  return scatter(b, call, count, inner, [&](Value u) {
    Value at = b.index(0), first = b.mul(u, b.index(depth));
    for (int64_t d = 0; d < depth; ++d) {
      Value index = b.checked(b.loadIndex(tuples, b.add(first, b.index(d))), in.dims[d]);
      at = b.add(at, b.mul(index, in.strides[d]));
    }
    return at;
  });
}

/// Reverses the first steps of each sequence, as many as its length.
bool reverseSequence(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const int64_t time = host::integerOf(call, "time_axis", 0);
  const int64_t batch = host::integerOf(call, "batch_axis", 1);
  if (in.rank() < 2 || out.rank() != in.rank() || !isIndices(b, 1) || b.in(1).rank() != 1 ||
      (time != 0 && time != 1) || batch != 1 - time)
    return false;
  const bool isRow = in.rank() == 2;
  b.setRowDims(in.rank() - 2);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    auto sourceOf = [&](ArrayRef<Value> position) {
      Value steps = b.loadIndex(b.in(1), position[batch]), step = position[time];
      Value other = b.sub(b.sub(steps, b.index(1)), step);
      other = b.select(b.compare(arith::CmpIPredicate::slt, step, steps), other, step);
      return b.add(b.mul(other, in.strides[time]), b.mul(position[batch], in.strides[batch]));
    };
    if (!isRow)
      return b.copyRow(out, row, length, in, sourceOf(indices), b.index(1));
    b.loop(length, [&](Value j) {
      Value from = sourceOf({indices.front(), j});
      b.store(out, b.load(in, from), b.add(row, j));
    });
  });
  return true;
}

/// Fills the result with zeros and puts the elements at their indices, as one task.
bool maxUnpool(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  FailureOr<Window> window = readWindow(call, in.rank() - 2);
  if (failed(window) || window->kernel.empty() || !isIndices(b, 1) || !in.isFloat() ||
      out.rank() != in.rank())
    return false;
  // Indices count the elements of what the windows yield, which is the result or smaller.
  Indices pooled = {in.dims[0], in.dims[1]};
  for (int64_t d = 0; d < window->rank(); ++d) {
    Value steps = b.mul(b.sub(in.dims[d + 2], b.index(1)), b.index(window->stride[d]));
    const int64_t more = window->kernel[d] - window->front[d] - window->after[d];
    pooled.push_back(b.max(b.add(steps, b.index(more)), b.index(0)));
  }
  Value limit = b.product(pooled), zero = b.constant(out.element, 0);
  b.setRowDims(out.rank());
  b.forEachRow([&](ArrayRef<Value>, Value row, Value length) {
    b.loop(length, [&](Value j) { b.store(out, zero, b.add(row, j)); });
    b.loop(b.product(in.dims), [&](Value i) {
      Value at = b.checked(b.loadIndex(b.in(1), i), limit, /*wraps=*/false);
      b.store(out, b.load(in, i), b.has(2) ? b.offset(out, b.split(at, pooled)) : at);
    });
  });
  return true;
}

} // namespace

Generator findIndexGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Compress", compress},
      {"Gather", gather},
      {"GatherElements", gatherElements},
      {"GatherND", gatherNd},
      {"MaxUnpool", maxUnpool},
      {"OneHot", oneHot},
      {"ReverseSequence", reverseSequence},
      {"ScatterElements", scatterElements},
      {"ScatterND", scatterNd},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
