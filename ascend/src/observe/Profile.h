//===-- Profile.h - what executions took, for msprof -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OBSERVE_PROFILE_H
#define ASCEND_SRC_OBSERVE_PROFILE_H

#include "ascend/src/Model.h"
#include "ascend/src/observe/Subscription.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace atc::ascend {

/// Returns a time in microseconds since 1970.
double microsecondsOf(std::chrono::system_clock::time_point time);

/// Appends a line to `<pid>.jsonl` in each folder. The first time that a file cannot be written is
/// told on the standard error; the execution is not disturbed.
void appendToProfiles(const std::vector<std::string> &folders, const nlohmann::ordered_json &line);

/// Measures one execution of a model where there are profileFolders() when it begins, or a
/// subscription to the model. Appends a line of JSON to `<pid>.jsonl` in the folders: the model,
/// when it began and ended (in microseconds of the system's clock), its launches with their times,
/// and the statistics of the simulated NPU. Sends a record per launch to the subscription. Without
/// either it does nothing. The caller holds the model's mutex.
class MeasuredExecution {
public:
  explicit MeasuredExecution(Model &model);
  /// Writes the line.
  void finish();

private:
  Model &model;
  const std::vector<std::string> folders;
  const std::shared_ptr<Subscription> subscription;
  std::chrono::system_clock::time_point begin;
};

} // namespace atc::ascend

#endif
