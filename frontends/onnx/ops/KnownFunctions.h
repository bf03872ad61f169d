//===-- KnownFunctions.h - operators that are formulas of standard ones ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H
#define OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H

#include <onnx/onnx_pb.h>

#include "llvm/ADT/ArrayRef.h"

namespace atc::onnx_import {

/// Returns the operators of com.microsoft that are imported as functions of standard operators.
llvm::ArrayRef<onnx::FunctionProto> knownFunctions();

/// Returns the function that stands for a node's operator; null where there is none.
const onnx::FunctionProto *findKnownFunction(const onnx::NodeProto &node);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_KNOWNFUNCTIONS_H
