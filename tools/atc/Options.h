//===-- Options.h - what a command line asks for --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_OPTIONS_H
#define OPENATC_TOOLS_ATC_OPTIONS_H

#include "backends/cpu/CpuLevels.h"
#include "driver/Compiler.h"
#include "driver/gears/GearRanges.h"
#include "driver/shard/ShardCompiler.h"
#include "driver/training/TrainingOptions.h"
#include "npu/soc/Soc.h"
#include "tools/atc/Flags.h"
#include "tools/common/MemoryLimit.h"
#include "tuning/AutoPlacement.h"

namespace atc::tools {

enum class Mode {
  Compile = 0,
  ToJson = 1,
  Check = 3,
  DumpToJson = 5,
  ShowModel = 6,
  SingleOps = 100
};

struct AtcOptions {
  Mode mode = Mode::Compile;
  driver::CompilerOptions compiler;
  driver::Phase stopAfter = driver::Phase::Emit; ///< before Emit, the module is the result
  driver::RangedShapes ranges;                   ///< --input_shape with ranges; empty: it has none
  /// This machine's CPU, or that of --target_cpu: for what no program of the NPU fits.
  std::shared_ptr<const driver::Target> host;
  std::optional<driver::GearRequest> gears;        ///< nothing: one static or dynamic model
  std::optional<driver::ShardRequest> shards;      ///< --parallel; nothing: one device
  std::optional<driver::TrainingOptions> training; ///< --train; nothing: an inference
  std::optional<tuning::AutoOptions> autoTarget;   ///< --target=auto; nothing: one target
  std::string om, json, checkReport;
  bool isModelFile = false;    ///< `om` is a model of a framework: compiler.source.format
  std::string outputFile;      ///< with its suffix
  bool emitsObject = false;    ///< --emit=object: an object file in place of an .om file
  std::string compressionConf; ///< how to quantize while compiling; empty: not at all
  bool verbose = false;
  bool showModel = false; ///< --display_model_info
  std::string singleOps;  ///< the file of --singleop
  /// Bytes that the process may allocate; kNoMemoryLimit for any number.
  uint64_t maxMemory = kNoMemoryLimit;
};

/// Returns what the flags ask for. Every flag that is not valid, alone or beside others,
/// becomes an error; the result is of use only when there are none.
AtcOptions buildOptions(const FlagValues &flags, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_OPTIONS_H
