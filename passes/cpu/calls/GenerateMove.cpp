//===-- GenerateMove.cpp - movement of elements, dims known at run time ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallRanks.h"
#include "passes/cpu/calls/Generators.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include "passes/host/QuantizedCalls.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

using namespace mlir;

namespace atc::cpu {

namespace {

/// Builds out[i] = in[base + sum(i[d] * steps[d])].
/// The last `rowDims` dims are dense in both.
void copyStrided(RowBuilder &b, Value base, ArrayRef<Value> steps, int64_t rowDims) {
  b.setRowDims(rowDims);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value at = base;
    for (auto [index, step] : llvm::zip(indices, steps))
      at = b.add(at, b.mul(index, step));
    b.copyRow(b.out(), row, length, b.in(0), at,
              steps.empty() || rowDims > 1 ? b.index(1) : steps.back());
  });
}

/// Builds transpositions that keep the last dims. Where they do not, the host kernel transposes
/// squares in registers, of any dims that can be merged.
bool transpose(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  SmallVector<int64_t> permutation(in.rank());
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  if (auto given = integersOf(call, "perm"); given && !given->empty())
    permutation = *given;
  if (in.rank() == 0 || int64_t(permutation.size()) != in.rank() || b.out().rank() != in.rank() ||
      !isPermutationVector(permutation))
    return false;
  Indices steps = llvm::map_to_vector(permutation, [&](int64_t d) { return in.strides[d]; });
  int64_t fixed = 0;
  while (fixed < in.rank() && permutation[in.rank() - 1 - fixed] == in.rank() - 1 - fixed)
    ++fixed;
  if (fixed == 0)
    return false;
  copyStrided(b, b.index(0), steps, fixed);
  return true;
}

/// Slices by starts, axes and steps that may be operands, however many there are. Those of dims of
/// no or one element do not matter, so that clamping the starts is enough.
bool slice(RowBuilder &b, graph::HostCallOp call) {
  using arith::CmpIPredicate;
  const Port &in = b.in(0);
  const int64_t rank = in.rank();
  for (unsigned i = 1; i < b.numInputs(); ++i)
    if (b.has(i) ? b.in(i).rank() != 1 || b.in(i).isFloat() : i < 3)
      return false;
  if (!b.has(1) || !b.has(2) || b.out().rank() != rank || rank == 0)
    return false;
  const SmallVector<Value> inputs = call.inputsByPosition();
  auto type = dyn_cast<RankedTensorType>(inputs[1].getType());
  const bool isCounted = type && type.hasStaticShape();
  std::optional<SmallVector<int64_t>> axes = SmallVector<int64_t>();
  if (b.has(3))
    axes = constantIntegers(inputs[3]);
  else if (isCounted)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getDimSize(0)));

  // The offset of the first element along each dim, and the step from one to the next.
  Value zero = b.index(0), one = b.index(1);
  Indices firsts(rank, zero), steps(in.strides);
  auto startAt = [&](Value at, Value dim, Value step) {
    Value start = b.loadIndex(b.in(1), at);
    start = b.select(b.compare(CmpIPredicate::slt, start, zero), b.add(start, dim), start);
    // Backwards the first element is the last one at most.
    Value isBackward = b.compare(CmpIPredicate::slt, step, zero);
    return b.min(b.max(start, zero), b.select(isBackward, b.sub(dim, one), dim));
  };
  auto stepAt = [&](Value at) { return b.has(4) ? b.loadIndex(b.in(4), at) : one; };
  int64_t whole = rank;
  if (isCounted && axes) {
    // Only a call that fails names an axis twice.
    if (int64_t(axes->size()) != type.getDimSize(0) || int64_t(axes->size()) > rank)
      return false;
    for (auto [i, given] : llvm::enumerate(*axes)) {
      const int64_t axis = given < 0 ? given + rank : given;
      if (axis < 0 || axis >= rank)
        return false;
      whole = std::min(whole, rank - 1 - axis);
      Value at = b.index(i), step = stepAt(at);
      firsts[axis] = b.mul(startAt(at, in.dims[axis], step), in.strides[axis]);
      steps[axis] = b.mul(step, in.strides[axis]);
    }
  } else {
    whole = 1;
    Indices initial(firsts);
    llvm::append_range(initial, steps);
    Indices found = b.fold(b.in(1).dims[0], initial, [&](Value i, ValueRange carried) -> Indices {
      Indices next(carried);
      Value axis = i, step = stepAt(i);
      if (b.has(3)) {
        axis = b.loadIndex(b.in(3), i);
        Value isNegative = b.compare(CmpIPredicate::slt, axis, zero);
        axis = b.select(isNegative, b.add(axis, b.index(rank)), axis);
      }
      for (int64_t d = 0; d < rank; ++d) {
        Value isOwn = b.compare(CmpIPredicate::eq, axis, b.index(d));
        Value first = b.mul(startAt(i, in.dims[d], step), in.strides[d]);
        next[d] = b.select(isOwn, first, carried[d]);
        next[rank + d] = b.select(isOwn, b.mul(step, in.strides[d]), carried[rank + d]);
      }
      return next;
    });
    firsts.assign(found.begin(), found.begin() + rank);
    steps.assign(found.begin() + rank, found.end());
  }
  Value base = zero;
  for (Value first : firsts)
    base = b.add(base, first);
  copyStrided(b, base, steps, whole);
  return true;
}

/// A row is one index of the dims in front of the axis: the elements of each input are a range.
bool concat(RowBuilder &b, graph::HostCallOp call) {
  const Port &out = b.out();
  const std::optional<int64_t> axis = axisOf(call, 0, out.rank());
  if (!axis)
    return false;
  for (unsigned i = 0; i < b.numInputs(); ++i)
    if (!b.has(i) || b.in(i).rank() != out.rank() || b.in(i).element != out.element)
      return false;
  Indices lengths;
  for (unsigned i = 0; i < b.numInputs(); ++i)
    lengths.push_back(b.product(ArrayRef(b.in(i).dims).drop_front(*axis)));
  b.setRowDims(out.rank() - *axis);
  b.forEachRow([&](ArrayRef<Value>, Value row, Value) {
    Value to = row;
    for (auto [i, own] : llvm::enumerate(lengths)) {
      b.copyRow(out, to, own, b.in(i), b.mul(b.row(), own), b.index(1));
      to = b.add(to, own);
    }
  });
  return true;
}

/// A row is one index of the dims in front of the axis, as in `concat`.
bool split(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const std::optional<int64_t> axis = axisOf(call, 0, in.rank());
  if (!axis)
    return false;
  Indices lengths;
  for (unsigned i = 0; i < b.numOutputs(); ++i) {
    if (!b.out(i) || b.out(i).rank() != in.rank())
      return false;
    lengths.push_back(b.product(ArrayRef(b.out(i).dims).drop_front(*axis)));
  }
  Value all = b.product(ArrayRef(in.dims).drop_front(*axis));
  b.setRowDims(in.rank() - *axis);
  b.forEachRow([&](ArrayRef<Value>, Value, Value) {
    Value from = b.mul(b.row(), all);
    for (auto [i, own] : llvm::enumerate(lengths)) {
      b.copyRow(b.out(i), b.mul(b.row(), own), own, in, from, b.index(1));
      from = b.add(from, own);
    }
  });
  return true;
}

enum class PadMode { Constant, Edge, Reflect, Wrap };

/// A dim of the data of a Pad. Its elements from `kept` to `keptEnd` are those that negative pads
/// do not remove.
struct PaddedDim {
  Value size, kept, keptEnd;
};

/// Returns the element that position `at` of a padded dim has, counted from the first one of the
/// data, which is not empty.
Value paddedIndex(RowBuilder &b, PadMode mode, Value at, const PaddedDim &dim) {
  using arith::CmpIPredicate;
  Value zero = b.index(0), last = b.sub(dim.size, b.index(1));
  if (mode == PadMode::Edge)
    return b.min(b.max(at, zero), last);
  // Reflections repeat after all elements but the outer ones have come twice.
  const bool wraps = mode == PadMode::Wrap;
  Value period = b.max(wraps ? b.sub(dim.keptEnd, dim.kept) : b.mul(last, b.index(2)), b.index(1));
  Value rest = arith::RemSIOp::create(b, wraps ? b.sub(at, dim.kept) : at, period);
  rest = b.select(b.compare(CmpIPredicate::slt, rest, zero), b.add(rest, period), rest);
  if (wraps)
    return b.add(dim.kept, rest);
  return b.select(b.compare(CmpIPredicate::sgt, rest, last), b.sub(period, rest), rest);
}

/// Pads by operands.
bool pad(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  auto is = [&](StringRef mode) { return hasText(call, "mode", "constant", mode); };
  const PadMode mode = is("edge")      ? PadMode::Edge
                       : is("reflect") ? PadMode::Reflect
                       : is("wrap")    ? PadMode::Wrap
                                       : PadMode::Constant;
  if ((mode == PadMode::Constant && !is("constant")) || !b.has(1) || b.has(3) || in.rank() == 0 ||
      out.rank() != in.rank() || (b.has(2) && b.in(2).element != in.element))
    return false;
  const bool isConstant = mode == PadMode::Constant;
  Value fill = !isConstant ? Value()
               : b.has(2)  ? b.load(b.in(2), b.index(0))
                           : b.constant(in.element, 0);
  Indices begins;
  SmallVector<PaddedDim> dims;
  for (int64_t d = 0; d < in.rank(); ++d) {
    begins.push_back(b.loadIndex(b.in(1), b.index(d)));
    Value kept = b.max(b.sub(b.index(0), begins[d]), b.index(0));
    dims.push_back({in.dims[d], kept, b.min(b.sub(out.dims[d], begins[d]), in.dims[d])});
  }
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value base = b.index(0), isInside;
    for (auto [d, index] : llvm::enumerate(indices)) {
      Value at = b.sub(index, begins[d]);
      if (isConstant) {
        Value fits = b.compare(arith::CmpIPredicate::ult, at, in.dims[d]);
        isInside = isInside ? arith::AndIOp::create(b, isInside, fits).getResult() : fits;
      } else {
        at = paddedIndex(b, mode, at, dims[d]);
      }
      base = b.add(base, b.mul(at, in.strides[d]));
    }
    Value zero = b.index(0), begin = begins.back();
    auto fillRange = [&](Value from, Value to) {
      b.loop(from, to, [&](Value j) {
        Value value = fill;
        if (!isConstant)
          value = b.load(in, b.add(base, paddedIndex(b, mode, b.sub(j, begin), dims.back())));
        b.store(out, value, b.add(row, j));
      });
    };
    auto inside = [&] {
      // The columns [first, last) of the row are those of the input.
      Value first = b.min(b.max(begin, zero), length);
      Value last = b.max(first, b.min(b.add(begin, in.dims.back()), length));
      fillRange(zero, first);
      b.copyRow(out, b.add(row, first), b.sub(last, first), in, b.add(base, b.sub(first, begin)),
                b.index(1));
      fillRange(last, length);
    };
    if (isInside)
      b.ifElse(isInside, inside, [&] { fillRange(zero, length); });
    else
      inside();
  });
  return true;
}

/// Rearranges blocks between channels and pixels; `isWide`: the result has the larger images.
template <bool isWide> bool moveDepth(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const int64_t block = host::integerOf(call, "blocksize", 0);
  if (in.rank() != 4 || out.rank() != 4 || block <= 0)
    return false;
  const bool channelsFirst =
      isWide ? !hasText(call, "mode", "DCR", "DCR") : hasText(call, "mode", "DCR", "CRD");
  const Port &deep = isWide ? in : out;
  Value size = b.index(block), square = b.index(block * block);
  Value channels = b.div(deep.dims[1], square);
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    b.loop(length, [&](Value j) {
      Indices position(indices);
      position.push_back(j);
      if (isWide) {
        Value location = b.add(b.mul(b.rem(position[2], size), size), b.rem(j, size));
        position[1] = channelsFirst ? b.add(b.mul(position[1], square), location)
                                    : b.add(b.mul(location, channels), position[1]);
        position[2] = b.div(position[2], size);
        position[3] = b.div(j, size);
      } else {
        Value location = channelsFirst ? b.rem(position[1], square) : b.div(position[1], channels);
        Value channel = channelsFirst ? b.div(position[1], square) : b.rem(position[1], channels);
        position[1] = channel;
        position[2] = b.add(b.mul(position[2], size), b.div(location, size));
        position[3] = b.add(b.mul(j, size), b.rem(location, size));
      }
      b.store(out, b.load(in, b.offset(in, position)), b.add(row, j));
    });
  });
  return true;
}

} // namespace

Generator findMoveGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Concat", concat},
      {"DepthToSpace", moveDepth<true>},
      {"Pad", pad},
      {"Slice", slice},
      {"Split", split},
      {"SpaceToDepth", moveDepth<false>},
      {"Transpose", transpose},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
