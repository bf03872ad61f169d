//===-- Calibration.cpp - quantizes while compiling -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Calibration.h"

#include "quantize/Quantize.h"
#include "tools/amct/DataFolder.h"
#include "tools/amct/ProgressBar.h"

using namespace mlir;

namespace atc::tools {

bool quantizeImported(ModuleOp module, const AtcOptions &options, Diagnostics &diagnostics) {
  quantize::CompressionConfig config;
  if (!quantize::readCompressionConfig(options.compressionConf, config, diagnostics))
    return false;
  if (!config.inputShape.empty() &&
      parseInputShapes(config.inputShape, diagnostics) != options.inputShapes)
    diagnostics.warning("W10055", "\"calibration.input_shape\" has no effect: the data has the "
                                  "shapes that the model is compiled for (--input_shape)");
  quantize::QuantizeOptions quantize;
  quantize.name = options.model;
  quantize.config = config.quant;
  ProgressBar bar("calibrating", stderr);
  quantize.progress = [&](size_t done, size_t all) { bar.update(done, all); };
  DataFolder data(config.dataDir, config.dataType, config.quant.images);
  quantize.compare = false;
  quantize::Quantization result;
  const unsigned before = diagnostics.numErrors();
  if (quantize::quantizeModule(module, quantize, data, result, diagnostics))
    return true;
  if (diagnostics.numErrors() == before)
    diagnostics.error("E19999", "the model could not be quantized");
  return false;
}

} // namespace atc::tools
