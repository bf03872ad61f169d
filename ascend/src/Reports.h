//===-- Reports.h - callbacks that threads of the program run ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_REPORTS_H
#define ASCEND_SRC_REPORTS_H

namespace atc::ascend {

class Stream;

/// Ends the subscription of a stream that is destroyed; its callbacks that wait to be run
/// are given up, and tasks that wait for them go on.
void forgetReports(const Stream &stream);

} // namespace atc::ascend

#endif
