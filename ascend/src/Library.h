//===-- Library.h - whether AscendCL is started ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_LIBRARY_H
#define ASCEND_SRC_LIBRARY_H

#include "acl/acl_base.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace atc::ascend {

/// Returns ACL_ERROR_UNINITIALIZE, with a message, between aclFinalize and aclInit.
aclError requireStarted(const char *function);

/// Reads a JSON file of settings into `value`: an object, or nothing, which becomes an empty
/// object. Returns ACL_ERROR_INVALID_FILE or ACL_ERROR_PARSE_FILE.
aclError readSettings(const char *function, const char *path, nlohmann::json &value);

/// Adds what aclFinalize calls. Files that keep something call this once.
void atFinalize(std::function<void()> action);

} // namespace atc::ascend

#endif
