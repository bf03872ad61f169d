//===-- Marks.cpp -------------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/observe/Marks.h"

#include "ascend/src/Collection.h"
#include "ascend/src/Context.h"
#include "ascend/src/NumberedTable.h"
#include "ascend/src/observe/Profile.h"

#include "mstx/ms_tools_ext.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace atc::ascend {

namespace {
double now() { return microsecondsOf(std::chrono::system_clock::now()); }
} // namespace

Mark::Mark(std::string kind, std::string message, std::string domain)
    : domain(std::move(domain)), kind(std::move(kind)), message(std::move(message)),
      thread(syscall(SYS_gettid)), beginTime(now()), endTime(beginTime) {}

void Mark::end() { endTime = now(); }

aclError Mark::beginOn(const char *function, const std::shared_ptr<Mark> &mark,
                       std::shared_ptr<Stream> stream) {
  mark->stream = std::move(stream);
  return mark->stream->enqueue(function, [mark] {
    mark->deviceBegin = now();
    return ACL_SUCCESS;
  });
}

aclError Mark::endOn(const char *function, const std::shared_ptr<Mark> &mark) {
  if (!mark->stream)
    return ACL_SUCCESS;
  return mark->stream->enqueue(function, [mark] {
    mark->deviceEnd = now();
    return ACL_SUCCESS;
  });
}

Mark::~Mark() {
  const std::vector<std::string> folders = profileFolders();
  if (folders.empty())
    return;
  nlohmann::ordered_json line = {{"mark", message},  {"domain", domain}, {"event_type", kind},
                                 {"pid", getpid()},  {"tid", thread},    {"begin_us", beginTime},
                                 {"end_us", endTime}};
  if (deviceBegin >= 0) {
    line["device_begin_us"] = deviceBegin.load();
    line["device_end_us"] = std::max(deviceBegin.load(), deviceEnd.load());
  }
  appendToProfiles(folders, line);
}

namespace {

struct Domain {
  std::string name;
};

HandleTable<Domain> &domains() {
  static auto &table = *new HandleTable<Domain>(HandleKind::MarkDomain);
  return table;
}

/// Keeps the ranges that have begun.
NumberedTable<mstxRangeId, std::shared_ptr<Mark>> &openRanges() {
  static auto &only = *new NumberedTable<mstxRangeId, std::shared_ptr<Mark>>;
  return only;
}

/// Makes a mark, and queues its task; null where an argument is none.
std::shared_ptr<Mark> begin(const char *function, const char *kind, const char *message,
                            const std::string &domain, aclrtStream stream) {
  if (!message)
    return nullptr;
  std::shared_ptr<Stream> found;
  if (stream && findStream(function, stream, found) != ACL_SUCCESS)
    return nullptr;
  auto mark = std::make_shared<Mark>(kind, message, domain);
  if (found && Mark::beginOn(function, mark, std::move(found)) != ACL_SUCCESS)
    return nullptr;
  return mark;
}

mstxRangeId beginRange(const char *function, const char *message, const std::string &domain,
                       aclrtStream stream) {
  std::shared_ptr<Mark> mark = begin(function, "start/end", message, domain, stream);
  return mark ? openRanges().add(std::move(mark)) : MSTX_INVALID_ID;
}

void endRange(const char *function, const std::string &domain, mstxRangeId id) {
  const auto mark = openRanges().take(
      id, [&](const std::shared_ptr<Mark> &range) { return range->domain == domain; });
  if (!mark)
    return;
  (*mark)->end();
  Mark::endOn(function, *mark);
}

const std::string defaultDomain = "default";

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

void mstxMarkA(const char *message, aclrtStream stream) {
  begin(__func__, "marker", message, defaultDomain, stream);
}

mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) {
  return beginRange(__func__, message, defaultDomain, stream);
}

void mstxRangeEnd(mstxRangeId id) { endRange(__func__, defaultDomain, id); }

mstxDomainHandle_t mstxDomainCreateA(const char *name) {
  if (!name)
    return nullptr;
  auto domain = std::make_shared<Domain>();
  domain->name = name;
  return static_cast<mstxDomainHandle_t>(domains().add(std::move(domain)));
}

void mstxDomainDestroy(mstxDomainHandle_t domain) { domains().remove(domain); }

void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
  if (auto found = domains().find(domain))
    begin(__func__, "marker", message, found->name, stream);
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message,
                                  aclrtStream stream) {
  auto found = domains().find(domain);
  return found ? beginRange(__func__, message, found->name, stream) : MSTX_INVALID_ID;
}

void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
  if (auto found = domains().find(domain))
    endRange(__func__, found->name, id);
}

void mstxGetToolId(uint64_t *id) {
  if (id)
    *id = profileFolders().empty() ? MSTX_TOOL_INVALID_ID : MSTX_TOOL_MSPROF_ID;
}

mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t, mstxMemHeapDesc_t const *) {
  return nullptr;
}

void mstxMemHeapUnregister(mstxDomainHandle_t, mstxMemHeapHandle_t) {}

void mstxMemRegionsRegister(mstxDomainHandle_t, mstxMemRegionsRegisterBatch_t const *desc) {
  if (desc && desc->regionHandleArrayOut)
    std::fill_n(desc->regionHandleArrayOut, desc->regionCount, nullptr);
}

void mstxMemRegionsUnregister(mstxDomainHandle_t, mstxMemRegionsUnregisterBatch_t const *) {}
