//===-- AclTest.h - what tests of AscendCL share --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_ASCEND_ACLTEST_H
#define OPENATC_TEST_ASCEND_ACLTEST_H

#include "acl/acl.h"

#include <catch2/catch.hpp>
#include <string>

/// Checks a code, and that a failure left a message that names the function.
inline void checkCode(aclError code, aclError wanted, const char *function) {
  const char *message = aclGetRecentErrMsg();
  INFO(function << ": " << (message ? message : "no message"));
  CHECK(code == wanted);
  if (wanted != ACL_SUCCESS && message)
    CHECK(std::string(message).find("[" + std::to_string(wanted) + "]") == 0);
  if (wanted != ACL_SUCCESS)
    CHECK(message != nullptr);
}

#define GOOD(call) checkCode(call, ACL_SUCCESS, #call)
#define BAD(code, call) checkCode(call, code, #call)

/// AscendCL started, with device 0 open; ended when it goes.
struct Started {
  Started() {
    REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  }
  ~Started() {
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    CHECK(aclFinalize() == ACL_SUCCESS);
  }
};

/// Device memory that is freed when it goes.
struct DeviceMemory {
  explicit DeviceMemory(size_t bytes) : bytes(bytes) {
    REQUIRE(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory() { CHECK(aclrtFree(data) == ACL_SUCCESS); }

  void *data = nullptr;
  const size_t bytes;
};

#endif
