//===-- KernelMacs.h - the multiply-accumulates of kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_KERNELMACS_H
#define OPENATC_PASSES_KERNEL_KERNELMACS_H

#include "dialects/kernel/Kernel.h"

namespace atc::kernel {

/// Reports whether a kernel is a convolution or a matrix product.
bool isContraction(KernelOpInterface op);

/// Returns the multiply-accumulates that the layer asks for, without those of padding;
/// 0 for kernels that are no contractions.
inline int64_t macsOf(KernelOpInterface op) { return isContraction(op) ? op.flops() / 2 : 0; }

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_KERNELMACS_H
