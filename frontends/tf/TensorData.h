//===-- TensorData.h - tensors of a TensorFlow graph as constants ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_TENSORDATA_H
#define OPENATC_FRONTENDS_TF_TENSORDATA_H

#include <string>

#include "frontends/Tensors.h"
#include "frontends/tf/schema/tensorflow.pb.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// The element type of a data type; null where it has none here.
mlir::Type convertElementType(pb::DataType type, mlir::MLIRContext *context);

/// "DT_FLOAT", or "data type 99".
std::string nameElementType(pb::DataType type);
/// The name of the first data type that has this element type.
std::string nameElementType(mlir::Type element);

/// Makes a constant of a tensor and takes its data away from it.
llvm::Expected<mlir::ElementsAttr> takeTensor(pb::TensorProto &tensor, llvm::StringRef name,
                                              mlir::MLIRContext *context);

/// If the elements of `tensor` are complex, keeps their real parts in it, moves the imaginary parts
/// to `imaginary` and returns true. Otherwise changes nothing and returns false.
bool splitComplex(pb::TensorProto &tensor, pb::TensorProto &imaginary);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_TENSORDATA_H
