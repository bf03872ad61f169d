/*===-- acl/acl_prof.h - profiles -------------------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * Between aclprofStart and aclprofStop executions of models write what they took to a folder
 * PROF_000001_<time>_<process> in that of aclprofInit; `msprof --export=on --output=FOLDER` makes
 * tables of it. Everything is collected always.
 */
#ifndef OPENATC_ACL_ACL_PROF_H
#define OPENATC_ACL_ACL_PROF_H

#include "acl_base.h"

#define MSVP_PROF_API ACL_FUNC_VISIBILITY

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_PROF_ACL_API 0x0001ULL
#define ACL_PROF_TASK_TIME 0x0002ULL
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_PROF_RUNTIME_API 0x0100ULL

#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

typedef enum ACL_ENUM_TYPE {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_LOW_POWER_FREQ = 11,
  ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
  ACL_PROF_ARGS_MAX = 13
} aclprofConfigType;

typedef enum ACL_ENUM_TYPE {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;

typedef enum ACL_ENUM_TYPE { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

typedef enum { MESSAGE_TYPE_TENSOR_INFO = 0 } ProfMessageType;
typedef struct {
  uint32_t type; /* 0: input, 1: output */
  uint32_t format;
  uint32_t dataType;
  uint32_t shapeDim; /* at most 8 */
  uint32_t shape[8];
} aclprofTensor;
typedef struct {
  uint64_t opNameId; /* of aclprofStr2Id */
  uint64_t opTypeId;
  uint32_t resv;
  uint32_t tensorNum;
  uint32_t kernelType;
  uint32_t blockNums;
  void *stream;
  aclprofTensor *tensors;
} aclprofTensorInfo;
typedef struct {
  uint16_t version;
  uint16_t size;
  uint32_t messageType; /* ProfMessageType */
  union Message {
    aclprofTensorInfo *tensorInfo;
  } message;
} aclprofEventAttributes;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

/*
 * Called in front of loading the models: the simulator keeps time only for a profile. `length` is
 * that of the path, in bytes. ACL_ERROR_PROF_ALREADY_RUN, ACL_ERROR_PROF_NOT_RUN where the calls
 * are not in the order Init, Start, Stop, Finalize; ACL_ERROR_INVALID_FILE for a folder that
 * cannot be made.
 */
MSVP_PROF_API aclError aclprofInit(const char *profilerResultPath, size_t length);
MSVP_PROF_API aclError aclprofFinalize(void);
MSVP_PROF_API aclError aclprofStart(const aclprofConfig *profilerConfig);
MSVP_PROF_API aclError aclprofStop(const aclprofConfig *profilerConfig);
/*
 * Sends what the operators of each execution of the model took to the pipe of the settings, until
 * aclprofModelUnSubscribe, which closes the pipe's end for writing. What is read from it, a
 * multiple of aclprofGetOpDescSize bytes, is what the functions aclprofGetOp... take. On the
 * simulated NPU durations are those of its clock. ACL_ERROR_INVALID_MODEL_ID,
 * ACL_ERROR_PROF_REPEAT_SUBSCRIBE.
 */
MSVP_PROF_API aclError aclprofModelSubscribe(uint32_t modelId,
                                             const aclprofSubscribeConfig *profSubscribeConfig);
MSVP_PROF_API aclError aclprofModelUnSubscribe(uint32_t modelId);
/* Accepted: a profile needs no time to warm up, and knows its devices. */
MSVP_PROF_API aclError aclprofWarmup(const aclprofConfig *profilerConfig);
MSVP_PROF_API aclError aclprofRegisterDeviceCallback(void);
/* ACL_ERROR_API_NOT_SUPPORT: there is no list of features. */
MSVP_PROF_API aclError aclprofGetSupportedFeatures(size_t *featuresSize, void **featuresData);
MSVP_PROF_API aclError aclprofGetSupportedFeaturesV2(size_t *featuresSize, void **featuresData);
/* ACL_ERROR_API_NOT_SUPPORT: steps are not marked. */
MSVP_PROF_API aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                               aclrtStream stream);

/* Accepts what a profile shall sample of a card, which a simulated one does not have: the limit of
 * the folder, rates in Hz, "read" or "write". ACL_ERROR_INVALID_PARAM for another type. */
MSVP_PROF_API aclError aclprofSetConfig(aclprofConfigType configType, const char *config,
                                        size_t configLength);

/* Create and destroy settings; NULL for a bad argument. `fd` is the address of the number of a
 * pipe's end for writing. */
MSVP_PROF_API aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                                 aclprofAicoreMetrics aicoreMetrics,
                                                 aclprofAicoreEvents *aicoreEvents,
                                                 uint64_t dataTypeConfig);
MSVP_PROF_API aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);
MSVP_PROF_API aclprofSubscribeConfig *
aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void *fd);
MSVP_PROF_API aclError
aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig);
MSVP_PROF_API aclprofStepInfo *aclprofCreateStepInfo(void);
MSVP_PROF_API void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo);

/* Create, name and destroy stamps. Marks and ranges are rows of msprof_tx_<time>.csv and events of
 * the timeline where a profile is collected at their end; that of aclprofMarkEx also has the time
 * at which the stream has come to it. */
MSVP_PROF_API void *aclprofCreateStamp(void);
MSVP_PROF_API void aclprofDestroyStamp(void *stamp);
MSVP_PROF_API aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
MSVP_PROF_API aclError aclprofMark(void *stamp);
MSVP_PROF_API aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);
MSVP_PROF_API aclError aclprofPush(void *stamp);
/* ACL_ERROR_INVALID_PARAM without an aclprofPush on this thread before. */
MSVP_PROF_API aclError aclprofPop(void);
MSVP_PROF_API aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);
MSVP_PROF_API aclError aclprofRangeStop(uint32_t rangeId);

/* Returns the number of a text, the same for the same text; 0 for NULL. */
MSVP_PROF_API uint64_t aclprofStr2Id(const char *message);
/* Begins and ends a range of this thread, whose message has the operator's name, its type and the
 * shapes of its tensors: "name (type): 2,3; 3 -> 2,3". ACL_ERROR_INVALID_PARAM for numbers that
 * aclprofStr2Id has not returned, more than 8 dims, and an end without a beginning. */
MSVP_PROF_API aclError aclprofRangePushEx(aclprofEventAttributes *attr);
MSVP_PROF_API aclError aclprofRangePop(void);

/* Read what a subscription has sent: operator `index` of `opInfoLen` bytes. Lengths of texts are
 * with the 0 at their end, times are nanoseconds. ACL_ERROR_INVALID_PARAM, or 0, for bytes that are
 * not from a subscription. */
MSVP_PROF_API aclError aclprofGetOpDescSize(size_t *opDescSize);
MSVP_PROF_API aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber);
MSVP_PROF_API aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                                           size_t *opTypeLen);
MSVP_PROF_API aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index,
                                        char *opType, size_t opTypeLen);
MSVP_PROF_API aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index,
                                           size_t *opNameLen);
MSVP_PROF_API aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index,
                                        char *opName, size_t opNameLen);
MSVP_PROF_API uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index);
MSVP_PROF_API size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
