//===-- InferredOutputs.h - the dims of results that nobody states --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIR_INFERREDOUTPUTS_H
#define OPENATC_FRONTENDS_AIR_INFERREDOUTPUTS_H

#include "frontends/onnx/singleop/SingleOp.h"

#include "mlir/IR/MLIRContext.h"

namespace atc::air {

/// Returns AscendCL's number of the type that an output of an operator has where nothing states it:
/// that of the first input, but for casts, indices and quantized operators.
int resultType(const SingleOp &op, size_t index);

/// Sets the dims and types of the outputs of an operator to those that follow from its inputs,
/// constants and attributes; a dim that depends on one of any size, or on values, becomes -1.
/// Returns the ONNX model of the operator, as makeSingleOpModel does; nothing after an error.
std::optional<std::string> inferOutputs(SingleOp &op, mlir::MLIRContext &context,
                                        Diagnostics &diagnostics);

} // namespace atc::air

#endif // OPENATC_FRONTENDS_AIR_INFERREDOUTPUTS_H
