//===-- HiEpoll.cpp - hi_mpi_sys_..._epoll ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels have descriptors of the operating system (ReadyFile.h), and so has what waits for them.

#include "ascend/dvpp/HiChannels.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sys/epoll.h>
#include <unistd.h>
#include <vector>

using namespace atc::ascend;

namespace {

/// Knows the descriptors that hi_mpi_sys_create_epoll made: no other one is waited for or closed.
struct Epolls {
  std::mutex mutex;
  std::set<int> files;

  bool contains(int file) {
    std::lock_guard lock(mutex);
    return files.count(file) != 0;
  }
};

Epolls &epolls() {
  static auto &known = *new Epolls;
  return known;
}

hi_s32 checkEpoll(const char *function, hi_s32 file) {
  return epolls().contains(file) ? HI_SUCCESS
                                 : hiFail(HI_ID_SYS, HI_ERR_ILLEGAL_PARAM, function,
                                          "epoll_fd %d is none of hi_mpi_sys_create_epoll", file);
}

/// Returns the error for what the operating system says.
hi_s32 systemError(const char *function) {
  const int number = errno;
  const hi_errno error = number == EEXIST                       ? HI_ERR_EXIST
                         : number == ENOENT                     ? HI_ERR_UNEXIST
                         : number == ENOMEM || number == ENOSPC ? HI_ERR_NO_MEM
                                                                : HI_ERR_ILLEGAL_PARAM;
  return hiFail(HI_ID_SYS, error, function, "%s", strerror(number));
}

} // namespace

hi_s32 hi_mpi_sys_create_epoll(hi_s32 size, hi_s32 *epoll_fd) {
  if (!epoll_fd)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "epoll_fd is NULL");
  if (size <= 0)
    return hiFail(HI_ID_SYS, HI_ERR_ILLEGAL_PARAM, __func__, "size is %d; give 1 or more", size);
  const int file = epoll_create1(EPOLL_CLOEXEC);
  if (file < 0)
    return systemError(__func__);
  std::lock_guard lock(epolls().mutex);
  epolls().files.insert(file);
  *epoll_fd = file;
  return HI_SUCCESS;
}

hi_s32 hi_mpi_sys_ctl_epoll(hi_s32 epoll_fd, hi_s32 operation, hi_s32 fd,
                            hi_dvpp_epoll_event *event) {
  HI_TRY(checkEpoll(__func__, epoll_fd));
  const bool removes = operation == HI_DVPP_EPOLL_CTL_DEL;
  if (!removes && operation != HI_DVPP_EPOLL_CTL_ADD && operation != HI_DVPP_EPOLL_CTL_MOD)
    return hiFail(HI_ID_SYS, HI_ERR_ILLEGAL_PARAM, __func__,
                  "operation %d; give HI_DVPP_EPOLL_CTL_ADD (1), MOD (2) or DEL (3)", operation);
  if (!removes && !event)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "event is NULL");
  epoll_event wanted{};
  if (!removes) {
    wanted.events = (event->events & HI_DVPP_EPOLL_IN ? EPOLLIN : 0U) |
                    (event->events & HI_DVPP_EPOLL_OUT ? EPOLLOUT : 0U) |
                    (event->events & hi_u32(HI_DVPP_EPOLL_ET) ? EPOLLET : 0U);
    wanted.data.ptr = event->data;
  }
  const int what = removes                              ? EPOLL_CTL_DEL
                   : operation == HI_DVPP_EPOLL_CTL_ADD ? EPOLL_CTL_ADD
                                                        : EPOLL_CTL_MOD;
  return epoll_ctl(epoll_fd, what, fd, &wanted) == 0 ? HI_SUCCESS : systemError(__func__);
}

hi_s32 hi_mpi_sys_wait_epoll(hi_s32 epoll_fd, hi_dvpp_epoll_event *events, hi_s32 max_events,
                             hi_s32 timeout, hi_s32 *event_num) {
  HI_TRY(checkEpoll(__func__, epoll_fd));
  if (!events || !event_num)
    return hiFail(HI_ID_SYS, HI_ERR_NULL_PTR, __func__, "%s is NULL",
                  events ? "event_num" : "events");
  if (max_events <= 0 || timeout < -1)
    return hiFail(HI_ID_SYS, HI_ERR_ILLEGAL_PARAM, __func__,
                  "max_events is %d and timeout %d; give 1 or more, and milliseconds or -1",
                  max_events, timeout);
  constexpr hi_s32 maxAtOnce = 1024;
  std::vector<epoll_event> found(std::min(max_events, maxAtOnce));
  const int count = epoll_wait(epoll_fd, found.data(), int(found.size()), timeout);
  // A signal ends the wait early, as no event does.
  if (count < 0 && errno != EINTR)
    return systemError(__func__);
  *event_num = std::max(count, 0);
  for (int i = 0; i < count; ++i)
    events[i] = {(found[i].events & EPOLLIN ? hi_u32(HI_DVPP_EPOLL_IN) : 0U) |
                     (found[i].events & EPOLLOUT ? hi_u32(HI_DVPP_EPOLL_OUT) : 0U),
                 found[i].data.ptr};
  return HI_SUCCESS;
}

hi_s32 hi_mpi_sys_close_epoll(hi_s32 epoll_fd) {
  {
    // Only the first of several closing threads finds the entry; once it is closed, the system may
    // give the same number to another file.
    std::lock_guard lock(epolls().mutex);
    if (epolls().files.erase(epoll_fd)) {
      close(epoll_fd);
      return HI_SUCCESS;
    }
  }
  HI_TRY(checkEpoll(__func__, epoll_fd));
  return HI_SUCCESS;
}
