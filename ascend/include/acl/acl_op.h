/*===-- acl/acl_op.h - single operators -------------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A single operator is executed by an `.om` file that `atc --singleop` has made for its
 * type, shapes, formats and attributes. aclopSetModelDir and aclopLoad make such files
 * known; aclopCompile makes them by calling `atc`. Descriptions and attributes are copied
 * by every call, and buffers are device memory.
 */
#ifndef OPENATC_ACL_ACL_OP_H
#define OPENATC_ACL_ACL_OP_H

#include "acl_base.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopHandle aclopHandle;
typedef struct aclopAttr aclopAttr;
typedef struct aclopKernelDesc aclopKernelDesc;

typedef void (*aclDataDeallocator)(void *data, size_t length);

static const int ACL_COMPILE_FLAG_BIN_SELECTOR = 1;

typedef enum aclEngineType ACL_ENUM_TYPE {
  ACL_ENGINE_SYS,
  ACL_ENGINE_AICORE,
  ACL_ENGINE_VECTOR
} aclopEngineType;

/* Accepts how many operators are kept, at least 1: all that were loaded or compiled are. */
ACL_FUNC_VISIBILITY aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum);
/* Reads the operators of all `.om` files of a folder and of those inside it. A second
 * folder replaces the first. ACL_ERROR_INVALID_FILE where there is no such folder. */
ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char *modelDir);
/* Reads an operator from the bytes of an `.om` file, which are copied. */
ACL_FUNC_VISIBILITY aclError aclopLoad(const void *model, size_t modelSize);

/* ---- attributes: names and values are copied; a name set again is replaced ------- */

ACL_FUNC_VISIBILITY aclopAttr *aclopCreateAttr(void);
/* Destroys attributes; what is none is left alone. */
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr *attr);
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName,
                                              uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName,
                                             int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName,
                                               float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr *attr, const char *attrName,
                                                const char *attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName,
                                                  aclDataType attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName,
                                                      int numValues, const aclDataType values[]);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName,
                                                  int numValues, const uint8_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName,
                                                 int numValues, const int64_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName,
                                                   int numValues, const float *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName,
                                                    int numValues, const char **values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName,
                                                     int numLists, const int *numValues,
                                                     const int64_t *const values[]);

/* ---- execution ----------------------------------------------------------- */

/* Put an operator behind the stream's tasks. ACL_ERROR_OP_NOT_FOUND where no known file
 * has the type with these shapes and attributes; the message lists the nearest. */
ACL_FUNC_VISIBILITY aclError aclopExecute(const char *opType, int numInputs,
                                          const aclTensorDesc *const inputDesc[],
                                          const aclDataBuffer *const inputs[], int numOutputs,
                                          const aclTensorDesc *const outputDesc[],
                                          aclDataBuffer *const outputs[], const aclopAttr *attr,
                                          aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopExecuteV2(const char *opType, int numInputs,
                                            aclTensorDesc *inputDesc[], aclDataBuffer *inputs[],
                                            int numOutputs, aclTensorDesc *outputDesc[],
                                            aclDataBuffer *outputs[], aclopAttr *attr,
                                            aclrtStream stream);
/* Finds an operator once, for executions without a search; destroy the handle. */
ACL_FUNC_VISIBILITY aclError aclopCreateHandle(const char *opType, int numInputs,
                                               const aclTensorDesc *const inputDesc[],
                                               int numOutputs,
                                               const aclTensorDesc *const outputDesc[],
                                               const aclopAttr *opAttr, aclopHandle **handle);
/* Destroys a handle; executions that are queued are still done. */
ACL_FUNC_VISIBILITY void aclopDestroyHandle(aclopHandle *handle);
ACL_FUNC_VISIBILITY aclError aclopExecWithHandle(aclopHandle *handle, int numInputs,
                                                 const aclDataBuffer *const inputs[],
                                                 int numOutputs, aclDataBuffer *const outputs[],
                                                 aclrtStream stream);
/* Converts elements. Floats become integers by truncation, and are clamped to the type;
 * floats become smaller floats by rounding half to even. `truncate` must be 0 or 1. */
ACL_FUNC_VISIBILITY aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
                                       const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer,
                                       uint8_t truncate, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc,
                                                      aclTensorDesc *dstDesc, uint8_t truncate,
                                                      aclopHandle **handle);

/* ---- kernels of the vendor's instruction set: ACL_ERROR_API_NOT_SUPPORT ---------- */

typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc *const inputDesc[],
                                     int numOutputs, const aclTensorDesc *const outputDesc[],
                                     const aclopAttr *opAttr, aclopKernelDesc *aclopKernelDesc);
ACL_FUNC_VISIBILITY aclError aclopCreateKernel(const char *opType, const char *kernelId,
                                               const char *kernelName, void *binData, int binSize,
                                               aclopEngineType enginetype,
                                               aclDataDeallocator deallocator);
/* Registers what chooses a kernel. aclopUpdateParams calls it, and then reports that its
 * kernels cannot run here. ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED the second time. */
ACL_FUNC_VISIBILITY aclError aclopRegisterCompileFunc(const char *opType, aclopCompileFunc func);
/* ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED where there is none. */
ACL_FUNC_VISIBILITY aclError aclopUnregisterCompileFunc(const char *opType);
ACL_FUNC_VISIBILITY aclError aclopSetKernelArgs(aclopKernelDesc *kernelDesc, const char *kernelId,
                                                uint32_t blockDim, const void *args,
                                                uint32_t argSize);
ACL_FUNC_VISIBILITY aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc *kernelDesc,
                                                          int numWorkspaces,
                                                          size_t *workspaceSizes);
ACL_FUNC_VISIBILITY aclError aclopUpdateParams(const char *opType, int numInputs,
                                               const aclTensorDesc *const inputDesc[],
                                               int numOutputs,
                                               const aclTensorDesc *const outputDesc[],
                                               const aclopAttr *attr);
/* Writes the shapes of the outputs of an operator whose file is known. */
ACL_FUNC_VISIBILITY aclError aclopInferShape(const char *opType, int numInputs,
                                             aclTensorDesc *inputDesc[], aclDataBuffer *inputs[],
                                             int numOutputs, aclTensorDesc *outputDesc[],
                                             aclopAttr *attr);

#ifdef __cplusplus
}
#endif

#endif
