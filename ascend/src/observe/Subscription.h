//===-- Subscription.h - profiles that are sent to the program ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_SUBSCRIPTION_H
#define ASCEND_SRC_SUBSCRIPTION_H

#include "acl/acl_prof.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

namespace atc::ascend {

/// Holds the time of one operator of a model; programs read it with aclprofGetOp... . Times are
/// nanoseconds of the system's clock.
struct OpRecord {
  static constexpr uint32_t known = 0x4F50524Fu;

  uint32_t magic = known;
  uint32_t model = 0, thread = 0, reserved = 0;
  uint64_t start = 0, end = 0, duration = 0;
  char type[ACL_PROF_MAX_OP_TYPE_LEN] = {};
  char name[ACL_PROF_MAX_OP_NAME_LEN] = {};

  /// Copies the texts, cut to what fits.
  void setTexts(std::string_view typeText, std::string_view nameText);
};

/// Writes records to a pipe of the program on a thread of its own, so that no execution waits for
/// the program to read.
class Subscription {
public:
  /// Starts the thread; throws std::system_error where there can be none.
  explicit Subscription(int pipe);
  /// Writes what is left, for as long as the program reads it, and closes the pipe.
  ~Subscription();
  Subscription(const Subscription &) = delete;
  Subscription &operator=(const Subscription &) = delete;

  /// Puts a record behind the others.
  void send(const OpRecord &record);

private:
  void run();

  const int pipe;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<OpRecord> records;
  bool ending = false;
  std::thread thread;
};

/// Returns the subscription to a model; null where there is none.
std::shared_ptr<Subscription> subscriptionOf(uint32_t model);

} // namespace atc::ascend

#endif
