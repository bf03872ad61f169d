//===-- Vpc.cpp - resize, crop, paste, convert, border ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Planes.h"
#include "ascend/src/Context.h"

#include <algorithm>
#include <optional>

using namespace atc::ascend;

namespace {

/// Describes the result for a picture; its arguments were checked.
struct Job {
  Picture source, target;
  Area crop, paste;
  uint32_t interpolation = 0;
  acldvppCscMatrix matrix = ACL_DVPP_CSC_MATRIX_BT601_WIDE;
  std::optional<Border> border;
  bool pyramid = false;
  std::shared_ptr<PicDesc> desc;
  std::shared_ptr<Block> blocks[2];

  void run() const;
};

uint8_t borderValue(const Border &border, size_t channel) {
  return static_cast<uint8_t>(border.values[std::min<size_t>(channel, 3)]);
}

/// Halves a plane with the weights 1 4 6 4 1 along both sides.
Plane pyramidDown(const Plane &plane) {
  const Plane wide = addBorder(plane, 2, 2, 2, 2, BORDER_REFLECT_101, 0);
  Plane result((plane.width + 1) / 2, (plane.height + 1) / 2);
  constexpr unsigned weights[5] = {1, 4, 6, 4, 1};
  for (uint32_t y = 0; y < result.height; ++y)
    for (uint32_t x = 0; x < result.width; ++x) {
      unsigned sum = 128;
      for (uint32_t j = 0; j < 5; ++j)
        for (uint32_t i = 0; i < 5; ++i)
          sum += weights[i] * weights[j] * wide.at(2 * x + i, 2 * y + j);
      result.at(x, y) = uint8_t(sum >> 8);
    }
  return result;
}

void Job::run() const {
  Planes planes = loadPlanes(source, crop);
  const FormatFacts &format = *factsOf(target.format);
  if (pyramid)
    planes.channels[0] = pyramidDown(planes.channels[0]);
  uint32_t width = paste.width(), height = paste.height();
  if (border) {
    width -= border->left + border->right;
    height -= border->top + border->bottom;
  }
  planes = resizePlanes(planes, width, height, format, interpolation, matrix);
  if (border)
    for (size_t channel = 0; channel < planes.channels.size(); ++channel) {
      const unsigned xShift = channel ? format.xShift : 0, yShift = channel ? format.yShift : 0;
      // The shifts round odd borders down. The right and the bottom border take the remainder, so
      // that the channel covers all columns and rows of the target area.
      const Plane &inner = planes.channels[channel];
      const uint32_t left = border->left >> xShift, top = border->top >> yShift;
      const uint32_t right = shifted(paste.width(), xShift) - inner.width - left;
      const uint32_t bottom = shifted(paste.height(), yShift) - inner.height - top;
      planes.channels[channel] =
          addBorder(inner, top, bottom, left, right, border->type, borderValue(*border, channel));
    }
  storePlanes(planes, target, paste);
  desc->change([&](Picture &picture) {
    picture.widthStride = target.widthStride;
    picture.heightStride = target.heightStride;
    picture.retCode = 0;
  });
}

aclError findPicture(const char *function, const char *what, const acldvppPicDesc *handle,
                     std::shared_ptr<PicDesc> &desc) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", what);
  if (!(desc = picDescs().find(handle)))
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "%s (%p) was destroyed, or is no picture", what, static_cast<const void *>(handle));
  return ACL_SUCCESS;
}

/// Returns the columns or rows that an area may have. The device works on pictures of even sides:
/// a program that rounds the corners of an area to even numbers reaches the column behind an odd
/// side, which is part of the stride.
uint32_t reachable(uint32_t side, uint32_t stride) {
  return std::max(side, std::min(side + side % 2, stride));
}

/// Writes an area; the whole picture where there is none to give.
aclError readArea(const char *function, const char *what, const acldvppRoiConfig *handle,
                  const Picture &picture, Area &area) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", what);
  auto found = areas().find(handle);
  if (!found)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function, "%s (%p) was destroyed, or is no area",
                what, static_cast<const void *>(handle));
  area = *found;
  const uint32_t columns =
      reachable(picture.width, picture.widthStride / factsOf(picture.format)->bytes);
  const uint32_t rows = reachable(picture.height, picture.heightStride);
  if (area.left > area.right || area.top > area.bottom || area.right >= columns ||
      area.bottom >= rows)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "%s is columns %u to %u and rows %u to %u, the picture has %u x %u pixels", what,
                area.left, area.right, area.top, area.bottom, picture.width, picture.height);
  return ACL_SUCCESS;
}

/// Holds the arguments of a call of the interface for one source and one target.
struct Call {
  const acldvppChannelDesc *channel = nullptr;
  const acldvppPicDesc *input = nullptr;
  acldvppPicDesc *output = nullptr;
  const acldvppRoiConfig *crop = nullptr, *paste = nullptr;
  const acldvppResizeConfig *resize = nullptr;
  const acldvppBorderConfig *border = nullptr;
  bool crops = false, pastes = false, resizes = false, borders = false, pyramid = false;
};

aclError prepare(const char *function, const Call &call, Job &job) {
  Channel channel;
  ACL_TRY(findChannel(function, call.channel, channel));
  job.matrix = channel.matrix;
  job.pyramid = call.pyramid;
  std::shared_ptr<PicDesc> input;
  ACL_TRY(findPicture(function, "the input", call.input, input));
  ACL_TRY(findPicture(function, "the output", call.output, job.desc));
  job.source = input->get();
  job.target = job.desc->get();
  ACL_TRY(checkPicture(function, "the input", job.source, job.blocks[0]));
  ACL_TRY(checkPicture(function, "the output", job.target, job.blocks[1]));
  job.crop = {0, job.source.width - 1, 0, job.source.height - 1};
  job.paste = {0, job.target.width - 1, 0, job.target.height - 1};
  if (call.crops)
    ACL_TRY(readArea(function, "cropArea", call.crop, job.source, job.crop));
  if (call.pastes)
    ACL_TRY(readArea(function, "pasteArea", call.paste, job.target, job.paste));
  if (call.resizes) {
    if (!call.resize)
      return fail(ACL_ERROR_INVALID_PARAM, function, "resizeConfig is NULL");
    auto config = resizeConfigs().find(call.resize);
    if (!config)
      return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                  "resizeConfig (%p) was destroyed, or is of another kind",
                  static_cast<const void *>(call.resize));
    job.interpolation = config->interpolation;
  }
  if (call.borders) {
    auto border = borders().find(call.border);
    if (!border)
      return fail(call.border ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM,
                  function, "borderConfig (%p) was destroyed, or is of another kind",
                  static_cast<const void *>(call.border));
    job.border = *border;
    const uint64_t across = uint64_t(border->left) + border->right,
                   down = uint64_t(border->top) + border->bottom;
    if (across >= job.paste.width() || down >= job.paste.height())
      return fail(ACL_ERROR_INVALID_PARAM, function,
                  "borders of %llu columns and %llu rows leave nothing of %u x %u pixels",
                  (unsigned long long)across, (unsigned long long)down, job.paste.width(),
                  job.paste.height());
  }
  return ACL_SUCCESS;
}

aclError enqueueJobs(const char *function, std::vector<Job> jobs, aclrtStream stream) {
  return enqueue(function, stream, [jobs = std::move(jobs)] {
    for (const Job &job : jobs)
      job.run();
    return ACL_SUCCESS;
  });
}

aclError process(const char *function, const Call &call, aclrtStream stream) {
  Job job;
  ACL_TRY(prepare(function, call, job));
  return enqueueJobs(function, {job}, stream);
}

/// Holds the arguments of a call for a batch, without the channel.
struct BatchCall {
  acldvppBatchPicDesc *sources, *targets;
  const uint32_t *counts;
  uint32_t size;
  acldvppRoiConfig **crops;
  acldvppRoiConfig **pastes = nullptr;
  acldvppBorderConfig **borders = nullptr;
};

aclError processBatch(const char *function, const BatchCall &batch, Call call, aclrtStream stream) {
  auto sources = batches().find(batch.sources), targets = batches().find(batch.targets);
  if (!sources || !targets)
    return fail(batch.sources && batch.targets ? ACL_ERROR_INVALID_RESOURCE_HANDLE
                                               : ACL_ERROR_INVALID_PARAM,
                function, "%s is NULL, was destroyed, or is no batch",
                sources ? "dstBatchPicDescs" : "srcBatchPicDescs");
  if (!batch.counts || !batch.crops || (call.pastes && !batch.pastes) ||
      (call.borders && !batch.borders))
    return fail(ACL_ERROR_INVALID_PARAM, function, "a list of the call is NULL");
  if (batch.size != sources->pictures.size())
    return fail(ACL_ERROR_INVALID_PARAM, function, "size is %u, the batch has %zu pictures",
                batch.size, sources->pictures.size());
  uint64_t total = 0;
  for (uint32_t i = 0; i < batch.size; ++i)
    total += batch.counts[i];
  if (total != targets->pictures.size())
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "roiNums are %llu areas together, the batch of outputs has %zu pictures",
                (unsigned long long)total, targets->pictures.size());
  std::vector<Job> jobs;
  size_t target = 0;
  for (uint32_t source = 0; source < batch.size; ++source)
    for (uint32_t i = 0; i < batch.counts[source]; ++i, ++target) {
      call.input = sources->pictures[source];
      call.output = targets->pictures[target];
      call.crop = batch.crops[target];
      call.paste = call.pastes ? batch.pastes[target] : nullptr;
      call.border = call.borders ? batch.borders[target] : nullptr;
      Job job;
      ACL_TRY(prepare(function, call, job));
      jobs.push_back(std::move(job));
    }
  return enqueueJobs(function, std::move(jobs), stream);
}

/// Checks that a crop without resizing has the size of its output.
aclError checkSameSize(const char *function, const Call &call) {
  Job job;
  ACL_TRY(prepare(function, call, job));
  if (job.crop.width() != job.paste.width() || job.crop.height() != job.paste.height())
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "cropArea has %u x %u pixels, the output %u x %u; a function that resizes has "
                "Resize in its name",
                job.crop.width(), job.crop.height(), job.paste.width(), job.paste.height());
  return ACL_SUCCESS;
}

} // namespace

aclError acldvppVpcResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                               acldvppPicDesc *outputDesc, acldvppResizeConfig *resizeConfig,
                               aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc};
  call.resize = resizeConfig;
  call.resizes = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcCropAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                             acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                             aclrtStream stream) {
  // The device fits the area to the output, too.
  Call call{channelDesc, inputDesc, outputDesc, cropArea};
  call.crops = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                   acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                   acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc, cropArea, nullptr, resizeConfig};
  call.crops = call.resizes = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                     acldvppRoiConfig *pasteArea, aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc, cropArea, pasteArea};
  call.crops = call.pastes = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                        acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                        acldvppRoiConfig *pasteArea,
                                        acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc, cropArea, pasteArea, resizeConfig};
  call.crops = call.pastes = call.resizes = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcConvertColorAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc};
  ACL_TRY(checkSameSize(__func__, call));
  return process(__func__, call, stream);
}

aclError acldvppVpcPyrDownAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                acldvppPicDesc *outputDesc, void *reserve, aclrtStream stream) {
  if (reserve)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
  Call call{channelDesc, inputDesc, outputDesc};
  call.pyramid = true;
  Job job;
  ACL_TRY(prepare(__func__, call, job));
  if (job.source.format != PIXEL_FORMAT_YUV_400 || job.target.format != PIXEL_FORMAT_YUV_400)
    ACL_FAIL(ACL_ERROR_FORMAT_NOT_MATCH, "both pictures must be YUV400");
  if (job.target.width != (job.source.width + 1) / 2 ||
      job.target.height != (job.source.height + 1) / 2)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the output has %u x %u pixels; it must have %u x %u",
             job.target.width, job.target.height, (job.source.width + 1) / 2,
             (job.source.height + 1) / 2);
  return enqueueJobs(__func__, {job}, stream);
}

aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc *channelDesc,
                                   const acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                                   const acldvppBorderConfig *borderConfig, aclrtStream stream) {
  Call call{channelDesc, inputDesc, outputDesc};
  call.border = borderConfig;
  call.borders = true;
  return process(__func__, call, stream);
}

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc *channelDesc,
                                  acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                  uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                  acldvppRoiConfig *cropAreas[], aclrtStream stream) {
  Call call{channelDesc};
  call.crops = true;
  return processBatch(__func__, {srcBatchPicDescs, dstBatchPicDescs, roiNums, size, cropAreas},
                      call, stream);
}

aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc *channelDesc,
                                        acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                        uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                        acldvppRoiConfig *cropAreas[],
                                        acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Call call{channelDesc};
  call.resize = resizeConfig;
  call.crops = call.resizes = true;
  return processBatch(__func__, {srcBatchPicDescs, dstBatchPicDescs, roiNums, size, cropAreas},
                      call, stream);
}

aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc *channelDesc,
                                          acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                          uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                          acldvppRoiConfig *cropAreas[],
                                          acldvppRoiConfig *pasteAreas[], aclrtStream stream) {
  Call call{channelDesc};
  call.crops = call.pastes = true;
  return processBatch(__func__,
                      {srcBatchPicDescs, dstBatchPicDescs, roiNums, size, cropAreas, pasteAreas},
                      call, stream);
}

aclError acldvppVpcBatchCropResizePasteAsync(
    acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
    uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs, acldvppRoiConfig *cropAreas[],
    acldvppRoiConfig *pasteAreas[], acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Call call{channelDesc};
  call.resize = resizeConfig;
  call.crops = call.pastes = call.resizes = true;
  return processBatch(__func__,
                      {srcBatchPicDescs, dstBatchPicDescs, roiNums, size, cropAreas, pasteAreas},
                      call, stream);
}

aclError acldvppVpcBatchCropResizeMakeBorderAsync(
    acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
    uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs, acldvppRoiConfig *cropAreas[],
    acldvppBorderConfig *borderCfgs[], acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Call call{channelDesc};
  call.resize = resizeConfig;
  call.crops = call.resizes = call.borders = true;
  return processBatch(
      __func__, {srcBatchPicDescs, dstBatchPicDescs, roiNums, size, cropAreas, nullptr, borderCfgs},
      call, stream);
}
