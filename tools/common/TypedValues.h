//===-- TypedValues.h - values that are typed as text ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_TYPEDVALUES_H
#define OPENATC_TOOLS_COMMON_TYPEDVALUES_H

#include "openatc/om.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atc::tools {

/// Returns whether an item of `--input` holds values, "[[1, 2], [3, 4]]", and no name of a file.
inline bool isTyped(std::string_view text) { return !text.empty() && text.front() == '['; }

/// A tensor as it was typed: nested lists of JSON, which say its dims.
struct TypedTensor {
  std::vector<int64_t> dims;
  std::vector<char> bytes;        ///< dense and row-major; empty for strings
  std::vector<std::string> texts; ///< the elements of a tensor of strings
};

/// Reads the values of `input` from text for which isTyped holds. A number must be representable in
/// the input's type: an integer in its range, or a float, which is rounded half to even. The lists
/// may have any dims that `input` leaves dynamic; "[5]" is also the value of an input without dims.
/// On failure returns nothing and sets `error` to one line with an error code.
std::optional<TypedTensor> parseTyped(const std::string &text, const om::Tensor &input,
                                      std::string &error);

/// Reads the values of an input of static shape into `data`, which has room for them. On failure
/// returns false and sets `error` to one line with an error code.
bool readTyped(const std::string &text, const om::Tensor &input, void *data, std::string &error);

} // namespace atc::tools

#endif
