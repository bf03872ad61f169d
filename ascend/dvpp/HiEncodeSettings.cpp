//===-- HiEncodeSettings.cpp - hi_mpi_venc_set_... and _get_... ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/HiEncodeSettings.h"

#include "ascend/dvpp/HiChannels.h"

#include "acl/acl_base.h"

#include <array>
#include <cstring>

using namespace atc::ascend;

namespace {

/// Sets the limits of a rate control to those of the codecs.
template <typename Limits> void setLimits(Limits &limits) {
  limits.max_i_proportion = 100;
  limits.min_i_proportion = 1;
  limits.max_qp = limits.max_i_qp = 51;
}

hi_s32 findWith(const char *function, hi_venc_chn id, const void *pointer,
                std::shared_ptr<EncodeSettings> &settings) {
  HI_TRY(findEncodeSettings(function, id, settings));
  return pointer ? HI_SUCCESS
                 : hiFail(HI_ID_VENC, HI_ERR_NULL_PTR, function, "a pointer of the call is NULL");
}

/// Writes a setting of a channel to `to`.
template <typename Setting>
hi_s32 getSetting(const char *function, hi_venc_chn chn, Setting EncodeSettings::*setting,
                  Setting *to) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findWith(function, chn, to, settings));
  std::lock_guard lock(settings->mutex);
  *to = settings.get()->*setting;
  return HI_SUCCESS;
}

/// Says once per process what a setting does not do.
void warnOnce(std::once_flag &said, const char *what) {
  std::call_once(said, [&] { aclAppLog(ACL_WARNING, "venc", "hi_dvpp_venc.h", 0, "%s", what); });
}

/// Holds the settings of types of channels.
struct ModuleSettings {
  ModuleSettings() {
    for (size_t type = 0; type < all.size(); ++type)
      all[type].mod_type = hi_venc_mod_type(type);
  }

  hi_s32 find(const char *function, const hi_venc_mod_param *given, hi_venc_mod_param *&found) {
    if (!given)
      return hiFail(HI_ID_VENC, HI_ERR_NULL_PTR, function, "mod_param is NULL");
    if (given->mod_type < HI_VENC_MOD_VENC || given->mod_type > HI_VENC_MOD_JPEG)
      return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, function,
                    "mod_type %d; give HI_VENC_MOD_VENC (1) to HI_VENC_MOD_JPEG (4)",
                    int(given->mod_type));
    found = &all[size_t(given->mod_type)];
    return HI_SUCCESS;
  }

  std::mutex mutex;
  std::array<hi_venc_mod_param, HI_VENC_MOD_JPEG + 1> all{};
};

ModuleSettings &modules() {
  static auto &only = *new ModuleSettings;
  return only;
}

} // namespace

EncodeSettings::EncodeSettings(const hi_venc_chn_attr &attributes) : attributes(attributes) {
  rate.first_frame_start_qp = -1;
  switch (attributes.rc_attr.rc_mode) {
  case HI_VENC_RC_MODE_H264_CBR:
    setLimits(rate.h264_cbr_param);
    break;
  case HI_VENC_RC_MODE_H264_VBR:
    rate.h264_vbr_param.chg_pos = 90;
    setLimits(rate.h264_vbr_param);
    break;
  case HI_VENC_RC_MODE_H265_CBR:
    setLimits(rate.h265_cbr_param);
    break;
  case HI_VENC_RC_MODE_H265_VBR:
    rate.h265_vbr_param.chg_pos = 90;
    setLimits(rate.h265_vbr_param);
    break;
  default:
    break; // a channel of pictures
  }
}

hi_s32 hi_mpi_venc_get_chn_attr(hi_venc_chn chn, hi_venc_chn_attr *attr) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findWith(__func__, chn, attr, settings));
  std::lock_guard lock(settings->mutex);
  *attr = settings->attributes;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_set_mod_param(const hi_venc_mod_param *mod_param) {
  std::lock_guard lock(modules().mutex);
  hi_venc_mod_param *known = nullptr;
  HI_TRY(modules().find(__func__, mod_param, known));
  *known = *mod_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_mod_param(hi_venc_mod_param *mod_param) {
  std::lock_guard lock(modules().mutex);
  hi_venc_mod_param *known = nullptr;
  HI_TRY(modules().find(__func__, mod_param, known));
  *mod_param = *known;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_set_rc_param(hi_venc_chn chn, const hi_venc_rc_param *rc_param) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findWith(__func__, chn, rc_param, settings));
  std::lock_guard lock(settings->mutex);
  static std::once_flag said;
  if (memcmp(&settings->rate, rc_param, sizeof *rc_param) != 0)
    warnOnce(said, "hi_mpi_venc_set_rc_param has no effect: the rate control keeps to the bit rate "
                   "of the channel");
  settings->rate = *rc_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_rc_param(hi_venc_chn chn, hi_venc_rc_param *rc_param) {
  return getSetting(__func__, chn, &EncodeSettings::rate, rc_param);
}

hi_s32 hi_mpi_venc_set_scene_mode(hi_venc_chn chn, const hi_venc_scene_mode scene_mode) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findEncodeSettings(__func__, chn, settings));
  if (int(scene_mode) < HI_VENC_SCENE_0 || scene_mode >= HI_VENC_SCENE_BUTT)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__, "scene_mode %d; give 0 to 2",
                  int(scene_mode));
  static std::once_flag said;
  if (scene_mode != HI_VENC_SCENE_0)
    warnOnce(said, "hi_mpi_venc_set_scene_mode has no effect: all scenes are encoded alike");
  std::lock_guard lock(settings->mutex);
  settings->scene = scene_mode;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_scene_mode(hi_venc_chn chn, hi_venc_scene_mode *scene_mode) {
  return getSetting(__func__, chn, &EncodeSettings::scene, scene_mode);
}

hi_s32 hi_mpi_venc_set_chn_param(hi_venc_chn chn, const hi_venc_chn_param *chn_param) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findWith(__func__, chn, chn_param, settings));
  if (chn_param->priority > 1)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__, "priority %u; give 0 or 1",
                  chn_param->priority);
  std::lock_guard lock(settings->mutex);
  const hi_frame_rate_ctrl &given = chn_param->frame_rate, &held = settings->channel.frame_rate;
  static std::once_flag said;
  if (chn_param->color_to_grey_en == HI_TRUE || chn_param->crop_info.enable == HI_TRUE ||
      given.src_frame_rate != held.src_frame_rate || given.dst_frame_rate != held.dst_frame_rate)
    warnOnce(said, "color_to_grey_en, crop_info and frame_rate of hi_mpi_venc_set_chn_param have "
                   "no effect: whole pictures are encoded, in their colors, and none is left out");
  settings->channel = *chn_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_chn_param(hi_venc_chn chn, hi_venc_chn_param *chn_param) {
  return getSetting(__func__, chn, &EncodeSettings::channel, chn_param);
}

hi_s32 hi_mpi_venc_set_ref_param(hi_venc_chn chn, const hi_venc_ref_param *ref_param) {
  std::shared_ptr<EncodeSettings> settings;
  HI_TRY(findWith(__func__, chn, ref_param, settings));
  if (ref_param->base < 1 || ref_param->enhance > 255)
    return hiFail(HI_ID_VENC, HI_ERR_ILLEGAL_PARAM, __func__,
                  "base %u and enhance %u; give 1 or more and 0 to 255", ref_param->base,
                  ref_param->enhance);
  static std::once_flag said;
  if (ref_param->enhance != 0 || ref_param->pred_en != HI_TRUE)
    warnOnce(said, "hi_mpi_venc_set_ref_param has no effect: a picture is predicted from the one "
                   "before, or from none");
  std::lock_guard lock(settings->mutex);
  settings->reference = *ref_param;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_venc_get_ref_param(hi_venc_chn chn, hi_venc_ref_param *ref_param) {
  return getSetting(__func__, chn, &EncodeSettings::reference, ref_param);
}
