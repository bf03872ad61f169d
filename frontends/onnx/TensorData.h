//===-- TensorData.h - tensors of a model as constants --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_TENSORDATA_H
#define OPENATC_FRONTENDS_ONNX_TENSORDATA_H

#include <onnx/onnx_pb.h>
#include <string>

#include "frontends/Tensors.h"
#include "frontends/onnx/ExternalFiles.h"

namespace atc::onnx_import {

/// The element type of TensorProto::DataType `type`; null where it has none here.
mlir::Type convertElementType(int32_t type, mlir::MLIRContext *context);

/// "FLOAT", or "data type 99".
std::string nameElementType(int32_t type);

/// Makes a constant of a tensor and takes its data away from it: large data is
/// moved or stays in the mapped file.
llvm::Expected<mlir::ElementsAttr> takeTensor(onnx::TensorProto &tensor, ExternalFiles &files,
                                              mlir::MLIRContext *context);

/// The dense constant of a sparse tensor.
llvm::Expected<mlir::ElementsAttr>
takeSparseTensor(onnx::SparseTensorProto &tensor, ExternalFiles &files, mlir::MLIRContext *context);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_TENSORDATA_H
