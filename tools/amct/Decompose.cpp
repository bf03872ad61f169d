//===-- Decompose.cpp - amct decompose ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/Decompose.h"
#include "quantize/onnx/WeightOnly.h"
#include "support/OneLine.h"
#include "support/OutputFile.h"
#include "tools/amct/ModelCommands.h"
#include "tools/common/OutputFolder.h"
#include "tools/common/Print.h"

namespace atc::tools {

using namespace atc::quantize;

void addDecomposeOptions(CLI::App &app, DecomposeFlags &options) {
  app.add_option("--model", options.model, "the float model, an .onnx file")->required();
  app.add_option("--output,--save_path", options.output, "the .onnx file to write")->required();
  app.add_option("--energy", options.energy,
                 "the share of a kernel's squared weights to keep; default: 0.9");
  app.add_option("--info", options.info, "write which layers were divided here, as JSON");
  app.add_flag("--json", options.json, "print the layers as JSON");
}

/// Writes the model and the list of its divided layers.
static void writeBoth(const OnnxModel &model, const std::vector<DecomposedLayer> &layers,
                      const DecomposeFlags &options, Diagnostics &diagnostics) {
  if (options.info.empty()) {
    writeModel(model, options.output, diagnostics);
    return;
  }
  OutputFile info(options.info);
  if (!info.write(decomposedJson(layers) + "\n") ||
      (writeModel(model, options.output, diagnostics) && !info.commit()))
    diagnostics.error("E13004",
                      "the file \"" + options.info + "\" cannot be written: " + info.reason());
}

int decomposeModel(const DecomposeFlags &options) {
  Diagnostics diagnostics;
  checkModel("model", options.model, diagnostics);
  if (options.output.empty())
    diagnostics.error("E10004", "the value of --output is empty");
  if (!(options.energy > 0 && options.energy <= 1))
    diagnostics.error("E10001", "the value of --energy is invalid: it must be from 0 to 1");
  if (!diagnostics.hasErrors() && makeFolderOf(options.output, "--output", diagnostics))
    makeFolderOf(options.info, "--info", diagnostics);
  std::unique_ptr<OnnxModel> model;
  if (!diagnostics.hasErrors())
    model = OnnxModel::read(options.model, diagnostics);
  std::vector<DecomposedLayer> layers;
  if (model) {
    simplify(*model);
    layers = decompose(*model, {options.energy});
    if (layers.empty())
      diagnostics.error("E10055", "no convolution of '" + options.model +
                                      "' can be divided so that operations are saved: kernels "
                                      "larger than 2 x 2 without groups and dilations, with "
                                      "strides below 3, are; a smaller --energy allows more");
    else
      writeBoth(*model, layers, options, diagnostics);
  }
  printMessages(diagnostics);
  if (diagnostics.hasErrors())
    return 1;
  if (options.json) {
    printLines(stdout, decomposedJson(layers) + "\n");
    return 0;
  }
  for (const DecomposedLayer &layer : layers)
    print(stdout, "'%s' is divided with %lld channels between: %.2f of the operations\n",
          oneLine(layer.name).c_str(), static_cast<long long>(layer.rank), layer.cost);
  print(stdout, "wrote %s\n", options.output.c_str());
  return 0;
}

} // namespace atc::tools
