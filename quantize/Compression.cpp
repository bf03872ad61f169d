//===-- Compression.cpp - quantizes while compiling -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Compression.h"

#include "frontends/onnx/OnnxImport.h"
#include "quantize/DataFolder.h"
#include "quantize/Quantize.h"

using namespace mlir;

namespace atc::quantize {

driver::Quantizer makeQuantizer(std::string configPath, const driver::ModelSource &source,
                                Progress progress) {
  return [configPath = std::move(configPath), name = source.path, shapes = source.inputShapes,
          isOnnx = source.format == driver::ModelFormat::Onnx, bytes = source.bytes,
          progress = std::move(progress)](ModuleOp module, Diagnostics &diagnostics) {
    CompressionConfig config;
    if (!readCompressionConfig(configPath, config, diagnostics))
      return false;
    if (!config.inputShape.empty() && parseInputShapes(config.inputShape, diagnostics) != shapes)
      diagnostics.warning("W10055", "\"calibration.input_shape\" has no effect: the data has the "
                                    "shapes that the model is compiled for (--input_shape)");
    QuantizeOptions options;
    options.name = name;
    options.config = config.quant;
    if (isOnnx && !config.quant.layerNames().empty())
      options.config.resolve(listAliases(listOnnxNodes(name, bytes, diagnostics)));
    options.progress = progress;
    options.compare = false;
    DataFolder data(config.dataDir, config.dataType, config.quant.images);
    Quantization result;
    return quantizeModule(module, options, data, result, diagnostics);
  };
}

} // namespace atc::quantize
