//===-- OrderReference.h - what is ordered, by brute force ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_PROGRAM_ORDERREFERENCE_H
#define OPENATC_TEST_PASSES_NPU_PROGRAM_ORDERREFERENCE_H

#include "npu/isa/Isa.h"

namespace atc::npu::test {

enum class Ordered { Yes, No, Hangs };

/// Unrolls the program of each core into a list, draws every order that there is
/// into a graph, closes it and looks at all pairs of accesses of a core. For small
/// programs without signals whose cores do not meet.
Ordered orderOf(const Program &program);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_PROGRAM_ORDERREFERENCE_H
