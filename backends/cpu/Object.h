//===-- Object.h - the bytes of an object file ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Apart from CodeGenerator.h, which includes LLVM's pass pipelines: that takes seconds per file.

#ifndef OPENATC_BACKENDS_CPU_OBJECT_H
#define OPENATC_BACKENDS_CPU_OBJECT_H

#include "llvm/ADT/SmallVector.h"

namespace atc::cpu {

/// The bytes of an ELF object.
using Object = llvm::SmallVector<char, 0>;

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_OBJECT_H
