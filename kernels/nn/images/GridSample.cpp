//===-- GridSample.cpp - samples at the points of a grid ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {
enum class Padding : uint8_t { Zeros, Border, Reflection };
enum class Sampling : uint8_t { Nearest, Linear, Cubic };

/// Reflects x at both ends into [low, high].
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0)
    return low;
  if (x < low || x > high) {
    const double distance = x < low ? low - x : x - high;
    const double turns = math::floor(distance / range), rest = distance - turns * range;
    const bool odd = math::floor(turns / 2) * 2 != turns;
    x = (x < low) != odd ? low + rest : high - rest;
  }
  return x;
}

/// The elements of a plane that a sample is made of, with their weights.
struct Taps {
  int64_t count = 0, offsets[64];
  double weights[64];
};

struct Sampler {
  Padding padding;
  Sampling sampling;
  bool align;
  int64_t rank; ///< spatial dims
  int64_t size[3], step[3];

  /// Returns the index that is read for `at` in a dim, or -1 where the sample is zero.
  int64_t index(int64_t d, double at) const {
    const double last = double(size[d] - 1);
    if (padding == Padding::Zeros)
      return at >= 0 && at <= last ? int64_t(at) : -1;
    if (padding == Padding::Reflection)
      at = reflected(at, align ? 0 : -0.5, align ? last : last + 0.5);
    at = at >= 0 ? at : 0;
    return int64_t(minimum(at, last));
  }
  /// Up to four neighbours in a dim with their weights.
  int64_t neighbours(int64_t d, double grid, int64_t *indices, double *weights) const {
    const double n = double(size[d]);
    double x = align ? (grid + 1) / 2 * (n - 1) : ((grid + 1) * n - 1) / 2;
    // As in ONNX Runtime: what is no number, or infinite, is the lower end of the grid.
    x = math::abs(x) < 0x1p62 ? maximum(minimum(x, 0x1p40), -0x1p40) : align ? 0 : -0.5;
    if (sampling == Sampling::Nearest) {
      indices[0] = index(d, math::rint(x));
      weights[0] = 1;
      return 1;
    }
    if (sampling == Sampling::Linear && padding != Padding::Zeros) {
      if (padding == Padding::Reflection)
        x = reflected(x, align ? 0 : -0.5, align ? n - 1 : n - 0.5);
      x = minimum(maximum(x, 0.0), n - 1);
    }
    const double whole = math::floor(x), rest = x - whole;
    if (sampling == Sampling::Linear) {
      for (int64_t i = 0; i < 2; ++i)
        indices[i] = index(d, whole + double(i));
      weights[0] = 1 - rest;
      weights[1] = rest;
      return 2;
    }
    constexpr double a = -0.75;
    for (int64_t i = 0; i < 4; ++i) {
      const double t = math::abs(rest + 1 - double(i));
      indices[i] = index(d, whole - 1 + double(i));
      weights[i] =
          t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
    }
    return 4;
  }

  /// Finds what is read at a point, whose coordinates are in the order x, y, z.
  Taps tapsOf(const double *point) const {
    int64_t indices[3][4] = {}, counts[3] = {1, 1, 1};
    double weights[3][4] = {{1}, {1}, {1}};
    // Unused dims come first.
    for (int64_t d = 0; d < rank; ++d)
      counts[3 - rank + d] =
          neighbours(d, point[rank - 1 - d], indices[3 - rank + d], weights[3 - rank + d]);
    Taps taps;
    for (int64_t a = 0; a < counts[0]; ++a)
      for (int64_t b = 0; b < counts[1]; ++b)
        for (int64_t c = 0; c < counts[2]; ++c) {
          const int64_t all[3] = {indices[0][a], indices[1][b], indices[2][c]};
          int64_t offset = 0;
          bool exists = true;
          for (int64_t d = 0; d < rank; ++d) {
            exists &= all[3 - rank + d] >= 0;
            offset += all[3 - rank + d] * step[d];
          }
          if (!exists)
            continue;
          taps.offsets[taps.count] = offset;
          taps.weights[taps.count++] = weights[0][a] * weights[1][b] * weights[2][c];
        }
    return taps;
  }
};
} // namespace

ATC_KERNEL(GridSample) {
  const Tensor x = in(0), grid = in(1);
  const int64_t rank = int64_t(x.rank()) - 2;
  if (rank < 1 || rank > 3 || grid.rank() != x.rank() || grid.dim(rank + 1) != rank ||
      grid.dim(0) != x.dim(0))
    return fail("data of rank %, a grid of rank % with points of %", x.rank(), grid.rank(),
                grid.rank() ? grid.dim(int64_t(grid.rank()) - 1) : 0);
  Dims shape(x.dim(0), x.dim(1));
  for (int64_t d = 1; d <= rank; ++d)
    shape.push(grid.dim(d));
  for (int64_t d = 0; d < rank; ++d)
    if (x.dim(d + 2) == 0 && shape.product())
      return fail("spatial dim % is empty", d);
  char *out = make(0, x.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  Sampler s;
  s.padding = is("padding_mode", "zeros", "border")       ? Padding::Border
              : is("padding_mode", "zeros", "reflection") ? Padding::Reflection
                                                          : Padding::Zeros;
  s.sampling = is("mode", "linear", "nearest") ? Sampling::Nearest
               : is("mode", "linear", "cubic") || is("mode", "linear", "bicubic")
                   ? Sampling::Cubic
                   : Sampling::Linear;
  s.align = integer("align_corners", 0);
  s.rank = rank;
  for (int64_t d = rank - 1, step = 1; d >= 0; step *= s.size[d], --d) {
    s.size[d] = x.dim(d + 2);
    s.step[d] = step;
  }
  const int64_t points = shape.product(2, shape.rank), channels = x.dim(1);
  const int64_t plane = x.dims().product(2, x.rank());
  const double *at = numbersOf<double>(*this, grid);
  if (!at)
    return;
  const int64_t bytes = bitsOf(x.dtype()) / 8, images = shape[0];
  /// Calls sample(image, point, taps) for all points.
  auto forEachPoint = [&](auto sample) {
    parallelIf(*this, images * points, channels * 30, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        sample(i / points, i % points, s.tapsOf(at + i * rank));
    });
  };
  if (s.sampling == Sampling::Nearest && bytes > 0)
    return forEachPoint([&](int64_t image, int64_t point, const Taps &taps) {
      for (int64_t channel = image * channels; channel < (image + 1) * channels; ++channel) {
        char *to = out + (channel * points + point) * bytes;
        if (taps.count)
          copyBytes(to, x.bytes() + (channel * plane + taps.offsets[0]) * bytes, bytes);
        else
          __builtin_memset(to, 0, uint64_t(bytes));
      }
    });
  auto interpolate = [&]<typename R>(R *results, const auto *data) {
    forEachPoint([&](int64_t image, int64_t point, const Taps &taps) {
      for (int64_t channel = image * channels; channel < (image + 1) * channels; ++channel) {
        double sum = 0;
        for (int64_t t = 0; t < taps.count; ++t)
          sum += taps.weights[t] * double(data[channel * plane + taps.offsets[t]]);
        results[channel * points + point] = R(sum);
      }
    });
  };
  if (x.dtype() == F32)
    return interpolate(reinterpret_cast<float *>(out), x.as<float>());
  const double *data = numbersOf<double>(*this, x);
  double *values = data ? scratch<double>(shape.product()) : nullptr;
  if (!values)
    return;
  interpolate(values, data);
  storeEach(*this, out, x.dtype(), shape.product(), [&](int64_t i) { return values[i]; });
}

ATC_KERNEL(AffineGrid) {
  const Tensor theta = in(0), size = in(1);
  if (!size.known())
    return;
  const int64_t rank = size.count() - 2;
  if (rank < 2 || rank > 3 || theta.rank() != 3 || theta.dim(1) != rank ||
      theta.dim(2) != rank + 1 || theta.dim(0) != integerAt(size, 0))
    return fail("a size of % numbers, theta of rank %", size.count(), theta.rank());
  Dims shape(theta.dim(0));
  for (int64_t d = 0; d < rank; ++d)
    shape.push(integerAt(size, d + 2));
  shape.push(rank);
  char *out = make(0, theta.dtype(), shape);
  const int64_t count = shape.product();
  if (!out || count == 0)
    return;
  const double *by = numbersOf<double>(*this, theta);
  if (!by)
    return;
  const bool align = integer("align_corners", 0);
  double *values = scratch<double>(count);
  if (!values)
    return;
  auto coordinate = [&](int64_t d, int64_t at) {
    const int64_t n = shape[d + 1];
    return align ? (n > 1 ? -1 + 2 * double(at) / double(n - 1) : 0)
                 : (2 * double(at) + 1) / double(n) - 1;
  };
  // Lines of points along x.
  const int64_t width = shape[rank], lines = shape.product(1, uint32_t(rank));
  double *xs = scratch<double>(width);
  if (!xs)
    return;
  for (int64_t i = 0; i < width; ++i)
    xs[i] = coordinate(rank - 1, i);
  parallelIf(*this, shape[0] * lines, width * rank, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      // The coordinates of a line in the order y, z.
      double fixed[2] = {};
      for (int64_t d = rank - 2, rest = line % lines; d >= 0; rest /= shape[d + 1], --d)
        fixed[rank - 2 - d] = coordinate(d, rest % shape[d + 1]);
      for (int64_t r = 0; r < rank; ++r) {
        const double *row = by + (line / lines * rank + r) * (rank + 1);
        double *to = values + line * width * rank + r;
        for (int64_t i = 0; i < width; ++i) {
          double sum = row[rank] + row[0] * xs[i];
          for (int64_t d = 1; d < rank; ++d)
            sum += row[d] * fixed[d - 1];
          to[i * rank] = sum;
        }
      }
    }
  });
  storeEach(*this, out, theta.dtype(), count, [&](int64_t i) { return values[i]; });
}

} // namespace atc::kernels
