//===-- Unsupported.cpp - what cannot be done here -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt_queue.h"

using namespace atc::ascend;

namespace {
constexpr const char *noKernels =
    "kernels of the vendor's instruction set do not run here; call the operator by a function of "
    "aclnnop/, or by aclopExecuteV2 with a file of `atc --singleop`";
constexpr const char *noProcesses =
    "device memory and notifies belong to one process here; use threads";
constexpr const char *noChains =
    "a buffer is one piece here; put the parts into a queue one by one";
constexpr const char *noRecords =
    "the tasks of a built model stay as they are here; those of a captured one can be replaced "
    "between aclmdlRICaptureTaskUpdateBegin and aclmdlRICaptureTaskUpdateEnd";
constexpr const char *noNumbers = "nothing is kept with the number of a task here";
constexpr const char *noFaults = "simulated devices have no faults that could be repaired";
constexpr const char *noCommunication =
    "a program has no tasks of communication here that could be repeated";
constexpr const char *noFeatures = "there is no list of features here";
constexpr const char *noCaches = "memory needs no hints here; use aclrtCmoAsync";
constexpr const char *noOverflow = "nothing watches for numbers that overflow here";
} // namespace

#define ACL_MISSING(why, name, ...)                                                                \
  aclError name(__VA_ARGS__) { ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "%s", why); }

aclrtBinary aclrtCreateBinary(const void *, size_t) {
  fail(ACL_ERROR_API_NOT_SUPPORT, __func__, "%s", noKernels);
  return nullptr;
}
ACL_MISSING(noKernels, aclrtDestroyBinary, aclrtBinary)
ACL_MISSING(noKernels, aclrtBinaryLoad, const aclrtBinary, aclrtBinHandle *)
ACL_MISSING(noKernels, aclrtBinaryLoadFromFile, const char *, aclrtBinaryLoadOptions *,
            aclrtBinHandle *)
ACL_MISSING(noKernels, aclrtBinaryLoadFromData, const void *, size_t,
            const aclrtBinaryLoadOptions *, aclrtBinHandle *)
ACL_MISSING(noKernels, aclrtBinaryUnLoad, aclrtBinHandle)
ACL_MISSING(noKernels, aclrtBinaryGetFunction, const aclrtBinHandle, const char *,
            aclrtFuncHandle *)
ACL_MISSING(noKernels, aclrtBinaryGetFunctionByEntry, aclrtBinHandle, uint64_t, aclrtFuncHandle *)
ACL_MISSING(noKernels, aclrtLaunchKernel, aclrtFuncHandle, uint32_t, const void *, size_t,
            aclrtStream)
ACL_MISSING(noKernels, aclrtLaunchKernelV2, aclrtFuncHandle, uint32_t, const void *, size_t,
            aclrtLaunchKernelCfg *, aclrtStream)
ACL_MISSING(noKernels, aclrtLaunchKernelWithConfig, aclrtFuncHandle, uint32_t, aclrtStream,
            aclrtLaunchKernelCfg *, aclrtArgsHandle, void *)
ACL_MISSING(noKernels, aclrtLaunchKernelWithHostArgs, aclrtFuncHandle, uint32_t, aclrtStream,
            aclrtLaunchKernelCfg *, void *, size_t, aclrtPlaceHolderInfo *, size_t)
ACL_MISSING(noKernels, aclrtKernelArgsInit, aclrtFuncHandle, aclrtArgsHandle *)
ACL_MISSING(noKernels, aclrtKernelArgsAppend, aclrtArgsHandle, void *, size_t, aclrtParamHandle *)
ACL_MISSING(noKernels, aclrtKernelArgsAppendPlaceHolder, aclrtArgsHandle, aclrtParamHandle *)
ACL_MISSING(noKernels, aclrtKernelArgsGetPlaceHolderBuffer, aclrtArgsHandle, aclrtParamHandle,
            size_t, void **)
ACL_MISSING(noKernels, aclrtKernelArgsParaUpdate, aclrtArgsHandle, aclrtParamHandle, void *, size_t)
ACL_MISSING(noKernels, aclrtKernelArgsFinalize, aclrtArgsHandle)
ACL_MISSING(noKernels, aclrtGetFunctionAddr, aclrtFuncHandle, void **, void **)
ACL_MISSING(noKernels, aclrtGetFunctionName, aclrtFuncHandle, uint32_t, char *)
ACL_MISSING(noKernels, aclrtGetHardwareSyncAddr, void **)

ACL_MISSING(noProcesses, aclrtIpcMemGetExportKey, void *, size_t, char *, size_t, uint64_t)
ACL_MISSING(noProcesses, aclrtIpcMemImportByKey, void **, const char *, uint64_t)
ACL_MISSING(noProcesses, aclrtIpcMemClose, const char *)
ACL_MISSING(noProcesses, aclrtIpcMemSetImportPid, const char *, int32_t *, size_t)
ACL_MISSING(noProcesses, aclrtNotifyGetExportKey, aclrtNotify, char *, size_t, uint64_t)
ACL_MISSING(noProcesses, aclrtNotifyImportByKey, aclrtNotify *, const char *, uint64_t)
ACL_MISSING(noProcesses, aclrtNotifySetImportPid, aclrtNotify, int32_t *, size_t)
ACL_MISSING(noProcesses, aclrtMemExportToShareableHandle, aclrtDrvMemHandle, aclrtMemHandleType,
            uint64_t, uint64_t *)
ACL_MISSING(noProcesses, aclrtMemImportFromShareableHandle, uint64_t, int32_t, aclrtDrvMemHandle *)
ACL_MISSING(noProcesses, aclrtMemSetPidToShareableHandle, uint64_t, int32_t *, size_t)
ACL_MISSING(noProcesses, aclrtMemExportToShareableHandleV2, aclrtDrvMemHandle, uint64_t,
            aclrtMemSharedHandleType, void *)
ACL_MISSING(noProcesses, aclrtMemImportFromShareableHandleV2, void *, aclrtMemSharedHandleType,
            uint64_t, aclrtDrvMemHandle *)
ACL_MISSING(noProcesses, aclrtMemSetPidToShareableHandleV2, void *, aclrtMemSharedHandleType,
            int32_t *, size_t)

ACL_MISSING(noChains, acltdtAppendBufChain, acltdtBuf, acltdtBuf)
ACL_MISSING(noChains, acltdtGetBufChainNum, acltdtBuf, uint32_t *)
ACL_MISSING(noChains, acltdtGetBufFromChain, acltdtBuf, uint32_t, acltdtBuf *)
ACL_MISSING(noChains, aclrtAppendBufChain, aclrtMbuf, aclrtMbuf)
ACL_MISSING(noChains, aclrtGetBufChainNum, aclrtMbuf, uint32_t *)
ACL_MISSING(noChains, aclrtGetBufFromChain, aclrtMbuf, uint32_t, aclrtMbuf *)

ACL_MISSING(noKernels, aclrtKernelArgsGetHandleMemSize, aclrtFuncHandle, size_t *)
ACL_MISSING(noKernels, aclrtKernelArgsGetMemSize, aclrtFuncHandle, size_t, size_t *)
ACL_MISSING(noKernels, aclrtKernelArgsInitByUserMem, aclrtFuncHandle, aclrtArgsHandle, void *,
            size_t)
ACL_MISSING(noKernels, aclrtRegisterCpuFunc, const aclrtBinHandle, const char *, const char *,
            aclrtFuncHandle *)
ACL_MISSING(noKernels, aclrtGetFunctionAttribute, aclrtFuncHandle, aclrtFuncAttribute, int64_t *)

ACL_MISSING(noProcesses, aclrtIpcMemSetAttr, const char *, aclrtIpcMemAttrType, uint64_t)
ACL_MISSING(noProcesses, aclrtIpcMemImportPidInterServer, const char *, aclrtServerPid *, size_t)
ACL_MISSING(noProcesses, aclrtNotifySetImportPidInterServer, aclrtNotify, aclrtServerPid *, size_t)
ACL_MISSING(noProcesses, aclrtIpcGetEventHandle, aclrtEvent, aclrtIpcEventHandle *)
ACL_MISSING(noProcesses, aclrtIpcOpenEventHandle, aclrtIpcEventHandle, aclrtEvent *)

ACL_MISSING(noRecords, aclrtPersistentTaskClean, aclrtStream)
ACL_MISSING(noRecords, aclrtTaskUpdateAsync, aclrtStream, uint32_t, aclrtTaskUpdateInfo *,
            aclrtStream)

ACL_MISSING(noNumbers, aclrtCacheLastTaskOpInfo, const void *const, const size_t)
ACL_MISSING(noNumbers, aclrtProfTrace, void *, int32_t, aclrtStream)
ACL_MISSING(noFaults, aclrtSetDeviceTaskAbortCallback, const char *, aclrtDeviceTaskAbortCallback,
            void *)
ACL_MISSING(noFaults, aclrtMemUceRepair, int32_t, aclrtMemUceInfo *, size_t)
ACL_MISSING(noFaults, aclrtRepairError, int32_t, const aclrtErrorInfo *)
ACL_MISSING(noCommunication, aclRecoverAllHcclTasks, int32_t)
ACL_MISSING(noFeatures, aclprofGetSupportedFeatures, size_t *, void **)
ACL_MISSING(noFeatures, aclprofGetSupportedFeaturesV2, size_t *, void **)
ACL_MISSING(noCaches, aclrtCmoAsyncWithBarrier, void *, size_t, aclrtCmoType, uint32_t, aclrtStream)
ACL_MISSING(noCaches, aclrtCmoWaitBarrier, aclrtBarrierTaskInfo *, aclrtStream, uint32_t)
ACL_MISSING(noCaches, aclrtCmoGetDescSize, size_t *)
ACL_MISSING(noCaches, aclrtCmoSetDesc, void *, void *, size_t)
ACL_MISSING(noCaches, aclrtCmoAsyncWithDesc, void *, aclrtCmoType, aclrtStream, const void *)
ACL_MISSING(noOverflow, aclrtCtxGetFloatOverflowAddr, void **)
ACL_MISSING(noOverflow, aclrtGetFloatOverflowStatus, void *, uint64_t, aclrtStream)
ACL_MISSING(noOverflow, aclrtResetFloatOverflowStatus, aclrtStream)
ACL_MISSING(noOverflow, aclrtNpuGetFloatOverFlowStatus, void *, uint64_t, uint32_t, aclrtStream)
ACL_MISSING(noOverflow, aclrtNpuClearFloatOverFlowStatus, uint32_t, aclrtStream)
ACL_MISSING(noKernels, aclrtGetArgsFromExceptionInfo, const aclrtExceptionInfo *, void **,
            uint32_t *)
ACL_MISSING(noKernels, aclrtGetFuncHandleFromExceptionInfo, const aclrtExceptionInfo *,
            aclrtFuncHandle *)
ACL_MISSING(noKernels, aclrtBinaryGetDevAddress, const aclrtBinHandle, void **, size_t *)
ACL_MISSING(noKernels, aclrtBinarySetExceptionCallback, aclrtBinHandle, aclrtOpExceptionCallback,
            void *)
ACL_MISSING(noKernels, aclrtBinaryGetGlobal, aclrtBinHandle, const char *, void **, size_t *)
ACL_MISSING(noKernels, aclrtGetFunctionSize, aclrtFuncHandle, size_t *, size_t *)
ACL_MISSING(noKernels, aclrtFunctionGetBinary, const aclrtFuncHandle, aclrtBinHandle *)
ACL_MISSING(noKernels, aclrtFunctionGetParamCount, const void *, size_t *)
ACL_MISSING(noKernels, aclrtFunctionGetParamInfo, const void *, size_t, size_t *, size_t *)
ACL_MISSING(noKernels, aclrtLaunchKernelWithArgsArray, void *, uint32_t, aclrtStream,
            aclrtLaunchKernelCfg *, void **)
ACL_MISSING(noNumbers, aclrtCacheLastTaskExtendInfo, const char *const, const size_t)
