//===-- Signatures.h - what TensorFlow's operators take -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_TF_SIGNATURES_H
#define OPENATC_FRONTENDS_TF_SIGNATURES_H

#include "frontends/tf/schema/tensorflow.pb.h"

#include "support/Diagnostics.h"

namespace atc::tf_import {

/// Checks the number of inputs and the kinds of the attributes of a node by the definition of its
/// operator; reports and returns false where they do not fit. Builders read only what they need:
/// without this check the rest of a node would be ignored, whatever it says.
bool checkSignature(const pb::NodeDef &node, Diagnostics &diagnostics);

} // namespace atc::tf_import

#endif // OPENATC_FRONTENDS_TF_SIGNATURES_H
