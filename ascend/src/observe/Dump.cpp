//===-- Dump.cpp - what a program asks of dumps -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/src/Library.h"
#include "ascend/src/observe/TensorDump.h"

#include "acl/acl_dump.h"

#include <atomic>

using namespace atc::ascend;

/// Returns ACL_ERROR_API_NOT_SUPPORT with what writes the tensors of a model instead.
static aclError noDump(const char *function) {
  return fail(
      ACL_ERROR_API_NOT_SUPPORT, function,
      "dumps are .npy files: aclmdlSetDump, or \"dump\" in the file of aclInit, starts one");
}

aclError acldumpRegCallback(const acldumpMessageCallback messageCallback, int32_t flag) {
  ACL_REQUIRE(messageCallback);
  return noDump(__func__);
}

void acldumpUnregCallback() {}

const char *acldumpGetPath(acldumpType dumpType) { return nullptr; }

aclError aclopStartDumpArgs(uint32_t dumpType, const char *path) {
  ACL_REQUIRE(path);
  return noDump(__func__);
}

aclError aclopStopDumpArgs(uint32_t dumpType) { return noDump(__func__); }

/// Whether aclmdlInitDump was called last.
static std::atomic<bool> &isInitialized() {
  static std::atomic<bool> is(false);
  return is;
}

aclError aclmdlInitDump() {
  ACL_TRY(requireStarted(__func__));
  if (isInitialized().exchange(true))
    ACL_FAIL(ACL_ERROR_DUMP_ALREADY_RUN, "aclmdlInitDump was called before");
  return ACL_SUCCESS;
}

aclError aclmdlSetDump(const char *dumpCfgPath) {
  ACL_REQUIRE(dumpCfgPath);
  if (!isInitialized())
    ACL_FAIL(ACL_ERROR_DUMP_NOT_RUN, "call aclmdlInitDump first");
  nlohmann::json value;
  ACL_TRY(readSettings(__func__, dumpCfgPath, value));
  if (!value.contains("dump"))
    ACL_FAIL(ACL_ERROR_INVALID_DUMP_CONFIG, "%s has no \"dump\"", dumpCfgPath);
  return configureDump(__func__, value["dump"]);
}

aclError aclmdlFinalizeDump() {
  if (!isInitialized().exchange(false))
    ACL_FAIL(ACL_ERROR_DUMP_NOT_RUN, "call aclmdlInitDump first");
  endDump();
  return ACL_SUCCESS;
}
