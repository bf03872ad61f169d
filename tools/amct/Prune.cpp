//===-- Prune.cpp - amct prune --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/Prune.h"
#include "driver/Compiler.h"
#include "quantize/DataFolder.h"
#include "quantize/onnx/OnnxMoments.h"
#include "quantize/onnx/WeightOnly.h"
#include "tools/amct/ModelCommands.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/Print.h"
#include "tools/common/ProgressBar.h"

namespace atc::tools {

using namespace atc::quantize;

void addPruneOptions(CLI::App &app, PruneOptions &options) {
  addSampleOptions(app, options, /*areRequired=*/false);
  app.add_option("--output,--save_path", options.output, "the .onnx file to write")->required();
  app.add_option("--config", options.config, "settings: prune_config { ... }; see docs/amct.md");
  app.add_option("--prune_ratio", options.ratio,
                 "instead of settings: the share of every layer's channels to remove, such as 0.3");
  app.add_option("--compress_ratio", options.compress,
                 "instead of settings: search the layers' shares so that the operations become "
                 "fewer by this factor, such as 1.5; needs --data");
  app.add_option("--sparsity", options.sparsity,
                 "instead of settings: 4:2 sets two of each four weights to zero");
}

namespace {

PruneConfig readSettings(const PruneOptions &options, Diagnostics &diagnostics) {
  PruneConfig config;
  const int given = !options.config.empty() + !options.ratio.empty() + !options.compress.empty() +
                    !options.sparsity.empty();
  if (given != 1) {
    diagnostics.error("E10007",
                      "give one of --config, --prune_ratio, --compress_ratio and --sparsity");
  } else if (!options.config.empty()) {
    checkFile("config", options.config, diagnostics);
    if (!diagnostics.hasErrors())
      readPruneConfig(options.config, config, diagnostics);
  } else if (!options.sparsity.empty()) {
    config.common.kind = PruneKind::TwoOfFour;
    if (options.sparsity != "4:2" && options.sparsity != "2:4")
      diagnostics.error("E10001", "the value \"" + options.sparsity +
                                      "\" of --sparsity is invalid: it must be 4:2");
  } else if (!options.compress.empty()) {
    config.common.kind = PruneKind::Channels;
    config.common.ascendOptimized = false;
    double ratio = 0;
    if (llvm::StringRef(options.compress).getAsDouble(ratio) || !(ratio > 1 && ratio <= 1000))
      diagnostics.error("E10001", "the value \"" + options.compress +
                                      "\" of --compress_ratio is invalid: it must be above 1");
    config.compressRatio = ratio;
  } else {
    config.common.kind = PruneKind::Channels;
    config.common.ascendOptimized = false;
    const bool isNumber = !llvm::StringRef(options.ratio).getAsDouble(config.common.ratio);
    if (!isNumber || !(config.common.ratio > 0 && config.common.ratio < 1))
      diagnostics.error("E10001", "the value \"" + options.ratio +
                                      "\" of --prune_ratio is invalid: it must be between 0 and 1");
  }
  return config;
}

std::optional<MomentsByOutput> observe(OnnxModel &model, const PruneOptions &options,
                                       const PruneConfig &config, const ImageOptions &images,
                                       Diagnostics &diagnostics) {
  if (options.data.empty())
    return MomentsByOutput();
  SampleRequest request;
  request.name = options.model;
  request.inputShapes = parseInputShapes(options.inputShape, diagnostics);
  request.batchNum = options.batchNum ? options.batchNum : config.numSamples;
  if (diagnostics.hasErrors())
    return std::nullopt;
  ProgressBar bar("observing", stderr);
  request.progress = [&](size_t done, size_t all) { bar.update(done, all); };
  auto context = driver::makeCompilerContext();
  DataFolder data(options.data, options.dataType, images);
  return collectOnnxMoments(model, request, data, *context, diagnostics);
}

} // namespace

int pruneModel(const PruneOptions &options) {
  Diagnostics diagnostics;
  ImageOptions images;
  if (options.data.empty())
    checkModel("model", options.model, diagnostics);
  else
    checkSources(options, diagnostics);
  checkImages(options, images, diagnostics);
  checkBatchNum(options, diagnostics);
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  const PruneConfig config = readSettings(options, diagnostics);
  if (config.compressRatio && options.data.empty())
    diagnostics.error("E10007", "the search of --compress_ratio needs samples: give --data");
  if (!diagnostics.hasErrors())
    makeFolderOf(options.output, "--output", diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  Pruning result;
  if (model) {
    simplify(*model);
    if (const auto moments = observe(*model, options, config, images, diagnostics))
      result = config.has(PruneKind::Channels)
                   ? pruneChannels(*model, config, *moments, diagnostics)
                   : pruneWeights(*model, config, *moments, diagnostics);
    if (result.layers.empty() && !diagnostics.hasErrors())
      diagnostics.error("E10055", "no layer of '" + options.model +
                                      "' can be pruned as the settings ask: weights must be "
                                      "constants of f32, channels that the model returns stay, and "
                                      "fours need 4 channels of inputs");
    if (!diagnostics.hasErrors())
      writeModel(*model, options.output, diagnostics);
  }
  printMessages(diagnostics);
  if (diagnostics.hasErrors())
    return 1;
  if (options.json)
    printLines(stdout, pruningJson(result) + "\n");
  else
    print(stdout, "%zu layers are pruned; of %lld weights %lld are left\nwrote %s\n",
          result.layers.size(), static_cast<long long>(result.before),
          static_cast<long long>(result.after), options.output.c_str());
  return 0;
}

} // namespace atc::tools
