//===-- Errors.h - the message of the last error of a thread -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_ERRORS_H
#define ASCEND_SRC_ERRORS_H

#include "acl/acl_base.h"

#include <new>
#include <stdexcept>
#include <string>

namespace atc::ascend {

/// Records "[code] function: text" as the last message of this thread and returns the code.
/// `format` is that of printf. Where there is no memory for the message, a shorter one has the
/// code.
ACL_FUNC_VISIBILITY aclError fail(aclError code, const char *function, const char *format,
                                  ...) noexcept __attribute__((format(printf, 3, 4)));

/// Records that a function had no memory, as fail() does, and returns ACL_ERROR_BAD_ALLOC.
ACL_FUNC_VISIBILITY aclError failWithoutMemory(const char *function) noexcept;

/// Runs `body` where nobody above it could catch what it throws, such as on a thread of the
/// library. Returns false where it had no memory.
template <typename Body> bool hasMemoryFor(Body &&body) {
  try {
    body();
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  } catch (const std::length_error &) { // containers throw it where a size is beyond all memory
    return false;
  }
}

/// Records a message that was composed on another thread, and its code; an empty one stands for one
/// that there was no memory for.
void setMessage(const std::string &message, aclError code) noexcept;
/// Returns the last message of this thread, which then has none; "" where there is no memory for
/// it.
std::string takeMessage() noexcept;

/// Returns the code of the last failure of this thread, 0 without one; takeLastCode forgets it.
aclError lastCode();
aclError takeLastCode();

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
