//===-- OnnxModel.h - ONNX models in memory to the graph dialect ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_ONNXMODEL_H
#define OPENATC_FRONTENDS_ONNX_ONNXMODEL_H

#include <onnx/onnx_pb.h>

#include "frontends/onnx/OnnxImport.h"

namespace atc {

/// Imports a model without external data as importOnnx() does; `name` stands for its file in
/// messages. The import may move data out of `model`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnxModel(onnx::ModelProto &model, llvm::StringRef name, const OnnxImportOptions &options,
                mlir::MLIRContext &context, Diagnostics &diagnostics);

/// Imports the model that `make` makes, which is called again where an attempt to make tiles of it
/// (OnnxImportOptions::makeTiles) has used the model up. `make` returns false after an error.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnxModel(llvm::function_ref<bool(onnx::ModelProto &)> make, llvm::StringRef name,
                const OnnxImportOptions &options, mlir::MLIRContext &context,
                Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_ONNX_ONNXMODEL_H
