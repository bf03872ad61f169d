//===-- Algorithms.cpp - collectives made of messages ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings: of n ranks, each sends to the next one and receives from the one before. An all_reduce of
// B bytes sends 2 (n - 1) / n B bytes per rank, which no algorithm can do with less.

#include "collectives/Algorithms.h"
#include "runtime-lite/abi/Half.h"

#include <algorithm>
#include <cstring>

namespace atc::collectives {

namespace {

/// A bf16 number that computes in f32.
struct Bf16 {
  uint16_t bits;
  operator float() const { return bf16ToFloat(bits); }
  Bf16 &operator=(float value) {
    bits = floatToBf16(value);
    return *this;
  }
};

/// Combines elements; integers wrap around.
template <typename T, typename Computed>
void combineAs(char *into, const char *from, size_t size, om_reduction reduction) {
  for (size_t i = 0; i < size; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, into + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    const Computed x = Computed(a), y = Computed(b);
    // A NaN of either side stays.
    const Computed result = reduction == OM_REDUCE_SUM   ? Computed(x + y)
                            : x != x                     ? x
                            : y != y                     ? y
                            : reduction == OM_REDUCE_MAX ? std::max(x, y)
                                                         : std::min(x, y);
    if constexpr (std::is_same_v<T, Bf16>)
      a = float(result);
    else
      a = T(result);
    std::memcpy(into + i, &a, sizeof(T));
  }
}

using Combine = void (*)(char *, const char *, size_t, om_reduction);

/// Returns the function for an element type, or null where its elements are no numbers.
Combine combineOf(om_dtype dtype) {
  switch (dtype) {
  case OM_F32:
    return combineAs<float, float>;
  case OM_F64:
    return combineAs<double, double>;
  case OM_F16:
    return combineAs<Half, float>;
  case OM_BF16:
    return combineAs<Bf16, float>;
  case OM_I8:
    return combineAs<int8_t, int32_t>;
  case OM_U8:
    return combineAs<uint8_t, uint32_t>;
  case OM_I16:
    return combineAs<int16_t, int32_t>;
  case OM_U16:
    return combineAs<uint16_t, uint32_t>;
  case OM_I32:
    return combineAs<int32_t, int64_t>;
  case OM_U32:
    return combineAs<uint32_t, uint64_t>;
  case OM_I64:
  case OM_U64:
    return nullptr;
  default:
    return nullptr;
  }
}

/// Combines 64-bit integers: a sum is that of unsigned ones.
void combine64(char *into, const char *from, size_t size, om_reduction reduction, bool isSigned) {
  if (reduction == OM_REDUCE_SUM || !isSigned)
    combineAs<uint64_t, uint64_t>(into, from, size, reduction);
  else
    combineAs<int64_t, int64_t>(into, from, size, reduction);
}

} // namespace

void Algorithm::combine(char *into, const char *from, size_t size) const {
  if (op.dtype == OM_I64 || op.dtype == OM_U64)
    combine64(into, from, size, op.reduction, op.dtype == OM_I64);
  else
    combineOf(op.dtype)(into, from, size, op.reduction);
}

/// Returns range `index` of the elements in `work`: ranges differ by at most one element.
Algorithm::Range Algorithm::chunk(uint32_t index) const {
  const size_t element = om_dtype_bits(op.dtype) / 8, all = work.size() / element;
  index %= count();
  const size_t begin = all * index / count(), end = all * (index + 1) / count();
  return {begin * element, (end - begin) * element};
}

bool Algorithm::complete(Transport::Handle handle, uint32_t peer) {
  while (!transport.test(handle, problem))
    if (!problem.empty() || !wait(peer))
      return false;
  return true;
}

bool Algorithm::exchange(uint32_t to, const char *from, size_t out, uint32_t source, char *target,
                         size_t in) {
  Transport::Handle sending = 0, receiving = 0;
  if (in)
    receiving = transport.receive(source, groupTag, target, in);
  if (out)
    sending = transport.send(to, groupTag, from, out);
  if ((receiving && !complete(receiving, source)) || (sending && !complete(sending, to)))
    return false;
  bytes.sent += out;
  bytes.received += in;
  return true;
}

bool Algorithm::allReduce() {
  const uint32_t n = count();
  const char *input = static_cast<const char *>(op.input);
  work.assign(input, input + op.input_bytes);
  arrived.resize(work.size() / n + 16);
  const uint32_t next = at(own + 1), last = at(own + n - 1);
  for (uint32_t step = 0; step + 1 < n; ++step) {
    const Range out = chunk(own + n - step), in = chunk(own + 2 * n - step - 1);
    if (!exchange(next, work.data() + out.begin, out.size, last, arrived.data(), in.size))
      return false;
    combine(work.data() + in.begin, arrived.data(), in.size);
  }
  for (uint32_t step = 0; step + 1 < n; ++step) {
    const Range out = chunk(own + 1 + n - step), in = chunk(own + n - step);
    if (!exchange(next, work.data() + out.begin, out.size, last, work.data() + in.begin, in.size))
      return false;
  }
  return true;
}

bool Algorithm::allGather() {
  const uint32_t n = count();
  work.resize(op.output_bytes);
  std::copy_n(static_cast<const char *>(op.input), op.input_bytes,
              work.data() + own * op.input_bytes);
  for (uint32_t step = 0; step + 1 < n; ++step) {
    const size_t out = (own + n - step) % n * op.input_bytes,
                 in = (own + 2 * n - step - 1) % n * op.input_bytes;
    if (!exchange(at(own + 1), work.data() + out, op.input_bytes, at(own + n - 1), work.data() + in,
                  op.input_bytes))
      return false;
  }
  return true;
}

bool Algorithm::reduceScatter() {
  const uint32_t n = count();
  const char *input = static_cast<const char *>(op.input);
  work.assign(input, input + op.input_bytes);
  arrived.resize(op.output_bytes);
  for (uint32_t step = 0; step + 1 < n; ++step) {
    const Range out = chunk(own + 2 * n - step - 1), in = chunk(own + 2 * n - step - 2);
    if (!exchange(at(own + 1), work.data() + out.begin, out.size, at(own + n - 1), arrived.data(),
                  in.size))
      return false;
    combine(work.data() + in.begin, arrived.data(), in.size);
  }
  const Range mine = chunk(own);
  work = std::vector<char>(work.begin() + mine.begin, work.begin() + mine.begin + mine.size);
  return true;
}

bool Algorithm::allToAll() {
  const uint32_t n = count();
  const char *input = static_cast<const char *>(op.input);
  // Messages are sent from this copy, which lives until they are complete.
  arrived.assign(input, input + op.input_bytes);
  work.resize(op.output_bytes);
  const size_t part = op.input_bytes / n;
  std::copy_n(input + own * part, part, work.data() + own * part);
  for (uint32_t step = 1; step < n; ++step) {
    const uint32_t to = (own + step) % n, from = (own + n - step) % n;
    if (!exchange(at(to), arrived.data() + to * part, part, at(from), work.data() + from * part,
                  part))
      return false;
  }
  return true;
}

/// A binomial tree: in each round the ranks that have the tensor send it to as many others.
bool Algorithm::broadcast() {
  const uint32_t n = count();
  const uint32_t root = std::find(op.ranks, op.ranks + n, op.root) - op.ranks;
  const uint32_t position = (own + n - root) % n;
  const char *input = static_cast<const char *>(op.input);
  work.assign(input, input + op.input_bytes);
  for (uint32_t reached = 1; reached < n; reached *= 2) {
    if (position < reached && position + reached < n) {
      if (!exchange(at(root + position + reached), work.data(), work.size(), 0, nullptr, 0))
        return false;
    } else if (position >= reached && position < 2 * reached) {
      if (!exchange(0, nullptr, 0, at(root + position - reached), work.data(), work.size()))
        return false;
    }
  }
  return true;
}

bool Algorithm::receive() {
  work.resize(op.output_bytes);
  if (!work.empty() &&
      !complete(transport.receive(op.ranks[0], op.tag, work.data(), work.size()), op.ranks[0]))
    return false;
  bytes.received += work.size();
  return true;
}

bool Algorithm::run(std::vector<char> &result, std::string &error) {
  bool done = false;
  if (op.kind == OM_RECEIVE) {
    done = receive();
  } else {
    own = std::find(op.ranks, op.ranks + count(), transport.rank()) - op.ranks;
    const bool reduces = op.kind == OM_ALL_REDUCE || op.kind == OM_REDUCE_SCATTER;
    if (own == count())
      problem =
          "rank " + std::to_string(transport.rank()) + " is not in the group of '" + op.name + "'";
    else if (reduces && op.dtype != OM_I64 && op.dtype != OM_U64 && !combineOf(op.dtype))
      problem = std::string("elements of ") + om_dtype_name(op.dtype) + " cannot be combined in '" +
                op.name + "'";
    else
      done = op.kind == OM_ALL_REDUCE       ? allReduce()
             : op.kind == OM_ALL_GATHER     ? allGather()
             : op.kind == OM_REDUCE_SCATTER ? reduceScatter()
             : op.kind == OM_ALL_TO_ALL     ? allToAll()
                                            : broadcast();
  }
  error = problem;
  if (done)
    result = std::move(work);
  return done;
}

std::vector<std::vector<char>> Algorithm::takeBuffers() {
  std::vector<std::vector<char>> buffers;
  buffers.push_back(std::move(work));
  buffers.push_back(std::move(arrived));
  return buffers;
}

} // namespace atc::collectives
