//===-- OpHandle.cpp - handles of operators, casts, registered kernels -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/Cast.h"
#include "ascend/operators/OpHandles.h"
#include "ascend/operators/Operator.h"
#include "ascend/src/Context.h"
#include "ascend/src/Errors.h"

namespace atc::ascend {

HandleTable<OpHandle> &opHandles() {
  static auto &table = *new HandleTable<OpHandle>(HandleKind::OpHandle);
  return table;
}

} // namespace atc::ascend

using namespace atc::ascend;

aclError aclopCreateHandle(const char *opType, int numInputs,
                           const aclTensorDesc *const inputDesc[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], const aclopAttr *opAttr,
                           aclopHandle **handle) {
  ACL_REQUIRE(handle);
  OpCall call;
  ACL_TRY(readCall(__func__, opType, numInputs, inputDesc, numOutputs, outputDesc, opAttr, call));
  std::shared_ptr<OpModel> op;
  ACL_TRY(findOperator(__func__, call, op));
  auto made = std::make_shared<OpHandle>();
  made->execute = [op](const char *function, int inputs, const aclDataBuffer *const given[],
                       int outputs, aclDataBuffer *const wanted[], aclrtStream stream) {
    return executeOperator(function, *op, inputs, given, outputs, wanted, stream);
  };
  *handle = static_cast<aclopHandle *>(opHandles().add(std::move(made)));
  return ACL_SUCCESS;
}

void aclopDestroyHandle(aclopHandle *handle) {
  if (handle && !opHandles().remove(handle))
    fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__,
         "handle (%p) was destroyed, or is no handle of an operator", static_cast<void *>(handle));
}

aclError aclopExecWithHandle(aclopHandle *handle, int numInputs,
                             const aclDataBuffer *const inputs[], int numOutputs,
                             aclDataBuffer *const outputs[], aclrtStream stream) {
  ACL_FIND(found, opHandles(), handle);
  return found->execute(__func__, numInputs, inputs, numOutputs, outputs, stream);
}

/// Checks a cast and puts it behind the stream's tasks.
static aclError castOn(const char *function, const CastPlan &plan, const aclDataBuffer *source,
                       const aclDataBuffer *target, aclrtStream stream) {
  std::shared_ptr<DataBuffer> from = dataBuffers().find(source), to = dataBuffers().find(target);
  if (!from || !to)
    return fail(source && target ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM,
                function, "%s is NULL, was destroyed, or is no data buffer",
                from ? "dstBuffer" : "srcBuffer");
  auto [fromData, fromBytes] = from->get();
  auto [toData, toBytes] = to->get();
  size_t needed[2];
  for (int i = 0; i < 2; ++i)
    if (__builtin_mul_overflow(plan.count, aclDataTypeSize(i == 0 ? plan.from : plan.to),
                               &needed[i]))
      return fail(ACL_ERROR_INVALID_PARAM, function, "%zu elements are beyond the address space",
                  plan.count);
  if (fromBytes < needed[0])
    return fail(ACL_ERROR_OP_INPUT_NOT_MATCH, function, "srcBuffer has %zu bytes, it needs %zu",
                fromBytes, needed[0]);
  if (toBytes < needed[1])
    return fail(ACL_ERROR_OP_OUTPUT_NOT_MATCH, function, "dstBuffer has %zu bytes, it needs %zu",
                toBytes, needed[1]);
  std::shared_ptr<Block> blocks[2];
  ACL_TRY(requireDevice(function, "srcBuffer", fromData, needed[0], blocks[0]));
  ACL_TRY(requireDevice(function, "dstBuffer", toData, needed[1], blocks[1]));
  return enqueue(
      function, stream,
      [plan, fromData, toData, kept = std::pair(blocks[0], blocks[1])] {
        plan.run(fromData, toData);
        return ACL_SUCCESS;
      },
      describeTask(ACL_MODEL_RI_TASK_KERNEL));
}

static aclError planCast(const char *function, const aclTensorDesc *srcDesc,
                         const aclTensorDesc *dstDesc, uint8_t truncate, CastPlan &plan) {
  auto from = tensorDescs().find(srcDesc), to = tensorDescs().find(dstDesc);
  if (!from || !to)
    return fail(srcDesc && dstDesc ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM,
                function, "%s is NULL, was destroyed, or is no tensor description",
                from ? "dstDesc" : "srcDesc");
  if (truncate > 1)
    return fail(ACL_ERROR_INVALID_PARAM, function, "truncate is %u; give 0 or 1", truncate);
  if (from->elements() != to->elements())
    return fail(ACL_ERROR_OP_OUTPUT_NOT_MATCH, function, "%s cannot become %s",
                textOf(from->dims).c_str(), textOf(to->dims).c_str());
  plan = {from->type, to->type, from->elements()};
  if (!plan.isKnown())
    return fail(ACL_ERROR_UNSUPPORTED_DATA_TYPE, function, "%s cannot become %s",
                nameOf(from->type), nameOf(to->type));
  return ACL_SUCCESS;
}

aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
                   const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer, uint8_t truncate,
                   aclrtStream stream) {
  CastPlan plan;
  ACL_TRY(planCast(__func__, srcDesc, dstDesc, truncate, plan));
  return castOn(__func__, plan, srcBuffer, dstBuffer, stream);
}

aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc, aclTensorDesc *dstDesc, uint8_t truncate,
                                  aclopHandle **handle) {
  ACL_REQUIRE(handle);
  CastPlan plan;
  ACL_TRY(planCast(__func__, srcDesc, dstDesc, truncate, plan));
  auto made = std::make_shared<OpHandle>();
  made->execute = [plan](const char *function, int inputs, const aclDataBuffer *const given[],
                         int outputs, aclDataBuffer *const wanted[], aclrtStream stream) {
    if (inputs != 1 || outputs != 1 || !given || !wanted)
      return fail(ACL_ERROR_INVALID_PARAM, function, "a cast has 1 input and 1 output");
    return castOn(function, plan, given[0], wanted[0], stream);
  };
  *handle = static_cast<aclopHandle *>(opHandles().add(std::move(made)));
  return ACL_SUCCESS;
}

namespace {

struct Selectors {
  std::mutex mutex;
  std::map<std::string, aclopCompileFunc> byType;
};

Selectors &selectors() {
  static auto &only = *new Selectors;
  return only;
}

} // namespace

#define ACL_NO_KERNELS                                                                             \
  ACL_FAIL(ACL_ERROR_API_NOT_SUPPORT, "kernels of the vendor's instruction set do not run here; "  \
                                      "compile the operator with atc --singleop")

aclError aclopCreateKernel(const char *, const char *, const char *, void *, int, aclopEngineType,
                           aclDataDeallocator) {
  ACL_NO_KERNELS;
}
aclError aclopSetKernelArgs(aclopKernelDesc *, const char *, uint32_t, const void *, uint32_t) {
  ACL_NO_KERNELS;
}
aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc *, int, size_t *) { ACL_NO_KERNELS; }

aclError aclopRegisterCompileFunc(const char *opType, aclopCompileFunc func) {
  ACL_REQUIRE(opType);
  ACL_REQUIRE(func);
  std::lock_guard lock(selectors().mutex);
  if (!selectors().byType.emplace(opType, func).second)
    ACL_FAIL(ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED, "%s has a function already", opType);
  return ACL_SUCCESS;
}

aclError aclopUnregisterCompileFunc(const char *opType) {
  ACL_REQUIRE(opType);
  std::lock_guard lock(selectors().mutex);
  if (selectors().byType.erase(opType) == 0)
    ACL_FAIL(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED, "%s has no function", opType);
  return ACL_SUCCESS;
}

aclError aclopUpdateParams(const char *opType, int numInputs,
                           const aclTensorDesc *const inputDesc[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], const aclopAttr *attr) {
  OpCall call;
  ACL_TRY(readCall(__func__, opType, numInputs, inputDesc, numOutputs, outputDesc, attr, call));
  aclopCompileFunc choose = nullptr;
  {
    std::lock_guard lock(selectors().mutex);
    const auto found = selectors().byType.find(call.type);
    if (found == selectors().byType.end())
      ACL_FAIL(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED, "%s has no function", opType);
    choose = found->second;
  }
  const aclError chosen = choose(numInputs, inputDesc, numOutputs, outputDesc, attr, nullptr);
  if (chosen != ACL_SUCCESS)
    ACL_FAIL(chosen, "the function of %s returned %d", opType, chosen);
  ACL_NO_KERNELS;
}
