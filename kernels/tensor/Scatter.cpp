//===-- Scatter.cpp - tensors with elements replaced by index -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Widen.h"
#include "kernels/tensor/Indices.h"

namespace atc::kernels {

namespace {
/// Calls update(fn), which sets elements of output 0 (now a copy of `data`) to
/// fn(element, element of `updates`), on one thread: indices may repeat.
/// `update(to, from, fn)` gets pointers to both.
template <typename Update>
void scatter(Context &c, Tensor data, Tensor updates, void *out, Update &&update) {
  const uint8_t dtype = data.dtype();
  auto replace = [](auto, auto next) { return next; };
  if (c.is("reduction", "none", "none")) {
    moveElements(c, dtype, out, data.count(), [&](auto *to, auto read) {
      auto *whole = read(data), *from = read(updates);
      if (!whole || !from)
        return;
      copyBytes(to, whole, data.count() * int64_t(sizeof(*to)));
      update(to, from, replace);
    });
    return;
  }
  copyBytes(out, data.bytes(), bytesOf(dtype, data.count()));
  const bool add = c.is("reduction", "none", "add"), mul = c.is("reduction", "none", "mul"),
             max = c.is("reduction", "none", "max"), min = c.is("reduction", "none", "min");
  if (!add && !mul && !max && !min)
    return c.fail("the reduction is none of none, add, mul, max and min");
  auto reduce = [&](auto type) {
    using T = typename decltype(type)::Type;
    using N = Compute<T>;
    T *to = static_cast<T *>(out);
    const T *from = updates.as<T>();
    if (add)
      update(to, from, [](T a, T b) {
        if constexpr (kIsFloat<T>)
          return T(N(a) + N(b));
        else
          return T(uint64_t(a) + uint64_t(b));
      });
    else if (mul)
      update(to, from, [](T a, T b) {
        if constexpr (kIsFloat<T>)
          return T(N(a) * N(b));
        else
          return T(uint64_t(a) * uint64_t(b));
      });
    else if (max)
      update(to, from, [](T a, T b) { return N(a) > N(b) || N(a) != N(a) ? a : b; });
    else
      update(to, from, [](T a, T b) { return N(a) < N(b) || N(a) != N(a) ? a : b; });
  };
  // For booleans, the sum is "or", the product "and".
  if (dtype == Bool) {
    uint8_t *to = static_cast<uint8_t *>(out);
    if (add || max)
      update(to, updates.as<uint8_t>(), [](uint8_t a, uint8_t b) { return uint8_t(a | b); });
    else
      update(to, updates.as<uint8_t>(), [](uint8_t a, uint8_t b) { return uint8_t(a & b); });
  } else if (!dispatchNumbers(dtype, reduce)) {
    c.failType(dtype);
  }
}
} // namespace

ATC_KERNEL(ScatterElements) {
  const Tensor data = in(0), indices = in(1), updates = in(2);
  const int64_t rank = data.rank(), axis = normalizeAxis(*this, integer("axis", 0), rank);
  if (axis < 0)
    return;
  if (indices.rank() != rank || !(indices.dims() == updates.dims()))
    return fail("the indices do not have the shape of the updates, or not rank %", rank);
  if (updates.dtype() != data.dtype())
    return fail("the updates have element type %, the data %", updates.dtype(), data.dtype());
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis && indices.dim(d) > data.dim(d))
      return fail("dim % of the indices is %, of the data %", d, indices.dim(d), data.dim(d));
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  const int64_t *at = readIndices(*this, indices, data.dim(axis));
  if (!at)
    return;
  const Dims shape = indices.dims();
  Dims steps = stridesOf(data.dims());
  const int64_t along = steps[axis], count = shape.product();
  steps[axis] = 0;
  scatter(*this, data, updates, out, [&](auto *to, auto *from, auto fn) {
    int64_t position[host::kMaxRank] = {}, offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto &target = to[offset + at[i] * along];
      target = fn(target, from[i]);
      for (int64_t d = rank - 1; d >= 0; --d) {
        offset += steps[d];
        if (++position[d] < shape[d])
          break;
        offset -= steps[d] * shape[d];
        position[d] = 0;
      }
    }
  });
}

namespace {
/// The minimum number of elements of a slice that generated code moves: it has a loop for each.
constexpr int64_t kMinSlice = 16;
} // namespace

ATC_KERNEL_OF_CODE(ScatterND) {
  const Tensor data = in(0), indices = in(1), updates = in(2);
  const int64_t rank = data.rank(), indexRank = indices.rank();
  if (indexRank < 1)
    return fail("the indices are a scalar");
  const int64_t depth = indices.dim(indexRank - 1);
  if (depth > rank)
    return fail("index tuples of % do not fit a tensor of rank %", depth, rank);
  Dims wanted;
  bool fits = true;
  for (int64_t d = 0; d + 1 < indexRank; ++d)
    fits = wanted.push(indices.dim(d)) && fits;
  for (int64_t d = depth; d < rank; ++d)
    fits = wanted.push(data.dim(d)) && fits;
  if (!fits || !(wanted == updates.dims()))
    return fail("the updates do not have the shape that indices and data ask for, of rank %",
                indexRank - 1 + rank - depth);
  if (updates.dtype() != data.dtype())
    return fail("the updates have element type %, the data %", updates.dtype(), data.dtype());
  const int64_t inner = data.dims().product(uint32_t(depth), data.rank());
  if (hasFittingCode(*this) && inner >= kMinSlice && data.count() > 0)
    return runGenerated(*this, [](Context &c) { c.makeBytes(0, c.in(0).dtype(), c.in(0).dims()); });
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  // Empty tuples select the whole tensor, once per tuple.
  const int64_t rows = indices.dims().product(0, uint32_t(indexRank - 1));
  const int64_t *offsets = readTuples(*this, indices, data.dims(), 0, depth);
  if (!offsets)
    return;
  scatter(*this, data, updates, out, [&](auto *to, auto *from, auto fn) {
    for (int64_t row = 0; row < rows; ++row) {
      auto *target = to + (depth ? offsets[row] : 0);
      for (int64_t i = 0; i < inner; ++i)
        target[i] = fn(target[i], from[row * inner + i]);
    }
  });
}

ATC_KERNEL(TensorScatter) {
  const Tensor past = in(0), update = in(1), starts = in(2);
  const int64_t rank = past.rank(), axis = normalizeAxis(*this, integer("axis", -2), rank);
  if (axis < 0)
    return;
  if (axis == 0)
    return fail("axis 0 is the batch");
  if (update.rank() != rank || update.dtype() != past.dtype())
    return fail("the update has rank % and element type %, the cache % and %", update.rank(),
                update.dtype(), rank, past.dtype());
  for (int64_t d = 0; d < rank; ++d)
    if (d == axis ? update.dim(d) > past.dim(d) : update.dim(d) != past.dim(d))
      return fail("dim % of the update is %, of the cache %", d, update.dim(d), past.dim(d));
  if (starts && starts.count() != past.dim(0))
    return fail("there are % write indices for a batch of %", starts.count(), past.dim(0));
  char *out = make(0, past.dtype(), past.dims());
  if (!out)
    return;
  const Dims dims = past.dims();
  const int64_t maxValue = dims[axis], length = update.dim(axis), batch = dims[0];
  const int64_t rows = dims.product(1, uint32_t(axis)),
                inner = dims.product(uint32_t(axis) + 1, dims.rank);
  const bool circular = is("mode", "linear", "circular");
  for (int64_t i = 0; starts && i < batch; ++i) {
    const int64_t start = integerAt(starts, i);
    if (circular ? start < 0 && maxValue > 0 && start < -maxValue
                 : start < 0 || start > maxValue - length)
      return fail("% elements at % do not fit a cache of %", length, start, maxValue);
  }
  moveElements(*this, past.dtype(), out, past.count(), [&](auto *to, auto read) {
    auto *whole = read(past), *from = read(update);
    if (!whole || !from)
      return;
    const int64_t size = sizeof(*to);
    copyBytes(to, whole, past.count() * size);
    if (update.count() == 0)
      return;
    parallelIf(*this, batch * rows, length * inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t at = starts ? integerAt(starts, row / rows) : 0;
        at = ((at % maxValue) + maxValue) % maxValue;
        for (int64_t i = 0; i < length; ++i, at = at + 1 == maxValue ? 0 : at + 1)
          copyBytes(to + (row * maxValue + at) * inner, from + (row * length + i) * inner,
                    inner * size);
      }
    });
  });
}

} // namespace atc::kernels
