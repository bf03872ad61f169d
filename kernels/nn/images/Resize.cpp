//===-- Resize.cpp - Resize and Upsample ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every mode is separable: along an axis, each result is a weighted sum of a few inputs. So axes
// are processed one after the other.

#include "kernels/core/Math.h"
#include "kernels/core/ResizeMode.h"
#include "kernels/nn/Quantize.h"
#include "kernels/nn/images/AxisSums.h"

namespace atc::kernels {

namespace {
using Coordinates = ResizeMode::Coordinates;
using Method = ResizeMode::Method;
using Rounding = ResizeMode::Rounding;

/// Returns the size of a scaled dim, computed in f32 as in the specification: 10 * 0.7f is 7.
double scaledSize(int64_t dim, double scale) {
  return math::floor(double(float(dim) * float(scale)));
}

/// An axis of a resize: result i is the sum of weights[i * taps + t] * input[indices[i * taps + t]]
/// for t < used[i].
struct Axis {
  int64_t in = 1, out = 1, taps = 1;
  double scale = 1, start = 0, end = 1; ///< start and end: of the region of interest
  bool resized = false;
  bool bySize = false; ///< the size was given, and the scale follows from it
  int64_t *indices = nullptr, *used = nullptr;
  double *weights = nullptr;
  uint8_t *outside = nullptr; ///< results beyond the input, where that matters
};

struct Resizer : ResizeMode {
  bool antialias = false;
  Axis axes[host::kMaxRank];
  Dims result;

  /// Returns the position in the input of result `i` along an axis, computed in type Real.
  template <typename Real> Real source(const Axis &a, int64_t i) const {
    const Real x = Real(i), in = Real(a.in), out = Real(a.out), scale = Real(a.scale);
    const Real half = Real(0.5), start = Real(a.start), end = Real(a.end);
    switch (coordinates) {
    case Coordinates::HalfPixel:
      return (x + half) / scale - half;
    case Coordinates::HalfPixelSymmetric: {
      const Real adjustment = out / (scale * in);
      return in / 2 * (1 - adjustment) + (x + half) / scale - half;
    }
    case Coordinates::PytorchHalfPixel:
      return a.out > 1 ? (x + half) / scale - half : 0;
    case Coordinates::AlignCorners: {
      const Real width = a.bySize || hasWholeLengths ? out : scale * in;
      return width == 1 ? 0 : x * (in - 1) / (width - 1);
    }
    case Coordinates::Asymmetric:
      return x / scale;
    case Coordinates::TfHalfPixelForNn:
      return (x + half) / scale;
    case Coordinates::TfCropAndResize:
      return a.out > 1 ? start * (in - 1) + x * (end - start) * (in - 1) / (out - 1)
                       : half * (start + end) * (in - 1);
    }
    return 0;
  }
  double position(const Axis &a, int64_t i) const {
    if (!a.resized)
      return double(i);
    return hasSinglePositions() ? double(source<float>(a, i)) : source<double>(a, i);
  }
  double nearest(double x) const {
    switch (rounding) {
    case Rounding::PreferFloor:
      return math::ceil(x - 0.5);
    case Rounding::PreferCeil:
      return math::floor(x + 0.5);
    case Rounding::Floor:
      return math::floor(x);
    case Rounding::Ceil:
      return math::ceil(x);
    }
    return x;
  }
  double weight(double distance) const {
    const double x = math::abs(distance), a = cubic;
    if (method == Method::Linear)
      return x < 1 ? 1 - x : 0;
    if (x <= 1)
      return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }

  /// The tables of an axis. False where there is no memory.
  bool prepare(Context &c, Axis &a) const {
    // When shrinking, antialiasing uses all inputs of a result.
    const double shrink = antialias && a.scale < 1 ? a.scale : 1;
    const double support = method == Method::Cubic ? 2 : 1;
    int64_t first = 0;
    a.taps = 1;
    if (method != Method::Nearest) {
      first = int64_t(math::floor(-support / shrink)) + 1;
      a.taps = 2 - 2 * first;
    }
    a.indices = c.scratch<int64_t>(maximum(a.out * a.taps, int64_t(1)));
    a.weights = c.scratch<double>(maximum(a.out * a.taps, int64_t(1)));
    a.used = c.scratch<int64_t>(maximum(a.out, int64_t(1)));
    a.outside = c.scratch<uint8_t>(maximum(a.out, int64_t(1)));
    if (!a.indices || !a.weights || !a.used || !a.outside)
      return false;
    const double max = double(a.in - 1);
    for (int64_t i = 0; i < a.out; ++i) {
      double x = position(a, i);
      a.outside[i] = a.resized && (x < 0 || x > max);
      // Positions far outside the input are equivalent; NaN is mapped to one of them.
      x = x > -4 * double(a.taps) ? x : -4 * double(a.taps);
      x = minimum(x, max + 4 * double(a.taps));
      int64_t *index = a.indices + i * a.taps;
      double *weights = a.weights + i * a.taps, sum = 0;
      if (method == Method::Nearest) {
        weights[0] = 1;
        a.used[i] = 1;
        index[0] = int64_t(minimum(maximum(nearest(x), 0.0), max));
        continue;
      }
      const double whole = math::floor(x);
      for (int64_t t = 0; t < a.taps; ++t) {
        const int64_t at = int64_t(whole) + first + t;
        const bool exists = at >= 0 && at < a.in;
        index[t] = minimum(maximum(at, int64_t(0)), a.in - 1);
        weights[t] = excludeOutside && !exists ? 0 : weight((double(at) - x) * shrink);
        sum += weights[t];
      }
      if (excludeOutside || shrink != 1)
        for (int64_t t = 0; t < a.taps && sum != 0; ++t)
          weights[t] /= sum;
      // What has no weight may be infinite.
      int64_t used = 0;
      for (int64_t t = 0; t < a.taps; ++t)
        if (weights[t] != 0) {
          index[used] = index[t];
          weights[used++] = weights[t];
        }
      a.used[i] = used;
    }
    return true;
  }

  /// Returns whether there is something to resize, if the result is not empty; fails the call where
  /// there is not.
  bool hasInputs(Context &c) const {
    for (int64_t d = 0; d < int64_t(result.rank); ++d)
      if (axes[d].in == 0 && result.product())
        return c.fail("dim % is empty", d), false;
    return true;
  }

  void run(Context &c, Tensor x, char *out) {
    const int64_t rank = x.rank(), count = result.product();
    for (int64_t d = 0; d < rank; ++d)
      if (!prepare(c, axes[d]))
        return;
    if (method == Method::Nearest)
      gather(c, x, out);
    else if (isBetweenIntegers(x))
      (void)dispatchIntegers(x.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        interpolateIntegers(c, x.as<T>(), reinterpret_cast<T *>(out));
      });
    else if (x.dtype() == F32 || x.dtype() == F16 || x.dtype() == BF16)
      interpolate<float>(c, x, out);
    else
      interpolate<double>(c, x, out);
    if (coordinates != Coordinates::TfCropAndResize)
      return;
    for (int64_t i = 0; i < count; ++i) {
      bool outside = false;
      for (int64_t d = rank - 1, rest = i; d >= 0; rest /= result[d], --d)
        outside |= axes[d].outside[rest % result[d]] != 0;
      if (outside)
        storeRounded(out, x.dtype(), i, &extrapolation, 1);
    }
  }

private:
  /// Copies `bytes` bytes; lines of a cache, of which images in blocks of channels consist, without
  /// the cost of a general copy.
  static void copyRun(char *to, const char *from, int64_t bytes) {
    constexpr int64_t line = 64;
    if (bytes % line)
      return copyBytes(to, from, bytes);
    for (int64_t i = 0; i < bytes; i += line)
      __builtin_memcpy(to + i, from + i, line);
  }

  /// Writes each element twice, but for the last one of an odd row.
  template <typename T> static void doubleRow(T *to, const T *from, int64_t columns) {
    int64_t done = 0;
    if constexpr (__is_integral(T)) {
      constexpr int64_t width = 16;
      typedef T Vec __attribute__((vector_size(width * sizeof(T)), aligned(sizeof(T)), may_alias));
      auto doubleVector = [&](int64_t at) {
        const Vec row = *reinterpret_cast<const Vec *>(from + at);
        Vec *both = reinterpret_cast<Vec *>(to + 2 * at);
        both[0] = __builtin_shufflevector(row, row, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        both[1] = __builtin_shufflevector(row, row, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14,
                                          14, 15, 15);
      };
      for (; 2 * (done + width) <= columns; done += width)
        doubleVector(done);
      // The last vector overlaps the one before.
      if (done && 2 * done + 1 < columns) {
        doubleVector(columns / 2 - width);
        done = columns / 2;
      }
    }
    for (; done < columns / 2; ++done)
      to[2 * done] = to[2 * done + 1] = from[done];
    if (columns % 2)
      to[columns - 1] = from[columns / 2];
  }

  /// Copies elements: those behind the last resized dim together.
  void gather(Context &c, Tensor x, char *out) const {
    const int64_t rank = x.rank();
    int64_t last = rank - 1; // the last resized dim
    while (last > 0 && !axes[last].resized)
      --last;
    const int64_t columns = rank ? result[last] : 1;
    const int64_t run = rank ? result.product(uint32_t(last) + 1, uint32_t(rank)) : 1;
    const Dims steps = stridesOf(x.dims());
    bool isDoubled = rank && run == 1;
    for (int64_t i = 0; isDoubled && i < columns; ++i)
      isDoubled = axes[last].indices[i] == axes[last].indices[0] + i / 2;
    const bool done = dispatchSizes(x.dtype(), [&](auto type) {
      using T = typename decltype(type)::Type;
      auto copyRow = [&, columns, run](T *to, const T *from) {
        if (!rank)
          to[0] = from[0];
        else if (isDoubled)
          doubleRow(to, from + axes[last].indices[0], columns);
        else if (run == 1)
          for (int64_t i = 0; i < columns; ++i)
            to[i] = from[axes[last].indices[i]];
        else
          for (int64_t i = 0; i < columns; ++i)
            copyRun(reinterpret_cast<char *>(to + i * run),
                    reinterpret_cast<const char *>(from + axes[last].indices[i] * run),
                    run * int64_t(sizeof(T)));
      };
      const int64_t width = columns * run;
      parallelIf(c, result.product() / width, width, [&](int64_t begin, int64_t end) {
        // Counts up: divisions take as long as copying a short row.
        Dims at = result;
        for (int64_t d = last - 1, rest = begin; d >= 0; rest /= result[d], --d)
          at[d] = rest % result[d];
        int64_t before = -1, plane = 0;
        auto findPlane = [&] {
          plane = 0;
          for (int64_t d = 0; d < last - 1; ++d)
            plane += axes[d].indices[at[d]] * steps[d];
        };
        findPlane();
        for (int64_t row = begin; row < end; ++row) {
          const int64_t offset =
              last > 0 ? plane + axes[last - 1].indices[at[last - 1]] * steps[last - 1] : 0;
          T *to = reinterpret_cast<T *>(out) + row * width;
          // A row that has just been written cannot be read yet.
          if (offset == before && !isDoubled)
            copyBytes(to, to - width, width * int64_t(sizeof(T)));
          else
            copyRow(to, x.as<T>() + offset);
          before = offset;
          if (last <= 0 || ++at[last - 1] < result[last - 1])
            continue;
          at[last - 1] = 0;
          for (int64_t d = last - 2; d >= 0 && ++at[d] == result[d]; --d)
            at[d] = 0;
          findPlane();
        }
      });
    });
    if (!done)
      c.failType(x.dtype());
  }

  /// The neighbors of each result of interpolateIntegers() along an axis, and their weights: [taps,
  /// out].
  struct Neighbors {
    int64_t *indices = nullptr;
    float *weights = nullptr;
    int64_t taps = 1;
  };

  static constexpr int64_t kExact = 1 << 24; ///< f32 holds the integers up to here
  static constexpr int64_t kMaxResized = 3;  ///< axes of volumes

  /// Returns whether integers are interpolated as the source format's runtimes do it, in f32.
  bool isBetweenIntegers(Tensor x) const {
    if (method != Method::Linear || antialias)
      return false;
    int64_t resized = 0;
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (axes[d].resized && maximum(axes[d].in, axes[d].out) > kExact)
        return false;
      resized += axes[d].resized;
    }
    if (!resized || resized > kMaxResized)
      return false;
    bool exact = true;
    return dispatchIntegers(x.dtype(),
                            [&](auto type) {
                              using T = typename decltype(type)::Type;
                              if constexpr (sizeof(T) > 2)
                                for (int64_t i = 0; i < x.count(); ++i) {
                                  const T value = x.as<T>()[i];
                                  exact &=
                                      value <= T(kExact) && (T(-1) > T(0) || value >= T(-kExact));
                                }
                            }) &&
           exact;
  }

  /// Finds the neighbors along an axis. False where there is no memory.
  bool find(Context &c, const Axis &a, Neighbors &found) const {
    found.taps = a.resized ? 2 : 1;
    found.indices = c.scratch<int64_t>(maximum(found.taps * a.out, int64_t(1)));
    found.weights = c.scratch<float>(maximum(found.taps * a.out, int64_t(1)));
    if (!found.indices || !found.weights)
      return false;
    for (int64_t i = 0; i < a.out; ++i) {
      found.indices[i] = i;
      found.weights[i] = 1;
      if (!a.resized)
        continue;
      float x = source<float>(a, i);
      x = x > 0 ? minimum(x, float(a.in - 1)) : 0;
      const int64_t low = int64_t(x), high = minimum(low + 1, a.in - 1);
      // The last element is its own neighbor.
      found.indices[i] = low;
      found.indices[a.out + i] = high;
      found.weights[i] = low == high ? 0.5f : float(high) - x;
      found.weights[a.out + i] = low == high ? 0.5f : x - float(low);
    }
    return true;
  }

  /// Interpolates integers, which lose their fractions: where a sum should be whole, its rounding
  /// decides. So the order of its terms and of the factors of each is that of the source format's
  /// runtimes, and terms are rounded: products in a loop of their own are not fused with the sums.
  template <typename T> void interpolateIntegers(Context &c, const T *x, T *out) const {
    const int64_t last = result.rank - 1, width = result[last];
    Dims dims;
    Neighbors along[host::kMaxRank];
    for (int64_t d = 0; d <= last; ++d) {
      dims.push(axes[d].in);
      if (!find(c, axes[d], along[d]))
        return;
    }
    const Dims steps = stridesOf(dims);
    parallelIf(c, result.product() / width, 8 * width, [&](int64_t begin, int64_t end) {
      float *sums = c.scratch<float>(width), *terms = c.scratch<float>(width);
      for (int64_t row = begin; row < end && sums && terms; ++row) {
        // The corners around the row, and the factors of their weights, which begin with those of
        // the innermost axis.
        int64_t corners = 1, factors = 0, offsets[1 << kMaxResized] = {};
        float weights[kMaxResized][1 << kMaxResized];
        for (int64_t d = last - 1, rest = row; d >= 0; rest /= result[d], --d) {
          const int64_t i = rest % result[d];
          const int64_t near = along[d].indices[i] * steps[d];
          const bool isResized = along[d].taps == 2;
          const int64_t far = isResized ? along[d].indices[result[d] + i] * steps[d] : 0;
          for (int64_t k = 0; k < corners; ++k) {
            for (int64_t f = 0; f < factors && isResized; ++f)
              weights[f][corners + k] = weights[f][k];
            if (isResized) {
              offsets[corners + k] = offsets[k] + far;
              weights[factors][k] = along[d].weights[i];
              weights[factors][corners + k] = along[d].weights[result[d] + i];
            }
            offsets[k] += near;
          }
          factors += isResized;
          corners *= along[d].taps;
        }
        for (; factors < kMaxResized; ++factors)
          for (float &weight : weights[factors])
            weight = 1;
        __builtin_memset(sums, 0, uint64_t(width) * sizeof(float));
        for (int64_t k = 0; k < corners; ++k)
          for (int64_t t = 0; t < along[last].taps; ++t) {
            const int64_t *indices = along[last].indices + t * width;
            const float *own = along[last].weights + t * width;
            for (int64_t j = 0; j < width; ++j)
              terms[j] = own[j] * weights[0][k] * weights[1][k] * weights[2][k] *
                         float(x[offsets[k] + indices[j]]);
            for (int64_t j = 0; j < width; ++j)
              sums[j] += terms[j];
          }
        for (int64_t j = 0; j < width; ++j)
          out[row * width + j] = T(sums[j]);
      }
    });
  }

  /// Computes along one dim after the other, first along those that shrink.
  template <typename F> void interpolate(Context &c, Tensor x, char *out) const {
    const int64_t rank = x.rank();
    Dims shape = x.dims(), order;
    auto shrinks = [&](int64_t d) { return axes[d].out < axes[d].in; };
    for (int64_t d = 0; d < rank; ++d)
      if (axes[d].resized && shrinks(d))
        order.push(d);
    for (int64_t d = rank - 1; d >= 0; --d)
      if (axes[d].resized && !shrinks(d))
        order.push(d);
    const bool isDirect = __is_same(F, float) && x.dtype() == F32;
    const F *data = numbersOf<F>(c, x);
    for (uint32_t i = 0; i < order.rank && data; ++i) {
      const int64_t d = order[i];
      const Axis &a = axes[d];
      const int64_t outer = shape.product(0, uint32_t(d));
      const int64_t inner = shape.product(uint32_t(d) + 1, shape.rank);
      const int64_t space = spaceFor(c, outer, a.out, inner);
      if (space < 0)
        return;
      F *weights = c.scratch<F>(maximum(a.out * a.taps, int64_t(1)));
      F *next = isDirect && i + 1 == order.rank ? reinterpret_cast<F *>(out)
                                                : c.scratch<F>(maximum(space, int64_t(1)));
      if (!weights || !next)
        return;
      for (int64_t w = 0; w < a.out * a.taps; ++w)
        weights[w] = F(a.weights[w]);
      AxisSums<F>{a.in, a.out, a.taps, a.indices, a.used, weights}.run(c, next, data, outer, inner);
      data = next;
      shape[d] = a.out;
    }
    if (!data || reinterpret_cast<const char *>(data) == out)
      return;
    // Integers between two others lose their fractions, as in the source format's runtimes. These
    // have no polynomials of integers, which are rounded as in the standard, and round averages.
    const bool cuts = !isFloat(x.dtype()) && method == Method::Linear && !antialias;
    storeEach(c, out, x.dtype(), result.product(),
              [&](int64_t i) { return cuts ? math::trunc(double(data[i])) : double(data[i]); });
  }
};

constexpr double kMaxElements = 0x1p40;
} // namespace

namespace {
/// Reads what a Resize states; returns false, maybe with a failed call, where the kernel is to
/// return.
bool readResize(Context &c, Resizer &r) {
  const Tensor x = c.in(0), roi = c.in(1), scales = c.in(2), sizes = c.in(3);
  const bool byScales = scales && scales.count() > 0, bySizes = sizes && !byScales;
  if (!byScales && !bySizes)
    return c.fail("there are neither scales nor sizes"), false;
  if (byScales ? !scales.known() : !sizes.known())
    return false;
  const Dims dims = x.dims();
  static_cast<ResizeMode &>(r) = ResizeMode::read(c);
  r.antialias = c.integer("antialias", 0);
  const List<int64_t> list = c.integers("axes");
  const int64_t count = list.size ? list.size : int64_t(dims.rank);
  if ((byScales ? scales : sizes).count() != count)
    return c.fail("% scales or sizes for % axes", (byScales ? scales : sizes).count(), count),
           false;
  for (int64_t d = 0; d < dims.rank; ++d)
    r.axes[d].in = r.axes[d].out = dims[d];
  // Without stretching, one scale serves all axes.
  const bool larger = c.is("keep_aspect_ratio_policy", "stretch", "not_smaller");
  const bool smaller = c.is("keep_aspect_ratio_policy", "stretch", "not_larger");
  double common = larger ? 0 : double(__builtin_inff());
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t d = normalizeAxis(c, list.size ? list[i] : i, dims.rank);
      if (d < 0)
        return false;
      Axis &a = r.axes[d];
      const double wanted = bySizes ? double(integerAt(sizes, i)) : 0;
      a.scale = bySizes ? (dims[d] ? wanted / double(dims[d]) : 1) : numberAt(scales, i);
      if (pass == 0) {
        common = larger ? maximum(common, a.scale) : minimum(common, a.scale);
        continue;
      }
      double size = bySizes ? wanted : scaledSize(dims[d], a.scale);
      a.bySize = bySizes;
      if (bySizes && (larger || smaller)) {
        a.scale = common;
        a.bySize = false;
        size = math::floor(common * double(dims[d]) + 0.5);
      }
      if (!(a.scale > 0) || !(size >= 0) || size > kMaxElements)
        return c.fail("axis % of % cannot be resized so", d, dims[d]), false;
      a.out = int64_t(size);
      a.resized = a.scale != 1 || a.in != a.out || r.coordinates == Coordinates::TfCropAndResize ||
                  r.coordinates == Coordinates::TfHalfPixelForNn;
      if (roi && roi.known() && roi.count() == 2 * count) {
        a.start = numberAt(roi, i);
        a.end = numberAt(roi, count + i);
      }
    }
  for (int64_t d = 0; d < dims.rank; ++d)
    r.result.push(r.axes[d].out);
  return r.hasInputs(c);
}
} // namespace

ATC_KERNEL_OF_CODE(Resize) {
  Resizer r;
  if (!readResize(*this, r))
    return;
  const Tensor x = in(0);
  // Of a large image tables for all dims are faster.
  constexpr int64_t kMaxCopied = 1 << 12;
  if (r.method == Method::Nearest && r.result.product() <= kMaxCopied && hasFittingCode(*this))
    return runGenerated(*this, [](Context &c) {
      Resizer r;
      if (readResize(c, r))
        c.makeBytes(0, c.in(0).dtype(), r.result);
    });
  char *out = make(0, x.dtype(), r.result);
  if (out && r.result.product())
    r.run(*this, x, out);
}

ATC_KERNEL(Upsample) {
  const Tensor x = in(0), scales = in(1);
  if (!scales.known())
    return;
  if (scales.count() != x.rank())
    return fail("% scales for rank %", scales.count(), x.rank());
  Resizer r;
  static_cast<ResizeMode &>(r) = ResizeMode::readUpsample(*this);
  for (int64_t d = 0; d < x.rank(); ++d) {
    Axis &a = r.axes[d];
    a.in = x.dim(d);
    a.scale = numberAt(scales, d);
    const double size = scaledSize(a.in, a.scale);
    if (!(a.scale > 0) || !(size <= kMaxElements))
      return fail("axis % of % cannot be scaled so", d, a.in);
    a.out = int64_t(size);
    a.resized = a.scale != 1;
    r.result.push(a.out);
  }
  if (!r.hasInputs(*this))
    return;
  char *out = make(0, x.dtype(), r.result);
  if (out && r.result.product())
    r.run(*this, x, out);
}

} // namespace atc::kernels
