//===-- Flags.cpp - the flags of atc --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/Flags.h"

#include "driver/TargetRequest.h"

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
    {"mode", Used, "0", "0,1,3,5,6", input,
     "0: compile (default); 1: --om to --json; 3: only check the model, result in --check_report; "
     "6: show what --om holds"},
    {"model", Used, "", "", input, "the model: an .onnx or .pb file, a SavedModel folder (for developers also .mlir)", FileName},
    {"weight", Used, "", "", input, "the weights of a Caffe model", FileName},
    {"framework", Used, "", "", input, "the model's format: 5 = ONNX, 3 = TensorFlow"},
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
     "what the compiled model gives, \"node:0;node:1\" or names of tensors"},
    {"input_nodes", Used, "", "", input,
     "TensorFlow: these nodes, \"a;b\", become inputs; what is in front of them is cut off"},
    {"om", Used, "", "", input, "the .om file for --mode=1 and 6", Nothing},

    {"output", Used, "", "", output, "path of the result without its suffix: .om is appended", Nothing},
    {"json", Used, "", "", output,
     "--mode=1: the file to write; --mode=0: file for a summary of the compilation, - for stdout", Nothing},
    {"check_report", Used, "check_result.json", "", output, "the file that --mode=3 writes", Nothing},
    {"log", Used, "null", "", output, "null (default), debug, info, warning, error", Nothing},
    {"max_memory", Used, "", "", output,
     "memory that the compilation may allocate, 800M or 16G; three quarters of the machine's (default), unlimited",
     Nothing},
    {"verbose", Used, "false", "bool", output, "print the time and the memory of every stage", Nothing},

    {"target", Used, "", "cpu,npu", target, "what to compile for: cpu, or npu with --soc_version"},
    {"target_cpu", Used, "host", "", target,
     "CPU levels, a list of host (default), x86-64-v2, v3, v4, aarch64 ...; the loader picks the best"},
    {"soc_version", Used, "", "", target,
     "the NPU to compile for: Ascend310P3 ...; without it, --target=cpu"},
    {"soc_file", Used, "", "", target,
     "a table of key = value lines that changes the NPU's (base = Ascend310P3 first)", FileName},
    {"precision_mode", Used, "force_fp16",
     driver::precisionModes, target, "of an NPU: force_fp16 (default), allow_fp32_to_fp16, must_keep_origin_dtype, "
     "cube_fp16in_fp32out"},
    {"compression_optimize_conf", Used, "", "", target,
     "quantize to int8 while compiling: a file that names a folder of samples (docs/amct.md)", FileName},

    {"disable_passes", Used, "", "", developer, "passes to leave out, a list of names (docs/graph-passes.md, docs/npu.md)"},
    {"save_temps", Used, "", "", developer, "a folder for the intermediate forms of the model", Nothing},
    {"stop_after", Used, "emit", "import,quantize,graph,kernels,schedule,programs,emit", developer,
     "stop after this phase and write the module as <output>.mlir: import, quantize, graph, kernels, schedule, programs"},

    {"singleop", Unsupported, "", "", compatible, ""},
    {"output_type", Unsupported, "", "", compatible, ""},
    {"input_fp16_nodes", Unsupported, "", "", compatible, ""},
    {"insert_op_conf", Unsupported, "", "", compatible, ""},
    {"external_weight", Unsupported, "0", "0,1,2", compatible, ""},
    {"is_input_adjust_hw_layout", Unsupported, "false", "", compatible, ""},
    {"is_output_adjust_hw_layout", Unsupported, "false", "", compatible, ""},
    {"customize_dtypes", Unsupported, "", "", compatible, ""},
    {"sparsity", Unsupported, "0", "0,1", compatible, ""},

    {"precision_mode_v2", None, "fp16",
     "fp16,origin,cube_fp16in_fp32out,mixed_float16,mixed_bfloat16", compatible, ""},
    {"op_precision_mode", None, "", "", compatible, ""},
    {"modify_mixlist", None, "", "", compatible, ""},
    {"keep_dtype", None, "", "", compatible, ""},
    {"op_select_implmode", None, "high_performance",
     "high_performance,high_precision,high_performance_for_all,high_precision_for_all", compatible, ""},
    {"optypelist_for_implmode", None, "", "", compatible, ""},
    {"fusion_switch_file", None, "", "", compatible, ""},
    {"optimization_switch", None, "", "", compatible, ""},
    {"oo_level", None, "O3", "O1,O3", compatible, ""},
    {"oo_constant_folding", None, "true", "bool", compatible, ""},
    {"oo_dead_code_elimination", None, "true", "bool", compatible, ""},
    {"buffer_optimize", None, "l2_optimize", "l2_optimize,l1_optimize,off_optimize", compatible, ""},
    {"disable_reuse_memory", None, "0", "0,1", compatible, ""},
    {"enable_small_channel", None, "0", "0,1", compatible, ""},
    {"enable_compress_weight", None, "false", "bool", compatible, ""},
    {"compress_weight_conf", None, "", "", compatible, ""},
    {"mdl_bank_path", None, "", "", compatible, ""},
    {"op_bank_path", None, "", "", compatible, ""},
    {"auto_tune_mode", Used, "", "", compatible, ""},
    {"op_compiler_cache_mode", None, "disable", "disable,enable,force", compatible, ""},
    {"op_compiler_cache_dir", None, "", "", compatible, ""},
    {"deterministic", None, "0", "0,1", compatible, ""},
    {"dump_mode", None, "0", "0,1", compatible, ""},
    {"debug_dir", None, "", "", compatible, ""},
    {"op_debug_level", None, "0", "0,1,2,3,4", compatible, ""},
    {"display_model_info", None, "0", "0,1", compatible, ""},
    {"host_env_os", None, "", "", compatible, ""},
    {"host_env_cpu", None, "", "", compatible, ""},
    {"aicore_num", None, "", "", compatible, ""},
    {"core_type", None, "AiCore", "AiCore,VectorCore", compatible, ""},
    {"virtual_type", None, "0", "0,1", compatible, ""},
    {"topo_sorting_mode", None, "", "0,1,2,3", compatible, ""},
    {"jit_compile", None, "", "", compatible, ""},
    {"status_check", None, "0", "0,1", compatible, ""},
    {"atomic_clean_policy", None, "0", "0,1", compatible, ""},
    {"save_original_model", None, "false", "bool", compatible, ""},
};
// clang-format on

const Flag *findExact(StringRef name) {
  const Flag *flag = find_if(flags, [&](const Flag &f) { return name == f.name; });
  return flag == std::end(flags) ? nullptr : flag;
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
    const Flag *nearest = nullptr;
    unsigned best = 4;
    for (const Flag &flag : flags)
      if (unsigned distance = name.edit_distance(flag.name); distance < best) {
        best = distance;
        nearest = &flag;
      }
    diagnostics.error("E10055",
                      "the flag \"" + spelled + "\" is not known" +
                          (nearest ? "; did you mean --" + std::string(nearest->name) + "?"
                                   : "; atc --help lists all flags"));
  } else {
    std::string names;
    for (const Flag *flag : matches)
      names += std::string(names.empty() ? "" : ", ") + "--" + flag->name;
    diagnostics.error("E10055", "the flag \"" + spelled + "\" is short for several: " + names);
  }
  return nullptr;
}

/// Returns a word as a shell would take it again.
std::string quoted(StringRef word) {
  constexpr const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == StringRef::npos)
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
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
                                      " is invalid: it must be one of " + join(allowed, ", "));
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
    StringRef spelled = arguments[i];
    if (spelled.size() < 2 || spelled[0] != '-') {
      diagnostics.error("E10055",
                        "\"" + spelled + "\" is not a flag: flags are written --flag=value");
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
    StringRef next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (!flag) {
      // What follows an unknown flag is most likely its value.
      i += !hasValue && !next.empty() && next[0] != '-';
      continue;
    }
    if (!hasValue && flag->isBool()) {
      value = isBoolWord(next) ? next : "true";
      i += isBoolWord(next);
    } else if (!hasValue && !next.starts_with("--")) {
      value = next;
      ++i;
    }
    checkValue(*flag, value, diagnostics);
    result.given[flag->name] = value.str();
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
    line += " " + quoted("--" + name + "=" +
                         (isFile ? sys::path::filename(StringRef(value).rtrim('/')).str() : value));
  }
  return line;
}

void printHelp(raw_ostream &os) {
  os << "usage: atc --model=<file> --framework=5 --target=cpu --output=<path without .om>\n"
        "       atc --model=<file> --framework=5 --soc_version=Ascend310P3 --output=<path>\n\n"
        "Compiles an ONNX or TensorFlow model into one .om file that om-run and the runtime\n"
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
     << "\n  One that changes nothing here says so in a warning; one that would change "
        "results\n  is refused.\n\n"
        "Exit code: 0 when the model was compiled, 1 otherwise, with one coded line for each "
        "fault.\n";
}

} // namespace atc::tools
