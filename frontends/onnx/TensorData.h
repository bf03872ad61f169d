//===-- TensorData.h - converts tensors of a model to constants -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_TENSORDATA_H
#define OPENATC_FRONTENDS_ONNX_TENSORDATA_H

#include <onnx/onnx_pb.h>
#include <string>

#include "frontends/Tensors.h"
#include "frontends/onnx/ExternalFiles.h"

namespace atc::onnx_import {

/// Returns the element type of TensorProto::DataType `type`; null where MLIR has none.
mlir::Type convertElementType(int64_t type, mlir::MLIRContext *context);

/// Returns the name of a type: "FLOAT", or "data type 99".
std::string nameElementType(int64_t type);

/// Returns a constant with the data of `tensor`, which loses it: large data is moved, or stays in
/// the mapped file.
llvm::Expected<mlir::ElementsAttr> takeTensor(onnx::TensorProto &tensor, ExternalFiles &files,
                                              mlir::MLIRContext *context);

/// Returns the dense constant of a sparse tensor.
llvm::Expected<mlir::ElementsAttr>
takeSparseTensor(onnx::SparseTensorProto &tensor, ExternalFiles &files, mlir::MLIRContext *context);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_TENSORDATA_H
