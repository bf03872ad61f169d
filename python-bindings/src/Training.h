//===-- Training.h - training steps for Python ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No MLIR and no Python header, as in CompilerModule.h.

#ifndef OPENATC_PYTHON_TRAINING_H
#define OPENATC_PYTHON_TRAINING_H

#include "python-bindings/src/CompilerModule.h"

namespace atc::python {

/// A tensor of f32 elements in row-major order, borrowed.
struct FloatTensor {
  std::string name;
  std::vector<int64_t> dims;
  const float *data;
};

/// Makes the training step of an ONNX model with the settings in a JSON object. `each` gets the
/// first value of every weight and whether it is a parameter or a running statistic. Throws
/// ErrorLines.
std::shared_ptr<CompilerModule>
makeTrainingModule(const ModelRequest &model, const std::string &settings,
                   const std::function<void(const FloatTensor &, bool isParameter)> &each);

/// Writes an ONNX model with other values of its initializers; values of other names are added.
/// With `inference` dropouts, batch norms and the output `ownLoss` become those of inference.
/// Throws ErrorLines.
void writeOnnxInitializers(const ModelRequest &model, const std::vector<FloatTensor> &tensors,
                           const std::string &output, bool inference, const std::string &ownLoss);

/// Calls `each` for the f32 initializers of the ONNX model at `path`. Throws ErrorLines.
void readOnnxInitializers(const std::string &path,
                          const std::function<void(const FloatTensor &)> &each);

} // namespace atc::python

#endif // OPENATC_PYTHON_TRAINING_H
