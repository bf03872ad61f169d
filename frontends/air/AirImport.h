//===-- AirImport.h - graphs of the Ascend toolchain (.air) ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIR_AIRIMPORT_H
#define OPENATC_FRONTENDS_AIR_AIRIMPORT_H

#include "frontends/onnx/OnnxImport.h"

namespace atc {

/// Reads an .air file, which MindSpore and the Ascend toolchain's graph interface write, into a
/// module as importOnnx() makes it: each operator becomes the nodes that it has as a single
/// operator, in an ONNX graph in memory that is then imported. Inputs have the names of their
/// Data operators, other tensors those of their operators; `options.outputs` name operators
/// ("conv1:0"). Reports the errors of all operators together; those without an importer in one
/// E13010.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importAir(llvm::StringRef path,
                                                             const OnnxImportOptions &options,
                                                             mlir::MLIRContext &context,
                                                             Diagnostics &diagnostics);

} // namespace atc

#endif // OPENATC_FRONTENDS_AIR_AIRIMPORT_H
