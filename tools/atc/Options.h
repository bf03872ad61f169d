//===-- Options.h - what a command line asks for --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_ATC_OPTIONS_H
#define OPENATC_TOOLS_ATC_OPTIONS_H

#include "backends/cpu/CpuLevels.h"
#include "npu/soc/Soc.h"
#include "tools/atc/Flags.h"
#include "tools/common/MemoryLimit.h"

#include <optional>

namespace atc::tools {

enum class Mode { Compile = 0, ToJson = 1, Check = 3, ShowModel = 6 };

using InputShape = std::pair<std::string, std::vector<int64_t>>;

/// In which element types an NPU computes; --precision_mode.
enum class Precision {
  ForceFp16,         ///< all floats as f16
  AllowFp32ToFp16,   ///< f16 where the NPU has no f32
  KeepOrigin,        ///< the types of the model
  CubeFp16InFp32Out, ///< f16 into the cube, f32 out of it and everywhere else
};

struct AtcOptions {
  Mode mode = Mode::Compile;
  std::string model, framework, om, json, checkReport;
  std::string outputFile; ///< with its suffix
  std::vector<InputShape> inputShapes;
  std::vector<std::string> outNodes, inputNodes;
  std::vector<cpu::CpuLevel> levels;
  /// The NPU to compile for; none compiles for the CPU alone.
  std::optional<npu::SocTable> soc;
  bool ownSoc = false; ///< it is not a built-in one: the file must hold its table
  Precision precision = Precision::ForceFp16;
  std::vector<std::string> disabledPasses;
  std::string tempDir;
  std::string compressionConf; ///< how to quantize while compiling; empty: not at all
  bool verbose = false;
  /// Bytes that the process may allocate; kNoMemoryLimit for any number.
  uint64_t maxMemory = kNoMemoryLimit;

  bool isTensorFlow() const { return framework == "3"; }
  bool isMlir() const { return llvm::StringRef(model).ends_with(".mlir"); }
};

/// `name:1,3,224,224;other:1`. Every fault becomes an error.
std::vector<InputShape> parseInputShapes(llvm::StringRef text, Diagnostics &diagnostics);

/// What to compile for: the NPU, the precision and the CPU levels of the flags.
void readTarget(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics);

/// Checks that the flags make sense together. The result is of use only when
/// there are no errors.
AtcOptions buildOptions(const FlagValues &flags, Diagnostics &diagnostics);

} // namespace atc::tools

#endif // OPENATC_TOOLS_ATC_OPTIONS_H
