//===-- OnnxHost.h - runs ONNX models in this process ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXHOST_H
#define OPENATC_QUANTIZE_ONNX_ONNXHOST_H

#include "frontends/ModelOptions.h"
#include "quantize/Calibrate.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// Returns the shapes of a model's inputs: the given ones, else for dynamic dims those of the
/// data's first sample; a batch that is still unknown is 1.
InputShapes findInputShapes(OnnxModel &model, const InputShapes &given, DataSource &data);

/// Import a model, or compile it for this machine. Return null after an error.
mlir::OwningOpRef<mlir::ModuleOp> importProto(const onnx::ModelProto &proto,
                                              const std::string &name, const InputShapes &shapes,
                                              mlir::MLIRContext &context, Diagnostics &diagnostics);
std::unique_ptr<HostModel> compileOnnx(const onnx::ModelProto &proto, const std::string &name,
                                       const InputShapes &shapes, mlir::MLIRContext &context,
                                       Diagnostics &diagnostics);

/// Makes tensors outputs of the model. Returns the index of every existing output, then that of
/// each tensor.
std::vector<size_t> addOutputs(onnx::ModelProto &proto, const std::vector<std::string> &tensors);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXHOST_H
