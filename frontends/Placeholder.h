//===-- Placeholder.h - a number that stands for a dynamic dim ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model whose inputs have one dynamic dim is imported with a placeholder as its size: a
// prime that no number of the model is a multiple of. What grows with the dim is then a
// multiple of it everywhere, in types and in the integers of shape computations. That holds
// as long as those only move, multiply and divide sizes; PlaceholderRules refuses all nodes
// that do more, and so the import.

#ifndef OPENATC_FRONTENDS_PLACEHOLDER_H
#define OPENATC_FRONTENDS_PLACEHOLDER_H

#include <functional>
#include <optional>
#include <string>

#include "frontends/ModelOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"

namespace atc {

struct DynamicDim {
  std::string name;        ///< as the model calls it; "?" where it has no name
  int64_t size = 0;        ///< the placeholder
  InputShapes inputShapes; ///< of all inputs, with the placeholder
};

/// Integers of more elements are no sizes.
constexpr int64_t maxSizes = 4096;

/// Visits the integers of `width` bytes (4 or 8) that lie in `raw` one behind the other.
void forEachStored(llvm::StringRef raw, unsigned width, llvm::function_ref<void(int64_t)> visit);

/// Returns a prime that divides none of the numbers that `forEachNumber` visits: those that the
/// model can compute sizes with. 0 where they are multiples of all that are tried.
int64_t
choosePlaceholder(llvm::function_ref<void(llvm::function_ref<void(int64_t)>)> forEachNumber);

/// Imports a model with the placeholder of `dim` and makes tiles of it. Null where it cannot be
/// tiled: then its constants are free again, and nothing is reported but a remark with the error of
/// `trial`, to which `import` reports.
mlir::OwningOpRef<mlir::ModuleOp>
importTiles(mlir::MLIRContext &context, const DynamicDim &dim,
            llvm::function_ref<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>()> import,
            llvm::function_ref<bool(mlir::ModuleOp)> makeTiles, const Diagnostics &trial);

/// Returns the elements of a small constant of integers; nothing for others, and for null.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

/// What the rules know of a node.
struct SizeNode {
  llvm::StringRef kind;               ///< the ONNX operator that does the same with sizes
  llvm::ArrayRef<mlir::Value> inputs; ///< null: left out
  /// Returns the integers of an attribute of that operator, or of the constant input `index` where
  /// it has them there.
  std::function<std::optional<llvm::SmallVector<int64_t>>(llvm::StringRef name, unsigned index)>
      parameter;
};

/// Checks, node by node, that sizes with a placeholder stand for sizes with any number.
class PlaceholderRules {
public:
  explicit PlaceholderRules(int64_t size) : size(size) {}

  /// Returns why a node may not be imported; empty where it may.
  std::string whyRefused(const SizeNode &node) const;

  /// Returns an output of a node as a constant where it is computed of positions alone: builders
  /// fold only few elements. Otherwise `value`.
  mlir::Value foldPositions(const SizeNode &node, mlir::Value value) const;

  /// Takes notice of what a node that was allowed has become. Returns why it may not stay;
  /// empty where it may.
  std::string whyUnsound(const SizeNode &node, llvm::ArrayRef<mlir::Value> outputs);

private:
  unsigned numGrowing(mlir::Value value) const;
  bool grows(mlir::Value value) const { return numGrowing(value) > 0; }
  bool isMultiple(int64_t number) const { return number != 0 && number % size == 0; }
  std::string whyNoSize(const SizeNode &node) const;
  std::string whyNoPosition(const SizeNode &node) const;
  bool hasEqualSteps(mlir::ElementsAttr value, int64_t dim) const;

  int64_t size;
  /// Constants of integers some of which are sizes with the placeholder.
  llvm::DenseSet<mlir::Value> sizes;
  /// Values with fewer dynamic dims than what they are computed from, and what depends on them. The
  /// shape of one says nothing about other sizes, and it may be all that is left of it.
  llvm::DenseSet<mlir::Value> derived;
  /// Constants that grow by equal steps along the dynamic dim: positions in it, and what is
  /// computed from them. They may only index what has the dim, in forms that the importers of these
  /// operators know.
  llvm::DenseSet<mlir::Value> positions;
  /// Constants that depend on positions in other ways; only their shapes are known.
  llvm::DenseSet<mlir::Value> shapesOnly;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_PLACEHOLDER_H
