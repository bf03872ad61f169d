//===-- CallBodies.h - host calls with generated code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_OM_CALLBODIES_H
#define OPENATC_PASSES_OM_CALLBODIES_H

#include "llvm/ADT/StringRef.h"

namespace atc::om {

/// The discardable attribute of a graph.host_call that names the kernel function with its generated
/// code (kernels/core/GeneratedCode.h).
inline constexpr llvm::StringLiteral kBodyAttr = "om.body";
/// Marks a kernel function that host calls call, which no launch does (unit).
inline constexpr llvm::StringLiteral kCalledAttr = "om.called";
/// The attribute of an LLVM function whose loops are scalar: the code generator vectorizes them.
inline constexpr llvm::StringLiteral kScalarLoopsAttr = "openatc-scalar-loops";

} // namespace atc::om

#endif // OPENATC_PASSES_OM_CALLBODIES_H
