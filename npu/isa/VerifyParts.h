//===-- VerifyParts.h - shared by the files of Verify -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_VERIFYPARTS_H
#define OPENATC_NPU_VERIFYPARTS_H

#include "npu/isa/Proof.h"
#include "npu/isa/Verify.h"

namespace atc::npu {

/// The state of a verification: the program, the position in it and the errors so far.
struct Verification {
  const Program &program;
  const SocTable &soc;
  VerifyBudget &budget;
  Frame frame = {}; ///< trips of the grid and of the loops around the instruction
  size_t line = 0;
  std::vector<std::string> errors = {};
  size_t unlisted = 0; ///< errors beyond those

  /// Returns the number of errors, also of those that are not listed.
  size_t errorCount() const { return errors.size() + unlisted; }
  /// Adds an error of the instruction at `line`, or of the program where `line` is behind the last
  /// instruction.
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
  /// Adds the error `what` unless `good`.
  void expect(bool good, const char *what) {
    if (!good)
      error(what);
  }
  /// Returns the number of loops around the instruction, at most kMaxLoops.
  unsigned depth() const { return std::min(frame.depth, kMaxLoops); }
};

/// Checks memories and fields by rules of this opcode. The values of the instruction are within
/// their limits.
void verifyOpcode(Verification &v, const Instruction &in, const CheckedInstruction &checked);

/// Checks the instruction's accesses and its cost, and returns how many elements or products one
/// iteration computes. The opcode is valid.
Checked verifyAccesses(Verification &v, const Instruction &in, const CheckedInstruction &checked);

} // namespace atc::npu

#endif
