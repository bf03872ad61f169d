//===-- HiVpcStatistics.cpp - histograms, tables, pyramids --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/HiVpc.h"
#include "ascend/dvpp/Planes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace atc::ascend;

namespace {

Area whole(const Picture &picture) { return {0, picture.width - 1, 0, picture.height - 1}; }

hi_s32 nullPointer(const char *function, const char *what) {
  return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, function, "%s is NULL", what);
}

/// Halves a plane: each result is the filter's sum around it, divided and rounded to the nearest.
Plane filteredHalf(const Plane &plane, const hi_s8 filter[][5], hi_u16 divisor,
                   const hi_vpc_make_border_info &border) {
  const auto value = uint8_t(std::clamp(std::lround(border.scalar_value.val[0]), 0L, 255L));
  const Plane wide =
      addBorder(plane, 2, 2, 2, 2, acldvppBorderType(int(border.border_type)), value);
  Plane result((plane.width + 1) / 2, (plane.height + 1) / 2);
  for (uint32_t y = 0; y < result.height; ++y)
    for (uint32_t x = 0; x < result.width; ++x) {
      long sum = 0;
      for (uint32_t j = 0; j < 5; ++j)
        for (uint32_t i = 0; i < 5; ++i)
          sum += long(filter[j][i]) * wide.at(2 * x + i, 2 * y + j);
      result.at(x, y) = uint8_t(std::clamp(std::lround(double(sum) / divisor), 0L, 255L));
    }
  return result;
}

} // namespace

hi_s32 hi_mpi_vpc_pyrdown(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                          hi_vpc_pic_info dest_pic[], hi_u32 filter_level,
                          hi_s8 gaussian_filter[][5], hi_u16 divisor,
                          hi_vpc_make_border_info make_border_info, hi_u32 *task_id,
                          hi_s32 milli_sec) {
  return runVpcTask(__func__, chn, task_id, milli_sec, [&](const VpcChannel &) -> hi_s32 {
    const char *function = "hi_mpi_vpc_pyrdown";
    if (!dest_pic || !gaussian_filter)
      return nullPointer(function, dest_pic ? "gaussian_filter" : "dest_pic");
    if (filter_level == 0 || filter_level > 4 || divisor == 0)
      return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function,
                    "filter_level is %u and divisor %u; give 1 to 4, and not 0", filter_level,
                    unsigned(divisor));
    if (int(make_border_info.border_type) < 0 ||
        make_border_info.border_type > HI_BORDER_REFLECT_101)
      return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function, "border_type is %d; give 0 to 3",
                    int(make_border_info.border_type));
    Picture source;
    HI_TRY(readVpcPicture(function, "source_pic", source_pic, source));
    if (source.format != PIXEL_FORMAT_YUV_400)
      return hiFail(HI_ID_VPC, HI_ERR_NOT_SUPPORT, function, "source_pic must be YUV400");
    Planes planes = loadPlanes(source, whole(source));
    for (hi_u32 level = 0; level < filter_level; ++level) {
      Picture target;
      HI_TRY(readVpcPicture(function, "dest_pic", &dest_pic[level], target));
      planes.channels[0] =
          filteredHalf(planes.channels[0], gaussian_filter, divisor, make_border_info);
      const Plane &plane = planes.channels[0];
      if (target.format != PIXEL_FORMAT_YUV_400 || target.width != plane.width ||
          target.height != plane.height)
        return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function,
                      "dest_pic[%u] must be YUV400 of %u x %u pixels", level, plane.width,
                      plane.height);
      storePlanes(planes, target, whole(target));
    }
    return HI_SUCCESS;
  });
}

hi_s32 hi_mpi_vpc_calc_hist(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                            hi_vpc_histogram_config *hist_config, hi_u32 *task_id,
                            hi_s32 milli_sec) {
  return runVpcTask(__func__, chn, task_id, milli_sec, [&](const VpcChannel &) -> hi_s32 {
    if (!hist_config)
      return nullPointer("hi_mpi_vpc_calc_hist", "hist_config");
    Picture source;
    HI_TRY(readVpcPicture("hi_mpi_vpc_calc_hist", "source_pic", source_pic, source));
    memset(hist_config, 0, sizeof *hist_config);
    hi_u32 *const counts[3] = {hist_config->histogram_y_or_r, hist_config->histogram_u_or_g,
                               hist_config->histogram_v_or_b};
    const Planes planes = loadPlanes(source, whole(source));
    for (size_t channel = 0; channel < planes.channels.size(); ++channel)
      for (uint8_t value : planes.channels[channel].data)
        ++counts[channel][value];
    return HI_SUCCESS;
  });
}

hi_s32 hi_mpi_vpc_equalize_hist(hi_vpc_chn chn, const hi_vpc_pic_info *source_pic,
                                hi_vpc_pic_info *dest_pic, const hi_vpc_lut_remap *lut_remap,
                                hi_u32 *task_id, hi_s32 milli_sec) {
  return runVpcTask(__func__, chn, task_id, milli_sec, [&](const VpcChannel &channel) -> hi_s32 {
    const char *function = "hi_mpi_vpc_equalize_hist";
    if (!lut_remap)
      return nullPointer(function, "lut_remap");
    Picture source, target;
    HI_TRY(readVpcPicture(function, "source_pic", source_pic, source));
    HI_TRY(readVpcPicture(function, "dest_pic", dest_pic, target));
    if (source.width != target.width || source.height != target.height)
      return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function,
                    "both pictures must have the same size");
    const hi_u8 *const tables[3] = {lut_remap->map_value_y_or_r, lut_remap->map_value_u_or_g,
                                    lut_remap->map_value_v_or_b};
    Planes planes = loadPlanes(source, whole(source));
    for (size_t each = 0; each < planes.channels.size(); ++each)
      for (uint8_t &value : planes.channels[each].data)
        value = tables[each][value];
    planes = resizePlanes(planes, target.width, target.height, *factsOf(target.format), 0,
                          channel.matrix);
    storePlanes(planes, target, whole(target));
    return HI_SUCCESS;
  });
}
