//===-- TrainingStep.h - makes the training step of a model ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TRAINING_TRAININGSTEP_H
#define OPENATC_DRIVER_TRAINING_TRAININGSTEP_H

#include "backends/om/FindStates.h"
#include "driver/ModelImport.h"
#include "driver/training/OnnxInitializers.h"
#include "driver/training/TrainingOptions.h"

#include <deque>

namespace atc::driver {

/// The first value of a parameter or of a running statistic.
struct InitialValue {
  FloatInitializer tensor; ///< its elements live as long as the context of the step's module
  bool isParameter;
};

/// The training step of a model: a module whose @main computes the loss from inputs, targets,
/// learning rate and state, and the next state. It is compiled as any other module.
struct TrainingStep {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null after an error
  std::vector<InitialValue> initial;
  std::deque<std::vector<float>> expanded; ///< elements of `initial` that the module does not hold
};

/// Returns the first values of the states of a step that are not zeros: parameters, running
/// statistics, the loss scale and the seed of dropouts.
std::vector<om::InitialState> initialStates(const TrainingStep &step,
                                            const TrainingOptions &options);

/// Imports an ONNX model with its weights as inputs and makes its training step. `context` has the
/// dialects of makeCompilerContext; `messages` takes the errors of passes.
TrainingStep makeTrainingStep(const ModelSource &source, const TrainingOptions &options,
                              mlir::MLIRContext &context, ContextMessages &messages,
                              Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TRAINING_TRAININGSTEP_H
