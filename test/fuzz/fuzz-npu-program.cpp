//===-- fuzz-npu-program.cpp - fuzz target for programs of the NPU --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decoder, table and verifier let pass is run on memory of just its size:
// nothing may be touched beyond it. Returns 0 for programs that are accepted.

#include "npu/isa/Codec.h"
#include "npu/isa/Disassemble.h"
#include "npu/simulator/Hazards.h"
#include "test/fuzz/NpuInput.h"
#include "test/npu/AcceptedProgram.h"

#include <cstdlib>

using namespace atc::npu;

/// True if the program is accepted on this SoC.
static bool tryOn(const Program &program, const SocTable &soc) {
  int outside = test::outOfBounds(program, soc);
  if (outside > 0)
    std::abort();
  if (outside < 0)
    return false;
  // The hazard checker must accept every accepted program, too.
  HazardChecker checker(soc);
  checker.maxSteps = 1000;
  checker.check({&program, "fuzz", {}, {}});
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::NpuInput input = test::splitInput(data, size);
  Program program;
  std::string error;
  if (!decode(input.code, input.codeBytes, program, error))
    return -1;
  if (size % 16 == 0) // takes longer than all else
    disassemble(program);
  if (input.table.empty()) {
    bool coupled = tryOn(program, *findSoc("Ascend310P3"));
    return tryOn(program, *findSoc("Ascend910B1")) || coupled ? 0 : -1;
  }
  SocTable soc;
  return readSoc(input.table, "table", soc).empty() && tryOn(program, soc) ? 0 : -1;
}
