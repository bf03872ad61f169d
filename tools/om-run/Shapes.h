//===-- Shapes.h - dims of inputs as users type them ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_SHAPES_H
#define OPENATC_TOOLS_OMRUN_SHAPES_H

#include "openatc/om.hpp"

#include <string>
#include <vector>

namespace atc::tools {

/// Reads --shape, "name:1,3,416,416;other:1,4", and gives the inputs these dims and the bytes
/// that follow from them. Dims that a model states must be equal. On failure returns false and
/// `errorText` is one coded line.
bool applyShapes(const std::string &text, std::vector<om::Tensor> &inputs, std::string &errorText);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_SHAPES_H
