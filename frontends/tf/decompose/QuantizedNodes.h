//===-- QuantizedNodes.h - operators on 8-bit numbers with a range --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDNODES_H
#define OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDNODES_H

#include "frontends/tf/decompose/GraphRewriter.h"

namespace atc::tf_import {

/// Returns the operators of TensorFlow 1 whose tensors of integers come with the two numbers at the
/// ends of their range, which may depend on the inputs of the model.
llvm::ArrayRef<Decomposed> quantizedNodes();
/// Returns those that multiply, and add, rectify or requantize the product as well.
llvm::ArrayRef<Decomposed> fusedQuantizedNodes();
/// Rewrites such an operator. 0 stands for 0, other than for those of quint8 by quint8.
void multiplyFused(GraphRewriter &r, const Inputs &in);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_DECOMPOSE_QUANTIZEDNODES_H
