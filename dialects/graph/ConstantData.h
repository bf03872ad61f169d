//===-- ConstantData.h - reads and makes tensor constants ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_CONSTANTDATA_H
#define OPENATC_DIALECTS_GRAPH_CONSTANTDATA_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace atc::graph {

/// Returns the bytes per element in memory. Elements are never packed below a byte: bool is one
/// byte of 0 or 1, i4 the low half of one.
int64_t getElementBytes(mlir::Type elementType);

/// Returns the number of elements; nullopt when a dim is dynamic or the product of the dims does
/// not fit 63 bits.
std::optional<int64_t> getElementCount(mlir::ShapedType type);

/// The elements of a constant as row-major bytes: a view of the attribute's own storage wherever
/// that has this form (dense, splat, dense_resource), valid as long as the context.
class ConstantBytes {
public:
  /// Returns the elements; fails for attributes without numeric elements and for resources whose
  /// size does not fit their type.
  static mlir::FailureOr<ConstantBytes> get(mlir::Attribute attribute);

  mlir::ShapedType getType() const { return type; }
  /// Returns whether all elements are equal; `bytes` then has one element only.
  bool isSplat() const { return splat; }
  llvm::ArrayRef<char> bytes() const { return data; }
  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(data.data()), data.size() / sizeof(T)};
  }

  /// Returns whether the bytes are a copy that lives as long as this object.
  bool ownsBytes() const { return owned != nullptr; }

  /// Returns all elements: the view itself, or for a splat a filled buffer that this object then
  /// owns.
  llvm::ArrayRef<char> expanded();
  template <typename T> llvm::ArrayRef<T> expandedAs() {
    llvm::ArrayRef<char> all = expanded();
    return {reinterpret_cast<const T *>(all.data()), all.size() / sizeof(T)};
  }

private:
  mlir::ShapedType type;
  llvm::ArrayRef<char> data;
  bool splat = false;
  /// Holds the elements when the attribute's storage has another form. The
  /// type's alignment suits every element type.
  std::unique_ptr<std::max_align_t[]> owned;

  char *allocate(int64_t size);
};

/// The maximum number of elements that are stored in the attribute itself.
constexpr int64_t kInlineElements = 64;

/// Returns a constant of `type` that takes over the row-major `bytes` without copying them (unless
/// there are so few that the attribute itself holds them). `name` is a hint for the resource's
/// name, which is made unique in the process.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> &&bytes,
                                llvm::StringRef name = "constant");

/// Returns a constant of bytes that are owned by others, for example in a mapped file. `deleter` is
/// called once they are no longer used.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                mlir::AsmResourceBlob::DeleterFn deleter,
                                llvm::StringRef name = "constant");

/// Returns a constant with a copy of typed elements.
template <typename T>
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<T> elements,
                                llvm::StringRef name = "constant") {
  auto *begin = reinterpret_cast<const char *>(elements.data());
  return makeConstant(type, std::vector<char>(begin, begin + elements.size() * sizeof(T)), name);
}

/// Returns a constant without bytes, which setBytes provides.
mlir::DenseResourceElementsAttr makeEmptyConstant(mlir::RankedTensorType type,
                                                  llvm::StringRef name);

/// Makes `bytes`, row-major, those of a constant whose resource was made here.
void setBytes(mlir::DenseResourceElementsAttr constant, std::vector<char> &&bytes);

/// Marks a module that shares constants with other modules: those that makeConstant has made before
/// the number that this i64 attribute holds, or all as a unit attribute.
inline constexpr llvm::StringLiteral kSharedConstantsAttr = "graph.shared_constants";

/// Marks `module` as sharing all constants made so far with other modules. What is made from now on
/// must be used by it alone for as long as it has kSharedConstantsAttr.
void shareConstants(mlir::Operation *module);

/// Frees the bytes of resources made here that no attribute below `root` uses any more, except
/// those that it shares with other modules. Only for the owner of the whole module: an attribute
/// kept elsewhere loses its bytes.
void releaseUnusedConstants(mlir::Operation *root);

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_CONSTANTDATA_H
