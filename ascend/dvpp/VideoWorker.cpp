//===-- VideoWorker.cpp -------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/VideoWorker.h"

#include "ascend/src/Reports.h"

#include <chrono>
#include <utility>

namespace atc::ascend {

VideoWorker::VideoWorker(uint64_t reportThread)
    : source(addReportSource(reportThread)), thread([shared = state] { loop(*shared); }) {}

VideoWorker::~VideoWorker() {
  {
    std::lock_guard lock(state->mutex);
    state->ending = true;
    state->changed.notify_all();
  }
  thread.join();
  removeReportSource(source);
}

void VideoWorker::run(std::function<void()> task) {
  std::lock_guard lock(state->mutex);
  state->tasks.push_back(std::move(task));
  ++state->given;
  state->changed.notify_all();
}

void VideoWorker::call(std::function<void()> callback) {
  {
    std::lock_guard lock(state->mutex);
    ++state->given;
  }
  postReport(source, [shared = state, callback = std::move(callback)] {
    callback();
    std::lock_guard lock(shared->mutex);
    ++shared->done;
    shared->changed.notify_all();
  });
}

bool VideoWorker::drain() {
  std::unique_lock lock(state->mutex);
  while (state->done != state->given) {
    const uint64_t before = state->done;
    if (!state->changed.wait_for(lock, std::chrono::seconds(10), [&] {
          return state->done != before || state->done == state->given;
        }))
      return false;
  }
  return true;
}

void VideoWorker::loop(State &state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] { return state.ending || !state.tasks.empty(); });
    if (state.tasks.empty())
      return;
    auto task = std::move(state.tasks.front());
    state.tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr; // what it holds is released before anyone is told that it is done
    lock.lock();
    ++state.done;
    state.changed.notify_all();
  }
}

} // namespace atc::ascend
