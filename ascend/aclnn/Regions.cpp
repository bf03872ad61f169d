//===-- Regions.cpp - aclnn functions of regions and boxes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>
#include <string_view>

using namespace atc::ascend;

namespace {

//===--- Regions of images --------------------------------------------------===//

/// Returns an image between its elements; 0 more than one element outside.
double sampleOf(const double *image, int64_t height, int64_t width, double y, double x) {
  if (!(y >= -1 && y <= double(height) && x >= -1 && x <= double(width)))
    return 0;
  y = std::clamp(y, 0.0, double(height - 1));
  x = std::clamp(x, 0.0, double(width - 1));
  const int64_t top = int64_t(y), left = int64_t(x);
  const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double v = y - double(top), u = x - double(left);
  return (1 - v) * ((1 - u) * image[top * width + left] + u * image[top * width + right]) +
         v * ((1 - u) * image[bottom * width + left] + u * image[bottom * width + right]);
}

/// The names of a function and of its arguments in messages.
struct RegionNames {
  const char *function, *images, *height, *width;
};

/// Averages samples in each bin of each region [x1, y1, x2, y2], which is one element wide at
/// least. `isCentred`: elements lie at their centres, and regions may be narrower.
View aligned(Plan &plan, const View &self, const View &rois, const View &batches, const char *mode,
             int64_t rows, int64_t columns, int64_t ratio, double scale, const RegionNames &names,
             bool isCentred = false) {
  if (plan.isGood() && (!mode || std::string_view(mode) != "avg"))
    plan.reject("mode is '%s'; it must be avg", mode ? mode : "NULL");
  if (plan.isGood() && (self.dims.size() != 4 || countOf(self.dims) == 0 || rois.dims.size() != 2 ||
                        rois.dims[1] != 4 || batches.dims != Dims{rois.dims[0]} ||
                        isFloat(batches.type) || rows < 1 || columns < 1 || ratio < 0 ||
                        !(scale > 0) || rows > 1 << 14 || columns > 1 << 14 || ratio > 1 << 10))
    plan.reject("self %s must have 4 dims and elements, regions %s be [n, 4], %s n whole numbers, "
                "%s and %s be 1 to 16384, samplingRatio 0 to 1024, and spatialScale positive",
                textOf(self.dims).c_str(), textOf(rois.dims).c_str(), names.images, names.height,
                names.width);
  if (!plan.isGood())
    return {};
  const int64_t channels = self.dims[1], height = self.dims[2], width = self.dims[3];
  const View x = plan.dense(self, ACL_DOUBLE), boxes = plan.dense(rois, ACL_DOUBLE),
             own = plan.dense(batches, ACL_INT64),
             result = plan.make(ACL_DOUBLE, {rois.dims[0], channels, rows, columns});
  plan.onHost(
      {x, boxes, own, result},
      [=, count = rois.dims[0], images = self.dims[0]](const auto &at) -> aclError {
        auto *to = reinterpret_cast<double *>(at[3]);
        for (int64_t roi = 0; roi < count; ++roi) {
          auto *box = reinterpret_cast<const double *>(at[1]) + roi * 4;
          const int64_t batch = reinterpret_cast<const int64_t *>(at[2])[roi];
          if (batch < 0 || batch >= images)
            return fail(ACL_ERROR_INVALID_PARAM, names.function,
                        "%s have %lld; there are %lld images", names.images, (long long)batch,
                        (long long)images);
          const double shift = isCentred ? 0.5 : 0, smallest = isCentred ? -HUGE_VAL : 1;
          const double left = box[0] * scale - shift, top = box[1] * scale - shift;
          const double wide = std::max(box[2] * scale - shift - left, smallest) / double(columns),
                       high = std::max(box[3] * scale - shift - top, smallest) / double(rows);
          // Those that are centred may be turned around, and have a size below 0.
          if (!(std::fabs(wide) < 1e6 && std::fabs(high) < 1e6) ||
              (ratio == 0 && std::ceil(wide) * std::ceil(high) > 1 << 24))
            return fail(ACL_ERROR_INVALID_PARAM, names.function,
                        "region %lld has no size that an image has", (long long)roi);
          const int64_t down = ratio ? ratio : int64_t(std::ceil(high)),
                        across = ratio ? ratio : int64_t(std::ceil(wide));
          for (int64_t channel = 0; channel < channels; ++channel) {
            auto *image = reinterpret_cast<const double *>(at[0]) +
                          (batch * channels + channel) * height * width;
            for (int64_t bin = 0; bin < rows * columns; ++bin) {
              double sum = 0;
              for (int64_t i = 0; i < down; ++i)
                for (int64_t j = 0; j < across; ++j)
                  sum += sampleOf(
                      image, height, width,
                      top + high * (double(bin / columns) + (double(i) + 0.5) / double(down)),
                      left + wide * (double(bin % columns) + (double(j) + 0.5) / double(across)));
              // A region without an extent has no samples of its own number.
              *to++ = down > 0 && across > 0 ? sum / double(down * across) : 0;
            }
          }
        }
        return ACL_SUCCESS;
      });
  return result;
}

//===--- Boxes --------------------------------------------------------------===//

using Box = std::array<double, 4>; ///< top, left, bottom, right

Box boxOf(const double *given, bool isCentred) {
  if (isCentred) // x, y, width, height
    return {given[1] - given[3] / 2, given[0] - given[2] / 2, given[1] + given[3] / 2,
            given[0] + given[2] / 2};
  return {std::min(given[0], given[2]), std::min(given[1], given[3]), std::max(given[0], given[2]),
          std::max(given[1], given[3])};
}

double areaOf(const Box &box) {
  return std::max(box[2] - box[0], 0.0) * std::max(box[3] - box[1], 0.0);
}

double overlapOf(const Box &a, const Box &b) {
  const Box both{std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]),
                 std::min(a[3], b[3])};
  const double common = areaOf(both), all = areaOf(a) + areaOf(b) - common;
  return all > 0 ? common / all : 0;
}

/// Returns the boxes of a class that are kept, by falling scores.
std::vector<int64_t> keptBoxes(const std::vector<Box> &boxes, const double *scores, int64_t max,
                               double overlap, double min) {
  std::vector<int64_t> order, kept;
  for (int64_t i = 0; i < int64_t(boxes.size()); ++i)
    if (scores[i] > min)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t own : order) {
    if (int64_t(kept.size()) >= max)
      break;
    if (std::none_of(kept.begin(), kept.end(), [&](int64_t other) {
          return overlapOf(boxes[size_t(own)], boxes[size_t(other)]) > overlap;
        }))
      kept.push_back(own);
  }
  return kept;
}

} // namespace

ACLNN_FUNCTION(RoiAlign,
               (const aclTensor *self, const aclTensor *rois, const aclTensor *batchIndices,
                const char *mode, int outputHeight, int outputWidth, int samplingRatio,
                float spatialScale, aclTensor *out),
               out,
               aligned(plan, IN(self), IN(rois), IN(batchIndices), mode, outputHeight, outputWidth,
                       samplingRatio, double(spatialScale),
                       {"aclnnRoiAlign", "batchIndices", "outputHeight", "outputWidth"}))

aclnnStatus aclnnRoiAlignV2GetWorkspaceSize(const aclTensor *self, const aclTensor *boxes,
                                            int64_t pooledHeight, int64_t pooledWidth,
                                            float spatialScale, int64_t samplingRatio, bool aligned,
                                            aclTensor *out, uint64_t *size,
                                            aclOpExecutor **executor) {
  Plan plan(__func__);
  const View image = plan.input(self, "self"), rows = plan.input(boxes, "boxes"),
             result = plan.output(out, "out");
  if (plan.isGood() && (rows.dims.size() != 2 || rows.dims[1] != 5))
    plan.reject("boxes %s must be [n, 5]: the number of the image and the region",
                textOf(rows.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  View own = rows, regions = rows;
  own.dims.pop_back();
  own.strides.pop_back();
  regions.dims[1] = 4;
  regions.offset += regions.strides[1];
  plan.write(::aligned(plan, image, regions, plan.dense(own, ACL_INT64), "avg", pooledHeight,
                       pooledWidth, std::max<int64_t>(samplingRatio, 0), double(spatialScale),
                       {__func__, "the numbers of images in boxes", "pooledHeight", "pooledWidth"},
                       aligned),
             result);
  return plan.finish(size, executor);
}
ACLNN_RUN(RoiAlignV2)

aclnnStatus aclnnNonMaxSuppressionGetWorkspaceSize(
    const aclTensor *boxes, const aclTensor *scores, aclIntArray *maxOutputBoxesPerClass,
    aclFloatArray *iouThreshold, aclFloatArray *scoreThreshold, int32_t centerPointBox,
    aclTensor *selectedIndices, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = plan.input(boxes, "boxes"), values = plan.input(scores, "scores"),
             out = plan.output(selectedIndices, "selectedIndices");
  const Dims max = maxOutputBoxesPerClass
                       ? plan.numbers(maxOutputBoxesPerClass, "maxOutputBoxesPerClass")
                       : Dims{0};
  const std::vector<float> overlap = iouThreshold ? plan.numbers(iouThreshold, "iouThreshold")
                                                  : std::vector<float>{0},
                           min = scoreThreshold ? plan.numbers(scoreThreshold, "scoreThreshold")
                                                : std::vector<float>{-HUGE_VALF};
  if (plan.isGood() && (given.dims.size() != 3 || given.dims[2] != 4 || values.dims.size() != 3 ||
                        values.dims[0] != given.dims[0] || values.dims[2] != given.dims[1] ||
                        out.dims.size() != 2 || out.dims[1] != 3))
    plan.reject("boxes %s must be [batches, n, 4], scores %s [batches, classes, n], and "
                "selectedIndices %s [m, 3]",
                textOf(given.dims).c_str(), textOf(values.dims).c_str(), textOf(out.dims).c_str());
  if (plan.isGood() &&
      (max.size() != 1 || overlap.size() != 1 || min.size() != 1 ||
       !(overlap[0] >= 0 && overlap[0] <= 1) || centerPointBox < 0 || centerPointBox > 1))
    plan.reject("maxOutputBoxesPerClass, iouThreshold and scoreThreshold must have one number, "
                "iouThreshold be 0 to 1, and centerPointBox 0 or 1");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View all = plan.dense(given, ACL_DOUBLE), own = plan.dense(values, ACL_DOUBLE),
             rows = plan.make(ACL_INT64, out.dims);
  plan.onHost(
      {all, own, rows},
      [=, batches = given.dims[0], count = given.dims[1], classes = values.dims[1],
       room = out.dims[0], limit = max[0], share = double(overlap[0]),
       low = double(min[0])](const auto &at) -> aclError {
        auto *to = reinterpret_cast<int64_t *>(at[2]);
        std::fill(to, to + room * 3, -1);
        int64_t row = 0;
        for (int64_t batch = 0; batch < batches; ++batch) {
          std::vector<Box> list;
          for (int64_t i = 0; i < count; ++i)
            list.push_back(boxOf(reinterpret_cast<const double *>(at[0]) + (batch * count + i) * 4,
                                 centerPointBox == 1));
          for (int64_t c = 0; c < classes; ++c)
            for (int64_t box : keptBoxes(
                     list, reinterpret_cast<const double *>(at[1]) + (batch * classes + c) * count,
                     limit, share, low)) {
              if (row == room)
                return ACL_SUCCESS;
              to[3 * row] = batch;
              to[3 * row + 1] = c;
              to[3 * row++ + 2] = box;
            }
        }
        return ACL_SUCCESS;
      });
  plan.write(rows, out);
  return plan.finish(size, executor);
}
ACLNN_RUN(NonMaxSuppression)
