//===-- QuantizedCalls.h - host calls on quantized tensors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_QUANTIZEDCALLS_H
#define OPENATC_PASSES_HOST_QUANTIZEDCALLS_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace atc::host {

/// Whether the first `count` inputs of a call are there: its operands 0 to count - 1.
bool hasInputs(graph::HostCallOp call, size_t count);
/// What `value` is a copy of: through calls that change nothing.
mlir::Value sourceOf(mlir::Value value);
/// The call that makes `value` of its first input (and others), if it is one of `kernel`
/// (of any, without a name).
graph::HostCallOp callOf(mlir::Value value, llvm::StringRef kernel = "");

/// A value that is read as real numbers, (stored - zero) * scale, or the result of a
/// quantize.
struct Quantized {
  mlir::Value stored; ///< integers, or null
  mlir::IntegerType integer;
  /// Of calls; null of graph ops, whose type says it. A zero point that is left out is
  /// null too.
  mlir::Value scale, zero;
  /// Where all numbers are known: scales and zero points.
  std::optional<graph::QuantParams> params;
  /// One scale for the whole tensor.
  bool perTensor = false;
  mlir::Location loc;

  explicit Quantized(mlir::Location loc) : loc(loc) {}
  explicit operator bool() const { return stored != nullptr; }
  bool is8Bit() const { return integer.getWidth() == 8; }
  bool isConstant() const;
  /// Both say the same numbers by the same integers.
  bool isLike(const Quantized &other) const;

  /// Scale and zero point as inputs of a call.
  mlir::Value scaleValue(mlir::OpBuilder &builder) const;
  mlir::Value zeroValue(mlir::OpBuilder &builder) const;
};

/// What `value` is dequantized from: by DequantizeLinear without blocks or
/// graph.dequantize, to f32. `stored` of the latter is made by storedOf.
Quantized dequantizedFrom(mlir::Value value);
/// Scale and zero point of a QuantizeLinear of f32 by one scale; `stored` is its result.
Quantized quantizedBy(graph::HostCallOp call);
/// `stored` as plain integers.
mlir::Value storedOf(mlir::OpBuilder &builder, const Quantized &quantized);

/// `type` with other elements; what is known of the shape stays.
mlir::Type withElement(mlir::Type type, mlir::Type element);
/// Makes a call; null inputs are left out.
graph::HostCallOp makeCall(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef kernel,
                           llvm::ArrayRef<mlir::Value> inputs, mlir::TypeRange results,
                           mlir::DictionaryAttr parameters = {});
/// Inputs by position, null where they are left out: `count` of them at least.
llvm::SmallVector<mlir::Value> inputsOf(graph::HostCallOp call, size_t count);
/// An integer attribute of a call, and a real one.
int64_t integerOf(graph::HostCallOp call, llvm::StringRef name, int64_t fallback);
double numberOf(graph::HostCallOp call, llvm::StringRef name, double fallback);
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::IntegerType type,
                           int64_t value);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_QUANTIZEDCALLS_H
