//===-- HostSignatures.h - what operators with a host kernel require ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H
#define OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H

#include <onnx/onnx_pb.h>

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace atc::onnx_import {

/// A row of kernels/Signatures.def.
struct HostSignature {
  llvm::StringLiteral kernel, domain;
  int since;
  uint32_t required;
  unsigned most;
  llvm::StringLiteral types, attributes, unread;
};

llvm::ArrayRef<HostSignature> hostSignatures();
/// Null for a kernel that is no operator.
const HostSignature *findHostSignature(llvm::StringRef kernel);

/// Fails where an attribute has another type than the kernel reads, or a text that
/// it does not know: either would silently be taken for the default.
llvm::Error checkHostAttribute(llvm::StringRef kernel, const onnx::AttributeProto &attribute);

/// Fails where an input (null: left out) has an element type that the operator does
/// not allow, or another one than an input of the same type variable: kernels read
/// both as one type.
llvm::Error checkHostInputs(const HostSignature &signature, mlir::ValueRange inputs);

/// The first attribute that must be there and `has` says is not; empty where none.
llvm::StringRef missingHostAttribute(const HostSignature &signature,
                                     llvm::function_ref<bool(llvm::StringRef)> has);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H
