//===-- Einsum.h - sums of products by index labels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_EINSUM_H
#define OPENATC_FRONTENDS_EINSUM_H

#include "frontends/NodeBuilder.h"

namespace atc {

/// Makes matrix products and sums of what an equation as "bij,bjk->bik" says about
/// `inputs`, tensors of fixed shape. Diagonals ("ii") and ellipses that broadcast are
/// refused. Null after an error, which names attribute 'equation'.
mlir::Value makeEinsum(NodeBuilder &n, std::string equation, llvm::ArrayRef<mlir::Value> inputs);

} // namespace atc

#endif // OPENATC_FRONTENDS_EINSUM_H
