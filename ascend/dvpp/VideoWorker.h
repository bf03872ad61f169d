//===-- VideoWorker.h - the thread and the callbacks of a channel -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_DVPP_VIDEOWORKER_H
#define ASCEND_DVPP_VIDEOWORKER_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace atc::ascend {

/// Runs the tasks of a channel of video in order on a thread of its own, and hands its callbacks
/// to the thread of the program that calls aclrtProcessReport.
class VideoWorker {
public:
  /// Starts the thread; throws std::system_error where there can be none.
  explicit VideoWorker(uint64_t reportThread);
  /// Ends the thread after its tasks; callbacks that were not run are given up.
  ~VideoWorker();
  VideoWorker(const VideoWorker &) = delete;
  VideoWorker &operator=(const VideoWorker &) = delete;

  /// Puts a task behind the others.
  void run(std::function<void()> task);

  /// Hands a callback to the program's thread; it runs behind those before it.
  void call(std::function<void()> callback);

  /// Waits until all tasks and callbacks are done; false where none is for 10 seconds, because
  /// no thread runs the callbacks.
  bool drain();

private:
  /// Holds what a callback that still runs when the channel ends shares with it.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    uint64_t given = 0, done = 0; // tasks and callbacks
    bool ending = false;
  };

  static void loop(State &state);

  const int32_t source;
  const std::shared_ptr<State> state = std::make_shared<State>();
  std::thread thread;
};

} // namespace atc::ascend

#endif
