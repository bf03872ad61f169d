//===-- HostModel.h - a module compiled for this machine and loaded -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_HOSTMODEL_H
#define OPENATC_QUANTIZE_HOSTMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "openatc/om.hpp"
#include "support/Diagnostics.h"

namespace atc::quantize {

/// Adds results to @main: fusions cannot remove what a function returns.
void addResults(mlir::ModuleOp module, llvm::ArrayRef<mlir::Value> values);

/// A model that runs on the CPU of this machine.
class HostModel {
public:
  /// Compiles a copy for this machine and loads it; the module's constants stay as they are.
  /// Returns null after an error.
  static std::unique_ptr<HostModel> compile(mlir::ModuleOp module, Diagnostics &diagnostics);

  const std::vector<::om::Tensor> &inputs() const { return inputTensors; }
  const std::vector<::om::Tensor> &outputs() const { return outputTensors; }
  /// Returns one zeroed buffer per input.
  std::vector<::om::Buffer> makeInputs() const;

  /// Runs the model on one buffer per input. Returns false after an error.
  bool run(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics);
  /// Returns an output of the last run.
  const ::om::Buffer &output(size_t index) const { return results[index]; }
  /// Returns the elements of an output of type f32; none for other types.
  llvm::ArrayRef<float> floats(size_t index) const;

private:
  HostModel() = default;
  ::om::Buffer file; ///< the file that the model is loaded from, in place
  ::om::Model model;
  ::om::Session session;
  std::vector<::om::Tensor> inputTensors, outputTensors;
  std::vector<::om::Buffer> results;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_HOSTMODEL_H
