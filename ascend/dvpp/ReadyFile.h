//===-- ReadyFile.h - a descriptor that tells that results wait ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_READYFILE_H
#define ASCEND_DVPP_READYFILE_H

#include <mutex>
#include <sys/eventfd.h>
#include <unistd.h>

namespace atc::ascend {

/// Holds a descriptor that can be read while a queue is not empty, so that programs wait for it
/// with select, poll or epoll. It is made when somebody asks for it.
class ReadyFile {
public:
  ReadyFile() = default;
  ReadyFile(const ReadyFile &) = delete;
  ReadyFile &operator=(const ReadyFile &) = delete;
  ~ReadyFile() { close(); }

  /// Returns the descriptor for a queue; below 0 where the process may have no more.
  template <typename Queue> int open(Queue &queue) {
    {
      std::lock_guard lock(mutex);
      if (file < 0)
        file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    follow(queue);
    std::lock_guard lock(mutex);
    return file;
  }

  /// Has the descriptor say what the queue holds: to be called behind each change of it. The size
  /// is read under the lock, so that the last of several calls at once sees the last change.
  template <typename Queue> void follow(Queue &queue) {
    std::lock_guard lock(mutex);
    const bool wanted = queue.size() != 0;
    if (file < 0 || wanted == ready)
      return;
    eventfd_t count = 0;
    (wanted ? eventfd_write(file, 1) : eventfd_read(file, &count));
    ready = wanted;
  }

  /// Ends the descriptor; another one may be opened.
  void close() {
    std::lock_guard lock(mutex);
    if (file >= 0)
      ::close(file);
    file = -1;
    ready = false;
  }

private:
  std::mutex mutex;
  int file = -1;
  bool ready = false;
};

} // namespace atc::ascend

#endif
