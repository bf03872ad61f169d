//===-- QuantizedArithmetic.cpp - com.microsoft: arithmetic on quantized tensors -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Broadcast.h"
#include "kernels/core/ByteTable.h"
#include "kernels/core/Math.h"
#include "kernels/nn/Quantize.h"
#include "kernels/nn/Window.h"

namespace atc::kernels {

namespace {

/// The scale and zero point of a whole tensor.
struct Quantum {
  double scale = 1, zero = 0;
  bool read(Context &c, uint32_t scaleInput, uint32_t zeroInput) {
    const Tensor scales = c.in(scaleInput), zeros = c.in(zeroInput);
    if (!scales || scales.count() != 1 || (zeros && zeros.count() != 1)) {
      c.fail("inputs % and % are not one scale and one zero point", scaleInput, zeroInput);
      return false;
    }
    scale = numberAt(scales, 0);
    zero = zeros ? numberAt(zeros, 0) : 0;
    return true;
  }
  double real(Tensor tensor, int64_t i) const { return (numberAt(tensor, i) - zero) * scale; }
  double quantized(double value) const { return math::rint(value / scale) + zero; }
};

/// Returns whether `gate` has one element for each channel of an image in blocks of 16 channels.
bool isGate(const Dims &image, const Dims &gate) {
  return image.rank == 5 && gate.rank == 5 && image[4] == 16 && gate[4] == 16 && gate[2] == 1 &&
         gate[3] == 1 && image[0] == gate[0] && image[1] == gate[1];
}

/// Computes an image and its gate, of which more elements than those of a pixel are side by side.
template <typename T, typename Fn>
void mapGate(Context &c, const Dims &shape, const T *image, const T *gate, T *out, Fn &&shared) {
  constexpr int64_t lanes = 16, width = 256;
  const int64_t size = shape[2] * shape[3] * lanes;
  parallelIf(c, shape[0] * shape[1], size * 8, [&](int64_t begin, int64_t end) {
    const auto fn = shared; // A copy on the stack, which stores of bytes cannot alias.
    for (int64_t plane = begin; plane < end; ++plane) {
      T gates[width];
      for (int64_t i = 0; i < width; ++i)
        gates[i] = gate[plane * lanes + i % lanes];
      const T *from = image + plane * size;
      T *to = out + plane * size;
      int64_t done = 0;
      for (; done + width <= size; done += width)
        for (int64_t i = 0; i < width; ++i)
          to[done + i] = fn(from[done + i], gates[i]);
      for (int64_t i = 0; i < size - done; ++i)
        to[done + i] = fn(from[done + i], gates[i]);
    }
  });
}

/// Returns a product that no addition behind it takes in before it is rounded.
inline float roundedProduct(float a, float b) { return __builtin_canonicalizef(a * b); }

/// Computes f(a, b) from the inputs A, scale, zero, B, scale, zero, scale, zero: fuses
/// DequantizeLinear, the operator and QuantizeLinear in registers, each rounded as theirs: ONNX
/// Runtime's own sums of other factors round halves by architecture.
template <typename Fn> void binary(Context &c, Fn &&f) {
  const Tensor a = c.in(0), b = c.in(3);
  Dims shape = a.dims();
  if (a.dtype() != b.dtype())
    return c.fail("the operands have element types % and %", a.dtype(), b.dtype());
  if (!broadcastInto(c, shape, b.dims()))
    return;
  char *out = c.make(0, a.dtype(), shape);
  Quantum qa, qb, qc;
  if (!out || !qa.read(c, 1, 2) || !qb.read(c, 4, 5) || !qc.read(c, 6, 7))
    return;
  const float zeroA = float(qa.zero), scaleA = float(qa.scale), zeroB = float(qb.zero),
              scaleB = float(qb.scale), zeroC = float(qc.zero), scaleC = float(qc.scale);
  auto compute = [&](auto type) {
    using T = typename decltype(type)::Type;
    const auto fn = [=](T x, T y) {
      const float real =
          f(roundedProduct(float(x) - zeroA, scaleA), roundedProduct(float(y) - zeroB, scaleB));
      return saturated<T>(__builtin_rintf(real / scaleC) + zeroC);
    };
    const T *left = a.as<T>(), *right = b.as<T>();
    T *to = reinterpret_cast<T *>(out);
    if (isGate(a.dims(), b.dims()))
      return mapGate(c, shape, left, right, to, fn);
    if (isGate(b.dims(), a.dims()))
      return mapGate(c, shape, right, left, to, [=](T y, T x) { return fn(x, y); });
    mapPairs(c, broadcastSpace(shape, a.dims(), b.dims()), left, right, to, 8, fn);
  };
  if (!dispatchBytes(a.dtype(), compute))
    c.failType(a.dtype());
}

/// The results for all 256 elements that there can be: table[uint8_t(x)]. They are rounded as those
/// of DequantizeLinear, a function of floats, and QuantizeLinear.
template <typename Fn>
void fillTable(uint8_t *table, uint8_t dtype, const Quantum &from, const Quantum &to, Fn &&f) {
  double values[256];
  for (int i = 0; i < 256; ++i) {
    const int element = dtype == I8 ? int(int8_t(i)) : i;
    const float real = f(float(element - from.zero) * float(from.scale));
    values[i] = double(__builtin_rintf(real / float(to.scale))) + to.zero;
  }
  storeRounded(table, dtype, 0, values, 256);
}

/// Converts elements from one scale and zero point to others.
template <typename T>
void rescale(T *to, const T *from, int64_t count, Quantum source, Quantum target) {
  const float scale = float(source.scale), zero = float(source.zero), step = float(target.scale),
              middle = float(target.zero);
  for (int64_t i = 0; i < count; ++i)
    to[i] = saturated<T>(__builtin_rintf((float(from[i]) - zero) * scale / step) + middle);
}

/// X, scale, zero, scale, zero -> f(x).
template <typename Fn> void unary(Context &c, Fn &&f) {
  const Tensor x = c.in(0);
  char *out = c.make(0, x.dtype(), x.dims());
  Quantum from, to;
  if (!out || !from.read(c, 1, 2) || !to.read(c, 3, 4))
    return;
  if (bitsOf(x.dtype()) != 8)
    return c.failType(x.dtype());
  uint8_t table[256];
  fillTable(table, x.dtype(), from, to, f);
  lookUp(c, out, x.bytes(), x.count(), table);
}

/// Computes softmax of `size` integers that are `step` apart; powers[i] = exp(-i * scale).
template <typename T>
void softmaxRow(T *to, const T *from, int64_t size, int64_t step, const double *powers,
                const Quantum &result) {
  int largest = from[0];
  for (int64_t i = 0; i < size; ++i)
    largest = maximum(largest, int(from[i * step]));
  // Four sums, for additions wait for each other.
  double sums[4] = {};
  for (int64_t i = 0; i < size; ++i)
    sums[i % 4] += powers[largest - from[i * step]];
  const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  // As many results as elements, or all that there can be.
  float parts[256];
  T elements[256];
  const int64_t count = minimum(size, int64_t(256));
  for (int64_t i = 0; i < count; ++i)
    parts[i] = float(powers[size <= 256 ? largest - from[i * step] : i] / sum);
  quantizeRun(elements, parts, count, float(result.scale), float(result.zero));
  for (int64_t i = 0; i < size; ++i)
    to[i * step] = elements[size <= 256 ? i : largest - from[i * step]];
}

/// Adds rows of `count` elements that are side by side.
template <typename T> void addRows(int64_t *sums, const T *rows, int64_t size, int64_t count) {
  constexpr int64_t width = 16, part = 1 << 20; // 32 bits hold the sums of a part
  for (int64_t first = 0; first < count; first += width) {
    const int64_t lanes = minimum(width, count - first);
    for (int64_t l = 0; l < lanes; ++l)
      sums[first + l] = 0;
    for (int64_t begin = 0; begin < size; begin += part) {
      int32_t own[width] = {};
      const T *row = rows + begin * count + first;
      const int64_t end = minimum(size, begin + part);
      if (lanes == width)
        for (int64_t s = begin; s < end; ++s, row += count)
          for (int64_t l = 0; l < width; ++l)
            own[l] += row[l];
      else
        for (int64_t s = begin; s < end; ++s, row += count)
          for (int64_t l = 0; l < lanes; ++l)
            own[l] += row[l];
      for (int64_t l = 0; l < lanes; ++l)
        sums[first + l] += own[l];
    }
  }
}

/// Computes an average pool of planes as mean(sum, number of elements) of each window.
template <typename T, typename Mean>
void averagePlanes(Context &c, char *out, const T *data, const Dims &shape, const Window &w,
                   Mean &&mean) {
  const int64_t outSize = w.out.product(), inSize = w.in.product();
  const int64_t planes = shape.product(0, 2), stride = w.stride[w.rank() - 1];
  int32_t *sums = c.scratch<int32_t>((planes + 1) * outSize + 1);
  if (!sums)
    return;
  int32_t *met = sums + planes * outSize;
  __builtin_memset(sums, 0, uint64_t((planes + 1) * outSize) * sizeof(int32_t));
  w.forEachRow(0, w.rows(), [&](int64_t, int64_t to, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      ++met[to + i];
  });
  parallelIf(c, planes, outSize * w.taps(), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      int32_t *own = sums + plane * outSize;
      const T *from = data + plane * inSize;
      w.forEachRow(0, w.rows(), [&](int64_t, int64_t to, int64_t in, int64_t n) {
        if (stride == 2)
          for (int64_t i = 0; i < n; ++i)
            own[to + i] += from[in + i * 2];
        else
          for (int64_t i = 0; i < n; ++i)
            own[to + i] += from[in + i * stride];
      });
      constexpr int64_t part = 256;
      double values[part];
      for (int64_t first = 0; first < outSize; first += part) {
        const int64_t count = minimum(part, outSize - first);
        for (int64_t i = 0; i < count; ++i)
          values[i] = mean(own[first + i], met[first + i]);
        storeRounded(out, c.in(0).dtype(), plane * outSize + first, values, count);
      }
    }
  });
}

} // namespace

ATC_KERNEL(QLinearAdd) {
  binary(*this, [](float a, float b) { return a + b; });
}
ATC_KERNEL(QLinearMul) {
  binary(*this, [](float a, float b) { return a * b; });
}
ATC_KERNEL(QLinearSigmoid) {
  unary(*this, [](float x) { return float(math::sigmoid(double(x))); });
}
ATC_KERNEL(QLinearLeakyRelu) {
  const float alpha = float(number("alpha", 0.01));
  unary(*this, [=](float x) { return x < 0 ? alpha * x : x; });
}

/// Computes table[x], where x is read as a number from 0 to 255.
ATC_KERNEL(ByteTable) {
  const Tensor x = in(0), table = in(1);
  if (char *out = make(0, table.dtype(), x.dims()))
    lookUp(*this, out, x.bytes(), x.count(), reinterpret_cast<const uint8_t *>(table.bytes()));
}

ATC_KERNEL(QLinearSoftmax) {
  const Tensor x = in(0);
  const int64_t axis = x.rank() ? normalizeAxis(*this, integer("axis", -1), x.rank()) : 0;
  if (axis < 0)
    return;
  char *out = make(0, x.dtype(), x.dims());
  Quantum from, to;
  if (!out || !from.read(*this, 1, 2) || !to.read(*this, 3, 4))
    return;
  // As ONNX Runtime does it, 1 has a whole number of steps, whatever the scale. Softmax between
  // DequantizeLinear and QuantizeLinear keeps the scale.
  const float steps = __builtin_floorf(1 / float(to.scale));
  if (steps >= 1 && !integer("keep_scale", 0))
    to.scale = 1 / double(steps);
  // Up to opset 12 all dims from the axis on were one.
  const bool flat = integer("opset", 13) < 13;
  const Dims dims = x.dims();
  const int64_t size = !x.rank() ? 1 : flat ? dims.product(uint32_t(axis), dims.rank) : dims[axis];
  const int64_t step = flat || !x.rank() ? 1 : dims.product(uint32_t(axis) + 1, dims.rank);
  const int64_t rows = size ? x.count() / size : 0;
  // exp(x - largest) of the 256 differences that there can be.
  double powers[256];
  for (int i = 0; i < 256; ++i)
    powers[i] = math::exp(-i * from.scale);
  auto compute = [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *data = x.as<T>();
    parallelIf(*this, rows, size * 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t start = row / step * step * size + row % step;
        softmaxRow(reinterpret_cast<T *>(out) + start, data + start, size, step, powers, to);
      }
    });
  };
  if (!dispatchBytes(x.dtype(), compute))
    failType(x.dtype());
}

/// Channels are dim 1, with `channels_last` the last one, and with `blocks` in blocks of 16, as in
/// kernels/conv/ChannelBlocks.h.
ATC_KERNEL(QLinearGlobalAveragePool) {
  const Tensor x = in(0);
  const bool blocks = integer("blocks", 0), last = blocks || integer("channels_last", 0);
  const int64_t rank = x.rank();
  if (rank < (blocks ? 4 : 3))
    return fail("data of rank %", rank);
  Dims shape = x.dims();
  // An image is what one mean per channel is taken of.
  const uint32_t first = blocks || !last ? 2 : 1, end = uint32_t(last ? rank - 1 : rank);
  const int64_t size = shape.product(first, end);
  const int64_t channels = last ? shape[end] : 1, images = shape.product(0, first);
  for (uint32_t d = first; d < end; ++d)
    shape[d] = 1;
  char *out = make(0, x.dtype(), shape);
  Quantum from, to;
  if (!out || !from.read(*this, 1, 2) || !to.read(*this, 3, 4))
    return;
  int64_t *sums = scratch<int64_t>(images * channels + 1);
  if (!sums)
    return;
  auto average = [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *data = x.as<T>();
    parallelIf(*this, images, size * channels, [&](int64_t begin, int64_t stop) {
      for (int64_t i = begin; i < stop; ++i) {
        int64_t *own = sums + i * channels;
        const T *image = data + i * size * channels;
        if (last) {
          addRows(own, image, size, channels);
        } else {
          int64_t sum = 0;
          for (int64_t s = 0; s < size; ++s)
            sum += image[s];
          *own = sum;
        }
        for (int64_t c = 0; c < channels; ++c) {
          const double mean =
              (double(own[c]) - from.zero * double(size)) * from.scale / double(size);
          const double value = to.quantized(mean);
          storeRounded(out, x.dtype(), i * channels + c, &value, 1);
        }
      }
    });
  };
  if (!dispatchBytes(x.dtype(), average))
    failType(x.dtype());
}

ATC_KERNEL(QLinearAveragePool) {
  const Tensor x = in(0);
  const bool last = integer("channels_last", 0), withPads = integer("count_include_pad", 0);
  const List<int64_t> sizes = integers("kernel_shape");
  const Dims dims = x.dims();
  if (dims.rank < 3 || sizes.size != int64_t(dims.rank) - 2)
    return fail("kernel_shape has % numbers for data of rank %", sizes.size, dims.rank);
  Window w;
  if (!w.read(*this, Dims(dims.at + (last ? 1 : 2), dims.rank - 2),
              Dims(sizes.data, uint32_t(sizes.size))) ||
      !w.place(*this, integer("ceil_mode", 0)))
    return;
  const int64_t channels = dims[last ? dims.rank - 1 : 1];
  Dims shape(dims[0]);
  if (!last)
    shape.push(channels);
  for (int64_t d = 0; d < w.rank(); ++d)
    shape.push(w.out[d]);
  if (last)
    shape.push(channels);
  char *out = make(0, x.dtype(), shape);
  Quantum from, to;
  if (!out || !from.read(*this, 1, 2) || !to.read(*this, 3, 4))
    return;
  const int64_t outSize = w.out.product(), inSize = w.in.product();
  // Sums of stored integers are exact; the zero point is subtracted once per element.
  auto quantizedMean = [&](double sum, double met) {
    // With pads, what a window of ceil_mode has behind them counts as well, as in ONNX Runtime.
    const double counted = withPads ? double(w.kernel.product()) : met;
    const float mean =
        counted ? float(sum - from.zero * met) * float(from.scale) / float(counted) : 0;
    return double(__builtin_rintf(mean / float(to.scale))) + to.zero;
  };
  auto mean = [&](auto *data, int64_t i) {
    const int64_t plane = last ? i / (outSize * channels) * channels + i % channels : i / outSize;
    const int64_t position = last ? i / channels % outSize : i % outSize;
    int64_t sum = 0, met = 0;
    w.forEachInput(position, [&](int64_t offset) {
      sum += data[last ? (plane / channels * inSize + offset) * channels + plane % channels
                       : plane * inSize + offset];
      ++met;
    });
    return quantizedMean(double(sum), double(met));
  };
  auto average = [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *data = x.as<T>();
    // Sums of planes, of 32 bits, row by row.
    if (!last && w.taps() < 1 << 22)
      return averagePlanes(*this, out, data, shape, w, [&](int64_t sum, int64_t met) {
        return quantizedMean(double(sum), double(met));
      });
    storeEach(*this, out, x.dtype(), shape.product(), [&](int64_t i) { return mean(data, i); });
  };
  if (!dispatchBytes(x.dtype(), average))
    failType(x.dtype());
}

ATC_KERNEL(QLinearConcat) {
  // The scale and zero point of the result come first, then those of each input after it.
  const uint32_t parts = inputs() >= 5 ? (inputs() - 2) / 3 : 0;
  if (!parts || (inputs() - 2) % 3 || !in(2))
    return fail("has % inputs", inputs());
  Dims shape = in(2).dims();
  const uint8_t dtype = in(2).dtype();
  const int64_t axis = normalizeAxis(*this, integer("axis", 0), shape.rank);
  if (axis < 0)
    return;
  shape[axis] = 0;
  for (uint32_t p = 0; p < parts; ++p) {
    Dims part = in(2 + 3 * p).dims();
    if (in(2 + 3 * p).dtype() != dtype || bitsOf(dtype) != 8)
      return fail("input % has element type %", 2 + 3 * p, in(2 + 3 * p).dtype());
    if (part.rank != shape.rank)
      return fail("input % has rank %, not %", 2 + 3 * p, part.rank, shape.rank);
    if (__builtin_add_overflow(shape[axis], part[axis], &shape[axis]))
      return fail("dim % of the result is too large", axis);
    for (int64_t d = 0; d < shape.rank; ++d)
      if (d != axis && part[d] != shape[d])
        return fail("dim % of input % is %, not %", d, 2 + 3 * p, part[d], shape[d]);
  }
  char *out = make(0, dtype, shape);
  Quantum to, from;
  if (!out || !to.read(*this, 0, 1))
    return;
  const int64_t outer = shape.product(0, uint32_t(axis)),
                inner = shape.product(uint32_t(axis) + 1, shape.rank);
  int64_t start = 0;
  for (uint32_t p = 0; p < parts; ++p) {
    const Tensor part = in(2 + 3 * p);
    if (!from.read(*this, 3 + 3 * p, 4 + 3 * p))
      return;
    const int64_t width = part.dim(axis) * inner, at = start;
    const bool isLike = from.scale == to.scale && from.zero == to.zero;
    if (width == 0)
      continue;
    auto copy = [&](auto type) {
      using T = typename decltype(type)::Type;
      const T *source = part.as<T>();
      T *target = reinterpret_cast<T *>(out);
      parallelIf(*this, outer, width, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          T *own = target + row * shape[axis] * inner + at;
          if (isLike)
            copyBytes(own, source + row * width, width);
          else
            rescale(own, source + row * width, width, from, to);
        }
      });
    };
    if (!dispatchBytes(dtype, copy))
      return failType(dtype);
    start += width;
  }
}

} // namespace atc::kernels
