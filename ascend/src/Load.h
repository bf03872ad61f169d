//===-- Load.h - what loads models has in common ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_LOAD_H
#define ASCEND_SRC_LOAD_H

#include "acl/acl_mdl.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atc::ascend {

/// Returns the size that a program is told for memory of so many bytes. It is never 0: programs
/// allocate it as it is.
size_t reportedSize(size_t bytes);

/// Loads a model from memory and checks the program's memory for its run that a configuration has.
aclError loadWithMemoryOf(const char *function, const aclmdlConfigHandle *handle,
                          std::string_view bytes, uint32_t *modelId);

} // namespace atc::ascend

#endif
