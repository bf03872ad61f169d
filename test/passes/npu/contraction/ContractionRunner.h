//===-- ContractionRunner.h - compiles and runs contractions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_CONTRACTION_CONTRACTIONRUNNER_H
#define OPENATC_TEST_PASSES_NPU_CONTRACTION_CONTRACTIONRUNNER_H

#include "passes/npu/contraction/Contraction.h"
#include "test/passes/cpu/KernelRunner.h"
#include "test/passes/npu/ProgramRunner.h"

namespace atc::npu::test {

using cpu::test::Buffer;
using cpu::test::Numbers;

struct ContractionOptions {
  std::string soc = "Ascend310P3";
  std::string fixed;     ///< of npu-select-tiles
  bool pipeline = false; ///< npu-program-pipeline, else positions only
  int64_t measure = 0;   ///< of npu-select-tiles
  int64_t buffers = 2;   ///< max-buffers of npu-program-pipeline
  /// Returns a tile to set in place of the pass's own; nothing: the op keeps that.
  std::function<std::optional<Tile>(const Contraction &, const SocTable &)> tile = {};
};

/// The text of a contraction on two buffers and on those that are added, for the functions below.
struct OpText {
  std::string text, types = "$0, $1";
  std::vector<Buffer *> buffers;

  OpText(const std::string &name, Buffer &first, Buffer &second)
      : text(name + " %0, %1"), buffers{&first, &second} {}
  /// Adds a named operand; nothing where it is not `used`.
  void add(bool used, const char *name, Buffer &buffer) {
    if (!used)
      return;
    std::string number = std::to_string(buffers.size());
    text += std::string(" ") + name + " %" + number;
    types += ", $" + number;
    buffers.push_back(&buffer);
  }
};

/// The program of one op, with what npu-select-tiles says of it.
struct Contracted {
  Program program;
  std::string tile, report;
  double estimate = 0;
};

/// `text`: the op on %0, %1, ..., with $0, $1, ... for the types. What fails to
/// compile or to verify ends the test case.
Contracted compileContraction(const std::string &text, const std::vector<std::string> &types,
                              const ContractionOptions &options);

/// Compiles the op and runs it on the buffers, the last of which is written; with
/// the pipeline also in the simulator, both must agree and no hazard may be left.
void runContraction(const std::string &text, const std::vector<Buffer *> &buffers,
                    const ContractionOptions &options);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_CONTRACTION_CONTRACTIONRUNNER_H
