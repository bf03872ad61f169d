//===-- TrainingOptions.h - how a model is trained ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TRAINING_TRAININGOPTIONS_H
#define OPENATC_DRIVER_TRAINING_TRAININGOPTIONS_H

#include "frontends/onnx/OnnxImport.h"
#include "passes/train/Passes.h"
#include "support/Diagnostics.h"

namespace atc::driver {

/// The settings of a training step: docs/training.md describes the JSON object.
struct TrainingOptions {
  TrainingImport import;
  train::TrainExpandDropoutOptions dropout;
  train::TrainAddLossOptions loss;
  bool recompute = false; ///< whether cheap activations are computed again, to save memory
  train::TrainShardParametersOptions shard;
  train::TrainExchangeGradientsOptions exchange; ///< `mean` follows from the loss
  train::TrainApplyOptimizerOptions optimizer;
  bool offloadOptimizer = false; ///< whether the host keeps its state and makes the update
  int64_t seed = 0;              ///< of the masks of dropouts
};

/// Reads the settings from a JSON object; `name` stands for it in messages. Every unknown key and
/// every value of a wrong type is an error, after which the result is empty.
std::optional<TrainingOptions> parseTrainingOptions(llvm::StringRef json, llvm::StringRef name,
                                                    Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TRAINING_TRAININGOPTIONS_H
