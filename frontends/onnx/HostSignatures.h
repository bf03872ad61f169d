//===-- HostSignatures.h - the signatures of operators with host kernels --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H
#define OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H

#include <onnx/onnx_pb.h>

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace atc::onnx_import {

/// A row of kernels/Signatures.def.
struct HostSignature {
  llvm::StringLiteral kernel, domain;
  int since;
  uint32_t required;
  unsigned max;
  llvm::StringLiteral types, attributes, unread;
};

/// Returns the rows of Signatures.def.
llvm::ArrayRef<HostSignature> hostSignatures();
/// Returns the row of a kernel; null for a kernel that is not an operator.
const HostSignature *findHostSignature(llvm::StringRef kernel);

/// Fails where an attribute has a type other than the kernel reads, or a text that it does not
/// know: either would silently be replaced by the default.
llvm::Error checkHostAttribute(llvm::StringRef kernel, const onnx::AttributeProto &attribute);

/// Returns the type of an attribute that is ignored, or that the newest version of its operator has
/// as an input; nothing for another one.
std::optional<onnx::AttributeProto::AttributeType> olderAttributeType(llvm::StringRef name);

/// Fails where an input (null: omitted) has an element type that the operator does not allow, or
/// one that differs from another input with the same type variable: kernels assume that both have
/// one type.
llvm::Error checkHostInputs(const HostSignature &signature, mlir::ValueRange inputs);

/// Returns the first required attribute for which `has` returns false; empty where there is none.
llvm::StringRef missingHostAttribute(const HostSignature &signature,
                                     llvm::function_ref<bool(llvm::StringRef)> has);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_HOSTSIGNATURES_H
