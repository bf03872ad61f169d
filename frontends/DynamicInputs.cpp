//===-- DynamicInputs.cpp - the warning about inputs of dynamic shape -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/DynamicInputs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace atc {

std::string describeDynamicInputs(llvm::ArrayRef<DynamicInput> inputs) {
  constexpr size_t maxNamed = 4;
  const auto named = inputs.take_front(maxNamed);
  const size_t others = inputs.size() - named.size();
  std::string text = "the shape of these inputs is dynamic: " +
                     llvm::join(llvm::map_range(named, [](auto &i) { return i.shape; }), ", ");
  if (others)
    text += " and " + std::to_string(others) + " more";
  text += "; code for a fixed shape can be faster: give it with --input_shape";
  if (!others)
    text +=
        "=\"" + llvm::join(llvm::map_range(named, [](auto &i) { return i.example; }), ";") + "\"";
  return text;
}

} // namespace atc
