//===-- Options.cpp - what a command line asks for ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tools {

namespace {

constexpr const char *shapeSample = "\"input:1,3,224,224;other:1,4\"";

std::vector<std::string> splitList(StringRef text, char separator) {
  std::vector<std::string> items;
  for (StringRef item : split(text, separator))
    if (!item.trim().empty())
      items.push_back(item.trim().str());
  return items;
}

/// Takes the dims of one input; false when there was a fault.
bool parseDims(StringRef item, StringRef text, std::vector<int64_t> &dims,
               Diagnostics &diagnostics) {
  if (text.trim().empty())
    return true;
  for (StringRef word : split(text, ',')) {
    word = word.trim();
    int64_t dim;
    if (word.contains('~')) {
      diagnostics.error("E10055", "--input_shape gives the dim \"" + word + "\" in \"" + item +
                                      "\": ranges are not supported; give one number, or -1 for "
                                      "a dim of any size");
      return false;
    }
    if (word.getAsInteger(10, dim)) {
      diagnostics.error("E10002", "the value \"" + item + "\" of --input_shape is invalid: \"" +
                                      word + "\" is not a number; write " + shapeSample);
      return false;
    }
    if (dim <= 0 && dim != -1) {
      diagnostics.error("E10011", "the value \"" + item +
                                      "\" of --input_shape is invalid: the dim " + word +
                                      " is neither positive nor -1 (open)");
      return false;
    }
    dims.push_back(dim);
  }
  return true;
}

void checkModel(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  options.model = flags.get("model");
  if (!flags.has("model")) {
    diagnostics.error("E10007", "--model is required: it names the model file");
  } else if (!options.model.empty() && !sys::fs::exists(options.model)) {
    diagnostics.error("E10410", "the file \"" + options.model + "\" of --model does not exist");
  } else if (sys::fs::is_directory(options.model) && flags.get("framework") != "3") {
    diagnostics.error("E10041", "\"" + options.model + "\" of --model is a folder, not a file");
  }
  std::string framework = options.framework = flags.get("framework");
  if (options.isMlir())
    return;
  if (!flags.has("framework"))
    diagnostics.error("E10007", "--framework is required: 5 for ONNX, 3 for TensorFlow");
  if (framework == "0" && !flags.has("weight"))
    diagnostics.error("E10008", "a Caffe model (--framework=0) needs its weights: --weight");
  if (is_contained({"0", "1"}, framework))
    diagnostics.error("E10055", std::string("--framework=") + framework + " (" +
                                    (framework == "0" ? "Caffe" : "MindSpore") +
                                    ") is not supported; supported are 5 (ONNX) and 3 "
                                    "(TensorFlow)");
  std::string format = flags.get("input_format");
  if (framework == "5" && is_contained({"NHWC", "NDHWC"}, format))
    diagnostics.error("E10001", "the value \"" + format +
                                    "\" of --input_format is invalid: ONNX "
                                    "models have NCHW, ND or NCDHW");
  options.inputShapes = parseInputShapes(flags.get("input_shape"), diagnostics);
  options.outNodes = splitList(flags.get("out_nodes"), ';');
  options.inputNodes = splitList(flags.get("input_nodes"), ';');
  if (!options.inputNodes.empty() && framework == "5")
    diagnostics.error("E10055", "--input_nodes is only supported for TensorFlow models");
}

void checkOutput(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  std::string path = flags.get("output");
  if (!flags.has("output"))
    diagnostics.error("E10007", "--output is required: the path of the result without .om");
  if (path.empty())
    return;
  StringRef file = sys::path::filename(path);
  if (path.back() == '/' || file == "." || file == "..") {
    diagnostics.error("E10022", "the path \"" + path + "\" of --output has no file name");
    return;
  }
  options.outputFile = path + ".om";
  if (path.size() > 4000 || file.size() > 240) {
    diagnostics.error("E10021", "the path of --output is too long: " + Twine(path.size()) +
                                    " characters, its file name " + Twine(file.size()) +
                                    "; at most 4000 and 240 are allowed");
    return;
  }
  StringRef folder = sys::path::parent_path(path);
  if (!folder.empty() && !sys::fs::is_directory(folder))
    diagnostics.error("E13001", "the folder \"" + folder + "\" of --output does not exist");
  else if (sys::fs::is_directory(options.outputFile))
    diagnostics.error("E13004", "\"" + options.outputFile + "\" is a folder: it cannot be written");
}

std::string socNames() {
  std::string names;
  for (const npu::SocTable &table : npu::allSocs())
    names += (names.empty() ? "" : ", ") + table.name;
  return names;
}

/// The NPU's table: the built-in one of --soc_version with the changes of --soc_file.
void checkSoc(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  std::string name = flags.get("soc_version"), file = flags.get("soc_file");
  npu::SocTable table;
  if (flags.has("soc_version")) {
    const npu::SocTable *known = npu::findSoc(name);
    if (!known) {
      diagnostics.error("E10001", "the value \"" + name +
                                      "\" of --soc_version is invalid: it must be one of " +
                                      socNames());
      return;
    }
    table = *known;
  }
  if (flags.has("soc_file")) {
    if (!sys::fs::exists(file)) {
      diagnostics.error("E10410", "the file \"" + file + "\" of --soc_file does not exist");
      return;
    }
    std::vector<std::string> faults = npu::readSocFile(file, table);
    for (const std::string &fault : faults)
      diagnostics.error("E10001", "the file of --soc_file is invalid: " + fault);
    if (!faults.empty())
      return;
    options.ownSoc = true;
  }
  options.soc = table;
}

void checkPrecision(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  std::string mode = flags.get("precision_mode");
  std::optional<Precision> precision =
      StringSwitch<std::optional<Precision>>(mode)
          .Case("force_fp16", Precision::ForceFp16)
          .Case("allow_fp32_to_fp16", Precision::AllowFp32ToFp16)
          .Case("must_keep_origin_dtype", Precision::KeepOrigin)
          .Case("cube_fp16in_fp32out", Precision::CubeFp16InFp32Out)
          .Default(std::nullopt);
  if (!options.soc) {
    if (flags.has("precision_mode") && mode != "force_fp16")
      diagnostics.warning("W10055", "--precision_mode has no effect");
  } else if (precision) {
    options.precision = *precision;
  } else if (is_contained({"force_fp32", "allow_fp32_to_bf16", "allow_mix_precision",
                           "allow_mix_precision_fp16", "allow_mix_precision_bf16"},
                          mode)) {
    // What is no mode at all has been told already.
    diagnostics.error("E10055", "--precision_mode=" + mode +
                                    " is not supported; supported are force_fp16, "
                                    "allow_fp32_to_fp16, must_keep_origin_dtype and "
                                    "cube_fp16in_fp32out");
  }
}

void checkCompatibility(const FlagValues &flags, Diagnostics &diagnostics) {
  SmallVector<StringRef> dynamic;
  for (StringRef name : {"dynamic_batch_size", "dynamic_image_size", "dynamic_dims"})
    if (flags.has(name.str()))
      dynamic.push_back(name);
  if (dynamic.size() > 1)
    diagnostics.error("E10009", "--" + join(dynamic, " and --") + " exclude each other");
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
    if (flag.effect == FlagEffect::Unsupported)
      diagnostics.error("E10055", std::string("--") + flag.name + " is not supported");
    else
      diagnostics.warning("W10055", std::string("--") + flag.name + " has no effect");
  }
}

void checkOm(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  options.om = flags.get("om");
  std::string mode = std::to_string(static_cast<int>(options.mode));
  if (!flags.has("om"))
    diagnostics.error("E10007", "--om is required with --mode=" + mode);
  else if (!options.om.empty() && !sys::fs::exists(options.om))
    diagnostics.error("E10410", "the file \"" + options.om + "\" of --om does not exist");
  if (options.mode == Mode::ToJson && !flags.has("json"))
    diagnostics.error("E10007", "--json is required with --mode=1: the file to write");
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

} // namespace

std::vector<InputShape> parseInputShapes(StringRef text, Diagnostics &diagnostics) {
  std::vector<InputShape> shapes;
  for (const std::string &item : splitList(text, ';')) {
    // Names may have colons of their own.
    size_t colon = StringRef(item).rfind(':');
    StringRef name = StringRef(item).take_front(colon == StringRef::npos ? 0 : colon).trim();
    if (name.empty()) {
      diagnostics.error("E10002", "the value \"" + item +
                                      "\" of --input_shape is invalid: there is no name; write " +
                                      shapeSample);
      continue;
    }
    if (any_of(shapes, [&](const InputShape &shape) { return shape.first == name; })) {
      diagnostics.error("E10002", "the value \"" + text + "\" of --input_shape is invalid: \"" +
                                      name + "\" stands in it twice; write " + shapeSample);
      continue;
    }
    InputShape shape{name.str(), {}};
    if (parseDims(item, StringRef(item).drop_front(colon + 1), shape.second, diagnostics))
      shapes.push_back(std::move(shape));
  }
  return shapes;
}

void readTarget(const FlagValues &flags, AtcOptions &options, Diagnostics &diagnostics) {
  const bool names = flags.has("soc_version") || flags.has("soc_file");
  const std::string target = flags.get("target");
  if (target == "npu" && !names)
    diagnostics.error("E10007",
                      "--soc_version is required with --target=npu; allowed are " + socNames());
  else if (target == "cpu" && names)
    diagnostics.warning("W10055",
                        std::string(flags.has("soc_version") ? "--soc_version" : "--soc_file") +
                            " has no effect with --target=cpu");
  else if (!flags.has("target") && !names)
    diagnostics.error("E10007", "--target is required; allowed are cpu, and npu with "
                                "--soc_version");
  else if (target != "cpu")
    checkSoc(flags, options, diagnostics);
  checkPrecision(flags, options, diagnostics);
  auto levels = cpu::parseCpuLevels(flags.get("target_cpu"));
  if (levels)
    options.levels = std::move(*levels);
  else
    diagnostics.error("E10001",
                      "the value \"" + flags.get("target_cpu") +
                          "\" of --target_cpu is invalid: " + toString(levels.takeError()));
}

AtcOptions buildOptions(const FlagValues &flags, Diagnostics &diagnostics) {
  AtcOptions options;
  options.json = flags.get("json");
  options.checkReport = flags.get("check_report");
  options.disabledPasses = splitList(flags.get("disable_passes"), ',');
  options.tempDir = flags.get("save_temps");
  std::string log = flags.get("log");
  options.verbose = flags.getBool("verbose") || log == "debug" || log == "info";
  checkCompatibility(flags, diagnostics);
  checkMemory(flags, options, diagnostics);

  std::string mode = flags.get("mode");
  if (mode == "5" || (mode == "1" && flags.has("model") && !flags.has("om"))) {
    diagnostics.error("E10055", "--mode=" + mode +
                                    " with a model or graph dump is not supported; "
                                    "--mode=1 writes an .om file (--om) as JSON");
    return options;
  }
  if (mode == "1" || mode == "6") {
    options.mode = mode == "1" ? Mode::ToJson : Mode::ShowModel;
    checkOm(flags, options, diagnostics);
    return options;
  }
  options.mode = mode == "3" ? Mode::Check : Mode::Compile;
  checkModel(flags, options, diagnostics);
  if (options.mode == Mode::Compile) {
    checkOutput(flags, options, diagnostics);
    readTarget(flags, options, diagnostics);
    options.compressionConf = flags.get("compression_optimize_conf");
    if (!options.compressionConf.empty() && !sys::fs::exists(options.compressionConf))
      diagnostics.error("E10410", "the file \"" + options.compressionConf +
                                      "\" of --compression_optimize_conf does not exist");
  }
  return options;
}

} // namespace atc::tools
