//===-- Subscription.cpp ------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/observe/Subscription.h"

#include "ascend/src/Errors.h"
#include "ascend/src/Handles.h"
#include "ascend/src/Model.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>

namespace atc::ascend {
namespace {

static_assert(std::is_trivially_copyable_v<OpRecord> && sizeof(OpRecord) <= 4096,
              "a record is written to a pipe as a whole");

struct SubscribeConfig {
  bool times;
  int pipe;
};

HandleTable<SubscribeConfig> &subscribeConfigs() {
  static auto &table = *new HandleTable<SubscribeConfig>(HandleKind::ProfSubscribeConfig);
  return table;
}

struct Subscriptions {
  std::mutex mutex;
  std::map<uint32_t, std::shared_ptr<Subscription>> byModel;
};

Subscriptions &subscriptions() {
  static auto &only = *new Subscriptions;
  return only;
}

/// Writes a record; false where the program does not read it in 10 seconds, or has closed the pipe.
bool writeRecord(int pipe, const OpRecord &record) {
  pollfd entry = {pipe, POLLOUT, 0};
  if (poll(&entry, 1, 10000) != 1 || !(entry.revents & POLLOUT))
    return false;
  return write(pipe, &record, sizeof record) == ssize_t(sizeof record);
}

/// Writes record `index` of what the program has read.
aclError recordOf(const char *function, const void *info, size_t bytes, uint32_t index,
                  OpRecord &record) {
  if (!info)
    return fail(ACL_ERROR_INVALID_PARAM, function, "opInfo is NULL");
  if (index >= bytes / sizeof record)
    return fail(ACL_ERROR_INVALID_PARAM, function, "there is no operator %u in %zu bytes", index,
                bytes);
  memcpy(&record, static_cast<const char *>(info) + index * sizeof record, sizeof record);
  if (record.magic != OpRecord::known)
    return fail(ACL_ERROR_INVALID_PARAM, function,
                "opInfo is not what was read from the pipe of a subscription");
  record.type[sizeof record.type - 1] = record.name[sizeof record.name - 1] = 0;
  return ACL_SUCCESS;
}

aclError writeText(const char *function, const char *text, char *to, size_t room) {
  if (!to)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the address for the text is NULL");
  const size_t bytes = strlen(text) + 1;
  if (room < bytes)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the text has %zu bytes, there is room for %zu",
                bytes, room);
  memcpy(to, text, bytes);
  return ACL_SUCCESS;
}

} // namespace

void OpRecord::setTexts(std::string_view typeText, std::string_view nameText) {
  auto copy = [](char *to, size_t room, std::string_view text) {
    const size_t bytes = std::min(room - 1, text.size());
    memcpy(to, text.data(), bytes);
    to[bytes] = 0;
  };
  copy(type, sizeof type, typeText);
  copy(name, sizeof name, nameText);
}

Subscription::Subscription(int pipe) : pipe(pipe), thread([this] { run(); }) {}

Subscription::~Subscription() {
  {
    std::lock_guard lock(mutex);
    ending = true;
    changed.notify_all();
  }
  thread.join();
  close(pipe);
}

void Subscription::send(const OpRecord &record) {
  std::lock_guard lock(mutex);
  records.push_back(record);
  changed.notify_all();
}

void Subscription::run() {
  // A pipe that the program does not read must not end it.
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, nullptr);
  bool open = true;
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return ending || !records.empty(); });
    if (records.empty())
      return;
    const OpRecord record = records.front();
    records.pop_front();
    lock.unlock();
    open = open && writeRecord(pipe, record);
    lock.lock();
  }
}

std::shared_ptr<Subscription> subscriptionOf(uint32_t model) {
  std::lock_guard lock(subscriptions().mutex);
  auto found = subscriptions().byModel.find(model);
  return found == subscriptions().byModel.end() ? nullptr : found->second;
}

} // namespace atc::ascend

using namespace atc::ascend;

aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void *fd) {
  const bool known = (int(aicoreMetrics) >= 0 && aicoreMetrics <= ACL_AICORE_L2_CACHE) ||
                     aicoreMetrics == ACL_AICORE_NONE;
  if (!fd || !known || (timeInfoSwitch != 0 && timeInfoSwitch != 1)) {
    fail(ACL_ERROR_INVALID_PARAM, __func__,
         "give 0 or 1, metrics of the table, and the address of a pipe's number");
    return nullptr;
  }
  return static_cast<aclprofSubscribeConfig *>(
      subscribeConfigs().add(std::make_shared<SubscribeConfig>(
          SubscribeConfig{timeInfoSwitch == 1, *static_cast<int *>(fd)})));
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig) {
  ACL_FIND(found, subscribeConfigs(), profSubscribeConfig);
  subscribeConfigs().remove(profSubscribeConfig);
  return ACL_SUCCESS;
}

aclError aclprofModelSubscribe(uint32_t modelId,
                               const aclprofSubscribeConfig *profSubscribeConfig) {
  ACL_FIND(config, subscribeConfigs(), profSubscribeConfig);
  std::shared_ptr<Model> model;
  // The vendor's profiler has this code of its own for an unknown model.
  if (findModel(__func__, modelId, model))
    ACL_FAIL(ACL_ERROR_INVALID_MODEL_ID, "no model with id %u is loaded", modelId);
  if (!config->times)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM,
             "the settings ask for no times; create them with timeInfoSwitch 1");
  if (fcntl(config->pipe, F_GETFD) < 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%d is no open pipe", config->pipe);
  {
    std::lock_guard lock(model->mutex);
    ACL_TRY(model->makeSession(__func__, /*timed=*/true));
  }
  std::lock_guard lock(subscriptions().mutex);
  auto &entry = subscriptions().byModel[modelId];
  if (entry)
    ACL_FAIL(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, "model %u has a subscription", modelId);
  try {
    entry = std::make_shared<Subscription>(config->pipe);
  } catch (const std::system_error &error) {
    subscriptions().byModel.erase(modelId);
    ACL_FAIL(ACL_ERROR_RT_FAILURE, "no thread can be started: %s", error.what());
  }
  return ACL_SUCCESS;
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  std::shared_ptr<Subscription> ended; // after the lock
  std::lock_guard lock(subscriptions().mutex);
  auto found = subscriptions().byModel.find(modelId);
  if (found == subscriptions().byModel.end())
    ACL_FAIL(ACL_ERROR_INVALID_MODEL_ID, "model %u has no subscription", modelId);
  ended = std::move(found->second);
  subscriptions().byModel.erase(found);
  return ACL_SUCCESS;
}

aclError aclprofGetOpDescSize(size_t *opDescSize) {
  ACL_REQUIRE(opDescSize);
  *opDescSize = sizeof(OpRecord);
  return ACL_SUCCESS;
}

aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber) {
  ACL_REQUIRE(opInfo);
  ACL_REQUIRE(opNumber);
  if (opInfoLen == 0 || opInfoLen % sizeof(OpRecord) != 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "%zu bytes are no multiple of %zu (aclprofGetOpDescSize)",
             opInfoLen, sizeof(OpRecord));
  *opNumber = uint32_t(opInfoLen / sizeof(OpRecord));
  return ACL_SUCCESS;
}

aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                             size_t *opTypeLen) {
  ACL_REQUIRE(opTypeLen);
  OpRecord record;
  ACL_TRY(recordOf(__func__, opInfo, opInfoLen, index, record));
  *opTypeLen = strlen(record.type) + 1;
  return ACL_SUCCESS;
}

aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index, char *opType,
                          size_t opTypeLen) {
  OpRecord record;
  ACL_TRY(recordOf(__func__, opInfo, opInfoLen, index, record));
  return writeText(__func__, record.type, opType, opTypeLen);
}

aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                             size_t *opNameLen) {
  ACL_REQUIRE(opNameLen);
  OpRecord record;
  ACL_TRY(recordOf(__func__, opInfo, opInfoLen, index, record));
  *opNameLen = strlen(record.name) + 1;
  return ACL_SUCCESS;
}

aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName,
                          size_t opNameLen) {
  OpRecord record;
  ACL_TRY(recordOf(__func__, opInfo, opInfoLen, index, record));
  return writeText(__func__, record.name, opName, opNameLen);
}

/// Returns a field of record `index`; 0, with a message, where there is none.
#define RECORD_FIELD(field)                                                                        \
  OpRecord record;                                                                                 \
  return recordOf(__func__, opInfo, opInfoLen, index, record) == ACL_SUCCESS ? record.field : 0

uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index) {
  RECORD_FIELD(start);
}
uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index) {
  RECORD_FIELD(end);
}
uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index) {
  RECORD_FIELD(duration);
}
size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index) {
  RECORD_FIELD(model);
}
