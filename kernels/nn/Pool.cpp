//===-- Pool.cpp - pools of windows ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Window.h"

namespace atc::kernels {

namespace {
struct PoolPlan {
  Window window;
  int64_t planes = 0, inSize = 0, outSize = 0;
  Dims result;
  bool find(Context &c, Tensor x, bool channelsLast = false) {
    if (x.rank() < 3)
      return c.fail("data of rank %", x.rank()), false;
    const Dims dims = x.dims();
    const int64_t channels = dims[channelsLast ? dims.rank - 1 : 1];
    const List<int64_t> sizes = c.integers("kernel_shape");
    if (sizes.size != int64_t(dims.rank) - 2)
      return c.fail("kernel_shape has % numbers for data of rank %", sizes.size, dims.rank), false;
    if (!window.read(c, Dims(dims.at + (channelsLast ? 1 : 2), dims.rank - 2),
                     Dims(sizes.data, uint32_t(sizes.size))) ||
        !window.place(c, c.integer("ceil_mode", 0)))
      return false;
    result = Dims(dims[0]);
    if (!channelsLast)
      result.push(channels);
    for (int64_t d = 0; d < window.rank(); ++d)
      if (window.before[d] > window.extent(d) || window.after[d] > window.extent(d))
        return c.fail("pads of % and % reach far past windows of %", window.before[d],
                      window.after[d], window.extent(d)),
               false;
    for (int64_t d = 0; d < window.rank(); ++d)
      result.push(window.out[d]);
    if (channelsLast)
      result.push(channels);
    planes = dims[0] * channels;
    inSize = window.in.product();
    outSize = window.out.product();
    return true;
  }
  /// Returns the work of `outputs` windows: of taps that read nothing there may be any number.
  int64_t work(int64_t outputs) const {
    int64_t product;
    return __builtin_mul_overflow(outputs, minimum(window.taps(), inSize), &product) ? INT64_MAX
                                                                                     : product;
  }
  /// The memory of the result, null where the kernel is to return.
  char *start(Context &c, Tensor x, bool channelsLast = false) {
    return find(c, x, channelsLast) ? c.make(0, x.dtype(), result) : nullptr;
  }
};

/// Returns whether windows pass the last of three dims through in whole vectors, as those of images
/// in blocks of channels do.
bool keepsVectors(const Window &w) {
  return w.rank() == 3 && w.kernel[2] == 1 && w.stride[2] == 1 && w.before[2] == 0 &&
         w.in[2] == w.out[2] && w.in[2] % 16 == 0;
}

/// The 16 elements that poolVectors() accumulates.
template <typename F> struct Lanes16 {
  typedef F Vec __attribute__((vector_size(16 * sizeof(F))));
  typedef F Loose __attribute__((vector_size(16 * sizeof(F)), aligned(sizeof(F)), may_alias));
};

/// Whether a step combines vectors. A loop over the elements would keep them in memory, and each
/// tap would wait for the store of the one before.
template <typename F, typename Step>
concept StepsVectors = (__is_same(F, float) || sizeof(F) == 1) &&
                       requires(Step step, typename Lanes16<F>::Vec a) { a = step(a, a); };

/// The windows that poolNeighbours() computes at a time: the steps of one wait for each other.
constexpr int64_t kNeighbours = 4;

/// Computes kNeighbours windows next to each other with all taps of their rows [firstRow, lastRow);
/// `window` is the first tap of the first one.
template <typename F, typename Step>
void poolNeighbours(F *to, const F *window, const Window &w, int64_t firstRow, int64_t lastRow,
                    F start, Step step) {
  using Vec = typename Lanes16<F>::Vec;
  using Loose = typename Lanes16<F>::Loose;
  const int64_t lanes = w.in[2], rowStep = w.dilation[0] * w.in[1] * lanes;
  const int64_t tapStep = w.dilation[1] * lanes, next = w.stride[1] * lanes;
  for (int64_t lane = 0; lane < lanes; lane += 16) {
    Vec values[kNeighbours];
#pragma clang loop unroll(full)
    for (int p = 0; p < kNeighbours; ++p)
      values[p] = Vec{} + start;
    for (int64_t i = firstRow; i < lastRow; ++i)
      for (int64_t j = 0; j < w.kernel[1]; ++j) {
        const F *x = window + i * rowStep + j * tapStep + lane;
#pragma clang loop unroll(full)
        for (int p = 0; p < kNeighbours; ++p)
          values[p] = step(values[p], Vec(*reinterpret_cast<const Loose *>(x + p * next)));
      }
#pragma clang loop unroll(full)
    for (int p = 0; p < kNeighbours; ++p)
      *reinterpret_cast<Loose *>(to + p * lanes + lane) = values[p];
  }
}

/// Computes a plane of which keepsVectors() holds, with the accumulators in registers.
template <typename F, typename Step>
void poolVectors(F *to, const F *from, const Window &w, F start, Step step) {
  constexpr int64_t width = 16;
  const int64_t lanes = w.in[2], rowStep = w.dilation[0] * w.in[1] * lanes;
  for (int64_t row = 0; row < w.out[0]; ++row) {
    int64_t firstRow, lastRow;
    w.tapRange(0, row, 0, w.in[0], firstRow, lastRow);
    const F *rows = from + (row * w.stride[0] - w.before[0]) * w.in[1] * lanes;
    for (int64_t column = 0; column < w.out[1]; ++column) {
      const int64_t left = column * w.stride[1] - w.before[1];
      const F *window = rows + left * lanes;
      if constexpr (StepsVectors<F, Step>)
        if (left >= 0 && column + kNeighbours <= w.out[1] &&
            left + (kNeighbours - 1) * w.stride[1] + w.extent(1) <= w.in[1]) {
          poolNeighbours(to, window, w, firstRow, lastRow, start, step);
          column += kNeighbours - 1;
          to += kNeighbours * lanes;
          continue;
        }
      int64_t first, last;
      w.tapRange(1, column, 0, w.in[1], first, last);
      for (int64_t lane = 0; lane < lanes; lane += width, to += width) {
        if constexpr (StepsVectors<F, Step>) {
          using Vec = typename Lanes16<F>::Vec;
          using Loose = typename Lanes16<F>::Loose;
          Vec values = Vec{} + start;
          for (int64_t i = firstRow; i < lastRow; ++i)
            for (int64_t j = first; j < last; ++j)
              values = step(values, Vec(*reinterpret_cast<const Loose *>(
                                        window + i * rowStep + j * w.dilation[1] * lanes + lane)));
          *reinterpret_cast<Loose *>(to) = values;
          continue;
        }
        F values[width];
        for (int64_t l = 0; l < width; ++l)
          values[l] = start;
        for (int64_t i = firstRow; i < lastRow; ++i)
          for (int64_t j = first; j < last; ++j) {
            const F *x = window + i * rowStep + j * w.dilation[1] * lanes + lane;
            for (int64_t l = 0; l < width; ++l)
              values[l] = step(values[l], x[l]);
          }
        for (int64_t l = 0; l < width; ++l)
          to[l] = values[l];
      }
    }
  }
}

/// y[out] = step(y[out], x[in]) over all taps, from `start` on; finish(out plane).
template <typename F, typename Step, typename Finish>
void pool(Context &c, F *y, const F *x, const PoolPlan &p, F start, Step step, Finish finish) {
  const int64_t stride = p.window.stride[p.window.rank() - 1];
  parallelIf(c, p.planes, p.work(p.outSize), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      F *to = y + plane * p.outSize;
      const F *from = x + plane * p.inSize;
      if (keepsVectors(p.window)) {
        poolVectors(to, from, p.window, start, step);
        finish(to);
        continue;
      }
      for (int64_t i = 0; i < p.outSize; ++i)
        to[i] = start;
      p.window.forEachRow(0, p.window.rows(), [&](int64_t, int64_t out, int64_t in, int64_t n) {
        if (stride == 1)
          for (int64_t i = 0; i < n; ++i)
            to[out + i] = step(to[out + i], from[in + i]);
        else
          for (int64_t i = 0; i < n; ++i)
            to[out + i] = step(to[out + i], from[in + i * stride]);
      });
      finish(to);
    }
  });
}

/// Computes the indices of the maxima in a plane.
template <typename F>
void maxIndices(Context &c, F *y, int64_t *indices, const F *x, const PoolPlan &p) {
  const int64_t stride = p.window.stride[p.window.rank() - 1];
  parallelIf(c, p.planes, p.work(p.outSize), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      F *to = y + plane * p.outSize;
      int64_t *at = indices + plane * p.outSize;
      const F *from = x + plane * p.inSize;
      for (int64_t i = 0; i < p.outSize; ++i) {
        to[i] = lowest<F>();
        at[i] = -1;
      }
      p.window.forEachRow(0, p.window.rows(), [&](int64_t, int64_t out, int64_t in, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const F value = from[in + i * stride];
          // The first NaN stays.
          if (at[out + i] < 0 || (!isNan(to[out + i]) && !(value <= to[out + i]))) {
            to[out + i] = value;
            at[out + i] = in + i * stride;
          }
        }
      });
    }
  });
}
} // namespace

ATC_KERNEL(MaxPool) {
  const Tensor x = in(0);
  PoolPlan p;
  char *out = p.start(*this, x);
  if (!out)
    return;
  int64_t *indices = nullptr;
  if (wants(1) && !(indices = make<int64_t>(1, I64, p.result)))
    return;
  auto compute = [&]<typename F>(F *y, const F *data) {
    if (indices)
      maxIndices(*this, y, indices, data, p);
    else
      pool<F>(
          *this, y, data, p, lowest<F>(),
          // A NaN stays, as in generated code of fixed shapes.
          [](auto a, auto b) __attribute__((always_inline)) { return maxOrNan(a, b); }, [](F *) {});
    return true;
  };
  if (!dispatchNumbers(x.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        computeWide<T>(*this, out, p.result.product(), compute, x);
      }))
    return failType(x.dtype());
  if (!indices)
    return;
  // As indices into the whole tensor; with storage_order 1, the first spatial dim is the fastest.
  const bool columns = integer("storage_order", 0) == 1;
  for (int64_t i = 0, count = p.result.product(); i < count; ++i) {
    int64_t at = maximum(indices[i], int64_t(0));
    if (columns && p.inSize) {
      Dims position = p.window.in;
      for (int64_t d = p.window.rank() - 1; d >= 0; at /= p.window.in[d], --d)
        position[d] = at % p.window.in[d];
      at = 0;
      for (int64_t d = p.window.rank() - 1; d >= 0; --d)
        at = at * p.window.in[d] + position[d];
    }
    indices[i] = i / p.outSize * p.inSize + at;
  }
}

/// The operator of com.microsoft for integers: the channels are the last dim.
ATC_KERNEL(NhwcMaxPool) {
  const Tensor x = in(0);
  PoolPlan p;
  char *out = p.start(*this, x, /*channelsLast=*/true);
  if (!out)
    return;
  const int64_t channels = x.dim(x.rank() - 1), rows = p.window.rows(),
                stride = p.window.stride[p.window.rank() - 1];
  auto run = [&](auto *y, const auto *data) {
    using T = __remove_reference_t(decltype(*y));
    const int64_t rowSize = rows ? p.outSize / rows * channels : 0;
    parallelIf(*this, x.dim(0) * rows, p.work(rowSize), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T *image = y + row / rows * p.outSize * channels;
        const T *from = data + row / rows * p.inSize * channels;
        for (int64_t i = 0; i < rowSize; ++i)
          image[row % rows * rowSize + i] = lowest<T>();
        p.window.forEachRow(row % rows, row % rows + 1,
                            [&](int64_t, int64_t o, int64_t at, int64_t n) {
                              for (int64_t i = 0; i < n; ++i)
                                for (int64_t c = 0; c < channels; ++c) {
                                  T &max = image[(o + i) * channels + c];
                                  max = maximum(max, from[(at + i * stride) * channels + c]);
                                }
                            });
      }
    });
  };
  if (x.dtype() == U8)
    run(reinterpret_cast<uint8_t *>(out), x.as<uint8_t>());
  else if (x.dtype() == I8)
    run(reinterpret_cast<int8_t *>(out), x.as<int8_t>());
  else
    failType(x.dtype());
}

ATC_KERNEL(AveragePool) {
  const Tensor x = in(0);
  PoolPlan p;
  char *out = p.start(*this, x);
  if (!out || p.result.product() == 0)
    return;
  const bool withPads = integer("count_include_pad", 0);
  const Window &w = p.window;
  int64_t *counts = scratch<int64_t>(p.outSize);
  if (!counts)
    return;
  for (int64_t i = 0; i < p.outSize; ++i) {
    counts[i] = 1;
    for (int64_t d = w.rank() - 1, rest = i; d >= 0; rest /= w.out[d], --d) {
      int64_t first, last;
      w.tapRange(d, rest % w.out[d], withPads ? -w.before[d] : 0,
                 withPads ? w.in[d] + w.after[d] : w.in[d], first, last);
      // Pads may count, far more of them than there are elements.
      if (__builtin_mul_overflow(counts[i], last - first, &counts[i]))
        counts[i] = INT64_MAX;
    }
  }
  auto compute = [&]<typename F>(F *y, const F *data) {
    pool<F>(
        *this, y, data, p, F(0),
        [](auto a, auto b) __attribute__((always_inline)) { return a + b; },
        [&](F *plane) {
          for (int64_t i = 0; i < p.outSize; ++i)
            plane[i] = counts[i] ? plane[i] / F(counts[i]) : F(0);
        });
    return true;
  };
  computeFloats(*this, out, p.result.product(), compute, x);
}

ATC_KERNEL(LpPool) {
  const Tensor x = in(0);
  PoolPlan p;
  char *out = p.start(*this, x);
  if (!out)
    return;
  const double power = double(integer("p", 2));
  auto compute = [&]<typename F>(F *y, const F *data) {
    if (power == 2)
      pool<F>(
          *this, y, data, p, F(0), [](F a, F b) { return a + b * b; },
          [&](F *plane) {
            for (int64_t i = 0; i < p.outSize; ++i)
              plane[i] = F(math::sqrt(double(plane[i])));
          });
    else
      pool<F>(
          *this, y, data, p, F(0),
          [&](F a, F b) { return a + F(math::pow(math::abs(double(b)), power)); },
          [&](F *plane) {
            for (int64_t i = 0; i < p.outSize; ++i)
              plane[i] = F(math::pow(double(plane[i]), 1 / power));
          });
    return true;
  };
  computeFloats(*this, out, p.result.product(), compute, x);
}

ATC_KERNEL(MaxUnpool) {
  const Tensor x = in(0), indices = in(1), wanted = in(2);
  const List<int64_t> sizes = integers("kernel_shape");
  Window w;
  const Dims dims = x.dims();
  if (dims.rank < 3 || sizes.size != int64_t(dims.rank) - 2 || !(indices.dims() == dims))
    return fail("data of rank %, kernel_shape of % numbers", dims.rank, sizes.size);
  const uint32_t spatial = dims.rank - 2;
  if (!w.read(*this, Dims(dims.at + 2, spatial), Dims(sizes.data, spatial)))
    return;
  Dims pooled(dims[0], dims[1]);
  for (int64_t d = 0; d < spatial; ++d)
    pooled.push(
        maximum(int64_t(0), (w.in[d] - 1) * w.stride[d] - w.before[d] - w.after[d] + w.kernel[d]));
  Dims shape = pooled;
  if (wanted) {
    if (!wanted.known())
      return;
    if (wanted.count() != dims.rank)
      return fail("output_shape has % numbers for rank %", wanted.count(), dims.rank);
    for (int64_t d = 0; d < dims.rank; ++d) {
      shape[d] = wanted.as<int64_t>()[d];
      if (shape[d] < pooled[d])
        return fail("output_shape has % where the windows give %", shape[d], pooled[d]);
    }
  }
  char *out = make(0, x.dtype(), shape);
  if (!out)
    return;
  __builtin_memset(out, 0, uint64_t(bytesOf(x.dtype(), shape.product())));
  const Dims steps = stridesOf(shape);
  const int64_t limit = pooled.product();
  bool fits = true;
  bool done = dispatchSizes(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    for (int64_t i = 0, count = x.count(); i < count; ++i) {
      // Converts an index under the dims that the windows yield.
      int64_t at = indices.as<int64_t>()[i], to = 0;
      if (at < 0 || at >= limit) {
        if (fits)
          fail("index % is not one of % elements", at, limit);
        fits = false;
        return;
      }
      for (int64_t d = pooled.rank - 1; d >= 0; at /= pooled[d], --d)
        to += at % pooled[d] * steps[d];
      reinterpret_cast<T *>(out)[to] = x.as<T>()[i];
    }
  });
  if (!done)
    failType(x.dtype());
}

} // namespace atc::kernels
