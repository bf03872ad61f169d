//===-- GraphOutputs.h - the outputs of a graph ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_GRAPHOUTPUTS_H
#define OPENATC_FRONTENDS_ONNX_GRAPHOUTPUTS_H

#include "mlir/IR/Value.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

namespace atc::onnx_import {

class GraphImporter;

/// Returns names for the outputs of a model. One that is listed again gets a number: "y", "y_2".
std::vector<std::string> nameOutputs(llvm::ArrayRef<std::string> tensors);

/// Warns where the graph states another kind or element type for an output than `value`, which its
/// node makes: the output has the latter, and a program that goes by the former misreads it.
void checkOutputType(const onnx::GraphProto &graph, const std::string &tensor, mlir::Value value,
                     GraphImporter &importer, Diagnostics &diagnostics);

/// Warns where the graph states other dims for a tensor than `made` returns for it (null: the
/// tensor is not made); the tensor keeps what is made. Names of dims say nothing, nor do dims that
/// may come from a placeholder for a dynamic one (0: there is none).
void checkStatedShapes(const onnx::GraphProto &graph,
                       llvm::function_ref<mlir::Value(llvm::StringRef)> made, int64_t placeholder,
                       Diagnostics &diagnostics);

/// Warns where the graph states another element type for a tensor inside than `made` returns for
/// it; outputs are checked one by one.
void checkStatedTypes(const onnx::GraphProto &graph,
                      llvm::function_ref<mlir::Value(llvm::StringRef)> made,
                      GraphImporter &importer, Diagnostics &diagnostics);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_GRAPHOUTPUTS_H
