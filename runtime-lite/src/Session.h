//===-- Session.h - the memory and threads of one inference at a time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_SESSION_H
#define OPENATC_RUNTIME_SESSION_H

#include "openatc/collectives.h"
#include "runtime-lite/src/BackgroundRun.h"
#include "runtime-lite/src/Limits.h"
#include "runtime-lite/src/NpuRun.h"
#include "runtime-lite/src/Pool.h"
#include "runtime-lite/src/PortChecks.h"
#include "runtime-lite/src/State.h"
#include "runtime-lite/src/gears/GearRun.h"
#include "runtime-lite/src/host/HostMachine.h"

/// The memory and threads of one inference at a time; the implementation behind om_session. One
/// thread at a time, except for limits.cancel().
struct om_session {
  explicit om_session(const om_model &model) : model(model), state(*model.header) {}
  om_session(const om_session &) = delete;
  om_session &operator=(const om_session &) = delete;
  ~om_session() {
    atc::rt::destroy(background); // waits for its run
    atc::rt::destroy(host);
    for (atc::rt::HostMachine *machine : gearHosts)
      atc::rt::destroy(machine);
    atc::rt::destroy(gears);
  }

  /// Allocates memory, opens the device and starts the threads.
  __attribute__((cold)) om_status start(const om_session_options &options, om_error *error);
  /// Runs the model on the caller's dense tensors; `callback` may be null.
  om_status run(const void *const *inputs, void *const *outputs, om_launch_callback callback,
                void *user, om_error *error);
  /// Hands a run to the session's own thread, which it starts with the first one.
  om_status startRun(const atc::rt::RunRequest &request, om_error *error);
  /// Runs the model on values; see om_session_run_values. `callback` may be null.
  om_status runValues(const om_value *const *inputs, om_value **outputs,
                      om_launch_callback callback, void *user, om_error *error);
  /// Returns an output of the call of a host kernel; see om_session_result.
  const om_value *result(uint32_t launch, uint32_t output) const;
  /// Copies a tensor into dense layout; see om_session_read_tensor.
  om_status readTensor(uint32_t tensor, void *data, size_t bytes, om_error *error) const;
  /// Switches the per-launch clock and clears its times.
  void setProfile(bool on);
  om_status setGear(const int64_t *values, uint32_t count, om_error *error);
  uint32_t gear() const { return gears ? gears->current() : OM_NO_GEAR; }

  uint32_t threads() const { return pool.threads(); }
  uint64_t profiledRuns() const { return runs; }
  /// Returns the nanoseconds spent in a launch since the profile was switched on.
  uint64_t profiledTime(uint32_t launch) const { return profiling ? times[launch] : 0; }

  // Used by the dynamic schedule.
  /// Sets the address of an input (numbered first) or output of the schedule.
  void setEnd(uint32_t end, char *pointer) { ends[end] = pointer; }
  /// Counts a profiled run and reports it to the device.
  om_status beginRun(om_error *error);
  /// Runs launches [first, first + count) of the schedule.
  om_status runLaunches(uint32_t first, uint32_t count, om_error *error);
  /// Runs task(arg, begin, end) over [0, tasks) in `pieces` ranges on all threads.
  void runTasks(int64_t tasks, uint32_t pieces, void (*task)(void *arg, int64_t begin, int64_t end),
                void *arg) {
    pool.run(tasks, pieces, task, arg);
  }
  /// Calls `run` as launch `index`, with clock and observer where there are any.
  template <typename Run> om_status observe(uint32_t index, Run &&run, om_error *error) {
    if (!profiling && !callback)
      return run();
    const uint64_t begin = atc::rt::nowNanoseconds();
    if (om_status status = run(); status != OM_OK)
      return status;
    times[index] += atc::rt::nowNanoseconds() - begin;
    return callback && callback(user, index) != 0 ? observerEnded(index, error) : OM_OK;
  }

  /// Reports the call of a host kernel to the device; calls count behind the launches.
  void ranHostCall(uint32_t call) { npu.ranOnHost(work.size() + call); }

  /// Counts bytes of the state, or takes them away, against max_memory.
  void holdState(int64_t bytes);
  /// Makes an output of a run on values, or the first value of a state; `held` are the bytes that
  /// the run holds with it.
  om_status makeOutput(const atc::rt::PortType &port, uint64_t &held, om_value *&output,
                       om_error *error, atc::rt::Elements kind = atc::rt::Elements::Fresh) const;

  const om_model &model;
  const om_collectives *collectives = nullptr; ///< the connection to the other ranks, or null
  atc::rt::Limits limits;
  atc::rt::BackgroundRun *background = nullptr; ///< null before the first startRun
  atc::rt::SessionState state;
  uint64_t bytesHeld = 0;              ///< of arena and scratch, and during a run of the state
  int64_t tileBegin = 0, tileSize = 0; ///< see om_session_tile

private:
  /// An argument that points into an input or output of the caller and so is set again in each run.
  struct Patch {
    uint32_t argument;
    uint32_t end; ///< inputs first, then outputs
    uint64_t offset;
  };

  /// Fills work, arguments and patches.
  // Run once per session, and are compiled for size as start() is.
  __attribute__((cold)) void prepareWork(const om_session_options &options);
  __attribute__((cold)) om_status startHosts(const om_session_options &options, om_error *error);
  om_status runLaunch(uint32_t index, om_error *error);
  om_status runSchedule(const void *const *inputs, void *const *outputs, om_error *error);
  om_status runStaticOnValues(const om_value *const *inputs, om_value **outputs, om_error *error);
  /// Forgets the values of a run, of whose outputs `made` exist.
  void endRunOnValues(om_status status, om_value **outputs, uint32_t made);
  om_status runGear(const void *const *inputs, void *const *outputs, om_error *error);
  om_status runGearOnValues(const om_value *const *inputs, om_value **outputs, om_error *error);
  om_status runChosenGear(const void *const *inputs, void *const *outputs, om_error *error);
  om_status observerEnded(uint32_t index, om_error *error) const;
  /// Checks the caller's pointers and stores them in `ends`.
  om_status bind(const void *const *inputs, void *const *outputs, om_error *error);
  /// Returns the address of a buffer; null for an input or output that is not set.
  char *address(const atc::om::fb::BufferRef &ref) const;
  /// Returns the index in `ends` of an input's or output's buffer.
  uint32_t end(const atc::om::fb::BufferRef &ref) const;

  atc::rt::Mapping arena, scratch;
  atc::rt::Array<atc::rt::Work> work;
  atc::rt::Array<void *> arguments;
  atc::rt::Array<Patch> patches;       ///< in the order of the schedule
  atc::rt::Array<uint32_t> firstPatch; ///< first patch of each launch; the total number at the end
  atc::rt::Array<char *> ends;         ///< the caller's inputs, then outputs
  atc::rt::Array<uint64_t> times;
  uint64_t runs = 0;
  bool profiling = false;
  om_launch_callback callback = nullptr; ///< of this run
  void *user = nullptr;
  atc::rt::NpuRun npu;
  atc::rt::HostMachine *host = nullptr; ///< of a model with a dynamic schedule, else null
  atc::rt::GearRun *gears = nullptr;    ///< of a model with gears, else null
  /// The machine of each gear; null for a gear without a dynamic schedule.
  atc::rt::Array<atc::rt::HostMachine *> gearHosts;
  atc::rt::Pool pool; ///< last member: its threads end before the memory is released
};

#endif
