//===-- HiSystem.cpp - hi_mpi_sys_init and the like ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/HiChannels.h"
#include "ascend/dvpp/Planes.h"

#include <chrono>

namespace atc::ascend {

Picture pictureOf(const hi_pic_info &info) {
  Picture picture;
  picture.data = info.picture_address;
  picture.size = info.picture_buffer_size;
  picture.format = acldvppPixelFormat(info.picture_format);
  picture.width = info.picture_width;
  picture.height = info.picture_height;
  picture.widthStride = info.picture_width_stride;
  picture.heightStride = info.picture_height_stride;
  return picture;
}

} // namespace atc::ascend

using namespace atc::ascend;

hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, hi_void **dev_ptr, hi_u64 size) {
  uint32_t devices = 0;
  aclrtGetDeviceCount(&devices);
  if (dev_id >= devices)
    return hiFail(HI_ID_SYS, HI_ERR_INVALID_DEV_ID, __func__, "device %u; there are %u", dev_id,
                  devices);
  return hiError(HI_ID_SYS, acldvppMalloc(dev_ptr, size));
}

hi_s32 hi_mpi_dvpp_free(hi_void *dev_ptr) { return hiError(HI_ID_SYS, acldvppFree(dev_ptr)); }

hi_s32 hi_mpi_dvpp_get_version(hi_s32 *major_version, hi_s32 *minor_version,
                               hi_s32 *patch_version) {
  if (!major_version || !minor_version || !patch_version)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "an argument is NULL");
  *major_version = 1;
  *minor_version = *patch_version = 0;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_sys_init() { return HI_SUCCESS; }
hi_s32 hi_mpi_sys_exit() { return HI_SUCCESS; }

/// Writes the matrix that is set or asked for.
static hi_s32 findMatrix(const char *function, hi_mod_id module, hi_s32 id, SharedMatrix &matrix) {
  if (module == HI_ID_VDEC)
    return findVideoMatrix(function, id, matrix);
  if (module != HI_ID_VPC)
    return hiFail(HI_ID_SYS, HI_ERR_NOT_SUPPORT, function,
                  "module %d has no matrix; channels of HI_ID_VPC and HI_ID_VDEC have one",
                  int(module));
  std::shared_ptr<VpcChannel> channel;
  HI_TRY(vpcChannels().find(function, id, channel));
  matrix = SharedMatrix(channel, &channel->matrix);
  return HI_SUCCESS;
}

/// Returns the numbers of a matrix.
static hi_csc_coefficient coefficientsOf(const ColorMatrix &m) {
  const double green = 1 - m.red - m.blue;
  const double luma = m.narrow ? 219.0 / 255 : 1, chroma = m.narrow ? 224.0 / 255 : 1;
  const double blue = 2 * (1 - m.blue), red = 2 * (1 - m.red); // the ranges of B - Y and R - Y
  const double black = m.narrow ? 16 : 0, gray = 128;
  return {{1 / luma, 0, red / chroma,                                                //
           1 / luma, -blue * m.blue / green / chroma, -red * m.red / green / chroma, //
           1 / luma, blue / chroma, 0,                                               //
           black, gray, gray},
          {m.red * luma, green * luma, m.blue * luma,                                    //
           -m.red / blue * chroma, -green / blue * chroma, (1 - m.blue) / blue * chroma, //
           (1 - m.red) / red * chroma, -green / red * chroma, -m.blue / red * chroma,    //
           black, gray, gray}};
}

hi_s32 hi_mpi_sys_set_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix csc_matrix,
                                     hi_csc_coefficient *) {
  SharedMatrix matrix;
  HI_TRY(findMatrix(__func__, mod_id, chn, matrix));
  if (int(csc_matrix) < 0 || csc_matrix > HI_CSC_MATRIX_BT2020_NARROW)
    return hiFail(HI_ID_SYS, HI_ERR_NOT_SUPPORT, __func__, "matrix %d; give 0 to 5",
                  int(csc_matrix));
  *matrix = acldvppCscMatrix(csc_matrix);
  return HI_SUCCESS;
}

hi_s32 hi_mpi_sys_get_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix *csc_matrix,
                                     hi_csc_coefficient *csc_coefficient) {
  SharedMatrix matrix;
  HI_TRY(findMatrix(__func__, mod_id, chn, matrix));
  if (!csc_matrix)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "csc_matrix is NULL");
  const acldvppCscMatrix which = matrix->load();
  *csc_matrix = hi_csc_matrix(which);
  if (csc_coefficient)
    *csc_coefficient = coefficientsOf(matrixOf(which));
  return HI_SUCCESS;
}

hi_s32 hi_mpi_sys_get_cur_pts(hi_u64 *cur_pts) {
  if (!cur_pts)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "cur_pts is NULL");
  using std::chrono::microseconds;
  *cur_pts =
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
  return HI_SUCCESS;
}
