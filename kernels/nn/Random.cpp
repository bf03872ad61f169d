//===-- Random.cpp - random tensors ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element i of a sequence is a hash of the seed and i, so that results depend on the seed alone and
// not on threads.

#include "kernels/core/Math.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {
class Generator {
public:
  explicit Generator(Context &c) {
    if (c.has("seed"))
      seed = mixed(__builtin_bit_cast(uint64_t, c.number("seed", double(c.integer("seed", 0)))));
    else
      seed = mixed(c.entropy());
  }
  uint64_t bits(int64_t i) const { return mixed(seed + uint64_t(i + 1) * 0x9e3779b97f4a7c15u); }
  /// In [0, 1).
  double uniform(int64_t i) const { return double(bits(i) >> 11) * 0x1p-53; }
  double normal(int64_t i) const {
    const double radius = math::sqrt(-2 * math::log(1 - uniform(2 * i)));
    return radius * math::cos(6.28318530717958647692 * uniform(2 * i + 1));
  }

private:
  static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  uint64_t seed;
};

/// The dims of attribute `shape`.
bool shapeAttribute(Context &c, Dims &dims) {
  const List<int64_t> shape = c.integers("shape");
  for (int64_t i = 0; i < shape.size; ++i)
    if (!dims.push(shape[i]))
      return c.fail("the shape has % dims", shape.size), false;
  return true;
}

void random(Context &c, const Dims &dims, uint8_t dtype, bool normal) {
  if (!isFloat(dtype))
    return c.failType(dtype);
  void *out = c.makeBytes(0, dtype, dims);
  if (!out)
    return;
  const Generator numbers(c);
  const double first = normal ? c.number("mean", 0) : c.number("low", 0);
  const double width = normal ? c.number("scale", 1) : c.number("high", 1) - first;
  storeEach(c, out, dtype, dims.product(), [&](int64_t i) {
    return first + width * (normal ? numbers.normal(i) : numbers.uniform(i));
  });
}
uint8_t likeType(Context &c) {
  const int64_t asked = c.integer("dtype", 0);
  return asked ? uint8_t(asked) : c.in(0).dtype();
}
} // namespace

ATC_KERNEL(RandomNormal) {
  Dims dims;
  if (shapeAttribute(*this, dims))
    random(*this, dims, uint8_t(integer("dtype", F32)), true);
}
ATC_KERNEL(RandomUniform) {
  Dims dims;
  if (shapeAttribute(*this, dims))
    random(*this, dims, uint8_t(integer("dtype", F32)), false);
}
ATC_KERNEL(RandomNormalLike) { random(*this, in(0).dims(), likeType(*this), true); }
ATC_KERNEL(RandomUniformLike) { random(*this, in(0).dims(), likeType(*this), false); }

ATC_KERNEL(Bernoulli) {
  const Tensor x = in(0);
  const uint8_t dtype = likeType(*this);
  if (bitsOf(dtype) == 0 || bitsOf(dtype) > 64)
    return failType(dtype);
  void *out = makeBytes(0, dtype, x.dims());
  if (!out)
    return;
  const Generator numbers(*this);
  storeEach(*this, out, dtype, x.count(),
            [&](int64_t i) { return numbers.uniform(i) < numberAt(x, i) ? 1.0 : 0.0; });
}

ATC_KERNEL(Multinomial) {
  const Tensor x = in(0);
  const int64_t samples = integer("sample_size", 1);
  const uint8_t dtype = uint8_t(integer("dtype", I32));
  if (x.rank() != 2)
    return fail("data of rank %, not 2", x.rank());
  if (dtype != I32 && dtype != I64)
    return failType(dtype);
  const int64_t rows = x.dim(0), classes = x.dim(1);
  void *out = makeBytes(0, dtype, Dims(rows, samples));
  if (!out || rows * samples == 0)
    return;
  if (classes == 0)
    return fail("there are no classes");
  const Generator numbers(*this);
  const double *logits = numbersOf<double>(*this, x);
  double *sums = scratch<double>(rows * classes);
  if (!logits || !sums)
    return;
  for (int64_t row = 0; row < rows; ++row) {
    double max = lowest<double>(), sum = 0;
    for (int64_t i = 0; i < classes; ++i)
      max = maximum(max, logits[row * classes + i]);
    for (int64_t i = 0; i < classes; ++i)
      sums[row * classes + i] = sum += math::exp(logits[row * classes + i] - max);
  }
  storeEach(*this, out, dtype, rows * samples, [&](int64_t i) {
    const double *row = sums + i / samples * classes;
    const double at = numbers.uniform(i) * row[classes - 1];
    // The first class whose cumulative sum is above it.
    int64_t first = 0, last = classes - 1;
    while (first < last) {
      const int64_t middle = (first + last) / 2;
      if (row[middle] > at)
        last = middle;
      else
        first = middle + 1;
    }
    return double(first);
  });
}

ATC_KERNEL(Dropout) {
  const Tensor x = in(0), ratio = in(1), training = in(2);
  char *out = make(0, x.dtype(), x.dims());
  if (!out)
    return;
  uint8_t *mask = nullptr;
  if (wants(1) && !(mask = make<uint8_t>(1, Bool, x.dims())))
    return;
  const int64_t count = x.count();
  const double dropped = ratio ? numberAt(ratio, 0) : 0.5;
  if (!training || integerAt(training, 0) == 0 || dropped == 0) {
    copyBytes(out, x.bytes(), bytesOf(x.dtype(), count));
    if (mask)
      __builtin_memset(mask, 1, uint64_t(count));
    return;
  }
  if (!(dropped >= 0 && dropped < 1))
    return fail("the ratio is not in [0, 1)");
  const Generator numbers(*this);
  const double scale = 1 / (1 - dropped);
  storeEach(*this, out, x.dtype(), count, [&](int64_t i) {
    return numbers.uniform(i) >= dropped ? numberAt(x, i) * scale : 0.0;
  });
  for (int64_t i = 0; mask && i < count; ++i)
    mask[i] = numbers.uniform(i) >= dropped;
}

} // namespace atc::kernels
