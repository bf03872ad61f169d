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

/// The object behind openatc/npu.h. Its statistics outlive the session.
struct om_npu {
  explicit om_npu(const om_npu_options &options);

  /// Opens the SoC by name, or by `table` where that is not empty.
  om_status open(const char *soc, const char *table, om_error &error);
  /// Decodes and verifies the programs of a model.
  om_status load(const om_device_model &model, om_error &error);
  /// Runs a launch of the opened model.
  om_status launch(const om_device_launch &launch, om_error &error);
  /// Selects the sizes of a gear for the statistics of the next runs.
  void selectGear(const om_device_sizes &sizes);
  /// Begins a run.
  void begin();
  void host();
  void close() { inUse = false; }

  /// Returns the text of a kind; it is valid until the next call for that kind.
  const char *text(om_npu_text_kind kind);

  om_device interface;
  /// Reads the table that is simulated instead of the model's. Returns false and sets `errorLines`
  /// to the errors.
  bool readOwnTable(const std::string &path, std::string &errorLines);

private:
  /// Decodes and verifies one program and returns its errors. `readOnly` has one byte per argument
  /// that must not be written.
  std::vector<std::string> check(const om_device_program &source, const uint8_t *readOnly,
                                 atc::npu::VerifyBudget &budget, atc::npu::Program &program) const;
  atc::npu::ReportInput report(size_t first) const;
  /// Adds the facts about a launch or layer that the device has run.
  void noteRan(atc::npu::ReportLaunch launch);
  void checkHazards(const atc::npu::DeviceLaunch &launch, uint32_t index);
  void noteUse(const atc::npu::DeviceLaunch &launch);
  /// Returns the bytes of [begin, end) of the device's memory that launches use.
  uint64_t bytesUsed(uint64_t begin, uint64_t end) const;
  /// Returns the device address behind weights and arena, where inputs and outputs begin.
  uint64_t boundary() const;
  /// Ends the last run, unless that was done.
  void endRun();

  atc::npu::DeviceOptions options;
  bool hazards = false, inUse = false;
  uint64_t maxInstructions;                     ///< per run
  std::unique_ptr<atc::npu::SocTable> ownTable; ///< simulated instead of the model's
  std::unique_ptr<atc::npu::Device> device;
  std::vector<atc::npu::Program> programs;
  std::vector<std::string> programNames;
  om_device_model model = {}; ///< its sizes and counts
  std::string modelName;
  std::map<uint64_t, uint64_t> used; ///< begin and end of the memory that launches use
  uint64_t residentWeights = 0;      ///< bytes of weights that L2 held when the run began
  bool running = false;              ///< the last run has not ended
  uint64_t codeBytes = 0;
  atc::npu::HostShare hostShare; ///< of the last run
  bool hostRanLast = false;
  /// Launches of a run that are described one by one; a loop may have any number of them.
  static constexpr size_t kMaxRunLaunches = 1 << 16;
  std::vector<atc::npu::ReportLaunch> ran; ///< the launches that the device keeps
  size_t firstLaunch = 0;                  ///< of the last run
  size_t timelineLaunches = 0;             ///< of `ran`, those of earlier runs
  bool timelineFull = false;               ///< spans have been dropped
  std::set<uint32_t> checked;              ///< launches of the schedule
  std::string linesOfErrors, hazardLines, answer[5];
};

#endif
