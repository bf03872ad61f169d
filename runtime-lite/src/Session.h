//===-- Session.h - the memory and threads of one inference at a time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_SESSION_H
#define OPENATC_RUNTIME_SESSION_H

#include "runtime-lite/src/NpuRun.h"
#include "runtime-lite/src/Pool.h"

struct om_session {
  explicit om_session(const om_model &model) : model(model) {}

  om_status start(const om_session_options &options, om_error *error);
  om_status run(const void *const *inputs, void *const *outputs, om_launch_callback callback,
                void *user, om_error *error);
  om_status readTensor(uint32_t tensor, void *data, size_t bytes, om_error *error) const;
  void setProfile(bool on);

  uint32_t threads() const { return pool.threads(); }
  uint64_t profiledRuns() const { return runs; }
  uint64_t profiledTime(uint32_t launch) const { return profiling ? times[launch] : 0; }

  const om_model &model;

private:
  /// An argument that points into an input (or output) of the caller and so is
  /// set anew in each run.
  struct Patch {
    uint32_t argument;
    uint32_t end; ///< inputs first, then outputs
    uint64_t offset;
  };

  void prepareWork(const om_session_options &options);
  om_status runLaunch(uint32_t index, om_error *error);
  om_status bind(const void *const *inputs, void *const *outputs, om_error *error);
  char *address(const atc::om::fb::BufferRef &ref) const;
  uint32_t end(const atc::om::fb::BufferRef &ref) const;

  atc::rt::Mapping arena, scratch;
  atc::rt::Array<atc::rt::Work> work;
  atc::rt::Array<void *> arguments;
  atc::rt::Array<Patch> patches;
  atc::rt::Array<char *> ends; ///< the caller's inputs, then outputs
  atc::rt::Array<uint64_t> times;
  uint64_t runs = 0;
  bool profiling = false;
  atc::rt::NpuRun npu;
  atc::rt::Pool pool; ///< last: its threads end before the memory goes
};

#endif
