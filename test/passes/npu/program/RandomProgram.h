//===-- RandomProgram.h - sequential npu programs drawn by a seed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_PROGRAM_RANDOMPROGRAM_H
#define OPENATC_TEST_PASSES_NPU_PROGRAM_RANDOMPROGRAM_H

#include <cstdint>
#include <string>

namespace atc::npu::test {

/// A program as an expander would write it, without flags: loops nested up to 3
/// deep, buffers in ub, l1 and the l0s made at any depth, loads, vector
/// operations, matrix products, guards, cut ranges, and results that come back
/// from gm. Nothing is read that was not written, and cores do not meet.
std::string randomProgram(uint32_t seed);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_PROGRAM_RANDOMPROGRAM_H
