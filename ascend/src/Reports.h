//===-- Reports.h - callbacks that threads of the program run ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_REPORTS_H
#define ASCEND_SRC_REPORTS_H

#include "acl/acl_base.h"

#include <functional>

namespace atc::ascend {

class Stream;

/// Ends the subscription of a stream that is destroyed; its callbacks that wait to be run
/// are given up, and tasks that wait for them go on.
void forgetReports(const Stream &stream);

/// Adds a source of callbacks that is no stream, such as a channel of video; a thread (its
/// pthread_t as a number) runs them as those of its streams. Returns the source's number.
ACL_FUNC_VISIBILITY int32_t addReportSource(uint64_t thread);

/// Hands a callback to the thread of a source.
ACL_FUNC_VISIBILITY void postReport(int32_t source, std::function<void()> callback);

/// Removes a source; its callbacks that wait to be run are given up.
ACL_FUNC_VISIBILITY void removeReportSource(int32_t source);

} // namespace atc::ascend

#endif
