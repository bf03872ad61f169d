//===-- DynamicDim.h - the dynamic dim of a TensorFlow graph --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DYNAMICDIM_H
#define OPENATC_FRONTENDS_TF_DYNAMICDIM_H

#include <optional>

#include "frontends/Placeholder.h"
#include "frontends/tf/TensorData.h"
#include "frontends/tf/TfImport.h"

namespace atc::tf_import {

namespace pb = atc::tf::pb;

/// Returns the only dynamic dim of the inputs of `graph` under --input_shape, and a placeholder for
/// it: a TensorFlow graph does not say which of its dynamic dims are equal. Nothing where there is
/// none, more than one, or an input of unknown rank, and for graphs with states or nodes cut off.
std::optional<DynamicDim> findDynamicDim(const pb::GraphDef &graph, const GraphBoundary &boundary,
                                         const TfImportOptions &options);

/// Returns what the rules for placeholders have to know of a node; it refers to both arguments.
SizeNode sizeNodeOf(const pb::NodeDef &node, llvm::ArrayRef<mlir::Value> inputs);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DYNAMICDIM_H
