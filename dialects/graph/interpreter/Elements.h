//===-- Elements.h - the elements of a tensor in a computing type --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_ELEMENTS_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_ELEMENTS_H

#include "dialects/graph/interpreter/Tensor.h"
#include <type_traits>

namespace atc::graph::interpreter {

/// The elements as float, double or uint64_t. f32 is viewed in place: weights of a large network
/// are not copied.
template <typename T> class Elements {
public:
  explicit Elements(const Tensor &tensor) {
    if constexpr (std::is_same_v<T, float>) {
      if (tensor.getElementType().isF32()) {
        view = tensor.as<float>();
        return;
      }
      std::vector<double> values = tensor.toDoubles();
      converted.assign(values.begin(), values.end());
    } else if constexpr (std::is_same_v<T, double>) {
      converted = tensor.toDoubles();
    } else {
      converted = tensor.toIntegers();
    }
    view = converted;
  }
  Elements(const Elements &) = delete;

  const T *data() const { return view.data(); }
  T operator[](int64_t index) const { return view[index]; }

private:
  llvm::ArrayRef<T> view;
  std::vector<T> converted;
};

/// The accumulator type for T. uint64_t wraps, which is correct for every integer type once the
/// result is truncated to its width.
template <typename T> using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// Calls `function(T())` with the T that holds all elements of `type`.
template <typename Function> auto withElementsOf(mlir::Type type, Function function) {
  if (type.isF64())
    return function(double());
  if (mlir::isa<mlir::FloatType>(type))
    return function(float());
  return function(uint64_t());
}

/// Returns a tensor of the values, converted to its element type.
inline Tensor makeTensor(mlir::RankedTensorType type, llvm::ArrayRef<double> values) {
  return Tensor::fromDoubles(type, values);
}
inline Tensor makeTensor(mlir::RankedTensorType type, llvm::ArrayRef<uint64_t> values) {
  return Tensor::fromIntegers(type, values);
}

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_ELEMENTS_H
