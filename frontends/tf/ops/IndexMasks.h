//===-- IndexMasks.h - operators that choose elements by comparing indices -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_INDEXMASKS_H
#define OPENATC_FRONTENDS_TF_OPS_INDEXMASKS_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// 0, 1, 2, ... along `axis` of a tensor of `rank` dims whose others are 1.
mlir::Value indicesAlong(NodeContext &n, int64_t axis, int64_t rank, int64_t count,
                         mlir::Type element);

/// Returns the identity of `kind` (Sum, Prod, Max or Min), a scalar that leaves every element as it
/// is when it is combined with it. For Max and Min of floats it is an infinity.
mlir::Value identityOf(NodeContext &n, graph::ReduceKind kind, mlir::Type element);

/// Rows of `updates` [K, inner] whose number in `ids` [K] is r are combined into row r
/// of the result [rows, inner], beginning with `identity` (rank 0). Numbers out of
/// range are ignored.
mlir::Value combineRows(NodeContext &n, graph::ReduceKind kind, mlir::Value ids,
                        mlir::Value updates, int64_t rows, mlir::Value identity);

/// Fails where so many intermediate elements would be made; false then.
bool checkElements(NodeContext &n, llvm::ArrayRef<int64_t> dims);

/// The indices into the leading dims of a tensor of `shape` that input `index`
/// ([..., D]) holds, as numbers [K] of rows when those dims become one; `depth` is D.
mlir::Value flatIndices(NodeContext &n, unsigned index, llvm::ArrayRef<int64_t> shape,
                        int64_t &depth);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_INDEXMASKS_H
