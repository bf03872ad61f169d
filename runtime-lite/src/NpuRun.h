//===-- NpuRun.h - the NPU launches of a session ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_NPURUN_H
#define OPENATC_RUNTIME_NPURUN_H

#include "openatc/device.h"
#include "runtime-lite/src/Model.h"

namespace atc::rt {

/// Hands the NPU launches of a model to the caller's device. Does nothing for a
/// model that has none.
class NpuRun {
public:
  NpuRun() = default;
  NpuRun(const NpuRun &) = delete;
  NpuRun &operator=(const NpuRun &) = delete;
  ~NpuRun() {
    if (opened)
      device.close(opened);
  }

  /// Opens the device and loads all programs. `arguments` has the pointers of all launches' buffers
  /// in the order of the schedule, and must stay valid. OM_ERROR_NO_DEVICE where the model needs a
  /// device and `given` is null.
  om_status start(const om_model &model, const om_device *given, void *const *arguments,
                  om_error *error);
  /// Tells the device which gear the next runs use, unless it knows.
  void selectGear(uint32_t gear);
  /// Reports to the device that a run begins.
  om_status begin(om_error *error);
  /// Runs NPU launch `launch` of the schedule.
  om_status run(uint32_t launch, om_error *error);
  /// Reports to the device that CPU launch `launch` has run.
  void ranOnHost(uint32_t launch) {
    if (opened)
      device.host(opened, launch);
  }

private:
  /// Opens the model's SoC on a copy of `given`.
  om_status open(const om_model &model, const om_device *given, om_error *error);
  /// Passes all programs to the device.
  om_status load(const om_model &model, om_error *error);
  /// Assigns device addresses. Returns false where memory could not be allocated.
  bool layOut(const om_model &model);
  static om_device_sizes sizesOf(const om_model &model, uint32_t gear);
  /// Returns the device address of a buffer.
  uint64_t address(const om_model &model, const om::fb::BufferRef &ref) const;

  const om_model *model = nullptr; ///< where the device is open
  uint32_t gear = OM_NO_GEAR;      ///< that the device has been told of
  om_device device = {};
  void *opened = nullptr;
  Array<om_device_launch> launches; ///< one per step, empty for those of the CPU
  Array<uint64_t> addresses;
  Array<om_device_range> prefetches;
  Array<uint64_t> bases; ///< of the segments, the arena, the inputs, the outputs
};

} // namespace atc::rt

#endif
