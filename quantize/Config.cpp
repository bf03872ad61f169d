//===-- Config.cpp - how a model is quantized -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Config.h"

#include "frontends/ModelFile.h"
#include "quantize/SettingsReader.h"
#include "quantize/SettingsText.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace atc::quantize {

namespace {

using Json = nlohmann::json;

/// Makes what is said of a type of the vendor's operators hold for those of the models: files name
/// `MatMulV2` where an ONNX model has MatMul and Gemm.
void addModelTypes(QuantConfig &config) {
  static constexpr std::pair<const char *, const char *> names[] = {
      {"Conv2D", "Conv"},
      {"Conv3D", "Conv"},
      {"DepthwiseConv2D", "Conv"},
      {"DepthwiseConv2D", "DepthwiseConv2dNative"},
      {"Conv2DTranspose", "ConvTranspose"},
      {"Deconvolution", "ConvTranspose"},
      {"MatMulV2", "MatMul"},
      {"MatMulV2", "Gemm"},
      {"BatchMatMulV2", "MatMul"},
      {"FullyConnection", "Gemm"}};
  for (const auto &[vendor, model] : names) {
    if (config.skipTypes.count(vendor))
      config.skipTypes.insert(model);
    if (auto found = config.types.find(vendor); found != config.types.end())
      config.types.emplace(model, found->second);
  }
}

/// Parses one configuration.
class Reader : public SettingsReader {
public:
  using SettingsReader::SettingsReader;

  void readTop(const Json &json, QuantConfig &config);

private:
  /// Reads a setting of all layers, or of the whole model. Returns false for other keys.
  bool readCommon(const std::string &key, const Json &value, QuantConfig &config);
  /// Reports a setting that others have and that has no effect, or is not supported, here. Returns
  /// false for other keys.
  bool readForeign(const std::string &key, const Json &value);
  /// Reads settings of some layers, which inherit the common ones.
  void readOfLayers(const std::string &key, const Json &value, QuantConfig &config);
  void readLayer(const Json &json, const std::string &path, LayerConfig &config);
  bool readSetting(const std::string &key, const Json &value, const std::string &path,
                   LayerConfig &config);
  bool readDetail(const std::string &key, const Json &value, const std::string &path,
                  LayerConfig &config);
  bool readWeightSetting(const std::string &key, const Json &value, const std::string &path,
                         LayerConfig &config);
  void setAlgorithm(const std::string &name, const std::string &path, LayerConfig &config);
  bool readImageSetting(const std::string &key, const Json &value, ImageOptions &options);
  void readOverrides(const Json &json, const std::string &key, const char *nameKey,
                     const LayerConfig &common, std::map<std::string, LayerConfig> &into);
  void readInputs(const Json &json, const std::string &key, QuantConfig &config);
};

/// Returns false where there is no such setting.
bool Reader::readSetting(const std::string &key, const Json &value, const std::string &path,
                         LayerConfig &config) {
  RangeOptions &range = config.range;
  if (key == "method") {
    std::string word;
    if (!readText(value, path, word))
      return true;
    if (auto method = findMethod(word))
      range.method = *method;
    else
      addError(path, "must be minmax, percentile, kl or mse, not \"" + word + "\"");
  } else if (key == "activation_type" || key == "dst_type") {
    std::string word;
    if (!readText(value, path, word))
      return true;
    if (word == "int8" || word == "INT8" || word == "uint8" || word == "UINT8")
      range.isSigned = word == "int8" || word == "INT8";
    else
      addError(path, "must be int8 or uint8, not \"" + word + "\"");
  } else if (key == "activation_offset" || key == "asymmetric") {
    bool offset = !range.symmetric;
    if (readBool(value, path, offset))
      range.symmetric = !offset;
  } else if (key == "symmetric") {
    readBool(value, path, range.symmetric);
  } else if (key == "channel_wise") {
    readBool(value, path, config.perChannel);
  } else if (key == "quant_enable") {
    readBool(value, path, config.enable);
  } else {
    return readDetail(key, value, path, config);
  }
  return true;
}

bool Reader::readDetail(const std::string &key, const Json &value, const std::string &path,
                        LayerConfig &config) {
  RangeOptions &range = config.range;
  if (key == "percentile") {
    if (readNumber(value, path, 0.5, 1, range.maxPercentile))
      range.minPercentile = range.maxPercentile;
  } else if (key == "max_percentile") {
    readNumber(value, path, 0.5, 1, range.maxPercentile);
  } else if (key == "min_percentile") {
    readNumber(value, path, 0.5, 1, range.minPercentile);
  } else if (key == "search_range") {
    if (!value.is_array() || value.size() != 2)
      addError(path, "must be two numbers");
    else if (readNumber(value[0], path, 0.01, 10, range.searchStart) &&
             readNumber(value[1], path, 0.01, 10, range.searchEnd) &&
             range.searchStart > range.searchEnd)
      addError(path, "must have the smaller number first");
  } else if (key == "search_range_start") {
    readNumber(value, path, 0.01, 10, range.searchStart);
  } else if (key == "search_range_end") {
    readNumber(value, path, 0.01, 10, range.searchEnd);
  } else if (key == "search_step") {
    readNumber(value, path, 0.0001, 1, range.searchStep);
  } else if (key == "num_of_bins") {
    // The histogram has as many as the finest setting there.
    double bins = 0;
    readNumber(value, path, 1024, 8192, bins);
  } else if (key == "act_algo" || key == "wts_algo") {
    if (std::string word; readText(value, path, word))
      setAlgorithm(word, path, config);
  } else if (key == "num_bits" || key == "quant_bits") {
    // Activations have 8 bits always.
    const bool isOfWeights = key == "quant_bits" || path.ends_with("weight_quant_params.num_bits");
    double bits = 8;
    if (readNumber(value, path, isOfWeights ? 6 : 8, 8, bits) && isOfWeights) {
      if (bits != std::floor(bits))
        addError(path, "must be 6, 7 or 8");
      config.weightBits = static_cast<int64_t>(bits);
    }
  } else if (key == "weight_compress_only") {
    bool only = false;
    if (readBool(value, path, only) && only)
      addError(path, "is not supported: activations are quantized, too; `amct weights "
                     "--weight_only=int8` stores only weights in 8 bits");
  } else {
    return readWeightSetting(key, value, path, config);
  }
  return true;
}

/// Selects an algorithm by the name that groups of settings and `wts_algo` have.
void Reader::setAlgorithm(const std::string &name, const std::string &path, LayerConfig &config) {
  if (name == "ifmr" || name == "hfmg" || name == "ifmr_quantize" || name == "hfmg_quantize")
    config.range.method = RangeMethod::Mse;
  else if (name == "arq_quantize")
    config.rounding = WeightRounding::Nearest;
  else if (name == "ada_quantize")
    config.rounding = WeightRounding::Adaptive;
  else if (name == "nuq_quantize")
    config.rounding = WeightRounding::NonUniform;
  else
    addError(path, "\"" + name +
                       "\" is not supported; supported are ifmr, hfmg, arq_quantize, "
                       "ada_quantize and nuq_quantize");
}

/// False when there is no such setting.
bool Reader::readWeightSetting(const std::string &key, const Json &value, const std::string &path,
                               LayerConfig &config) {
  AdaptiveOptions &adaptive = config.adaptive;
  double given = 0;
  if (key == "num_iteration") {
    if (readNumber(value, path, 1, 1e7, given))
      adaptive.iterations = static_cast<int64_t>(given);
  } else if (key == "reg_param") {
    readNumber(value, path, 1e-6, 1, adaptive.regularization);
  } else if (key == "beta_range_start") {
    readNumber(value, path, 1, 100, adaptive.betaStart);
  } else if (key == "beta_range_end") {
    readNumber(value, path, 1, 100, adaptive.betaEnd);
  } else if (key == "beta_range") {
    if (!value.is_array() || value.size() != 2)
      addError(path, "must be two numbers");
    else if (readNumber(value[0], path, 1, 100, adaptive.betaStart))
      readNumber(value[1], path, 1, 100, adaptive.betaEnd);
  } else if (key == "warm_start") {
    readNumber(value, path, 0, 1, adaptive.warmStart);
  } else if (key == "num_steps") {
    if (readNumber(value, path, 16, 32, given)) {
      if (given != 16 && given != 32)
        addError(path, "must be 16 or 32");
      config.nonUniformSteps = static_cast<int64_t>(given);
    }
  } else if (key == "num_of_iteration") {
    // The search finds the best steps, however often it were repeated.
    readNumber(value, path, 0, 5, given);
  } else if (key == "migration_strength" || key == "dmq_balancer_param") {
    if (readNumber(value, path, 0.2, 0.8, given))
      config.migrationStrength = given;
  } else {
    return false;
  }
  return true;
}

void Reader::readLayer(const Json &json, const std::string &path, LayerConfig &config) {
  if (!isObject(json, path))
    return;
  for (const auto &[key, value] : json.items()) {
    const std::string inner = path + "." + key;
    const bool isGroup = key == "activation_quant_params" || key == "weight_quant_params" ||
                         key == "arq_quantize" || key == "ifmr_quantize" ||
                         key == "hfmg_quantize" || key == "ada_quantize" || key == "nuq_quantize" ||
                         key == "dmq_balancer" || key == "calibration_config";
    if (key == "dmq_balancer")
      config.migrationStrength = 0.5;
    else if (isGroup && key.ends_with("_quantize"))
      setAlgorithm(key, inner, config);
    if (isGroup && value.is_array()) {
      for (const Json &item : value)
        readLayer(item, inner, config);
    } else if (isGroup) {
      readLayer(value, inner, config);
    } else if (key == "asymmetric" && path.ends_with("arq_quantize")) {
      // Here the key stands for weights, not for activations.
      bool asymmetric = false;
      if (readBool(value, inner, asymmetric) && asymmetric)
        addError(inner, "must be false: weights have no offset");
    } else if (!readSetting(key, value, inner, config)) {
      addUnknown(inner);
    }
  }
}

void Reader::readOverrides(const Json &json, const std::string &key, const char *nameKey,
                           const LayerConfig &common, std::map<std::string, LayerConfig> &into) {
  auto readNamed = [&](const Json &item) {
    if (!item.is_object() || !item.contains(nameKey)) {
      addError(key, std::string("must have a ") + nameKey);
      return;
    }
    std::set<std::string> names;
    readNames(item[nameKey], key + "." + nameKey, names);
    Json settings = item;
    settings.erase(nameKey);
    LayerConfig config = common;
    readLayer(settings, key, config);
    for (const std::string &each : names)
      into[each] = config;
  };
  if (json.is_array()) {
    for (const Json &item : json)
      readNamed(item);
  } else if (json.is_object() && (json.contains(nameKey) || json.contains("calibration_config"))) {
    readNamed(json);
  } else if (json.is_object()) {
    for (const auto &[name, settings] : json.items()) {
      LayerConfig config = common;
      readLayer(settings, key + "." + name, config);
      into[name] = config;
    }
  } else {
    addError(key, "must be settings in { }");
  }
}

/// Reads `tensor_quantize`: a node, one of its inputs, and how the range of that is chosen.
void Reader::readInputs(const Json &json, const std::string &key, QuantConfig &config) {
  for (const Json &item : json.is_array() ? json : Json::array({json})) {
    std::string node;
    double index = 0;
    if (!isObject(item, key) ||
        !readText(item.value("layer_name", Json()), key + ".layer_name", node) ||
        !readNumber(item.value("input_index", Json()), key + ".input_index", 0, 1e6, index))
      continue;
    Json settings = item;
    settings.erase("layer_name");
    settings.erase("input_index");
    LayerConfig &input = config.inputs[node][static_cast<int64_t>(index)];
    input = config.common;
    readLayer(settings, key, input);
  }
}

/// False when there is no such setting.
bool Reader::readImageSetting(const std::string &key, const Json &value, ImageOptions &options) {
  std::string wrong;
  if (key == "image_format" || key == "input_format") {
    if (std::string word; readText(value, key, word))
      wrong = setImageOption(options, key, word);
  } else if (key == "mean_chn" || key == "min_chn" || key == "var_reci_chn" || key == "std_chn") {
    std::vector<double> numbers;
    for (const Json &item : value.is_array() ? value : Json::array({value})) {
      if (!item.is_number())
        wrong = "must be a number, or one for each channel";
      else
        numbers.push_back(item.get<double>());
    }
    if (wrong.empty())
      wrong = setImageOption(options, key, numbers);
  } else if (const size_t at = key.find("_chn_"); at != std::string::npos) {
    // AIPP's way to write them: mean_chn_0, mean_chn_1, mean_chn_2.
    const std::string number = key.substr(at + 5);
    if (number.size() != 1 || number[0] < '0' || number[0] > '2')
      return false;
    std::vector<double> *list = key.starts_with("mean")  ? &options.mean
                                : key.starts_with("min") ? &options.min
                                : key.starts_with("var") ? &options.factor
                                                         : nullptr;
    if (!list ||
        (key.compare(0, at, "mean") && key.compare(0, at, "min") && key.compare(0, at, "var_reci")))
      return false;
    if (!value.is_number()) {
      addError(key, "must be a number");
      return true;
    }
    // Channels without a value are not changed.
    const size_t channel = number[0] - '0';
    list->resize(3, list == &options.factor ? 1 : 0);
    (*list)[channel] = value.get<double>();
  } else {
    return false;
  }
  if (!wrong.empty())
    addError(key, wrong);
  return true;
}

bool Reader::readCommon(const std::string &key, const Json &value, QuantConfig &config) {
  if (key == "batch_num") {
    double count = 0;
    if (readNumber(value, key, 1, 1e9, count))
      config.batchNum = static_cast<int64_t>(count);
  } else if (key == "common_config") {
    readLayer(value, key, config.common);
  } else if (key == "skip_layers") {
    readNames(value, key, config.skipLayers);
  } else if (key == "skip_layer_types") {
    readNames(value, key, config.skipTypes);
  } else if (key == "bias_correction") {
    readBool(value, key, config.biasCorrection);
  } else if (key == "balance") {
    readBool(value, key, config.balance);
  } else if (key == "quantize_outputs") {
    readBool(value, key, config.quantizeOutputs);
  } else if (key == "fuse_activations") {
    readBool(value, key, config.fuseActivations);
  } else {
    return !value.is_object() && (readSetting(key, value, key, config.common) ||
                                  readImageSetting(key, value, config.images));
  }
  return true;
}

bool Reader::readForeign(const std::string &key, const Json &value) {
  if (key == "do_fusion") {
    bool fuses = true;
    if (readBool(value, key, fuses) && !fuses)
      diagnostics.warning("W10055", "\"do_fusion\": false has no effect: batch normalizations "
                                    "are folded into the weights");
  } else if (key == "skip_fusion_layers") {
    std::set<std::string> layers;
    readNames(value, key, layers);
    if (!layers.empty())
      diagnostics.warning("W10055", "\"skip_fusion_layers\" has no effect");
  } else if (key == "version") {
    return true;
  } else if (key == "enable_auto_nuq") {
    bool searches = false;
    if (readBool(value, key, searches) && searches)
      diagnostics.warning("W10055", "\"enable_auto_nuq\" has no effect: \"nuq_quantize\" selects "
                                    "the layers");
  } else if (key == "joint_quant") {
    bool joint = false;
    if (readBool(value, key, joint) && joint)
      diagnostics.warning("W10055", "\"joint_quant\" has no effect: the inputs of an addition "
                                    "have scales of their own");
  } else if (key == "fakequant_precision_mode" || key == "nuq_config") {
    addError(key, key == "nuq_config" ? "is not supported: no list of compressed layers is read; "
                                        "\"nuq_quantize\" selects the layers"
                                      : "is not supported: scales are float32; leave the key out");
  } else {
    return false;
  }
  return true;
}

void Reader::readOfLayers(const std::string &key, const Json &value, QuantConfig &config) {
  // Older files set convolutions and products apart; overrides come behind, by their letters.
  if (key == "conv_calibration_config" || key == "fc_calibration_config") {
    LayerConfig kind = config.common;
    readLayer(value, key, kind);
    for (const char *type :
         key[0] == 'c' ? std::array{"Conv", "ConvTranspose"} : std::array{"Gemm", "MatMul"})
      config.types[type] = kind;
  } else if (key == "override_layer_types") {
    readOverrides(value, key, "layer_type", config.common, config.types);
  } else if (key == "override_layer_configs") {
    readOverrides(value, key, "layer_name", config.common, config.layers);
  } else if (key == "tensor_quantize") {
    readInputs(value, key, config);
  } else if (value.is_object() &&
             (value.contains("quant_enable") || value.contains("activation_quant_params") ||
              value.contains("weight_quant_params"))) {
    LayerConfig layer = config.common; // the vendor's JSON lists the layers at the top
    readLayer(value, key, layer);
    config.layers[key] = layer;
  } else {
    addUnknown(key);
  }
}

void Reader::readTop(const Json &json, QuantConfig &config) {
  if (!json.is_object()) {
    diagnostics.error("E13005", "the file \"" + name +
                                    "\" is no configuration: it must be settings "
                                    "in { }");
    return;
  }
  // Common settings first: the others inherit them, wherever they are in the file.
  std::map<std::string, Json> later;
  for (const auto &[key, value] : json.items())
    if (!readForeign(key, value) && !readCommon(key, value, config))
      later[key] = value;
  for (const auto &[key, value] : later)
    readOfLayers(key, value, config);
  addModelTypes(config);
}

/// Returns the text with quotes around a value that stands alone on its line, has no space and is
/// no word or number: files of paths and shapes are written without them (`input_data_dir:
/// ./data`).
std::string quoteBareValues(llvm::StringRef text) {
  std::string quoted;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    auto [key, value] = line.split(':');
    value = value.trim();
    const bool isBare = !key.trim().empty() && !value.empty() &&
                        key.find_first_of("\"#{[") == llvm::StringRef::npos &&
                        value.find_first_of("\"'{}[]# \t") == llvm::StringRef::npos &&
                        value.find_first_of("./,:;~-") != llvm::StringRef::npos;
    double number;
    if (isBare && value.getAsDouble(number))
      quoted += (key + ": \"" + value + "\"\n").str();
    else
      quoted += (line + "\n").str();
  }
  return quoted;
}

bool readFile(const std::string &path, std::string &text, Diagnostics &diagnostics) {
  auto buffer = readWholeFile(path, diagnostics);
  if (!buffer)
    return false;
  text = buffer->getBuffer().str();
  return true;
}

} // namespace

std::string setImageOption(ImageOptions &options, llvm::StringRef key, llvm::StringRef text) {
  using Colors = ImageOptions::Colors;
  using Layout = ImageOptions::Layout;
  const std::string word = text.upper();
  if (key == "image_format") {
    options.colors = word == "RGB"    ? Colors::Rgb
                     : word == "BGR"  ? Colors::Bgr
                     : word == "GRAY" ? Colors::Gray
                                      : Colors::Default;
    return options.colors == Colors::Default ? "must be RGB, BGR or GRAY" : "";
  }
  options.layout = word == "NCHW" ? Layout::Nchw : word == "NHWC" ? Layout::Nhwc : Layout::Default;
  return options.layout == Layout::Default ? "must be NCHW or NHWC" : "";
}

std::string setImageOption(ImageOptions &options, llvm::StringRef key,
                           llvm::ArrayRef<double> numbers) {
  if (numbers.size() != 1 && numbers.size() != 3)
    return "must be one number, or one for each of 3 channels";
  std::vector<double> values(numbers.begin(), numbers.end());
  for (double &value : values) {
    if (!std::isfinite(value) || (key == "std_chn" && !(value > 0)))
      return key == "std_chn" ? "must be positive" : "must be finite";
    if (key == "std_chn")
      value = 1 / value;
  }
  (key == "mean_chn" ? options.mean : key == "min_chn" ? options.min : options.factor) = values;
  return "";
}

bool QuantConfig::balances() const {
  auto asks = [](const auto &entry) { return entry.second.migrationStrength.has_value(); };
  return balance || common.migrationStrength || std::any_of(types.begin(), types.end(), asks) ||
         std::any_of(layers.begin(), layers.end(), asks);
}

bool QuantConfig::skips(const std::string &node, const std::string &type) const {
  return skipLayers.count(node) || skipTypes.count(type) || !of(node, type).enable;
}

const LayerConfig &QuantConfig::of(const std::string &node, const std::string &type) const {
  if (auto own = layers.find(node); own != layers.end())
    return own->second;
  if (auto ofType = types.find(type); ofType != types.end())
    return ofType->second;
  return common;
}

const LayerConfig *QuantConfig::ofInput(const std::string &node, int64_t input) const {
  auto ofNode = inputs.find(node);
  if (ofNode == inputs.end())
    return nullptr;
  auto own = ofNode->second.find(input);
  return own == ofNode->second.end() ? nullptr : &own->second;
}

std::vector<std::string> QuantConfig::layerNames() const {
  std::vector<std::string> names(skipLayers.begin(), skipLayers.end());
  for (const auto &[name, config] : layers)
    names.push_back(name);
  for (const auto &[name, config] : inputs)
    names.push_back(name);
  return names;
}

bool parseConfig(const std::string &text, const std::string &name, QuantConfig &config,
                 Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  Json json;
  if (parseSettings(text, name, json, diagnostics))
    Reader(name, diagnostics).readTop(json, config);
  return diagnostics.numErrors() == before;
}

bool readConfig(const std::string &path, QuantConfig &config, Diagnostics &diagnostics) {
  std::string text;
  return readFile(path, text, diagnostics) && parseConfig(text, path, config, diagnostics);
}

bool readCompressionConfig(const std::string &path, CompressionConfig &config,
                           Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  std::string content;
  Json json;
  if (!readFile(path, content, diagnostics) ||
      !parseSettings(quoteBareValues(content), path, json, diagnostics))
    return false;
  Reader reader(path, diagnostics);
  Json quant = Json::object();
  for (const auto &[key, value] : json.items()) {
    if (key == "enable_first_layer_quantization") {
      diagnostics.warning("W10055", "\"" + key +
                                        "\" has no effect: the first layer is quantized like "
                                        "others; \"skip_layers\" keeps it in floats");
      continue;
    }
    if (key != "calibration" || !value.is_object()) {
      reader.addUnknown(key);
      continue;
    }
    for (const auto &[inner, setting] : value.items()) {
      const std::string where = "calibration." + inner;
      if (inner == "input_data_dir")
        reader.readText(setting, where, config.dataDir);
      else if (inner == "config_file")
        reader.readText(setting, where, config.configFile);
      else if (inner == "input_shape")
        reader.readText(setting, where, config.inputShape);
      else if (inner == "data_type")
        reader.readText(setting, where, config.dataType);
      else if (inner == "infer_soc" || inner == "infer_aicore_num" || inner == "infer_device_id" ||
               inner == "infer_ip" || inner == "infer_port" || inner == "log")
        diagnostics.warning("W10055", "\"" + where +
                                          "\" has no effect: the data is run on this "
                                          "machine's CPU");
      else
        quant[inner] = setting;
    }
  }
  if (config.dataDir.empty())
    diagnostics.error("E10007",
                      "the file \"" + path +
                          "\" must name a folder: calibration { input_data_dir: \"...\" }");
  if (!config.configFile.empty())
    readConfig(config.configFile, config.quant, diagnostics);
  reader.readTop(quant, config.quant);
  return diagnostics.numErrors() == before;
}

} // namespace atc::quantize
