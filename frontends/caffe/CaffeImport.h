//===-- CaffeImport.h - Caffe models to the graph dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_CAFFE_CAFFEIMPORT_H
#define OPENATC_FRONTENDS_CAFFE_CAFFEIMPORT_H

#include "frontends/onnx/OnnxImport.h"

namespace atc {

/// Reads a .prototxt and its .caffemodel into a module as importOnnx() makes it: each layer
/// becomes nodes of an ONNX graph in memory, which is then imported. Layers run as in the
/// TEST phase. Inputs and results have the names of their blobs; `options.outputs` name
/// layers ("conv1:0") or blobs, and layers that they do not need are not looked at.
/// Reports all errors of all layers together; those without an importer in one E13010.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importCaffe(llvm::StringRef prototxt, llvm::StringRef caffemodel, const OnnxImportOptions &options,
            mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_CAFFE_CAFFEIMPORT_H
