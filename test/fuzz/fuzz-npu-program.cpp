//===-- fuzz-npu-program.cpp - libFuzzer target for programs of the NPU ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decoder and verifier let pass is run on memory of just its size: nothing
// may be touched beyond it.

#include "npu/isa/Codec.h"
#include "npu/simulator/Hazards.h"
#include "test/npu/AcceptedProgram.h"

#include <cstdlib>

using namespace atc::npu;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Program program;
  std::string error;
  if (!decode(data, size, program, error))
    return 0;
  for (const char *name : {"Ascend310P3", "Ascend910B1"}) {
    const SocTable &soc = *findSoc(name);
    int outside = test::outOfBounds(program, soc);
    if (outside > 0)
      std::abort();
    // What is accepted can be walked as well.
    HazardChecker checker(soc);
    checker.maxInstructions = 1000;
    if (outside == 0)
      checker.check({&program, "fuzz", {}, {}});
  }
  return 0;
}
