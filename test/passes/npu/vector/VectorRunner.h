//===-- VectorRunner.h - compiles and runs kernels of the vector queue -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_VECTOR_VECTORRUNNER_H
#define OPENATC_TEST_PASSES_NPU_VECTOR_VECTORRUNNER_H

#include "test/passes/cpu/KernelRunner.h"
#include "test/passes/npu/ProgramRunner.h"

namespace atc::npu::test {

using cpu::test::Buffer;
using cpu::test::Numbers;

/// Returns the result of whyUnsupportedVectorKernel for the op.
std::string refusal(const std::string &text, const std::vector<Buffer *> &buffers,
                    const std::string &soc);

/// `text`: a kernel op on %0, %1, ..., with $0, $1, ... for the types. Compiles it,
/// runs it one instruction after the other, and with all queues in the simulator:
/// both must agree. The last buffer is written. Returns the simulator's numbers. `boxPercent` is
/// what npu-select-boxes would set, `maxBuffers` is max-buffers of npu-program-pipeline.
Statistics runVectorKernel(const std::string &text, const std::vector<Buffer *> &buffers,
                           const std::string &soc = "Ascend310P3", int64_t boxPercent = 100,
                           int64_t maxBuffers = 2);

/// Runs a kernel as runVectorKernel does, on inputs of zeros, with warm L2, for the time only.
Statistics timeVectorKernel(const std::string &text, const std::vector<std::string> &types,
                            const std::string &soc);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_VECTOR_VECTORRUNNER_H
