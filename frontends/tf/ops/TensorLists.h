//===-- TensorLists.h - operations on TensorArrays and TensorLists --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorList (ControlFlowState.h) says which forms a list has. Values of graph ops that a
// function makes stand where the builder of the node is; after an error they are null and
// the node has failed.

#ifndef OPENATC_FRONTENDS_TF_OPS_TENSORLISTS_H
#define OPENATC_FRONTENDS_TF_OPS_TENSORLISTS_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// Makes `value`, a stacked tensor or a sequence, the form of a list.
void setForm(TensorList &list, mlir::Value value);

/// A list whose items are the rows of `stacked`.
TensorList listOfRows(mlir::Value stacked);

/// Gives a list of elements another form: stacked, or a sequence where shapes differ or are
/// not known. Other lists stay as they are.
void joinElements(NodeContext &n, TensorList &list);

/// The items as a value of the sequence type `type`; that of the items' shape where null.
mlir::Value sequenceOf(NodeContext &n, TensorList &list, mlir::Type type = {});

/// Item `index`, a scalar of integers.
mlir::Value readItem(NodeContext &n, const TensorList &list, mlir::Value index);

/// Puts `item` to `index`; the list grows where it must.
void writeItem(NodeContext &n, TensorList &list, mlir::Value index, mlir::Value item);

/// All items as one tensor [count, item...].
mlir::Value stackItems(NodeContext &n, const TensorList &list);

/// The number of items as a scalar of `element`.
mlir::Value sizeOf(NodeContext &n, const TensorList &list, mlir::Type element);

/// The one integer that `value` is known to be; nothing where it is not known.
std::optional<int64_t> knownInteger(mlir::Value value);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_TENSORLISTS_H
