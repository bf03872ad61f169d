//===-- TensorNames.h - names of a model's tensors --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_TENSORNAMES_H
#define OPENATC_SUPPORT_TENSORNAMES_H

#include <string>

namespace atc {

/// Returns the name that the model has for a tensor: "conv" of "conv#2", which is the same tensor
/// in another layout or type, or a step of its node.
inline std::string withoutNumber(const std::string &name) {
  const size_t mark = name.rfind('#');
  if (mark == std::string::npos || mark + 1 == name.size() ||
      name.find_first_not_of("0123456789", mark + 1) != std::string::npos)
    return name;
  return name.substr(0, mark);
}

} // namespace atc

#endif
