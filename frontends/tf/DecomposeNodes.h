//===-- DecomposeNodes.h - fused and older operators as others ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSENODES_H
#define OPENATC_FRONTENDS_TF_DECOMPOSENODES_H

#include <utility>

#include "frontends/tf/schema/tensorflow.pb.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace atc::tf_import {

/// Replaces nodes that are others by another name, or several others in one: older operators, and
/// those that optimizers of TensorFlow make. The last node of several keeps the name, so that what
/// reads the result finds it. A node whose attributes or inputs are not those of its operator
/// stays, for the importer to refuse.
void decomposeNodes(atc::tf::pb::GraphDef &graph);

/// Calls `visit` with each operator that decomposeNodes() knows, and with what it becomes.
void forEachDecomposedOp(llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> visit);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSENODES_H
