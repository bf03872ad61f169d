//===-- PrecisionFiles.cpp - flags that say how single nodes compute ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/PrecisionFiles.h"

#include "frontends/ModelOptions.h"
#include "support/NearestName.h"
#include "tools/atc/SettingsFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace atc::tools {

namespace {

using driver::NodePrecision;
using driver::PrecisionRule;

class RuleReader {
public:
  RuleReader(const FlagValues &flags, Diagnostics &diagnostics)
      : flags(flags), diagnostics(diagnostics) {}

  std::vector<PrecisionRule> run() {
    readImplementationMode();
    forFile("modify_mixlist", [&](const SettingsFile &file) { readMixList(file); });
    forFile("op_precision_mode", [&](const SettingsFile &file) { readPrecisionModes(file); });
    forFile("keep_dtype", [&](const SettingsFile &file) { readKept(file); });
    forFile("customize_dtypes", [&](const SettingsFile &file) { readCustomized(file); });
    return std::move(rules);
  }

private:
  template <typename Read> void forFile(const char *flag, Read read) {
    if (!flags.has(flag))
      return;
    if (auto file = SettingsFile::read(flag, flags.get(flag), diagnostics))
      read(*file);
  }

  void add(StringRef name, bool isType, NodePrecision precision, const std::string &origin) {
    rules.push_back({name.str(), isType, precision, origin});
  }

  void readImplementationMode() {
    const std::string mode = flags.get("op_select_implmode");
    const std::vector<std::string> types = splitNames(flags.get("optypelist_for_implmode"), ',');
    if (!StringRef(mode).starts_with("high_precision"))
      return;
    const std::string origin = "--op_select_implmode=" + mode;
    for (const std::string &type : types)
      add(type, true, NodePrecision::Precise, "--optypelist_for_implmode");
    if (!types.empty())
      return;
    add(mode == "high_precision_for_all" ? driver::kAllTypes : driver::kSensitiveTypes, true,
        NodePrecision::Precise, origin);
  }

  //===--- --modify_mixlist -----------------------------------------------===//

  void readMixList(const SettingsFile &file) {
    const std::string mode = precisionModeOf(flags).value_or("force_fp16");
    if (!StringRef(mode).starts_with("allow_mix_precision")) {
      diagnostics.error("E10001", "--modify_mixlist changes the lists of "
                                  "--precision_mode=allow_mix_precision (or "
                                  "--precision_mode_v2=mixed_float16): give it too");
      return;
    }
    auto json = file.json(diagnostics);
    if (!json)
      return;
    if (!json->is_object()) {
      diagnostics.error("E10032", file.origin() + " must be an object with \"black-list\", "
                                                  "\"white-list\" and \"gray-list\"");
      return;
    }
    const std::vector<std::string> lists = {"black-list", "white-list", "gray-list"};
    // An operator removed from a list is treated like one on no list, unless it is added to
    // another.
    for (const char *action : {"to-remove", "to-add"})
      for (const auto &[list, changes] : json->items()) {
        const NodePrecision added = list == "black-list"   ? NodePrecision::Float32
                                    : list == "white-list" ? NodePrecision::Float16
                                                           : NodePrecision::Follow;
        if (is_contained(lists, list) && changes.is_object())
          readMixChange(file, list, changes, action,
                        StringRef(action) == "to-add" ? added : NodePrecision::Follow);
        else if (StringRef(action) == "to-add")
          diagnostics.error("E10032", file.origin() + ": \"" + list + "\" is not " +
                                          join(lists, ", ") + " with an object" +
                                          didYouMean(list, lists));
      }
  }

  void readMixChange(const SettingsFile &file, const std::string &list,
                     const nlohmann::ordered_json &changes, const char *action,
                     NodePrecision precision) {
    const std::vector<std::string> actions = {"to-add", "to-remove"};
    for (const auto &[name, types] : changes.items()) {
      if (!is_contained(actions, name) || !types.is_array()) {
        if (StringRef(action) == "to-add")
          diagnostics.error("E10032", file.origin() + ": \"" + list + "\" has \"" + name +
                                          "\", which is not to-add or to-remove with a list of "
                                          "operators" +
                                          didYouMean(name, actions));
        continue;
      }
      if (name != action)
        continue;
      for (const auto &type : types)
        if (type.is_string())
          add(type.get<std::string>(), true, precision, file.origin());
        else
          diagnostics.error("E10032", file.origin() + ": \"" + list + "\" lists " + type.dump() +
                                          ", which is not the name of an operator");
    }
  }

  //===--- --op_precision_mode --------------------------------------------===//

  void readPrecisionModes(const SettingsFile &file) {
    forEachRule(file, diagnostics, [&](const SettingsRule &rule) {
      readPrecisionMode(rule.name, rule.value, rule.isType, rule.line);
    });
  }

  void readPrecisionMode(StringRef name, StringRef mode, bool isType, const SettingsLine &line) {
    // An index out of bounds is an error of the run, whatever is asked for.
    if (mode == "support_out_of_bound_index" && !name.empty())
      return;
    auto precision = StringSwitch<std::optional<NodePrecision>>(mode)
                         .Case("high_precision", NodePrecision::Precise)
                         .Case("enable_float_32_execution", NodePrecision::Float32)
                         .Case("enable_hi_float_32_execution", NodePrecision::Float32)
                         .Case("high_performance", NodePrecision::Float16)
                         .Case("super_performance", NodePrecision::Float16)
                         .Case("keep_fp16", NodePrecision::Float16)
                         .Default(std::nullopt);
    if (name.empty() || !precision) {
      const std::vector<std::string> modes = {"high_precision",
                                              "high_performance",
                                              "enable_float_32_execution",
                                              "enable_hi_float_32_execution",
                                              "super_performance",
                                              "keep_fp16"};
      diagnostics.error("E10001", line.origin + ": \"" + line.text + "\" must be name = mode, " +
                                      "where mode is one of " + join(modes, ", ") +
                                      didYouMean(mode, modes));
      return;
    }
    add(name, isType, *precision, line.origin);
  }

  //===--- --keep_dtype, --customize_dtypes -------------------------------===//

  void readKept(const SettingsFile &file) {
    for (const SettingsLine &line : file.lines()) {
      StringRef name = line.text;
      const bool isType = name.consume_front("OpType::");
      add(name.trim(), isType, NodePrecision::Float32, line.origin);
    }
  }

  void readCustomized(const SettingsFile &file) {
    for (const SettingsLine &line : file.lines())
      readCustomizedLine(line);
  }

  void readCustomizedLine(const SettingsLine &line) {
    StringRef text = line.text;
    const bool isType = text.consume_front("OpType::");
    const size_t first = std::min(text.find(":InputDtype:"), text.find(":OutputDtype:"));
    StringRef name = text.take_front(first).rtrim(':').trim();
    if (first == StringRef::npos || name.empty()) {
      diagnostics.error("E10001", line.origin + ": \"" + line.text +
                                      "\" must be Name::InputDtype:type,...,OutputDtype:type,... "
                                      "or OpType::Type:InputDtype:...");
      return;
    }
    bool hasHalf = false, hasFloat = false, readsHalf = true, isOutput = false;
    for (StringRef word : split(text.drop_front(first + 1), ',')) {
      if (word.consume_front("OutputDtype:"))
        isOutput = true;
      else
        word.consume_front("InputDtype:");
      word = word.trim();
      const bool isFloat = word.equals_insensitive("float32") || word.equals_insensitive("float") ||
                           word.equals_insensitive("fp32");
      if (word.equals_insensitive("float16") || word.equals_insensitive("fp16"))
        hasHalf = true;
      else if (isFloat)
        hasFloat = true;
      else if (!isOtherType(word, line))
        return;
      readsHalf &= isOutput == isFloat;
    }
    if (hasHalf && hasFloat && !readsHalf) {
      diagnostics.error("E10055", line.origin + ": '" + name +
                                      "' cannot have both float16 and float32 like this: a node "
                                      "computes in one type here; give one for all its inputs and "
                                      "outputs, or float16 for inputs and float32 for outputs");
      return;
    }
    // Products of f16 are sums of f32 anyway; what else has f32 results computes in f32.
    if (hasHalf || hasFloat)
      add(name, isType,
          !hasFloat ? NodePrecision::Float16
          : hasHalf ? NodePrecision::Precise
                    : NodePrecision::Float32,
          line.origin);
  }

  /// Returns whether a word is a type that stays as it is: none, or an integer. Any other is an
  /// error.
  bool isOtherType(StringRef word, const SettingsLine &line) {
    const std::vector<std::string> integers = {"int8",   "uint8", "int16",  "uint16", "int32",
                                               "uint32", "int64", "uint64", "bool"};
    if (word.empty() || is_contained(integers, word.lower()))
      return true;
    if (word.equals_insensitive("bfloat16") || word.equals_insensitive("double"))
      diagnostics.error("E10055",
                        line.origin + ": the NPU does not compute in " + word +
                            "; float32 loses nothing of it that matters, float16 is fast");
    else
      diagnostics.error("E10001", line.origin + ": \"" + word +
                                      "\" is not a type: float16, float32, " +
                                      join(integers, ", "));
    return false;
  }

  const FlagValues &flags;
  Diagnostics &diagnostics;
  std::vector<PrecisionRule> rules;
};

} // namespace

std::optional<std::string> precisionModeOf(const FlagValues &flags) {
  if (flags.has("precision_mode"))
    return flags.get("precision_mode");
  if (!flags.has("precision_mode_v2"))
    return std::nullopt;
  const std::string mode = flags.get("precision_mode_v2");
  return StringSwitch<std::string>(mode)
      .Case("fp16", "force_fp16")
      .Case("origin", "must_keep_origin_dtype")
      .Case("mixed_float16", "allow_mix_precision_fp16")
      .Case("mixed_bfloat16", "allow_mix_precision_bf16")
      .Default(mode);
}

std::vector<PrecisionRule> readPrecisionRules(const FlagValues &flags, Diagnostics &diagnostics) {
  return RuleReader(flags, diagnostics).run();
}

} // namespace atc::tools
