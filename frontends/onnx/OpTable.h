//===-- OpTable.h - which operators can be imported, and by what ----------===//
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
/// Where the rows begin: an older model is read by the rules of this opset. What
/// differed before (broadcast, is_test) its builders know; an operator of another
/// form has attributes or inputs that the newer one refuses.
constexpr int64_t firstTableOpset = 7;
constexpr int64_t latestOpset = 28;

/// One operator in a range of opsets. An operator whose meaning changed has a
/// row for each meaning.
struct OpRow {
  llvm::StringLiteral op;
  int first;
  int last;
  void (*build)(NodeContext &);
  /// What of the operator is not supported; for the documentation.
  llvm::StringLiteral limits = "";
};

// The rows of each family; they stand at the end of its file.
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> activationRows();
llvm::ArrayRef<OpRow> convRows();
llvm::ArrayRef<OpRow> poolRows();
llvm::ArrayRef<OpRow> reduceRows();
llvm::ArrayRef<OpRow> normRows();
llvm::ArrayRef<OpRow> einsumRows();
llvm::ArrayRef<OpRow> lossRows();
llvm::ArrayRef<OpRow> indexRows();
llvm::ArrayRef<OpRow> quantRows();
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
llvm::ArrayRef<OpFamily> opFamilies();

/// The row of `op` at `opset`; null where there is none.
const OpRow *findOp(llvm::StringRef op, int64_t opset);

/// All rows of `op`, oldest first.
std::vector<const OpRow *> findRows(llvm::StringRef op);

/// "7+", "9", "7-10, 11+": the opsets for which there are rows.
std::string printOpsets(llvm::ArrayRef<const OpRow *> rows);

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPTABLE_H
