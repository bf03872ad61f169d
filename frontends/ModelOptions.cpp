//===-- ModelOptions.cpp - options of a model as users type them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/ModelOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace atc {

std::vector<std::string> splitNames(StringRef text, char separator) {
  std::vector<std::string> items;
  for (StringRef item : split(text, separator))
    if (!item.trim().empty())
      items.push_back(item.trim().str());
  return items;
}

static constexpr const char *shapeSample = "\"input:1,3,224,224;other:1,4\"";

bool isWholeNumber(StringRef word) {
  word.consume_front("-");
  return !word.empty() && all_of(word, isDigit);
}

/// Reads the dims of one input. Returns false after an error.
static bool parseDims(StringRef item, StringRef text, std::vector<int64_t> &dims,
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
      if (isWholeNumber(word)) {
        diagnostics.error("E10013", "the value \"" + item +
                                        "\" of --input_shape is out of range: " + word +
                                        " has more than 64 bits");
        return false;
      }
      // The Ascend toolchain tells a word that does not begin with a number from one that ends so.
      const bool isNumber = word.ltrim('-').find_first_of("0123456789") == 0;
      diagnostics.error(isNumber ? ErrorCode("E10002") : ErrorCode("E10014"),
                        "the value \"" + item + "\" of --input_shape is invalid: \"" + word +
                            "\" is not a number; write " + shapeSample);
      return false;
    }
    if (dim <= 0 && dim != -1) {
      diagnostics.error("E10011", "the value \"" + item +
                                      "\" of --input_shape is invalid: the dim " + word +
                                      " is neither positive nor -1 (dynamic)");
      return false;
    }
    dims.push_back(dim);
  }
  return true;
}

InputShapes parseInputShapes(StringRef text, Diagnostics &diagnostics) {
  InputShapes shapes;
  for (const std::string &item : splitNames(text)) {
    // Names may have colons of their own.
    size_t colon = StringRef(item).rfind(':');
    StringRef name = StringRef(item).take_front(colon == StringRef::npos ? 0 : colon).trim();
    if (name.empty()) {
      diagnostics.error("E10002", "the value \"" + item +
                                      "\" of --input_shape is invalid: there is no name; write " +
                                      shapeSample);
      continue;
    }
    if (any_of(shapes, [&](const auto &shape) { return shape.first == name; })) {
      diagnostics.error("E10002", "the value \"" + text + "\" of --input_shape is invalid: \"" +
                                      name + "\" stands in it twice; write " + shapeSample);
      continue;
    }
    InputShapes::value_type shape{name.str(), {}};
    if (parseDims(item, StringRef(item).drop_front(colon + 1), shape.second, diagnostics))
      shapes.push_back(std::move(shape));
  }
  return shapes;
}

} // namespace atc
