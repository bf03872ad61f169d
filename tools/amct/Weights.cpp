//===-- Weights.cpp - amct weights ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Compiler.h"
#include "quantize/DataFolder.h"
#include "quantize/onnx/OnnxMoments.h"
#include "quantize/onnx/TokenSource.h"
#include "quantize/onnx/WeightOnly.h"
#include "support/OneLine.h"
#include "tools/amct/ModelCommands.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/Print.h"
#include "tools/common/ProgressBar.h"

#include <algorithm>

namespace atc::tools {

using namespace atc::quantize;

void addWeightOptions(CLI::App &app, WeightOptions &options) {
  addSampleOptions(app, options, /*areRequired=*/false);
  app.add_option("--output,--save_path", options.output, "the .onnx file to write")->required();
  app.add_option("--weight_only", options.type, "how weights are stored: int4 or int8")->required();
  app.add_option("--group_size", options.groupSize,
                 "weights of a column that share a scale: a power of two from 16; default: 32");
  app.add_option("--method", options.method,
                 "how levels are chosen: rtn (default, without samples), awq or gptq");
  app.add_option("--tokens", options.tokens,
                 "samples of a language model: a .npy file with the numbers of a text's tokens");
  app.add_option("--sequence", options.sequence, "the tokens of a sample; default: 128");
}

namespace {

/// Checks that there are samples where the method needs them, and none where it has no use for
/// them.
void checkSamples(const WeightOptions &options, ImageOptions &images, Diagnostics &diagnostics) {
  const bool given = !options.data.empty() || !options.tokens.empty();
  checkModel("model", options.model, diagnostics);
  if (options.method == "rtn" && given)
    diagnostics.error("E10014", "--method=rtn uses no samples: leave out --data and --tokens, or "
                                "give --method=gptq or awq");
  else if (options.method != "rtn" && !given)
    diagnostics.error("E10007",
                      "--method=" + options.method +
                          " needs samples: give --data, or --tokens for a language model");
  if (!options.data.empty() && !options.tokens.empty())
    diagnostics.error("E10014", "--data and --tokens are both samples: give one of them");
  else if (!options.data.empty())
    checkSources(options, diagnostics);
  else if (!options.tokens.empty())
    checkFile("tokens", options.tokens, diagnostics);
  if (options.sequence < 2 || options.sequence > 65536)
    diagnostics.error("E10001", "the value \"" + llvm::Twine(options.sequence) +
                                    "\" of --sequence is invalid: it must be from 2 to 65536");
  checkImages(options, images, diagnostics);
  checkBatchNum(options, diagnostics);
}

/// Runs the samples. Returns nothing after an error.
std::optional<MomentsByOutput> observe(OnnxModel &model, const WeightOptions &options,
                                       const ImageOptions &images, Diagnostics &diagnostics) {
  SampleRequest request;
  request.name = options.model;
  request.inputShapes = parseInputShapes(options.inputShape, diagnostics);
  request.batchNum = options.batchNum;
  std::unique_ptr<DataSource> data;
  if (options.tokens.empty()) {
    data = std::make_unique<DataFolder>(options.data, options.dataType, images);
  } else if (auto tokens = TokenSource::read(options.tokens, options.sequence, diagnostics)) {
    if (request.inputShapes.empty())
      request.inputShapes = tokens->shapesFor(model);
    data = std::move(tokens);
  }
  if (diagnostics.hasErrors())
    return std::nullopt;
  ProgressBar bar("observing", stderr);
  request.progress = [&](size_t done, size_t all) { bar.update(done, all); };
  auto context = driver::makeCompilerContext();
  return collectOnnxMoments(model, request, *data, *context, diagnostics);
}

/// Names the layers that are rounded to nearest because the samples did not reach them, which is
/// an error where they are all. Returns false after that.
bool checkReach(const std::vector<WeightOnlyLayer> &layers, const WeightOptions &options,
                Diagnostics &diagnostics) {
  std::string names;
  size_t missing = 0;
  for (const WeightOnlyLayer &layer : layers)
    if (!layer.error && ++missing <= 10)
      names += (names.empty() ? "'" : ", '") + layer.name + "'";
  if (missing == layers.size()) {
    diagnostics.error("E10055",
                      "--method=" + options.method +
                          " is not possible: no layer's inputs are known from samples, as "
                          "none has a static shape outside of branches and loops; give "
                          "--input_shape, or --method=rtn");
    return false;
  }
  if (missing)
    diagnostics.warning("W10055", "--method=" + options.method + " has no effect on " +
                                      llvm::Twine(missing) +
                                      " layers, which are rounded to "
                                      "nearest: " +
                                      names + (missing > 10 ? " ..." : ""));
  return true;
}

void printLayers(const std::vector<WeightOnlyLayer> &layers, const WeightOptions &options) {
  const auto worst = std::min_element(layers.begin(), layers.end(),
                                      [](auto &a, auto &b) { return a.cosine < b.cosine; });
  print(stdout,
        "weights of %zu layers are %s in groups of %lld; the least similar are those of "
        "'%s', with a cosine of %.5f\n",
        layers.size(), options.type.c_str(), static_cast<long long>(options.groupSize),
        oneLine(worst->name).c_str(), worst->cosine);
  double sum = 0;
  size_t known = 0;
  for (const WeightOnlyLayer &layer : layers)
    if (layer.error) {
      sum += *layer.error;
      ++known;
    }
  if (options.method != "rtn")
    print(stdout,
          "samples reached %zu of them, whose products have an error of %.4f on the average\n",
          known, known ? sum / static_cast<double>(known) : 0);
  print(stdout, "wrote %s\n", options.output.c_str());
}

} // namespace

int quantizeModelWeights(const WeightOptions &options) {
  Diagnostics diagnostics;
  ImageOptions images;
  checkSamples(options, images, diagnostics);
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  const WeightOnlyOptions form =
      readWeightOnly(options.type, options.groupSize, options.method, diagnostics);
  if (!diagnostics.hasErrors())
    makeFolderOf(options.output, "--output", diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  std::optional<MomentsByOutput> moments;
  if (model && form.method != WeightMethod::Nearest)
    moments = observe(*model, options, images, diagnostics);
  else if (model)
    moments.emplace();
  std::vector<WeightOnlyLayer> layers;
  if (moments) {
    layers = quantizeWeights(*model, form, *moments);
    if (layers.empty())
      diagnostics.error("E10055", "'" + options.model +
                                      "' has no MatMul or Gemm with a constant matrix of f32 as "
                                      "its second factor, whose weights could be stored in " +
                                      options.type);
    else if (form.method == WeightMethod::Nearest || checkReach(layers, options, diagnostics))
      writeModel(*model, options.output, diagnostics);
  }
  printMessages(diagnostics);
  if (diagnostics.hasErrors())
    return 1;
  if (options.json)
    printLines(stdout, layersJson(layers) + "\n");
  else
    printLayers(layers, options);
  return 0;
}

} // namespace atc::tools
