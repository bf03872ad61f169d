//===-- TypeInference.h - shared parts of graph type inference -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H
#define OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace atc::graph {

/// How an operator reports that it is malformed: as an error of the operator
/// (verifier), at a location (inference while building), or not at all.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// NumPy's broadcast of two shapes; nullopt when they do not match. An unknown
/// dim against a known one other than 1 gives the known one.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> lhs,
                                                          llvm::ArrayRef<int64_t> rhs);

/// The type without its layout encoding.
mlir::RankedTensorType withoutEncoding(mlir::RankedTensorType type);

/// The type that scalar code uses for elements of `type`: the same, but signless.
mlir::Type getScalarType(mlir::Type elementType);

namespace detail {

/// Which element types an elementwise operator takes.
enum class ElementClass {
  Any,      ///< bool, integers, floats
  Numeric,  ///< integers, floats
  Float,    ///< floats
  Integral, ///< bool, integers
  Bool
};

/// How the result's element type follows from the operands.
enum class ResultRule {
  Same,     ///< that of the operands
  Bool,     ///< bool
  Condition ///< the first operand is a bool condition; that of the others
};

mlir::FailureOr<mlir::RankedTensorType> inferElementwiseType(mlir::ValueRange operands,
                                                             ElementClass elements, ResultRule rule,
                                                             EmitError emitError);

/// Same element types and compatible shapes; encodings are free.
bool areCompatibleTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Checks the type of a result against the inferred one.
mlir::LogicalResult verifyResultType(mlir::Value result,
                                     mlir::FailureOr<mlir::RankedTensorType> inferred,
                                     EmitError emitError);

/// "'<op>' op " at the location, or a diagnostic that says nothing.
mlir::InFlightDiagnostic emitInferenceError(std::optional<mlir::Location> location,
                                            llvm::StringRef opName);

mlir::RankedTensorType rankedType(mlir::Value value);

/// Checks that an attribute has one value for each of `count` things.
mlir::LogicalResult checkCount(llvm::StringRef name, llvm::ArrayRef<int64_t> values, int64_t count,
                               llvm::StringRef things, EmitError emitError);

/// Checks 0 <= axis < rank.
mlir::LogicalResult checkAxis(int64_t axis, int64_t rank, EmitError emitError);

/// A known dim and a known expectation must agree.
inline bool dimsAgree(int64_t lhs, int64_t rhs) {
  return mlir::ShapedType::isDynamic(lhs) || mlir::ShapedType::isDynamic(rhs) || lhs == rhs;
}

} // namespace detail
} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_TYPEINFERENCE_H
