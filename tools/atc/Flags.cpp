//===-- Flags.cpp - the flags of atc --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Flags.h"

#include "driver/targets/TargetRequest.h"
#include "support/NearestName.h"
#include "tools/atc/Characters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace atc::tools {

namespace {
constexpr FlagEffect Used = FlagEffect::Used, None = FlagEffect::None,
                     Unsupported = FlagEffect::Unsupported;

constexpr FlagRecord FileName = FlagRecord::FileName, Nothing = FlagRecord::Nothing;

constexpr const char *input = "Input", *output = "Output", *target = "Target",
                     *developer = "Looking inside", *compatible = "Accepted for compatibility";

// clang-format off
const Flag flags[] = {
    {"mode", Used, "0", "0,1,3,5,6,7,30", input,
     "0: compile (default); 1: --om to --json; 5: the same of a graph dump; 3: only check the model, result in --check_report; "
     "6: show what --om holds"},
    {"model", Used, "", "", input, "the model: an .onnx, .pb, .prototxt, .tflite or .air file, a SavedModel folder (for developers also .mlir)", FileName},
    {"weight", Used, "", "", input, "the weights of a Caffe model: its .caffemodel", FileName},
    {"framework", Used, "", "", input, "the model's format: 5 = ONNX, 3 = TensorFlow, 0 = Caffe, 1 = MindSpore (AIR), 6 = TensorFlow Lite"},
    {"input_shape", Used, "", "", input,
     "shapes of inputs, \"name:1,3,224,224;other:1~8,4\"; they replace those in the model; -1 is any size, a~b a range"},
    {"input_format", Used, "", "NCHW,ND,NCDHW,NHWC,NDHWC", input,
     "how the inputs' dims are meant; ONNX: NCHW (default), ND, NCDHW"},
    {"input_shape_range", Used, "", "", input,
     "older form of ranges in --input_shape: \"name:[8~20,3,5,-1]\""},
    {"input_hint_shape", Used, "", "", input,
     "for an NPU, the sizes that dims of -1 and a~b are computed at: \"0:[8,3,224,224];0:[32,3,224,224]\""},
    {"dynamic_batch_size", Used, "", "", input,
     "a static model per batch, \"1,2,4,8\", in one file; the batch is -1 in --input_shape"},
    {"dynamic_image_size", Used, "", "", input,
     "a static model per height and width, \"416,416;832,832\", which are -1 in --input_shape"},
    {"dynamic_dims", Used, "", "", input,
     "a static model per list of sizes, \"20,1;40,1\", one for each -1 in --input_shape; with --input_format=ND"},
    {"out_nodes", Used, "", "", input,
     "the outputs of the compiled model, \"node:0;node:1\" or names of tensors"},
    {"insert_op_conf", Used, "", "", input,
     "preprocessing of images in front of the model (AIPP): a file of aipp_op { ... } (docs/aipp.md)", FileName},
    {"state", Used, "auto", "", input,
     "outputs that are the next run's values of inputs, \"h=h_next;past.*=present.*\"; auto (default) links caches by name; none"},
    {"train", Used, "", "", input,
     "make the training step of an ONNX model: a .json file with loss, optimizer, learning rate ... (docs/training.md)", FileName},
    {"input_nodes", Used, "", "", input,
     "TensorFlow: these nodes, \"a;b\", become inputs; what is in front of them is cut off"},
    {"signature_def", Used, "", "", input,
     "TensorFlow (also Lite): the signature of a model to compile; otherwise serving_default, or the only one"},
    {"input_fp16_nodes", Used, "", "", input, "inputs, \"a;b\", that the caller gives as f16"},
    {"is_input_adjust_hw_layout", Used, "false", "", input,
     "true,false for each of --input_fp16_nodes: whether the caller gives it as NC1HWC0"},
    {"singleop", Used, "", "", input, "a .json file of operators: each becomes an .om in the folder --output"},
    {"om", Used, "", "", input, "the .om file for --mode=1 and 6, or a model for --mode=1", Nothing},

    {"output", Used, "", "", output, "path of the result without its suffix: .om is appended", Nothing},
    {"output_type", Used, "", "", output,
     "element type of all outputs (FP32, FP16, UINT8, INT8 ...), or of some: \"node:0:FP16;other:1:FP32\""},
    {"is_output_adjust_hw_layout", Used, "false", "", output,
     "true,false for each of --out_nodes: whether it comes as f16 in NC1HWC0"},
    {"display_model_info", Used, "0", "0,1", output, "1: print what the .om holds, as --mode=6 does", Nothing},
    {"emit", Used, "om", "om,object", output,
     "om: the file <output>.om (default); object: <output>.o, which a program links, and <output>.h (docs/embedding.md)"},
    {"json", Used, "", "", output,
     "--mode=1: the file to write; --mode=0: file for a summary of the compilation, - for stdout", Nothing},
    {"check_report", Used, "check_result.json", "", output, "the file that --mode=3 writes", Nothing},
    {"log", Used, "null", "", output, "null (default), debug, info, warning, error", Nothing},
    {"max_memory", Used, "", "", output,
     "memory that the compilation may allocate, 800M or 16G; three quarters of the machine's (default), unlimited",
     Nothing},
    {"verbose", Used, "false", "bool", output, "print the time and the memory of every stage", Nothing},

    {"target", Used, "", "cpu,npu,auto,mini", target,
     "what to compile for: cpu, npu with --soc_version, or auto: each part where it costs less (docs/npu.md)"},
    {"target_cpu", Used, "host", "", target,
     "CPU levels, a list of host (default), x86-64-v2, v3, v4, aarch64 ...; the loader picks the best"},
    {"soc_version", Used, "", "", target,
     "the NPU to compile for: Ascend310P3 ...; without it, --target=cpu"},
    {"soc_file", Used, "", "", target,
     "a table of key = value lines that changes the NPU's (base = Ascend310P3 first)", FileName},
    {"op_placement", Used, "", "", target,
     "a file with [ByOpType] and [ByNodeName] lines such as Softmax = cpu, or = npu", FileName},
    {"placement_switches", Used, "", "", target, "--target=auto: switches between NPU and CPU that a run may have"},
    {"placement_processors", Used, "", "", target,
     "--target=auto: processors that the CPU is modelled with; by default as many as there are"},
    {"parallel", Used, "", "", target,
     "split the model over ranks, one file each: tp:2,pp:2,dp:1 (tensor, pipeline, data), or auto with --cluster (docs/sharding.md)"},
    {"cluster", Used, "", "", target, "a .json file that describes the devices and their network, for --parallel", FileName},
    {"shard_tensors", Used, "", "", target,
     "a .json file of tensors that tp divides, {\"name\": dim}; without it the compiler chooses", FileName},
    {"precision_mode", Used, "force_fp16",
     driver::precisionModes, target, "force_fp16 (default), force_fp32, cube_fp16in_fp32out, allow_fp32_to_fp16, "
     "must_keep_origin_dtype, allow_mix_precision"},
    {"precision_mode_v2", Used, "fp16", driver::precisionModesV2, target,
     "the newer names: fp16 (default), origin, cube_fp16in_fp32out, mixed_float16"},
    {"op_precision_mode", Used, "", "", target,
     "a file with [ByOpType] and [ByNodeName] lines such as Exp = high_precision", FileName},
    {"modify_mixlist", Used, "", "", target,
     "a .json file that changes which operators allow_mix_precision computes in f16", FileName},
    {"keep_dtype", Used, "", "", target,
     "a file of nodes, one per line (or OpType::Exp), that keep the element type of the model", FileName},
    {"customize_dtypes", Used, "", "", target,
     "a file of lines such as node::InputDtype:float32,OutputDtype:float32", FileName},
    {"op_select_implmode", Used, "high_performance",
     "high_performance,high_precision,high_performance_for_all,high_precision_for_all", target,
     "high_precision computes operators that lose much in f16 in f32"},
    {"optypelist_for_implmode", Used, "", "", target, "the operators that --op_select_implmode is for: Exp,Gelu"},
    {"mdl_bank_path", Used, "", "", target,
     "a bank of aoe, a file or a folder, for choices on the whole model ($TUNE_BANK_PATH)", FileName},
    {"op_bank_path", Used, "", "", target,
     "a bank of aoe, a file or a folder, for choices on single kernels ($TUNE_BANK_PATH)", FileName},
    {"compression_optimize_conf", Used, "", "", target,
     "quantize to int8 while compiling: a file that names a folder of samples (docs/amct.md)", FileName},

    {"disable_passes", Used, "", "", developer, "passes to leave out, a list of names (docs/graph-passes.md, docs/npu.md)"},
    {"fusion_switch_file", Used, "", "", developer,
     "a file that switches fusions: lines Name:off, or json; names of passes or of the Ascend toolchain's fusions", FileName},
    {"optimization_switch", Used, "", "", developer, "switches passes, \"Name:off;Other:on\", over --fusion_switch_file"},
    {"oo_level", Used, "O3", "O1,O3", developer, "O1: without fusions"},
    {"oo_constant_folding", Used, "true", "bool", developer, "false: constants are not computed while compiling"},
    {"oo_dead_code_elimination", Used, "true", "bool", developer, "false: what no output needs is kept where it has no other use"},
    {"fusion_rules", Used, "", "", developer,
     "a file of your own rewrite rules: PDLL (.pdll) or PDL patterns as .mlir (docs/extending.md)", FileName},
    {"load_pass_plugin", Used, "", "", developer, "files of shared libraries with passes, \"a.so;b.so\" (docs/extending.md)", FileName},
    {"extra_passes", Used, "", "", developer,
     "passes to run behind a phase, \"import:my-pass{option=1};graph:canonicalize,cse\""},
    {"disable_reuse_memory", Used, "0", "0,1", developer, "1: results never take the place of inputs in memory"},
    {"remarks", Used, "", "", developer,
     "print what passes decided: all, or a list of passed, missed, analysis (docs/debugging.md)", Nothing},
    {"save_temps", Used, "", "", developer, "a folder for the intermediate forms of the model", Nothing},
    {"stop_after", Used, "emit", "import,quantize,graph,kernels,schedule,programs,emit", developer,
     "stop after this phase and write the module as <output>.mlir: import, quantize, graph, kernels, schedule, programs"},


    {"external_weight", None, "0", "0,1,2", compatible,
     "weights stay in the .om, one file, which is mapped and not copied when it is loaded"},
    {"cluster_config", Unsupported, "", "", compatible,
     "a model is compiled for one device: cut it with --out_nodes and --input_nodes and compile each part"},
    {"hccl_sub_comm_config", Unsupported, "", "", compatible,
     "a model is compiled for one device: leave the flag out"},
    {"distributed_cluster_build", Unsupported, "0", "0,1", compatible,
     "a model is compiled for one device: leave the flag out"},
    {"enable_graph_parallel", Unsupported, "0", "0,1", compatible,
     "--parallel splits a model over ranks (docs/sharding.md)"},
    {"graph_parallel_option_path", Unsupported, "", "", compatible,
     "--parallel splits a model over ranks (docs/sharding.md)"},
    {"encrypt_mode", Unsupported, "-1", "-1,0", compatible,
     "files are signed and not encrypted: om-sign (docs/trust.md)"},
    {"cal_conf", Unsupported, "", "", compatible,
     "quantization while compiling is --compression_optimize_conf, or amct before it (docs/amct.md)"},

    {"shard_model_dir", Unsupported, "", "", compatible,
     "a folder of parts that other tools have cut a model into; --parallel splits the whole model over ranks "
     "(docs/sharding.md)"},
    {"model_relation_config", Unsupported, "", "", compatible,
     "it says how parts of --shard_model_dir are connected; --parallel connects what it splits (docs/sharding.md)"},

    {"raw_ge_options", Used, "", "", compatible,
     "a .json file {\"compile options\": {\"global\": {\"ge.outputDatatype\": \"FP16\"}, \"session\": ..., \"graph\": ...}} of "
     "options by the names of graph programs; flags take precedence", Nothing},
    {"raw_ge_options_ignore_unsupported", Used, "false", "bool", compatible,
     "true: options of --raw_ge_options that are not known here are warnings", Nothing},
    {"deterministic", Used, "0", "0,1", compatible, "results are the same in every run, with 0 as with 1"},
    {"deterministic_level", Used, "0", "0,1,2", compatible, "results are the same in every run, at each level"},
    {"is_weight_clip", Used, "1", "0,1", compatible,
     "what weights beyond f16 are on an NPU: 1: 65504 or -65504, 0: infinite"},
    {"buffer_optimize", None, "l2_optimize", "l2_optimize,l1_optimize,off_optimize,l1_and_l2_optimize", compatible,
     "the compiler chooses buffers by cost"},
    {"enable_small_channel", None, "0", "0,1", compatible,
     "convolutions of few channels are always compiled for them"},
    {"enable_compress_weight", None, "false", "bool", compatible, "weights are stored as they are computed with"},
    {"compress_weight_conf", None, "", "", compatible, "weights are stored as they are computed with", FileName},
    {"sparsity", None, "0", "0,1", compatible, "weights of 4:2 sparsity are computed like others, with equal results"},
    {"auto_tune_mode", Used, "", "", compatible, ""},
    {"op_compiler_cache_mode", Used, "enable", "disable,enable,force", compatible,
     "whether the code of kernels is kept for later compilations; force: generated anew"},
    {"op_compiler_cache_dir", Used, "", "", compatible,
     "the folder where it is kept ($OPENATC_CACHE_DIR, else ~/.cache/openatc)"},
    {"dump_mode", None, "0", "0,1", compatible, "--save_temps keeps intermediate forms"},
    {"debug_dir", None, "", "", compatible, "--save_temps keeps intermediate forms"},
    {"op_debug_level", None, "0", "0,1,2,3,4", compatible, "--save_temps keeps intermediate forms"},
    {"host_env_os", Used, "linux", "", compatible, ""},
    {"host_env_cpu", Used, "", "", compatible, ""},
    {"aicore_num", None, "", "", compatible, "all cores of the NPU are used; --soc_file changes their number"},
    {"core_type", None, "AiCore", "AiCore,VectorCore", compatible, "the compiler chooses the cores of each kernel"},
    {"op_debug_config", None, "", "", compatible, "om-run --check-hazards finds errors of a compiled program", FileName},
    {"virtual_type", None, "0", "0,1", compatible, "the simulated NPU is not shared"},
    {"topo_sorting_mode", None, "", "0,1,2,3", compatible, "the order of launches is chosen by memory"},
    {"jit_compile", None, "", "", compatible, "everything is compiled before it runs"},
    {"status_check", None, "0", "0,1", compatible, "om-run --compare finds the first tensor that differs from the reference"},
    {"atomic_clean_policy", None, "0", "0,1", compatible, "no kernel needs memory that was cleared before"},
    {"save_original_model", None, "false", "bool", compatible, "the .om holds compiled code alone"},
    {"op_name_map", None, "", "", compatible, "operators are known by their own names", FileName},
    {"enable_scope_fusion_passes", None, "", "", compatible,
     "operators of a scope are compiled one by one, with equal results"},
    {"enable_single_stream", None, "false", "bool", compatible, "a model always has one stream"},
    {"ac_parallel_enable", None, "0", "0,1", compatible, "kernels of the CPU run in the stream of the model"},
    {"tiling_schedule_optimize", None, "0", "0,1", compatible, "tiles are chosen before the model runs"},
    {"multi_stream_parallel_mode", None, "", "", compatible, "a model always has one stream"},
    {"h2d_overlapped_with_compute", None, "", "", compatible, "inputs are not copied before a run"},
    {"allow_hf32", None, "true", "bool", compatible, "f32 is computed as f32, never as hf32"},
    {"static_model_ops_lower_limit", None, "4", "", compatible, "static parts of a dynamic model are found by what can be compiled"},
    {"quant_dumpable", None, "0", "0,1", compatible, "om-run --dump writes every tensor of a model"},
    {"enable_attr_compression", None, "false", "bool", compatible, "the .om keeps no attributes of operators"},
    {"export_compile_stat", None, "1", "0,1,2", compatible, "--json writes what was compiled, with times"},
    {"build_config", None, "", "", compatible, "all settings are flags of atc"},
    {"device_id", None, "0", "", compatible, "models are compiled without a device"},
    {"shape_generalized_build_mode", None, "shape_precise", "shape_generalized,shape_precise", compatible,
     "shapes are compiled as --input_shape states them"},
    {"input_batch_cpy", None, "0", "0,1", compatible, "inputs are not copied before a run"},
    {"is_dynamic_input", None, "", "", compatible, "dims of -1 are dynamic"},
    {"plugin_path", None, "", "", compatible, "custom operators are not loaded from plug-ins"},
    {"ddk_version", None, "", "", compatible, "there is one version of the compiler"},
    {"fuzzy_build", None, "", "", compatible, "shapes are compiled as --input_shape states them"},
};
// clang-format on

const Flag *findExact(StringRef name) {
  const Flag *flag = find_if(flags, [&](const Flag &f) { return name == f.name; });
  return flag == std::end(flags) ? nullptr : flag;
}

std::vector<std::string> flagNames() {
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    names.push_back(flag.name);
  return names;
}

/// Returns whether an empty value stands for a flag that is not given, as in scripts whose
/// variables are not set.
bool mayBeEmpty(const Flag &flag) {
  const StringRef name = flag.name;
  return !*flag.values && flag.record != Nothing && name != "model" && name != "soc_version";
}

const Flag *findFlag(StringRef name, StringRef spelled, Diagnostics &diagnostics) {
  if (const Flag *flag = findExact(name))
    return flag;
  SmallVector<const Flag *> matches;
  for (const Flag &flag : flags)
    if (!name.empty() && StringRef(flag.name).starts_with(name))
      matches.push_back(&flag);
  if (matches.size() == 1)
    return matches.front();
  if (matches.empty()) {
    const std::string nearest = nearestName(name.str(), flagNames());
    diagnostics.error("E10055", "the flag \"" + spelled + "\" is not known; " +
                                    (nearest.empty() ? "atc --help lists all flags"
                                                     : "did you mean --" + nearest + "?"));
  } else {
    std::string names;
    for (const Flag *flag : matches)
      names += std::string(names.empty() ? "" : ", ") + "--" + flag->name;
    diagnostics.error("E10055", "the flag \"" + spelled + "\" is short for several: " + names);
  }
  return nullptr;
}

/// Returns a word as a shell would take it again.
std::string shellQuoted(StringRef word) {
  constexpr const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == StringRef::npos)
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::vector<std::string> valueNames(StringRef values) {
  std::vector<std::string> words;
  for (StringRef word : llvm::split(values, ','))
    words.push_back(word.str());
  return words;
}

bool isBoolWord(StringRef text) { return is_contained({"true", "false", "0", "1"}, text.lower()); }

void checkValue(const Flag &flag, StringRef value, Diagnostics &diagnostics) {
  StringRef values = flag.values;
  if (value.trim().empty()) {
    diagnostics.error("E10004", "the value of --" + Twine(flag.name) + " is empty");
  } else if (flag.isBool()) {
    if (!isBoolWord(value))
      diagnostics.error("E10005",
                        "the value \"" + value + "\" of --" + flag.name + " must be true or false");
  } else if (values == "0,1") {
    if (value != "0" && value != "1")
      diagnostics.error("E10006",
                        "the value \"" + value + "\" of --" + flag.name + " must be 0 or 1");
  } else if (!values.empty()) {
    SmallVector<StringRef> allowed;
    values.split(allowed, ',');
    if (!is_contained(allowed, value))
      diagnostics.error("E10001", "the value \"" + value + "\" of --" + flag.name +
                                      " is invalid: it must be one of " + join(allowed, ", ") +
                                      didYouMean(value, valueNames(values)));
  }
}

} // namespace

ArrayRef<Flag> allFlags() { return flags; }

std::string FlagValues::get(const std::string &name) const {
  auto entry = given.find(name);
  return entry != given.end() ? entry->second : findExact(name)->fallback;
}

bool FlagValues::getBool(const std::string &name) const {
  std::string value = StringRef(get(name)).lower();
  return value == "true" || value == "1";
}

FlagValues parseFlags(ArrayRef<const char *> arguments, Diagnostics &diagnostics) {
  FlagValues result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string plain = withPlainDashes(arguments[i], diagnostics);
    StringRef spelled = plain;
    if (spelled.size() < 2 || spelled[0] != '-') {
      if (std::string reason = describeWord(spelled); !reason.empty())
        diagnostics.error("E10055", reason);
      else
        diagnostics.warning("W10055", "\"" + spelled +
                                          "\" is left out, as the Ascend toolchain does: it is no "
                                          "flag; a value with spaces or ; stands in quotes");
      continue;
    }
    bool hasValue = spelled.contains('=');
    auto [written, value] = spelled.split('=');
    std::string name = written.drop_front(written.starts_with("--") ? 2 : 1).str();
    std::replace(name.begin(), name.end(), '-', '_');
    if (name == "help" || name == "h") {
      result.help = true;
      continue;
    }
    if (name == "version") {
      result.version = true;
      continue;
    }
    const Flag *flag = findFlag(name, written, diagnostics);
    const bool hasNext = i + 1 < arguments.size();
    StringRef next = hasNext ? arguments[i + 1] : "";
    if (!flag) {
      // The word after an unknown flag is most likely its value.
      i += !hasValue && !next.empty() && next[0] != '-';
      continue;
    }
    if (!hasValue && flag->isBool()) {
      value = isBoolWord(next) ? next : "true";
      i += isBoolWord(next);
    } else if (!hasValue && hasNext && !next.starts_with("--")) {
      value = next;
      hasValue = true;
      ++i;
    } else if (!hasValue && StringRef(flag->values) == "0,1") {
      value = "1"; // as in the vendor's examples: --enable_small_channel --insert_op_conf=...
    }
    if (hasValue && value.trim().empty() && mayBeEmpty(*flag)) {
      result.given.erase(flag->name);
      continue;
    }
    if (checkCharacters(flag->name, value, /*isPath=*/flag->record != FlagRecord::Value,
                        diagnostics)) {
      checkValue(*flag, value, diagnostics);
      result.given[flag->name] = value.str();
    } else {
      result.given[flag->name] = withPlainCharacters(value);
    }
  }
  return result;
}

std::string recordedCommand(const FlagValues &flags) {
  std::string line = "atc";
  for (const auto &[name, value] : flags.given) {
    const Flag &flag = *findExact(name);
    if (flag.effect != FlagEffect::Used || flag.record == FlagRecord::Nothing)
      continue;
    const bool isFile = flag.record == FlagRecord::FileName;
    line += " " +
            shellQuoted("--" + name + "=" +
                        (isFile ? sys::path::filename(StringRef(value).rtrim('/')).str() : value));
  }
  return line;
}

void printHelp(raw_ostream &os) {
  os << "usage: atc --model=<file> --framework=5 --target=cpu --output=<path without .om>\n"
        "       atc --model=<file> --framework=5 --soc_version=Ascend310P3 --output=<path>\n\n"
        "Compiles an ONNX, TensorFlow, TensorFlow Lite or Caffe model into one .om file that "
        "om-run and the "
        "runtime\n"
        "library run, on this machine's CPU or on a simulated NPU.\n"
        "Flags are written --flag=value, --flag value or -flag=value, with - or _, and may be\n"
        "shortened while they stay unique.\n";
  const char *group = nullptr;
  std::string others;
  for (const Flag &flag : flags) {
    if (flag.group == compatible) {
      others += std::string(others.empty() ? "" : " ") + "--" + flag.name;
      continue;
    }
    if (group != flag.group)
      os << "\n" << (group = flag.group) << ":\n";
    std::string head = std::string("  --") + flag.name;
    head.resize(std::max<size_t>(head.size() + 1, 20), ' ');
    os << head << flag.help << "\n";
  }
  os << "  --help, --version\n\n" << compatible << ":\n";
  std::string line = " ";
  for (StringRef word : split(others, ' ')) {
    if (line.size() + word.size() > 90) {
      os << line << "\n";
      line = " ";
    }
    line += " " + word.str();
  }
  os << line
     << "\n  One that changes nothing here says so in a warning, with the reason; one that would "
        "change\n  results is refused.\n\n"
        "Exit code: 0 when the model was compiled, 1 otherwise, with one coded line for each "
        "error.\n";
}

} // namespace atc::tools
