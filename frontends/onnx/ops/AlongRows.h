//===-- AlongRows.h - functions of a tensor as a matrix ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_ALONGROWS_H
#define OPENATC_FRONTENDS_ONNX_OPS_ALONGROWS_H

#include "frontends/onnx/NodeContext.h"

namespace atc::onnx_import {

/// Treats a tensor as a matrix, as softmaxes do before opset 13: the dims from `axis` on, which may
/// be the rank, are its rows. Returns what `function` makes of a tensor along a dim, for these
/// rows, in the shape of the input; null where the node fails.
mlir::Value alongRows(NodeContext &n, mlir::Value input, int64_t axis,
                      llvm::function_ref<mlir::Value(mlir::Value, int64_t)> function);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_ALONGROWS_H
