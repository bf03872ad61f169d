//===-- OpTable.h - the operators with an importer ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPTABLE_H
#define OPENATC_FRONTENDS_ONNX_OPTABLE_H

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::onnx_import {

class NodeContext;

constexpr int64_t oldestOpset = 1;
/// The first opset of the rows: an older model is read by the rules of this opset. Builders handle
/// what differed before (broadcast, is_test); an operator with another form has attributes or
/// inputs that the newer one rejects.
constexpr int64_t firstTableOpset = 7;
constexpr int64_t latestOpset = 28;

/// An operator in a range of opsets. An operator whose meaning changed has one row per meaning.
struct OpRow {
  llvm::StringLiteral op;
  int first;
  int last;
  void (*build)(NodeContext &);
  /// The unsupported features of the operator, for the documentation.
  llvm::StringLiteral limits = "";
};

/// The limits of gathers whose indices are not known at compile time.
inline constexpr llvm::StringLiteral limitsOfGathers =
    "an input of indices out of range is refused; those that a model of fixed shapes computes read "
    "another element";

// The rows of each family, which are defined at the end of its file.
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> activationRows();
llvm::ArrayRef<OpRow> convRows();
llvm::ArrayRef<OpRow> poolRows();
llvm::ArrayRef<OpRow> reduceRows();
llvm::ArrayRef<OpRow> normRows();
llvm::ArrayRef<OpRow> einsumRows();
llvm::ArrayRef<OpRow> lossRows();
llvm::ArrayRef<OpRow> trainingRows();
llvm::ArrayRef<OpRow> indexRows();
llvm::ArrayRef<OpRow> quantRows();
llvm::ArrayRef<OpRow> quantLinearRows();
llvm::ArrayRef<OpRow> ascendRows();
llvm::ArrayRef<OpRow> shapeRows();
llvm::ArrayRef<OpRow> moveRows();
llvm::ArrayRef<OpRow> constantRows();
llvm::ArrayRef<OpRow> resizeRows();

/// The rows of one file, as the documentation lists them.
struct OpFamily {
  llvm::StringLiteral title;
  llvm::ArrayRef<OpRow> rows;
};
/// Returns the tables of all families.
llvm::ArrayRef<OpFamily> opFamilies();

/// Returns the row of `op` at `opset`; null where there is none.
const OpRow *findOp(llvm::StringRef op, int64_t opset);

/// Returns all rows of `op` in ascending order of opsets.
std::vector<const OpRow *> findRows(llvm::StringRef op);

/// Returns the opsets for which there are rows: "7+", "9", "7-10, 11+".
std::string printOpsets(llvm::ArrayRef<const OpRow *> rows);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPTABLE_H
