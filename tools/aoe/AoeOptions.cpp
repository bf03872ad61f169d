//===-- AoeOptions.cpp - what a command line of aoe asks for --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/aoe/AoeOptions.h"

#include "tuning/BankFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <deque>
#include <thread>

using namespace llvm;

namespace atc::tools {

namespace {

struct OwnFlag {
  const char *name, *help;
  const char *whyIgnored = nullptr; ///< Why it has no effect; null: it has one.
  bool needsValue = true;
};
constexpr const char *simulated = "the NPU is simulated on this machine";
constexpr const char *limited = "--tune_seconds and --tune_trials say how far the search goes";
constexpr OwnFlag ownFlags[] = {
    {"job_type", "1: groups of layers and joined launches (default), 2: tiles and buffers of "
                 "single kernels, \"1,2\": "
                 "one after the other; --target=cpu: 1: forms of convolutions, 2: tiles"},
    {"tune_seconds", "seconds that the search may take (default 600)"},
    {"tune_trials", "compilations that the search may try (default: any number); with this limit "
                    "alone the result is the same each time"},
    {"seed", "of the search's random numbers (default 0)"},
    {"jobs", "compilations at a time (default: one per processor, at most 8)"},
    {"bank", "the bank to go on from and to write, a .jsonl file or a folder ($TUNE_BANK_PATH, "
             "else <output>_bank)"},
    {"report", "the JSON report (default <output>_aoe.json)"},
    {"merge", "banks, separated by commas, to merge into --bank; with --soc_version only the "
              "entries for that chip; no model is tuned"},
    {"ip", "the machine with the card; has no meaning here", simulated},
    {"port", "of that machine; has no meaning here", simulated},
    {"device", "the card; has no meaning here", simulated},
    {"model_path", "graphs that a framework has dumped; not supported"},
    {"tune_ops_file", "a list of operators; has no meaning here", "all operators are tuned"},
    {"tune_optimization_level", "O1 or O2; has no meaning here", limited},
    {"progress_bar", "on or off; has no meaning here", "there is none"},
    {"reload", "go on after an interruption; has no meaning here",
     "a search goes on from its bank anyway", false},
    {"Fdeeper_opat", "has no meaning here", limited, false},
    {"Fop_format", "has no meaning here", limited, false},
    {"Fnonhomo_split", "has no meaning here", limited, false}};

/// Writes the flag that `-m`, `-w`, `-f` and `-j` are short for.
StringRef longNameOf(StringRef written) {
  return StringSwitch<StringRef>(written)
      .Case("-m", "--model")
      .Case("-w", "--weight")
      .Case("-f", "--framework")
      .Case("-j", "--job_type")
      .Default(written);
}

/// Returns what --framework says of a model file by its name; "" where nothing does.
StringRef frameworkOf(StringRef model) {
  return StringSwitch<StringRef>(sys::path::extension(model))
      .Case(".onnx", "5")
      .Case(".pb", "3")
      .Case(".prototxt", "0")
      .Case(".air", "1")
      .Default("");
}

/// The values of the own flags; takes them out of a command line.
class OwnValues {
public:
  OwnValues(ArrayRef<const char *> arguments, Diagnostics &diagnostics) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto [shortName, value] = StringRef(arguments[i]).split('=');
      const StringRef written = longNameOf(shortName);
      std::string name = written.ltrim('-').str();
      std::replace(name.begin(), name.end(), '-', '_');
      const OwnFlag *own =
          find_if(ownFlags, [&](const OwnFlag &flag) { return name == flag.name; });
      if (!written.starts_with("-") || own == std::end(ownFlags)) {
        rest.push_back(written == shortName ? arguments[i] : keep(written, arguments[i]));
        continue;
      }
      const bool isSeparate = !StringRef(arguments[i]).contains('=');
      if (isSeparate && i + 1 < arguments.size() &&
          (own->needsValue || !StringRef(arguments[i + 1]).starts_with("-")))
        value = arguments[++i];
      if (own->needsValue && value.trim().empty())
        diagnostics.error("E10004", "the value of --" + name + " is empty");
      values[name] = value.str();
    }
  }

  bool has(const char *name) const { return values.count(name); }
  std::string get(const char *name) const {
    auto found = values.find(name);
    return found == values.end() ? "" : found->second;
  }
  /// Reads a whole number of at least `min` where the flag is given.
  template <typename T>
  void read(const char *name, T min, T max, T &number, Diagnostics &diagnostics) const {
    T read = 0;
    if (!has(name) || get(name).empty())
      return;
    if (!StringRef(get(name)).getAsInteger(10, read) && read >= min && read <= max)
      number = read;
    else
      diagnostics.error("E10001", "the value \"" + get(name) + "\" of --" + name +
                                      " is invalid: it must be a whole number from " + Twine(min) +
                                      " to " + Twine(max));
  }

  std::vector<const char *> rest;

private:
  /// Returns an argument with a long name in place of a short one.
  const char *keep(StringRef name, StringRef argument) {
    const size_t end = std::min(argument.find('='), argument.size());
    return texts.emplace_back((name + argument.substr(end)).str()).c_str();
  }

  std::map<std::string, std::string> values;
  std::deque<std::string> texts; ///< Arguments that `rest` points to.
};

void readBudget(const OwnValues &own, tuning::Budget &budget, Diagnostics &diagnostics) {
  uint64_t seconds = 600;
  own.read<uint64_t>("tune_seconds", 1, 1000000, seconds, diagnostics);
  // A limit of trials alone makes a search that does not depend on the machine.
  budget.seconds = own.has("tune_trials") && !own.has("tune_seconds") ? 1e9 : double(seconds);
  own.read<uint64_t>("tune_trials", 1, UINT64_MAX, budget.trials, diagnostics);
  own.read<uint64_t>("seed", 0, UINT64_MAX, budget.seed, diagnostics);
  budget.jobs = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  own.read<unsigned>("jobs", 1, 64, budget.jobs, diagnostics);
  const std::string job = own.has("job_type") ? own.get("job_type") : "1";
  budget.tuneGroups = job != "2";
  budget.tuneTiles = job != "1";
  if (!is_contained({"1", "2", "1,2"}, job))
    diagnostics.error("E10001", "the value \"" + job +
                                    "\" of --job_type is invalid: it must be 1 (groups of "
                                    "layers), 2 (single kernels) or 1,2");
}

/// Returns shapes as --input_shape has them.
std::string shapeText(const InputShapes &shapes) {
  std::string text;
  raw_string_ostream stream(text);
  interleave(
      shapes, stream,
      [&](const auto &shape) {
        stream << shape.first << ":";
        interleave(shape.second, stream, ",");
      },
      ";");
  return text;
}

/// Reports what can be compiled but not tuned.
void checkTunable(const AoeOptions &options, Diagnostics &diagnostics) {
  auto refuse = [&](const Twine &what) { diagnostics.error("E10055", what); };
  if (options.compile.mode != Mode::Compile)
    return refuse("aoe tunes one model for one target: --mode and --singleop are not supported");
  if (options.compile.autoTarget)
    return refuse("aoe tunes for one target: --target=auto is not supported");
  if (options.isCpu() && !StringRef(options.flags.get("target_cpu")).equals_insensitive("host"))
    return refuse("aoe measures on this machine: with --target=cpu leave --target_cpu out");
  if (options.compile.gears && options.isCpu())
    refuse("the gears of a model for the CPU are tuned one by one: run aoe with the --input_shape "
           "of each gear (\"" +
           shapeText(options.compile.gears->shapesOf(0)) +
           "\" for the first one) and the same --bank, then atc with all gears and "
           "--op_bank_path=<bank>");
  if (!options.compile.gears && !options.compile.ranges.empty())
    refuse("a model with dims of any size cannot be tuned: give the sizes that are used, with "
           "--dynamic_batch_size, --dynamic_image_size or --dynamic_dims, or one size with "
           "--input_shape");
  if (options.compile.stopAfter != driver::Phase::Emit)
    refuse("--stop_after is not supported by aoe");
  if (!options.compile.compressionConf.empty())
    refuse("--compression_optimize_conf is not supported by aoe: quantize the model with amct, "
           "and tune the result");
}

void readMerge(const OwnValues &own, AoeOptions &options, Diagnostics &diagnostics) {
  SmallVector<StringRef> parts;
  const std::string text = own.get("merge");
  StringRef(text).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    options.mergeFrom.push_back(part.str());
    if (!sys::fs::exists(part))
      diagnostics.error("E10410", "the bank \"" + part + "\" of --merge does not exist");
  }
  if (options.bank.empty())
    diagnostics.error("E10007", "--bank is required with --merge: the bank to write");
  if (!options.flags.has("soc_version"))
    return;
  options.target = options.flags.get("soc_version");
  if (const npu::SocTable *soc = npu::findSoc(options.target))
    options.target = soc->name;
}

} // namespace

AoeOptions parseAoe(ArrayRef<const char *> arguments, Diagnostics &diagnostics) {
  AoeOptions options;
  const OwnValues own(arguments, diagnostics);
  options.flags = parseFlags(own.rest, diagnostics);
  options.help = options.flags.help;
  options.version = options.flags.version;
  if (options.help || options.version)
    return options;
  const char *variable = std::getenv("TUNE_BANK_PATH");
  options.bank = own.has("bank") ? own.get("bank") : variable ? variable : "";
  if (own.has("merge")) {
    readMerge(own, options, diagnostics);
    return options;
  }
  readBudget(own, options.budget, diagnostics);
  for (const OwnFlag &flag : ownFlags)
    if (flag.whyIgnored && own.has(flag.name))
      diagnostics.warning("W10055", Twine("--") + flag.name + " has no effect: " + flag.whyIgnored);
  // Without an effect, but a name that leads nowhere is a mistake all the same.
  if (const std::string list = own.get("tune_ops_file"); !list.empty() && !sys::fs::exists(list))
    diagnostics.error("E10410", "the file \"" + list + "\" of --tune_ops_file does not exist");
  if (own.has("model_path")) {
    diagnostics.error("E10055", "graphs that a framework has dumped (--model_path) cannot be "
                                "tuned: give the model with --model");
    return options;
  }
  // aoe reads its own bank, which need not be there yet.
  FlagValues &flags = options.flags;
  if (!flags.has("output") && flags.has("model"))
    flags.given["output"] = sys::path::stem(flags.get("model")).str();
  if (!flags.has("framework") && flags.has("model"))
    if (const StringRef framework = frameworkOf(flags.get("model")); !framework.empty())
      flags.given["framework"] = framework.str();
  unsetenv("TUNE_BANK_PATH");
  // With a card in the machine its chip need not be named.
  if (!flags.has("soc_version") && !flags.has("target") && !flags.has("soc_file")) {
    const char *card = std::getenv("OPENATC_ACL_SOC");
    flags.given["soc_version"] = card && *card ? card : "Ascend310P3";
    diagnostics.warning("W10055", "--soc_version is not given: the model is tuned for " +
                                      flags.get("soc_version") +
                                      ", which the environment variable OPENATC_ACL_SOC sets");
  }
  options.compile = buildOptions(flags, diagnostics);
  if (diagnostics.hasErrors())
    return options;
  checkTunable(options, diagnostics);
  tuning::Choices given = std::exchange(options.compile.compiler.choices, {});
  const std::string stem = StringRef(options.compile.outputFile).drop_back(3).str();
  if (options.bank.empty())
    options.bank = stem + "_bank";
  options.report = own.has("report") ? own.get("report") : stem + "_aoe.json";
  const std::vector<std::string> targets = options.compile.compiler.target->choiceTargets();
  options.target = targets.empty() ? "" : targets.front();
  for (const std::string &target : options.isCpu() ? targets : std::vector{options.target}) {
    tuning::Bank bank;
    std::string error;
    size_t others = 0;
    if (!tuning::readBank(options.bank, target, bank, error))
      diagnostics.errorLine(error);
    options.known.merge(bank.choicesFor(target, tuning::BankPart::All, others));
  }
  options.known.merge(given);
  return options;
}

void printAoeHelp(raw_ostream &os) {
  os << "usage: aoe --model=<file> --framework=5 --soc_version=Ascend310P3 [--job_type=1|2]\n"
        "           [--output=<path>] [flags of atc]\n"
        "       aoe --merge=<bank>,<bank> --bank=<bank>\n\n"
        "Tunes the compilation of a model for a simulated NPU or, with --target=cpu, for this\n"
        "machine. aoe tries other choices than those of the cost models, measures each, and keeps\n"
        "those that make the model faster in a bank, from which atc reads them (--mdl_bank_path,\n"
        "--op_bank_path, $TUNE_BANK_PATH). It writes the tuned model to <output>.om, by default\n"
        "named after the model. The tuned model is never slower than the untuned one. SIGINT ends\n"
        "the search; the bank then has what was found so far, and the next call continues there.\n"
        "Takes every flag of atc (atc --help), and its own:\n\n";
  for (const OwnFlag &flag : ownFlags) {
    std::string head = std::string("  --") + flag.name;
    head.resize(std::max<size_t>(head.size() + 1, 20), ' ');
    os << head << flag.help << "\n";
  }
  os << "  --help, --version\n\n"
        "Exit code: 0 when everything went well, 1 otherwise, with one coded line per error.\n";
}

ListedCommand listAoeFlags() {
  ListedCommand command = listFlags();
  command.name = "aoe";
  command.text = "Tunes the compilation of a model for a simulated NPU and keeps the choices in a "
                 "bank for atc.";
  for (const OwnFlag &flag : reverse(ownFlags)) {
    ListedOption option;
    option.names = {std::string("--") + flag.name};
    option.group = "Tuning";
    option.help = flag.help;
    option.value = "VALUE";
    command.options.insert(command.options.begin(), std::move(option));
  }
  return command;
}

} // namespace atc::tools
