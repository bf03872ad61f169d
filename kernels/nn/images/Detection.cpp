//===-- Detection.cpp - pools of regions, non-maximum suppression ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Sort.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

ATC_KERNEL(MaxRoiPool) {
  const Tensor x = in(0), rois = in(1);
  const List<int64_t> pooled = integers("pooled_shape");
  if (pooled.size != 2 || pooled[0] < 1 || pooled[1] < 1)
    return fail("pooled_shape is not two positive sizes");
  const int64_t count = rois.dim(0), channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const int64_t rows = pooled[0], columns = pooled[1];
  char *out = make(0, x.dtype(), Dims(count, channels, rows, columns));
  if (!out)
    return;
  // With memory for it the product has no overflow.
  const int64_t total = count * channels * rows * columns;
  if (total == 0)
    return;
  const double scale = number("spatial_scale", 1);
  const double *regions = numbersOf<double>(*this, rois);
  bool valid = regions != nullptr;
  for (int64_t i = 0; regions && i < count; ++i)
    if (const double image = regions[i * 5]; !(image >= 0 && image < double(x.dim(0)))) {
      if (valid)
        fail("region % is of an image that is not there", i);
      valid = false;
    }
  if (!valid)
    return;
  auto compute = [&]<typename F>(F *y, const F *data) {
    // Edges are clamped to the image before they become integers.
    auto edge = [&](double at, int64_t size) {
      at = at > -0x1p30 ? minimum(at, 0x1p30) : -0x1p30;
      return minimum(maximum(int64_t(at), int64_t(0)), size);
    };
    parallelIf(*this, count * channels, rows * columns * 20, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double *roi = regions + i / channels * 5;
        const F *plane = data + (int64_t(roi[0]) * channels + i % channels) * height * width;
        auto corner = [&](int64_t j) { return math::floor(roi[j] * scale + 0.5); };
        const double left = corner(1), top = corner(2);
        // In f32, as in ONNX Runtime: the last of 7 bins of 57 rows ends one row behind them.
        const float stepX = float(maximum(corner(3) - left + 1, 1.0)) / float(columns);
        const float stepY = float(maximum(corner(4) - top + 1, 1.0)) / float(rows);
        for (int64_t j = 0; j < rows * columns; ++j) {
          const float row = float(j / columns), column = float(j % columns);
          const int64_t y0 = edge(math::floor(double(row * stepY)) + top, height);
          const int64_t y1 = edge(math::ceil(double((row + 1) * stepY)) + top, height);
          const int64_t x0 = edge(math::floor(double(column * stepX)) + left, width);
          const int64_t x1 = edge(math::ceil(double((column + 1) * stepX)) + left, width);
          F max = lowest<F>();
          for (int64_t v = y0; v < y1; ++v)
            for (int64_t u = x0; u < x1; ++u)
              max = maximum(max, plane[v * width + u]);
          y[i * rows * columns + j] = y0 < y1 && x0 < x1 ? max : F(0);
        }
      }
    });
    return true;
  };
  computeFloats(*this, out, total, compute, x);
}

namespace {
/// Two neighbours of a coordinate with their weights; none beyond the image.
struct Neighbours {
  int64_t low = 0, high = 0;
  double lowWeight = 0, highWeight = 0;
  Neighbours(double at, int64_t size) {
    if (!(at >= -1 && at <= double(size)))
      return;
    at = maximum(at, 0.0);
    low = int64_t(at);
    if (low >= size - 1) {
      low = high = size - 1;
      at = double(low);
    } else {
      high = low + 1;
    }
    highWeight = at - double(low);
    lowWeight = 1 - highWeight;
  }
};

/// The samples of a cell along one axis. Those beyond the image are 0, so that only those inside
/// need to be computed: as many as the image has elements, however large a region is.
struct CellSamples {
  int64_t count, first, last;
  /// Finds the samples of a cell that begins at `begin` and is `step` long, in an image of `size`.
  CellSamples(double begin, double step, int64_t ratio, int64_t size) {
    constexpr double kMaxSamples = 1 << 30;
    const double n = ratio > 0 ? double(ratio) : math::ceil(step);
    count = n >= 1 ? int64_t(minimum(n, kMaxSamples)) : 0;
    first = 0, last = count;
    if (!(step > 0))
      return;
    // Includes one more on each side than rounding could require.
    const double scale = double(count) / step;
    const double low = (-1 - begin) * scale - 2, high = (double(size) - begin) * scale + 2;
    first = low > 0 ? int64_t(minimum(low, double(count))) : 0;
    // A cell that is infinitely far away or infinitely long, which yields a NaN here, has no
    // samples inside.
    last = high >= double(count) ? count : high > double(first) ? int64_t(high) : first;
  }
};

/// The sizes and operands that all cells of a call of RoiAlign share.
struct AlignedCells {
  static constexpr int64_t kChannels = 64; ///< at most so many per call of pool()

  int64_t height, width; ///< of the images
  int64_t rows, columns; ///< of cells per region
  int64_t ratio;         ///< samples per cell and axis; 0: as many as it has pixels
  double scale;          ///< from the coordinates of regions to pixels
  bool half;             ///< pixels have their coordinates in their middle
  bool max;              ///< the largest share of a sample instead of the mean

  /// Pools cell `j` of the region `roi`, its left, top, right and bottom edge, in `taken` images
  /// one after the other from `planes`. The results are rows * columns elements apart.
  template <typename F>
  void pool(F *y, const F *planes, int64_t taken, const double *roi, int64_t j) const {
    const double shift = half ? 0.5 : 0;
    const double left = roi[0] * scale - shift, top = roi[1] * scale - shift;
    double wide = roi[2] * scale - shift - left, tall = roi[3] * scale - shift - top;
    if (!half) {
      wide = maximum(wide, 1.0);
      tall = maximum(tall, 1.0);
    }
    const double stepX = wide / double(columns), stepY = tall / double(rows);
    const double y0 = top + double(j / columns) * stepY;
    const double x0 = left + double(j % columns) * stepX;
    const CellSamples down(y0, stepY, ratio, height), across(x0, stepX, ratio, width);
    const int64_t perRow = across.last - across.first;
    const int64_t inside = perRow * (down.last - down.first);
    const double all = double(down.count) * double(across.count);
    double results[kChannels] = {};
    for (int64_t s = 0; s < inside; ++s) {
      const double fy = (double(down.first + s / perRow) + 0.5) / double(down.count);
      const double fx = (double(across.first + s % perRow) + 0.5) / double(across.count);
      const Neighbours v(top + (double(j / columns) + fy) * stepY, height);
      const Neighbours u(left + (double(j % columns) + fx) * stepX, width);
      const int64_t at[4] = {v.low * width + u.low, v.low * width + u.high, v.high * width + u.low,
                             v.high * width + u.high};
      const double weights[4] = {v.lowWeight * u.lowWeight, v.lowWeight * u.highWeight,
                                 v.highWeight * u.lowWeight, v.highWeight * u.highWeight};
      const bool isFirst = s == 0 && double(inside) == all;
      for (int64_t c = 0; c < taken; ++c) {
        const F *plane = planes + c * height * width;
        double parts[4];
        for (int k = 0; k < 4; ++k)
          parts[k] = weights[k] * double(plane[at[k]]);
        // The largest share of an element, not the largest sample: so it is defined by ONNX's
        // tests and so others compute it.
        const double share = maximum(maximum(parts[0], parts[1]), maximum(parts[2], parts[3]));
        if (!max)
          results[c] += parts[0] + parts[1] + parts[2] + parts[3];
        else
          results[c] = isFirst ? share : maximum(results[c], share);
      }
    }
    for (int64_t c = 0; c < taken; ++c)
      y[c * rows * columns] = F(max ? results[c] : results[c] / maximum(all, 1.0));
  }
};
} // namespace

ATC_KERNEL(RoiAlign) {
  const Tensor x = in(0), rois = in(1), images = in(2);
  const int64_t count = rois.dim(0), channels = x.dim(1);
  const AlignedCells cells = {x.dim(2),
                              x.dim(3),
                              integer("output_height", 1),
                              integer("output_width", 1),
                              integer("sampling_ratio", 0),
                              number("spatial_scale", 1),
                              is("coordinate_transformation_mode", "half_pixel", "half_pixel"),
                              is("mode", "avg", "max")};
  const Dims shape(count, channels, cells.rows, cells.columns);
  char *out = make(0, x.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  const int64_t pixels = cells.height * cells.width;
  if (pixels == 0)
    return fail("the images are empty");
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t image = integerAt(images, i); image < 0 || image >= x.dim(0))
      return fail("region % is of image % of %", i, image, x.dim(0));
  const double *regions = numbersOf<double>(*this, rois);
  if (!regions)
    return;
  constexpr int64_t kMaxRatio = 256;
  if (cells.ratio > kMaxRatio)
    return fail("a sampling_ratio of %, expected at most %", cells.ratio, kMaxRatio);
  auto compute = [&]<typename F>(F *y, const F *data) {
    // Where the samples of a cell are and what they weigh is found once for some channels. A cell
    // may have many samples: each is a task, so that a host can cancel between them.
    constexpr int64_t kChannels = AlignedCells::kChannels;
    const int64_t perRegion = cells.rows * cells.columns;
    const int64_t groups = (channels + kChannels - 1) / kChannels;
    parallelIf(*this, count * groups * perRegion, 10 * minimum(channels, kChannels),
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t j = task % perRegion, i = task / perRegion / groups;
                   const int64_t channel = task / perRegion % groups * kChannels;
                   cells.pool(y + (i * channels + channel) * perRegion + j,
                              data + (integerAt(images, i) * channels + channel) * pixels,
                              minimum(channels - channel, kChannels), regions + i * 4, j);
                 }
               });
    return true;
  };
  computeFloats(*this, out, shape.product(), compute, x);
}

namespace {
struct Box {
  float x0, y0, x1, y1;
  Box(const float *from, bool centered) {
    if (centered) {
      x0 = from[0] - from[2] / 2;
      x1 = from[0] + from[2] / 2;
      y0 = from[1] - from[3] / 2;
      y1 = from[1] + from[3] / 2;
    } else {
      y0 = minimum(from[0], from[2]);
      y1 = maximum(from[0], from[2]);
      x0 = minimum(from[1], from[3]);
      x1 = maximum(from[1], from[3]);
    }
  }
  float area() const { return (x1 - x0) * (y1 - y0); }
  /// Returns the part of the area of both that they have in common; -1 where they do not touch.
  float overlap(const Box &other) const {
    const float w = minimum(x1, other.x1) - maximum(x0, other.x0);
    const float h = minimum(y1, other.y1) - maximum(y0, other.y0);
    if (!(w > 0 && h > 0) || area() <= 0 || other.area() <= 0)
      return -1;
    const float common = w * h;
    return common / (area() + other.area() - common);
  }
};

/// Boxes that were chosen, in lanes: one more box is compared with a block of them at a time.
struct ChosenBoxes {
  static constexpr int64_t kLanes = 16;
  float *x0, *y0, *x1, *y1; ///< room for a multiple of kLanes
  int64_t count = 0;

  ChosenBoxes(float *room, int64_t max)
      : x0(room), y0(x0 + roomOf(max)), x1(y0 + roomOf(max)), y1(x1 + roomOf(max)) {}
  /// Returns the elements per coordinate for `max` boxes.
  static int64_t roomOf(int64_t max) { return ceilDiv(max, kLanes) * kLanes; }

  void add(const Box &box) {
    // The lanes behind the last box touch nothing.
    if (count % kLanes == 0)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        x0[count + lane] = y0[count + lane] = x1[count + lane] = y1[count + lane] = 0;
    x0[count] = box.x0;
    y0[count] = box.y0;
    x1[count] = box.x1;
    y1[count++] = box.y1;
  }

  /// Returns whether any of them overlaps with `box` by more than the threshold; the numbers are
  /// those of Box::overlap.
  bool hide(const Box &box, float threshold) const {
    const float area = box.area();
    for (int64_t first = 0; first < count; first += kLanes) {
      uint32_t hidden = 0;
      for (int64_t i = first; i < first + kLanes; ++i) {
        const float w = minimum(box.x1, x1[i]) - maximum(box.x0, x0[i]);
        const float h = minimum(box.y1, y1[i]) - maximum(box.y0, y0[i]);
        const float other = (x1[i] - x0[i]) * (y1[i] - y0[i]), common = w * h;
        const float part = common / (area + other - common);
        hidden |= uint32_t((w > 0) & (h > 0) & (area > 0) & (other > 0) & (part >= 0) &
                           (part > threshold));
      }
      if (hidden)
        return true;
    }
    return false;
  }
};

/// Returns a number by which falling scores sort, equal ones by their index, and NaN last.
uint64_t sortKey(float score, int64_t index) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, score + 0.0f); // -0 is 0
  const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return uint64_t(isNan(score) ? ~0u : ~rising) << 32 | uint32_t(index);
}
} // namespace

ATC_KERNEL(NonMaxSuppression) {
  const Tensor boxes = in(0), scores = in(1);
  if (boxes.rank() != 3 || boxes.dim(2) != 4 || scores.rank() != 3 ||
      scores.dim(0) != boxes.dim(0) || scores.dim(2) != boxes.dim(1))
    return fail("boxes of rank % and scores of rank % do not fit", boxes.rank(), scores.rank());
  for (uint32_t i = 0; i < 5; ++i)
    if (in(i) && !in(i).known())
      return;
  const int64_t batch = boxes.dim(0), count = boxes.dim(1), classes = scores.dim(1);
  const int64_t limit = in(2) && in(2).count() ? integerAt(in(2), 0) : 0;
  const int64_t max = minimum(maximum(limit, int64_t(0)), count);
  const float threshold = in(3) && in(3).count() ? float(numberAt(in(3), 0)) : 0;
  const bool hasLeast = in(4) && in(4).count();
  const float min = hasLeast ? float(numberAt(in(4), 0)) : 0;
  if (boxes.dtype() != F32 || scores.dtype() != F32)
    return failType(boxes.dtype());
  int64_t *chosen = scratch<int64_t>(3 * batch * classes * max + 1);
  uint64_t *order = scratch<uint64_t>(2 * count + 1);
  float *room = scratch<float>(4 * ChosenBoxes::roomOf(max) + 1);
  if (!chosen || !order || !room)
    return;
  if (count > int64_t(UINT32_MAX))
    return fail("% boxes are too many", count);
  const bool centered = integer("center_point_box", 0);
  int64_t total = 0;
  for (int64_t row = 0; max && row < batch * classes; ++row) {
    const float *score = scores.as<float>() + row * count;
    const float *box = boxes.as<float>() + row / classes * count * 4;
    int64_t candidates = 0;
    for (int64_t i = 0; i < count; ++i)
      if (!hasLeast || score[i] > min)
        order[candidates++] = sortKey(score[i], i);
    sortIndices(order, order + count, candidates, [](uint64_t a, uint64_t b) { return a < b; });
    ChosenBoxes before(room, max);
    for (int64_t i = 0; i < candidates && before.count < max; ++i) {
      const int64_t index = uint32_t(order[i]);
      const Box now(box + index * 4, centered);
      if (before.hide(now, threshold))
        continue;
      before.add(now);
      chosen[3 * total] = row / classes;
      chosen[3 * total + 1] = row % classes;
      chosen[3 * total + 2] = index;
      ++total;
    }
  }
  if (int64_t *out = make<int64_t>(0, I64, Dims(total, 3)))
    copyBytes(out, chosen, total * 3 * int64_t(sizeof(int64_t)));
}

/// TensorFlow's soft suppression: the score of a box falls with its overlap with each box that was
/// chosen before. Outputs: the chosen boxes, and their scores when they were chosen.
ATC_KERNEL(SoftSuppression) {
  const Tensor boxes = in(0), scores = in(1);
  for (uint32_t i = 0; i < 5; ++i)
    if (!in(i).known())
      return;
  const int64_t count = scores.count();
  if (boxes.dim(1) != 4 || boxes.dim(0) != count)
    return fail("% boxes of % numbers and % scores do not fit", boxes.dim(0), boxes.dim(1), count);
  const int64_t max = minimum(maximum(integerAt(in(2), 0), int64_t(0)), count);
  const float min = float(numberAt(in(3), 0)), deviation = float(numberAt(in(4), 0));
  if (!(deviation > 0))
    return fail("the deviation is not above 0");
  const float scale = -0.5f / deviation;
  int64_t *chosen = scratch<int64_t>(max + 1), *seen = scratch<int64_t>(count + 1);
  float *now = scratch<float>(count + max + 1);
  if (!chosen || !seen || !now)
    return;
  float *best = now + count;
  for (int64_t i = 0; i < count; ++i) {
    seen[i] = 0;
    now[i] = scores.as<float>()[i];
  }
  int64_t total = 0;
  while (total < max) {
    // The best one, of equal scores the first.
    int64_t next = -1;
    for (int64_t i = 0; i < count; ++i)
      if (seen[i] >= 0 && now[i] > min && (next < 0 || now[i] > now[next]))
        next = i;
    if (next < 0)
      break;
    const float before = now[next];
    const Box box(boxes.as<float>() + next * 4, false);
    for (int64_t j = total - 1; j >= seen[next] && now[next] > min; --j) {
      const float part = maximum(box.overlap(Box(boxes.as<float>() + chosen[j] * 4, false)), 0.0f);
      now[next] *= float(math::exp(scale * part * part));
    }
    seen[next] = total;
    if (now[next] != before)
      continue; // others may be better now
    best[total] = before;
    chosen[total++] = next;
    seen[next] = -1;
  }
  // While shapes are inferred, elements may be written only once all outputs are made.
  int64_t *out = wants(0) ? make<int64_t>(0, I64, Dims(total)) : nullptr;
  float *kept = wants(1) ? make<float>(1, F32, Dims(total)) : nullptr;
  if ((wants(0) && !out) || (wants(1) && !kept))
    return;
  if (out)
    copyBytes(out, chosen, total * int64_t(sizeof(int64_t)));
  if (kept)
    copyBytes(kept, best, total * int64_t(sizeof(float)));
}

/// Suppression by overlaps that are stated: of the scores [n] above `min` (input 4), best first,
/// at most `max` (input 2) are chosen, none of which overlaps one chosen before by more than input
/// 3. Element (i, j) of input 0 [n, n] is the overlap of i and j.
ATC_KERNEL(OverlapSuppression) {
  const Tensor overlaps = in(0), scores = in(1);
  for (uint32_t i = 0; i < 5; ++i)
    if (!in(i).known())
      return;
  const int64_t count = scores.count();
  if (overlaps.count() != count * count)
    return fail("% overlaps of % scores do not fit", overlaps.count(), count);
  const int64_t max = minimum(maximum(integerAt(in(2), 0), int64_t(0)), count);
  const float limit = float(numberAt(in(3), 0)), min = float(numberAt(in(4), 0));
  int64_t *order = scratch<int64_t>(2 * count + 1), *chosen = scratch<int64_t>(max + 1);
  if (!order || !chosen)
    return;
  int64_t candidates = 0, total = 0;
  const float *score = scores.as<float>();
  for (int64_t i = 0; i < count; ++i)
    if (score[i] > min)
      order[candidates++] = i;
  sortIndices(order, order + count, candidates,
              [=](int64_t a, int64_t b) { return score[a] > score[b]; });
  for (int64_t at = 0; at < candidates && total < max; ++at) {
    const float *row = overlaps.as<float>() + order[at] * count;
    bool isFree = true;
    for (int64_t i = 0; i < total && isFree; ++i)
      isFree = !(row[chosen[i]] > limit);
    if (isFree)
      chosen[total++] = order[at];
  }
  if (int64_t *out = make<int64_t>(0, I64, Dims(total)))
    copyBytes(out, chosen, total * int64_t(sizeof(int64_t)));
}

} // namespace atc::kernels
