//===-- HiVpc.cpp - hi_mpi_vpc_resize and the like ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/dvpp/hi_dvpp_vpc.h"

#include "ascend/dvpp/HiVpc.h"
#include "ascend/dvpp/Planes.h"

#include <algorithm>
#include <cmath>

namespace atc::ascend {

HiChannels<VpcChannel> &vpcChannels() {
  static auto &channels = *new HiChannels<VpcChannel>(HI_ID_VPC, VPC_MAX_CHN_NUM);
  return channels;
}

hi_s32 readVpcPicture(const char *function, const char *what, const hi_vpc_pic_info *info,
                      Picture &picture) {
  if (!info)
    return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, function, "%s is NULL", what);
  picture = pictureOf(*info);
  std::shared_ptr<Block> block;
  return hiError(HI_ID_VPC, checkPicture(function, what, picture, block));
}

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Describes one result: an area of the source, resized, at an offset of the target.
struct Part {
  hi_vpc_crop_region crop; ///< Without width and height: the whole source.
  uint32_t width = 0, height = 0;
  uint32_t left = 0, top = 0;
  uint32_t interpolation = 0;
  const hi_vpc_scalar *border = nullptr; ///< Fills the rest of the target.
  hi_vpc_bord_type borderType = HI_BORDER_CONSTANT;
};

hi_s32 illegal(const char *function, const char *what, uint64_t given, uint64_t limit) {
  return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function, "%s is %llu; the limit is %llu", what,
                (unsigned long long)given, (unsigned long long)limit);
}

uint8_t channelValue(const hi_vpc_scalar &scalar, size_t channel) {
  return uint8_t(std::clamp(std::lround(scalar.val[std::min<size_t>(channel, 3)]), 0L, 255L));
}

/// Adds borders to all channels so that a picture of the target's size results.
void fillRest(Planes &planes, const Picture &target, const FormatFacts &format, const Part &part) {
  for (size_t channel = 0; channel < planes.channels.size(); ++channel) {
    const unsigned xShift = channel ? format.xShift : 0, yShift = channel ? format.yShift : 0;
    const Plane &inner = planes.channels[channel];
    const uint32_t left = part.left >> xShift, top = part.top >> yShift;
    planes.channels[channel] =
        addBorder(inner, top, shifted(target.height, yShift) - inner.height - top, left,
                  shifted(target.width, xShift) - inner.width - left,
                  acldvppBorderType(int(part.borderType)), channelValue(*part.border, channel));
  }
}

/// Checks the areas of a part against its pictures, and computes it.
hi_s32 computePart(const char *function, const VpcChannel &channel, const Picture &source,
                   const Picture &target, Part part) {
  if (part.crop.crop_width == 0 && part.crop.crop_height == 0)
    part.crop = {0, 0, source.width, source.height};
  if (part.width == 0)
    part.width = target.width;
  if (part.height == 0)
    part.height = target.height;
  const hi_vpc_crop_region &crop = part.crop;
  if (crop.crop_width == 0 || uint64_t(crop.left_offset) + crop.crop_width > source.width)
    return illegal(function, "the right end of the area",
                   uint64_t(crop.left_offset) + crop.crop_width, source.width);
  if (crop.crop_height == 0 || uint64_t(crop.top_offset) + crop.crop_height > source.height)
    return illegal(function, "the lower end of the area",
                   uint64_t(crop.top_offset) + crop.crop_height, source.height);
  if (uint64_t(part.left) + part.width > target.width)
    return illegal(function, "the right end of the result", uint64_t(part.left) + part.width,
                   target.width);
  if (uint64_t(part.top) + part.height > target.height)
    return illegal(function, "the lower end of the result", uint64_t(part.top) + part.height,
                   target.height);
  if (part.interpolation > 1)
    return illegal(function, "interpolation", part.interpolation, 1);
  if (part.border && (int(part.borderType) < 0 || part.borderType > HI_BORDER_REFLECT_101))
    return illegal(function, "border_type", part.borderType, HI_BORDER_REFLECT_101);

  const FormatFacts &format = *factsOf(target.format);
  Planes planes = loadPlanes(source, {crop.left_offset, crop.left_offset + crop.crop_width - 1,
                                      crop.top_offset, crop.top_offset + crop.crop_height - 1});
  // The first interface numbers the interpolation 3 that is 1 here.
  planes = resizePlanes(planes, part.width, part.height, format, part.interpolation ? 3 : 0,
                        channel.matrix);
  Area area{part.left, part.left + part.width - 1, part.top, part.top + part.height - 1};
  if (part.border) {
    fillRest(planes, target, format, part);
    area = {0, target.width - 1, 0, target.height - 1};
  }
  storePlanes(planes, target, area);
  return HI_SUCCESS;
}

/// Computes the parts of one source, each with a target of its own.
hi_s32 computeParts(const char *function, const VpcChannel &channel,
                    const hi_vpc_pic_info *sourceInfo, const std::vector<Part> &parts,
                    const std::vector<const hi_vpc_pic_info *> &targets) {
  Picture source;
  HI_TRY(readVpcPicture(function, "the source", sourceInfo, source));
  for (size_t i = 0; i < parts.size(); ++i) {
    Picture target;
    HI_TRY(readVpcPicture(function, "the target", targets[i], target));
    HI_TRY(computePart(function, channel, source, target, parts[i]));
  }
  return HI_SUCCESS;
}

Part partOf(const hi_vpc_crop_region_info &info) {
  return {info.crop_region, info.crop_region.crop_width, info.crop_region.crop_height};
}

Part partOf(const hi_vpc_crop_resize_region &info) {
  Part part{info.crop_region, info.resize_info.resize_width, info.resize_info.resize_height};
  part.interpolation = info.resize_info.interpolation;
  return part;
}

template <typename Region> Part placed(const Region &info) {
  Part part{info.crop_region, info.resize_info.resize_width, info.resize_info.resize_height,
            info.dest_left_offset, info.dest_top_offset};
  part.interpolation = info.resize_info.interpolation;
  return part;
}

Part partOf(const hi_vpc_crop_resize_paste_region &info) { return placed(info); }

Part partOf(const hi_vpc_crop_resize_border_region &info) {
  Part part = placed(info);
  part.border = &info.scalar_value;
  part.borderType = info.border_type;
  return part;
}

/// Runs a task of `counts[i]` regions of picture i.
template <typename Region>
hi_s32 runRegions(const char *function, hi_vpc_chn id, const hi_vpc_pic_info *const *sources,
                  hi_u32 pictures, const Region *regions, const hi_u32 *counts, hi_u32 *task,
                  hi_s32 timeout) {
  return runVpcTask(function, id, task, timeout, [&](const VpcChannel &channel) -> hi_s32 {
    if (!sources || !regions || !counts)
      return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, function, "a list of the call is NULL");
    if (pictures == 0 || pictures > 256)
      return illegal(function, "the number of pictures", pictures, 256);
    for (hi_u32 picture = 0; picture < pictures; ++picture) {
      if (counts[picture] == 0 || counts[picture] > 256)
        return illegal(function, "the number of areas", counts[picture], 256);
      std::vector<Part> parts;
      std::vector<const hi_vpc_pic_info *> targets;
      for (hi_u32 i = 0; i < counts[picture]; ++i, ++regions) {
        parts.push_back(partOf(*regions));
        targets.push_back(&regions->dest_pic_info);
      }
      HI_TRY(computeParts(function, channel, sources[picture], parts, targets));
    }
    return HI_SUCCESS;
  });
}

/// Runs a task of one part of a picture.
hi_s32 runPart(const char *function, hi_vpc_chn id, const hi_vpc_pic_info *source,
               const hi_vpc_pic_info *target, const Part &part, hi_u32 *task, hi_s32 timeout) {
  return runVpcTask(function, id, task, timeout, [&](const VpcChannel &channel) {
    return computeParts(function, channel, source, {part}, {target});
  });
}

} // namespace

hi_s32 hi_mpi_vpc_create_chn(hi_vpc_chn chn, const hi_vpc_chn_attr *attr) {
  if (!attr)
    return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, __func__, "attr is NULL");
  return vpcChannels().add(__func__, chn, std::make_shared<VpcChannel>());
}

hi_s32 hi_mpi_vpc_sys_create_chn(hi_vpc_chn *chnl, const hi_vpc_chn_attr *attr) {
  if (!attr)
    return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, __func__, "attr is NULL");
  return vpcChannels().addAny(__func__, chnl, std::make_shared<VpcChannel>());
}

hi_s32 hi_mpi_vpc_destroy_chn(hi_vpc_chn chn) {
  std::shared_ptr<VpcChannel> channel;
  return vpcChannels().remove(__func__, chn, channel);
}

hi_s32 hi_mpi_vpc_crop(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                       hi_vpc_crop_region_info crop_info[], hi_u32 count, hi_u32 *task_id,
                       hi_s32 milli_sec) {
  return runRegions(__func__, chn, &source_pic, 1, crop_info, &count, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_resize(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                         hi_vpc_pic_info *dest_pic, hi_double fx, hi_double fy,
                         hi_u32 interpolation, hi_u32 *task_id, hi_s32 milli_sec) {
  if (!(fx >= 0 && fx <= 512) || !(fy >= 0 && fy <= 512))
    return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "fx is %g and fy %g; give 0, or factors up to 512", fx, fy);
  Part part{};
  part.interpolation = interpolation;
  return runPart(__func__, chn, source_pic, dest_pic, part, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                              hi_vpc_crop_resize_region crop_resize_info[], hi_u32 count,
                              hi_u32 *task_id, hi_s32 milli_sec) {
  return runRegions(__func__, chn, &source_pic, 1, crop_resize_info, &count, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                    hi_vpc_crop_resize_paste_region crop_resize_paste_info[],
                                    hi_u32 count, hi_u32 *task_id, hi_s32 milli_sec) {
  return runRegions(__func__, chn, &source_pic, 1, crop_resize_paste_info, &count, task_id,
                    milli_sec);
}

hi_s32 hi_mpi_vpc_batch_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic[],
                                          hi_u32 pic_num,
                                          hi_vpc_crop_resize_paste_region crop_resize_paste_info[],
                                          hi_u32 count[], hi_u32 *task_id, hi_s32 milli_sec) {
  return runRegions(__func__, chn, source_pic, pic_num, crop_resize_paste_info, count, task_id,
                    milli_sec);
}

hi_s32
hi_mpi_vpc_crop_resize_make_border(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                   hi_vpc_crop_resize_border_region crop_resize_make_border_info[],
                                   hi_u32 count, hi_u32 *task_id, hi_s32 milli_sec) {
  return runRegions(__func__, chn, &source_pic, 1, crop_resize_make_border_info, &count, task_id,
                    milli_sec);
}

hi_s32 hi_mpi_vpc_batch_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info *source_pic[], hi_u32 pic_num,
    hi_vpc_crop_resize_border_region crop_resize_make_border_info[], hi_u32 count[],
    hi_u32 *task_id, hi_s32 milli_sec) {
  return runRegions(__func__, chn, source_pic, pic_num, crop_resize_make_border_info, count,
                    task_id, milli_sec);
}

/// Converts between formats; both pictures have the same size.
static hi_s32 convertColor(const char *function, hi_vpc_chn chn, const hi_vpc_pic_info *source,
                           const hi_vpc_pic_info *target, hi_u32 *task, hi_s32 timeout) {
  if (source && target &&
      (source->picture_width != target->picture_width ||
       source->picture_height != target->picture_height))
    return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function,
                  "the source has %u x %u pixels, the target %u x %u", source->picture_width,
                  source->picture_height, target->picture_width, target->picture_height);
  return runPart(function, chn, source, target, {}, task, timeout);
}

hi_s32 hi_mpi_vpc_convert_color(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                hi_vpc_pic_info *dest_pic, hi_u32 *task_id, hi_s32 milli_sec) {
  return convertColor(__func__, chn, source_pic, dest_pic, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_convert_color_to_yuv420(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                          hi_vpc_pic_info *dest_pic, hi_u32 *task_id,
                                          hi_s32 milli_sec) {
  if (dest_pic && dest_pic->picture_format != HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420 &&
      dest_pic->picture_format != HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420)
    return hiFail(HI_ID_VPC, HI_ERR_NOT_SUPPORT, __func__,
                  "the target has format %d; give 1 or 2, which are YUV420SP",
                  int(dest_pic->picture_format));
  return convertColor(__func__, chn, source_pic, dest_pic, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_copy_make_border(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                   hi_vpc_pic_info *dest_pic,
                                   hi_vpc_make_border_info make_border_info, hi_u32 *task_id,
                                   hi_s32 milli_sec) {
  const hi_vpc_make_border_info &info = make_border_info;
  if (source_pic && dest_pic &&
      (uint64_t(source_pic->picture_width) + info.left + info.right != dest_pic->picture_width ||
       uint64_t(source_pic->picture_height) + info.top + info.bottom != dest_pic->picture_height))
    return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "the target has %u x %u pixels; it must have those of the source with borders",
                  dest_pic->picture_width, dest_pic->picture_height);
  Part part{};
  if (source_pic) {
    part.width = source_pic->picture_width;
    part.height = source_pic->picture_height;
  }
  part.left = info.left;
  part.top = info.top;
  part.border = &info.scalar_value;
  part.borderType = info.border_type;
  return runPart(__func__, chn, source_pic, dest_pic, part, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_get_process_result(hi_vpc_chn chn, hi_u32 task_id, hi_s32 milli_sec) {
  std::shared_ptr<VpcChannel> channel;
  HI_TRY(vpcChannels().find(__func__, chn, channel));
  std::lock_guard lock(channel->mutex);
  auto found = channel->results.find(task_id);
  if (found == channel->results.end())
    return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "channel %d has no task %u, or its result was taken", chn, task_id);
  const hi_s32 result = found->second;
  channel->results.erase(found);
  return result;
}
