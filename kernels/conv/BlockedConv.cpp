//===-- BlockedConv.cpp - convolutions of images in channel blocks --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that reach beyond the image read a copy of some padded rows, which stays in the second
// cache while all output channels are computed from it; other windows read the image in place. Of a
// wide image only the columns of the first and the last tile of a row are copied.
// Taps that read only padding are left out: for all outputs, as where a dilated window is larger
// than the image, for those of a row, and, where that leaves out more than short tiles cost, for
// runs of columns, which then read the image in place, too.
// Tasks divide the rows, the output channels and, of few rows, the columns. How they do so changes
// no bit of the results.

#include "kernels/conv/BlockTile.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
using namespace blocks;

/// A convolution whose groups are whole blocks of channels.
struct Convolution {
  const Plan &plan;
  const Images &images; ///< in blocks
  const float *x, *w;   ///< x: the image in planes
  const Finish &finish;
  int64_t lanes;  ///< channels per input block
  int64_t groups; ///< one, where the image is in planes
  bool isBlocked; ///< the image is in blocks; otherwise it has `lanes` channels in planes
  const int64_t inBlocks = plan.inBlocks / groups,
                outBlocks = plan.outBlocks / groups; ///< per group
  const Window &whole = plan.window;
  int64_t firstTap[2] = {}; ///< of those that read the image for any output
  const Window window = readingTaps();
  const int64_t taps = whole.taps(), wBlock = inBlocks * taps * lanes * kBlock;
  const bool isInside = isBlocked && fits(0) && fits(1);
  /// Columns of outputs whose windows read the image, or the copy, with the same columns of taps.
  struct Run {
    int64_t begin, end, firstTap, lastTap; ///< up to, but without `end` and `lastTap`
    int64_t copied = -1; ///< column of the copy where the first window begins; -1: in place
  };
  static constexpr int64_t maxRuns = 16;
  Run runs[maxRuns] = {};
  int64_t numRuns = 0;
  const bool isInPlace = isInside || (isBlocked && findRuns()); ///< nothing is copied
  const bool isWhole = !isInPlace && !findEdges();              ///< whole rows are copied
  int64_t copyColumns = copiedColumns();
  const bool isPointwise = isInside && window.taps() == 1 && window.stride[0] == 1 &&
                           window.stride[1] == 1 && window.in == window.out;
  /// Rows and columns of outputs. A pointwise convolution has one row per task.
  int64_t rows = isPointwise ? 1 : window.out[0];
  int64_t columns = isPointwise ? plan.outPlane() : window.out[1];
  int64_t rowsPerTask = 1, columnsPerTask = 0; ///< of outputs
  int64_t splits = 1;                          ///< of the output channels

  /// The bytes of an image that a task reads and writes, so that they stay in the second cache.
  static constexpr int64_t imageBytes = 256 << 10;
  /// The minimum number of pixels of the tasks into which fewer ones are divided.
  static constexpr int64_t minPixels = 4 * maxPixels;
  /// The bytes of weights of two output blocks at a time, so that they stay in the first cache.
  static constexpr int64_t weightBytes = 24 << 10;
  /// The maximum number of input blocks whose weights are that many.
  static constexpr int64_t maxChunk = weightBytes / (kBlock * kBlock * 4);

  /// Returns whether a tap of dim `d` reads the image for any output.
  bool reads(int64_t d, int64_t tap) const {
    const int64_t begin = tap * whole.dilation[d] - whole.before[d];
    const int64_t end = begin + (whole.out[d] - 1) * whole.stride[d];
    const int64_t outside = begin < 0 ? ceilDiv(-begin, whole.stride[d]) * whole.stride[d] : 0;
    return begin + outside <= end && begin + outside < whole.in[d];
  }
  /// Returns the window without taps at its ends that read only padding. Sets firstTap.
  Window readingTaps() {
    Window reading = whole;
    for (int64_t d = 0; d < 2; ++d) {
      int64_t first = 0, end = whole.kernel[d];
      while (first + 1 < end && !reads(d, first))
        ++first;
      while (first + 1 < end && !reads(d, end - 1))
        --end;
      firstTap[d] = first;
      reading.kernel[d] = end - first;
      reading.before[d] -= first * whole.dilation[d];
    }
    return reading;
  }

  struct Range {
    int64_t begin, end;
  };
  /// Returns the taps along dim `d` that read the image for the output `out`.
  Range readingAt(int64_t d, int64_t out) const {
    const int64_t first = out * window.stride[d] - window.before[d], step = window.dilation[d];
    const int64_t begin = first < 0 ? ceilDiv(-first, step) : 0;
    const int64_t end = window.in[d] > first ? ceilDiv(window.in[d] - first, step) : 0;
    return {minimum(begin, window.kernel[d]),
            maximum(minimum(end, window.kernel[d]), minimum(begin, window.kernel[d]))};
  }
  /// Sets the runs. Returns whether they take less time than all taps of all columns.
  bool findRuns() {
    constexpr int64_t min = 4; // A tile of fewer pixels waits for its sums.
    const int64_t all = window.out[1];
    double cost = 0;
    for (int64_t begin = 0; begin < all && numRuns < maxRuns; ++numRuns) {
      const auto [first, last] = readingAt(1, begin);
      int64_t end = begin + 1;
      for (; end < all; ++end)
        if (const Range taps = readingAt(1, end); taps.begin != first || taps.end != last)
          break;
      runs[numRuns] = {begin, end, first, last};
      cost += double(maximum(end - begin, min)) * double(last - first);
      begin = end;
    }
    return numRuns && runs[numRuns - 1].end == all &&
           cost <= double(all) * double(window.kernel[1]);
  }

  /// Sets the runs: outputs whose windows reach beyond the left or the right end of a row, in whole
  /// tiles, and those between them, which read the image in place. Returns false and sets one run
  /// of all columns where there are none between.
  bool findEdges() {
    const int64_t all = window.out[1], step = window.stride[1], before = window.before[1];
    // As forEachTile() divides the row.
    const int64_t tile = ceilDiv(all, maximum(ceilDiv(all, tilePixels()), int64_t(1)));
    const int64_t room = window.in[1] + before - window.extent(1);
    const int64_t fitting = room < 0 ? 0 : minimum(all, room / step + 1);
    const int64_t end = all - roundUp(all - fitting, tile);
    const int64_t begin = roundUp(ceilDiv(maximum(before, int64_t(0)), step), tile);
    const int64_t taps = window.kernel[1];
    numRuns = 0;
    if (!isBlocked || end - begin < tile) {
      runs[numRuns++] = {0, all, 0, taps, 0};
      return false;
    }
    runs[numRuns++] = {begin, end, 0, taps};
    if (begin > 0)
      runs[numRuns++] = {0, begin, 0, taps, 0};
    if (end < all)
      runs[numRuns++] = {end, all, 0, taps, begin > 0 ? columnsOf(begin) : 0};
    return true;
  }
  static int64_t roundUp(int64_t value, int64_t step) { return ceilDiv(value, step) * step; }

  /// Returns whether all windows are inside of the image.
  bool fits(int64_t d) const {
    return window.before[d] <= 0 &&
           (window.out[d] - 1) * window.stride[d] - window.before[d] + window.extent(d) <=
               window.in[d];
  }

  /// Returns how many tasks there should be. The first one is measured before the threads share the
  /// others, so that it should be a small part of all; but each should take more time than a thread
  /// needs to fetch it.
  int64_t wantedTasks() const {
    constexpr double taskWork = 1 << 17, few = 4, many = 16;
    const double pixels = double(plan.batch * rows) * double(columns);
    const double work = pixels * double(groups) * double(wBlock * outBlocks);
    return int64_t(minimum(maximum(work / taskWork, few), many));
  }

  void divide() {
    const int64_t pixel = 4 * kBlock;
    // Each task reads all weights. Those that do not stay in the second cache come from the third
    // one, so that fewer tasks are faster. Of the results only those of a tile are read again.
    const bool isHeavy = wBlock * outBlocks * 4 > 2 * imageBytes;
    const int64_t bytes = isHeavy ? 2 * imageBytes : imageBytes;
    const int64_t written = isHeavy ? minimum(outBlocks, step()) : outBlocks;
    if (isPointwise) {
      const int64_t size = maximum(bytes / ((inBlocks + written) * pixel), minPixels);
      columnsPerTask = ceilDiv(columns, ceilDiv(columns, size));
    } else {
      // In double: windows may be far apart. An image in place is not read between them.
      double pixels = double(columnsOf(window.out[1])) * double(window.stride[0]);
      if (!isWhole)
        pixels = minimum(pixels, double(window.in[1]) * double(window.stride[0]));
      if (isInside)
        pixels = minimum(pixels, double(window.out[1]) * double(taps));
      const double row = pixels * double(inBlocks * lanes * 4) + double(written * pixel * columns);
      const int64_t size = maximum(int64_t(double(bytes) / row), int64_t(1));
      rowsPerTask = ceilDiv(rows, ceilDiv(rows, size));
      columnsPerTask = columns;
    }
    // Few tasks are divided, so that all threads have some: first the output channels, which one
    // thread computes in the same order as if they were not divided.
    const int64_t wanted = wantedTasks();
    splits = minimum(ceilDiv(outBlocks, step()), ceilDiv(wanted, imageTasks() * groups));
    sharePixels(wanted);
    if (isInside)
      runs[numRuns++] = {0, columns, 0, window.kernel[1]};
    if (isWhole)
      copyColumns = columnsOf(columnsPerTask);
  }
  /// Divides the rows, and the columns of few rows, where there are fewer tasks than `wanted`.
  void sharePixels(int64_t wanted) {
    const int64_t parts = ceilDiv(wanted, plan.batch * groups * splits);
    if (imageTasks() >= parts * plan.batch)
      return;
    rowsPerTask = minimum(rowsPerTask, maximum(rows / parts, ceilDiv(minPixels, columns)));
    const int64_t columnParts = ceilDiv(parts, ceilDiv(rows, rowsPerTask));
    // In whole tiles.
    const int64_t tile = tilePixels();
    const int64_t size = roundUp(maximum(ceilDiv(columns, columnParts), minPixels), tile);
    const int64_t even = ceilDiv(columns, maximum(columns / size, int64_t(1)));
    columnsPerTask = minimum(columnsPerTask, roundUp(even, tile));
  }

  /// Returns the output blocks that are computed at a time.
  int64_t step() const { return tileBlocks(columns); }
  int64_t imageTasks() const {
    return plan.batch * ceilDiv(rows, rowsPerTask) * ceilDiv(columns, columnsPerTask);
  }
  int64_t tasks() const { return imageTasks() * groups * splits; }
  int64_t taskCost() const {
    const double cost = double(rowsPerTask * columnsPerTask) * double(wBlock * outBlocks);
    return int64_t(minimum(cost / double(splits), 1e18));
  }

  int64_t slabRows() const { return (rowsPerTask - 1) * window.stride[0] + window.extent(0); }
  /// Returns the columns that the windows of neighbouring outputs read.
  int64_t columnsOf(int64_t outputs) const {
    return (outputs - 1) * window.stride[1] + window.extent(1);
  }
  /// Returns the columns of the copy.
  int64_t copiedColumns() const {
    int64_t columns = 0;
    for (int64_t i = 0; !isInPlace && i < numRuns; ++i)
      if (runs[i].copied >= 0)
        columns = runs[i].copied + columnsOf(runs[i].end - runs[i].begin);
    return columns;
  }
  /// Returns the columns of a run that are in [begin, end). Their copy begins where the run's does.
  static Run within(Run run, int64_t begin, int64_t end) {
    run.begin = maximum(run.begin, begin);
    run.end = minimum(run.end, end);
    return run;
  }
  /// Copies the padded rows that outputs of a group from `row` on, in columns [begin, end), read:
  /// [block, row, column, lane].
  void fillSlab(float *slab, int64_t image, int64_t group, int64_t row, int64_t begin,
                int64_t end) const {
    for (int64_t block = 0; block < inBlocks; ++block)
      for (int64_t i = 0; i < slabRows(); ++i) {
        float *to = slab + (block * slabRows() + i) * copyColumns * lanes;
        const int64_t from = row * window.stride[0] - window.before[0] + i;
        for (int64_t each = 0; each < numRuns; ++each) {
          const Run run = within(runs[each], begin, end);
          if (run.copied >= 0 && run.begin < run.end)
            fillRow(to + run.copied * lanes, image, group * inBlocks + block, from, run);
        }
      }
  }
  /// Copies the columns of row `from` of the padded image that a run reads.
  void fillRow(float *to, int64_t image, int64_t block, int64_t from, const Run &run) const {
    const int64_t width = columnsOf(run.end - run.begin);
    const int64_t start = run.begin * window.stride[1] - window.before[1];
    const int64_t left = minimum(maximum(-start, int64_t(0)), width);
    const int64_t skipped = maximum(start, int64_t(0));
    const bool exists = from >= 0 && from < window.in[0];
    const int64_t count =
        exists ? maximum(minimum(window.in[1] - skipped, width - left), int64_t(0)) : 0;
    zero(to, left * lanes);
    zero(to + (left + count) * lanes, (width - left - count) * lanes);
    if (count > 0)
      copyRow(to + left * lanes, image, block, from * window.in[1] + skipped, count);
  }
  static void zero(float *to, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = 0;
  }
  /// Copies `count` pixels from offset `at` of a plane on.
  void copyRow(float *to, int64_t image, int64_t block, int64_t at, int64_t count) const {
    const int64_t plane = plan.inPlane();
    if (isBlocked)
      return copyBytes(to, images.at(image, block) + at * kBlock, count * kBlock * 4);
    const float *from = x + image * lanes * plane + at;
    if (lanes == 3)
      return interleave<3>(to, from, plane, count);
    if (lanes == 4)
      return interleave<4>(to, from, plane, count);
    for (int64_t lane = 0; lane < lanes; ++lane, from += plane)
      for (int64_t i = 0; i < count; ++i)
        to[i * lanes + lane] = from[i];
  }
  /// Stores the pixels of a row of `Lanes` planes one after the other. A constant number of planes
  /// lets vectors be shuffled. Pictures have three.
  template <int Lanes>
  static void interleave(float *__restrict to, const float *__restrict from, int64_t plane,
                         int64_t count) {
    for (int64_t i = 0; i < count; ++i)
#pragma clang loop unroll(full)
      for (int lane = 0; lane < Lanes; ++lane)
        to[i * Lanes + lane] = from[lane * plane + i];
  }

  /// Computes one task; `slab` has room for its padded rows where windows reach beyond the
  /// image, and holds them already where `isFilled`.
  void compute(float *y, float *slab, int64_t task, bool isFilled) const {
    const int64_t columnTasks = ceilDiv(columns, columnsPerTask);
    const int64_t rowTasks = ceilDiv(rows, rowsPerTask), part = task % splits;
    task /= splits;
    const int64_t group = task % groups;
    task /= groups;
    const int64_t column = task % columnTasks * columnsPerTask;
    const int64_t lastColumn = minimum(columns, column + columnsPerTask);
    const int64_t first = task / columnTasks % rowTasks * rowsPerTask;
    const int64_t image = task / columnTasks / rowTasks;
    const int64_t last = minimum(rows, first + rowsPerTask);
    Row row = {};
    row.finish = &finish;
    row.yBlock = plan.outPlane() * kBlock;
    row.wBlock = wBlock;
    row.step = window.stride[1] * lanes;
    row.height = window.kernel[0];
    row.tapStep = window.dilation[1] * lanes;
    const int64_t tapRow = whole.kernel[1] * lanes * kBlock; // of weights
    row.xBlock = slabRows() * copyColumns * lanes;
    const float *planes[maxChunk]; // of the image in place
    const int64_t start = (-window.before[0] * window.in[1] - window.before[1]) * lanes;
    if (!isInPlace && !isFilled)
      fillSlab(slab, image, group, first, column, lastColumn);
    const bool areNeighbours = row.step == kBlock;
    const int64_t step = this->step();
    const int64_t steps = ceilDiv(outBlocks, step), firstBlock = group * outBlocks;
    const int64_t end = firstBlock + minimum(outBlocks, steps * (part + 1) / splits * step);
    const int64_t chunk = maximum(weightBytes / (taps * lanes * kBlock * 4 * step), int64_t(1));
    for (row.block = firstBlock + steps * part / splits * step; row.block < end; row.block += step)
      for (int64_t block = 0; block < inBlocks; block += chunk) {
        row.blocks = minimum(chunk, inBlocks - block);
        for (int64_t i = 0; !isWhole && i < row.blocks; ++i)
          planes[i] = images.at(image, group * inBlocks + block + i);
        row.isFirst = block == 0;
        row.isLast = block + row.blocks == inBlocks;
        const float *weights = w + row.block * wBlock + block * taps * lanes * kBlock +
                               firstTap[0] * tapRow + firstTap[1] * lanes * kBlock;
        // Behind the last input block those of the next output blocks begin.
        row.next = row.blocks * taps * lanes * kBlock + (row.isLast ? (step - 1) * wBlock : 0);
        row.index = 0;
        for (int64_t out = first; out < last; ++out) {
          const auto [top, bottom] = readingAt(0, out);
          row.height = bottom - top;
          row.wBlockGap = (whole.kernel[0] - row.height) * tapRow;
          const int64_t rowAt =
              ((image * plan.outBlocks + row.block) * plan.outPlane() + out * window.out[1]) *
              kBlock;
          for (int64_t i = 0; i < numRuns; ++i) {
            const Run run = within(runs[i], column, lastColumn);
            if (run.begin >= run.end)
              continue;
            const int64_t taps = run.lastTap - run.firstTap;
            const bool isCopied = run.copied >= 0;
            const int64_t width =
                isCopied ? copyColumns : window.in[1]; // of the rows that are read
            row.planes = isCopied ? nullptr : planes;
            row.x = isCopied ? slab + block * row.xBlock : nullptr;
            row.rowStep = window.dilation[0] * width * lanes;
            row.shift = isCopied ? run.copied * lanes : start + run.begin * row.step;
            row.shift += (isCopied ? out - first : out) * window.stride[0] * width * lanes +
                         top * row.rowStep + run.firstTap * row.tapStep;
            // Without gaps the taps of a row are one tap of more elements.
            const bool isDense = window.dilation[1] == 1 || taps == 1;
            row.lanes = isDense ? taps * lanes : lanes;
            row.width = isDense ? 1 : taps;
            row.wRowGap = tapRow - taps * lanes * kBlock;
            row.w = weights + top * tapRow + run.firstTap * lanes * kBlock;
            row.at = rowAt + run.begin * kBlock;
            row.y = y + row.at;
            // tile() adds the offset of a pixel to both.
            computeBlocks</*MayBePicture=*/true>(row, minimum(step, end - row.block),
                                                 run.end - run.begin, areNeighbours);
            ++row.index;
          }
        }
      }
  }
};
} // namespace

/// Computes Conv and FusedConv of an image whose channels are in blocks, of several ones as if they
/// were joined, or of one with fewer channels than a block in planes. Weights are [output blocks,
/// input blocks, taps, channels per input block, 16]. Images of a multiple of these input blocks
/// have so many groups, with equal parts of the output blocks.
ATC_KERNEL(BlockedConv) {
  const Tensor x = in(0), w = in(1);
  const bool isBlocked = x.rank() == 5;
  const int64_t lanes = w.dim(3), inBlocks = w.dim(1);
  Images images;
  if ((isBlocked || inputs() > 4) && !images.read(*this))
    return;
  if (x.rank() > 5)
    return fail("data of rank %", x.rank());
  const int64_t channels = isBlocked ? images.allBlocks() : x.dim(1);
  if (inBlocks < 1 || lanes < 1 || lanes > kBlock ||
      (isBlocked ? lanes != kBlock || channels < 1 || channels % inBlocks ||
                       w.dim(0) % (channels / inBlocks)
                 : inBlocks != 1 || channels != lanes))
    return fail("data of % channels or blocks, weights for % blocks of %", channels, inBlocks,
                lanes);
  Plan plan;
  if (!plan.find(*this, x.dim(0), Dims(x.dim(2), x.dim(3)), w.dim(2), w.dim(0)))
    return;
  const int64_t groups = isBlocked ? channels / inBlocks : 1;
  plan.inBlocks = inBlocks * groups;
  runConvolution(*this, plan, [&](float *y, const Finish &finish) {
    Convolution convolution{plan,   images, x.as<float>(), w.as<float>(),
                            finish, lanes,  groups,        isBlocked};
    convolution.divide();
    float *slabs = nullptr;
    int64_t slab = 0; // elements of the padded rows of a task
    if (!convolution.isInPlace) {
      slab = spaceFor(*this, inBlocks, convolution.slabRows(), convolution.copyColumns, lanes);
      const int64_t size = slab < 0 ? slab : spaceFor(*this, convolution.tasks(), slab);
      if (size < 0 || !(slabs = scratch<float>(size)))
        return false;
    }
    parallelIf(*this, convolution.tasks(), convolution.taskCost(), [&](int64_t begin, int64_t end) {
      // One slab serves all tasks of a thread, so that it stays in the cache. Tasks that compute
      // other output channels of the same rows and group follow each other.
      for (int64_t task = begin; task < end; ++task)
        convolution.compute(y, slabs + begin * slab, task,
                            task > begin && task % convolution.splits != 0);
    });
    return true;
  });
}

} // namespace atc::kernels
