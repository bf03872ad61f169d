//===-- Tensor.h - values of the reference interpreter -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H

#include "dialects/graph/ConstantData.h"

namespace atc::graph {

/// A tensor with a static shape and row-major elements (see getElementBytes), which it owns or
/// borrows. Its type has no layout: the interpreter uses logical tensors only.
class Tensor {
public:
  Tensor() = default;
  /// Makes a tensor that owns zeroed elements. The type's shape must be static.
  explicit Tensor(mlir::RankedTensorType type);

  /// Makes a tensor that owns `bytes`, which must have the size of the type.
  Tensor(mlir::RankedTensorType type, std::vector<char> &&bytes);

  /// Returns a tensor that borrows elements, which must outlive it.
  static Tensor borrow(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

  /// Returns the elements of a constant, borrowed where its storage allows.
  static mlir::FailureOr<Tensor> fromAttribute(mlir::Attribute attribute);

  /// Returns a tensor with a copy of typed elements.
  template <typename T>
  static Tensor copyOf(mlir::RankedTensorType type, llvm::ArrayRef<T> elements) {
    auto *begin = reinterpret_cast<const char *>(elements.data());
    return Tensor(type, std::vector<char>(begin, begin + elements.size() * sizeof(T)));
  }

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  mlir::Type getElementType() const { return type.getElementType(); }
  int64_t getNumElements() const { return type.getNumElements(); }

  /// Return the elements in row-major order, as bytes or as values of type T; valid while the
  /// tensor, or what it borrows from, lives.
  llvm::ArrayRef<char> bytes() const { return owns ? llvm::ArrayRef<char>(owned) : borrowed; }
  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(bytes().data()), bytes().size() / sizeof(T)};
  }
  /// Returns the elements for writing; only for a tensor that owns them.
  llvm::MutableArrayRef<char> mutableBytes() { return owned; }

  /// Returns the elements as doubles, including integers and bools.
  std::vector<double> toDoubles() const;
  /// Returns the elements of an integer type, extended to 64 bits by their signedness.
  std::vector<uint64_t> toIntegers() const;

  /// Returns a tensor of the elements nearest to `values`: floats are rounded half to even,
  /// integers truncated and saturated, bools are != 0.
  static Tensor fromDoubles(mlir::RankedTensorType type, llvm::ArrayRef<double> values);
  /// Returns a tensor of the low bits of `values`; for integer types.
  static Tensor fromIntegers(mlir::RankedTensorType type, llvm::ArrayRef<uint64_t> values);

  /// Returns the tensor with another type of equal size.
  Tensor withType(mlir::RankedTensorType newType) &&;

  /// Returns a constant of these elements and `resultType`, which may differ in its encoding only.
  /// Owned elements are moved, not copied.
  mlir::ElementsAttr toAttribute(mlir::RankedTensorType resultType,
                                 llvm::StringRef name = "constant") &&;

private:
  mlir::RankedTensorType type;
  bool owns = true;
  std::vector<char> owned;
  llvm::ArrayRef<char> borrowed;
};

/// Returns whether elements are unsigned; bool counts as unsigned: true is 1.
inline bool isUnsignedElement(mlir::Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

/// Returns `value` rounded to the precision of a float type.
double roundToType(double value, mlir::FloatType type);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H
