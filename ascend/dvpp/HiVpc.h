//===-- HiVpc.h - tasks of channels of pictures ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_HIVPC_H
#define ASCEND_DVPP_HIVPC_H

#include "acl/dvpp/hi_dvpp_vpc.h"
#include "ascend/dvpp/HiChannels.h"

namespace atc::ascend {

/// Reads and checks (see checkPicture) a picture of a call. `what` names it in the message.
hi_s32 readVpcPicture(const char *function, const char *what, const hi_vpc_pic_info *info,
                      Picture &picture);

/// Finds the channel, runs `compute(channel)` and gives its result a task id.
template <typename Compute>
hi_s32 runVpcTask(const char *function, hi_vpc_chn id, hi_u32 *task, hi_s32 timeout,
                  const Compute &compute) {
  std::shared_ptr<VpcChannel> channel;
  HI_TRY(vpcChannels().find(function, id, channel));
  if (!task)
    return hiFail(HI_ID_VPC, HI_ERR_NULL_PTR, function, "task_id is NULL");
  if (timeout < -1)
    return hiFail(HI_ID_VPC, HI_ERR_ILLEGAL_PARAM, function,
                  "milli_sec is %d; give milliseconds, or -1", timeout);
  HI_TRY(compute(*channel));
  std::lock_guard lock(channel->mutex);
  *task = channel->next++;
  channel->results.emplace(*task, HI_SUCCESS);
  return HI_SUCCESS;
}

} // namespace atc::ascend

#endif
