//===-- Window.h - sliding windows over spatial dims ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_WINDOW_H
#define OPENATC_KERNELS_NN_WINDOW_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// The windows of a convolution or pool: output o of a dim reads inputs o * stride - before + tap *
/// dilation, those that exist.
struct Window {
  Dims in, out, kernel, stride, dilation, before, after;

  int64_t rank() const { return kernel.rank; }
  /// Returns the number of taps, at most 2^62.
  int64_t taps() const {
    int64_t count = 1;
    for (int64_t d = 0; d < rank(); ++d)
      if (__builtin_mul_overflow(count, kernel[d], &count) || count > int64_t(1) << 62)
        return int64_t(1) << 62;
    return count;
  }
  /// Returns the number of inputs from the first to the last tap.
  int64_t extent(int64_t d) const { return (kernel[d] - 1) * dilation[d] + 1; }

  /// Reads strides, dilations and pads; `spatial` and `sizes` are the dims of data and kernel.
  /// Returns false and fails the call for invalid values.
  bool read(Context &c, const Dims &spatial, const Dims &sizes) {
    in = spatial;
    kernel = sizes;
    const int64_t dims = kernel.rank;
    if (dims == 0 || in.rank != kernel.rank)
      return c.fail("a kernel of % dims on % spatial dims", dims, in.rank), false;
    const List<int64_t> strides = c.integers("strides"), steps = c.integers("dilations");
    const List<int64_t> pads = c.integers("pads");
    if ((strides.size && strides.size != dims) || (steps.size && steps.size != dims) ||
        (pads.size && pads.size != 2 * dims))
      return c.fail("strides, dilations or pads do not fit % spatial dims", dims), false;
    for (int64_t d = 0; d < dims; ++d) {
      stride.push(strides.size ? strides[d] : 1);
      dilation.push(steps.size ? steps[d] : 1);
      before.push(pads.size ? pads[d] : 0);
      after.push(pads.size ? pads[dims + d] : 0);
      if (stride[d] < 1 || dilation[d] < 1 || kernel[d] < 1)
        return c.fail("stride %, dilation %, kernel %: not positive", stride[d], dilation[d],
                      kernel[d]),
               false;
      if (stride[d] > kMost || dilation[d] > kMost || kernel[d] > kMost || before[d] > kMost ||
          after[d] > kMost || before[d] < -kMost || after[d] < -kMost || in[d] > 4 * kMost)
        return c.fail("data, stride, dilation, kernel or pads are out of range"), false;
    }
    return true;
  }

  /// Computes the number of windows, and the pads where `auto_pad` requests it. Returns false and
  /// fails the call where a window does not fit.
  bool place(Context &c, bool ceilMode = false) {
    const String mode = c.text("auto_pad", "NOTSET");
    const bool upper = equal(mode, "SAME_UPPER"), lower = equal(mode, "SAME_LOWER");
    const bool valid = equal(mode, "VALID");
    out.rank = kernel.rank;
    for (int64_t d = 0; d < rank(); ++d) {
      if (upper || lower) {
        out[d] = ceilDiv(in[d], stride[d]);
        const int64_t total = maximum((out[d] - 1) * stride[d] + extent(d) - in[d], int64_t(0));
        before[d] = upper ? total / 2 : total - total / 2;
        after[d] = total - before[d];
        continue;
      }
      if (valid)
        before[d] = after[d] = 0;
      const int64_t room = in[d] + before[d] + after[d] - extent(d);
      // A part of a window counts as one where the number of windows is rounded up.
      if (room < 0 && !(ceilMode && in[d] > 0 && room > -stride[d])) {
        if (in[d] == 0) {
          out[d] = 0;
          continue;
        }
        return c.fail("a window of % does not fit spatial dim % of % with pads % and %", extent(d),
                      d, in[d], before[d], after[d]),
               false;
      }
      out[d] = (ceilMode ? ceilDiv(room, stride[d]) : room / stride[d]) + 1;
      // The last window has to begin inside of the data or its front pads.
      if (ceilMode && (out[d] - 1) * stride[d] >= in[d] + before[d])
        --out[d];
    }
    return true;
  }

  /// Computes the taps [first, last) of output `o` in dim d that read inputs [begin, end).
  void tapRange(int64_t d, int64_t o, int64_t begin, int64_t end, int64_t &first,
                int64_t &last) const {
    const int64_t start = o * stride[d] - before[d];
    if (dilation[d] == 1) { // Divisions would take longer than most windows.
      first = minimum(maximum(begin - start, int64_t(0)), kernel[d]);
      last = maximum(minimum(end - start, kernel[d]), first);
      return;
    }
    first = start >= begin ? 0 : ceilDiv(begin - start, dilation[d]);
    last = minimum(kernel[d], start >= end ? int64_t(0) : ceilDiv(end - start, dilation[d]));
    first = minimum(first, kernel[d]);
    last = maximum(last, first);
  }

  /// Calls fn(tap, out, in, count) for rows [begin, end) of the outputs: outputs out + i and inputs
  /// in + i * stride of the last dim meet at tap `tap`, i < count. Offsets are in elements of a
  /// plane.
  template <typename Fn> void forEachRow(int64_t begin, int64_t end, Fn &&fn) const {
    const int64_t last = rank() - 1;
    for (int64_t row = begin; row < end; ++row)
      forEachTap(last, row, [&](uint64_t tap, int64_t offset) {
        forEachLastTap(int64_t(tap * uint64_t(kernel[last])), row * out[last], offset * in[last],
                       fn);
      });
  }

  /// Calls fn(in) for the inputs that an output reads; both are offsets of elements in a plane.
  template <typename Fn> void forEachInput(int64_t output, Fn &&fn) const {
    forEachTap(rank(), output, [&](uint64_t, int64_t offset) { fn(offset); });
  }
  /// Returns the number of rows of outputs.
  int64_t rows() const { return out.product(0, uint32_t(rank() - 1)); }

private:
  /// Calls fn(tap, offset of the input) for the taps of the first `dims` dims that read an input
  /// for an output of these dims. A kernel may have far more taps than there are inputs, so that
  /// the number of the tap may wrap: only kernels without elements of their own are so large.
  template <typename Fn> void forEachTap(int64_t dims, int64_t output, Fn &&fn) const {
    int64_t start[host::kMaxRank], first[host::kMaxRank], last[host::kMaxRank], at[host::kMaxRank];
    for (int64_t d = dims - 1; d >= 0; output /= out[d], --d) {
      const int64_t o = output % out[d];
      start[d] = o * stride[d] - before[d];
      tapRange(d, o, 0, in[d], first[d], last[d]);
      at[d] = first[d];
      if (first[d] == last[d])
        return;
    }
    for (int64_t d = 0; d >= 0;) {
      int64_t offset = 0;
      uint64_t tap = 0;
      for (int64_t i = 0; i < dims; ++i) {
        offset = offset * in[i] + start[i] + at[i] * dilation[i];
        tap = tap * uint64_t(kernel[i]) + uint64_t(at[i]);
      }
      fn(tap, offset);
      for (d = dims - 1; d >= 0 && ++at[d] == last[d]; --d)
        at[d] = first[d];
    }
  }

  /// Calls fn as forEachRow does, for the taps of the last dim; the arguments are the first tap,
  /// and the offsets of the first output and of the first input of the row.
  template <typename Fn>
  void forEachLastTap(int64_t tap, int64_t outputs, int64_t inputs, Fn &fn) const {
    const int64_t d = rank() - 1;
    if (kernel[d] > in[d] + out[d]) {
      for (int64_t o = 0; o < out[d]; ++o) {
        int64_t first, last;
        tapRange(d, o, 0, in[d], first, last);
        for (int64_t t = first; t < last; ++t)
          fn(tap + t, outputs + o, inputs + o * stride[d] + t * dilation[d] - before[d],
             int64_t(1));
      }
      return;
    }
    for (int64_t t = 0; t < kernel[d]; ++t) {
      // Input o * stride + shift exists for first <= o < last.
      const int64_t shift = t * dilation[d] - before[d];
      const int64_t first = shift >= 0 ? 0 : ceilDiv(-shift, stride[d]);
      const int64_t last = shift >= in[d] ? 0 : minimum(out[d], ceilDiv(in[d] - shift, stride[d]));
      if (first < last)
        fn(tap + t, outputs + first, inputs + first * stride[d] + shift, last - first);
    }
  }

  /// Keeps products of two values far from overflow.
  static constexpr int64_t kMost = int64_t(1) << 30;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_WINDOW_H
