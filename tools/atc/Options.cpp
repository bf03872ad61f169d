//===-- Options.cpp - what a command line asks for ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Options.h"

#include "driver/targets/MakeTarget.h"
#include "support/InputText.h"
#include "support/OneLine.h"
#include "tools/atc/AutoTarget.h"
#include "tools/atc/BankOptions.h"
#include "tools/atc/BoundaryOptions.h"
#include "tools/atc/FusionSwitches.h"
#include "tools/atc/PrecisionFiles.h"
#include "tools/common/ModelKind.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tools {

namespace {

/// Reads --input_shape, or --input_shape_range in its place.
void checkShapes(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  const std::string shape = flags.get("input_shape"), range = flags.get("input_shape_range");
  InputShapes &shapes = options.compiler.source.inputShapes;
  if (!shape.empty() && !range.empty())
    diagnostics.warning("W10055", "--input_shape has no effect beside --input_shape_range: give "
                                  "ranges with --input_shape, such as \"x:1~8,3,224,224\"");
  if (range.empty() && !StringRef(shape).contains('~')) {
    shapes = parseInputShapes(shape, diagnostics);
  } else {
    options.ranges = range.empty() ? driver::readRanges("input_shape", shape, diagnostics)
                                   : driver::readRanges("input_shape_range", range, diagnostics);
    shapes = driver::withoutRanges(options.ranges);
  }
}

/// Returns the value of --framework that reads a model, by its contents and name; empty where that
/// is not known.
std::string guessFramework(const std::string &path) {
  if (sys::fs::exists(path + "/saved_model.pb"))
    return "3";
  return frameworkOf(findModelKind(path)).str();
}

/// Returns the format that a value of --framework stands for; ONNX for one that is none.
driver::ModelFormat formatOf(StringRef framework) {
  return StringSwitch<driver::ModelFormat>(framework)
      .Case("0", driver::ModelFormat::Caffe)
      .Case("1", driver::ModelFormat::Air)
      .Case("3", driver::ModelFormat::TensorFlow)
      .Case("6", driver::ModelFormat::TfLite)
      .Default(driver::ModelFormat::Onnx);
}

void checkWeights(const FlagValues &flags, driver::ModelSource &source, Diagnostics &diagnostics) {
  source.weights = flags.get("weight");
  if (!flags.has("weight"))
    diagnostics.error("E10008", "a Caffe model (--framework=0) needs its weights: --weight");
  else if (!source.weights.empty() && !sys::fs::exists(source.weights))
    diagnostics.error("E10410", "the file \"" + source.weights + "\" of --weight does not exist");
  else if (findModelKind(source.weights) == ModelKind::PrototxtText)
    diagnostics.error("E13005", "the file \"" + source.weights +
                                    "\" of --weight is a Caffe prototxt: give it as --model, and "
                                    "the .caffemodel as --weight");
}

void checkModel(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  driver::ModelSource &source = options.compiler.source;
  source.path = flags.get("model");
  const std::string framework =
      flags.has("framework") ? flags.get("framework") : guessFramework(source.path);
  if (!flags.has("model")) {
    diagnostics.error("E10007", "--model is required: it names the model file");
  } else if (!source.path.empty() && !sys::fs::exists(source.path)) {
    diagnostics.error("E10410", "the file \"" + source.path + "\" of --model does not exist");
  } else if (sys::fs::is_directory(source.path) && framework != "3") {
    diagnostics.error("E10041", "\"" + source.path + "\" of --model is a folder, not a file");
  } else if (std::string reason =
                 wrongKindReason(findModelKind(source.path), framework.empty() ? "5" : framework);
             !reason.empty()) {
    diagnostics.error("E13005", "the file \"" + source.path + "\" of --model " + reason);
  }
  if (driver::guessFormat(source.path) == driver::ModelFormat::Mlir) {
    source.format = driver::ModelFormat::Mlir;
    return;
  }
  source.format = formatOf(framework);
  // A file of a known kind that no framework reads has its error.
  if (!flags.has("framework") && framework.empty() &&
      findModelKind(source.path) == ModelKind::Unknown)
    diagnostics.error("E10007",
                      "--framework is required: 5 for ONNX, 3 for TensorFlow, 0 for Caffe, 1 for "
                      "MindSpore (AIR), 6 for TensorFlow Lite");
  if (!framework.empty() && !is_contained({"0", "1", "3", "5", "6"}, framework))
    diagnostics.error("E10001", "the value \"" + framework +
                                    "\" of --framework is invalid: it must be 5 (ONNX), 3 "
                                    "(TensorFlow), 0 (Caffe), 1 (MindSpore AIR) or 6 (TensorFlow "
                                    "Lite)");
  if (framework == "0")
    checkWeights(flags, source, diagnostics);
  std::string format = flags.get("input_format");
  if (is_contained({"0", "5"}, framework) && is_contained({"NHWC", "NDHWC"}, format))
    diagnostics.error("E10001", "the value \"" + format +
                                    "\" of --input_format is invalid: ONNX and Caffe "
                                    "models have NCHW, ND or NCDHW");
  checkShapes(flags, options, diagnostics);
  source.outNodes = splitNames(flags.get("out_nodes"));
  for (StringRef node : source.outNodes) {
    const StringRef index = node.rsplit(':').second;
    if (int32_t number; isWholeNumber(index) && index.getAsInteger(10, number))
      diagnostics.error("E10013", "the value \"" + node +
                                      "\" of --out_nodes is out of range: a node has no output " +
                                      index);
  }
  source.inputNodes = splitNames(flags.get("input_nodes"));
  if (!source.inputNodes.empty() && framework != "3")
    diagnostics.error("E10055", "--input_nodes is only supported for TensorFlow models");
  source.signature = flags.get("signature_def");
  const bool isFolder = framework == "3" && sys::fs::is_directory(source.path);
  if (!source.signature.empty() && !isFolder && framework != "6")
    diagnostics.error("E10055", "--signature_def is only supported for the folders of SavedModels "
                                "and for TensorFlow Lite models");
}

void checkOutput(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  std::string path = flags.get("output");
  if (!flags.has("output"))
    diagnostics.error("E10007", "--output is required: the path of the result without .om");
  // The ending is appended; a path that has it already is meant as it is.
  if (options.stopAfter == driver::Phase::Emit && StringRef(path).ends_with(".om"))
    path.resize(path.size() - 3);
  if (path.empty())
    return;
  StringRef file = sys::path::filename(path);
  if (path.back() == '/' || file == "." || file == "..") {
    diagnostics.error("E10022", "the path \"" + path + "\" of --output has no file name");
    return;
  }
  options.emitsObject = flags.get("emit") == "object";
  if (options.emitsObject && StringRef(path).ends_with(".o"))
    path.resize(path.size() - 2);
  options.outputFile = path + (options.stopAfter != driver::Phase::Emit ? ".mlir"
                               : options.emitsObject                    ? ".o"
                                                                        : ".om");
  if (options.emitsObject && options.stopAfter != driver::Phase::Emit)
    diagnostics.error("E10047", "--emit=object and --stop_after exclude each other");
  if (options.emitsObject && flags.has("parallel"))
    diagnostics.error("E10047",
                      "--emit=object and --parallel exclude each other: ranks have a file "
                      "each");
  if (options.emitsObject && flags.get("display_model_info") == "1")
    diagnostics.error("E10047", "--emit=object and --display_model_info exclude each other");
  if (path.size() > 4000 || file.size() > 240) {
    diagnostics.error("E10021", "the path of --output is too long: " + Twine(path.size()) +
                                    " characters, its file name " + Twine(file.size()) +
                                    "; at most 4000 and 240 are allowed");
    return;
  }
  if (sys::fs::is_directory(options.outputFile))
    diagnostics.error("E13004", "\"" + options.outputFile + "\" is a folder: it cannot be written");
  for (const char *flag : {"model", "weight"})
    if (flags.has(flag) && sys::fs::equivalent(options.outputFile, flags.get(flag)))
      diagnostics.error("E13004", "\"" + options.outputFile + "\" of --output cannot be written: " +
                                      "it is the file of --" + flag + "; give it another name");
}

/// Checks --host_env_os and --host_env_cpu, of which the second one stands for --target_cpu.
void checkHost(const FlagValues &flags, Diagnostics &diagnostics) {
  if (flags.get("host_env_os") != "linux")
    diagnostics.error("E10001", "the value \"" + flags.get("host_env_os") +
                                    "\" of --host_env_os is invalid: it must be linux");
  const std::string cpu = flags.get("host_env_cpu");
  if (flags.has("host_env_cpu") && cpu != "x86_64" && cpu != "aarch64")
    diagnostics.error("E10001", "the value \"" + cpu +
                                    "\" of --host_env_cpu is invalid: it must be x86_64 or "
                                    "aarch64");
}

void checkCompatibility(const FlagValues &flags, Diagnostics &diagnostics) {
  SmallVector<StringRef> dynamic;
  for (StringRef name :
       {"dynamic_batch_size", "dynamic_image_size", "dynamic_dims", "input_shape_range"})
    if (flags.has(name.str()))
      dynamic.push_back(name);
  if (dynamic.size() > 1)
    diagnostics.error("E10009", "--" + join(dynamic, " and --") + " exclude each other");
  if (flags.has("compress_weight_conf") && flags.get("enable_compress_weight") == "true")
    diagnostics.error("E10047", "--enable_compress_weight=true and --compress_weight_conf exclude "
                                "each other: one is about all layers, the other names them");
  if (flags.has("precision_mode") && flags.has("precision_mode_v2"))
    diagnostics.error("E10056", "--precision_mode and --precision_mode_v2 exclude each other");
  if (flags.has("auto_tune_mode"))
    diagnostics.error("E10001", "the flag --auto_tune_mode is no longer there: tuning is a tool of "
                                "its own (aoe)");
  std::string log = flags.get("log");
  if (!log.empty() && !is_contained({"null", "debug", "info", "warning", "error"}, log))
    diagnostics.error("E10010", "the value \"" + log +
                                    "\" of --log must be null, debug, info, warning or error");
  for (const Flag &flag : allFlags()) {
    if (flag.effect == FlagEffect::Used || !flags.has(flag.name) ||
        flags.get(flag.name) == flag.fallback)
      continue;
    const std::string reason = *flag.help ? std::string(": ") + flag.help : "";
    if (flag.effect == FlagEffect::Unsupported)
      diagnostics.error("E10055", std::string("--") + flag.name + " is not supported" + reason);
    else
      diagnostics.warning("W10055", std::string("--") + flag.name + " has no effect" + reason);
    if (flag.effect == FlagEffect::None && flag.record == FlagRecord::FileName &&
        !sys::fs::exists(flags.get(flag.name)))
      diagnostics.error("E10410", "the file \"" + flags.get(flag.name) + "\" of --" + flag.name +
                                      " does not exist");
  }
  checkHost(flags, diagnostics);
  if (StringRef(flags.get("precision_mode_v2")).ends_with("hif8"))
    diagnostics.error("E10055", "--precision_mode_v2=" + flags.get("precision_mode_v2") +
                                    " is not supported: no chip here computes in hifloat8; "
                                    "mixed_float16 is the nearest mode");
  int64_t limit = 0;
  if (const std::string text = flags.get("static_model_ops_lower_limit");
      !text.empty() && (StringRef(text).getAsInteger(10, limit) || limit < -1))
    diagnostics.error("E10001", "the value \"" + text +
                                    "\" of --static_model_ops_lower_limit is invalid: it must be "
                                    "a number of -1 or more");
  if (flags.has("optypelist_for_implmode") && !flags.has("op_select_implmode"))
    diagnostics.error("E10057", "--optypelist_for_implmode needs --op_select_implmode");
}

void checkPreprocessing(const FlagValues &flags, driver::CompilerOptions &compiler,
                        Diagnostics &diagnostics) {
  compiler.states = flags.get("state");
  compiler.aippFile = flags.get("insert_op_conf");
  if (!compiler.aippFile.empty() && !sys::fs::exists(compiler.aippFile))
    diagnostics.error("E10410",
                      "the file \"" + compiler.aippFile + "\" of --insert_op_conf does not exist");
  const std::string format = flags.get("input_format");
  const bool isTf = compiler.source.format == driver::ModelFormat::TensorFlow;
  if (format == "NHWC" || (isTf && format != "NCHW"))
    compiler.imageLayout = ImageLayout::ChannelsLast;
}

void checkOm(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  options.om = flags.get(!flags.has("om") && flags.has("model") ? "model" : "om");
  if (options.mode == Mode::ShowModel && flags.has("framework"))
    diagnostics.error("E10057", "--mode=6 shows a compiled model, which --om names alone: leave "
                                "--framework out");
  std::string mode = std::to_string(static_cast<int>(options.mode));
  if (options.om.empty())
    diagnostics.error("E10007", "--om is required with --mode=" + mode);
  else if (!options.om.empty() && !sys::fs::exists(options.om))
    diagnostics.error("E10410", "the file \"" + options.om + "\" of --om does not exist");
  if (options.mode == Mode::ToJson && !flags.has("json"))
    diagnostics.error("E10007", "--json is required with --mode=1: the file to write");
  if (options.mode == Mode::DumpToJson && !flags.has("json"))
    diagnostics.error("E10007", "--json is required with --mode=5: the file to write");
  if (options.mode == Mode::DumpToJson && findModelKind(options.om) == ModelKind::Om)
    diagnostics.error("E13005", "the file \"" + options.om +
                                    "\" of --om is a compiled model and no graph dump in text "
                                    "form: --mode=1 writes it as JSON");
  options.compiler.source.path = options.om;
  options.compiler.source.format = formatOf(flags.get("framework"));
  options.isModelFile = options.mode == Mode::ToJson && flags.has("framework");
  const bool isCompiled =
      options.mode == Mode::ShowModel || (options.mode == Mode::ToJson && !options.isModelFile);
  if (std::string reason = whyNotCompiled(findModelKind(options.om)); isCompiled && !reason.empty())
    diagnostics.error("E10041", "the file \"" + options.om + "\" of --om " + reason);
  if (std::string reason = wrongKindReason(findModelKind(options.om), flags.get("framework"));
      options.isModelFile && !reason.empty())
    diagnostics.error("E13005", "the file \"" + options.om + "\" of --om " + reason);
}

void checkTarget(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  // parseFlags has reported an empty name.
  if (flags.has("soc_version") && StringRef(flags.get("soc_version")).trim().empty())
    return;
  driver::TargetRequest request;
  request.target = flags.get("target");
  request.cpuLevels = flags.get("target_cpu");
  if (!flags.has("target_cpu") && flags.get("host_env_cpu") == "aarch64")
    request.cpuLevels = "aarch64";
  auto given = [&](const char *name) {
    return flags.has(name) ? std::optional(flags.get(name)) : std::nullopt;
  };
  request.soc = given("soc_version");
  if (request.target == "mini") {
    request.target = "npu";
    if (!request.soc && !request.socFile)
      request.soc = "Ascend310";
    diagnostics.warning("W10055", "--target=mini is an old name: --soc_version=" +
                                      request.soc.value_or("Ascend310") + " says the same");
  }
  request.socFile = given("soc_file");
  const bool isAuto = request.target == "auto";
  if (isAuto) {
    options.autoTarget = readAutoTarget(flags, request, diagnostics);
    if (!options.autoTarget)
      return;
    request.target = "npu";
  }
  // parseFlags has reported a value that is no mode at all.
  if (auto mode = precisionModeOf(flags);
      mode && is_contained(split(driver::precisionModes, ','), *mode))
    request.precision = mode;
  request.clipsWeights = flags.get("is_weight_clip") != "0";
  auto target = driver::makeTarget(request, diagnostics);
  if (!target)
    return;
  options.compiler.target = target;
  options.host = target;
  if (!target->takesDynamicInputs())
    options.host =
        driver::makeTarget({.target = "cpu", .cpuLevels = request.cpuLevels}, diagnostics);
  for (const char *flag : {"placement_switches", "placement_processors"})
    if (flags.has(flag) && !isAuto)
      diagnostics.warning("W10055", std::string("--") + flag +
                                        " has no effect without "
                                        "--target=auto");
  if (request.target != "cpu")
    options.compiler.source.placement = readPlacementRules(flags, diagnostics);
  else if (flags.has("op_placement"))
    diagnostics.warning("W10055", "--op_placement has no effect with --target=cpu");
}

/// Reports flags that gears cannot be combined with.
void checkBesideGears(const AtcOptions &options, Diagnostics &diagnostics) {
  if (options.stopAfter != driver::Phase::Emit)
    diagnostics.error("E10055", "--stop_after is not supported with gears: compile the model for "
                                "one size with --input_shape");
  if (!options.compressionConf.empty())
    diagnostics.error("E10055", "--compression_optimize_conf is not supported with gears: quantize "
                                "the model with amct, and compile the result");
}

/// Finds the gears: those of the flags for them, or for an NPU what dynamic dims become.
void checkGears(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  auto given = [&](const char *name) {
    return flags.has(name) ? std::optional(flags.get(name)) : std::nullopt;
  };
  const driver::ModelSource &source = options.compiler.source;
  const bool isDynamic =
      any_of(source.inputShapes, [](const auto &shape) { return is_contained(shape.second, -1); });
  driver::GearFlags fixed{given("dynamic_batch_size"), given("dynamic_image_size"),
                          given("dynamic_dims"), flags.get("input_format")};
  if (fixed.inputFormat.empty())
    fixed.inputFormat = source.format == driver::ModelFormat::TensorFlow ? "NHWC" : "NCHW";
  const bool isRange = !options.compiler.target->takesDynamicInputs() && isDynamic && !fixed.any();
  if (flags.has("input_hint_shape") && !isRange)
    diagnostics.warning("W10055", "--input_hint_shape has no effect without dims of -1 or a~b for "
                                  "an NPU");
  if (fixed.any() || isRange)
    checkBesideGears(options, diagnostics);
  // checkCompatibility has reported more than one of them.
  if (fixed.batchSize.has_value() + fixed.imageSize.has_value() + fixed.dims.has_value() > 1)
    return;
  if (fixed.any() && source.format == driver::ModelFormat::Mlir) {
    diagnostics.error("E10055", "gears are not supported for MLIR modules, which have their "
                                "shapes");
    return;
  }
  if (fixed.any() && !options.ranges.empty())
    diagnostics.error("E10040", "with dynamic profiles --input_shape cannot have ranges like "
                                "1~8: write -1");
  else if (fixed.any())
    options.gears = driver::readGears(fixed, source.inputShapes, diagnostics);
  else if (isRange)
    options.gears = driver::planRanges(
        options.ranges.empty() ? driver::withRanges(source.inputShapes) : options.ranges,
        flags.get("input_hint_shape"), diagnostics);
  else if (!options.ranges.empty() && isDynamic)
    diagnostics.warning("W11001", "on the CPU a range in --input_shape stands for any size");
}

/// Reads --parallel with --cluster and --shard_tensors.
void checkParallel(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  if (!flags.has("parallel")) {
    for (const char *other : {"cluster", "shard_tensors"})
      if (flags.has(other))
        diagnostics.error("E10057", std::string("--") + other + " needs --parallel");
    return;
  }
  options.shards = driver::readParallel(flags.get("parallel"), flags.get("cluster"), diagnostics);
  if (options.shards && flags.has("shard_tensors"))
    driver::readShardTensors(flags.get("shard_tensors"), *options.shards, diagnostics);
  if (options.gears)
    diagnostics.error("E10055", "gears are not supported with --parallel: compile the model for "
                                "one size with --input_shape");
  if (options.stopAfter != driver::Phase::Emit)
    diagnostics.error("E10055", "--stop_after is not supported with --parallel: --save_temps keeps "
                                "the forms of each rank");
}

/// Reads --train and refuses what a training step has not.
void checkTraining(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  if (!flags.has("train"))
    return;
  const std::string path = flags.get("train");
  for (const char *other :
       {"parallel", "state", "insert_op_conf", "input_fp16_nodes", "is_input_adjust_hw_layout",
        "is_output_adjust_hw_layout", "output_type", "customize_dtypes", "keep_dtype",
        "op_precision_mode", "modify_mixlist", "op_placement", "fusion_rules",
        "compression_optimize_conf", "singleop"})
    if (flags.has(other))
      diagnostics.error("E10047", std::string("--train and --") + other +
                                      " exclude each other: a training step is made of the model "
                                      "as it is");
  if (options.mode == Mode::Check)
    diagnostics.error("E10047", "--train and --mode=3 exclude each other: a check is about the "
                                "model alone");
  if (options.autoTarget)
    diagnostics.error("E10047", "--train and --target=auto exclude each other: choose cpu or npu");
  if (options.gears || any_of(options.compiler.source.inputShapes,
                              [](const auto &shape) { return is_contained(shape.second, -1); }))
    diagnostics.error("E10055", "dynamic dims are not supported with --train: give the batch of a "
                                "step with --input_shape");
  std::string text;
  if (std::string reason = readInputText(path, text); !reason.empty()) {
    diagnostics.error("E10410", "the file \"" + path + "\" of --train cannot be read: " + reason);
    return;
  }
  options.training = driver::parseTrainingOptions(text, "the file of --train", diagnostics);
  if (options.training && options.training->exchange.ranks != 1)
    diagnostics.error("E10055", "'ranks' is not supported with --train: openatc.train trains on "
                                "several ranks");
}

/// Checks the flags of --singleop, whose --output is a folder.
void checkSingleOps(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  options.singleOps = flags.get("singleop");
  options.outputFile = flags.get("output");
  if (!sys::fs::exists(options.singleOps))
    diagnostics.error("E10410",
                      "the file \"" + options.singleOps + "\" of --singleop does not exist");
  if (!flags.has("output"))
    diagnostics.error("E10007", "--output is required: with --singleop the folder of the results");
  for (const char *other : {"model", "weight", "input_shape", "out_nodes", "insert_op_conf"})
    if (flags.has(other))
      diagnostics.error("E10047", std::string("--singleop and --") + other +
                                      " exclude each other: the .json file states everything");
}

void checkMemory(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  const std::string text = flags.get("max_memory");
  if (!flags.has("max_memory"))
    options.maxMemory = defaultMemoryLimit();
  else if (std::optional<uint64_t> bytes = parseMemorySize(text))
    options.maxMemory = *bytes;
  else if (!text.empty())
    diagnostics.error("E10001", "the value \"" + text +
                                    "\" of --max_memory is invalid: write a number with K, M, G "
                                    "or T behind it, such as 800M or 16G, or unlimited");
}

void checkRemarks(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  if (!flags.has("remarks"))
    return;
  const std::string text = flags.get("remarks");
  std::optional<driver::RemarkOptions> remarks = driver::parseRemarks(text);
  if (!remarks) {
    diagnostics.error("E10001", "the value \"" + text +
                                    "\" of --remarks is invalid: write all, or a list of passed, "
                                    "missed and analysis");
    return;
  }
  options.compiler.remarks = *remarks;
  options.compiler.remarks.sink = [](const std::string &line) {
    llvm::outs() << "remark: " << oneLine(line) << "\n";
  };
}

} // namespace

AtcOptions buildOptions(const FlagValues &flags, Diagnostics &diagnostics) {
  AtcOptions options;
  // The required flags depend on the mode.
  const std::string mode = flags.get("mode");
  if (mode == "30")
    diagnostics.error("E10055",
                      "--mode=30, which makes models for chips of microcontrollers, is not "
                      "supported: --mode=0 compiles for the chip of --soc_version, and "
                      "--emit=object makes a file for programs without an operating "
                      "system");
  if (mode == "7")
    diagnostics.error("E10055", "--mode=7, which makes files of the format OM2, is not supported: "
                                "--mode=0 makes an .om, and --emit=object a file that a program "
                                "links");
  if (!is_contained({"0", "1", "3", "5", "6"}, mode) && diagnostics.hasErrors())
    return options;
  options.json = flags.get("json");
  options.checkReport = flags.get("check_report");
  options.showModel = flags.get("display_model_info") == "1";
  options.compiler.tempDir = flags.get("save_temps");
  options.compiler.cache.folder = flags.get("op_compiler_cache_dir");
  const std::string cacheMode = flags.get("op_compiler_cache_mode");
  options.compiler.cache.mode = cacheMode == "disable" ? cpu::CacheMode::Disable
                                : cacheMode == "force" ? cpu::CacheMode::Force
                                                       : cpu::CacheMode::Enable;
  std::string log = flags.get("log");
  options.verbose = flags.getBool("verbose") || log == "debug" || log == "info";
  options.stopAfter = driver::findPhase(flags.get("stop_after")).value_or(driver::Phase::Emit);
  checkCompatibility(flags, diagnostics);
  checkMemory(flags, options, diagnostics);
  checkRemarks(flags, options, diagnostics);

  if (mode == "1" || mode == "5" || mode == "6") {
    options.mode = mode == "1" ? Mode::ToJson : mode == "5" ? Mode::DumpToJson : Mode::ShowModel;
    checkOm(flags, options, diagnostics);
    return options;
  }
  options.mode = mode == "3"             ? Mode::Check
                 : flags.has("singleop") ? Mode::SingleOps
                                         : Mode::Compile;
  if (options.mode == Mode::SingleOps)
    checkSingleOps(flags, options, diagnostics);
  else if (!flags.has("shard_model_dir")) // which stands for --model, and is refused
    checkModel(flags, options, diagnostics);
  checkPreprocessing(flags, options.compiler, diagnostics);
  readBoundary(flags, options.compiler.source, diagnostics);
  options.compiler.source.precision = readPrecisionRules(flags, diagnostics);
  if (options.mode == Mode::Check) {
    checkTraining(flags, options, diagnostics);
    // A check without a target does not know which types that has.
    if (flags.has("soc_version") || flags.has("soc_file") || flags.has("target"))
      checkTarget(flags, options, diagnostics);
    else
      options.compiler.source.precision.clear();
    return options;
  }
  if (options.mode == Mode::Compile)
    checkOutput(flags, options, diagnostics);
  checkTarget(flags, options, diagnostics);
  options.compiler.disabledPasses =
      readDisabledPasses(flags, *options.compiler.target, diagnostics);
  readBanks(flags, options.compiler, diagnostics);
  options.compressionConf = flags.get("compression_optimize_conf");
  if (!options.compressionConf.empty() && !sys::fs::exists(options.compressionConf))
    diagnostics.error("E10410", "the file \"" + options.compressionConf +
                                    "\" of --compression_optimize_conf does not exist");
  if (options.mode == Mode::Compile)
    checkGears(flags, options, diagnostics);
  checkParallel(flags, options, diagnostics);
  checkTraining(flags, options, diagnostics);
  if (options.autoTarget)
    checkBesideAuto(options, diagnostics);
  return options;
}

} // namespace atc::tools
