//===-- Prof.cpp - settings and stamps of profiles ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Collection.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"

#include "acl/acl_prof.h"

#include <cstring>
#include <set>
#include <string>

namespace atc::ascend {
namespace {

struct ProfConfig {};
struct StepInfo {};
struct Stamp {};

#define PROF_TABLE(Type, function, kind)                                                           \
  HandleTable<Type> &function() {                                                                  \
    static auto &table = *new HandleTable<Type>(HandleKind::kind);                                 \
    return table;                                                                                  \
  }

PROF_TABLE(ProfConfig, profConfigs, ProfConfig)
PROF_TABLE(StepInfo, stepInfos, ProfStepInfo)
PROF_TABLE(Stamp, stamps, ProfStamp)

thread_local unsigned pushed = 0;

struct Ranges {
  std::mutex mutex;
  std::set<uint32_t> open;
  uint32_t next = 1;
};

Ranges &ranges() {
  static auto &only = *new Ranges;
  return only;
}

bool isKnown(aclprofAicoreMetrics metrics) {
  return (int(metrics) >= 0 && metrics <= ACL_AICORE_L2_CACHE) || metrics == ACL_AICORE_NONE;
}

} // namespace
} // namespace atc::ascend

using namespace atc::ascend;

aclError aclprofInit(const char *profilerResultPath, size_t length) {
  ACL_REQUIRE(profilerResultPath);
  if (length == 0 || strnlen(profilerResultPath, length) != length)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the length is %zu, but not that of the path", length);
  ACL_TRY(requireStarted(__func__));
  return openCollection(__func__, std::string(profilerResultPath, length));
}

aclError aclprofFinalize() { return closeCollection(__func__); }

aclError aclprofStart(const aclprofConfig *profilerConfig) {
  ACL_FIND(found, profConfigs(), profilerConfig);
  return startCollection(__func__, profilerConfig);
}

aclError aclprofStop(const aclprofConfig *profilerConfig) {
  ACL_FIND(found, profConfigs(), profilerConfig);
  return stopCollection(__func__, profilerConfig);
}

aclError aclprofGetStepTimestamp(aclprofStepInfo *, aclprofStepTag, aclrtStream) {
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT,
           "steps are not marked in a profile; each execution of a model is a line of it");
}

aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   aclprofAicoreEvents *aicoreEvents, uint64_t) {
  if (!deviceIdList || deviceNums == 0 || aicoreEvents || !isKnown(aicoreMetrics)) {
    fail(ACL_ERROR_INVALID_PARAM, __func__,
         "give a list of devices, metrics of the table, and NULL for aicoreEvents");
    return nullptr;
  }
  return static_cast<aclprofConfig *>(profConfigs().add(std::make_shared<ProfConfig>()));
}

aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig) {
  ACL_FIND(found, profConfigs(), profilerConfig);
  profConfigs().remove(profilerConfig);
  return ACL_SUCCESS;
}

aclprofStepInfo *aclprofCreateStepInfo() {
  return static_cast<aclprofStepInfo *>(stepInfos().add(std::make_shared<StepInfo>()));
}

void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo) { stepInfos().remove(stepinfo); }

void *aclprofCreateStamp() { return stamps().add(std::make_shared<Stamp>()); }

void aclprofDestroyStamp(void *stamp) { stamps().remove(stamp); }

// No table has a column for it, so that the text, which may be shorter than its length says, is not
// read.
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t) {
  ACL_FIND(found, stamps(), stamp);
  ACL_REQUIRE(msg);
  return ACL_SUCCESS;
}

aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength) {
  ACL_REQUIRE(config);
  // 2 has no name.
  if (configType <= ACL_PROF_ARGS_MIN || configType >= ACL_PROF_ARGS_MAX || int(configType) == 2)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "configType is %d; give 1, or 3 to 12", int(configType));
  if (configLength == 0 || strnlen(config, configLength) != configLength)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "configLength is %zu, which is not the length of config",
             configLength);
  return ACL_SUCCESS;
}

aclError aclprofMark(void *stamp) {
  ACL_FIND(found, stamps(), stamp);
  return ACL_SUCCESS;
}

aclError aclprofMarkEx(const char *msg, size_t, aclrtStream stream) {
  ACL_REQUIRE(msg);
  std::shared_ptr<Stream> found;
  return findStream(__func__, stream, found);
}

aclError aclprofPush(void *stamp) {
  ACL_FIND(found, stamps(), stamp);
  ++pushed;
  return ACL_SUCCESS;
}

aclError aclprofPop() {
  if (pushed == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "there was no aclprofPush before");
  --pushed;
  return ACL_SUCCESS;
}

aclError aclprofRangeStart(void *stamp, uint32_t *rangeId) {
  ACL_FIND(found, stamps(), stamp);
  ACL_REQUIRE(rangeId);
  std::lock_guard lock(ranges().mutex);
  *rangeId = ranges().next++;
  ranges().open.insert(*rangeId);
  return ACL_SUCCESS;
}

aclError aclprofRangeStop(uint32_t rangeId) {
  std::lock_guard lock(ranges().mutex);
  if (ranges().open.erase(rangeId) == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "range %u was not started, or is stopped", rangeId);
  return ACL_SUCCESS;
}
