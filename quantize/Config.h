//===-- Config.h - how a model is quantized -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_CONFIG_H
#define OPENATC_QUANTIZE_CONFIG_H

#include "quantize/RangeSearch.h"
#include "support/Diagnostics.h"

#include <map>
#include <set>

namespace atc::quantize {

/// The settings of activations and weights that a layer can have of its own.
struct LayerConfig {
  bool enable = true;
  bool perChannel = true;
  RangeOptions range;
};

/// How the pixels of an image file become numbers of an input, as AIPP does it:
/// (pixel - mean - min) * factor. Each list has a number for each channel of the
/// model, or one for all of them; an empty one changes nothing.
struct ImageOptions {
  enum class Colors { Default, Rgb, Bgr, Gray };
  enum class Layout { Default, Nchw, Nhwc };
  Colors colors = Colors::Default; ///< RGB, or gray for an input with one channel
  Layout layout = Layout::Default; ///< where the channels are; told by the shape
  std::vector<double> mean, min, factor;
};

/// Sets `image_format`, `input_format`, `mean_chn`, `min_chn`, `var_reci_chn` or
/// `std_chn` (1 / var_reci_chn) by its text or numbers. What is wrong with the value,
/// or nothing.
std::string setImageOption(ImageOptions &options, llvm::StringRef key, llvm::StringRef text);
std::string setImageOption(ImageOptions &options, llvm::StringRef key,
                           llvm::ArrayRef<double> numbers);

struct QuantConfig {
  LayerConfig common;
  ImageOptions images;
  /// By operator type as the model has it, and by the node's name.
  std::map<std::string, LayerConfig> types, layers;
  std::set<std::string> skipLayers, skipTypes;
  /// How many samples are used; 0 takes all.
  int64_t batchNum = 0;
  bool biasCorrection = true;
  /// Bring channels to like sizes where that makes the noise much smaller.
  bool balance = true;
  /// Layers whose results no other layer needs give integers too.
  bool quantizeOutputs = false;
  /// What is between a layer and its activation, whatever that is, stays float. Some
  /// runtimes compute in integers only where all but relu and clip is between scales of
  /// its own.
  bool fuseActivations = true;

  bool skips(const std::string &node, const std::string &type) const;
  const LayerConfig &of(const std::string &node, const std::string &type) const;
  /// The names of nodes that stand in it.
  std::vector<std::string> layerNames() const;
};

/// Reads a configuration: JSON, the JSON that the vendor's tool makes, or its
/// text form (`batch_num: 2 common_config { ... }`). All faults are told; false then.
bool readConfig(const std::string &path, QuantConfig &config, Diagnostics &diagnostics);
bool parseConfig(const std::string &text, const std::string &name, QuantConfig &config,
                 Diagnostics &diagnostics);

/// What `atc --compression_optimize_conf` reads: where the data is and how it is used.
struct CompressionConfig {
  std::string dataDir, configFile, dataType, inputShape;
  QuantConfig quant;
};
bool readCompressionConfig(const std::string &path, CompressionConfig &config,
                           Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_CONFIG_H
