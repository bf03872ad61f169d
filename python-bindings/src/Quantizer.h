//===-- Quantizer.h - quantization for Python -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No MLIR and no Python header, as in CompilerModule.h.

#ifndef OPENATC_PYTHON_QUANTIZER_H
#define OPENATC_PYTHON_QUANTIZER_H

#include "python-bindings/src/CompilerModule.h"

namespace atc::quantize {
struct Quantization;
} // namespace atc::quantize

namespace atc::python {

/// The distribution of a tensor's values: counts of bins of equal width. The first bin begins at
/// `begin`.
struct Distribution {
  double begin, width;
  std::vector<uint64_t> counts;
  double min, max; ///< of the finite values
};

struct QuantizationRequest {
  std::string model; ///< an ONNX file, or only a name where there is a module
  std::shared_ptr<CompilerModule> module;
  Shapes inputShapes;
  std::string config; ///< JSON
  /// The shape of the first sample of an input, by its name or its index; empty where
  /// there is none.
  std::function<std::vector<int64_t>(const std::string &, size_t)> shapeOf;
  std::string dataFolders; ///< as amct takes them; then nothing is asked for samples
  /// Fills a buffer for each input; false at the end. It may throw ErrorLines.
  std::function<bool(const std::vector<::om::Tensor> &, const std::vector<void *> &)> next;
  std::function<void(size_t done)> progress;
  /// Chooses the range (min, max) of a tensor; nothing leaves it to the method. It may throw
  /// ErrorLines. Empty: the method chooses all.
  std::function<std::optional<std::pair<double, double>>(const std::string &, const Distribution &)>
      chooseRange;
};

/// A quantized model, its scales and errors. Everything throws ErrorLines.
class Quantized {
public:
  /// Calibrates and quantizes a model; throws its errors.
  static std::shared_ptr<Quantized> make(const QuantizationRequest &request);
  ~Quantized();

  std::string table() const;  ///< JSON
  std::string report() const; ///< JSON
  /// Returns the errors per layer as a table.
  std::string reportText() const;
  /// Writes the files whose paths are not empty.
  void save(const std::string &fakeQuant, const std::string &deploy, const std::string &record,
            const std::string &html) const;
  /// All files that the command amct writes; returns their paths.
  std::vector<std::string> saveAll(const std::string &prefix) const;
  /// The int8 model in ONNX's format; empty for a module. At most 2 GB.
  std::string onnx() const;
  const std::vector<std::string> &warnings() const { return warningLines; }
  /// The quantized module; null for an ONNX model.
  std::shared_ptr<CompilerModule> module() const { return quantizedModule; }

private:
  explicit Quantized(std::unique_ptr<quantize::Quantization> result);
  std::unique_ptr<quantize::Quantization> result;
  std::shared_ptr<CompilerModule> quantizedModule;
  std::vector<std::string> warningLines;
};

} // namespace atc::python

#endif // OPENATC_PYTHON_QUANTIZER_H
