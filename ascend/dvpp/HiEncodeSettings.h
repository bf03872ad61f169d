//===-- HiEncodeSettings.h - what a channel that encodes was told -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_HIENCODESETTINGS_H
#define ASCEND_DVPP_HIENCODESETTINGS_H

#include "acl/dvpp/hi_dvpp_venc.h"

#include <memory>
#include <mutex>

namespace atc::ascend {

struct EncodeSettings {
  explicit EncodeSettings(const hi_venc_chn_attr &attributes);

  std::mutex mutex; ///< of what follows
  hi_venc_chn_attr attributes;
  hi_venc_rc_param rate{};
  hi_venc_scene_mode scene = HI_VENC_SCENE_0;
  hi_venc_chn_param channel{HI_FALSE, 0, UINT32_MAX, 1, {}, {-1, -1}};
  hi_venc_ref_param reference{1, 0, HI_TRUE};
};

/// Writes the settings of a channel, or returns the error.
hi_s32 findEncodeSettings(const char *function, hi_s32 id,
                          std::shared_ptr<EncodeSettings> &settings);

} // namespace atc::ascend

#endif
