//===-- QuantizedCalls.h - host calls on quantized tensors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_QUANTIZEDCALLS_H
#define OPENATC_PASSES_HOST_QUANTIZEDCALLS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/IR/PatternMatch.h"

namespace atc::host {

/// Returns whether the inputs 0 to count - 1 of a call are given.
bool hasInputs(graph::HostCallOp call, size_t count);
/// Returns the value that `value` is a copy of, through calls that change nothing.
mlir::Value sourceOf(mlir::Value value);
/// Returns the call that computes `value`, if it is a call of `kernel` (of any kernel, without a
/// name); null otherwise.
graph::HostCallOp callOf(mlir::Value value, llvm::StringRef kernel = "");

/// The operands of x * sigmoid(x), as `sourceOf` finds them.
struct Silu {
  mlir::Value x;
  graph::HostCallOp sigmoid;
};
/// Returns the operands of a call that computes x * sigmoid(x), in either order; nothing for other
/// calls.
std::optional<Silu> findSilu(graph::HostCallOp call);

/// Returns whether `value` is a tensor of f32.
bool isF32(mlir::Value value);
/// Returns whether `value` is a tensor of bytes.
bool isByte(mlir::Value value);
/// Returns the number of a constant with one element that does not raise the rank of what it is
/// combined with: its rank is 0 or 1. Nothing for other values.
std::optional<double> numberIn(mlir::Value value);

/// A value that is read as real values, (stored - zero) * scale, or the result of a quantize.
struct Quantized {
  mlir::Value stored; ///< integers, or null
  mlir::IntegerType integer;
  /// The parameters of calls; null for graph ops, whose type has them. An omitted zero point is
  /// null, too.
  mlir::Value scale, zero;
  /// The scales and zero points, where all of them are known.
  std::optional<graph::QuantParams> params;
  /// Whether a single scale holds for the whole tensor.
  bool perTensor = false;
  mlir::Location loc;

  explicit Quantized(mlir::Location loc) : loc(loc) {}
  explicit operator bool() const { return stored != nullptr; }
  /// Returns whether the stored integers have 8 bits.
  bool is8Bit() const { return integer.getWidth() == 8; }
  /// Returns whether the stored integers are a constant.
  bool isConstant() const;
  /// Returns whether both represent the same real values by the same integers.
  bool isLike(const Quantized &other) const;

  /// Return the scale and the zero point as inputs of a call.
  mlir::Value scaleValue(mlir::OpBuilder &builder) const;
  mlir::Value zeroValue(mlir::OpBuilder &builder) const;
};

/// Returns what `value` is dequantized from: by DequantizeLinear without blocks or
/// graph.dequantize, to f32. For the latter, storedOf makes `stored`.
Quantized dequantizedFrom(mlir::Value value);
/// Returns the scale and zero point of a QuantizeLinear of f32 with one scale; `stored` is its
/// result.
Quantized quantizedBy(graph::HostCallOp call);
/// Returns `stored` as a tensor of plain integers.
mlir::Value storedOf(mlir::OpBuilder &builder, const Quantized &quantized);

/// Returns `type` with other elements; the known part of the shape is kept.
mlir::Type withElement(mlir::Type type, mlir::Type element);
/// Creates a call; null inputs are omitted.
graph::HostCallOp makeCall(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef kernel,
                           llvm::ArrayRef<mlir::Value> inputs, mlir::TypeRange results,
                           mlir::DictionaryAttr parameters = {});
/// Returns the inputs by position, at least `count` of them, null where they are omitted.
llvm::SmallVector<mlir::Value> inputsOf(graph::HostCallOp call, size_t count);
/// Returns a list of integers among the attributes of a call; empty where there is none.
llvm::ArrayRef<int64_t> integersOf(graph::HostCallOp call, llvm::StringRef name);
/// Return an integer or a real attribute of a call.
int64_t integerOf(graph::HostCallOp call, llvm::StringRef name, int64_t fallback);
double numberOf(graph::HostCallOp call, llvm::StringRef name, double fallback);
/// Returns the attribute `axis` of a call, or `fallback`, as a dim of a tensor of `rank`; nothing
/// where it is out of range.
std::optional<int64_t> axisOf(graph::HostCallOp call, int64_t fallback, int64_t rank);
/// Creates a constant with one element of rank 0.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::IntegerType type,
                           int64_t value);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_QUANTIZEDCALLS_H
