//===-- ChannelBlocks.cpp - tensors with channels in blocks of 16 ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/conv/ChannelBlocks.h"

#include "kernels/core/Broadcast.h"
#include "kernels/core/ReshapeDims.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace blocks {

bool Images::read(Context &c) {
  for (uint32_t i = 0; i < c.inputs(); i = i ? i + 1 : 4) {
    const Tensor x = c.in(i);
    if (count == kMax)
      return c.fail("more than % images", kMax), false;
    if (!x || x.rank() != 5 || x.dim(4) != kBlock)
      return c.fail("input % is no image in blocks of % channels", i, kBlock), false;
    plane = x.dim(2) * x.dim(3) * kBlock;
    data[count] = x.as<float>();
    blocks[count++] = x.dim(1);
  }
  return true;
}

bool Plan::find(Context &c, int64_t images, const Dims &spatial, int64_t taps,
                int64_t outputBlocks) {
  const List<int64_t> sizes = c.integers("kernel_shape");
  if (sizes.size != 2 || sizes[0] < 1 || sizes[1] < 1 || sizes[0] > taps || sizes[1] > taps ||
      sizes[0] * sizes[1] != taps)
    return c.fail("kernel_shape does not fit weights of % taps", taps), false;
  if (!window.read(c, spatial, Dims(sizes[0], sizes[1])) || !window.place(c))
    return false;
  batch = images;
  outBlocks = outputBlocks;
  result = Dims(batch, outBlocks, window.out[0], window.out[1], kBlock);
  return true;
}

bool readFinish(Context &c, const Plan &plan, FusedActivation &activation, Finish &finish,
                Dims &shape, bool &isApart) {
  const Tensor bias = c.in(2), sum = c.in(3);
  if (!activation.read(c))
    return false;
  if (bias && bias.count() != plan.outBlocks * kBlock)
    return c.fail("% biases for % blocks of channels", bias.count(), plan.outBlocks), false;
  shape = plan.result;
  if (sum && !broadcastInto(c, shape, sum.dims()))
    return false;
  isApart = sum && !(sum.dims() == plan.result);
  // Without the attribute, blocks are full.
  const int64_t channels = c.integer("channels", plan.outBlocks * kBlock);
  if (channels < 1 ? plan.outBlocks != 0 : ceilDiv(channels, kBlock) != plan.outBlocks)
    return c.fail("% channels for % blocks of channels", channels, plan.outBlocks), false;
  if (channels % kBlock) {
    finish.partial = plan.outBlocks - 1;
    finish.lanes = channels % kBlock;
  }
  finish.bias = bias ? bias.as<float>() : nullptr;
  if (sum && !isApart)
    (c.integer("sum_last", 0) ? finish.last : finish.sum) = sum.as<float>();
  if (!isApart)
    finish.activate(activation);
  return true;
}

void finishApart(Context &c, float *out, const Dims &shape, float *conv, const Plan &plan,
                 const FusedActivation &activation) {
  const Tensor sum = c.in(3);
  const bool isLast = c.integer("sum_last", 0);
  auto activate = [&](float *elements, int64_t count) {
    parallelIf(c, count, 4, [&](int64_t begin, int64_t end) {
      activation.apply(elements + begin, end - begin);
    });
  };
  if (isLast)
    activate(conv, plan.result.product());
  mapPairs(c, broadcastSpace(shape, plan.result, sum.dims()), conv, sum.as<float>(), out, 1,
           [](float a, float b) { return a + b; });
  if (!isLast)
    activate(out, shape.product());
}

} // namespace blocks

using blocks::kBlock;

/// The pixels whose channels change places at a time, so that their lines stay in the cache.
static constexpr int64_t kPixels = 64;

/// Calls fn(image, block, first pixel, pixels, channels of the block) on all threads.
template <typename Fn>
static void forEachPatch(Context &c, int64_t batch, int64_t channels, int64_t plane, Fn &&fn) {
  const int64_t count = ceilDiv(channels, kBlock), patches = ceilDiv(plane, kPixels);
  parallelIf(c, batch * count * patches, kPixels * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / patches % count, first = task % patches * kPixels;
      fn(task / patches / count, block, first, minimum(kPixels, plane - first),
         minimum(kBlock, channels - block * kBlock));
    }
  });
}

/// Calls fn(T *) for the elements of an image in blocks: floats or bytes.
template <typename Fn> static void dispatchImage(Context &c, uint8_t dtype, Fn &&fn) {
  if (dtype == F32)
    fn(static_cast<float *>(nullptr));
  else if (dtype == U8 || dtype == I8)
    fn(static_cast<uint8_t *>(nullptr));
  else
    c.failType(dtype);
}

/// Stores an image in blocks of channels, of which there must be `channels`.
ATC_KERNEL(BlockChannels) {
  const Tensor x = in(0);
  const int64_t channels = integer("channels", 0), plane = x.dim(2) * x.dim(3);
  if (x.dim(1) != channels)
    return fail("data of % channels, not %", x.dim(1), channels);
  char *y =
      make(0, x.dtype(), Dims(x.dim(0), ceilDiv(channels, kBlock), x.dim(2), x.dim(3), kBlock));
  if (!y)
    return;
  auto copy = [&]<typename T>(T *) {
    forEachPatch(*this, x.dim(0), channels, plane,
                 [&](int64_t image, int64_t block, int64_t first, int64_t pixels, int64_t lanes) {
                   const T *from = reinterpret_cast<const T *>(x.bytes()) +
                                   (image * channels + block * kBlock) * plane + first;
                   T *to = reinterpret_cast<T *>(y) +
                           ((image * ceilDiv(channels, kBlock) + block) * plane + first) * kBlock;
                   int64_t i = 0;
                   for (; lanes == kBlock && i + kBlock <= pixels;
                        i += kBlock, to += kBlock * kBlock)
                     transposeSquare(to, kBlock, from + i, plane);
                   for (; i < pixels; ++i, to += kBlock) {
                     for (int64_t lane = 0; lane < lanes; ++lane)
                       to[lane] = from[lane * plane + i];
                     for (int64_t lane = lanes; lane < kBlock; ++lane)
                       to[lane] = 0;
                   }
                 });
  };
  dispatchImage(*this, x.dtype(), copy);
}

/// The image of an UnblockChannels in planes: [batch, channels, height, width].
static void unblockPlanes(Context &c, int64_t channels, int64_t plane) {
  const Tensor x = c.in(0);
  char *y = c.make(0, x.dtype(), Dims(x.dim(0), channels, x.dim(2), x.dim(3)));
  if (!y)
    return;
  auto copy = [&]<typename T>(T *) {
    forEachPatch(c, x.dim(0), channels, plane,
                 [&](int64_t image, int64_t block, int64_t first, int64_t pixels, int64_t lanes) {
                   const T *from = reinterpret_cast<const T *>(x.bytes()) +
                                   ((image * x.dim(1) + block) * plane + first) * kBlock;
                   T *to = reinterpret_cast<T *>(y) + (image * channels + block * kBlock) * plane +
                           first;
                   int64_t done = 0;
                   for (; lanes == kBlock && done + kBlock <= pixels; done += kBlock)
                     transposeSquare(to + done, plane, from + done * kBlock, kBlock);
                   for (int64_t lane = 0; lane < lanes; ++lane)
                     for (int64_t i = done; i < pixels; ++i)
                       to[lane * plane + i] = from[i * kBlock + lane];
                 });
  };
  dispatchImage(c, x.dtype(), copy);
}

namespace {
/// The rows of an UnblockChannels with channels behind the pixels: some columns of the image's
/// rows, and tensors whose rows are joined to them.
struct JoinedRows {
  static constexpr uint32_t kMax = 8;

  const float *parts[kMax];
  int64_t widths[kMax];
  uint32_t count = 0, before = 0; ///< parts; those in front of the image's columns
  int64_t first = 0, columns = 0; ///< of the image's rows
  int64_t at = 0, width = 0;      ///< of the image's columns in a row; of a row

  /// Reads the attributes and the parts, inputs 2 and up, for rows of `channels` channels. Makes
  /// the last dim of `result` that of a row. Returns false and fails the call where they do not
  /// fit.
  bool read(Context &c, int64_t channels, Dims &result) {
    const List<int64_t> given = c.integers("columns"); // first, end, of how many
    columns = channels;
    if (given.size == 3) {
      first = given[0];
      if (given[2] != channels || first < 0 || given[1] < first || given[1] > channels)
        return c.fail("columns % to % of % of rows of % channels", first, given[1], given[2],
                      channels),
               false;
      columns = given[1] - first;
    }
    before = uint32_t(c.integer("before", 0));
    width = columns;
    for (uint32_t i = 2; i < c.inputs() && count < kMax; ++i, ++count) {
      const Tensor part = c.in(i);
      if (!part)
        return c.fail("part % is missing", count), false;
      if (part.rank() != result.rank)
        return c.fail("part % has rank %, the image %", count, part.rank(), result.rank), false;
      for (uint32_t d = 0; d + 1 < result.rank; ++d)
        if (part.dim(d) != result[d])
          return c.fail("dim % of part % is %, of the image %", d, count, part.dim(d), result[d]),
                 false;
      parts[count] = part.as<float>();
      widths[count] = part.dim(result.rank - 1);
      at += count < before ? widths[count] : 0;
      if (__builtin_add_overflow(width, widths[count], &width))
        return c.fail("the rows are too wide"), false;
    }
    result[result.rank - 1] = width;
    return true;
  }

  /// Stores what is in front of the image's columns of row `row`, and what is behind them.
  void storeBefore(float *to, int64_t row) const { store(to, row, 0, minimum(before, count)); }
  void storeAfter(float *to, int64_t row) const { store(to + at + columns, row, before, count); }

private:
  void store(float *to, int64_t row, uint32_t begin, uint32_t end) const {
    for (uint32_t i = begin; i < end; to += widths[i], ++i)
      for (int64_t column = 0; column < widths[i]; ++column)
        to[column] = parts[i][row * widths[i] + column];
  }
};
} // namespace

/// Stores `pixels` rows from row `row` on; `to` is the first of them. The image's channels begin
/// with `first`; `blocks` is the first pixel of block 0; blocks are `step` elements apart.
static void storeRows(float *to, const float *blocks, int64_t step, int64_t first,
                      const JoinedRows &rows, int64_t row, int64_t pixels) {
  first += rows.first;
  const int64_t skipped = first % kBlock, count = rows.columns;
  const float *from = blocks + first / kBlock * step;
  for (int64_t pixel = 0; pixel < pixels; ++pixel, ++row, to += rows.width, from += kBlock) {
    rows.storeBefore(to, row);
    float *own = to + rows.at;
    if (count >= kBlock && pixel + 1 < pixels) {
      // Whole vectors, from the first channel on: what is too much of one is what the next one
      // stores, and that of the last one belongs to what is behind it or to the next pixel.
      blocks::blockAt(own) = blocks::blockAt(from + skipped);
      const float *block = from + step;
      for (int64_t done = kBlock - skipped; done < count; done += kBlock, block += step)
        blocks::blockAt(own + done) = blocks::blockAt(block);
    } else {
      for (int64_t i = 0; i < count; ++i)
        own[i] = from[(skipped + i) / kBlock * step + (skipped + i) % kBlock];
    }
    rows.storeAfter(to, row);
  }
}

/// The image of an UnblockChannels as its rows of channels: with channels behind the pixels, or as
/// a Reshape of [batch, channels, height, width] to input 1, [b, groups, count, ...], has them
/// where its dim of `count` channels comes last.
static void unblockRows(Context &c, int64_t channels, int64_t plane) {
  const Tensor x = c.in(0), wanted = c.in(1);
  Dims shape(x.dim(0), 1, channels, x.dim(2), x.dim(3));
  if (wanted && !wanted.known())
    return;
  if (wanted && !reshapeDims(c, Dims(x.dim(0), channels, x.dim(2), x.dim(3)), wanted,
                             /*allowsZero=*/false, shape))
    return;
  if (shape.rank < 4)
    return c.fail("a shape of % dims has no groups of channels", shape.rank);
  Dims result(shape[0]);
  for (uint32_t d = wanted ? 1 : 3; d < shape.rank; ++d)
    if (d != 2)
      result.push(shape[d]);
  result.push(shape[2]);
  JoinedRows joined;
  if (!joined.read(c, shape[2], result))
    return;
  float *y = c.make<float>(0, F32, result);
  const int64_t rows = shape.product(0, 2), count = shape[2];
  const int64_t positions = shape.product(3, shape.rank);
  if (!y || result.product() == 0)
    return;
  const float *data = x.as<float>();
  const int64_t step = plane * kBlock, image = x.dim(1) * step,
                patches = ceilDiv(positions, kPixels);
  if (positions == plane && count && channels % count == 0)
    return parallelIf(c, rows * patches, kPixels * joined.width, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t row = task / patches, first = task % patches * kPixels;
        storeRows(y + (row * plane + first) * joined.width,
                  data + row * count / channels * image + first * kBlock, step,
                  row * count % channels, joined, row * plane + first,
                  minimum(kPixels, plane - first));
      }
    });
  // Another shape divides planes or joins images.
  parallelIf(c, rows * positions, joined.width, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      float *to = y + pixel * joined.width;
      joined.storeBefore(to, pixel);
      for (int64_t i = 0; i < joined.columns; ++i) {
        const int64_t at =
            (pixel / positions * count + joined.first + i) * positions + pixel % positions;
        const int64_t channel = at / plane % channels;
        to[joined.at + i] = data[at / plane / channels * image + channel / kBlock * step +
                                 at % plane * kBlock + channel % kBlock];
      }
      joined.storeAfter(to, pixel);
    }
  });
}

/// Stores an image in blocks of channels in another order: in planes, or with the attribute
/// `last` in rows of channels: all of them or columns [columns[0], columns[1]) of columns[2], with
/// the rows of inputs 2 and up beside them, `before` of these in front.
ATC_KERNEL(UnblockChannels) {
  const Tensor x = in(0);
  const int64_t channels = integer("channels", 0), plane = x.dim(2) * x.dim(3);
  if (channels < 0 || x.dim(1) != ceilDiv(channels, kBlock))
    return fail("% blocks for % channels", x.dim(1), channels);
  if (!integer("last", 0))
    return unblockPlanes(*this, channels, plane);
  if (x.dtype() != F32)
    return failType(x.dtype());
  unblockRows(*this, channels, plane);
}

} // namespace atc::kernels
