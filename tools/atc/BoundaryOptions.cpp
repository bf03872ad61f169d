//===-- BoundaryOptions.cpp - flags about inputs and outputs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/BoundaryOptions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc::tools {

namespace {

/// Reads "node:0:FP16"; the name may have colons of its own.
void readOutputType(StringRef item, driver::ModelBoundary &boundary, Diagnostics &diagnostics) {
  auto [place, typeName] = item.rsplit(':');
  auto [node, index] = place.rsplit(':');
  driver::OutputType output;
  const std::optional<om_dtype> type = driver::parseTypeName(typeName.trim());
  if (!type || index.trim().getAsInteger(10, output.index) || node.trim().empty()) {
    diagnostics.error("E10001", "the value \"" + item +
                                    "\" of --output_type is invalid: it must be a type for all "
                                    "outputs, or \"node:index:type;...\"; types are " +
                                    driver::typeNames());
    return;
  }
  output.node = node.trim().str();
  output.type = *type;
  boundary.outputTypes.push_back(std::move(output));
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
    boundary.outputType = driver::parseTypeName(StringRef(text).trim());
    if (!boundary.outputType)
      for (const std::string &item : splitNames(text))
        readOutputType(item, boundary, diagnostics);
  }
  boundary.halfInputs = splitNames(flags.get("input_fp16_nodes"));
  boundary.blockedInputs = readSwitches(flags, "is_input_adjust_hw_layout", "input_fp16_nodes",
                                        boundary.halfInputs.size(), diagnostics);
  boundary.blockedOutputs = readSwitches(flags, "is_output_adjust_hw_layout", "out_nodes",
                                         splitNames(flags.get("out_nodes")).size(), diagnostics);
}

} // namespace atc::tools
