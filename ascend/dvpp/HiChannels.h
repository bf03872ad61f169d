//===-- HiChannels.h - numbered channels of a media module -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_HICHANNELS_H
#define ASCEND_DVPP_HICHANNELS_H

#include "acl/dvpp/hi_dvpp_common.h"
#include "ascend/dvpp/Picture.h"

#include <atomic>
#include <map>

namespace atc::ascend {

/// Records a message (see fail) and returns the error `error` of a module.
template <typename... Args>
hi_s32 hiFail(hi_mod_id module, hi_errno error, const char *function, const char *format,
              Args... args) {
  const aclError code = error == HI_ERR_NOT_SUPPORT ? ACL_ERROR_API_NOT_SUPPORT
                        : error == HI_ERR_UNEXIST   ? ACL_ERROR_INVALID_RESOURCE_HANDLE
                                                    : ACL_ERROR_INVALID_PARAM;
  if constexpr (sizeof...(args) == 0)
    fail(code, function, "%s", format);
  else
    fail(code, function, format, args...);
  return HI_DEFINE_ERR(module, HI_ERR_LEVEL_ERROR, error);
}

/// Returns the error of a module for a code of AscendCL, whose message was recorded.
inline hi_s32 hiError(hi_mod_id module, aclError code) {
  if (code == ACL_SUCCESS)
    return HI_SUCCESS;
  const hi_errno error = code == ACL_ERROR_API_NOT_SUPPORT || code == ACL_ERROR_FORMAT_NOT_MATCH
                             ? HI_ERR_NOT_SUPPORT
                         : code == ACL_ERROR_BAD_ALLOC ? HI_ERR_NO_MEM
                                                       : HI_ERR_ILLEGAL_PARAM;
  return HI_DEFINE_ERR(module, HI_ERR_LEVEL_ERROR, error);
}

/// Holds the channels of one module by their numbers, 0 to `count` - 1.
template <typename T> class HiChannels {
public:
  HiChannels(hi_mod_id module, hi_s32 count) : module(module), count(count) {}

  /// Adds channel `id`; HI_ERR_INVALID_CHN_ID, or HI_ERR_EXIST where there is one.
  hi_s32 add(const char *function, hi_s32 id, std::shared_ptr<T> channel) {
    if (id < 0 || id >= count)
      return hiFail(module, HI_ERR_INVALID_CHN_ID, function, "channel %d; give 0 to %d", id,
                    count - 1);
    std::lock_guard lock(mutex);
    if (!channels.emplace(id, std::move(channel)).second)
      return hiFail(module, HI_ERR_EXIST, function, "channel %d exists", id);
    return HI_SUCCESS;
  }

  /// Adds a channel under the highest free number, which programs that number theirs from 0 take
  /// last, and writes the number.
  hi_s32 addAny(const char *function, hi_s32 *id, std::shared_ptr<T> channel) {
    if (!id)
      return hiFail(module, HI_ERR_NULL_PTR, function, "chn is NULL");
    std::lock_guard lock(mutex);
    for (hi_s32 each = count - 1; each >= 0; --each)
      if (!channels.count(each)) {
        channels.emplace(each, std::move(channel));
        *id = each;
        return HI_SUCCESS;
      }
    return hiFail(module, HI_ERR_NO_BUF, function, "there are %d channels, which is all", count);
  }

  /// Writes channel `id`; HI_ERR_UNEXIST where there is none.
  hi_s32 find(const char *function, hi_s32 id, std::shared_ptr<T> &channel) {
    std::lock_guard lock(mutex);
    auto found = channels.find(id);
    if (found == channels.end())
      return hiFail(module, HI_ERR_UNEXIST, function, "there is no channel %d", id);
    channel = found->second;
    return HI_SUCCESS;
  }

  /// Removes channel `id`, which `channel` then shares.
  hi_s32 remove(const char *function, hi_s32 id, std::shared_ptr<T> &channel) {
    if (hi_s32 error = find(function, id, channel))
      return error;
    std::lock_guard lock(mutex);
    channels.erase(id);
    return HI_SUCCESS;
  }

private:
  const hi_mod_id module;
  const hi_s32 count;
  std::mutex mutex;
  std::map<hi_s32, std::shared_ptr<T>> channels;
};

/// A channel of HI_ID_VPC: the matrix of its conversions, and its next task.
struct VpcChannel {
  std::atomic<acldvppCscMatrix> matrix{ACL_DVPP_CSC_MATRIX_BT601_WIDE};
  std::mutex mutex;
  std::map<hi_u32, hi_s32> results; ///< By task id; taken once.
  hi_u32 next = 0;
};

/// Returns the process-wide table of channels.
HiChannels<VpcChannel> &vpcChannels();

/// The matrix of a channel, which it keeps alive.
using SharedMatrix = std::shared_ptr<std::atomic<acldvppCscMatrix>>;

/// Writes the matrix of a channel of HI_ID_VDEC, or returns the error.
hi_s32 findVideoMatrix(const char *function, hi_s32 id, SharedMatrix &matrix);

/// Returns a picture of the first interface with the fields of one of the second.
Picture pictureOf(const hi_pic_info &info);

} // namespace atc::ascend

/// Returns the error of an expression from the calling function unless it is 0.
#define HI_TRY(expression)                                                                         \
  if (hi_s32 error_ = (expression))                                                                \
  return error_

#endif
