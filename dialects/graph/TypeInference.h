//===-- TypeInference.h - shared parts of graph type inference -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H
#define OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"
#include <optional>

namespace atc::graph {

/// Reports that an operator is malformed: as an error of the operator (verifier), at a location
/// (inference while building), or not at all.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Returns NumPy's broadcast of two shapes; nullopt when they do not match. A dynamic dim against a
/// static one other than 1 becomes the static one.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                                          llvm::ArrayRef<int64_t> rhs);

/// Returns the type without its layout encoding.
mlir::RankedTensorType withoutEncoding(mlir::RankedTensorType type);

/// Returns the type in which scalar code computes elements of `elementType`: the signless type.
mlir::Type getScalarType(mlir::Type elementType);

namespace detail {

/// The element types that an elementwise operator accepts.
enum class ElementClass {
  Any,      ///< bool, integers, floats
  Numeric,  ///< integers, floats
  Float,    ///< floats
  Integral, ///< bool, integers
  Bool
};

/// The rule for the element type of the result.
enum class ResultRule {
  Same,     ///< that of the operands
  Bool,     ///< bool
  Condition ///< the first operand is a bool condition; that of the others
};

/// Returns the type of an elementwise operator's result; fails, and reports through `emitError`,
/// where operands do not fit.
mlir::FailureOr<mlir::RankedTensorType> inferElementwiseType(mlir::ValueRange operands,
                                                             ElementClass elements, ResultRule rule,
                                                             EmitError emitError);

/// Returns whether element types are equal and shapes compatible; encodings may differ.
bool areCompatibleTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Checks the type of a result against the inferred type.
mlir::LogicalResult verifyResultType(mlir::Value result,
                                     mlir::FailureOr<mlir::RankedTensorType> inferred,
                                     EmitError emitError);

/// Starts the diagnostic "'<op>' op " at the location, or one that is discarded.
mlir::InFlightDiagnostic emitInferenceError(std::optional<mlir::Location> location,
                                            llvm::StringRef opName);

/// Returns the type of a tensor value, which must be ranked.
mlir::RankedTensorType rankedType(mlir::Value value);

/// Checks that an attribute has one value for each of `count` things.
mlir::LogicalResult checkCount(llvm::StringRef name, llvm::ArrayRef<int64_t> values, int64_t count,
                               llvm::StringRef things, EmitError emitError);

/// Checks 0 <= axis < rank.
mlir::LogicalResult checkAxis(int64_t axis, int64_t rank, EmitError emitError);

/// Returns whether two dims are equal or one of them is dynamic.
inline bool dimsAgree(int64_t lhs, int64_t rhs) {
  return mlir::ShapedType::isDynamic(lhs) || mlir::ShapedType::isDynamic(rhs) || lhs == rhs;
}

} // namespace detail
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H
