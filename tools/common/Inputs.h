//===-- Inputs.h - fills a model's inputs from files ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_INPUTS_H
#define OPENATC_TOOLS_COMMON_INPUTS_H

#include "openatc/om.hpp"

#include <functional>
#include <string>
#include <vector>

namespace atc::tools {

/// Calls `take(input, file, error)` for the files of `--input` ("a.npy,b.bin" in the model's order,
/// or "name=file,..."; by its name, a sequence may have several). Values in place of a file,
/// "name=[1,2]", are passed as they are: see isTyped. Returns one line with an error code per
/// error.
std::vector<std::string>
readInputs(const std::string &argument, const std::vector<om::Tensor> &inputs,
           const std::function<bool(size_t, const std::string &, std::string &)> &take);

/// Returns whether an input may have these dims: they are its own where it states them.
bool mayHaveDims(const om::Tensor &input, const std::vector<int64_t> &dims);

} // namespace atc::tools

#endif
