//===-- FusionSwitches.cpp - passes that flags switch off -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/FusionSwitches.h"

#include "frontends/ModelOptions.h"
#include "passes/graph/PassNames.h"
#include "passes/host/Pipelines.h"
#include "passes/npu/Pipelines.h"
#include "support/NearestName.h"
#include "tools/atc/SettingsFile.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace atc::tools {

namespace {

enum class Stage { Graph, Buffers };

struct Fusion {
  StringLiteral name;   ///< in the Ascend toolchain
  StringLiteral passes; ///< that do the same, separated by blanks; empty: none
  Stage stage = Stage::Graph;
};

constexpr Stage Buffers = Stage::Buffers;
constexpr StringLiteral epilogues = "npu-fuse-epilogues graph-fuse-conv-activation "
                                    "graph-fuse-conv-add";
constexpr StringLiteral quantized = "npu-fuse-epilogues npu-fuse-input-quantization "
                                    "graph-fuse-integer-epilogue";

constexpr Fusion fusions[] = {
    {"ABiasaddConvFusion", "graph-fuse-conv-add"},
    {"ABatchnormFusionPass", "graph-fuse-conv-bn"},
    {"ConvBatchnormFusionPass", "graph-fuse-conv-bn"},
    {"ConvScaleFusionPass", "graph-fold-scale-into-conv"},
    {"PadConv2dFusionPass", "graph-fold-pad"},
    {"MatMulBiasAddFusionPass", "graph-fuse-conv-add"},
    {"MatMul2MatMulV2FusionPass", "graph-matmul-to-fully-connected"},
    {"LayerNormFusionPass", "npu-compose-layer-norm"},
    {"LayerNormONNXFusionPass", "npu-compose-layer-norm"},
    {"CommonSubexpressionEliminationPass", "graph-cse"},
    {"ConstantFoldingPass", "graph-fold-constants"},
    {"PermuteFusionPass", "graph-eliminate-transposes"},
    {"TransdataCastFusionPass", "graph-eliminate-transposes"},
    {"ConvConcatFusionPass", "graph-simplify-slices-concats"},
    {"SplitConvConcatFusionPass", "graph-simplify-slices-concats"},
    {"ZConcatDFusionPass", "graph-simplify-slices-concats"},
    {"ZConcatv2dFusionPass", "graph-simplify-slices-concats"},
    {"ZConcatExt2FusionPass", "graph-simplify-slices-concats"},
    {"ZSplitVFusionPass", "graph-simplify-slices-concats"},
    {"GeluFusionPass", "graph-compose-activations"},
    {"SwishFusionPass", "graph-compose-activations"},
    {"MishFusionPass", "graph-compose-activations"},
    {"HardSwishFusionPass", "graph-compose-activations"},
    {"Conv2DQuantProcessFusionPass", "graph-fold-qdq-contractions"},
    {"DWConv2DQuantProcessFusionPass", "graph-fold-qdq-contractions"},
    {"MatmulV2QuantProcessFusionPass", "graph-fold-qdq-contractions"},
    {"FCQuantProcessFusionPass", "graph-fold-qdq-contractions"},
    {"RequantFusionPass", "graph-fuse-integer-epilogue"},
    {"NotRequantFusionPass", "graph-fuse-integer-epilogue"},
    {"V100RequantFusionPass", "graph-fuse-integer-epilogue"},
    {"V200RequantFusionPass", "graph-fuse-integer-epilogue"},
    {"V100NotRequantFusionPass", "graph-fuse-integer-epilogue"},
    {"V200NotRequantFusionPass", "graph-fuse-integer-epilogue"},
    {"ConvToFullyConnectionFusionPass", ""},
    {"PoolingFusionPass", ""},
    {"TfMergeSubFusionPass", ""},
    {"ADepthwiseFusionPass", ""},
    {"DepthwiseToConv2dFusionPass", ""},
    {"PoolingQuantProcessFusionPass", ""},
    {"AvgPoolQuantProcessFusionPass", ""},
    {"ConvWeightCompressFusionPass", ""},
    {"SoftmaxFusionPass", ""},
    {"EinsumPass", ""},
    {"ConstToAttrPass", ""},
    {"CastRemoveFusionPass", ""},
    {"ReluFusionPass", ""},
    {"FIXPIPEFUSIONPASS", epilogues},
    {"FIXPIPEAPREQUANTFUSIONPASS", quantized},
    {"FixPipeAbilityProcessPass", ""},
    {"Conv2DWinogradFusionPass", "cpu-select-winograd"},
    {"StrideHoistingPass", ""},
    {"SameInputConv2dPass", ""},
    {"Globalavgpoolpass", ""},
    {"AReduceMeanFusionPass", ""},
    {"AReduceSumFusionPass", ""},
    {"AddNFusionPass", ""},
    {"PackFusionPass", ""},
    {"FlattenV2Pass", ""},
    {"FusionVirtualOpSetSwitch", "", Buffers},
    {"TbeAippConvReluMaxpoolingFusion", "npu-select-preprocessing", Buffers},
    {"TbeAippConvReluQuantFusion", "npu-select-preprocessing", Buffers},
    {"TbeAippCommonFusionPass", "npu-select-preprocessing", Buffers},
    {"TbeConvReluQuantFusionPass", quantized, Buffers},
    {"TbeConvReluMaxpoolingFusionPass", epilogues, Buffers},
    {"TbeConvDequantQuantFusionPass", quantized, Buffers},
    {"TbeConvDequantFusionPass", quantized, Buffers},
    {"TbeConvDequantVaddReluQuantFusionPass", quantized, Buffers},
    {"TbeConvDequantVaddReluFusionPass", quantized, Buffers},
    {"TbeConvRequantFusionPass", quantized, Buffers},
    {"TbeConvDequantS16FusionPass", quantized, Buffers},
    {"TbeConv2DAddMulQuantPass", quantized, Buffers},
    {"TbeConv2DEltwisePass", epilogues, Buffers},
    {"TbeConvDoubleInFusionPass", epilogues, Buffers},
    {"TbePool2dQuantFusionPass", "npu-fuse-input-quantization", Buffers},
    {"TbeEltwiseQuantFusionPass", "npu-fuse-input-quantization", Buffers},
    {"TbeCommonRules0FusionPass", quantized, Buffers},
    {"TbeCommonRules2FusionPass", quantized, Buffers},
    {"TbeConvCommonRules0FusionPass", quantized, Buffers},
    {"TbeConvCommonRules2FusionPass", quantized, Buffers},
    {"TbeDepthwiseConvDequantFusionPass", quantized, Buffers},
    {"TbeDepthwiseConvElemwiseFusionPass", epilogues, Buffers},
    {"TbeFullyconnectionElemwiseDequantFusionPass", quantized, Buffers},
    {"TbeFullyconnectionElemwiseFusionPass", epilogues, Buffers},
    {"ATbeMatmulElemwiseFusionPass", epilogues, Buffers},
    {"TbeMatmulElemwiseFusionPass", epilogues, Buffers},
    {"TbeMatmulFixPipeFusionPass", epilogues, Buffers},
    {"TbeConvFixPipeFusionPass", epilogues, Buffers},
    {"TbeFixPipeFusionPass", epilogues, Buffers},
    {"TbeMultiOutputFusionPass", "graph-fuse-elementwise", Buffers},
    {"TbeReduceElemwiseFusionPass", "graph-fuse-elementwise", Buffers},
    {"TbeBnupdateEltwiseFusionPass", "graph-fuse-elementwise", Buffers},
    {"TbeElemwiseFusionPass", "graph-fuse-elementwise", Buffers},
    {"AutomaticUbFusion", "graph-fuse-elementwise", Buffers},
    {"MatmulConfusiontransposeUbFusion", "graph-eliminate-transposes", Buffers},
    {"AutoSingleNormFusionPass", "npu-compose-layer-norm", Buffers},
    {"AutoSingleReduceFusionPass", "", Buffers},
};

// Passes that only make a model faster, by the stage that "ALL" of the json names.
constexpr StringLiteral allOfGraph[] = {
    "graph-fuse-conv-bn",         "graph-fuse-conv-add",
    "graph-fold-scale-into-conv", "graph-fold-pad",
    "graph-compose-activations",  "graph-compose-depth-to-space",
    "graph-eliminate-transposes", "graph-simplify-slices-concats",
    "npu-compose-layer-norm"};
constexpr StringLiteral allOfBuffers[] = {"cpu-select-winograd",     "graph-fuse-conv-activation",
                                          "graph-fuse-elementwise",  "graph-fuse-integer-epilogue",
                                          "npu-fuse-epilogues",      "npu-fuse-input-quantization",
                                          "npu-select-preprocessing"};

class SwitchReader {
public:
  SwitchReader(const FlagValues &flags, const driver::Target &target, Diagnostics &diagnostics)
      : flags(flags), target(target), diagnostics(diagnostics) {}

  std::vector<std::string> run() {
    readLevels();
    if (flags.has("fusion_switch_file"))
      if (auto file = SettingsFile::read("fusion_switch_file", flags.get("fusion_switch_file"),
                                         diagnostics))
        file->looksLikeJson() ? readJson(*file) : readLines(*file);
    for (const std::string &item : splitNames(flags.get("optimization_switch")))
      readSwitch(item, "--optimization_switch");
    if (!without.empty())
      diagnostics.warning("W10055", "there is nothing to switch here for " + join(without, ", ") +
                                        ": no fusion of this kind is ever made");
    // The names of --disable_passes are checked later.
    std::vector<std::string> passes = splitNames(flags.get("disable_passes"), ',');
    for (const std::string &pass : off)
      if (isPass(pass) && !is_contained(passes, pass))
        passes.push_back(pass);
    return passes;
  }

private:
  /// Returns whether the target has a pass of this name that can be left out.
  bool isPass(StringRef name) const {
    return is_contained(target.optionalPasses(), name) ||
           is_contained(host::optionalPasses(), name) || is_contained(graphPasses, name);
  }

  void readLevels() {
    if (flags.get("oo_level") == "O1")
      for (Stage stage : {Stage::Graph, Stage::Buffers})
        switchAll(stage, false);
    if (flags.has("oo_constant_folding"))
      switchPass("graph-fold-constants", flags.getBool("oo_constant_folding"));
    if (flags.has("oo_dead_code_elimination"))
      switchPass("om-remove-dead", flags.getBool("oo_dead_code_elimination"));
    if (flags.get("disable_reuse_memory") == "1")
      switchPass("om-reuse-in-place", false);
  }

  void switchPass(StringRef pass, bool on) {
    if (on)
      off.erase(pass.str());
    else
      off.insert(pass.str());
  }

  void switchAll(Stage stage, bool on) {
    const ArrayRef<StringLiteral> passes =
        stage == Stage::Graph ? ArrayRef(allOfGraph) : ArrayRef(allOfBuffers);
    for (StringRef pass : passes)
      switchPass(pass, on);
  }

  /// Reads "Name:off"; `origin` is where it stands.
  void readSwitch(StringRef text, const std::string &origin) {
    auto [name, value] = text.rsplit(':');
    apply(name.trim(), value.trim(), origin);
  }

  void apply(StringRef name, StringRef value, const std::string &origin) {
    if (!value.equals_insensitive("on") && !value.equals_insensitive("off")) {
      diagnostics.error("E10001", origin + ": the switch \"" + name + ":" + value +
                                      "\" must be name:on or name:off");
      return;
    }
    const bool on = value.equals_insensitive("on");
    if (name.equals_insensitive("all")) {
      switchAll(Stage::Graph, on);
      switchAll(Stage::Buffers, on);
      return;
    }
    if (isPass(name))
      return switchPass(name, on);
    // A pass of the other kind of target, which this one does without.
    if (is_contained(npu::optionalPasses(), name))
      return;
    auto fusion = find_if(fusions, [&](const Fusion &candidate) { return candidate.name == name; });
    if (fusion == std::end(fusions)) {
      reportUnknown(name, origin);
      return;
    }
    if (fusion->passes.empty() && !on)
      without.push_back(name.str());
    for (StringRef pass : split(fusion->passes, ' '))
      switchPass(pass, on);
  }

  void reportUnknown(StringRef name, const std::string &origin) {
    std::vector<std::string> names = graphPasses;
    for (StringRef pass : npu::optionalPasses())
      names.push_back(pass.str());
    for (const Fusion &fusion : fusions)
      names.push_back(fusion.name.str());
    diagnostics.warning("W11002", origin + ": there is no pass or fusion '" + name + "'" +
                                      didYouMean(name.str(), names));
  }

  void readLines(const SettingsFile &file) {
    for (const SettingsLine &line : file.lines())
      readSwitch(line.text, line.origin);
  }

  void readJson(const SettingsFile &file) {
    auto json = file.json(diagnostics);
    if (!json)
      return;
    auto switches = json->find("Switch");
    if (!json->is_object() || switches == json->end() || !switches->is_object()) {
      diagnostics.error("E10032", file.origin() + " must be {\"Switch\": {\"GraphFusion\": {...}, "
                                                  "\"UBFusion\": {...}}}");
      return;
    }
    for (const auto &[group, values] : switches->items()) {
      const bool isGraph = group == "GraphFusion";
      if ((!isGraph && group != "UBFusion") || !values.is_object()) {
        diagnostics.error("E10032", file.origin() + ": \"" + group +
                                        "\" is not GraphFusion or UBFusion with an object");
        continue;
      }
      readGroup(file, values, isGraph ? Stage::Graph : Stage::Buffers);
    }
  }

  void readGroup(const SettingsFile &file, const nlohmann::ordered_json &values, Stage stage) {
    // "ALL" counts first, wherever it stands.
    for (bool isAll : {true, false})
      for (const auto &[name, value] : values.items()) {
        if ((StringRef(name).equals_insensitive("all")) != isAll)
          continue;
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (isAll && (text == "on" || text == "off"))
          switchAll(stage, text == "on");
        else
          apply(name, text, file.origin());
      }
  }

  const FlagValues &flags;
  const driver::Target &target;
  Diagnostics &diagnostics;
  const std::vector<std::string> graphPasses = graph::listPassNames();
  std::set<std::string> off;
  std::vector<std::string> without;
};

} // namespace

std::vector<std::string> readDisabledPasses(const FlagValues &flags, const driver::Target &target,
                                            Diagnostics &diagnostics) {
  return SwitchReader(flags, target, diagnostics).run();
}

} // namespace atc::tools
