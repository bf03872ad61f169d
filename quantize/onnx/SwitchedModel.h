//===-- SwitchedModel.h - layers in int8 or float by switches -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_SWITCHEDMODEL_H
#define OPENATC_QUANTIZE_ONNX_SWITCHEDMODEL_H

#include "quantize/Quantize.h"

namespace atc::quantize {

/// A model on this machine that computes each layer both in float and in int8 (its input and its
/// weights) and selects one of the results by a switch. One compilation thus serves to measure the
/// effect of any set of layers. What is quantized between layers, such as the operands of a
/// concatenation, stays float.
class SwitchedModel {
public:
  /// Compiles the float model of `all` with a switch for each layer of its table. Returns null
  /// after an error.
  static std::unique_ptr<SwitchedModel> compile(const Quantization &all, const std::string &name,
                                                mlir::MLIRContext &context,
                                                Diagnostics &diagnostics);

  /// Computes the outputs in float for the first `count` samples, which must outlive this object:
  /// what `measure` compares with. Returns false after an error.
  bool setSamples(const std::vector<std::vector<::om::Buffer>> &samples, size_t count,
                  Diagnostics &diagnostics);

  /// Runs the samples with the layers of the table in int8 for which `isInt8` is true. Returns the
  /// cosine similarity to float of each output of type f32, in the order of the outputs; nothing
  /// after an error.
  std::optional<std::vector<double>> measure(const std::vector<bool> &isInt8,
                                             Diagnostics &diagnostics);

private:
  SwitchedModel() = default;
  bool run(const std::vector<::om::Buffer> &sample, Diagnostics &diagnostics);

  std::unique_ptr<HostModel> host;
  std::vector<::om::Buffer> inputs; ///< those of the model, then a float per layer
  size_t numInputs = 0;
  llvm::ArrayRef<std::vector<::om::Buffer>> samples;
  std::vector<std::vector<std::vector<float>>> floats; ///< by sample and output
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_SWITCHEDMODEL_H
