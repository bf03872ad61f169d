//===-- OpTable.h - which TensorFlow ops can be imported, and by what -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPTABLE_H
#define OPENATC_FRONTENDS_TF_OPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

class NodeContext;

struct OpRow {
  llvm::StringLiteral op;
  void (*build)(NodeContext &);
  /// The unsupported part of the operator, for the documentation.
  llvm::StringLiteral limits = "";
};

// The rows of each family; they stand at the end of its file.
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> convRows();
llvm::ArrayRef<OpRow> poolRows();
llvm::ArrayRef<OpRow> reduceRows();
llvm::ArrayRef<OpRow> shapeRows();
llvm::ArrayRef<OpRow> moveRows();
llvm::ArrayRef<OpRow> scatterRows();
llvm::ArrayRef<OpRow> orderRows();
llvm::ArrayRef<OpRow> controlRows();
llvm::ArrayRef<OpRow> rnnRows();
llvm::ArrayRef<OpRow> listRows();
llvm::ArrayRef<OpRow> quantRows();
// Builders that take tensors of any shape: calls of host kernels.
llvm::ArrayRef<OpRow> dynamicShapeRows();
llvm::ArrayRef<OpRow> dynamicNnRows();
llvm::ArrayRef<OpRow> dynamicBlockRows();
llvm::ArrayRef<OpRow> hostRows();
llvm::ArrayRef<OpRow> stringRows();
llvm::ArrayRef<OpRow> textRows();
llvm::ArrayRef<OpRow> complexRows();
llvm::ArrayRef<OpRow> dynamicDiagonalRows();
llvm::ArrayRef<OpRow> dynamicOrderRows();
llvm::ArrayRef<OpRow> dynamicSegmentRows();
llvm::ArrayRef<OpRow> randomRows();
llvm::ArrayRef<OpRow> sparseRows();
llvm::ArrayRef<OpRow> sparseSumRows();
llvm::ArrayRef<OpRow> labelRows();
llvm::ArrayRef<OpRow> setRows();
llvm::ArrayRef<OpRow> systemRows();
llvm::ArrayRef<OpRow> raggedRows();
llvm::ArrayRef<OpRow> bitRows();
llvm::ArrayRef<OpRow> locationRows();
llvm::ArrayRef<OpRow> samplingRows();
llvm::ArrayRef<OpRow> colorRows();
llvm::ArrayRef<OpRow> suppressionRows();
llvm::ArrayRef<OpRow> audioRows();
llvm::ArrayRef<OpRow> recordRows();

/// The row of `op` for tensors of fixed shape; null where there is none.
const OpRow *findOp(llvm::StringRef op);
/// The row of `op` for tensors of any shape, and for what only a host kernel computes; null
/// where there is none.
const OpRow *findDynamicOp(llvm::StringRef op);
/// The row of `op` where an input is complex; null where it has no own meaning then.
const OpRow *findComplexOp(llvm::StringRef op);
/// Whether `op` does to real and imaginary parts what it does to a real tensor.
bool actsOnParts(llvm::StringRef op);
/// Whether `op` only reads the shape of its inputs.
bool readsOnlyShape(llvm::StringRef op);
/// Whether an input of `op` may hold strings; the builders of all other operators take numbers for
/// granted.
bool takesStrings(llvm::StringRef op);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPTABLE_H
