//===-- Reports.cpp -----------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Reports.h"

#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <unordered_map>

#include <pthread.h>

namespace atc::ascend {
namespace {

/// A callback on its way from a stream to a thread.
struct Report {
  std::function<void()> run;
  int32_t stream;
  bool done = false; // it has run, or nobody will run it
};

/// All subscriptions, and what waits for each thread; under one mutex, as there are few.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<int32_t, uint64_t> threadOf; // by the id of a stream or a source
  std::unordered_map<uint64_t, std::deque<std::shared_ptr<Report>>> waiting;

  bool subscribed(uint64_t thread) const {
    for (const auto &[stream, subscriber] : threadOf)
      if (subscriber == thread)
        return true;
    return false;
  }
};

Board &board() {
  static auto &only = *new Board;
  return only;
}

void unsubscribe(Board &reports, int32_t stream) {
  auto found = reports.threadOf.find(stream);
  if (found == reports.threadOf.end())
    return;
  auto &queue = reports.waiting[found->second];
  for (auto each = queue.begin(); each != queue.end();) {
    if ((*each)->stream != stream) {
      ++each;
      continue;
    }
    (*each)->done = true;
    each = queue.erase(each);
  }
  reports.threadOf.erase(found);
  reports.changed.notify_all();
}

/// Hands a callback to the thread that has subscribed to the stream.
aclError deliver(const std::shared_ptr<Report> &report, bool block) {
  Board &reports = board();
  std::unique_lock lock(reports.mutex);
  auto thread = reports.threadOf.find(report->stream);
  if (thread == reports.threadOf.end())
    return fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "aclrtLaunchCallback",
                "no thread has subscribed to the stream when its callback was due");
  reports.waiting[thread->second].push_back(report);
  reports.changed.notify_all();
  if (block)
    reports.changed.wait(lock, [&] { return report->done; });
  return ACL_SUCCESS;
}

} // namespace

void forgetReports(const Stream &stream) {
  Board &reports = board();
  std::lock_guard lock(reports.mutex);
  unsubscribe(reports, stream.id);
}

int32_t addReportSource(uint64_t thread) {
  static std::atomic<int32_t> next{-1}; // those of streams are positive
  const int32_t source = next.fetch_sub(1);
  Board &reports = board();
  std::lock_guard lock(reports.mutex);
  reports.threadOf.emplace(source, thread);
  reports.changed.notify_all();
  return source;
}

void postReport(int32_t source, std::function<void()> callback) {
  deliver(std::make_shared<Report>(Report{std::move(callback), source}), /*block=*/false);
}

void removeReportSource(int32_t source) {
  Board &reports = board();
  std::lock_guard lock(reports.mutex);
  unsubscribe(reports, source);
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  Board &reports = board();
  std::lock_guard lock(reports.mutex);
  auto [entry, added] = reports.threadOf.try_emplace(found->id, threadId);
  if (!added)
    ACL_FAIL(ACL_ERROR_REPEAT_SUBSCRIBE, "thread %llu has subscribed to the stream",
             (unsigned long long)entry->second);
  reports.changed.notify_all();
  return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  Board &reports = board();
  std::lock_guard lock(reports.mutex);
  auto entry = reports.threadOf.find(found->id);
  if (entry == reports.threadOf.end())
    ACL_FAIL(ACL_ERROR_RT_STREAM_NO_CB_REG, "no thread has subscribed to the stream");
  if (entry->second != threadId)
    ACL_FAIL(ACL_ERROR_RT_THREAD_SUBSCRIBE, "thread %llu has not subscribed to the stream",
             (unsigned long long)threadId);
  unsubscribe(reports, found->id);
  return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  ACL_REQUIRE(fn);
  if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "blockType is %d; give 0 or 1", int(blockType));
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  {
    std::lock_guard lock(board().mutex);
    if (!board().threadOf.count(found->id))
      ACL_FAIL(ACL_ERROR_RT_STREAM_NO_CB_REG,
               "no thread runs callbacks of the stream; call aclrtSubscribeReport first");
  }
  auto report = std::make_shared<Report>(Report{[fn, userData] { fn(userData); }, found->id});
  bool block = blockType == ACL_CALLBACK_BLOCK;
  return found->enqueue(__func__, [report, block] { return deliver(report, block); });
}

aclError aclrtProcessReport(int32_t timeout) {
  if (timeout < -1 || timeout == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "timeout is %d; give milliseconds, or -1", timeout);
  Board &reports = board();
  const auto self = static_cast<uint64_t>(pthread_self());
  std::shared_ptr<Report> report;
  {
    std::unique_lock lock(reports.mutex);
    auto come = [&] {
      auto found = reports.waiting.find(self);
      return found != reports.waiting.end() && !found->second.empty();
    };
    if (timeout > 0) {
      // A thread may begin to wait before it is subscribed.
      reports.changed.wait_for(lock, std::chrono::milliseconds(timeout), come);
    } else {
      // An endless wait is noexcept: a thread that pthread_cancel ends in it would end the process.
      while (!come() && reports.subscribed(self))
        reports.changed.wait_for(lock, std::chrono::hours(1));
    }
    if (!come()) {
      if (!reports.subscribed(self))
        ACL_FAIL(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                 "this thread has not subscribed to any stream; call aclrtSubscribeReport");
      ACL_FAIL(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback was due in %d ms", timeout);
    }
    auto &queue = reports.waiting[self];
    report = std::move(queue.front());
    queue.pop_front();
  }
  report->run();
  std::lock_guard lock(reports.mutex);
  report->done = true;
  reports.changed.notify_all();
  return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
  ACL_REQUIRE(fn);
  return enqueue(__func__, stream, [fn, args] {
    fn(args);
    return ACL_SUCCESS;
  });
}
