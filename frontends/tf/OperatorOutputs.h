//===-- OperatorOutputs.h - the names of outputs of operators -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPERATOROUTPUTS_H
#define OPENATC_FRONTENDS_TF_OPERATOROUTPUTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

/// An output, or a list of as many outputs as attribute `count` says: a number or a list of types.
struct KnownOutput {
  llvm::StringRef name, count;
};

/// The outputs of operators that have more than one, for files that do not describe their
/// operators; everything else has one output or one list of outputs. A name stands for all versions
/// of an operator.
llvm::SmallVector<KnownOutput> knownOutputs(llvm::StringRef op);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPERATOROUTPUTS_H
