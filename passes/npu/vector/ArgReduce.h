//===-- ArgReduce.h - kernel.arg_reduce on the vector queue ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_ARGREDUCE_H
#define OPENATC_PASSES_NPU_VECTOR_ARGREDUCE_H

#include "dialects/kernel/Kernel.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// Returns why the vector queue of this SoC cannot compute `op`; empty: it can.
std::string whyUnsupportedArgReduce(kernel::ArgReduceOp op, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_ARGREDUCE_H
