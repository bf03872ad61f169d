//===-- OnnxHost.h - ONNX models that run in this process -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXHOST_H
#define OPENATC_QUANTIZE_ONNX_ONNXHOST_H

#include "frontends/ModelOptions.h"
#include "quantize/Calibrate.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// The shapes of a model's inputs: those that are given, else where dims are open
/// those of the data's first sample; a batch that nothing tells is 1.
InputShapes findInputShapes(OnnxModel &model, const InputShapes &given, DataSource &data);

/// Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> importProto(const onnx::ModelProto &proto,
                                              const std::string &name, const InputShapes &shapes,
                                              mlir::MLIRContext &context, Diagnostics &diagnostics);
std::unique_ptr<HostModel> compileOnnx(const onnx::ModelProto &proto, const std::string &name,
                                       const InputShapes &shapes, mlir::MLIRContext &context,
                                       Diagnostics &diagnostics);

/// Makes tensors outputs. Returns the index of every output that there was, then that
/// of each tensor.
std::vector<size_t> addOutputs(onnx::ModelProto &proto, const std::vector<std::string> &tensors);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXHOST_H
