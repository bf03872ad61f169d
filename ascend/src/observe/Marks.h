//===-- Marks.h - marks and ranges of programs in profiles -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OBSERVE_MARKS_H
#define ASCEND_SRC_OBSERVE_MARKS_H

#include "ascend/src/stream/Stream.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace atc::ascend {

/// A moment, or a range, that a program names. It is written to the profiles that are collected
/// when the last that holds it is gone: the program, and the tasks of its stream.
class Mark {
public:
  /// Begins at this moment on this thread. `kind` is a word of the column event_type.
  Mark(std::string kind, std::string message, std::string domain = "default");
  Mark(const Mark &) = delete;
  Mark &operator=(const Mark &) = delete;
  ~Mark();

  /// Sets the end to this moment.
  void end();

  const std::string domain;

  /// Queues a task that sets the beginning, or the end, on the device.
  static aclError beginOn(const char *function, const std::shared_ptr<Mark> &mark,
                          std::shared_ptr<Stream> stream);
  static aclError endOn(const char *function, const std::shared_ptr<Mark> &mark);

private:
  const std::string kind, message;
  const int64_t thread;
  double beginTime, endTime;                          ///< microseconds since 1970
  std::atomic<double> deviceBegin{-1}, deviceEnd{-1}; ///< -1: the stream has not come to it
  std::shared_ptr<Stream> stream;                     ///< null: none was named
};

} // namespace atc::ascend

#endif
