//===-- Library.h - whether AscendCL is started ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_LIBRARY_H
#define ASCEND_SRC_LIBRARY_H

#include "acl/acl_base.h"

#include <functional>

namespace atc::ascend {

/// Returns ACL_ERROR_UNINITIALIZE, with a message, between aclFinalize and aclInit.
aclError requireStarted(const char *function);

/// Adds what aclFinalize calls. Files that keep something call this once.
void atFinalize(std::function<void()> action);

} // namespace atc::ascend

#endif
