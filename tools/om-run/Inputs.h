//===-- Inputs.h - fills a model's inputs from files ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_INPUTS_H
#define OPENATC_TOOLS_OMRUN_INPUTS_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace atc::tools {

/// Reads the files of `--input` ("a.npy,b.bin" in the model's order, or
/// "name=file,...") into `buffers`, one zeroed buffer for each input. Returns
/// one coded line for each fault.
std::vector<std::string> readInputs(const std::string &argument,
                                    const std::vector<om::Tensor> &inputs,
                                    const std::vector<om::Buffer> &buffers);

} // namespace atc::tools

#endif
