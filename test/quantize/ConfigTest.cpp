//===-- ConfigTest.cpp - configurations in all their forms ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Config.h"

#include <catch2/catch.hpp>

using namespace atc::quantize;
using atc::Diagnostics;

static QuantConfig parse(const std::string &text, Diagnostics &diagnostics) {
  QuantConfig config;
  parseConfig(text, "test.cfg", config, diagnostics);
  return config;
}

static QuantConfig parseGood(const std::string &text) {
  Diagnostics diagnostics;
  QuantConfig config = parse(text, diagnostics);
  for (const atc::CodedMessage &message : diagnostics.all())
    UNSCOPED_INFO(message.code << ": " << message.text);
  CHECK(!diagnostics.hasErrors());
  return config;
}

TEST_CASE("JSON") {
  const QuantConfig config = parseGood(R"({
    "method": "kl", "symmetric": true, "activation_type": "uint8", "batch_num": 7,
    "skip_layers": ["conv1"], "skip_layer_types": ["Gemm"], "bias_correction": false,
    "search_range": [0.5, 1.1], "search_step": 0.05,
    "override_layer_types": {"MatMul": {"channel_wise": false}},
    "override_layer_configs": {"conv2": {"method": "minmax"}}})");
  CHECK(config.common.range.method == RangeMethod::Kl);
  CHECK(config.common.range.symmetric);
  CHECK(!config.common.range.isSigned);
  CHECK(config.common.range.searchStart == 0.5);
  CHECK(config.common.range.searchStep == 0.05);
  CHECK(config.batchNum == 7);
  CHECK(!config.biasCorrection);
  CHECK(config.skips("conv1", "Conv"));
  CHECK(config.skips("any", "Gemm"));
  CHECK(!config.skips("conv2", "Conv"));
  CHECK(config.of("conv2", "Conv").range.method == RangeMethod::MinMax);
  CHECK(config.of("conv2", "Conv").range.symmetric); // the rest as for all
  CHECK(!config.of("x", "MatMul").perChannel);
}

TEST_CASE("the vendor's text form") {
  const QuantConfig config = parseGood(R"(
    # comment
    batch_num : 2
    activation_offset : false
    skip_layers : "a"
    skip_layers : "b"
    skip_layer_types:"Conv"
    common_config : {
      arq_quantize : { channel_wise : false }
      ifmr_quantize : { search_range_start : 0.8 search_range_end : 1.2 search_step : 0.02
                        max_percentile : 0.9999 min_percentile : 0.999 asymmetric : true }
    }
    override_layer_configs : {
      layer_name : "fc"
      calibration_config : { arq_quantize : { channel_wise : true } }
    })");
  CHECK(config.batchNum == 2);
  CHECK(config.skipLayers == std::set<std::string>{"a", "b"});
  CHECK(config.common.range.method == RangeMethod::Mse);
  CHECK(config.common.range.searchEnd == 1.2);
  CHECK(config.common.range.maxPercentile == 0.9999);
  CHECK(config.common.range.minPercentile == 0.999);
  CHECK(!config.common.perChannel);
  CHECK(config.of("fc", "Gemm").perChannel);
}

TEST_CASE("the vendor's JSON lists layers") {
  const QuantConfig config = parseGood(R"({
    "version": 1, "batch_num": 1, "activation_offset": true, "do_fusion": true,
    "skip_fusion_layers": [],
    "conv1": {"quant_enable": false},
    "conv2": {"quant_enable": true,
      "activation_quant_params": [{"num_bits": 8, "act_algo": "ifmr", "asymmetric": false,
                                   "search_range": [0.7, 1.3], "search_step": 0.01}],
      "weight_quant_params": [{"num_bits": 8, "wts_algo": "arq_quantize", "channel_wise": true}]}})");
  CHECK(config.skips("conv1", "Conv"));
  CHECK(!config.skips("conv2", "Conv"));
  CHECK(config.of("conv2", "Conv").range.symmetric);
  CHECK(!config.common.range.symmetric);
}

TEST_CASE("all errors are told at once") {
  Diagnostics diagnostics;
  parse(R"({"method": "best", "batch_num": -1, "search_range": [2, 1], "symetric": true,
            "common_config": {"num_bits": 4, "wts_algo": "any_quantize"}})",
        diagnostics);
  std::string all;
  for (const atc::CodedMessage &message : diagnostics.all()) {
    CHECK(message.code == "E10001");
    all += message.text + "\n";
  }
  for (const char *key :
       {"method", "batch_num", "search_range", "symetric", "num_bits", "any_quantize"})
    CHECK_THAT(all, Catch::Contains(key));
  CHECK(diagnostics.numErrors() == 6);
}

TEST_CASE("text that is no configuration") {
  const std::pair<const char *, const char *> cases[] = {
      {"{\"batch_num\": ", "E10032"},
      {"batch_num : {", "E13018"},
      {"batch_num : 2 }", "E13018"},
      {"skip_layers : \"conv", "E13018"},
      {"batch_num", "E13018"},
      {": 3", "E13018"},
      {"skip_layers : [[[1]]]", "E13018"},
      {"common_config : 3", "E10001"},
      {"override_layer_configs : { calibration_config : { } }", "E10001"}};
  for (const auto &[text, code] : cases) {
    INFO(text);
    Diagnostics diagnostics;
    parse(text, diagnostics);
    REQUIRE(diagnostics.numErrors() >= 1);
    CHECK(diagnostics.all().front().code == code);
  }
  Diagnostics diagnostics;
  parse("a " + std::string(100000, '{'), diagnostics);
  CHECK(diagnostics.hasErrors());
}

TEST_CASE("how images become inputs") {
  using Colors = ImageOptions::Colors;
  const ImageOptions json = parseGood(R"({"image_format": "bgr", "input_format": "NHWC",
      "mean_chn": [1.5, 2, 3], "min_chn": 4, "std_chn": 4})")
                                .images;
  CHECK(json.colors == Colors::Bgr);
  CHECK(json.layout == ImageOptions::Layout::Nhwc);
  CHECK(json.mean == std::vector<double>{1.5, 2, 3});
  CHECK(json.min == std::vector<double>{4});
  CHECK(json.factor == std::vector<double>{0.25});
  // AIPP's keys; what is not said of a channel changes nothing.
  const ImageOptions aipp =
      parseGood("mean_chn_1: 7 var_reci_chn_2: 0.5 image_format: GRAY").images;
  CHECK(aipp.mean == std::vector<double>{0, 7, 0});
  CHECK(aipp.factor == std::vector<double>{1, 1, 0.5});
  CHECK(aipp.colors == Colors::Gray);
  Diagnostics diagnostics;
  parse(R"({"image_format": "YUV", "input_format": 3, "mean_chn": [1, 2], "std_chn": 0,
            "var_reci_chn": ["x"], "mean_chn_3": 1, "st_chn_0": 1, "mean_chn_0": "x"})",
        diagnostics);
  CHECK(diagnostics.numErrors() == 8);
}

TEST_CASE("the example of the vendor's documents") {
  const QuantConfig config = parseGood(R"(
    activation_offset : true
    joint_quant : false
    enable_auto_nuq : false
    version : 1
    skip_layers : ["a", "b"]
    skip_layer_types: "MatMulV2"
    do_fusion: true
    common_config : {
      weight_compress_only : false
      arq_quantize : { channel_wise : true quant_bits : 7 asymmetric : false }
      ifmr_quantize : { search_step : 0.01 }
    }
    override_layer_types : {
      layer_type : "Conv2D"
      calibration_config : { arq_quantize : { quant_bits : 6 } }
    }
    tensor_quantize {
      layer_name: "pool"
      input_index: 0
      ifmr_quantize: { search_range_start : 0.8 asymmetric : false }
    }
    tensor_quantize { layer_name: "add" input_index: 1 })");
  CHECK(config.skipLayers == std::set<std::string>{"a", "b"});
  // Types are the vendor's or those of the model.
  CHECK((config.skips("x", "MatMul") && config.skips("x", "Gemm") && !config.skips("x", "Conv")));
  CHECK(config.of("x", "Conv").weightBits == 6);
  CHECK(config.of("x", "ConvTranspose").weightBits == 7);
  // The symmetry of weights is not that of activations.
  CHECK(!config.common.range.symmetric);
  REQUIRE(config.ofInput("pool", 0));
  CHECK(config.ofInput("pool", 0)->range.symmetric);
  CHECK(config.ofInput("pool", 0)->range.searchStart == 0.8);
  CHECK(config.ofInput("add", 1));
  CHECK((!config.ofInput("add", 0) && !config.ofInput("x", 0)));
  CHECK(config.layerNames() == std::vector<std::string>{"a", "b", "add", "pool"});
}

TEST_CASE("algorithms of weights") {
  const QuantConfig config = parseGood(R"(
    common_config {
      ada_quantize { num_iteration: 500 reg_param: 0.02 beta_range_start: 18 beta_range_end: 3
                     warm_start: 0.1 channel_wise: false }
      dmq_balancer { }
    }
    override_layer_configs { layer_name: "a" calibration_config {
      nuq_quantize { num_steps: 16 num_of_iteration: 1 } dmq_balancer { migration_strength: 0.7 } } }
    override_layer_types { layer_type: "Gemm" calibration_config {
      arq_quantize { channel_wise: true } } })");
  CHECK(config.common.rounding == WeightRounding::Adaptive);
  CHECK(config.common.adaptive.iterations == 500);
  CHECK(config.common.adaptive.regularization == 0.02);
  CHECK(config.common.adaptive.betaStart == 18);
  CHECK(config.common.adaptive.betaEnd == 3);
  CHECK(config.common.adaptive.warmStart == 0.1);
  CHECK(!config.common.perChannel);
  CHECK(config.common.migrationStrength == 0.5);
  CHECK(config.of("a", "Conv").rounding == WeightRounding::NonUniform);
  CHECK(config.of("a", "Conv").nonUniformSteps == 16);
  CHECK(config.of("a", "Conv").migrationStrength == 0.7);
  CHECK(config.of("x", "Gemm").rounding == WeightRounding::Nearest);
  // Older files have groups for convolutions and for products; overrides win.
  const QuantConfig older = parseGood(R"(
    fc_calibration_config : { arq_quantize : { channel_wise : false } }
    conv_calibration_config : { nuq_quantize : { num_steps : 16 } ifmr_quantize : { search_step : 0.5 } }
    override_layer_types { layer_type: "ConvTranspose" calibration_config { arq_quantize { } } })");
  CHECK(older.of("x", "Conv").rounding == WeightRounding::NonUniform);
  CHECK(older.of("x", "Conv").range.searchStep == 0.5);
  CHECK(older.of("x", "ConvTranspose").rounding == WeightRounding::Nearest);
  CHECK((!older.of("x", "Gemm").perChannel && !older.of("x", "MatMul").perChannel));
  CHECK(older.common.perChannel);
  const QuantConfig json = parseGood(R"({"conv1": {"quant_enable": true,
    "weight_quant_params": {"num_bits": 8, "wts_algo": "ada_quantize", "num_iteration": 9,
                            "beta_range": [10, 4]}, "dmq_balancer_param": 0.3}})");
  CHECK(json.of("conv1", "Conv").adaptive.iterations == 9);
  CHECK(json.of("conv1", "Conv").adaptive.betaEnd == 4);
  CHECK(json.of("conv1", "Conv").migrationStrength == 0.3);
  CHECK(json.balances());
}

TEST_CASE("what is not supported is refused by name") {
  for (const auto &[text, message] : std::initializer_list<std::pair<const char *, const char *>>{
           {"nuq_config { mapping_file: \"m.json\" }", "nuq_config"},
           {"fakequant_precision_mode: FORCE_FP16_QUANT", "fakequant_precision_mode"},
           {"common_config { nuq_quantize { num_steps: 24 } }", "must be 16 or 32"},
           {"common_config { dmq_balancer { migration_strength: 0.9 } }", "from 0.2 to 0.8"},
           {"common_config { other_quantize { } }", "other_quantize"},
           {"common_config { weight_compress_only: true }", "amct weights"},
           {"common_config { arq_quantize { asymmetric: true } }", "arq_quantize.asymmetric"},
           {"common_config { arq_quantize { quant_bits: 5 } }", "from 6 to 8"},
           {"tensor_quantize { layer_name: \"pool\" }", "tensor_quantize.input_index"},
           {"{\"wts_algo\": \"other\"}", "ada_quantize and nuq_quantize"}}) {
    Diagnostics diagnostics;
    parse(text, diagnostics);
    INFO(text);
    REQUIRE(diagnostics.hasErrors());
    CHECK_THAT(diagnostics.all().front().text, Catch::Matchers::Contains(message));
  }
  Diagnostics diagnostics;
  parse("joint_quant: true", diagnostics);
  CHECK(!diagnostics.hasErrors());
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == "W10055");
}
