//===-- Config.h - the settings of quantization ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_CONFIG_H
#define OPENATC_QUANTIZE_CONFIG_H

#include "frontends/ModelNodes.h"
#include "quantize/ImageOptions.h"
#include "quantize/RangeSearch.h"
#include "quantize/weights/RoundAdaptively.h"
#include "support/Diagnostics.h"

#include <functional>
#include <map>
#include <set>

namespace atc::quantize {

/// The method that rounds weights to integers: the nearest ones (arq_quantize), those that preserve
/// the products (ada_quantize), or a small set of values (nuq_quantize).
enum class WeightRounding { Nearest, Adaptive, NonUniform };

/// The settings of activations and weights that can be set per layer.
struct LayerConfig {
  bool enable = true;
  bool perChannel = true;
  /// The bits of the weights of convolutions, 6 to 8; other layers have 8.
  int64_t weightBits = 8;
  RangeOptions range;
  WeightRounding rounding = WeightRounding::Nearest;
  AdaptiveOptions adaptive;
  int64_t nonUniformSteps = 32;
  /// The exponent by which the channels of the input are balanced with the weights (dmq_balancer);
  /// without it they are balanced where that reduces the noise considerably.
  std::optional<double> migrationStrength;
};

/// Sets `image_format`, `input_format`, `mean_chn`, `min_chn`, `var_reci_chn` or `std_chn` (1 /
/// var_reci_chn) by its text or values. Returns what is wrong with the value, or an empty text.
std::string setImageOption(ImageOptions &options, llvm::StringRef key, llvm::StringRef text);
std::string setImageOption(ImageOptions &options, llvm::StringRef key,
                           llvm::ArrayRef<double> numbers);

/// Chooses the range of a tensor by the distribution of its values; nothing leaves the choice to
/// the method of its layer. Returns nothing after an error too, which it reports.
using RangeChooser = std::function<std::optional<Interval>(
    const std::string &tensor, const Histogram &histogram, Diagnostics &diagnostics)>;

/// The settings of a model.
struct QuantConfig {
  LayerConfig common;
  ImageOptions images;
  /// The settings by operator type as in the model, and by node name.
  std::map<std::string, LayerConfig> types, layers;
  /// The settings of tensors that operators without weights read, by node name and input
  /// (tensor_quantize).
  std::map<std::string, std::map<int64_t, LayerConfig>> inputs;
  std::set<std::string> skipLayers, skipTypes;
  /// The number of samples to use; 0 uses all.
  int64_t batchNum = 0;
  bool biasCorrection = true;
  /// Scale channels to similar magnitudes where that reduces the noise considerably.
  bool balance = true;
  /// Quantize the results of layers that no other layer reads, too.
  bool quantizeOutputs = false;
  /// Keep everything between a layer and its activation in float. Some runtimes compute in integers
  /// only where everything but relu and clip is between scales of its own.
  bool fuseActivations = true;
  RangeChooser chooseRange; ///< of a program that calls the library; empty: the methods choose

  /// Returns whether the node, by its name or type, is not quantized.
  bool skips(const std::string &node, const std::string &type) const;
  /// Returns the settings of a node: its own, else those of its type, else the common ones.
  const LayerConfig &of(const std::string &node, const std::string &type) const;
  /// Returns the settings of an input of a node without weights; null where there are none.
  const LayerConfig *ofInput(const std::string &node, int64_t input) const;
  /// Returns whether settings ask for a balance.
  bool balances() const;
  /// Returns the names of nodes that the settings mention.
  std::vector<std::string> layerNames() const;
  /// Replaces other names of nodes by those that the compiler calls them by.
  void resolve(const NodeAliases &aliases) {
    resolveNames(skipLayers, aliases);
    resolveNames(layers, aliases);
    resolveNames(inputs, aliases);
  }
};

/// Reads a configuration: JSON, the JSON of the vendor's tool, or its text form (`batch_num: 2
/// common_config { ... }`). Reports all errors and returns false where there are some.
bool readConfig(const std::string &path, QuantConfig &config, Diagnostics &diagnostics);
bool parseConfig(const std::string &text, const std::string &name, QuantConfig &config,
                 Diagnostics &diagnostics);

/// The settings of `atc --compression_optimize_conf`: the data and how it is used.
struct CompressionConfig {
  std::string dataDir, configFile, dataType, inputShape;
  QuantConfig quant;
};
/// Reads a configuration file. Returns false after an error, also one that names an unknown field.
bool readCompressionConfig(const std::string &path, CompressionConfig &config,
                           Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_CONFIG_H
