//===-- Collection.h - where profiles of executions go ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_COLLECTION_H
#define ASCEND_SRC_COLLECTION_H

#include "acl/acl_base.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace atc::ascend {

/// Returns the folders that executions that begin now write a line to: that of the environment
/// variable OPENATC_ACL_PROFILE, and that of the program between aclprofStart and aclprofStop.
std::vector<std::string> profileFolders();

/// Returns whether executions of models that are loaded now may be measured, for which the
/// simulator must keep time.
bool keepsTime();

/// Makes the folder PROF_000001_<time>_<process>/device_0/data in the folder `path`, for a
/// collection that starts later. Returns ACL_ERROR_PROF_ALREADY_RUN where there is one, and
/// ACL_ERROR_INVALID_FILE where it cannot be made.
aclError openCollection(const char *function, const std::string &path);

/// Starts, stops or ends the collection. `config` is the number of the settings that started it.
/// Returns ACL_ERROR_PROF_NOT_RUN, or ACL_ERROR_PROF_ALREADY_RUN for a second start.
aclError startCollection(const char *function, const void *config);
aclError stopCollection(const char *function, const void *config);
aclError closeCollection(const char *function);

/// Starts what `profiler` in the file of aclInit asks for; its collection ends with aclFinalize.
/// Returns ACL_ERROR_INVALID_PROFILING_CONFIG for what is no setting.
aclError configureCollection(const nlohmann::json &profiler);

/// Ends a collection that is left.
void endCollection();

} // namespace atc::ascend

#endif
