//===-- TokenSearch.h - searches for tokens as loops ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_ONNX_OPS_TOKENSEARCH_H
#define OPENATC_FRONTENDS_ONNX_OPS_TOKENSEARCH_H

#include <onnx/onnx_pb.h>

#include "support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace atc::onnx_import {

/// Returns whether a node is GreedySearch, Sampling, BeamSearch or WhisperBeamSearch of
/// com.microsoft.
bool isTokenSearch(const onnx::NodeProto &node);

/// Replaces these searches, also those in branches and bodies of loops, by a Loop around their
/// decoder. `opset` is that of the model; `around` are the graphs around `graph`, from the
/// innermost one. Reports all errors and returns false where there are some.
bool expandTokenSearches(onnx::GraphProto &graph, int64_t opset, Diagnostics &diagnostics,
                         llvm::ArrayRef<const onnx::GraphProto *> around = {});

} // namespace atc::onnx_import

#endif // OPENATC_FRONTENDS_ONNX_OPS_TOKENSEARCH_H
