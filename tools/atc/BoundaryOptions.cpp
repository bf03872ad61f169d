//===-- BoundaryOptions.cpp - flags about inputs and outputs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/BoundaryOptions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::tools {

namespace {

constexpr StringRef npuTypes = "FP32, FP16, UINT8, INT8";

/// Returns the type that a name of --output_type stands for. With an NPU these are the names of the
/// Ascend toolchain, which reads no others and no small letters.
std::optional<om_dtype> outputTypeOf(StringRef name, bool isNpu) {
  SmallVector<StringRef> known;
  (isNpu ? npuTypes : driver::typeNames()).split(known, ", ");
  return is_contained(known, name) ? driver::parseTypeName(name) : std::nullopt;
}

/// Reads "node:0:FP16"; the name may have colons of its own.
void readOutputType(StringRef item, bool isNpu, driver::ModelBoundary &boundary,
                    Diagnostics &diagnostics) {
  auto [place, typeName] = item.rsplit(':');
  auto [node, index] = place.rsplit(':');
  driver::OutputType output;
  const std::optional<om_dtype> type = outputTypeOf(typeName.trim(), isNpu);
  if (type && isWholeNumber(index.trim()) && index.trim().getAsInteger(10, output.index)) {
    diagnostics.error("E10013", "the value \"" + item +
                                    "\" of --output_type is out of range: a node has no output " +
                                    index.trim());
    return;
  }
  if (!type || index.trim().getAsInteger(10, output.index) || node.trim().empty()) {
    diagnostics.error("E10001", "the value \"" + item +
                                    "\" of --output_type is invalid: it must be a type for all "
                                    "outputs, or \"node:index:type;...\"; types are " +
                                    (isNpu ? npuTypes : driver::typeNames()));
    return;
  }
  output.node = node.trim().str();
  output.type = *type;
  boundary.outputTypes.push_back(std::move(output));
}

/// Reports outputs with a type of their own that --out_nodes does not name, as the Ascend toolchain
/// does.
void checkNamedOutputs(const driver::ModelBoundary &boundary,
                       const std::vector<std::string> &outNodes, Diagnostics &diagnostics) {
  for (const driver::OutputType &output : boundary.outputTypes) {
    const std::string name = output.node + ":" + std::to_string(output.index);
    if (!is_contained(outNodes, name) &&
        !(output.index == 0 && is_contained(outNodes, output.node)))
      diagnostics.error("E10001",
                        "the value \"" + name +
                            "\" of --output_type is invalid: nodes with a type of their "
                            "own must be named by --out_nodes, for example --out_nodes=\"" +
                            name + "\"");
  }
}

/// Reads "true,false,..." with at most as many values as `partner` has names.
std::vector<bool> readSwitches(const FlagValues &flags, const char *flag, const char *partner,
                               size_t count, Diagnostics &diagnostics) {
  std::vector<bool> switches;
  if (!flags.has(flag))
    return switches;
  for (StringRef word : split(flags.get(flag), ',')) {
    word = word.trim();
    if (!word.equals_insensitive("true") && !word.equals_insensitive("false")) {
      diagnostics.error("E10005", "the value \"" + flags.get(flag) + "\" of --" + flag +
                                      " must be true or false, or a list of these");
      return {};
    }
    switches.push_back(word.equals_insensitive("true"));
  }
  if (!is_contained(switches, true))
    return {};
  if (count == 0)
    diagnostics.error("E10057", std::string("--") + flag + " needs --" + partner +
                                    ": it says which of these nodes it is for");
  else if (switches.size() > count)
    diagnostics.error("E10001", "the value \"" + flags.get(flag) + "\" of --" + flag +
                                    " is invalid: it has " + Twine(switches.size()) +
                                    " values, but --" + partner + " has " + Twine(count));
  return switches;
}

} // namespace

void readBoundary(const FlagValues &flags, driver::ModelSource &source, Diagnostics &diagnostics) {
  driver::ModelBoundary &boundary = source.boundary;
  if (const std::string text = flags.get("output_type"); !text.empty()) {
    const bool isNpu = flags.has("soc_version") && flags.get("target") != "cpu";
    boundary.outputType = outputTypeOf(StringRef(text).trim(), isNpu);
    if (!boundary.outputType)
      for (const std::string &item : splitNames(text))
        readOutputType(item, isNpu, boundary, diagnostics);
    if (isNpu)
      checkNamedOutputs(boundary, splitNames(flags.get("out_nodes")), diagnostics);
  }
  boundary.halfInputs = splitNames(flags.get("input_fp16_nodes"));
  boundary.blockedInputs = readSwitches(flags, "is_input_adjust_hw_layout", "input_fp16_nodes",
                                        boundary.halfInputs.size(), diagnostics);
  boundary.blockedOutputs = readSwitches(flags, "is_output_adjust_hw_layout", "out_nodes",
                                         splitNames(flags.get("out_nodes")).size(), diagnostics);
}

} // namespace atc::tools
