//===-- SimulatedNpu.h - the simulator as a session's device ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_DEVICE_SIMULATEDNPU_H
#define OPENATC_NPU_DEVICE_SIMULATEDNPU_H

#include "npu/device/Device.h"
#include "npu/report/Report.h"
#include "npu/soc/Limits.h"
#include "openatc/npu.h"

#include <map>
#include <memory>
#include <set>

/// The object behind openatc/npu.h. Statistics stay when the session has gone.
struct om_npu {
  explicit om_npu(const om_npu_options &options);

  om_status open(const char *soc, const char *table, om_error &error);
  om_status load(const om_device_model &model, om_error &error);
  om_status launch(const om_device_launch &launch, om_error &error);
  void selectGear(const om_device_sizes &sizes);
  void begin();
  void host();
  void close() { inUse = false; }

  const char *text(om_npu_text_kind kind);

  om_device interface;
  bool readOwnTable(const std::string &path, std::string &faults);

private:
  std::vector<std::string> check(const om_device_program &source, const uint8_t *readOnly,
                                 atc::npu::VerifyBudget &budget, atc::npu::Program &program) const;
  atc::npu::ReportInput report(size_t first) const;
  void checkHazards(const atc::npu::DeviceLaunch &launch, uint32_t index);
  void noteWeights(const atc::npu::DeviceLaunch &launch);
  uint64_t weightBytesUsed() const;

  atc::npu::DeviceOptions options;
  bool hazards = false, inUse = false;
  uint64_t maxInstructions;                     ///< of one run
  std::unique_ptr<atc::npu::SocTable> ownTable; ///< simulated instead of the model's
  std::unique_ptr<atc::npu::Device> device;
  std::vector<atc::npu::Program> programs;
  std::vector<std::string> programNames;
  om_device_model model = {}; ///< its numbers
  std::string modelName;
  std::map<uint64_t, uint64_t> usedWeights; ///< begin and end of what launches are given of them
  uint64_t codeBytes = 0;
  atc::npu::HostShare hostShare; ///< of the last run
  bool hostRanLast = false;
  std::vector<atc::npu::ReportLaunch> ran; ///< every launch so far
  size_t firstLaunch = 0;                  ///< of the last run
  std::set<uint32_t> checked;              ///< launches of the schedule
  std::string faultLines, hazardLines, answer[5];
};

#endif
