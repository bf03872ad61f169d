//===-- Gather.cpp - elements picked by index -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Strided.h"
#include "kernels/tensor/Indices.h"

namespace atc::kernels {

namespace {
/// For each of `outer` blocks of `whole` slices of `inner` elements: the `count`
/// slices at `at`.
template <typename T>
void pick(Context &c, T *to, const T *from, int64_t outer, int64_t whole, const int64_t *at,
          int64_t count, int64_t inner) {
  parallelIf(c, outer * count, inner, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin, i = begin % count, base = begin / count * whole; row < end; ++row) {
      copyBytes(to + row * inner, from + (base + at[i]) * inner, inner * int64_t(sizeof(T)));
      if (++i == count) {
        i = 0;
        base += whole;
      }
    }
  });
}
} // namespace

ATC_KERNEL(Gather) {
  const Tensor data = in(0), indices = in(1);
  const int64_t axis = normalizeAxis(*this, integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const Dims dims = data.dims();
  Dims shape;
  bool fits = true;
  for (int64_t d = 0; d < axis; ++d)
    fits = shape.push(dims[d]) && fits;
  for (uint32_t d = 0; d < indices.rank(); ++d)
    fits = shape.push(indices.dim(d)) && fits;
  for (uint32_t d = uint32_t(axis) + 1; d < dims.rank; ++d)
    fits = shape.push(dims[d]) && fits;
  if (!fits)
    return fail("the result would have % dims", data.rank() + indices.rank() - 1);
  char *out = make(0, data.dtype(), shape);
  if (!out)
    return;
  const int64_t *at = readIndices(*this, indices, dims[axis]);
  if (!at)
    return;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (from && shape.product())
      pick(*this, to, from, dims.product(0, uint32_t(axis)), dims[axis], at, indices.count(),
           dims.product(uint32_t(axis) + 1, dims.rank));
  });
}

ATC_KERNEL(GatherElements) {
  const Tensor data = in(0), indices = in(1);
  const int64_t rank = data.rank(), axis = normalizeAxis(*this, integer("axis", 0), rank);
  if (axis < 0)
    return;
  if (indices.rank() != rank)
    return fail("the indices have rank %, the data %", indices.rank(), rank);
  const Dims shape = indices.dims(), steps = stridesOf(data.dims());
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis && shape[d] > data.dim(d))
      return fail("dim % of the indices is %, of the data %", d, shape[d], data.dim(d));
  char *out = make(0, data.dtype(), shape);
  if (!out)
    return;
  const int64_t *at = readIndices(*this, indices, data.dim(axis));
  if (!at)
    return;
  // The index replaces the coordinate on the axis.
  Dims others = steps;
  others[axis] = 0;
  const StridedSpace space(shape, others);
  const int64_t inner = space.inner(), step = space.innerStep(0), along = steps[axis];
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (!from)
      return;
    space.forEachRow(*this, 2, [&](int64_t row, const int64_t *offsets) {
      for (int64_t i = 0, n = space.length(row); i < n; ++i)
        to[row * inner + i] = from[offsets[0] + i * step + at[row * inner + i] * along];
    });
  });
}

ATC_KERNEL(GatherND) {
  const Tensor data = in(0), indices = in(1);
  const int64_t batchDims = integer("batch_dims", 0);
  const int64_t rank = data.rank(), indexRank = indices.rank();
  if (batchDims < 0 || batchDims >= minimum(rank, indexRank))
    return fail("% batch dims do not fit ranks % and %", batchDims, rank, indexRank);
  const int64_t depth = indices.dim(indexRank - 1);
  if (depth < 1 || depth > rank - batchDims)
    return fail("index tuples of % do not fit a tensor of rank %", depth, rank);
  const Dims dims = data.dims();
  Dims shape;
  bool fits = true;
  for (int64_t d = 0; d + 1 < indexRank; ++d) {
    if (d < batchDims && indices.dim(d) != dims[d])
      return fail("batch dim % is % and %", d, dims[d], indices.dim(d));
    fits = shape.push(indices.dim(d)) && fits;
  }
  for (int64_t d = batchDims + depth; d < rank; ++d)
    fits = shape.push(dims[d]) && fits;
  if (!fits)
    return fail("the result has more than % dims", host::kMaxRank);
  char *out = make(0, data.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  const int64_t *offsets = readTuples(*this, indices, dims, batchDims, depth);
  if (!offsets)
    return;
  const int64_t batches = dims.product(0, uint32_t(batchDims)),
                block = dims.product(uint32_t(batchDims), dims.rank),
                inner = dims.product(uint32_t(batchDims + depth), dims.rank),
                rows = indices.count() / depth, perBatch = rows / batches;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (!from)
      return;
    parallelIf(*this, rows, inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        copyBytes(to + row * inner, from + row / perBatch * block + offsets[row],
                  inner * int64_t(sizeof(*to)));
    });
  });
}

ATC_KERNEL(Compress) {
  const Tensor data = in(0), condition = in(1);
  if (!condition.known())
    return;
  const bool flat = !has("axis");
  const int64_t axis = flat ? 0 : normalizeAxis(*this, integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const Dims dims = flat ? Dims(data.count()) : data.dims();
  // A condition may be shorter than the dim; elements beyond its end are dropped.
  const int64_t length = minimum(condition.count(), dims[axis]);
  int64_t *at = scratch<int64_t>(maximum(length, int64_t(1)));
  if (!at)
    return;
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i)
    if (condition.as<uint8_t>()[i])
      at[count++] = i;
  Dims shape = dims;
  shape[axis] = count;
  char *out = make(0, data.dtype(), shape);
  if (!out)
    return;
  moveElements(*this, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (from && shape.product())
      pick(*this, to, from, dims.product(0, uint32_t(axis)), dims[axis], at, count,
           dims.product(uint32_t(axis) + 1, dims.rank));
  });
}

} // namespace atc::kernels
