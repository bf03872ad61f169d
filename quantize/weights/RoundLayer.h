//===-- RoundLayer.h - rounds a layer's weights as settings ask -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_ROUNDLAYER_H
#define OPENATC_QUANTIZE_WEIGHTS_ROUNDLAYER_H

#include "passes/graph/quant/QuantizeWeights.h"
#include "quantize/weights/Moments.h"

namespace atc::quantize {

/// Holds what is known of a layer's input when its weights are rounded.
struct InputFacts {
  const LayerMoments *moments = nullptr; ///< null where they were not collected
  double scale = 1;                      ///< of its integers
  bool meansAreCorrected = false;        ///< by the bias
};

/// Returns whether the rounding that a layer's settings ask for is possible: adaptive rounding
/// needs moments, and weights of both algorithms rows of outputs.
bool canRound(const PlannedLayer &layer);

/// Returns the integers of a layer's weights in the layout of `weights`; empty where the settings
/// ask for the nearest ones, or the layer has no other.
std::vector<int8_t> roundLayer(const PlannedLayer &layer, const graph::WeightView &weights,
                               llvm::ArrayRef<float> scales, const InputFacts &input);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_ROUNDLAYER_H
