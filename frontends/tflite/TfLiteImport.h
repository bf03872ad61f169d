//===-- TfLiteImport.h - TensorFlow Lite models to the graph dialect ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_TFLITEIMPORT_H
#define OPENATC_FRONTENDS_TFLITE_TFLITEIMPORT_H

#include "frontends/onnx/OnnxImport.h"

namespace atc {

/// Reads a .tflite file into a module as importOnnx() makes it: each operator becomes nodes of an
/// ONNX graph in memory, which is then imported. Quantized tensors keep their integers, with
/// QuantizeLinear and DequantizeLinear around the operators that compute with them. Inputs and
/// results have the names of their tensors; `options.outputs` name tensors, and operators that
/// they do not need are not looked at. `options.inputShapes` may state dynamic dims only. Reports
/// all operators without an importer in one E13010. `signature` chooses among several; without it
/// serving_default is imported, or the only one.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importTfLite(llvm::StringRef path, const OnnxImportOptions &options, mlir::MLIRContext &context,
             Diagnostics &diagnostics, llvm::StringRef signature = "");

} // namespace atc

#endif // OPENATC_FRONTENDS_TFLITE_TFLITEIMPORT_H
