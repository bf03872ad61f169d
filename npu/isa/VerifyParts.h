//===-- VerifyParts.h - the files of Verify to each other -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_VERIFYPARTS_H
#define OPENATC_NPU_VERIFYPARTS_H

#include "npu/isa/Proof.h"
#include "npu/isa/Verify.h"

namespace atc::npu {

/// Holds a program while it is checked, and the errors so far.
struct Verification {
  const Program &program;
  const SocTable &soc;
  VerifyBudget &budget;
  Frame frame = {}; ///< trips of the grid and of the loops around the instruction
  size_t line = 0;
  std::vector<std::string> errors = {};
  size_t unlisted = 0; ///< errors beyond those

  size_t errorCount() const { return errors.size() + unlisted; }
  /// Adds an error of the instruction at `line`, or of the program behind the last.
  void error(const std::string &what) {
    if (errors.size() >= size_t(Limits::MaxErrors)) {
      ++unlisted;
      return;
    }
    std::string where;
    if (line < program.code.size()) {
      Opcode opcode = program.code[line].opcode;
      where = "instruction " + std::to_string(line) + " (" +
              (unsigned(opcode) < kOpcodes ? infoOf(opcode).mnemonic : "?") + "): ";
    }
    errors.push_back(where + what);
  }
  void expect(bool good, const char *what) {
    if (!good)
      error(what);
  }
  /// Returns how many of the loops around the instruction count.
  unsigned depth() const { return std::min(frame.depth, kMaxLoops); }
};

/// Checks memories and fields that only this opcode knows. The numbers of the
/// instruction are within their limits.
void verifyOpcode(Verification &v, const Instruction &in, const CheckedInstruction &checked);

/// Checks where an instruction reads and writes and what it costs, and returns how
/// many elements or products one instance works on. Its opcode is good.
Checked verifyAccesses(Verification &v, const Instruction &in, const CheckedInstruction &checked);

} // namespace atc::npu

#endif
