//===-- Signatures.h - what TensorFlow's operators take -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_SIGNATURES_H
#define OPENATC_FRONTENDS_TF_SIGNATURES_H

#include "frontends/tf/schema/tensorflow.pb.h"

#include "support/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"

namespace atc::tf_import {

/// Checks the number of inputs and the kinds of the attributes of a node by the definition of its
/// operator; reports and returns false where they do not fit. Builders read only what they need:
/// without this check the rest of a node would be ignored, whatever it says.
bool checkSignature(const pb::NodeDef &node, Diagnostics &diagnostics);

/// Returns the element types that the node states for its inputs, by its operator and its
/// attributes: DT_INVALID where it states none. The list may be shorter or longer than the inputs.
llvm::SmallVector<pb::DataType> statedInputTypes(const pb::NodeDef &node);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_SIGNATURES_H
