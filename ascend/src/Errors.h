//===-- Errors.h - the message of the last error of a thread -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_ERRORS_H
#define ASCEND_SRC_ERRORS_H

#include "acl/acl_base.h"

#include <string>

namespace atc::ascend {

/// Records "[code] function: text" as the last message of this thread and returns the code.
/// `format` is that of printf.
ACL_FUNC_VISIBILITY aclError fail(aclError code, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Records that a function had no memory, as fail() does, and needs none for that. Returns the
/// code.
ACL_FUNC_VISIBILITY aclError failWithoutMemory(const char *function);

/// Records a message that was composed on another thread, and its code.
void setMessage(std::string message, aclError code);

/// Returns the code of the last failure of this thread, 0 without one; takeLastCode forgets it.
aclError lastCode();
aclError takeLastCode();

/// Returns the last message of this thread, without forgetting it; "" where there is none.
const std::string &lastMessage();

} // namespace atc::ascend

/// Returns from the calling function with a code and a message that names the function.
#define ACL_FAIL(code, ...) return ::atc::ascend::fail(code, __func__, __VA_ARGS__)

/// Returns ACL_ERROR_INVALID_PARAM where a pointer is NULL.
#define ACL_REQUIRE(pointer)                                                                       \
  if (!(pointer))                                                                                  \
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, #pointer " is NULL")

/// Returns the code of an expression from the calling function unless it is ACL_SUCCESS.
#define ACL_TRY(expression)                                                                        \
  if (aclError code_ = (expression); code_ != ACL_SUCCESS)                                         \
  return code_

#endif
