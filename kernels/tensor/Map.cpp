//===-- Map.cpp - generated elementwise code over any shapes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code computes chunks of kMapChunk elements. An operand of the result's shape is read in
// place; others are spread to a chunk first, which stays in the first cache.

#include "kernels/core/Broadcast.h"
#include "kernels/core/GeneratedCode.h"

namespace atc::kernels {

namespace {

/// The maximum bytes of an element, and the alignment of the buffers of generated code.
constexpr int64_t kElementBytes = 8, kAlignment = 64;

/// Reads the elements of an operand over the shape of the result.
class MapOperand {
public:
  MapOperand() = default;
  MapOperand(Tensor tensor, const Dims &shape)
      : data(tensor.bytes()), bytes(bytesOf(tensor.dtype(), 1)) {
    const Dims steps = broadcastSteps(tensor.dims(), shape);
    for (uint32_t d = 0; d < shape.rank; ++d)
      addDim(shape[d], steps[d]);
    if (sizes.rank == 0)
      addDim(1, 1);
  }

  /// Returns whether a chunk of it is a range of its elements.
  bool isDense() const { return sizes.rank == 1 && steps[0] == 1; }
  /// Returns the element that all of [begin, begin + count) of the result's shape are, null where
  /// that are several.
  const char *singleOf(int64_t begin, int64_t count) const {
    const uint32_t last = sizes.rank - 1;
    if (steps[last] != 0 || begin % sizes[last] + count > sizes[last])
      return nullptr;
    int64_t offset = 0, rest = begin / sizes[last];
    for (int64_t d = int64_t(last) - 1; d >= 0; rest /= sizes[d], --d)
      offset += rest % sizes[d] * steps[d];
    return at(offset);
  }
  const char *at(int64_t element) const { return data + element * bytes; }

  /// Copies the elements [begin, begin + count) of the result's shape to `to`, and repeats the
  /// first one of them up to a whole chunk: every lane holds an element of the tensor.
  void spread(char *to, int64_t begin, int64_t count) const {
    switch (bytes) {
    case 1:
      return spreadAs<uint8_t>(to, begin, count);
    case 2:
      return spreadAs<uint16_t>(to, begin, count);
    case 4:
      return spreadAs<uint32_t>(to, begin, count);
    default:
      return spreadAs<uint64_t>(to, begin, count);
    }
  }

private:
  void addDim(int64_t size, int64_t step) {
    if (size == 1 && sizes.rank > 0)
      return;
    if (sizes.rank > 0 && sizes[sizes.rank - 1] == 1)
      sizes.rank = steps.rank = 0;
    const int64_t last = int64_t(sizes.rank) - 1;
    if (last >= 0 && steps[last] == step * size) {
      sizes[last] *= size;
      steps[last] = step;
    } else {
      sizes.push(size);
      steps.push(step);
    }
  }

  template <typename T> void spreadAs(char *bytesTo, int64_t begin, int64_t count) const {
    const T *from = reinterpret_cast<const T *>(data);
    T *to = reinterpret_cast<T *>(bytesTo);
    const uint32_t last = sizes.rank - 1;
    int64_t index[host::kMaxRank], rest = begin, offset = 0;
    for (int64_t d = last; d >= 0; --d) {
      index[d] = rest % sizes[d];
      rest /= sizes[d];
      offset += index[d] * steps[d];
    }
    for (int64_t done = 0; done < count;) {
      const int64_t n = minimum(sizes[last] - index[last], count - done), step = steps[last];
      const T *row = from + offset;
      if (step == 1) {
        copyBytes(to + done, row, n * int64_t(sizeof(T)));
      } else if (step == 0) {
        const T value = *row;
        for (int64_t i = 0; i < n; ++i)
          to[done + i] = value;
      } else {
        for (int64_t i = 0; i < n; ++i)
          to[done + i] = row[i * step];
      }
      done += n;
      index[last] += n;
      offset += n * step;
      for (int64_t d = last; d > 0 && index[d] == sizes[d]; --d) {
        index[d] = 0;
        offset += steps[d - 1] - sizes[d] * steps[d];
        ++index[d - 1];
      }
    }
    for (int64_t i = count; i < kMapChunk; ++i)
      to[i] = to[0];
  }

  const char *data = nullptr;
  int64_t bytes = 0;
  Dims sizes, steps; ///< adjacent dims that can be merged are one
};

/// Broadcasts `shape` to other dims; returns the number of a dim, counted from the last as 1, that
/// does not fit, or 0.
uint32_t broadcast(Dims &shape, const Dims &other) {
  const Dims from = shape;
  shape.rank = maximum(from.rank, other.rank);
  for (uint32_t i = 1; i <= shape.rank; ++i) {
    const int64_t a = i <= from.rank ? from[from.rank - i] : 1;
    const int64_t b = i <= other.rank ? other[other.rank - i] : 1;
    if (a != b && a != 1 && b != 1) {
      shape = from;
      return i;
    }
    shape[shape.rank - i] = a == 1 ? b : a;
  }
  return 0;
}

/// Fails the call because dims do not broadcast; the text names the fused node, if it is given.
void failBroadcast(Context &c, const Dims &a, const Dims &b, uint32_t dim, String node) {
  static constexpr char text[] = "dims of % and % do not broadcast (counted from the last: dim %)";
  static constexpr char where[] = " in its node '", end[] = "'";
  char *all =
      node.size ? c.scratch<char>(int64_t(sizeof(text) + sizeof(where) + node.size + 2)) : nullptr;
  const int64_t left = a[a.rank - dim], right = b[b.rank - dim];
  if (!all)
    return c.fail(text, left, right, dim);
  char *to = all;
  auto append = [&](const char *from, uint64_t size) {
    __builtin_memcpy(to, from, size);
    to += size;
  };
  append(text, sizeof(text) - 1);
  append(where, sizeof(where) - 1);
  append(node.data, node.size);
  append(end, sizeof(end));
  c.fail(all, left, right, dim);
}

/// Fails the call at the fused node whose operands do not broadcast.
void failAtNode(Context &c) {
  const List<int64_t> operands = c.integers(kMapOperands);
  const List<String> nodes = c.strings(kMapNodes);
  Dims results[kMapCalls];
  int64_t at = 0;
  for (int64_t node = 0; node < nodes.size && node < int64_t(kMapCalls); ++node) {
    const int64_t count = at < operands.size ? operands[at++] : 0;
    for (int64_t i = 0; i < count && at < operands.size; ++i) {
      const int64_t operand = operands[at++];
      const bool isInput = operand >= 0;
      if (isInput ? operand >= c.inputs() : -1 - operand >= node)
        return c.fail("its attributes do not fit its inputs");
      const Dims other = isInput ? c.in(uint32_t(operand)).dims() : results[-1 - operand];
      if (const uint32_t dim = broadcast(results[node], other))
        return failBroadcast(c, results[node], other, dim, nodes[node]);
    }
  }
}

} // namespace

ATC_KERNEL_OF_CODE(Map) {
  if (inputs() > kMapInputs)
    return fail("has % inputs, the maximum is %", inputs(), kMapInputs);
  Dims shape;
  for (uint32_t i = 0; i < inputs(); ++i) {
    if (!in(i))
      return fail("input % is omitted", i);
    if (bitsOf(in(i).dtype()) % 8 || bitsOf(in(i).dtype()) > 8 * kElementBytes)
      return failType(in(i).dtype());
    if (const uint32_t dim = broadcast(shape, in(i).dims())) {
      failAtNode(*this);
      // The attributes are missing: it is the last node, or the only one.
      return failBroadcast(*this, shape, in(i).dims(), dim, String{});
    }
  }
  const uint8_t dtype = uint8_t(integer("to", F32));
  const int64_t resultBytes = bytesOf(dtype, 1), count = shape.product();
  if (bitsOf(dtype) % 8 || resultBytes == 0 || resultBytes > kElementBytes)
    return failType(dtype);
  char *out = make(0, dtype, shape);
  if (!out || count == 0)
    return;
  const host::GeneratedCode code = generatedCode();
  if (!code)
    return fail("has no generated code");
  if (!hasFittingCode(*this))
    return fail("the element types of its inputs are not those of its generated code");

  MapOperand operands[kMapInputs];
  for (uint32_t i = 0; i < inputs(); ++i)
    operands[i] = MapOperand(in(i), shape);
  const int64_t chunks = ceilDiv(count, kMapChunk);
  parallelIf(*this, chunks, kMapChunk * 4, [&](int64_t begin, int64_t end) {
    alignas(kAlignment) char staging[kMapInputs + 1][kMapChunk * kElementBytes];
    void *buffers[kMapInputs + 1];
    const char *held[kMapInputs] = {}; // the element of which all of the staging buffer are
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t first = chunk * kMapChunk, n = minimum(kMapChunk, count - first);
      for (uint32_t i = 0; i < inputs(); ++i) {
        const MapOperand &operand = operands[i];
        const bool isDirect = operand.isDense() && n == kMapChunk;
        buffers[i] = isDirect ? const_cast<char *>(operand.at(first)) : staging[i];
        if (isDirect)
          continue;
        const char *single = operand.singleOf(first, n);
        if (!single || single != held[i])
          operand.spread(staging[i], first, n);
        held[i] = single;
      }
      char *result = out + first * resultBytes;
      buffers[inputs()] = n == kMapChunk ? result : staging[kMapInputs];
      code(buffers, nullptr, 0, 1);
      if (n < kMapChunk)
        copyBytes(result, staging[kMapInputs], n * resultBytes);
    }
  });
}

} // namespace atc::kernels
