//===-- GradientNodes.h - operators that gradients are made of ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_GRADIENTNODES_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_GRADIENTNODES_H

#include "frontends/tf/decompose/GraphRewriter.h"

namespace atc::tf_import {

/// Returns the operators that TensorFlow adds where a model contains a gradient, such as that of a
/// score by the pixels.
llvm::ArrayRef<Decomposed> gradientNodes();

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_GRADIENTNODES_H
