//===-- ImportSlice.cpp - slices, pads, reversal --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/SliceEnds.h"
#include "frontends/tflite/OpTable.h"

#include <limits>
#include <numeric>

using llvm::Twine;

namespace atc::tflite {
namespace {

constexpr int64_t behindEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t beforeStart = std::numeric_limits<int64_t>::min();

/// Each bit of a mask speaks of one entry of begin, end and strides. An entry stands for a dim, a
/// new dim, or (ellipsis) as many dims as the others leave.
void importStridedSlice(OpContext &c) {
  const auto *p = c.options<fb::StridedSliceOptions>();
  const Dims strides = c.requireInts(3, "strides");
  const int64_t rank = c.rank(0);
  const auto count = static_cast<int64_t>(strides.size());
  if (!c.failed() && (!p || count > 32))
    c.fail("has no parameters");
  if (c.failed())
    return;
  auto has = [](int32_t mask, int64_t bit) { return ((mask >> bit) & 1) != 0; };
  int64_t numNew = 0, numEllipses = 0;
  for (int64_t i = 0; i < count; ++i) {
    numEllipses += has(p->ellipsis_mask(), i);
    numNew += has(p->new_axis_mask(), i) && !has(p->ellipsis_mask(), i);
  }
  const int64_t numSkipped = rank - (count - numNew - numEllipses);
  if (numEllipses > 1 || numSkipped < 0)
    return c.fail("its " + Twine(count) + " entries do not fit an input of " + Twine(rank) +
                  " dims");
  // `entries` are positions in begin and end; the lists below have one value for each.
  Dims entries, axes, steps, newAxes, dropped, firstDefault, lastDefault;
  llvm::SmallVector<bool> takesFirst, takesLast, takesOne;
  int64_t axis = 0, resultAxis = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (has(p->ellipsis_mask(), i)) {
      axis += numSkipped;
      resultAxis += numSkipped;
      continue;
    }
    if (has(p->new_axis_mask(), i)) {
      newAxes.push_back(resultAxis++);
      continue;
    }
    if (strides[i] == 0)
      return c.fail("a stride is 0");
    const bool isOne = has(p->shrink_axis_mask(), i);
    entries.push_back(i);
    axes.push_back(axis);
    steps.push_back(isOne ? 1 : strides[i]);
    firstDefault.push_back(strides[i] > 0 ? 0 : behindEnd);
    lastDefault.push_back(strides[i] > 0 ? behindEnd : beforeStart);
    takesFirst.push_back(has(p->begin_mask(), i) && !isOne);
    takesLast.push_back(has(p->end_mask(), i) && !isOne);
    takesOne.push_back(isOne);
    if (isOne)
      dropped.push_back(axis);
    else
      ++resultAxis;
    ++axis;
  }
  Value x = c.moved(0);
  if (!axes.empty()) {
    auto truths = [&](llvm::ArrayRef<bool> list) {
      return c.constant(onnx::TensorProto::BOOL, {int64_t(list.size())}, bytesOf(list));
    };
    Value chosen = c.ints(entries), one = c.ints({1});
    Value begin = c.node("Gather", {c.indices(1), chosen});
    Value end = c.node("Gather", {c.indices(2), chosen});
    if (p->offset())
      end = c.node("Add", {begin, end});
    begin = c.node("Where", {truths(takesFirst), c.ints(firstDefault), begin});
    end = c.node("Min", {end, c.ints(llvm::map_to_vector(steps, maxSliceEnd))});
    end = c.node("Where", {truths(takesLast), c.ints(lastDefault), end});
    // One element: up to the next, which for -1 is the end and not 0.
    Value next = c.node("Add", {begin, one});
    Value isLast = c.node("Equal", {next, c.ints({0})});
    next = c.node("Where", {isLast, c.ints({behindEnd}), next});
    end = c.node("Where", {truths(takesOne), next, end});
    x = c.node("Slice", {x, begin, end, c.ints(axes), c.ints(steps)});
  }
  if (!dropped.empty())
    x = c.squeeze(x, dropped);
  if (!newAxes.empty())
    x = c.unsqueeze(x, newAxes);
  c.setOutput(x);
}

/// A size of -1 reaches to the end.
void importSlice(OpContext &c) {
  Value begin = c.indices(1), size = c.indices(2);
  Value isRest = c.node("Equal", {size, c.ints({-1})});
  Value end = c.node("Where", {isRest, c.ints({behindEnd}), c.node("Add", {begin, size})});
  Dims axes(c.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  Value x = c.moved(0);
  c.setOutput(axes.empty() ? x : c.node("Slice", {x, begin, end, c.ints(axes)}));
}

//===--- Pads -------------------------------------------------------------===//

/// Returns [n, 2] pads as ONNX has them: all in front, then all behind.
Value padList(OpContext &c) {
  if (const std::optional<Dims> known = c.constantInts(1)) {
    Dims pads;
    for (size_t side : {0, 1})
      for (size_t i = side; i < known->size(); i += 2)
        pads.push_back((*known)[i]);
    return c.ints(pads);
  }
  return c.reshape(c.transpose(c.indices(1), {1, 0}), {-1});
}

void importPad(OpContext &c) {
  if (c.hasInput(2))
    return c.setOutput(c.node("Pad", {c.in(0), padList(c), c.in(2)}));
  Value x = c.moved(0), fill = c.scalarLike(0, 0);
  if (x.isStored) {
    // The integer that stands for zero.
    const fb::Tensor &tensor = c.inputTensor(0);
    const auto *zeros = tensor.quantization()->zero_point();
    const int64_t zero = zeros && zeros->size() ? zeros->Get(0) : 0;
    fill = c.cast(c.intScalar(zero), onnxType(tensor.type()));
  }
  c.setOutput(c.node("Pad", {x, padList(c), fill}));
}

/// REFLECT leaves the border out and SYMMETRIC repeats it; for the latter, which ONNX has not, the
/// indices of each dim are gathered.
void importMirrorPad(OpContext &c) {
  const auto *p = c.options<fb::MirrorPadOptions>();
  Value x = c.moved(0);
  if (!p || p->mode() == fb::MirrorPadMode::REFLECT)
    return c.setOutput(c.node("Pad", {x, padList(c)}, {{"mode", std::string("reflect")}}));
  const Dims dims = c.dims(0), pads = c.requireInts(1, "pads");
  if (!c.failed() && pads.size() != 2 * dims.size())
    c.fail("its pads do not fit an input of " + Twine(dims.size()) + " dims");
  for (size_t axis = 0; axis < dims.size() && !c.failed(); ++axis) {
    const int64_t front = pads[2 * axis], back = pads[2 * axis + 1], size = dims[axis];
    if (front == 0 && back == 0)
      continue;
    if (size < 0)
      return (void)c.knownDims(0, axis);
    if (front < 0 || back < 0 || front > size || back > size)
      return c.fail("pads of " + Twine(front) + " and " + Twine(back) + " do not fit a dim of " +
                    Twine(size));
    Dims order;
    for (int64_t i = -front; i < size + back; ++i)
      order.push_back(i < 0 ? -i - 1 : i < size ? i : 2 * size - i - 1);
    Value list = c.ints(order);
    x = c.node("Gather", {x, list}, {{"axis", int64_t(axis)}});
  }
  c.setOutput(x);
}

//===--- Reversal ---------------------------------------------------------===//

void importReverse(OpContext &c) {
  Dims axes = c.requireInts(1, "axes");
  for (int64_t &axis : axes)
    axis = c.axis(axis, c.rank(0));
  const size_t count = axes.size();
  Value x = c.moved(0);
  if (count)
    x = c.node("Slice", {x, c.ints(Dims(count, -1)), c.ints(Dims(count, beforeStart)), c.ints(axes),
                         c.ints(Dims(count, -1))});
  c.setOutput(x);
}

/// ONNX has the time and the batch in the first two dims.
void importReverseSequence(OpContext &c) {
  const auto *p = c.options<fb::ReverseSequenceOptions>();
  const int64_t rank = c.rank(0);
  if (!p || rank < 2)
    return c.fail("needs its parameters and an input of 2 dims or more");
  const int64_t time = c.axis(p->seq_dim(), rank), batch = c.axis(p->batch_dim(), rank);
  if (time == batch)
    c.fail("its time and its batch are one dim");
  if (c.failed())
    return;
  Dims order = {batch, time}, back(rank);
  for (int64_t i = 0; i < rank; ++i)
    if (i != time && i != batch)
      order.push_back(i);
  for (int64_t i = 0; i < rank; ++i)
    back[order[i]] = i;
  Value reversed = c.node("ReverseSequence", {c.transpose(c.moved(0), order), c.indices(1)},
                          {{"batch_axis", int64_t(0)}, {"time_axis", int64_t(1)}});
  c.setOutput(c.transpose(reversed, back));
}

} // namespace

llvm::ArrayRef<OpRow> sliceOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{MIRROR_PAD, importMirrorPad},
                               {PAD, importPad},
                               {PADV2, importPad},
                               {REVERSE_SEQUENCE, importReverseSequence},
                               {REVERSE_V2, importReverse},
                               {SLICE, importSlice},
                               {STRIDED_SLICE, importStridedSlice}};
  return rows;
}

} // namespace atc::tflite
