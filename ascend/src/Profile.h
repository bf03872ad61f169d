//===-- Profile.h - what executions took, for msprof -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_PROFILE_H
#define ASCEND_SRC_PROFILE_H

#include "ascend/src/Model.h"

#include <chrono>

namespace atc::ascend {

/// Returns whether executions are measured, for which the simulator must keep time.
bool isProfiling();

/// Measures one execution of a model where the environment variable OPENATC_ACL_PROFILE names a
/// folder, and appends a line of JSON to `<pid>.jsonl` in it: the model, when it began and ended
/// (in microseconds of the system's clock), its launches with their times, and the statistics of
/// the simulated NPU. Without the variable it does nothing. The caller holds the model's mutex.
class MeasuredExecution {
public:
  explicit MeasuredExecution(Model &model);
  /// Writes the line; a file that cannot be written is left out.
  void finish();

private:
  Model &model;
  std::chrono::system_clock::time_point begin;
};

} // namespace atc::ascend

#endif
