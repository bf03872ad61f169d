//===-- amct.cpp - quantizes models ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Quantize.h"
#include "tools/amct/DataFolder.h"
#include "tools/amct/ProgressBar.h"
#include "tools/atc/Compile.h"
#include "tools/common/CommandLine.h"

#include "openatc/om.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <algorithm>

using namespace atc;
using namespace atc::quantize;
using namespace atc::tools;

namespace {

struct Options {
  std::string model, weights, data, output, inputShape, dataType, method, config, report, evaluator;
  int64_t batchNum = 0;
  bool json = false;
};

void addOptions(CLI::App &app, Options &options) {
  app.add_option("--model", options.model, "the float model, an .onnx file")->required();
  app.add_option("--data,--data_dir", options.data,
                 "folder of .npy or .bin files, one \"folder1;folder2\" for each input")
      ->required();
  app.add_option("--output,--save_path", options.output,
                 "prefix of the files that are written: <prefix>_fake_quant_model.onnx ...")
      ->required();
  app.add_option("--input_shape", options.inputShape,
                 "shapes of inputs, \"name:1,3,224,224;other:1\"; else those of the model and "
                 "of the .npy files");
  app.add_option("--data_type", options.dataType, "what .bin files hold, such as float32");
  app.add_option("--method", options.method,
                 "how ranges are chosen: minmax, percentile, kl or mse (default)");
  app.add_option("--batch_num", options.batchNum, "use this many samples; default: all");
  app.add_option("--config,--calibration_config", options.config,
                 "settings for all and single layers, see docs/amct.md");
  app.add_option("--report", options.report, "write the error report (HTML) here");
  app.add_option("--evaluator", options.evaluator, "not supported");
  app.add_flag("--json", options.json, "print the error report as JSON");
}

/// Everything that can be said of the command line before the model is read.
void check(const Options &options, QuantizeOptions &quantize, Diagnostics &diagnostics) {
  if (!llvm::sys::fs::exists(options.model))
    diagnostics.error("E10410", "the file \"" + options.model + "\" of --model does not exist");
  else if (llvm::sys::fs::is_directory(options.model))
    diagnostics.error("E10041", "\"" + options.model + "\" of --model is a folder, not a file");
  for (const std::string &folder : splitFolders(options.data))
    if (!llvm::sys::fs::is_directory(folder))
      diagnostics.error("E10410", "the folder \"" + folder + "\" of --data does not exist");
  if (splitFolders(options.data).empty())
    diagnostics.error("E10004", "the value of --data is empty");
  for (const auto &[flag, path] :
       {std::pair("--output", options.output), std::pair("--report", options.report)}) {
    const llvm::StringRef folder = llvm::sys::path::parent_path(path);
    if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
      diagnostics.error("E13001", "the folder \"" + folder + "\" of " + flag + " does not exist");
  }
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  if (!options.evaluator.empty())
    diagnostics.error("E10055", "--evaluator is not supported: compare the accuracy of the "
                                "_fake_quant_model.onnx with that of the model");
  quantize.name = options.model;
  quantize.inputShapes = tools::parseInputShapes(options.inputShape, diagnostics);
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
  if (options.batchNum < 0)
    diagnostics.error("E10001", "the value \"" + llvm::Twine(options.batchNum) +
                                    "\" of --batch_num is invalid: it must be positive");
  else if (options.batchNum)
    quantize.config.batchNum = options.batchNum;
}

void print(const QuantizedOnnx &result, const ResultFiles &files) {
  const Calibration &calibration = result.calibration;
  std::printf("%zu layers and %zu tensors are int8 (%zu samples)\n",
              calibration.table.layers.size(), calibration.table.tensors.size(),
              calibration.samples);
  ErrorReport worst = result.report;
  std::stable_sort(worst.tensors.begin(), worst.tensors.end(),
                   [](const auto &a, const auto &b) { return a.sqnr < b.sqnr; });
  if (worst.tensors.size() > 5)
    worst.tensors.resize(5);
  std::printf("the worst tensors, and the outputs: %s", reportText(worst).c_str());
  for (const std::string *file : {&files.fakeQuant, &files.deploy, &files.record, &files.table,
                                  &files.reportText, &files.reportJson, &files.reportHtml})
    std::printf("wrote %s\n", file->c_str());
}

int calibrateModel(const Options &options) {
  Diagnostics diagnostics;
  QuantizeOptions quantize;
  check(options, quantize, diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  std::unique_ptr<QuantizedOnnx> result;
  ResultFiles files = ResultFiles::withPrefix(options.output);
  if (!options.report.empty())
    files.reportHtml = options.report;
  if (model) {
    ProgressBar bar("calibrating", stderr);
    quantize.progress = [&](size_t done, size_t all) { bar.update(done, all); };
    DataFolder data(options.data, options.dataType);
    auto context = makeCompilerContext();
    result = quantizeOnnx(std::move(model), quantize, data, *context, diagnostics);
  }
  const bool written = result && writeResults(*result, files, diagnostics);
  for (const CodedMessage &message : diagnostics.all())
    std::fprintf(stderr, "%s: %s\n", message.code.c_str(), oneLine(message.text).c_str());
  if (!written)
    return 1;
  if (options.json)
    std::fputs(reportJson(result->report).c_str(), stdout);
  else
    print(*result, files);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Quantizes a float model to int8 with samples of its input.");
  app.set_version_flag("--version", std::string("amct ") + om_version());
  app.require_subcommand(1);
  Options options;
  CLI::App *calibrate = app.add_subcommand(
      "calibrate", "Writes int8 models, their scales and a report of the errors");
  calibrate->alias("calibration");
  addOptions(*calibrate, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &outcome) {
    return finishParsing(app, outcome);
  }
  return calibrateModel(options);
}
