//===-- ScheduleTime.h - simulated time of launches in sequence -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_SCHEDULETIME_H
#define OPENATC_PASSES_NPU_PROGRAM_SCHEDULETIME_H

#include "dialects/npu/Npu.h"
#include "npu/simulator/Simulator.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <vector>

namespace atc::npu {

/// A launch of a schedule, as it is or as a pass considers it.
struct TimedLaunch {
  ir::ProgramOp program;
  llvm::SmallVector<mlir::Value> operands; ///< one buffer per buffer of the program
  llvm::SmallVector<mlir::Value> prefetch; ///< weights that are brought to L2 meanwhile
  bool chained = false;                    ///< continues the task of the launch before it
};

/// Simulates runs of a model one after the other, without computing results. L2 holds what the runs
/// before have left, so that the first one should not count.
class ScheduleTime {
public:
  /// `maxSteps` limits the instructions of all cores that all runs together simulate, `maxBytes`
  /// the bytes of gm that they touch: each line of L2 that a transfer touches takes time. As they
  /// are, runs take some seconds.
  static constexpr uint64_t kMaxSteps = 20'000'000, kMaxBytes = uint64_t(24) << 30;
  explicit ScheduleTime(const SocTable &soc, uint64_t maxSteps = kMaxSteps,
                        uint64_t maxBytes = kMaxBytes);

  /// Returns the cycles of each launch of a run. Programs must have offsets in local memories, and
  /// buffers in the arena their offsets. Returns nothing where a launch cannot be simulated or a
  /// limit is reached; the object is then of no further use. The result is deterministic.
  std::optional<std::vector<double>> run(llvm::ArrayRef<TimedLaunch> launches);

  /// Returns whether `count` more runs like the one so far stay below the limits.
  bool hasRoomFor(unsigned count) const;

private:
  /// Returns the encoded program, which is made once; null where it cannot be encoded.
  const Program *encodingOf(ir::ProgramOp program);
  /// Returns the address of a buffer's first byte, which is the same in all runs.
  uint64_t addressOf(mlir::Value buffer);

  SocTable soc;
  uint64_t maxSteps, maxBytes;
  Simulator simulator;
  std::map<mlir::Operation *, Program> programs;
  llvm::DenseMap<mlir::Value, uint64_t> addresses; ///< of weights, inputs and outputs
  uint64_t nextWeight, nextArgument;
};

/// Compares schedules of a model by the cycles of their launches. The first run of a schedule finds
/// an empty L2. Where the limits of ScheduleTime allow three more runs, it does not count;
/// otherwise only first runs are compared, as a model that touches so much finds little that it
/// needs.
class ScheduleComparison {
public:
  explicit ScheduleComparison(const SocTable &soc, uint64_t maxBytes = ScheduleTime::kMaxBytes)
      : soc(soc), maxBytes(maxBytes), time(std::in_place, soc, ScheduleTime::kMaxSteps, maxBytes) {}

  /// Returns the cycles of each launch; nothing where ScheduleTime::run does, or where the limits
  /// allow no schedule after the first one.
  std::optional<std::vector<double>> measure(llvm::ArrayRef<TimedLaunch> launches);
  /// Returns whether the limits allow two schedules after the first one, which has been measured.
  bool allowsTwoMore() const { return hasRoomForTwo; }

private:
  SocTable soc;
  uint64_t maxBytes;
  std::optional<ScheduleTime> time; ///< made anew for each schedule where first runs are compared
  bool isFirst = true, comparesFirstRuns = false, hasRoomForTwo = false;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_SCHEDULETIME_H
