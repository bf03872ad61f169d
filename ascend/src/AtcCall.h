//===-- AtcCall.h - calls of the compiler -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_ATCCALL_H
#define ASCEND_SRC_ATCCALL_H

#include <string>

namespace atc::ascend {

/// Returns the atc to call: of the environment variable OPENATC_ATC, beside this library, or on
/// PATH.
std::string findAtc();

/// Returns the bytes of a file; "" where it cannot be read.
std::string textOfFile(const std::string &path);

/// Returns the lines of atc's output that are errors, without those around them; the whole output
/// where it has none.
std::string errorsOfAtc(const std::string &output);

} // namespace atc::ascend

#endif
