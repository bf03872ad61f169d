//===-- PruneUtils.h - what ways of pruning share -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_PRUNEUTILS_H
#define OPENATC_QUANTIZE_ONNX_PRUNEUTILS_H

#include "quantize/PruneConfig.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// Returns settings with the names that the compiler calls nodes by. Reports names that the model
/// has not, and returns nothing where there are some.
std::optional<PruneConfig> resolvePruneNames(OnnxModel &model, PruneConfig config,
                                             Diagnostics &diagnostics);

/// Returns the float elements of a model's constants that are not zero.
int64_t countWeights(OnnxModel &model);

/// Adds a bias of zeros to convolutions and Gemms without a bias.
void addMissingBiases(OnnxModel &model);

/// Return and set a node's constant weights as one row per index of dim `axis`, which is 0 or 1.
std::vector<float> weightRows(OnnxModel &model, const onnx::NodeProto &node, int64_t axis);
void setWeightRows(OnnxModel &model, onnx::NodeProto &node, int64_t axis,
                   llvm::ArrayRef<float> rows);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_PRUNEUTILS_H
