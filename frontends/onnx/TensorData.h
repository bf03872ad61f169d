//===-- TensorData.h - tensors of a model as constants --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_TENSORDATA_H
#define OPENATC_FRONTENDS_ONNX_TENSORDATA_H

#include <onnx/onnx_pb.h>
#include <string>

#include "frontends/onnx/ModelFile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace atc::onnx_import {

/// No tensor of a model may have more elements, and no dim may be larger; so
/// products of a few such numbers cannot overflow.
constexpr int64_t maxElements = int64_t(1) << 40;
constexpr int64_t maxDim = int64_t(1) << 31;

/// An .om file describes tensors of no more dims.
constexpr int64_t maxRank = 16;

/// What the importer itself may fill with computed elements.
constexpr int64_t maxMadeElements = int64_t(1) << 26;

/// The element type of TensorProto::DataType `type`; null where it has none here.
mlir::Type convertElementType(int32_t type, mlir::MLIRContext *context);

/// "FLOAT", or "data type 99".
std::string nameElementType(int32_t type);

/// The number of elements, or why there cannot be such a tensor.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

/// Makes a constant of a tensor and takes its data away from it: large data is
/// moved or stays in the mapped file.
llvm::Expected<mlir::ElementsAttr> takeTensor(onnx::TensorProto &tensor, ExternalFiles &files,
                                              mlir::MLIRContext *context);

/// The elements of a constant as numbers of one kind.
llvm::SmallVector<int64_t> readInts(mlir::ElementsAttr value);
llvm::SmallVector<double> readFloats(mlir::ElementsAttr value);

/// The dense constant of a sparse tensor.
llvm::Expected<mlir::ElementsAttr>
takeSparseTensor(onnx::SparseTensorProto &tensor, ExternalFiles &files, mlir::MLIRContext *context);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_TENSORDATA_H
