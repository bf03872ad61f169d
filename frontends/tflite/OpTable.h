//===-- OpTable.h - the operators that have importers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TFLITE_OPTABLE_H
#define OPENATC_FRONTENDS_TFLITE_OPTABLE_H

#include "frontends/tflite/OpContext.h"

namespace atc::tflite {

struct OpRow {
  fb::BuiltinOperator code;
  void (*import)(OpContext &);
  const char *onnxName = nullptr;   ///< for importers that serve several operators
  const char *customName = nullptr; ///< of one with the code CUSTOM
};

/// Return the rows of a family of operators.
llvm::ArrayRef<OpRow> cellOps();
llvm::ArrayRef<OpRow> complexOps();
llvm::ArrayRef<OpRow> controlOps();
llvm::ArrayRef<OpRow> detectionOps();
llvm::ArrayRef<OpRow> elementwiseOps();
llvm::ArrayRef<OpRow> gatherOps();
llvm::ArrayRef<OpRow> moveOps();
llvm::ArrayRef<OpRow> normOps();
llvm::ArrayRef<OpRow> recurrentOps();
llvm::ArrayRef<OpRow> reduceOps();
llvm::ArrayRef<OpRow> scatterOps();
llvm::ArrayRef<OpRow> sliceOps();
llvm::ArrayRef<OpRow> stableHloOps();
llvm::ArrayRef<OpRow> variableOps();
llvm::ArrayRef<OpRow> windowOps();

/// Returns the row of an operator; null where it has no importer. `name` tells custom ones apart.
const OpRow *findOp(fb::BuiltinOperator code, llvm::StringRef name = "");

/// Reports whether an operator that has an importer takes complex tensors.
bool takesComplex(fb::BuiltinOperator code);

/// Returns why a known operator has no importer and what to do; empty for others.
std::string whyNoImporter(fb::BuiltinOperator code, llvm::StringRef name);

} // namespace atc::tflite

#endif // OPENATC_FRONTENDS_TFLITE_OPTABLE_H
