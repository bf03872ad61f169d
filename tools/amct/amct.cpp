//===-- amct.cpp - quantizes models, compares them ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/amct/Evaluator.h"
#include "tools/amct/ModelCommands.h"
#include "tools/amct/RunAmct.h"

#include "driver/Compiler.h"
#include "quantize/DataFolder.h"
#include "quantize/Quantize.h"
#include "quantize/onnx/ConvertQdq.h"
#include "quantize/onnx/MixedPrecision.h"
#include "support/Interruption.h"
#include "tools/common/CommandLine.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/ModelKind.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/ProgressBar.h"

#include "openatc/om.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <algorithm>

using namespace atc;
using namespace atc::quantize;
using namespace atc::tools;

namespace {

struct Options : SampleOptions {
  std::string quantized, output, method, config, report, evaluator;
  double minCosine = 0;
};

void addReportOption(CLI::App &app, Options &options) {
  app.add_option("--report", options.report, "write the error report (HTML) here");
}

void addCalibrateOptions(CLI::App &app, Options &options) {
  addSampleOptions(app, options, /*areRequired=*/false); // an evaluator may have its own
  addReportOption(app, options);
  app.add_option("--output,--save_path", options.output,
                 "prefix of the files that are written: <prefix>_fake_quant_model.onnx ...")
      ->required();
  app.add_option("--method", options.method,
                 "how ranges are chosen: minmax, percentile, kl or mse (default)");
  app.add_option("--config,--calibration_config", options.config,
                 "settings for all and single layers, and for images; see docs/amct.md");
  app.add_option("--min_cosine", options.minCosine,
                 "leave layers float until every output is as similar as this, such as 0.998");
  app.add_option("--evaluator", options.evaluator,
                 "a Python file with an evaluator: leave layers float until it is satisfied");
  app.callback([&app, &options] {
    if (options.evaluator.empty() && app.count("--data") == 0)
      throw CLI::RequiredError("--data");
  });
}

void addCompareOptions(CLI::App &app, Options &options) {
  addSampleOptions(app, options, /*areRequired=*/true);
  addReportOption(app, options);
  app.add_option("--quantized_model", options.quantized,
                 "the int8 model, an .onnx file with QuantizeLinear or AscendQuant")
      ->required();
  app.add_option("--output,--save_path", options.output,
                 "prefix of the report's files: <prefix>_report.txt, .json and .html");
}

/// Checks, together with checkSamples, the command line before the model is read.
void checkFiles(const Options &options, QuantizeOptions &quantize, Diagnostics &diagnostics) {
  checkSources(options, diagnostics);
  for (const auto &[flag, path] :
       {std::pair("--output", options.output), std::pair("--report", options.report)})
    if (!diagnostics.hasErrors())
      makeFolderOf(path, flag, diagnostics);
  quantize.name = options.model;
  quantize.inputShapes = parseInputShapes(options.inputShape, diagnostics);
}

/// Applies the flags that take precedence over a file of settings.
void checkSamples(const Options &options, QuantizeOptions &quantize, Diagnostics &diagnostics) {
  checkImages(options, quantize.config.images, diagnostics);
  checkBatchNum(options, diagnostics);
  if (options.batchNum > 0)
    quantize.config.batchNum = options.batchNum;
}

void checkCalibration(const Options &options, QuantizeOptions &quantize, Diagnostics &diagnostics) {
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  if (!(options.minCosine >= 0 && options.minCosine <= 1))
    diagnostics.error("E10001", "the value of --min_cosine is invalid: it must be from 0 to 1");
  if (!options.config.empty()) {
    if (!llvm::sys::fs::exists(options.config))
      diagnostics.error("E10410", "the file \"" + options.config + "\" of --config does not exist");
    else
      readConfig(options.config, quantize.config, diagnostics);
  }
  if (!options.method.empty()) {
    if (auto method = findMethod(options.method)) {
      quantize.config.common.range.method = *method;
      for (auto *list : {&quantize.config.types, &quantize.config.layers})
        for (auto &[name, layer] : *list)
          layer.range.method = *method;
    } else {
      diagnostics.error("E10001", "the value \"" + options.method +
                                      "\" of --method is invalid: it must be one of minmax, "
                                      "percentile, kl, mse");
    }
  }
}

void printResults(const Quantization &result, const ResultFiles &files) {
  const Calibration &calibration = result.calibration;
  print(stdout, "%zu layers and %zu tensors are int8 (%zu samples)\n",
        calibration.table.layers.size(), calibration.table.tensors.size(), calibration.samples);
  ErrorReport worst = result.report;
  std::stable_sort(worst.tensors.begin(), worst.tensors.end(),
                   [](const auto &a, const auto &b) { return a.sqnr < b.sqnr; });
  if (worst.tensors.size() > 5)
    worst.tensors.resize(5);
  print(stdout, "the worst tensors, and the outputs: ");
  printLines(stdout, reportText(worst));
  for (const std::string *file : {&files.fakeQuant, &files.deploy, &files.record, &files.table,
                                  &files.reportText, &files.reportJson, &files.reportHtml})
    print(stdout, "wrote %s\n", file->c_str());
}

int calibrateModel(const Options &options) {
  Diagnostics diagnostics;
  QuantizeOptions quantize;
  checkFiles(options, quantize, diagnostics);
  checkCalibration(options, quantize, diagnostics);
  checkSamples(options, quantize, diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  std::unique_ptr<Quantization> result;
  ResultFiles files = ResultFiles::withPrefix(options.output);
  if (!options.report.empty())
    files.reportHtml = options.report;
  if (model) {
    ProgressBar bar("calibrating", stderr);
    quantize.progress = [&](size_t done, size_t all) { bar.update(done, all); };
    auto context = driver::makeCompilerContext();
    DataFolder data(options.data, options.dataType, quantize.config.images);
    result = options.minCosine > 0
                 ? quantizeToCosine(std::move(model), quantize, options.minCosine, data, *context,
                                    diagnostics)
                 : quantizeOnnx(std::move(model), quantize, data, *context, diagnostics);
  }
  const bool written = result && writeResults(*result, files, diagnostics);
  printMessages(diagnostics);
  if (!written)
    return 1;
  if (options.json)
    printLines(stdout, reportJson(result->report));
  else
    printResults(*result, files);
  return 0;
}

struct ConvertOptions {
  std::string model, output;
};

void addConvertOptions(CLI::App &app, ConvertOptions &options) {
  app.add_option("--model", options.model, "an .onnx file with QuantizeLinear and DequantizeLinear")
      ->required();
  app.add_option("--output,--save_path", options.output,
                 "prefix of the files that are written: <prefix>_deploy_model.onnx ...")
      ->required();
}

int convertModel(const ConvertOptions &options) {
  Diagnostics diagnostics;
  checkModel("model", options.model, diagnostics);
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  if (!diagnostics.hasErrors())
    makeFolderOf(options.output, "--output", diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  std::unique_ptr<Quantization> result;
  if (model)
    result = convertQdq(*model, options.model, diagnostics);
  // There are no samples, so there is no report.
  ResultFiles files = ResultFiles::withPrefix(options.output);
  files.reportText = files.reportJson = files.reportHtml = "";
  const bool written = result && writeResults(*result, files, diagnostics);
  printMessages(diagnostics);
  if (!written)
    return 1;
  const QuantTable &table = result->calibration.table;
  print(stdout, "%zu layers and %zu tensors are int8\n", table.layers.size(), table.tensors.size());
  for (const std::string *file : {&files.fakeQuant, &files.deploy, &files.record, &files.table})
    print(stdout, "wrote %s\n", file->c_str());
  return 0;
}

int compareModelFiles(const Options &options) {
  Diagnostics diagnostics;
  QuantizeOptions quantize;
  checkFiles(options, quantize, diagnostics);
  checkModel("quantized_model", options.quantized, diagnostics);
  checkSamples(options, quantize, diagnostics);
  std::unique_ptr<OnnxModel> right, quantized;
  if (!diagnostics.hasErrors()) {
    right = OnnxModel::read(options.model, diagnostics);
    quantized = OnnxModel::read(options.quantized, diagnostics);
  }
  ErrorReport report;
  bool done = false;
  if (!diagnostics.hasErrors()) {
    ProgressBar bar("comparing", stderr);
    quantize.name = options.quantized;
    quantize.progress = [&](size_t done, size_t all) { bar.update(done, all); };
    DataFolder data(options.data, options.dataType, quantize.config.images);
    auto context = driver::makeCompilerContext();
    done = compareOnnx(*right, *quantized, quantize, data, report, *context, diagnostics);
  }
  ResultFiles files;
  if (!options.output.empty())
    files = ResultFiles::withPrefix(options.output);
  if (!options.report.empty())
    files.reportHtml = options.report;
  done = done && writeReport(report, files, diagnostics);
  printMessages(diagnostics);
  if (!done)
    return 1;
  printLines(stdout, options.json ? reportJson(report) : reportText(report));
  if (!options.json)
    for (const std::string *file : {&files.reportText, &files.reportJson, &files.reportHtml})
      if (!file->empty())
        print(stdout, "wrote %s\n", file->c_str());
  return 0;
}

} // namespace

/// Reports the vendor's tools for other models, which scripts call by these names. Returns whether
/// `program` is one of them.
static bool isOtherTool(llvm::StringRef program) {
  const llvm::StringRef name = llvm::sys::path::filename(program);
  if (name != "amct_caffe" && name != "amct_tensorflow")
    return false;
  const ModelKind kind = name == "amct_caffe" ? ModelKind::PrototxtText : ModelKind::GraphDef;
  Diagnostics diagnostics;
  diagnostics.error("E10055",
                    name + " is no tool here: what it quantizes " + whyNotQuantized(kind));
  printMessages(diagnostics);
  return true;
}

int atc::tools::runAmct(int argc, char **argv) {
  atc::endInOrder("amct");
  installFatalErrorHandlers(/*descriptor=*/2);
  if (argc > 0 && isOtherTool(argv[0]))
    return 1;
  CLI::App app("Makes float models smaller: quantizes, prunes and divides their layers.");
  app.set_version_flag("--version", std::string("amct ") + om_version());
  app.require_subcommand(1);
  Options options;
  CLI::App *calibrate = app.add_subcommand(
      "calibrate", "Writes int8 models, their scales and a report of the errors");
  calibrate->alias("calibration");
  addCalibrateOptions(*calibrate, options);
  CLI::App *compare = app.add_subcommand(
      "compare", "Reports how far an int8 model is from its float model, layer by layer");
  Options compared;
  addCompareOptions(*compare, compared);
  CLI::App *weights = app.add_subcommand(
      "weights", "Stores the weights of products in 4 or 8 bits, with samples or without");
  WeightOptions weightOptions;
  addWeightOptions(*weights, weightOptions);
  CLI::App *prune = app.add_subcommand(
      "prune", "Removes channels, or two of four weights, with samples or without");
  PruneOptions pruneOptions;
  addPruneOptions(*prune, pruneOptions);
  CLI::App *decompose = app.add_subcommand(
      "decompose", "Divides convolutions into two smaller ones along the height and the width");
  DecomposeFlags decomposeFlags;
  addDecomposeOptions(*decompose, decomposeFlags);
  CLI::App *convert = app.add_subcommand(
      "convert", "Writes both int8 forms of a model that was trained with quantization");
  ConvertOptions convertOptions;
  addConvertOptions(*convert, convertOptions);
  if (std::optional<int> code = parseCommandLine(app, "amct", argc, argv))
    return *code;
  if (convert->parsed())
    return finishOutput(convertModel(convertOptions));
  if (calibrate->parsed() && !options.evaluator.empty())
    return finishOutput(runEvaluator(argc, argv));
  if (weights->parsed())
    return finishOutput(quantizeModelWeights(weightOptions));
  if (prune->parsed())
    return finishOutput(pruneModel(pruneOptions));
  if (decompose->parsed())
    return finishOutput(decomposeModel(decomposeFlags));
  return finishOutput(compare->parsed() ? compareModelFiles(compared) : calibrateModel(options));
}
