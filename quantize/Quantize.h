//===-- Quantize.h - calibrates and quantizes a model ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_QUANTIZE_H
#define OPENATC_QUANTIZE_QUANTIZE_H

#include "frontends/ModelOptions.h"
#include "quantize/Calibrate.h"
#include "quantize/ErrorReport.h"
#include "quantize/onnx/OnnxWriter.h"

namespace atc::quantize {

/// The results of quantizing a model.
struct Quantization {
  Calibration calibration;
  /// The float model that the table belongs to, simplified and balanced, and its quantized forms;
  /// null where it was a module of the graph dialect, `floats` also where it was converted.
  std::unique_ptr<OnnxModel> floats;
  std::unique_ptr<QdqModel> qdq;
  std::unique_ptr<OnnxModel> deploy;
  ErrorReport report;
};

/// The options of quantization.
struct QuantizeOptions {
  std::string name; ///< of the model, for messages and the report
  InputShapes inputShapes;
  QuantConfig config;
  Progress progress;
  bool compare = true; ///< make the error report
};

/// Calibrates `model` with `data`. `context` has all dialects of a compilation. Returns null after
/// an error.
std::unique_ptr<Quantization> quantizeOnnx(std::unique_ptr<OnnxModel> model,
                                           const QuantizeOptions &options, DataSource &data,
                                           mlir::MLIRContext &context, Diagnostics &diagnostics);

/// Quantizes again what `all`, the result of `quantizeOnnx` with the comparison, has calibrated,
/// without the layers that `options.config` skips: no data is read and the scales stay as they
/// are. Returns null after an error.
std::unique_ptr<Quantization> quantizeSubset(const Quantization &all,
                                             const QuantizeOptions &options,
                                             mlir::MLIRContext &context, Diagnostics &diagnostics);

/// The paths of the result files; a file without a path is not written.
struct ResultFiles {
  std::string fakeQuant, deploy, record, table, reportText, reportJson, reportHtml;
  /// Returns the paths `<prefix>_fake_quant_model.onnx`, `<prefix>_deploy_model.onnx`,
  /// `<prefix>_record.txt`, `<prefix>_quant.json` and `<prefix>_report.{txt,json,html}`.
  static ResultFiles withPrefix(const std::string &prefix);
};

/// Writes all files, or none after an error; a module has no model files.
bool writeResults(const Quantization &result, const ResultFiles &files, Diagnostics &diagnostics);
/// Writes only the report.
bool writeReport(const ErrorReport &report, const ResultFiles &files, Diagnostics &diagnostics);

/// Calibrates a module of the graph dialect and writes the parameters into attributes
/// (`graph.quantization`) of its ops, which graph-insert-quantization expands. The passes that
/// change weights run first. Returns false after an error.
bool quantizeModule(mlir::ModuleOp module, const QuantizeOptions &options, DataSource &data,
                    Quantization &result, Diagnostics &diagnostics);

/// Runs a float model and a quantized one over the samples and compares the tensors that the
/// quantized one stores as integers, layer by layer by name; where it has no integers, the results
/// of its layers. Returns false after an error.
bool compareOnnx(OnnxModel &right, OnnxModel &quantized, const QuantizeOptions &options,
                 DataSource &data, ErrorReport &report, mlir::MLIRContext &context,
                 Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_QUANTIZE_H
