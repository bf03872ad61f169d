//===-- Tensor.h - values of the reference interpreter -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H

#include "dialects/graph/ConstantData.h"

namespace atc::graph {

/// A tensor with a static shape and row-major elements (see getElementBytes),
/// which it owns or borrows. Its type has no layout: the interpreter knows
/// logical tensors only.
class Tensor {
public:
  Tensor() = default;
  /// Owned elements, all zero. The type's shape must be static.
  explicit Tensor(mlir::RankedTensorType type);

  /// Owned elements. `bytes` must have the size of the type.
  Tensor(mlir::RankedTensorType type, std::vector<char> &&bytes);

  /// Elements that live at least as long as the tensor.
  static Tensor borrow(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

  /// The elements of a constant, borrowed where its storage allows.
  static mlir::FailureOr<Tensor> fromAttribute(mlir::Attribute attribute);

  /// Makes typed elements a tensor, by copy.
  template <typename T>
  static Tensor copyOf(mlir::RankedTensorType type, llvm::ArrayRef<T> elements) {
    auto *begin = reinterpret_cast<const char *>(elements.data());
    return Tensor(type, std::vector<char>(begin, begin + elements.size() * sizeof(T)));
  }

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  mlir::Type getElementType() const { return type.getElementType(); }
  int64_t getNumElements() const { return type.getNumElements(); }

  llvm::ArrayRef<char> bytes() const { return owns ? llvm::ArrayRef<char>(owned) : borrowed; }
  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(bytes().data()), bytes().size() / sizeof(T)};
  }
  /// Only for a tensor that owns its elements.
  llvm::MutableArrayRef<char> mutableBytes() { return owned; }

  /// The elements as numbers: integers and bools become doubles too.
  std::vector<double> toDoubles() const;
  /// Elements of an integer type, extended to 64 bits by their signedness.
  std::vector<uint64_t> toIntegers() const;

  /// A tensor of the elements nearest to `values`: floats round to even,
  /// integers truncate and saturate, bools are != 0.
  static Tensor fromDoubles(mlir::RankedTensorType type, llvm::ArrayRef<double> values);
  /// A tensor of the low bits of `values`; for integer types.
  static Tensor fromIntegers(mlir::RankedTensorType type, llvm::ArrayRef<uint64_t> values);

  /// The same elements under another type of equal size.
  Tensor withType(mlir::RankedTensorType newType) &&;

  /// A constant of these elements and `resultType` (the same but for its
  /// encoding). Owned elements are moved, not copied.
  mlir::ElementsAttr toAttribute(mlir::RankedTensorType resultType,
                                 llvm::StringRef name = "constant") &&;

private:
  mlir::RankedTensorType type;
  bool owns = true;
  std::vector<char> owned;
  llvm::ArrayRef<char> borrowed;
};

/// Bool counts as unsigned: true is 1.
inline bool isUnsignedElement(mlir::Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

/// `value` rounded to the precision of a float type.
double roundToType(double value, mlir::FloatType type);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_TENSOR_H
