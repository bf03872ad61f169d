//===-- ConvTranspose.cpp - transposed convolutions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the products of every input with all taps as a matrix product, and then adds its rows at
// the positions of the taps. Those of one tap are a stride apart; so the sums of a row of the
// result are kept by their position within a stride, and become a row at the end.

#include "kernels/core/GeneratedCode.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"
#include "kernels/nn/Window.h"

namespace atc::kernels {

namespace {
/// Returns whether the windows of two spatial dims lie side by side, so that each result is that of
/// one tap. `window.in` are the dims of the result, `window.out` those of the data.
bool areApart(const Window &window) {
  bool result = window.rank() == 2;
  for (int64_t d = 0; result && d < 2; ++d)
    result = window.kernel[d] == window.stride[d] && window.dilation[d] == 1 &&
             window.before[d] == 0 && window.in[d] == window.out[d] * window.stride[d];
  return result;
}

/// Writes a plane of the result for windows that are apart. `parts`: the products of each tap.
template <typename F> void interleaveTaps(F *to, const F *parts, F bias, const Window &window) {
  const int64_t height = window.out[0], width = window.out[1], size = height * width;
  const int64_t down = window.stride[0], right = window.stride[1], rowSize = window.in[1];
  for (int64_t y = 0; y < height; ++y)
    for (int64_t i = 0; i < down; ++i) {
      F *row = to + (y * down + i) * rowSize;
      const F *from = parts + i * right * size + y * width;
      if (right == 2)
        for (int64_t x = 0; x < width; ++x) {
          row[2 * x] = from[x] + bias;
          row[2 * x + 1] = from[size + x] + bias;
        }
      else
        for (int64_t j = 0; j < right; ++j)
          for (int64_t x = 0; x < width; ++x)
            row[x * right + j] = from[j * size + x] + bias;
    }
}

/// The sums of a row of the result, by their position within a stride: a row of each that there is.
struct StridedRow {
  int64_t offsets, width;
  StridedRow(int64_t length, int64_t stride)
      : offsets(minimum(stride, length)), width(ceilDiv(length, stride)) {}
  int64_t size() const { return offsets * width; }
};

/// Writes for each element of a plane of the result where its sum is: divisions would take longer
/// than the additions of a short row.
void findOffsets(int64_t *offsets, const Window &window) {
  const int64_t last = window.rank() - 1, length = window.in[last], stride = window.stride[last];
  const StridedRow shape(length, stride);
  const int64_t rows = length ? window.in.product() / length : 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < length; ++column)
      *offsets++ = row * shape.size() + column % stride * shape.width + column / stride;
}

/// Adds the products of each tap where it meets the result. `sums` has room for a StridedRow per
/// row, `offsets` is that of findOffsets().
template <typename F>
void addTaps(F *to, const F *parts, F *sums, F bias, const Window &window, const int64_t *offsets) {
  const int64_t last = window.rank() - 1, stride = window.stride[last], length = window.in[last];
  const int64_t size = window.out.product(), rows = length ? window.in.product() / length : 0;
  const StridedRow shape(length, stride);
  const int64_t width = shape.width, rowSize = shape.size();
  for (int64_t i = 0; i < rows * rowSize; ++i)
    sums[i] = bias;
  window.forEachRow(0, window.rows(), [&](int64_t tap, int64_t at, int64_t in, int64_t n) {
    F *row = sums + offsets[in];
    const F *from = parts + tap * size + at;
    for (int64_t j = 0; j < n; ++j)
      row[j] += from[j];
  });
  for (int64_t row = 0; row < rows; ++row, to += length, sums += rowSize) {
    if (stride == 1) {
      copyBytes(to, sums, length * int64_t(sizeof(F)));
      continue;
    }
    const int64_t whole = length / stride;
    if (stride == 2)
      for (int64_t j = 0; j < whole; ++j) {
        to[2 * j] = sums[j];
        to[2 * j + 1] = sums[width + j];
      }
    else
      transposeRows(to, stride, sums, width, stride, whole);
    for (int64_t j = whole * stride; j < length; ++j)
      to[j] = sums[j % stride * width + whole];
  }
}

/// `window` as for areApart.
template <typename F>
bool convTranspose(Context &c, F *y, const F *x, const F *w, const F *bias, const Window &window,
                   int64_t batch, int64_t groups, int64_t inChannels, int64_t outChannels) {
  const int64_t plane = window.in.product(), size = window.out.product(), taps = window.taps();
  const int64_t length = window.in[window.rank() - 1], stride = window.stride[window.rank() - 1];
  if (plane == 0 || outChannels == 0)
    return true;
  if (size == 0) {
    for (int64_t i = 0; i < batch * groups * outChannels; ++i)
      for (int64_t j = 0; j < plane; ++j)
        y[i * plane + j] = bias ? bias[i % (groups * outChannels)] : F(0);
    return true;
  }
  const bool isApart = areApart(window);
  const int64_t room = isApart ? 0 : spaceFor(c, plane / length, StridedRow(length, stride).size());
  if (room < 0 || spaceFor(c, taps, size) < 0)
    return false;
  const int64_t block =
      minimum(outChannels, maximum(int64_t(1), (int64_t(1) << 19) / (taps * size + room)));
  // The products read rows of weights, which are made once for all images.
  const int64_t rows = outChannels * taps;
  F *parts = c.scratch<F>(block * taps * size), *sums = c.scratch<F>(block * room + 1);
  F *turned = c.scratch<F>(groups * rows * inChannels + 1);
  int64_t *offsets = c.scratch<int64_t>(isApart ? 1 : plane);
  if (!parts || !sums || !turned || !offsets)
    return false;
  if (!isApart)
    findOffsets(offsets, window);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t from = group * rows * inChannels;
    transposeRows(turned + from, inChannels, w + from, rows, inChannels, rows);
  }
  for (int64_t image = 0; image < batch * groups; ++image) {
    const F *data = x + image * inChannels * size;
    for (int64_t first = 0; first < outChannels; first += block) {
      const int64_t count = minimum(block, outChannels - first);
      const F *weights = turned + (image % groups * rows + first * taps) * inChannels;
      Product<F> p{parts, weights,    data, count * taps, size, inChannels,
                   size,  inChannels, 1,    size,         1};
      if (!multiply(c, p))
        return false;
      parallelIf(c, count, taps * size, [&](int64_t begin, int64_t end) {
        for (int64_t channel = begin; channel < end; ++channel) {
          F *to = y + (image * outChannels + first + channel) * plane;
          const F *from = parts + channel * taps * size;
          const F own = bias ? bias[image % groups * outChannels + first + channel] : F(0);
          if (isApart)
            interleaveTaps(to, from, own, window);
          else
            addTaps(to, from, sums + channel * room, own, window, offsets);
        }
      });
    }
  }
  return true;
}

/// The sizes of a transposed convolution.
struct TransposedPlan {
  Window window; ///< `in` are the dims of the result, `out` those of the data
  Dims result;
  int64_t groups = 1;

  /// Computes the sizes. Returns false and fails the call where they do not fit.
  bool find(Context &c);
};

bool TransposedPlan::find(Context &c) {
  const Tensor x = c.in(0), w = c.in(1), b = c.in(2);
  groups = c.integer("group", 1);
  if (x.rank() < 3 || w.rank() != x.rank())
    return c.fail("data of rank %, weights of rank %", x.rank(), w.rank()), false;
  // Groups without channels could be of any number.
  if (groups < 1 || groups > maximum(w.dim(0), int64_t(1)) || x.dim(1) != w.dim(0) ||
      w.dim(0) % groups)
    return c.fail("% channels, weights for % in % groups", x.dim(1), w.dim(0), groups), false;
  const int64_t channels = w.dim(1) * groups;
  if (b && b.count() != channels)
    return c.fail("% biases for % channels", b.count(), channels), false;
  const uint32_t spatial = x.rank() - 2;
  const Dims data = x.dims(), weights = w.dims();
  if (!window.read(c, Dims(data.at + 2, spatial), Dims(weights.at + 2, spatial)))
    return false;
  window.out = window.in;
  const List<int64_t> more = c.integers("output_padding"), wanted = c.integers("output_shape");
  for (int64_t i = 0; i < more.size; ++i)
    if (more[i] < 0 || more[i] > int64_t(1) << 30)
      return c.fail("output_padding of %", more[i]), false;
  for (int64_t i = 0; i < wanted.size; ++i)
    if (wanted[i] < 0 || wanted[i] > int64_t(1) << 40)
      return c.fail("output_shape of %", wanted[i]), false;
  if ((more.size && more.size != spatial) ||
      (wanted.size && wanted.size != spatial && wanted.size != spatial + 2))
    return c.fail("output_padding or output_shape do not fit % spatial dims", spatial), false;
  const bool upper = c.is("auto_pad", "NOTSET", "SAME_UPPER");
  const bool same = upper || c.is("auto_pad", "NOTSET", "SAME_LOWER");
  const bool valid = c.is("auto_pad", "NOTSET", "VALID");
  result = Dims(data[0], channels);
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t full =
        window.stride[d] * (window.out[d] - 1) + (more.size ? more[d] : 0) + window.extent(d);
    if (wanted.size || same) {
      const int64_t size =
          wanted.size ? wanted[wanted.size - spatial + d] : window.out[d] * window.stride[d];
      const int64_t total = maximum(full - size, int64_t(0));
      window.before[d] = upper ? total / 2 : total - total / 2;
      window.in[d] = size;
    } else {
      if (valid)
        window.before[d] = window.after[d] = 0;
      window.in[d] = full - window.before[d] - window.after[d];
    }
    if (window.out[d] == 0 && !wanted.size)
      window.in[d] = 0;
    result.push(window.in[d]);
  }
  return true;
}
} // namespace

ATC_KERNEL_OF_CODE(ConvTranspose) {
  const Tensor x = in(0), w = in(1), b = in(2);
  TransposedPlan plan;
  if (!plan.find(*this))
    return;
  const Dims weights = w.dims();
  if (hasFittingCode(*this) && double(x.count()) * double(weights.product(1, weights.rank)) <=
                                   double(kMaxTransposedProducts))
    return runGenerated(*this, [](Context &c) {
      TransposedPlan plan;
      if (plan.find(c))
        c.makeBytes(0, c.in(0).dtype(), plan.result);
    });
  char *out = make(0, x.dtype(), plan.result);
  if (!out)
    return;
  auto compute = [&]<typename F>(F *y, const F *from, const F *by, const F *bias) {
    return convTranspose(*this, y, from, by, bias, plan.window, x.dim(0), plan.groups,
                         weights[0] / plan.groups, weights[1]);
  };
  computeFloats(*this, out, plan.result.product(), compute, x, w, b);
}

} // namespace atc::kernels
