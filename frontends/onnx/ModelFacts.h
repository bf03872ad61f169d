//===-- ModelFacts.h - what an ONNX model states about itself -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_MODELFACTS_H
#define OPENATC_FRONTENDS_ONNX_MODELFACTS_H

#include "frontends/onnx/OnnxModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace atc::onnx_import {

/// Sets `om.dim_names` on each argument and result of @main whose dims have names in the graph
/// (dim_param), by the names of the inputs and outputs. An input that got another rank has none.
void nameDims(mlir::ModuleOp module, const onnx::GraphProto &graph);

/// Sets `om.metadata` on the module to the metadata of the model: all pairs whose key and value
/// have 4096 bytes or fewer together. Exporters keep whole programs there, which no user of the
/// compiled model reads.
void keepMetadata(mlir::ModuleOp module, const onnx::ModelProto &model);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_MODELFACTS_H
