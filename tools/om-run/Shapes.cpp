//===-- Shapes.cpp - dims of inputs as users type them --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Shapes.h"

#include "support/ModelText.h"
#include "tools/common/Inputs.h"

#include <algorithm>
#include <charconv>

namespace atc::tools {

namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

bool readDims(const std::string &text, std::vector<int64_t> &dims) {
  if (text.empty())
    return true;
  for (const std::string &word : split(text, ',')) {
    int64_t dim = 0;
    const char *end = word.data() + word.size();
    const auto [at, code] = std::from_chars(word.data(), end, dim);
    if (code != std::errc() || at != end || dim < 0)
      return false;
    dims.push_back(dim);
  }
  return true;
}

} // namespace

bool applyShapes(const std::string &text, std::vector<om::Tensor> &inputs, std::string &errorText) {
  for (const std::string &item : split(text, ';')) {
    if (item.empty())
      continue;
    // Names may have colons of their own.
    const size_t colon = item.rfind(':');
    std::vector<int64_t> dims;
    if (colon == std::string::npos || !readDims(item.substr(colon + 1), dims) ||
        dims.size() > OM_MAX_RANK) {
      errorText = "E10002: the value '" + item +
                  "' of --shape is invalid; write "
                  "\"input:1,3,224,224;other:1,4\".";
      return false;
    }
    const std::string name = item.substr(0, colon);
    auto input = std::find_if(inputs.begin(), inputs.end(),
                              [&](const om::Tensor &known) { return known.name == name; });
    if (input == inputs.end()) {
      errorText = "E10017: '" + printable(name) + "' in --shape is not an input of the model.";
      return false;
    }
    if (input->kind != OM_KIND_TENSOR || !mayHaveDims(*input, dims)) {
      errorText = "E10014: --shape gives input '" + printable(name) + "' the dims of '" + item +
                  "', but the model has " + typeText(input->dtype, input->dims) + ".";
      return false;
    }
    input->dims = dims;
    input->ranked = true;
    uint64_t elements = 1;
    for (int64_t dim : dims)
      if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements) ||
          elements > UINT64_MAX / 128) {
        errorText =
            "E10002: the value '" + item + "' of --shape is invalid: it has too many elements.";
        return false;
      }
    input->elements = elements;
    input->bytes = (elements * om_dtype_bits(input->dtype) + 7) / 8;
  }
  return true;
}

} // namespace atc::tools
