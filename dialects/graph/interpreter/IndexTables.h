//===-- IndexTables.h - moves elements dim by dim ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_INDEXTABLES_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_INDEXTABLES_H

#include "dialects/graph/interpreter/Evaluators.h"

namespace atc::graph::interpreter {

/// Maps each index of one dim of the result to the index of that dim of the input, or to -1 if
/// there is none.
using IndexTable = std::vector<int64_t>;

/// Returns the tensor whose elements are those of operand 0 at the indices of the tables (one per
/// dim), or the element of `filler`.
Tensor moveByTables(const Evaluation &evaluation, llvm::ArrayRef<IndexTable> tables,
                    const Tensor *filler = nullptr);

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_INDEXTABLES_H
