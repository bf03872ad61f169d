//===-- Dump.cpp - what a program asks of dumps -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"

#include "acl/acl_dump.h"

using namespace atc::ascend;

/// Returns ACL_ERROR_API_NOT_SUPPORT with what writes the tensors of a model instead.
static aclError noDump(const char *function) {
  return fail(ACL_ERROR_API_NOT_SUPPORT, function,
              "a program makes no dump; `om-run --dump` writes the tensors of a model");
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
