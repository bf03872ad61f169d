//===-- WinogradConv.cpp - 3x3 convolutions with fewer products -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F(2x2, 3x3): four outputs of a channel pair cost 16 products instead of 36; F(4x4, 3x3): sixteen
// cost 36 instead of 144. A task takes some tiles of an image and some output channels:
//
//   transform the tiles of the image      to [position][input block][tile][16]
//   for one, two or four blocks of output channels
//     for position
//       products of tiles and channels    in registers, to [position][output block][tile][16]
//     transform the products to outputs   with bias, sum and activation
//
// Both areas stay in the second cache. Where few tasks have to share the output channels, all of
// them read the tiles that were transformed before.

#include "kernels/conv/WinogradProducts.h"
#include "kernels/core/Widen.h"
#include "kernels/core/WinogradPoint.h"

namespace atc::kernels {

namespace {
using namespace blocks;

/// A tile of M x M outputs reads M + 2 rows and columns, and has as many positions per side.
template <int M> inline constexpr int kSide = M + 2;

/// The point of F(4x4, 3x3), and its powers.
constexpr float a = kWinogradPoint, a2 = kWinogradPoint2, a3 = kWinogradPoint3,
                a4 = kWinogradPoint4;

/// Transforms a row of inputs to a row of positions.
template <int M>
__attribute__((always_inline)) inline void transformInput(Vec (&to)[kSide<M>],
                                                          const Vec (&d)[kSide<M>]) {
  if constexpr (M == 2) {
    to[0] = d[0] - d[2];
    to[1] = d[1] + d[2];
    to[2] = d[2] - d[1];
    to[3] = d[1] - d[3];
  } else {
    const Vec nearEven = d[4] - 4 * a2 * d[2], nearOdd = d[3] - 4 * a2 * d[1];
    const Vec farEven = d[4] - a2 * d[2], farOdd = d[3] - a2 * d[1];
    to[0] = 4 * a4 * d[0] - 5 * a2 * d[2] + d[4];
    to[1] = nearEven + a * nearOdd;
    to[2] = nearEven - a * nearOdd;
    to[3] = farEven + 2 * a * farOdd;
    to[4] = farEven - 2 * a * farOdd;
    to[5] = 4 * a4 * d[1] - 5 * a2 * d[3] + d[5];
  }
}

/// Transforms a row of products to a row of outputs.
template <int M>
__attribute__((always_inline)) inline void transformOutput(Vec (&to)[M], const Vec (&m)[kSide<M>]) {
  if constexpr (M == 2) {
    to[0] = m[0] + m[1] + m[2];
    to[1] = m[1] - m[2] - m[3];
  } else {
    const Vec sum = m[1] + m[2], difference = m[1] - m[2];
    const Vec farSum = m[3] + m[4], farDifference = m[3] - m[4];
    to[0] = m[0] + sum + farSum;
    to[1] = a * (difference + 2.0f * farDifference);
    to[2] = a2 * (sum + 4.0f * farSum);
    to[3] = a3 * (difference + 8.0f * farDifference) + m[5];
  }
}

/// A convolution of stride 1 whose weights are [output blocks, positions, input channels, 16].
template <int M> struct TiledConvolution {
  static constexpr int side = kSide<M>;
  static constexpr int64_t points = side * side;

  const Plan &plan;
  const Images &images;
  const float *w;
  const Finish &finish;
  const Window &window = plan.window;
  const int64_t channels = plan.inBlocks * kBlock;
  const int64_t tilesAlong = ceilDiv(window.out[1], int64_t(M));
  const int64_t tiles = ceilDiv(window.out[0], int64_t(M)) * tilesAlong; ///< of an image
  int64_t tilesPerTask = 0;
  int64_t splits = 1; ///< of the output channels

  /// The bytes of the transformed tiles of a task: with the products of some blocks of output
  /// channels and the weights that pass by they stay in the second cache.
  static constexpr int64_t tileBytes = 384 << 10, smallTileBytes = 96 << 10;
  /// The elements behind each position, so that those of a tile are not in one set of a cache.
  static constexpr int64_t padding = kBlock;

  int64_t inputStep() const { return plan.inBlocks * tilesPerTask * kBlock + padding; }
  int64_t productStep() const { return step() * tilesPerTask * kBlock + padding; }
  /// Return the elements of the transformed tiles of a task and of its products; less than 0 where
  /// there are too many.
  int64_t inputSpace(Context &c) const {
    return spaceFor(c, points, plan.inBlocks + 1, tilesPerTask, kBlock);
  }
  int64_t productSpace(Context &c) const {
    return spaceFor(c, points, step() + 1, tilesPerTask, kBlock);
  }
  /// Returns the output blocks that are computed at a time.
  int64_t step() const { return tileBlocks(tiles); }
  int64_t weightBytes() const {
    return points * channels * plan.outBlocks * kBlock * int64_t(sizeof(float));
  }
  int64_t imageTasks() const { return plan.batch * ceilDiv(tiles, tilesPerTask); }
  int64_t tasks() const { return imageTasks() * splits; }

  void divide() {
    // Where the weights stay in the second cache as well, smaller tasks leave room for the images.
    const int64_t bytes = weightBytes() <= tileBytes ? smallTileBytes : tileBytes;
    const int64_t size = maximum(bytes / (points * channels * int64_t(sizeof(float))), maxPixels);
    // Each task reads all weights, so that half as many tiles again cost less than one more task.
    const int64_t count = maximum(ceilDiv(tiles, size + size / 2), int64_t(1));
    tilesPerTask = maximum(ceilDiv(tiles, count), int64_t(1));
    const int64_t groups = ceilDiv(plan.outBlocks, step());
    while (imageTasks() * splits < 4 && splits < groups)
      ++splits;
  }

  /// Transforms a tile of a block of input channels; `to` is its point in position 0.
  void transformTile(float *to, const float *plane, int64_t tile) const {
    const int64_t top = tile / tilesAlong * M - window.before[0];
    const int64_t left = tile % tilesAlong * M - window.before[1];
    const int64_t height = window.in[0], width = window.in[1];
    const int64_t step = inputStep(); // Stores may alias what it is computed from.
    Vec half[side][side];             // [position of a row][row of inputs]
    for (int i = 0; i < side; ++i) {
      Vec row[side] = {}, points[side];
      const int64_t y = top + i;
      if (y >= 0 && y < height) {
        const float *from = plane + (y * width + left) * kBlock;
        if (left >= 0 && left + side <= width) {
#pragma clang loop unroll(full)
          for (int j = 0; j < side; ++j)
            row[j] = blockAt(from + j * kBlock);
        } else {
#pragma clang loop unroll(full)
          for (int j = 0; j < side; ++j)
            if (left + j >= 0 && left + j < width)
              row[j] = blockAt(from + j * kBlock);
        }
      }
      transformInput<M>(points, row);
#pragma clang loop unroll(full)
      for (int j = 0; j < side; ++j)
        half[j][i] = points[j];
    }
    for (int j = 0; j < side; ++j) {
      Vec points[side];
      transformInput<M>(points, half[j]);
      float *point = to + j * step;
#pragma clang loop unroll(full)
      for (int i = 0; i < side; ++i, point += side * step)
        blockAt(point) = points[i];
    }
  }

  /// Transforms the products of a tile to outputs of a block of channels; `from` is the tile's
  /// point in position 0, `at` the offset of the block's plane in the result.
  void transformProducts(float *y, int64_t at, const float *from, int64_t block,
                         int64_t tile) const {
    const int64_t top = tile / tilesAlong * M, left = tile % tilesAlong * M;
    const int64_t height = minimum(int64_t(M), window.out[0] - top);
    const int64_t width = minimum(int64_t(M), window.out[1] - left);
    const int64_t step = productStep();
    Vec half[M][side]; // [row of outputs][position of a row]
    for (int j = 0; j < side; ++j) {
      Vec column[side], outputs[M];
      const float *point = from + j * step;
#pragma clang loop unroll(full)
      for (int i = 0; i < side; ++i, point += side * step)
        column[i] = blockAt(point);
      transformOutput<M>(outputs, column);
#pragma clang loop unroll(full)
      for (int i = 0; i < M; ++i)
        half[i][j] = outputs[i];
    }
    for (int64_t i = 0; i < height; ++i) {
      Vec outputs[M];
      transformOutput<M>(outputs, half[i]);
      const int64_t offset = at + ((top + i) * window.out[1] + left) * kBlock;
      if (width == M) {
        Vec first[M];
        finish.begin(first, block, offset);
#pragma clang loop unroll(full)
        for (int j = 0; j < M; ++j)
          outputs[j] += first[j];
        finish.end(y + offset, outputs);
      } else {
        for (int j = 0; j < width; ++j) {
          Vec first[1];
          finish.begin(first, block, offset + j * kBlock);
          first[0] += outputs[j];
          finish.end(y + offset + j * kBlock, first);
        }
      }
    }
  }

  /// Finishes the stored outputs of tiles `first` to `last` of a row of tiles.
  void finishTiles(float *y, int64_t at, int64_t block, int64_t first, int64_t last) const {
    const int64_t top = first / tilesAlong * M, left = first % tilesAlong * M;
    const int64_t height = minimum(int64_t(M), window.out[0] - top);
    const int64_t width = minimum((last % tilesAlong + 1) * M, window.out[1]) - left;
    for (int64_t i = 0; i < height; ++i) {
      const int64_t offset = at + ((top + i) * window.out[1] + left) * kBlock;
      finish.finish(y + offset, block, offset, width);
    }
  }

  /// Transforms the tiles of a task of images from input block `begin` to `end`.
  void transform(float *inputs, int64_t imageTask, int64_t begin, int64_t end) const {
    const int64_t imageParts = ceilDiv(tiles, tilesPerTask);
    const int64_t image = imageTask / imageParts, first = imageTask % imageParts * tilesPerTask;
    const int64_t count = minimum(tilesPerTask, tiles - first);
    for (int64_t block = begin; block < end; ++block) {
      const float *plane = images.at(image, block);
      for (int64_t tile = 0; tile < count; ++tile)
        transformTile(inputs + (block * tilesPerTask + tile) * kBlock, plane, first + tile);
    }
  }

  /// Computes one task from the transformed tiles of its images.
  void multiply(float *y, const float *inputs, float *products, int64_t task) const {
    const int64_t part = task % splits, imageParts = ceilDiv(tiles, tilesPerTask);
    task /= splits;
    const int64_t image = task / imageParts, first = task % imageParts * tilesPerTask;
    const int64_t count = minimum(tilesPerTask, tiles - first);
    WinogradProducts operands;
    operands.x = inputs;
    operands.y = products;
    operands.xStep = inputStep();
    operands.yStep = productStep();
    operands.tileBlock = tilesPerTask * kBlock;
    operands.wStep = channels * kBlock;
    operands.wBlock = points * channels * kBlock;
    operands.inBlocks = plan.inBlocks;
    const int64_t step = this->step(), groups = ceilDiv(plan.outBlocks, step);
    const int64_t end = minimum(plan.outBlocks, groups * (part + 1) / splits * step);
    for (int64_t block = groups * part / splits * step; block < end; block += step) {
      const int64_t blocks = minimum(step, end - block);
      operands.w = w + block * operands.wBlock;
      multiplyAll(operands, blocks, count, points);
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t at = (image * plan.outBlocks + block + b) * plan.outPlane() * kBlock;
        for (int64_t tile = 0, begin = 0; tile < count; ++tile) {
          transformProducts(y, at, products + (b * tilesPerTask + tile) * kBlock, block + b,
                            first + tile);
          if (tile + 1 == count || (first + tile + 1) % tilesAlong == 0) {
            finishTiles(y, at, block + b, first + begin, first + tile);
            begin = tile + 1;
          }
        }
      }
    }
  }
};

/// Computes a convolution with tiles of M x M outputs; returns false where it failed.
template <int M>
bool convolve(Context &c, const Plan &plan, const Images &images, float *y, const Finish &finish) {
  TiledConvolution<M> convolution{plan, images, c.in(1).as<float>(), finish};
  convolution.divide();
  // Tasks share working space by contiguous ranges, of which there are enough for all threads.
  constexpr int64_t maxRanges = 32;
  const int64_t tasks = convolution.tasks(), ranges = minimum(tasks, maxRanges);
  const bool isShared = convolution.splits > 1;
  const int64_t inputs = convolution.inputSpace(c), products = convolution.productSpace(c);
  if (inputs < 0 || products < 0)
    return false;
  const int64_t tileSets = isShared ? convolution.imageTasks() : ranges;
  const int64_t inputSize = spaceFor(c, tileSets, inputs);
  const int64_t productSize = spaceFor(c, ranges, products);
  float *allInputs = inputSize < 0 ? nullptr : c.scratch<float>(inputSize);
  float *allProducts = productSize < 0 ? nullptr : c.scratch<float>(productSize);
  if (!allInputs || !allProducts)
    return false;
  if (isShared)
    parallelIf(c, tileSets * plan.inBlocks,
               convolution.tilesPerTask * TiledConvolution<M>::points * kBlock,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t task = i / plan.inBlocks, block = i % plan.inBlocks;
                   convolution.transform(allInputs + task * inputs, task, block, block + 1);
                 }
               });
  const double cost =
      double(convolution.tilesPerTask * TiledConvolution<M>::points) * double(c.in(1).count()) /
      double(TiledConvolution<M>::points * convolution.splits) * (double(tasks) / double(ranges));
  parallelIf(c, ranges, int64_t(minimum(cost, 1e18)), [&](int64_t begin, int64_t end) {
    const int64_t last = tasks * end / ranges;
    for (int64_t task = tasks * begin / ranges; task < last; ++task) {
      float *own = allInputs + (isShared ? task / convolution.splits : begin) * inputs;
      if (!isShared)
        convolution.transform(own, task, 0, plan.inBlocks);
      convolution.multiply(y, own, allProducts + begin * products, task);
    }
  });
  return true;
}
} // namespace

/// Computes a 3x3 convolution of stride 1 of an image whose channels are in blocks, or of several
/// ones as if they were joined. Weights are [output blocks, positions, channels, 16], transformed,
/// of 16 or 36 positions.
ATC_KERNEL(WinogradConv) {
  const Tensor x = in(0), w = in(1);
  Images images;
  if (!images.read(*this))
    return;
  const int64_t inBlocks = images.allBlocks(), points = w.dim(1);
  if ((points != 16 && points != 36) || inBlocks < 1 || w.dim(2) != inBlocks * kBlock)
    return fail("weights of % positions and % channels for % blocks", points, w.dim(2), inBlocks);
  Plan plan;
  if (!plan.find(*this, x.dim(0), Dims(x.dim(2), x.dim(3)), 9, w.dim(0)))
    return;
  const Window &window = plan.window;
  for (int64_t d = 0; d < 2; ++d)
    if (window.kernel[d] != 3 || window.stride[d] != 1 || window.dilation[d] != 1)
      return fail("a kernel of %, stride % and dilation %", window.kernel[d], window.stride[d],
                  window.dilation[d]);
  plan.inBlocks = inBlocks;
  runConvolution(*this, plan, [&](float *y, const Finish &finish) {
    return points == 16 ? convolve<2>(*this, plan, images, y, finish)
                        : convolve<4>(*this, plan, images, y, finish);
  });
}

} // namespace atc::kernels
