//===-- TensorData.h - tensors of a TensorFlow graph as constants ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_TENSORDATA_H
#define OPENATC_FRONTENDS_TF_TENSORDATA_H

#include <string>

#include "frontends/tf/schema/tensorflow.pb.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// No tensor may have more elements, no dim may be larger; so products of a few
/// such numbers cannot overflow.
constexpr int64_t maxElements = int64_t(1) << 40;
constexpr int64_t maxDim = int64_t(1) << 31;
constexpr int64_t maxRank = 16;
/// What the importer itself may fill with elements.
constexpr int64_t maxMadeElements = int64_t(1) << 26;

/// The element type of a data type; null where it has none here.
mlir::Type convertElementType(pb::DataType type, mlir::MLIRContext *context);

/// "DT_FLOAT", or "data type 99".
std::string nameElementType(pb::DataType type);

/// "[1, 2, 3]".
std::string printDims(llvm::ArrayRef<int64_t> dims);

/// The number of elements, or why there cannot be such a tensor.
llvm::Expected<int64_t> countElements(llvm::ArrayRef<int64_t> dims);

/// Makes a constant of a tensor and takes its data away from it.
llvm::Expected<mlir::ElementsAttr> takeTensor(pb::TensorProto &tensor, llvm::StringRef name,
                                              mlir::MLIRContext *context);

/// The elements of a constant as numbers of one kind.
llvm::SmallVector<int64_t> readInts(mlir::ElementsAttr value);
llvm::SmallVector<double> readFloats(mlir::ElementsAttr value);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_TENSORDATA_H
