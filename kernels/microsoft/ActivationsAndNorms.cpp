//===-- ActivationsAndNorms.cpp - com.microsoft: activations and normalizations -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Floats.h"
#include "kernels/core/Math.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

namespace {

/// Computes one row: (x - mean) / deviation * gamma + beta; `simple` omits the mean.
void normalizeRow(float *out, const float *x, int64_t width, const float *gamma, const float *beta,
                  double epsilon, bool simple) {
  double mean = 0, square = 0;
  for (int64_t i = 0; i < width; ++i)
    mean += x[i];
  mean = simple ? 0 : mean / double(width);
  for (int64_t i = 0; i < width; ++i)
    square += (x[i] - mean) * (x[i] - mean);
  const double scale = 1 / math::sqrt(square / double(width) + epsilon);
  for (int64_t i = 0; i < width; ++i)
    out[i] = float((x[i] - mean) * scale * gamma[i]) + (beta ? beta[i] : 0);
}

/// Computes, from input, skip, gamma, [beta] and bias, the norm of input + skip + bias, and that
/// sum.
void skipNormalize(Context &c, bool simple) {
  const Tensor data = c.in(0), skip = c.in(1), gamma = c.in(2);
  const Tensor beta = simple ? Tensor() : c.in(3), bias = c.in(simple ? 3 : 4);
  const double epsilon = c.number("epsilon", 1e-12f);
  const int64_t width = data.dim(data.rank() - 1), count = data.count();
  const int64_t skipCount = skip.count();
  if (count ? !skipCount || count % skipCount : skipCount)
    return c.fail("a skip of % elements for % elements in rows of %", skipCount, count, width);
  FloatResult result, sum, mean, deviation;
  // Mean and deviation are for training; no runtime fills them with more than this.
  Dims rows = data.dims();
  rows[data.rank() - 1] = 1;
  if (!result.make(c, 0, data.dtype(), data.dims()) || !mean.makeIfWanted(c, 1, F32, rows) ||
      !deviation.makeIfWanted(c, 2, F32, rows) ||
      !sum.makeIfWanted(c, 3, data.dtype(), data.dims()))
    return;
  float *out = result.floats(c), *total = sum ? sum.floats(c) : c.scratch<float>(count + 1);
  float *means = mean.floats(c), *deviations = deviation.floats(c);
  const float *x = floatsOf(c, data), *y = floatsOf(c, skip), *scale = floatsOf(c, gamma);
  const float *offset = beta ? floatsOf(c, beta) : nullptr;
  const float *shift = bias ? floatsOf(c, bias) : nullptr;
  if (!out || !total || !x || !y || !scale || (beta && !offset) || (bias && !shift))
    return;
  // Rows without elements have a mean and a deviation as well.
  c.parallel(rows.product(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float *to = total + row * width;
      const float *other = y + (width ? row * width % skipCount : 0);
      for (int64_t i = 0; i < width; ++i)
        to[i] = x[row * width + i] + other[i] + (shift ? shift[i] : 0);
      normalizeRow(out + row * width, to, width, scale, offset, epsilon, simple);
      double average = 0, square = 0;
      for (int64_t i = 0; (means || deviations) && i < width; ++i) {
        average += to[i] / double(width);
        square += double(to[i]) * to[i] / double(width);
      }
      if (means)
        means[row] = float(average);
      if (deviations)
        deviations[row] = float(1 / math::sqrt(square - average * average + epsilon));
    }
  });
  result.store();
  sum.store();
}

} // namespace

ATC_KERNEL(BiasSplitGelu) {
  const Tensor data = in(0), bias = in(1);
  const int64_t rank = data.rank(), width = data.dim(rank - 1), half = width / 2;
  Dims shape = data.dims();
  shape[rank - 1] = half;
  FloatResult result;
  if (!result.make(*this, 0, data.dtype(), shape))
    return;
  float *out = result.floats(*this);
  const float *from = floatsOf(*this, data), *shift = floatsOf(*this, bias);
  if (!out || !from || !shift)
    return;
  parallel(width ? data.count() / width : 0, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t i = 0; i < half; ++i) {
        const float *x = from + row * width;
        out[row * half + i] = (x[i] + shift[i]) * fast::gelu<float>(x[half + i] + shift[half + i]);
      }
  });
  result.store();
}

ATC_KERNEL(SkipLayerNormalization) { skipNormalize(*this, false); }
ATC_KERNEL(SkipSimplifiedLayerNormalization) { skipNormalize(*this, true); }

ATC_KERNEL(SimplifiedLayerNormalization) {
  const Tensor data = in(0), gamma = in(1);
  const int64_t axis = normalizeAxis(*this, integer("axis", -1), data.rank());
  if (axis < 0)
    return;
  const double epsilon = number("epsilon", 1e-5);
  const int64_t width = data.dims().product(uint32_t(axis), data.rank());
  if (gamma.count() != width)
    return fail("a scale of % elements for rows of %", gamma.count(), width);
  Dims rows = data.dims();
  for (uint32_t d = uint32_t(axis); d < data.rank(); ++d)
    rows[d] = 1;
  FloatResult result, inverse;
  if (!result.make(*this, 0, gamma.dtype(), data.dims()) ||
      !inverse.makeIfWanted(*this, 1, F32, rows))
    return;
  float *out = result.floats(*this), *deviations = inverse.floats(*this);
  const float *x = floatsOf(*this, data), *scale = floatsOf(*this, gamma);
  if (!out || !x || !scale)
    return;
  // Rows without elements have a deviation as well.
  parallel(rows.product(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      normalizeRow(out + row * width, x + row * width, width, scale, nullptr, epsilon, true);
      double square = 0;
      for (int64_t i = 0; deviations && i < width; ++i)
        square += double(x[row * width + i]) * x[row * width + i];
      if (deviations)
        deviations[row] = float(1 / math::sqrt(square / double(width) + epsilon));
    }
  });
  result.store();
}

ATC_KERNEL(EmbedLayerNormalization) {
  const Tensor ids = in(0), segments = in(1), words = in(2), indices = in(3), kinds = in(4),
               gamma = in(5), beta = in(6), mask = in(7), positions = in(8);
  const int64_t batch = ids.dim(0), length = ids.dim(1), width = words.dim(1);
  if (kinds && !segments)
    return fail("has an embedding of segments, but no segments");
  FloatResult result, sum;
  int32_t *lengths = nullptr;
  if (!result.make(*this, 0, words.dtype(), Dims(batch, length, width)) ||
      (wants(1) && !(lengths = make<int32_t>(1, I32, Dims(batch)))) ||
      !sum.makeIfWanted(*this, 2, words.dtype(), Dims(batch, length, width)))
    return;
  float *out = result.floats(*this);
  float *total = sum ? sum.floats(*this) : scratch<float>(width * length * batch + 1);
  const float *word = floatsOf(*this, words), *index = floatsOf(*this, indices);
  const float *kind = kinds ? floatsOf(*this, kinds) : nullptr;
  const float *scale = floatsOf(*this, gamma), *offset = floatsOf(*this, beta);
  if (!out || !total || !word || !index || (kinds && !kind) || !scale || !offset)
    return;
  // Explicit positions are in the table by the contract.
  if (!positions && batch && length > indices.dim(0))
    return fail("% positions, but an embedding of %", length, indices.dim(0));
  const double epsilon = number("epsilon", 1e-12);
  for (int64_t b = 0; b < batch; ++b) {
    if (lengths)
      lengths[b] = 0;
    for (int64_t s = 0; s < length; ++s) {
      const int64_t row = b * length + s, id = integerAt(ids, row);
      const int64_t at =
          positions ? integerAt(positions, positions.count() == length ? s : row) : s;
      const int64_t segment = kind ? integerAt(segments, row) : 0;
      float *to = total + row * width;
      for (int64_t i = 0; i < width; ++i)
        to[i] =
            word[id * width + i] + index[at * width + i] + (kind ? kind[segment * width + i] : 0);
      normalizeRow(out + row * width, to, width, scale, offset, epsilon, false);
      if (lengths && mask)
        lengths[b] += integerAt(mask, row) == 1;
    }
  }
  result.store();
  sum.store();
}

} // namespace atc::kernels
