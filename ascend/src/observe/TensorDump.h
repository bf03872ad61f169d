//===-- TensorDump.h - writes the tensors of executions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_SRC_OBSERVE_TENSORDUMP_H
#define ASCEND_SRC_OBSERVE_TENSORDUMP_H

#include "ascend/src/Model.h"

#include "openatc/om.hpp"

#include <map>
#include <nlohmann/json.hpp>

namespace atc::ascend {

struct DumpSettings;

/// Starts the dump that `dump` asks for: the object of that name in the file of aclInit or of
/// aclmdlSetDump. An empty list of models and "off" ask for none. Returns
/// ACL_ERROR_INVALID_DUMP_CONFIG for what is no setting, and for a folder that cannot be made.
aclError configureDump(const char *function, const nlohmann::json &dump);

/// Ends the dump that was started last.
void endDump();

/// Writes the tensors of one execution of a model as .npy files, where a dump asks for them. Lives
/// as long as the execution; the caller holds the model's mutex.
class TensorDump {
public:
  explicit TensorDump(Model &model);

  /// Runs the session as om_session_run does; writes the tensors of each launch behind it. A file
  /// that cannot be written is an error of the run.
  om_status run(const void *const *inputs, void *const *outputs, om_error &error);

private:
  static int afterLaunch(void *user, uint32_t launch);
  bool write(uint32_t launch);
  bool writeCall(uint32_t launch, const std::string &stem);
  bool writeTensor(uint32_t index, const std::string &path);
  bool keep(uint32_t index);

  Model &model;
  std::shared_ptr<const DumpSettings> settings; ///< null: nothing is written
  std::string name;                             ///< by which the settings ask for the model
  std::string folder;
  std::map<uint32_t, ::om::Buffer> written; ///< of launches before, where inputs are asked for
  std::string problem;
};

} // namespace atc::ascend

#endif
