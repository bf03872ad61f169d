//===-- Inputs.cpp - fills a model's inputs from files and typed values ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Inputs.h"

#include "support/PrintableText.h"
#include "tools/common/TypedValues.h"

#include <algorithm>
#include <filesystem>

namespace atc::tools {

namespace {
struct Item {
  std::string name; ///< empty: by position
  std::string file;
};

/// Returns where values that begin with the '[' at `begin` end: behind its ']', or at the end of
/// the text. Brackets in strings do not count.
size_t endOfValues(const std::string &text, size_t begin) {
  int depth = 0;
  bool inString = false;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && inString)
      ++at;
    else if (c == '"')
      inString = !inString;
    else if (!inString && c == '[')
      ++depth;
    else if (!inString && c == ']' && --depth == 0)
      return at + 1;
  }
  return text.size();
}

/// Splits at the commas that are not inside of values: "[1,2]", "name=[1,2]".
std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    const size_t bracket = text.find('[', at);
    if (bracket < end && (bracket == at || text[bracket - 1] == '='))
      end = std::min(text.find(',', endOfValues(text, bracket)), text.size());
    if (end > at)
      parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// "name=file", unless there is a file of the whole name or the text holds values.
Item parseItem(const std::string &text) {
  size_t equals = text.find('=');
  std::error_code status;
  if (equals == std::string::npos || isTyped(text) || std::filesystem::exists(text, status))
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

bool mayHaveDims(const om::Tensor &input, const std::vector<int64_t> &dims) {
  return !input.ranked ||
         std::equal(dims.begin(), dims.end(), input.dims.begin(), input.dims.end(),
                    [](int64_t given, int64_t stated) { return stated < 0 || stated == given; });
}

} // namespace atc::tools
