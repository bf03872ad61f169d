//===-- BatchStatistics.h - normalization by the batch's own statistics ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_OPS_BATCHSTATISTICS_H
#define OPENATC_FRONTENDS_TF_OPS_BATCHSTATISTICS_H

#include "frontends/tf/NodeContext.h"

namespace atc::tf_import {

/// Imports FusedBatchNorm whose `is_training` is true: each channel of `image`, input 0 with a
/// known rank, is normalized by its own mean and variance. Keras writes layer normalization in
/// this form. Sets outputs 0 (normalized), 1 and 2 (running mean and variance) and 3 and 4 (mean
/// and variance of the batch). Reports an error where a parameter is no vector, or where running
/// statistics are asked for that the node does not have.
void importBatchStatistics(NodeContext &n, mlir::Value image);

/// Imports FusedBatchNorm whose `is_training` is false where a parameter is known only in a run:
/// each channel of `image`, input 0 of fixed shape, is normalized by the mean and variance that
/// inputs 3 and 4 are. Sets outputs 0 (normalized), 1 and 2 (these).
void importGivenStatistics(NodeContext &n, mlir::Value image);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_OPS_BATCHSTATISTICS_H
