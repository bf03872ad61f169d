//===-- Prune.h - removes channels or weights of a model ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_PRUNE_H
#define OPENATC_QUANTIZE_ONNX_PRUNE_H

#include "quantize/PruneConfig.h"
#include "quantize/onnx/OnnxModel.h"
#include "quantize/weights/Moments.h"

namespace atc::quantize {

/// A layer that lost channels or weights.
struct PrunedLayer {
  std::string node;
  int64_t before = 0, after = 0; ///< channels that it computes, or weights that are not zero
};

/// The results of pruning.
struct Pruning {
  std::vector<PrunedLayer> layers;
  int64_t before = 0, after = 0; ///< elements of the model's float constants, without zeros
};

/// Removes channels of layers as the settings ask. Layers whose channels meet in an operator lose
/// the same ones; channels that the model returns, or whose reader needs all, stay. Where `moments`
/// has those of all readers, the channels of least effect go, and the readers' weights absorb what
/// they lose, else those of smallest weights. Names that the model has not are errors.
Pruning pruneChannels(OnnxModel &model, const PruneConfig &config, const MomentsByOutput &moments,
                      Diagnostics &diagnostics);

/// Sets two of each four weights along the inputs' channels to zero, with moments as above.
Pruning pruneWeights(OnnxModel &model, const PruneConfig &config, const MomentsByOutput &moments,
                     Diagnostics &diagnostics);

/// Returns the results as JSON text: `layers` with node, before and after; before and after.
std::string pruningJson(const Pruning &pruning);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_PRUNE_H
