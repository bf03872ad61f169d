//===-- GenerateMove.cpp - movement of elements, dims known at run time ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  copyStrided(b, b.index(0), steps, fixed);
  return true;
}

bool expand(RowBuilder &b, graph::HostCallOp) {
  const int64_t extra = b.out().rank() - b.in(0).rank();
  if (extra < 0)
    return false;
  Indices steps(extra, b.index(0));
  llvm::append_range(steps, b.broadcastSteps(b.in(0)));
  copyStrided(b, b.index(0), steps, /*rowDims=*/1);
  return true;
}

/// Slices by starts and steps that may be operands. Those of dims of no or one element do not
/// matter, so that clamping the starts is enough.
bool slice(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0);
  const SmallVector<Value> inputs = call.inputsByPosition();
  auto length = [&](unsigned i) -> int64_t {
    auto type = dyn_cast<RankedTensorType>(inputs[i].getType());
    return type && type.getRank() == 1 && type.hasStaticShape() ? type.getDimSize(0) : -1;
  };
  if (!b.has(1) || !b.has(2) || length(1) < 0 || b.out().rank() != in.rank() || in.rank() == 0)
    return false;
  SmallVector<int64_t> axes(length(1));
  std::iota(axes.begin(), axes.end(), 0);
  if (b.has(3)) {
    std::optional<SmallVector<int64_t>> given = constantIntegers(inputs[3]);
    if (!given || given->size() != axes.size())
      return false;
    axes = *given;
  }
  if (b.has(4) && length(4) != int64_t(axes.size()))
    return false;
  Indices steps(in.strides);
  Value base = b.index(0);
  int64_t whole = in.rank();
  for (auto [i, given] : llvm::enumerate(axes)) {
    const int64_t axis = given < 0 ? given + in.rank() : given;
    if (axis < 0 || axis >= in.rank())
      return false;
    whole = std::min(whole, in.rank() - 1 - axis);
    Value at = b.index(i), dim = in.dims[axis], zero = b.index(0);
    Value start = b.loadIndex(b.in(1), at);
    Value step = b.has(4) ? b.loadIndex(b.in(4), at) : b.index(1);
    start = b.select(b.compare(arith::CmpIPredicate::slt, start, zero), b.add(start, dim), start);
    // Backwards the first element is the last one at most.
    Value isBackward = b.compare(arith::CmpIPredicate::slt, step, zero);
    Value limit = b.select(isBackward, b.sub(dim, b.index(1)), dim);
    start = b.min(b.max(start, zero), limit);
    base = b.add(base, b.mul(start, in.strides[axis]));
    steps[axis] = b.mul(step, in.strides[axis]);
  }
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

bool tile(RowBuilder &b, graph::HostCallOp) {
  const Port &in = b.in(0), &out = b.out();
  if (in.rank() == 0 || out.rank() != in.rank())
    return false;
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Indices position;
    for (auto [index, dim] : llvm::zip(indices, in.dims))
      position.push_back(b.rem(index, dim));
    position.push_back(b.index(0));
    Value base = b.offset(in, position), width = in.dims.back();
    b.loop(b.div(length, width), [&](Value i) {
      b.copyRow(out, b.add(row, b.mul(i, width)), width, in, base, b.index(1));
    });
  });
  return true;
}

/// Pads with a constant by operands.
bool pad(RowBuilder &b, graph::HostCallOp call) {
  const Port &in = b.in(0), &out = b.out();
  const SmallVector<Value> inputs = call.inputsByPosition();
  if (!hasText(call, "mode", "constant", "constant") || !b.has(1) || b.has(3) || in.rank() == 0 ||
      out.rank() != in.rank() || (b.has(2) && b.in(2).element != in.element))
    return false;
  Value fill = b.has(2) ? b.load(b.in(2), b.index(0)) : b.constant(in.element, 0);
  Indices begins;
  for (int64_t d = 0; d < in.rank(); ++d)
    begins.push_back(b.loadIndex(b.in(1), b.index(d)));
  b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
    Value base = b.index(0), isInside;
    for (auto [d, index] : llvm::enumerate(indices)) {
      Value at = b.sub(index, begins[d]);
      Value fits = b.compare(arith::CmpIPredicate::ult, at, in.dims[d]);
      isInside = isInside ? arith::AndIOp::create(b, isInside, fits).getResult() : fits;
      base = b.add(base, b.mul(at, in.strides[d]));
    }
    auto fillRange = [&](Value from, Value to) {
      b.loop(from, to, [&](Value j) { b.store(out, fill, b.add(row, j)); });
    };
    auto inside = [&] {
      // The columns [first, last) of the row are those of the input.
      Value zero = b.index(0), begin = begins.back();
      Value first = b.min(b.max(begin, zero), length);
      Value last = b.max(first, b.min(b.add(begin, in.dims.back()), length));
      fillRange(zero, first);
      b.copyRow(out, b.add(row, first), b.sub(last, first), in, b.add(base, b.sub(first, begin)),
                b.index(1));
      fillRange(last, length);
    };
    if (isInside)
      b.ifElse(isInside, inside, [&] { fillRange(b.index(0), length); });
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
        Value place = b.add(b.mul(b.rem(position[2], size), size), b.rem(j, size));
        position[1] = channelsFirst ? b.add(b.mul(position[1], square), place)
                                    : b.add(b.mul(place, channels), position[1]);
        position[2] = b.div(position[2], size);
        position[3] = b.div(j, size);
      } else {
        Value place = channelsFirst ? b.rem(position[1], square) : b.div(position[1], channels);
        Value channel = channelsFirst ? b.div(position[1], square) : b.rem(position[1], channels);
        position[1] = channel;
        position[2] = b.add(b.mul(position[2], size), b.div(place, size));
        position[3] = b.add(b.mul(j, size), b.rem(place, size));
      }
      b.store(out, b.load(in, b.offset(in, position)), b.add(row, j));
    });
  });
  return true;
}

} // namespace

Generator findMoveGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {
      {"Concat", concat},       {"DepthToSpace", moveDepth<true>},
      {"Expand", expand},       {"Pad", pad},
      {"Slice", slice},         {"SpaceToDepth", moveDepth<false>},
      {"Split", split},         {"Tile", tile},
      {"Transpose", transpose},
  };
  return generators.lookup(kernel);
}

} // namespace atc::cpu
