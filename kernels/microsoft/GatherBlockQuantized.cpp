//===-- GatherBlockQuantized.cpp - com.microsoft: rows of a quantized table -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Floats.h"

namespace atc::kernels {

namespace {

/// A table of values in blocks along one axis, each with a scale. Values of fewer than 8 bits may
/// be packed in bytes along the last dim.
struct BlockTable {
  Tensor data, scales, zeros;
  const float *factors = nullptr;
  Dims dims, scaleSteps; ///< a dim of one scale has no step
  int64_t axis = 0, block = 0, bits = 0, zeroRow = 0;

  bool inBytes() const { return data.dtype() == U8 && bits < 8; }
  /// The zero point of what has none: the middle of unsigned bytes.
  double middle() const { return data.dtype() == U8 ? double(int64_t(1) << (bits - 1)) : 0; }

  bool find(Context &c, int64_t gathered) {
    data = c.in(0), scales = c.in(2), zeros = c.in(3);
    dims = data.dims();
    bits = c.integer("bits", 4);
    block = c.integer("block_size", 128);
    axis = normalizeAxis(c, c.integer("quantize_axis", 1), dims.rank);
    if (axis < 0)
      return false;
    if (data.dtype() == U8 && bits != 2 && bits != 4 && bits != 8)
      return c.fail("bits is %, not 2, 4 or 8", bits), false;
    if (data.dtype() == U8 && (gathered != 0 || (bits < 8 && axis == 0)))
      return c.fail("bytes are gathered along axis % and quantized along %", gathered, axis), false;
    if (inBytes())
      dims[dims.rank - 1] *= 8 / bits;
    // Small floats have no zero points; one block may be all of the axis.
    const bool integers = data.dtype() == U4 || data.dtype() == I4 || data.dtype() == U8;
    if (block == 0 && !integers)
      block = maximum(dims[axis], int64_t(1));
    if (block < 1 || scales.rank() != int64_t(dims.rank) || (zeros && !integers))
      return c.fail("blocks of %, scales of rank %", block, scales.rank()), false;
    scaleSteps = stridesOf(scales.dims());
    for (int64_t d = 0; d < dims.rank; ++d) {
      const int64_t wanted = d == axis ? ceilDiv(dims[d], block) : dims[d];
      const bool shared = !integers && d != axis && scales.dim(d) == 1;
      if (scales.dim(d) != wanted && !shared)
        return c.fail("dim % has % scales for % numbers", d, scales.dim(d), dims[d]), false;
      scaleSteps[d] = shared ? 0 : scaleSteps[d];
    }
    const int64_t last = scales.dim(dims.rank - 1);
    zeroRow = inBytes() ? ceilDiv(last * bits, int64_t(8)) : last;
    if (zeros && zeros.count() != (last ? scales.count() / last * zeroRow : 0))
      return c.fail("% zero points for % scales", zeros.count(), scales.count()), false;
    return true;
  }

  static double field(Tensor bytes, int64_t at, int64_t width) {
    const int64_t perByte = 8 / width;
    return bytes.as<uint8_t>()[at / perByte] >> (at % perByte * width) & ((1 << width) - 1);
  }
  /// Element `at` of the whole table.
  float value(int64_t at) const {
    int64_t scale = 0;
    for (int64_t d = dims.rank - 1, rest = at; d >= 0; rest /= dims[d], --d)
      scale += (d == axis ? rest % dims[d] / block : rest % dims[d]) * scaleSteps[d];
    const double number = inBytes() ? field(data, at, bits) : numberAt(data, at);
    double zero = middle();
    if (zeros && inBytes()) {
      const int64_t last = scales.dim(dims.rank - 1);
      zero = field(zeros, scale / last * zeroRow * (8 / bits) + scale % last, bits);
    } else if (zeros) {
      zero = numberAt(zeros, scale);
    }
    return float(number - zero) * factors[scale];
  }
};

} // namespace

ATC_KERNEL(GatherBlockQuantized) {
  const Tensor indices = in(1);
  const int64_t axis = normalizeAxis(*this, integer("gather_axis", 0), in(0).rank());
  BlockTable table;
  if (axis < 0 || !table.find(*this, axis))
    return;
  Dims shape;
  for (int64_t d = 0; d < axis; ++d)
    shape.push(table.dims[d]);
  const Dims picked = indices.dims();
  bool fits = true;
  for (int64_t d = 0; d < picked.rank; ++d)
    fits &= shape.push(picked[d]);
  for (int64_t d = axis + 1; d < table.dims.rank; ++d)
    fits &= shape.push(table.dims[d]);
  if (!fits)
    return fail("the result has more than % dims", host::kMaxRank);
  FloatResult result;
  if (!result.make(*this, 0, table.scales.dtype(), shape))
    return;
  float *out = result.floats(*this);
  table.factors = floatsOf(*this, table.scales);
  if (!out || !table.factors)
    return;
  const int64_t size = table.dims[axis], count = indices.count(),
                inner = table.dims.product(uint32_t(axis) + 1, table.dims.rank);
  parallel(table.dims.product(0, uint32_t(axis)) * count, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t index = integerAt(indices, row % count), at = index < 0 ? index + size : index;
      float *to = out + row * inner;
      // An index that is none makes zeros.
      const bool exists = at >= 0 && at < size;
      for (int64_t j = 0; j < inner; ++j)
        to[j] = exists ? table.value((row / count * size + at) * inner + j) : 0;
    }
  });
  result.store();
}

} // namespace atc::kernels
