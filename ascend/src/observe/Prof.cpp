//===-- Prof.cpp - settings and stamps of profiles ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Collection.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "ascend/src/NumberedTable.h"
#include "ascend/src/observe/Marks.h"

#include "acl/acl_prof.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atc::ascend {
namespace {

struct ProfConfig {};
struct StepInfo {
  std::mutex mutex;
  std::shared_ptr<Mark> begun; ///< null: no step runs
};
struct Stamp {
  std::mutex mutex;
  std::string message;

  std::shared_ptr<Mark> mark(const char *kind) {
    std::lock_guard lock(mutex);
    return std::make_shared<Mark>(kind, message);
  }
};

#define PROF_TABLE(Type, function, kind)                                                           \
  HandleTable<Type> &function() {                                                                  \
    static auto &table = *new HandleTable<Type>(HandleKind::kind);                                 \
    return table;                                                                                  \
  }

PROF_TABLE(ProfConfig, profConfigs, ProfConfig)
PROF_TABLE(StepInfo, stepInfos, ProfStepInfo)
PROF_TABLE(Stamp, stamps, ProfStamp)

thread_local std::vector<std::shared_ptr<Mark>> pushed, pushedOperators;

/// Numbers the texts of aclprofStr2Id, from 1.
struct Texts {
  std::mutex mutex;
  std::map<std::string, uint64_t> numbers;
  std::map<uint64_t, const std::string *> byNumber;

  /// Returns the text of a number; null where there is none.
  const std::string *find(uint64_t number) {
    std::lock_guard lock(mutex);
    auto found = byNumber.find(number);
    return found == byNumber.end() ? nullptr : found->second;
  }
};

Texts &texts() {
  static auto &only = *new Texts;
  return only;
}

/// Returns the shapes of the tensors of one side: "2,3; 3".
std::string shapesOf(const aclprofTensorInfo &info, uint32_t side) {
  std::string shapes;
  for (uint32_t i = 0; i < info.tensorNum; ++i) {
    const aclprofTensor &tensor = info.tensors[i];
    if (tensor.type != side)
      continue;
    shapes += shapes.empty() ? " " : "; ";
    for (uint32_t dim = 0; dim < tensor.shapeDim; ++dim)
      shapes += (dim ? "," : "") + std::to_string(tensor.shape[dim]);
  }
  return shapes;
}

/// Keeps the ranges that have begun.
NumberedTable<uint32_t, std::shared_ptr<Mark>> &ranges() {
  static auto &only = *new NumberedTable<uint32_t, std::shared_ptr<Mark>>;
  return only;
}

/// Ends the range that `push`, the name of a function, has begun last on this thread.
aclError pop(const char *function, std::vector<std::shared_ptr<Mark>> &ranges, const char *push) {
  if (ranges.empty())
    return fail(ACL_ERROR_INVALID_PARAM, function, "there was no %s before", push);
  ranges.back()->end();
  ranges.pop_back();
  return ACL_SUCCESS;
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

aclError aclprofWarmup(const aclprofConfig *profilerConfig) {
  ACL_FIND(found, profConfigs(), profilerConfig);
  return ACL_SUCCESS;
}

aclError aclprofRegisterDeviceCallback() { return ACL_SUCCESS; }

// A step is a range of the profile, as those of stamps are.
aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                 aclrtStream stream) {
  ACL_FIND(step, stepInfos(), stepInfo);
  if (tag != ACL_STEP_START && tag != ACL_STEP_END)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "tag is %d; give ACL_STEP_START or ACL_STEP_END", int(tag));
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  std::lock_guard lock(step->mutex);
  if (tag == ACL_STEP_START) {
    step->begun = std::make_shared<Mark>("start/end", "step");
    return Mark::beginOn(__func__, step->begun, std::move(found));
  }
  if (!step->begun)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the step has not begun: call it with ACL_STEP_START first");
  const std::shared_ptr<Mark> ended = std::move(step->begun);
  step->begun = nullptr;
  ended->end();
  return Mark::endOn(__func__, ended);
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

// The text may be shorter than its length says.
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen) {
  ACL_FIND(found, stamps(), stamp);
  ACL_REQUIRE(msg);
  std::lock_guard lock(found->mutex);
  found->message.assign(msg, strnlen(msg, msgLen));
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
  found->mark("marker");
  return ACL_SUCCESS;
}

aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream) {
  ACL_REQUIRE(msg);
  std::shared_ptr<Stream> found;
  ACL_TRY(findStream(__func__, stream, found));
  auto mark = std::make_shared<Mark>("marker_ex", std::string(msg, strnlen(msg, msgLen)));
  return Mark::beginOn(__func__, mark, std::move(found));
}

aclError aclprofPush(void *stamp) {
  ACL_FIND(found, stamps(), stamp);
  pushed.push_back(found->mark("push/pop"));
  return ACL_SUCCESS;
}

aclError aclprofPop() { return pop(__func__, pushed, "aclprofPush"); }

aclError aclprofRangeStart(void *stamp, uint32_t *rangeId) {
  ACL_FIND(found, stamps(), stamp);
  ACL_REQUIRE(rangeId);
  *rangeId = ranges().add(found->mark("start/end"));
  return ACL_SUCCESS;
}

aclError aclprofRangeStop(uint32_t rangeId) {
  const auto range = ranges().take(rangeId);
  if (!range)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "range %u was not started, or is stopped", rangeId);
  (*range)->end();
  return ACL_SUCCESS;
}

uint64_t aclprofStr2Id(const char *message) {
  if (!message)
    return 0;
  std::lock_guard lock(texts().mutex);
  auto [found, isNew] = texts().numbers.emplace(message, texts().numbers.size() + 1);
  if (isNew)
    texts().byNumber.emplace(found->second, &found->first);
  return found->second;
}

aclError aclprofRangePushEx(aclprofEventAttributes *attr) {
  ACL_REQUIRE(attr);
  if (attr->messageType != MESSAGE_TYPE_TENSOR_INFO)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "messageType is %u; give MESSAGE_TYPE_TENSOR_INFO",
             attr->messageType);
  const aclprofTensorInfo *info = attr->message.tensorInfo;
  ACL_REQUIRE(info);
  if (info->tensorNum != 0)
    ACL_REQUIRE(info->tensors);
  for (uint32_t i = 0; i < info->tensorNum; ++i)
    if (info->tensors[i].shapeDim > 8)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "tensor %u has %u dims; give 8 at most", i,
               info->tensors[i].shapeDim);
  const std::string *name = texts().find(info->opNameId), *type = texts().find(info->opTypeId);
  if (!name || !type)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "opNameId or opTypeId is none of aclprofStr2Id");
  pushedOperators.push_back(std::make_shared<Mark>(
      "push/pop", *name + " (" + *type + "):" + shapesOf(*info, 0) + " ->" + shapesOf(*info, 1)));
  return ACL_SUCCESS;
}

aclError aclprofRangePop() { return pop(__func__, pushedOperators, "aclprofRangePushEx"); }
