//===-- OnnxInitializers.h - the weights of ONNX model files --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_TRAINING_ONNXINITIALIZERS_H
#define OPENATC_DRIVER_TRAINING_ONNXINITIALIZERS_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace onnx {
class GraphProto;
} // namespace onnx

namespace atc::driver {

/// A tensor of f32 elements: dims, and the elements in row-major order, borrowed.
struct FloatInitializer {
  std::string name;
  std::vector<int64_t> dims;
  llvm::ArrayRef<float> elements;
};

/// Writes the ONNX model at `path`, or in `bytes` where these are given, as a file at `output`,
/// with the elements of `tensors`. Initializers of their names are replaced, which must have the
/// same dims; others are added behind them. `edit` changes the graph before; empty: it stays as it
/// is. Returns false after an error.
bool writeInitializers(llvm::StringRef path, const std::optional<std::string> &bytes,
                       llvm::ArrayRef<FloatInitializer> tensors, const std::string &output,
                       const std::function<void(onnx::GraphProto &)> &edit,
                       Diagnostics &diagnostics);

/// Calls `each` for every f32 initializer of the ONNX model at `path`; its elements are valid
/// during the call. Returns false after an error.
bool readInitializers(llvm::StringRef path,
                      const std::function<void(const FloatInitializer &)> &each,
                      Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_TRAINING_ONNXINITIALIZERS_H
