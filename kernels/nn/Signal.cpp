//===-- Signal.cpp - Fourier transforms, windows, mel weights -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {
using Number = Complex<double>;

/// Computes the Fourier transform of `length` values. Powers of two are split recursively; other
/// lengths are computed as a convolution with transforms of a power of two.
class Fourier {
public:
  /// Returns room for what `run` works on, null where there is no memory.
  Number *prepare(Context &c, int64_t length) {
    n = length;
    size = 1;
    while (size < n)
      size *= 2;
    if (size != n)
      while (size < 2 * n - 1)
        size *= 2;
    roots = c.scratch<Number>(size);
    Number *line = c.scratch<Number>(size);
    if (!roots || !line)
      return nullptr;
    for (int64_t i = 0; i < size; ++i)
      roots[i] = unit(-2 * math::kPi * double(i) / double(size));
    if (size == n)
      return line;
    chirp = c.scratch<Number>(n);
    kernel = c.scratch<Number>(size);
    if (!chirp || !kernel)
      return nullptr;
    for (int64_t i = 0; i < size; ++i)
      kernel[i] = {0, 0};
    for (int64_t i = 0; i < n; ++i) {
      // i^2 modulo 2n keeps the angle small and exact.
      chirp[i] = unit(-math::kPi * double(i * i % (2 * n)) / double(n));
      kernel[i] = {chirp[i].re, -chirp[i].im};
      kernel[i ? size - i : 0] = kernel[i];
    }
    transform(kernel);
    return line;
  }
  void run(Number *x, bool inverse) const {
    if (inverse)
      conjugate(x, n);
    if (size == n) {
      transform(x);
    } else {
      for (int64_t i = 0; i < size; ++i)
        x[i] = i < n ? x[i] * chirp[i] : Number{0, 0};
      transform(x);
      for (int64_t i = 0; i < size; ++i)
        x[i] = x[i] * kernel[i];
      conjugate(x, size);
      transform(x);
      for (int64_t i = 0; i < n; ++i)
        x[i] = Number{x[i].re / double(size), -x[i].im / double(size)} * chirp[i];
    }
    if (inverse) {
      conjugate(x, n);
      for (int64_t i = 0; i < n; ++i)
        x[i] = {x[i].re / double(n), x[i].im / double(n)};
    }
  }

private:
  static Number unit(double angle) { return {math::cos(angle), math::sin(angle)}; }
  static void conjugate(Number *x, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      x[i].im = -x[i].im;
  }
  void transform(Number *x) const {
    for (int64_t i = 1, j = 0; i < size; ++i) {
      int64_t bit = size / 2;
      for (; j & bit; bit /= 2)
        j ^= bit;
      j ^= bit;
      if (i < j) {
        const Number other = x[i];
        x[i] = x[j];
        x[j] = other;
      }
    }
    for (int64_t half = 1; half < size; half *= 2)
      for (int64_t i = 0; i < size; i += 2 * half)
        for (int64_t j = 0; j < half; ++j) {
          const Number a = x[i + j], b = x[i + j + half] * roots[j * (size / 2 / half)];
          x[i + j] = a + b;
          x[i + j + half] = a - b;
        }
  }
  int64_t n = 0, size = 0;
  Number *roots = nullptr, *chirp = nullptr, *kernel = nullptr;
};

constexpr int64_t kLongest = int64_t(1) << 28;
} // namespace

ATC_KERNEL(DFT) {
  const Tensor x = in(0), lengthInput = in(1), axisInput = in(2);
  const Dims dims = x.dims();
  if ((lengthInput && !lengthInput.known()) || (axisInput && !axisInput.known()))
    return;
  if (dims.rank < 2 || (dims[dims.rank - 1] != 1 && dims[dims.rank - 1] != 2))
    return fail("data of rank % that does not end in a dim of 1 or 2", dims.rank);
  // Up to opset 19 the axis is an attribute.
  const int64_t axis =
      normalizeAxis(*this, axisInput ? integerAt(axisInput, 0) : integer("axis", -2), dims.rank);
  if (axis < 0)
    return;
  if (axis + 1 == dims.rank)
    return fail("axis % is that of real and imaginary part", axis);
  const bool inverse = integer("inverse", 0), oneSided = integer("onesided", 0);
  const bool fromHalf = inverse && oneSided, toHalf = !inverse && oneSided;
  const int64_t parts = dims[dims.rank - 1], given = dims[axis];
  const int64_t length = lengthInput ? integerAt(lengthInput, 0)
                         : fromHalf  ? 2 * (given - 1)
                                     : given;
  if (length < 1 || length > kLongest)
    return fail("a transform of % numbers", length);
  Dims shape = dims;
  shape[axis] = toHalf ? length / 2 + 1 : length;
  shape[dims.rank - 1] = fromHalf ? 1 : 2;
  void *out = makeBytes(0, x.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  Fourier fourier;
  Number *line = fourier.prepare(*this, length);
  if (!line)
    return;
  const int64_t inner = dims.product(uint32_t(axis) + 1, dims.rank - 1);
  const int64_t outer = dims.product(0, uint32_t(axis)), results = shape[axis];
  const int64_t used = minimum(given, fromHalf ? length / 2 + 1 : length);
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *data = x.as<T>();
    T *to = static_cast<T *>(out);
    for (int64_t i = 0; i < outer * inner; ++i) {
      const int64_t from = i / inner * given * inner + i % inner;
      for (int64_t j = 0; j < length; ++j) {
        const T *element = data + (from + j * inner) * parts;
        line[j] = j < used ? Number{double(Compute<T>(element[0])),
                                    parts == 2 ? double(Compute<T>(element[1])) : 0.0}
                           : Number{0, 0};
      }
      // The other half of the spectrum of a real signal.
      for (int64_t j = 1; fromHalf && j < (length + 1) / 2; ++j)
        line[length - j] = {line[j].re, -line[j].im};
      fourier.run(line, inverse);
      for (int64_t j = 0; j < results; ++j) {
        T *element =
            to + (i / inner * results * inner + i % inner + j * inner) * (fromHalf ? 1 : 2);
        element[0] = T(Compute<T>(line[j].re));
        if (!fromHalf)
          element[1] = T(Compute<T>(line[j].im));
      }
    }
  });
  if (!done)
    failType(x.dtype());
}

ATC_KERNEL(STFT) {
  const Tensor x = in(0), step = in(1), window = in(2), frame = in(3);
  if (!step.known() || (frame && !frame.known()))
    return;
  const Dims dims = x.dims();
  if (dims.rank != 2 && (dims.rank != 3 || dims[2] < 1 || dims[2] > 2))
    return fail("a signal of rank %", dims.rank);
  const int64_t hop = integerAt(step, 0), length = frame    ? integerAt(frame, 0)
                                                   : window ? window.count()
                                                            : dims[1];
  if (hop < 1 || length < 1 || length > kLongest || (window && window.count() != length))
    return fail("frames of % every % elements", length, hop);
  const int64_t frames = dims[1] < length ? 0 : (dims[1] - length) / hop + 1;
  const int64_t parts = dims.rank == 3 ? dims[2] : 1;
  const int64_t bins = integer("onesided", 1) ? length / 2 + 1 : length;
  const Dims shape(dims[0], frames, bins, 2);
  void *out = makeBytes(0, x.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  Fourier fourier;
  Number *line = fourier.prepare(*this, length);
  const double *by = window ? numbersOf<double>(*this, window) : nullptr;
  if (!line || (window && !by))
    return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t i = 0; i < dims[0] * frames; ++i) {
      const T *from = x.as<T>() + (i / frames * dims[1] + i % frames * hop) * parts;
      for (int64_t j = 0; j < length; ++j) {
        const double factor = by ? by[j] : 1;
        line[j] = {double(Compute<T>(from[j * parts])) * factor,
                   parts == 2 ? double(Compute<T>(from[j * parts + 1])) * factor : 0.0};
      }
      fourier.run(line, false);
      T *to = static_cast<T *>(out) + i * bins * 2;
      for (int64_t j = 0; j < bins; ++j) {
        to[2 * j] = T(Compute<T>(line[j].re));
        to[2 * j + 1] = T(Compute<T>(line[j].im));
      }
    }
  });
  if (!done)
    failType(x.dtype());
}

namespace {
/// Stores values as a Cast makes them, which cuts the fractions of integers.
template <typename Fn>
void storeCast(Context &c, void *out, uint8_t dtype, int64_t count, Fn &&value) {
  const bool isWhole = (dtype >= U8 && dtype <= I64) || dtype == U32 || dtype == U64;
  storeEach(c, out, dtype, count,
            [&](int64_t i) { return isWhole ? math::trunc(value(i)) : value(i); });
}

/// a - b cos(2 pi i / n) + d cos(4 pi i / n).
void cosineWindow(Context &c, double a, double b, double d) {
  if (!c.in(0).known())
    return;
  const int64_t size = integerAt(c.in(0), 0);
  const uint8_t dtype = uint8_t(c.integer("output_datatype", F32));
  if (bitsOf(dtype) == 0 || bitsOf(dtype) > 64)
    return c.failType(dtype);
  void *out = c.makeBytes(0, dtype, Dims(size));
  if (!out)
    return;
  const double n = double(c.integer("periodic", 1) ? size : maximum(size - 1, int64_t(1)));
  storeCast(c, out, dtype, size, [&](int64_t i) {
    const double angle = 2 * math::kPi * double(i) / n;
    return a - b * math::cos(angle) + d * math::cos(2 * angle);
  });
}
} // namespace

ATC_KERNEL(HannWindow) { cosineWindow(*this, 0.5, 0.5, 0); }
ATC_KERNEL(HammingWindow) { cosineWindow(*this, 25.0 / 46, 21.0 / 46, 0); }
ATC_KERNEL(BlackmanWindow) { cosineWindow(*this, 0.42, 0.5, 0.08); }

ATC_KERNEL(MelWeightMatrix) {
  for (uint32_t i = 0; i < 5; ++i)
    if (!in(i) || (i < 2 && !in(i).known()))
      return;
  const int64_t bins = integerAt(in(0), 0), length = integerAt(in(1), 0);
  if (bins < 1 || length < 1 || bins > kLongest || length > kLongest)
    return fail("% mel bins of a transform of %", bins, length);
  const int64_t rows = length / 2 + 1;
  const uint8_t dtype = uint8_t(integer("output_datatype", F32));
  if (bitsOf(dtype) == 0 || bitsOf(dtype) > 64)
    return failType(dtype);
  void *out = makeBytes(0, dtype, Dims(rows, bins));
  if (!out)
    return;
  const double rate = numberAt(in(2), 0);
  auto mel = [](double hertz) { return 2595 * math::log(1 + hertz / 700) / math::log(10); };
  const double low = mel(numberAt(in(3), 0)), high = mel(numberAt(in(4), 0));
  // The spectrum's rows at which the triangles begin, peak and end.
  int64_t *edges = scratch<int64_t>(bins + 2);
  if (!edges)
    return;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at = low + double(i) * (high - low) / double(bins + 2);
    const double hertz = 700 * (math::pow(10, at / 2595) - 1);
    // Beyond the spectrum it does not matter where; a NaN is nowhere.
    const double edge = math::floor(double(length + 1) * hertz / rate), limit = 2 * kLongest;
    edges[i] = edge >= -limit ? int64_t(minimum(edge, limit)) : -int64_t(limit);
  }
  storeCast(*this, out, dtype, rows * bins, [&](int64_t i) {
    const int64_t row = i / bins;
    const int64_t first = edges[i % bins], peak = edges[i % bins + 1], last = edges[i % bins + 2];
    if (row == peak && (first == peak || last == peak))
      return 1.0;
    if (row >= first && row <= peak && peak > first && !(row == peak && last > peak))
      return double(row - first) / double(peak - first);
    if (row >= peak && row < last)
      return double(last - row) / double(last - peak);
    return 0.0;
  });
}

} // namespace atc::kernels
