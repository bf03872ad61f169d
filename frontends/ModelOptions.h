//===-- ModelOptions.h - parses the options of a model --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MODELOPTIONS_H
#define OPENATC_FRONTENDS_MODELOPTIONS_H

#include "support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atc {

/// Names of inputs and their dims; -1 is a dynamic dim.
using InputShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// Parses `--input_shape`: "name:1,3,224,224;other:1,4"; "name:" is a scalar. An invalid entry
/// becomes an error and is left out of the result.
InputShapes parseInputShapes(llvm::StringRef text, Diagnostics &diagnostics);

/// Returns whether a word is a number without a fraction, of any size.
bool isWholeNumber(llvm::StringRef word);

/// Splits a list and trims its items; empty items are dropped. `--out_nodes` is "node1:0;node2:0"
/// or names of tensors, `--input_nodes` "a;b".
std::vector<std::string> splitNames(llvm::StringRef text, char separator = ';');

} // namespace atc

#endif // OPENATC_FRONTENDS_MODELOPTIONS_H
