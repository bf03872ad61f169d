//===-- Inputs.cpp - fills a model's inputs from files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Inputs.h"

#include "support/PrintableText.h"

#include <filesystem>

namespace atc::tools {

namespace {
struct Item {
  std::string name; ///< empty: by position
  std::string file;
};

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at)
      parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

/// "name=file", unless there is a file of the whole name.
Item parseItem(const std::string &text) {
  size_t equals = text.find('=');
  std::error_code status;
  if (equals == std::string::npos || std::filesystem::exists(text, status))
    return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string namesOf(const std::vector<om::Tensor> &inputs) {
  std::string names;
  for (const om::Tensor &input : inputs)
    names += (names.empty() ? "'" : ", '") + printable(input.name) + "'";
  return names.empty() ? "none" : names;
}
} // namespace

std::vector<std::string>
readInputs(const std::string &argument, const std::vector<om::Tensor> &inputs,
           const std::function<bool(size_t, const std::string &, std::string &)> &take) {
  std::vector<std::string> errorLines;
  std::vector<bool> given(inputs.size(), false);
  size_t position = 0;
  for (const std::string &text : splitAtCommas(argument)) {
    const Item item = parseItem(text);
    size_t index = position;
    if (item.name.empty()) {
      ++position;
      if (index >= inputs.size()) {
        errorLines.push_back("E10014: --input gives more files than the model has inputs (" +
                             namesOf(inputs) + "): '" + item.file + "' is left over.");
        continue;
      }
    } else {
      for (index = 0; index < inputs.size() && inputs[index].name != item.name;)
        ++index;
      if (index == inputs.size()) {
        errorLines.push_back("E10017: '" + item.name +
                             "' in --input is not an input of the model; its "
                             "inputs are: " +
                             namesOf(inputs) + ".");
        continue;
      }
    }
    if (given[index] && inputs[index].kind != OM_KIND_SEQUENCE) {
      errorLines.push_back("E10014: --input gives input '" + printable(inputs[index].name) +
                           "' twice.");
      continue;
    }
    given[index] = true;
    std::string errorText;
    if (!take(index, item.file, errorText))
      errorLines.push_back(errorText);
  }
  return errorLines;
}

} // namespace atc::tools
