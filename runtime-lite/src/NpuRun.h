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

  /// Opens the device and loads all programs. `arguments` has the pointers of all
  /// launches' buffers in the order of the schedule, and must stay where it is.
  om_status start(const om_model &model, const om_device *given, void *const *arguments,
                  om_error *error);
  /// Tells the device which gear the next runs use, unless it knows.
  void selectGear(uint32_t gear);
  om_status begin(om_error *error);
  om_status run(uint32_t launch, om_error *error);
  void ranOnHost(uint32_t launch) {
    if (opened)
      device.host(opened, launch);
  }

private:
  om_status open(const om_model &model, const om_device *given, om_error *error);
  om_status load(const om_model &model, om_error *error);
  bool layOut(const om_model &model);
  static om_device_sizes sizesOf(const om_model &model, uint32_t gear);
  uint64_t address(const om_model &model, const om::fb::BufferRef &ref) const;

  const om_model *model = nullptr; ///< where the device is open
  uint32_t gear = OM_NO_GEAR;      ///< that the device has been told of
  om_device device = {};
  void *opened = nullptr;
  Array<om_device_launch> launches; ///< one for each step, empty for those of the CPU
  Array<uint64_t> addresses;
  Array<om_device_range> prefetches;
  Array<uint64_t> bases; ///< of the segments, the arena, the inputs, the outputs
};

} // namespace atc::rt

#endif
