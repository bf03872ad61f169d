//===-- DerivedConstants.h - constants made of other constants --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is compiled in several static regions (tiles of a dynamic dim) derives the same
// weights in each of them. While constants are shared, what is derived is remembered: the next
// region gets the constant that the first one has made. Large matrices are transposed only where
// something reads them.

#ifndef OPENATC_DIALECTS_GRAPH_DERIVEDCONSTANTS_H
#define OPENATC_DIALECTS_GRAPH_DERIVEDCONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <mutex>
#include <vector>

namespace atc::graph {

/// Returns a recipe with its parameters.
std::string recipeOf(llvm::StringRef name, llvm::ArrayRef<int64_t> parameters);

/// Remembers the constants that are derived from constants of a context while an object exists. In
/// that time, modules of the context are compiled one after the other, and a module from which
/// others are made owns the constants that they use (shareConstants of ConstantData.h).
class DerivedConstantsScope {
public:
  explicit DerivedConstantsScope(mlir::MLIRContext *context);
  ~DerivedConstantsScope();
  DerivedConstantsScope(const DerivedConstantsScope &) = delete;
  DerivedConstantsScope &operator=(const DerivedConstantsScope &) = delete;

private:
  mlir::MLIRContext *context;
};

/// Returns the constant that `make` computes from `source` alone; `recipe` says how, with all its
/// parameters. Where derived constants are remembered, the result is that of an earlier call with
/// an equal source and recipe as long as its bytes are in memory. Small sources are not remembered.
mlir::FailureOr<mlir::ElementsAttr>
deriveConstant(mlir::ElementsAttr source, llvm::StringRef recipe,
               llvm::function_ref<mlir::FailureOr<mlir::ElementsAttr>()> make);

/// Computes the row-major bytes of a deferred constant from the constant that it is derived from;
/// none where that cannot be read.
using ComputeDeferred = std::function<std::vector<char>(mlir::ElementsAttr source)>;

/// Returns a constant of `type` whose bytes `compute` makes of `source`, as `recipe` says, when
/// they are read for the first time. As long as it is used, `source` keeps its bytes. Null for a
/// source of few bytes, and for one that is stored in the attribute.
mlir::ElementsAttr deferConstant(mlir::ElementsAttr source, mlir::RankedTensorType type,
                                 llvm::StringRef recipe, ComputeDeferred compute);

/// Returns what deferConstant has derived `constant` from by `recipe`; null for other constants.
mlir::ElementsAttr deferredSource(mlir::ElementsAttr constant, llvm::StringRef recipe);

/// Returns the constant that has the bytes which `constant` is made of: `constant` itself, or what
/// a deferred one, whose bytes are not made yet, is derived from.
mlir::ElementsAttr storedSource(mlir::ElementsAttr constant);

/// States that the bytes of a constant lie in a mapped file, so that their pages may leave memory
/// at any time and come back when they are read again.
void markFileBacked(mlir::ElementsAttr constant);

/// Removes the pages that lie within `bytes` of a mapped file from memory.
void dropFilePages(llvm::ArrayRef<char> bytes);

/// The derived constants of a context, which passes on several functions may use at a time.
class DerivedConstants : public mlir::DialectInterface::Base<DerivedConstants> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DerivedConstants)

  explicit DerivedConstants(mlir::Dialect *dialect) : Base(dialect) {}
  /// Returns those of a context; null where the graph dialect is not loaded.
  static const DerivedConstants *of(mlir::MLIRContext *context);

  /// Makes the bytes of a deferred constant, if they are not in memory; does nothing for others.
  void compute(mlir::DenseResourceElementsAttr constant) const;
  /// Adds the names of the resources that the deferred ones among `names` are derived from.
  void addSources(llvm::StringSet<> &names) const;

private:
  friend class DerivedConstantsScope;
  friend mlir::FailureOr<mlir::ElementsAttr>
      deriveConstant(mlir::ElementsAttr, llvm::StringRef,
                     llvm::function_ref<mlir::FailureOr<mlir::ElementsAttr>()>);
  friend mlir::ElementsAttr deferConstant(mlir::ElementsAttr, mlir::RankedTensorType,
                                          llvm::StringRef, ComputeDeferred);
  friend mlir::ElementsAttr deferredSource(mlir::ElementsAttr, llvm::StringRef);
  friend mlir::ElementsAttr storedSource(mlir::ElementsAttr);
  friend void markFileBacked(mlir::ElementsAttr);

  struct Deferred {
    mlir::DenseResourceElementsAttr source;
    mlir::RankedTensorType type;
    std::string recipe;
    ComputeDeferred compute;
  };

  /// Removes the pages of a constant from memory where markFileBacked has allowed it. To be called
  /// with the mutex.
  void dropPages(mlir::DenseResourceElementsAttr constant) const;

  /// Computing a constant may compute its source. Registered interfaces are constant.
  mutable std::recursive_mutex mutex;
  mutable unsigned scopes = 0;                ///< the number of DerivedConstantsScope
  mutable llvm::StringMap<Deferred> deferred; ///< by the name of the resource
  /// The derived constants, by the name of the source's resource and the recipe; empty while there
  /// are no scopes.
  mutable llvm::StringMap<mlir::ElementsAttr> made;
  mutable llvm::StringSet<> fileBacked; ///< names of resources
};

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_DERIVEDCONSTANTS_H
